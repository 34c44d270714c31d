"""Codes and reconstructions of data that do not fit in memory, written as they are computed."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from lrnn.arrays import Layer, host_dtype, to_numpy
from lrnn.autoencoder import LRNNAutoencoder
from lrnn.rows import held
from lrnn.tables.atomic import check_apart
from lrnn.tables.writers import check_output, write_blocks
from lrnn.validation import check_data

__all__ = ["encode", "reconstruct"]

Progress = Callable[[int], None]


def encode(
    model: LRNNAutoencoder,
    X: Any,
    path: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Write the codes of X to a file, block by block.

    Parameters
    ----------
    model : LRNNAutoencoder
        A fitted model.
    X : anything that `LRNNAutoencoder.transform` takes
        The data; at no time is more than a few blocks of them in memory.
    path : str or path-like
        A .npy, .npz, .csv, .tsv, .mat, .parquet or .zarr file. It appears when all is written, or
        not at all. What goes to .npz and .mat files is held in memory until then.
    progress : callable, optional
        Is told after each block how many rows are done.

    Returns
    -------
    shape : (int, int)
        Of what was written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> X = np.random.default_rng(0).random((50, 4))
    >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(model, X, f"{folder}/codes.npy")
    ...     bool((np.load(f"{folder}/codes.npy") == model.transform(X)).all())
    (50, 2)
    True
    """
    width = int(model.encoders_[-1].shape[1])
    names = [f"code{i}" for i in range(width)]

    return _write(model, X, path, model.weights_.encoding, width, names, progress)


def reconstruct(
    model: LRNNAutoencoder,
    X: Any,
    path: str | os.PathLike[str],
    *,
    revert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Write what the network makes of X, block by block; see `encode`.

    ``revert`` may bring it back to the units of the data.
    """
    names = getattr(model, "feature_names_in_", None)
    known = None if names is None else list(names)
    return _write(
        model, X, path, model.weights_.layers, model.n_features_in_, known, progress, revert
    )


def _write(
    model: LRNNAutoencoder,
    X: Any,
    path: str | os.PathLike[str],
    layers: Sequence[Layer],
    width: int,
    names: Sequence[str] | None,
    progress: Progress | None,
    revert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> tuple[int, int]:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is told how many rows are done; it cannot be {progress!r}")
    check_output(path)
    check_apart(path, X, getattr(X, "filename", None))
    rows = check_data(model, X, reset=False)
    shape = (int(rows.shape[0]), width)

    def results() -> Iterator[NDArray[Any]]:
        done = 0
        for block in rows.blocks():
            found = to_numpy(model._passed(held(block), layers))
            yield found if revert is None else revert(found)
            done += found.shape[0]
            if progress is not None:
                progress(done)

    write_blocks(path, results(), shape, host_dtype(model.weights_.dtype), names)
    return shape
