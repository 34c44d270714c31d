"""Moments in safetensors files, as models are (see `lrnn.storage.model_files`).

The tensors are ``gram``, ``column_sums`` and, where they are known, ``low`` and ``high``, all in
float64; the document holds everything else.
"""

import os
from contextlib import suppress
from math import isfinite
from typing import Any

import numpy as np

import lrnn
from lrnn.arrays import Array
from lrnn.moments import Moment, Sums
from lrnn.moments.moment import impossible
from lrnn.moments.sums import LARGEST
from lrnn.storage.model_files import (
    READ_ERRORS,
    WHITES,
    TensorFileError,
    check_names,
    check_scaling,
    check_version,
    explained,
    read_tensors,
    write_tensors,
)
from lrnn.tables.scaling import attribute_count

__all__ = ["MomentFileError", "is_moment", "load_moment", "save"]

FORMAT = 1
TYPES = ("float64", "float32")
MOST_ROWS = 2**63 - 1


class MomentFileError(TensorFileError):
    """A file is not a moment that this version of lrnn can read."""


def save(moment: Moment, path: str | os.PathLike[str]) -> None:
    """Write a moment. The file is replaced as a whole, or not at all."""
    document, tensors = told(moment)
    try:
        found(document, tensors)
    except READ_ERRORS as error:
        raise ValueError(f"this moment cannot be saved: {error}") from None
    write_tensors(path, document, tensors)


def told(moment: Moment) -> tuple[dict[str, Any], dict[str, Array]]:
    """A document and the tensors of a moment."""
    tensors = {"gram": moment.gram, "column_sums": moment.column_sums}
    if moment.low is not None and moment.high is not None:
        tensors |= {"low": moment.low, "high": moment.high}
    document = {
        "moment": FORMAT,
        "lrnn_version": lrnn.__version__,
        "weight": moment.weight,
        "rows": moment.n_rows,
        "rounding": moment.sums.rounding,
        "type": moment.dtype.name,
        "names": None if moment.names is None else list(moment.names),
        "scaling": None if moment.scaling is None else moment.scaling.to_json(),
        "white": moment.white,
    }
    return document, tensors


def load_moment(path: str | os.PathLike[str]) -> Moment:
    """Read a moment that :meth:`lrnn.Moment.save` wrote.

    A file that is damaged, foreign or of a newer format gives one `MomentFileError`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    moment : Moment
        As it was when it was saved.

    Examples
    --------
    >>> import tempfile
    >>> from lrnn import Moment, load_moment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Moment.of([[0.0, 0.5], [1.0, 0.25]]).save(f"{folder}/moment.safetensors")
    ...     load_moment(f"{folder}/moment.safetensors")
    Moment(2 rows, 2 attributes)
    """
    with explained(path, "moment", MomentFileError):
        return found(*read_tensors(path, _check_format))


def is_moment(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it holds a moment; only its header is read."""
    seen: list[bool] = []

    def look(document: dict[str, Any]) -> None:
        seen.append("moment" in document)
        raise TensorFileError

    with suppress(*READ_ERRORS):
        read_tensors(path, look)
    return seen == [True]


def _check_format(document: dict[str, Any]) -> None:
    if "moment" not in document:
        kind = "a checkpoint" if "checkpoint" in document else "a model, which lrnn.load reads"
        raise MomentFileError(f"it holds {kind}")
    check_version(document["moment"], FORMAT, document)


def found(document: dict[str, Any], tensors: dict[str, Array]) -> Moment:
    """The moment that a document and tensors tell of; what cannot be is a `MomentFileError`."""
    gram = tensors["gram"]
    width = len(gram)
    if gram.shape != (width, width) or not 0 < width**2 <= LARGEST:
        raise MomentFileError(f"its sums of products have the shape {gram.shape}")
    arrays = {"gram": gram, "column_sums": tensors["column_sums"]}
    if ("low" in tensors) != ("high" in tensors):
        raise MomentFileError("it has only one end of its ranges")
    arrays |= {name: tensors[name] for name in ("low", "high") if name in tensors}
    for name, array in arrays.items():
        shape = (width, width) if name == "gram" else (width,)
        if array.shape != shape or array.dtype != np.float64:
            raise MomentFileError(f"{name} is no float64 of the shape {shape}")
        if not np.isfinite(array).all():
            raise MomentFileError(f"{name} has numbers that are not finite")
        if array.min() < 0:
            raise MomentFileError(f"{name} has numbers below 0")
    weight, rows, white = document["weight"], document["rows"], document["white"]
    if type(rows) is not int or not 0 <= rows <= MOST_ROWS:
        raise MomentFileError(f"it has {rows!r:.40} rows")
    for value, said in ((weight, "its rows weigh"), (document["rounding"], "its rounding is")):
        if type(value) not in (int, float) or not isfinite(value) or value < 0:
            raise MomentFileError(f"{said} {value!r:.40}")
    if white not in WHITES or isinstance(white, bool):
        raise MomentFileError(f"it says that the level {white!r:.40} is 1")
    if document["type"] not in TYPES:
        raise MomentFileError(f"it is of data of the type {document['type']!r:.40}")
    low, high = arrays.get("low"), arrays.get("high")
    if low is not None and high is not None and not _within(low, high):
        raise MomentFileError("its ranges are not within [0, 1]")
    rounding = float(document["rounding"])
    sums = Sums(gram, float(weight), rows, arrays["column_sums"], low, high, rounding)
    wrong = impossible(sums)
    if wrong is not None:
        raise MomentFileError(f"no rows have such sums: {wrong}")
    if not np.allclose(gram, gram.T, rtol=1e-9, atol=1e-9 * gram.max(initial=0)):
        raise MomentFileError("its sums of products are not symmetric")
    stored = document["scaling"]
    scaling = None if stored is None else check_scaling(stored, width)
    names = check_names(document["names"], attribute_count(scaling, width))
    return Moment(
        sums,
        np.dtype(document["type"]),
        None if names is None else tuple(names),
        scaling,
        None if white is None else float(white),
    )


def _within(low: Array, high: Array) -> bool:
    return bool(np.all((low >= 0) & (low <= high) & (high <= 1)))
