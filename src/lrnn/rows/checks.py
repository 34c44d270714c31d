"""Are rows what the model takes, numbers in [0, 1]? Errors name the value, place and remedy."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array, are_levels, backend_of, detached, host_dtype, take_rows, to_numpy
from lrnn.functional import saturate
from lrnn.rows.device import DeviceRows
from lrnn.rows.memory import map_rows, within_unit_interval
from lrnn.tables.messages import Message, Place, warn
from lrnn.tables.offences import Offence, first_offending, unfit
from lrnn.tables.types import check_kind

Origin = Callable[[Place], Place]
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
ENTRIES = 1 << 19  # of a sparse matrix that are looked at, at a time
PART = 1 << 14  # rows of which levels are looked at, at a time


FILL_BEFORE = (
    "fill such cells before, as LRNNAutoencoder(missing='allow').fit(X).impute(X) or "
    "sklearn.impute.SimpleImputer does, or leave their rows out"
)


SCALERS = (  # that scale by themselves
    "LRNNAutoencoder", "LRNNClassifier", "LRNNOutlierDetector", "Moment", "widths",
)  # fmt: skip


class User(str):
    """Who is given data, as messages call it, and what helps ``for_gaps``, missing cells.

    Or it is given ``codes`` and no data, and these no scaling helps.
    """

    for_gaps: str
    codes: bool

    def __new__(cls, name: str, for_gaps: str = FILL_BEFORE, *, codes: bool = False) -> "User":
        """Also of a name that says so already."""
        found = super().__new__(cls, name)
        found.for_gaps = getattr(name, "for_gaps", for_gaps)
        found.codes = getattr(name, "codes", codes)
        return found

    def for_range(self, kind: str) -> str:
        """What helps numbers beyond [0, 1]: such a scaling, or codes that are some."""
        if self.codes:
            return "give codes in [0, 1], as transform returns them"
        if self in SCALERS:
            return f"scale X to [0, 1], as {{scale={kind}}} does"
        return f"scale X to [0, 1], as LRNNAutoencoder(scale={kind!r}) does"

    @property
    def source(self) -> str:
        """What the data are called."""
        return "the codes" if self.codes else "X"

    @property
    def what(self) -> str:
        """What it is given."""
        return "codes" if self.codes else "data"


class SaturationWarning(Message, UserWarning):
    """Data above 1 were given; the network saturates them to 1."""


def white_of(
    dtype: Any, highest: Callable[[], Iterable[Any]], before: float | None = None
) -> float | None:
    """The level that stands for 1; None if numbers of this type are no levels.

    It is the highest that the type can hold, unless there are only zeros and ones: then it is 1,
    and this is said. Where a model learnt from levels, the one that was 1 ``before`` tells which of
    the two; else the ``highest`` of parts of the data are looked at, until there is one above 1.
    """
    if not are_levels(dtype):
        return None
    kind = host_dtype(dtype)
    binary = before == 1
    if before is None:
        binary = all(level <= 1 for level in highest())  # also if some are missing
        if binary:
            warn(
                f"X is {kind.name} with no value above 1: it is read as 0 and 1. If it is meant "
                f"as levels, of which {np.iinfo(kind).max} is 1, divide it by that"
            )
    elif binary and any(level > 1 for level in highest()):
        raise ValueError(
            f"X is {kind.name} with values above 1, but the model was fitted on zeros and ones; "
            "give numbers in [0, 1]"
        )
    return 1.0 if binary else float(np.iinfo(kind).max)


def narrow(dtype: Any) -> np.dtype[Any]:
    """The type of floats for numbers of some type: float32 for levels and itself."""
    single = are_levels(dtype) or host_dtype(dtype) == np.float32
    return np.dtype(np.float32 if single else np.float64)


def check_foreign(X: Array, user: str, before: float | None = None) -> DeviceRows:
    """An array of torch, CuPy or another namespace as rows in [0, 1], where it is."""
    X = detached(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape X to (rows, attributes)"
        )
    rows, attributes = X.shape
    if not rows or not attributes:
        raise ValueError(
            f"Found array with {rows} sample(s) and {attributes} feature(s) "
            f"(shape={tuple(X.shape)}) while a minimum of 1 is required by {user}"
        )
    backend = backend_of(X)
    xp, dtype = backend.xp, host_dtype(X.dtype)
    if are_levels(dtype):
        wide = xp.int32  # not all libraries can compare 16 bits without a sign
        parts = (take_rows(X, slice(i, min(i + PART, rows))) for i in range(0, rows, PART))
        levels = (int(xp.max(xp.astype(part, wide))) for part in parts)
        return DeviceRows(X, white_of(dtype, lambda: levels, before))
    if dtype not in FLOATS:
        if dtype.kind == "c":
            raise ValueError("Complex data not supported: give real numbers")
        X = xp.astype(X, xp.float64)
    lowest, highest = float(xp.min(X)), float(xp.max(X))
    if lowest >= 0 and highest <= 1:
        return DeviceRows(X)
    return DeviceRows(backend.send(check_values(to_numpy(X), None, user)))


def check_alike(
    block: Any, dtype: np.dtype[Any], names: Sequence[Any] | None, user: str, first: Any, where: str
) -> None:
    """Complain of a block whose numbers are of another kind than ``dtype``, those of all.

    Of missing ones first: they make floats of whole numbers.
    """
    if are_levels(dtype) and isinstance(block, np.ndarray) and block.dtype.kind == "f":
        check_values(np.clip(block, 0, 1), names, user, first)
    said = f"the block from row {first} on" if isinstance(first, int) else "a block"
    check_kind(block.dtype, dtype, f"{where}: {said}")


def summed(X: Any) -> Any:
    """A CSR array with one entry for a cell at most; itself, if it is so.

    The entries of a row may stand in any order, as in what `TfidfVectorizer` gives.
    """
    if X.has_canonical_format or not _repeated(X):
        return X
    found = X.astype(np.uint64) if are_levels(X.dtype) else X.copy()
    found.sum_duplicates()
    if found.dtype == X.dtype:
        return found
    white = np.iinfo(X.dtype).max
    if found.nnz and found.max() > white:
        raise ValueError(
            f"X is a sparse matrix of {X.dtype.name} with several entries for a cell, whose sum "
            f"is {found.max()}, above {white}; add them up in a wider type, and divide"
        )
    return found.astype(X.dtype)


def _repeated(X: Any) -> bool:
    """Whether a CSR array has several entries for a cell, which then stand together in a column."""
    height = max(1, ENTRIES * X.shape[0] // max(X.nnz, 1))
    parts = (X[first : first + height].tocsc() for first in range(0, X.shape[0], height))
    return not all(part.has_canonical_format for part in parts)


def check_values(
    X: Array,
    names: Sequence[Any] | None,
    user: str,
    first: int | NDArray[Any] | None = 0,
    *,
    gaps: bool = False,
    origin: Origin | None = None,
) -> Array:
    """Finite numbers ≥ 0, or an error; those above 1 become 1, with a warning.

    Columns may have ``names``, and the first row of X is row number ``first`` of all; or the
    numbers of all rows are given, or none, if nobody knows. With ``gaps`` cells of a full matrix
    may be missing (NaN). ``origin`` tells where a cell stood in the table that X is made of.
    """
    if sparse.issparse(X):
        X = summed(sparse.csr_array(X))
    cells = X.data if sparse.issparse(X) else X
    widest = cells.shape[1] if cells.ndim == 2 else 1
    parts = map_rows(lambda part: within_unit_interval(cells[part]), len(cells), widest)
    with closing(parts):
        if not cells.size or all(parts):
            return X
    with np.errstate(invalid="ignore"):
        if gaps and not sparse.issparse(X):
            lowest, highest = np.fmin.reduce(cells, axis=None), np.fmax.reduce(cells, axis=None)
            if np.isnan(lowest):  # nothing is known
                return X
        else:
            lowest, highest = cells.min(), cells.max()
    user = User(user)
    for is_so, wrong, remedy in (
        (np.isnan(lowest) or np.isnan(highest), np.isnan, user.for_gaps),
        (np.isinf(lowest) or np.isinf(highest), np.isinf, ""),
        (lowest < 0, _below, user.for_range("minmax")),
    ):
        if is_so:
            found = _first(X, wrong, names, first, origin)
            raise unfit(found, remedy, source=user.source, user=user)
    if highest > 1 + 16 * np.finfo(X.dtype).eps:  # more than rounding
        found = _first(X, _above, names, first, origin)
        warn(
            SaturationWarning(
                "{at} is {value:g}, above 1{more}. A neuron cannot be excited with a probability "
                "above 1, so such {what} count as 1",
                remedy="if that is not meant, "
                + user.for_range("max" if sparse.issparse(X) else "minmax"),
                source=user.source,
                at=found.at,
                value=float(found.value),
                more=found.more,
                what=user.what,
            )
        )
    return saturate(X) if highest > 1 else X


def _below(cells: Any) -> Any:
    return cells < 0


def _above(cells: Any) -> Any:
    return cells > 1


def _first(
    X: Any, wrong: Callable[[Any], Any], names: Any, numbers: Any, origin: Origin | None
) -> Offence:
    """The first offending cell of rows with these numbers; there is one."""
    found = first_offending([X], wrong, names)
    assert found is not None
    found = found.numbered(numbers)
    return found if origin is None else replace(found, at=origin(found.at))
