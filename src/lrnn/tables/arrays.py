"""Arrays as NumPy and MATLAB write them. Pickled objects are never loaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.table import Table, table_of


def read_npy(path: Path) -> Table:
    """An array of a .npy file."""
    with _reading(path, ".npy"):
        array = np.load(path, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("it is a .npz file")
    return table_of(array, f"{str(path)!r}")


def read_npz(path: Path) -> Table:
    """The array of a .npz file, or the one that looks like data: "data", "X" or the only matrix."""
    with _reading(path, ".npz"), np.load(path, allow_pickle=False) as archive:
        arrays = {name: np.asarray(archive[name]) for name in archive.files}
    return _chosen(arrays, path)


def read_mat(path: Path) -> Table:
    """A matrix of a MATLAB file, up to version 7.2."""
    from scipy.io import loadmat

    with _reading(path, "MATLAB"):
        try:
            content = loadmat(path)
        except NotImplementedError:
            raise ValueError("version 7.3 (HDF5) is not read; save it with -v7") from None
        arrays = {
            name: np.asarray(value.toarray() if hasattr(value, "toarray") else value)
            for name, value in content.items()
            if not name.startswith("__")
        }
    return _chosen(arrays, path)


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a damaged file leads to, anywhere in its reader, into one clear error."""
    with open(path, "rb") as file:
        file.read(1)  # what fails here is not the content's fault
    try:
        yield
    except Exception as error:
        raise ValueError(f"{str(path)!r} is not a {kind} file, or damaged: {error}") from None


def _chosen(arrays: dict[str, NDArray[Any]], path: Path) -> Table:
    numeric = {
        name: array
        for name, array in arrays.items()
        if array.dtype.kind in "biuf" and array.ndim >= 2 and array.size
    }
    for name in ("data", "X", "x", "images"):
        if name in numeric:
            return table_of(numeric[name], f"{name!r} in {str(path)!r}")
    if len(numeric) != 1:
        listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise ValueError(
            f"{str(path)!r} holds {listed}: name the matrix to use 'data', or leave only one"
        )
    ((name, array),) = numeric.items()
    return table_of(array, f"{name!r} in {str(path)!r}")
