"""Arrays as NumPy, SciPy, MATLAB, Zarr and HDF5 write them. Pickled objects are never loaded."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.tables.frame import as_text
from lrnn.tables.matlab import read_variables
from lrnn.tables.reading import Reading
from lrnn.tables.sources import (
    ArraySource,
    Source,
    check_memory,
    damage_named,
    lacking_memory,
    npy_header,
)
from lrnn.tables.table import Table, table_of

__all__ = ["array_source", "read_mat", "read_npy", "read_npz"]

LABELS = ("labels", "label", "y", "target", "targets", "classes", "class", "gnd")
LISTED = 20  # names of arrays that a message has at most


def read_npy(path: Path, reading: Reading) -> Table:
    """An array of a .npy file."""
    shape, _, dtype, _ = npy_header(path)
    size = prod(shape) * dtype.itemsize
    with damage_named(path, "is not a .npy file, or damaged", size), path.open("rb") as file:
        array = np.load(file, allow_pickle=False)
    return table_of(array, f"{str(path)!r}")


def read_npz(path: Path, reading: Reading) -> Table:
    """An array of a .npz file, or the sparse matrix that SciPy wrote to it."""
    with (
        damage_named(path, "is not a .npz file, or damaged"),
        path.open("rb") as file,  # which NumPy would leave open, were it damaged
        np.load(file, allow_pickle=False) as archive,
    ):
        if {"format", "shape", "data"} <= set(archive.files):
            file.seek(0)
            return table_of(_checked(sparse.load_npz(file)), f"{str(path)!r}")
        names = archive.files
        if reading.key in names:
            names = [name for name in names if name in (reading.key, *LABELS)]
        arrays = {name: np.asarray(archive[name]) for name in names}
    return _table_of_chosen(arrays, path, reading, arrays)


def read_mat(path: Path, reading: Reading) -> Table:
    """A matrix of a MATLAB file; fields of a structure are "structure/field"."""
    from scipy.io.matlab import matfile_version

    with damage_named(path, "is not a MATLAB file, or damaged"):
        in_hdf5 = matfile_version(path)[0] == 2  # version 7.3
        arrays = {} if in_hdf5 else read_variables(path)
        for name, array in arrays.items():
            arrays[name] = _checked(array) if sparse.issparse(array) else array
    if in_hdf5:
        remedy = "pip install h5py, or save it with -v7"
        with _opened("h5py", path, remedy) as opened, opened as file:
            found = {name: _of_matlab(member) for name, member in _members(file)}
            arrays = {name: array for name, array in found.items() if array is not None}
    if reading.key is None:  # labels, too, are matrices for MATLAB: of one column or row
        wide = {name: array for name, array in arrays.items() if min(array.shape, default=0) > 1}
        return _table_of_chosen(wide or arrays, path, reading, arrays)
    return _table_of_chosen(arrays, path, reading, arrays)


def _of_matlab(member: Any) -> Any:
    """A variable of MATLAB that is stored as HDF5 does, with its axes reversed; None if empty."""
    kind = bytes(np.bytes_(member.attrs.get("MATLAB_class", b"")))
    if "MATLAB_empty" in member.attrs or kind in (b"char", b"cell"):
        return None
    if "MATLAB_sparse" in member.attrs:
        rows, starts = int(member.attrs["MATLAB_sparse"]), np.asarray(member["jc"])
        parts = np.asarray(member.get("data", ())), np.asarray(member.get("ir", ())), starts
        matrix = sparse.csc_array(parts, shape=(rows, len(starts) - 1))
        return _checked(matrix.astype(bool) if kind == b"logical" else matrix)
    check_memory(member.file.filename, prod(member.shape) * member.dtype.itemsize)
    array = np.asarray(member).T
    return array.astype(bool) if kind == b"logical" else array


def _checked(matrix: Any) -> Any:
    """A sparse matrix as a csr_array, all places of which are inside."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    found = sparse.csr_array(matrix)
    found.sum_duplicates()
    return found


def array_source(library: str) -> Callable[[Path, Reading], Source]:
    """A reader of arrays on disk, by Zarr or by h5py."""

    def source(path: Path, reading: Reading) -> Source:
        with _opened(library, path, f"pip install {library}") as found:
            if not hasattr(found, "shape"):
                arrays = dict(_members(found))
                found = arrays[_chosen(arrays, path, reading.key)]
            elif reading.key is not None:
                raise ValueError(f"{str(path)!r} is one array, which needs no key")
            return ArraySource(found, str(path), images=True)

    return source


@contextmanager
def _opened(library: str, path: Path, remedy: str) -> Iterator[Any]:
    """The array or the group that a Zarr store or an HDF5 file is; an error closes it."""
    try:
        module = __import__(library)
    except ImportError:
        raise ValueError(f"reading {str(path)!r} needs {library}: {remedy}") from None
    try:
        opened = module.open(str(path), mode="r") if library == "zarr" else module.File(path, "r")
    except Exception as error:
        line = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} is no {path.suffix} file, or damaged: {line}") from None
    try:
        yield opened
    except BaseException as error:
        if library == "h5py":
            opened.close()
        if str(path) in str(error) or not isinstance(error, Exception):
            raise
        if isinstance(error, MemoryError):
            raise lacking_memory(str(path), error) from None
        line = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} is damaged: {line}") from None


def _members(group: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """All arrays of a group and of those in it, by their path; sparse ones of MATLAB, too."""
    members = group.members() if hasattr(group, "members") else group.items()
    for name, member in members:
        if member is None or name.startswith("#"):  # a link that leads nowhere; MATLAB's own
            continue
        if hasattr(member, "shape") or "MATLAB_sparse" in member.attrs:
            yield name, member
        elif hasattr(member, "keys") and member not in (*above, group):  # not in circles
            for inner, array in _members(member, (*above, group)):
                yield f"{name}/{inner}", array


def _table_of_chosen(
    arrays: Mapping[str, Any], path: Path, reading: Reading, all_of_them: Mapping[str, Any]
) -> Table:
    name = _chosen(arrays, path, reading.key)
    table = table_of(arrays[name], f"{name!r} in {str(path)!r}")
    return replace(table, labels=_labels(all_of_them, name, table.data.shape[0]))


def _labels(arrays: Mapping[str, Any], chosen: str, rows: int) -> tuple[str | None, ...] | None:
    """The class of each row, if an array beside the chosen one has a name that says so.

    A row whose label is empty, or not a number among numbers, has none.
    """
    for name in LABELS:
        found = arrays.get(name)
        if found is None or name == chosen or sparse.issparse(found):
            continue
        if found.dtype.kind in "biufU" and found.shape in ((rows,), (rows, 1), (1, rows)):
            cells = found.ravel().tolist()
            return tuple(
                None if cell in ("", None) or cell != cell else as_text(cell) for cell in cells
            )
    return None


def _chosen(arrays: Mapping[str, Any], path: Path, key: str | None) -> str:
    """The name of the matrix to use, of all that a file holds: a rule for every such format.

    It is the one that is asked for, or "data", "X", "x" or "images", or else the only one.
    """
    if key is not None:
        name = key if key in arrays else key.strip("/")
        if name not in arrays:
            raise ValueError(
                f"{str(path)!r} holds no array {key!r}, but {_listed(arrays, list(arrays))}"
            )
        return name
    numeric = [
        name
        for name, array in arrays.items()
        if array.dtype.kind in "biuf" and len(array.shape) >= 2 and prod(array.shape)
    ]
    for wanted in ("data", "X", "x", "images"):
        if wanted in numeric:
            return wanted
    if len(numeric) == 1:
        return numeric[0]
    if numeric:
        raise ValueError(
            f"{str(path)!r} holds several matrices: {_listed(arrays, numeric)}; choose one: "
            f"--key {numeric[0]} (in Python, Reading(key={numeric[0]!r}))"
        )
    raise ValueError(
        f"{str(path)!r} holds no matrix of numbers, but {_listed(arrays, list(arrays))}"
    )


def _listed(arrays: Mapping[str, Any], names: list[str]) -> str:
    """Names and shapes of arrays, as many as a message can hold."""
    listed = [f"{name} {tuple(map(int, arrays[name].shape))}" for name in names[:LISTED]]
    if len(names) > LISTED:
        listed.append(f"and {len(names) - LISTED:,} more")
    return ", ".join(listed) or "nothing"
