"""Rows to a file, block by block; the file appears when the last block is written, or never."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import put_in_place

Put: TypeAlias = Callable[[NDArray[Any]], None]
Opened: TypeAlias = AbstractContextManager[Put]
Names: TypeAlias = Sequence[str] | None


def write_blocks(
    path: str | os.PathLike[str],
    blocks: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: Any,
    names: Names = None,
) -> None:
    """Write blocks of rows to a .npy, .csv, .tsv, .parquet or .zarr file.

    What was there under this name is replaced as a whole, or not at all.
    """
    path = check_stream_output(path).resolve()
    temporary = ""
    try:
        temporary = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        unfinished = Path(temporary) / path.name
        with WRITERS[path.suffix.lower()](unfinished, shape, np.dtype(dtype), names) as put:
            for block in blocks:
                put(block)
        put_in_place(unfinished, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


def check_stream_output(path: str | os.PathLike[str]) -> Path:
    """Complain of a name that `write_blocks` would refuse, before any work is done for it."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(
            f"{str(path)!r} cannot be written block by block; its name should end in "
            f"{', '.join(WRITERS)}"
        )
    if path.is_dir() and suffix != ".zarr":
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file")
    if path.is_dir() and not (path / "zarr.json").exists() and not (path / ".zarray").exists():
        raise IsADirectoryError(f"{str(path)!r} is a folder, but no Zarr array; it is left alone")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write to")
    needed = {".parquet": "pyarrow", ".zarr": "zarr"}.get(suffix)
    if needed is not None:
        try:
            __import__(needed)
        except ImportError:
            raise ValueError(f"writing {suffix} needs {needed}: pip install {needed}") from None
    return path


@contextmanager
def _npy(path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names) -> Iterator[Put]:
    with open(path, "wb") as file:
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(file, header)

        def put(block: NDArray[Any]) -> None:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)

        yield put
        file.flush()
        os.fsync(file.fileno())


def _text(delimiter: str) -> Callable[..., Opened]:
    @contextmanager
    def opened(
        path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names
    ) -> Iterator[Put]:
        with open(path, "w", encoding="utf-8", newline="") as file:
            if names is not None:
                from lrnn.tables.write import quoted

                file.write(delimiter.join(map(quoted, names)) + "\n")

            def put(block: NDArray[Any]) -> None:
                file.writelines(delimiter.join(map(repr, row)) + "\n" for row in block.tolist())

            yield put
            file.flush()
            os.fsync(file.fileno())

    return opened


@contextmanager
def _parquet(
    path: Path, shape: tuple[int, int], dtype: np.dtype[Any], names: Names
) -> Iterator[Put]:
    import pyarrow
    from pyarrow import parquet

    names = list(names or (f"column{i}" for i in range(shape[1])))
    schema = pyarrow.schema([(name, pyarrow.from_numpy_dtype(dtype)) for name in names])
    with parquet.ParquetWriter(path, schema) as file:
        yield lambda block: file.write_table(
            pyarrow.Table.from_arrays([pyarrow.array(c) for c in block.T], schema=schema)
        )


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


WRITERS: dict[str, Callable[[Path, tuple[int, int], np.dtype[Any], Names], Opened]] = {
    ".npy": _npy,
    ".csv": _text(","),
    ".tsv": _text("\t"),
    ".parquet": _parquet,
    ".zarr": _zarr,
}
