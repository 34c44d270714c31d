"""Arrays as NumPy, MATLAB, Zarr and HDF5 write them. Pickled objects are never loaded."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.reading import Reading
from lrnn.tables.sources import ArraySource, Source, damage_named
from lrnn.tables.table import Table, table_of

__all__ = ["array_source", "read_mat", "read_npy", "read_npz"]


def read_npy(path: Path, reading: Reading) -> Table:
    """An array of a .npy file."""
    with damage_named(path, "is not a .npy file, or damaged"):
        array = np.load(path, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("it is a .npz file")
    return table_of(array, f"{str(path)!r}")


def read_npz(path: Path, reading: Reading) -> Table:
    """The array of a .npz file, or the one that looks like data: "data", "X" or the only matrix."""
    with (
        damage_named(path, "is not a .npz file, or damaged"),
        np.load(path, allow_pickle=False) as archive,
    ):
        arrays = {name: np.asarray(archive[name]) for name in archive.files}
    return _table_of_chosen(arrays, path)


def read_mat(path: Path, reading: Reading) -> Table:
    """A matrix of a MATLAB file, up to version 7.2."""
    from scipy.io import loadmat

    with damage_named(path, "is not a MATLAB file, or damaged"):
        try:
            content = loadmat(path, mat_dtype=True)  # not as few bits as they were stored in
        except NotImplementedError:
            raise ValueError("version 7.3 (HDF5) is not read; save it with -v7") from None
        arrays = {
            name: np.asarray(value.toarray() if hasattr(value, "toarray") else value)
            for name, value in content.items()
            if not name.startswith("__")
        }
    return _table_of_chosen(arrays, path)


def _table_of_chosen(arrays: dict[str, NDArray[Any]], path: Path) -> Table:
    name = _chosen(arrays, path)
    return table_of(arrays[name], f"{name!r} in {str(path)!r}")


def _chosen(arrays: Mapping[str, Any], path: Path) -> str:
    """The name of the matrix to use, of all that a file holds: a rule for every such format."""
    numeric = [
        name
        for name, array in arrays.items()
        if array.dtype.kind in "biuf" and array.ndim >= 2 and array.size
    ]
    name = next((name for name in ("data", "X", "x", "images") if name in numeric), None)
    if name is not None:
        return name
    if len(numeric) == 1:
        return numeric[0]
    listed = ", ".join(f"{name} {tuple(arrays[name].shape)}" for name in numeric or arrays)
    if numeric:
        raise ValueError(
            f"{str(path)!r} holds several matrices: {listed}; the one to be used must be called "
            "'data' or 'X'"
        )
    raise ValueError(f"{str(path)!r} holds no matrix of numbers, but {listed or 'nothing'}")


def array_source(library: str) -> Callable[[Path, Reading], Source]:
    """A reader of arrays on disk, by Zarr or by h5py."""
    return lambda path, reading: ArraySource(_opened(library, path, reading), str(path))


def _opened(library: str, path: Path, reading: Reading) -> Any:
    """The array of a Zarr store, or one of those of a Zarr group or an HDF5 file."""
    try:
        module = __import__(library)
    except ImportError:
        raise ValueError(f"reading {path.suffix} needs {library}: pip install {library}") from None
    try:
        opened = module.open(str(path), mode="r") if library == "zarr" else module.File(path, "r")
    except Exception as error:
        raise ValueError(f"{str(path)!r} is no {path.suffix} file, or damaged: {error}") from None
    if hasattr(opened, "dtype"):
        return opened
    members = opened.members() if library == "zarr" else opened.items()
    arrays = {name: member for name, member in members if hasattr(member, "dtype")}
    return arrays[_chosen(arrays, path)]
