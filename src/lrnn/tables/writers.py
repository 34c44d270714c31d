"""Tables into files, block by block; a file appears when the last block is written, or never."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import check_utf8, in_place

__all__ = ["WRITERS", "check_output", "write", "write_arrays", "write_blocks"]

Block: TypeAlias = NDArray[Any] | Sequence[Any]
Put: TypeAlias = Callable[[Any], object]
Names: TypeAlias = Sequence[str] | None
Writer: TypeAlias = Callable[
    [Path, tuple[int, int], np.dtype[Any], Names], AbstractContextManager[Put]
]

WITH_TEXT = (".csv", ".tsv", ".parquet")  # formats whose columns may be text
NEEDED = {".zarr": "zarr"}  # libraries that not everyone has


def write(path: str | os.PathLike[str], data: NDArray[Any], names: Names = None) -> None:
    """Write rows of numbers in the format that the file's name asks for."""
    write_blocks(path, [data], (data.shape[0], data.shape[1]), data.dtype, names)


def write_blocks(
    path: str | os.PathLike[str],
    blocks: Iterable[Block],
    shape: tuple[int, int],
    dtype: Any,
    names: Names = None,
) -> None:
    """Write blocks of rows to a .npy, .npz, .csv, .tsv, .mat, .parquet or .zarr file.

    A block is a matrix, or a list of columns. In .csv, .tsv and .parquet files these may be of
    several types, or text; None is a missing one.

    What was there under this name is replaced as a whole, or not at all. A .npz or .mat file is
    held in memory until it is complete.
    """
    path = check_output(path).resolve()
    suffix = path.suffix.lower()
    with (
        in_place(path, folder=path.suffix.lower() == ".zarr") as unfinished,
        WRITERS[suffix](unfinished, shape, np.dtype(dtype), names) as put,
    ):
        for block in blocks:
            put(block if suffix in WITH_TEXT else _matrix(block, path, names))


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays of any shape, each by its name, to a .npz or .mat file; or one to a .npy file.

    What was there under this name is replaced as a whole, or not at all.
    """
    path = check_output(path).resolve()
    with in_place(path) as unfinished, open(unfinished, "wb") as file:
        if path.suffix.lower() == ".npy":
            (array,) = arrays.values()
            np.save(file, array)
        else:
            {".npz": _npz, ".mat": _mat}[path.suffix.lower()](file, arrays)


def check_output(path: str | os.PathLike[str]) -> Path:
    """Complain of a name that `write_blocks` would refuse, before any work is done for it."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(
            f"{str(path)!r} is of no known format; its name should end in {', '.join(WRITERS)}"
        )
    if path.is_dir() and suffix != ".zarr":
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file")
    if path.is_dir() and not _is_zarr_array(path):
        raise IsADirectoryError(f"{str(path)!r} is a folder, but no Zarr array; it is left alone")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write to")
    if suffix == ".parquet":
        check_utf8(path.resolve())
    needed = NEEDED.get(suffix)
    if needed is not None and find_spec(needed) is None:
        raise ValueError(f"writing {suffix} needs {needed}: pip install {needed}")
    return path


def _is_zarr_array(folder: Path) -> bool:
    """Whether a folder is one array, and not a group that may hold others."""
    if (folder / ".zarray").exists():  # version 2 of the format
        return True
    try:
        node = json.loads((folder / "zarr.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(node, dict) and node.get("node_type") == "array"


def _matrix(block: Block, path: Path, names: Names) -> NDArray[Any]:
    """A block as a matrix, for formats that have nothing else."""
    if isinstance(block, np.ndarray):
        return block
    for i, column in enumerate(block):
        if _is_text(column):
            name = f"column {i + 1}" if names is None else f"the column {names[i]!r}"
            raise ValueError(
                f"{name} holds text, which {path.suffix} files do not take; {', '.join(WITH_TEXT)} "
                f"files do: {str(path.with_suffix('.csv'))!r}"
            )
    return np.column_stack([np.asarray(column) for column in block])


def _is_text(column: Any) -> bool:
    return np.asarray(column).dtype.kind not in "biuf"


@contextmanager
def _npy(path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names) -> Iterator[Put]:
    with open(path, "wb") as file:
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(file, header)
        yield lambda block: file.write(np.ascontiguousarray(block, dtype=dtype).data)


def _text(delimiter: str) -> Writer:
    @contextmanager
    def opened(
        path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names
    ) -> Iterator[Put]:
        with open(path, "wb") as file:
            if names is not None:
                file.write((delimiter.join(map(_quoted, names)) + "\n").encode())

            def put(block: Block) -> None:
                # repr of a float is the shortest text that reads back as the same number
                rows: Iterable[Iterable[str]]
                if isinstance(block, np.ndarray):
                    rows = (map(repr, row) for row in block.tolist())
                else:
                    rows = zip(*map(_cells, block), strict=True)
                file.writelines((delimiter.join(row) + "\n").encode() for row in rows)

            yield put

    return opened


def _cells(column: Any) -> Iterator[str]:
    """A column's cells as they stand in lines of text."""
    if _is_text(column):
        return ("" if cell is None else _quoted(str(cell)) for cell in column)
    return ("" if cell != cell else repr(cell) for cell in np.asarray(column).tolist())  # NaN


def _quoted(name: str) -> str:
    """A name or a text as it stands in a line."""
    plain = not set(name) & set(',;\t"\r\n')
    return name if plain else '"' + name.replace('"', '""') + '"'


def _at_once(save: Callable[[IO[bytes], Mapping[str, NDArray[Any]]], None]) -> Writer:
    """For formats that cannot be written in parts: the blocks are collected."""

    @contextmanager
    def opened(
        path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names
    ) -> Iterator[Put]:
        blocks: list[NDArray[Any]] = []
        yield blocks.append
        with open(path, "wb") as file:
            save(file, {"data": np.concatenate(blocks, dtype=dtype)})

    return opened


def _npz(file: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(file, **named)


def _mat(file: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    from scipy.io import savemat

    cells = {k: a[:, None].astype(object) if _is_text(a) else a for k, a in arrays.items()}
    savemat(file, cells, do_compression=True)


@contextmanager
def _parquet(
    path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names
) -> Iterator[Put]:
    import pyarrow
    from pyarrow import parquet

    names = list(names or (f"column{i}" for i in range(shape[1])))
    number = pyarrow.from_numpy_dtype(dtype)
    file: Any = None

    def opened(types: Sequence[Any]) -> Any:
        schema = pyarrow.schema(list(zip(names, types, strict=True)))
        return parquet.ParquetWriter(path, schema)

    def put(block: Block) -> None:
        nonlocal file
        if isinstance(block, np.ndarray):
            columns = [pyarrow.array(column) for column in block.astype(dtype, copy=False).T]
        else:
            columns = [pyarrow.array(c, pyarrow.string() if _is_text(c) else None) for c in block]
        file = file or opened([column.type for column in columns])  # the first block tells types
        columns = [_of_type(*each) for each in zip(columns, file.schema, strict=True)]
        file.write_table(pyarrow.Table.from_arrays(columns, schema=file.schema))

    try:
        yield put
        file = file or opened([number] * len(names))
    finally:
        if file is not None:
            file.close()


def _of_type(column: Any, field: Any) -> Any:
    """A column of a later block as one of the first; whole numbers may be missing in it."""
    import pyarrow

    if column.type == field.type:
        return column
    if pyarrow.types.is_integer(field.type) and pyarrow.types.is_floating(column.type):
        column = pyarrow.array(column.to_numpy(zero_copy_only=False), from_pandas=True)
    try:
        return column.cast(field.type)
    except pyarrow.ArrowInvalid:
        raise ValueError(
            f"the column {field.name!r} is {field.type} in the first rows, and holds other values "
            f"later, which are {column.type}; write a .csv file, whose columns have no types"
        ) from None


@contextmanager
def _zarr(path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names) -> Iterator[Put]:
    import zarr

    rows = max(1, min(shape[0], (1 << 24) // max(1, shape[1] * dtype.itemsize)))
    array = zarr.create_array(store=str(path), shape=shape, dtype=dtype, chunks=(rows, shape[1]))
    first = 0

    def put(block: NDArray[Any]) -> None:
        nonlocal first
        array[first : first + len(block)] = block
        first += len(block)

    yield put


WRITERS: dict[str, Writer] = {
    ".npy": _npy,
    ".npz": _at_once(_npz),
    ".csv": _text(","),
    ".tsv": _text("\t"),
    ".mat": _at_once(_mat),
    ".parquet": _parquet,
    ".zarr": _zarr,
}
