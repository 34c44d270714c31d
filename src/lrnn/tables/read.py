"""What a file or a folder is: a table of numbers, or a source of rows; its name tells which."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from lrnn.tables.arrays import array_source, read_mat, read_npy, read_npz
from lrnn.tables.idx import read_idx
from lrnn.tables.images import read_images
from lrnn.tables.reading import Reading
from lrnn.tables.sources import NpyFile, ParquetFiles, Source
from lrnn.tables.table import Table, table_of, whole

__all__ = [
    "FOLDERS",
    "READERS",
    "Format",
    "Reading",
    "Table",
    "format_of",
    "open_source",
    "read",
    "read_idx",
]

DELIMITERS = ",;\t"
BY_DEFAULT = Reading()


@dataclass(frozen=True)
class Format:
    """How files of a format are read: as a whole, or as a source of rows, or both.

    ``options`` are the parts of a `Reading` that it takes.
    """

    read: Callable[[Path, Reading], Table] | None = None
    source: Callable[[Path, Reading], Source] | None = None
    options: tuple[str, ...] = ()


def read(path: str | PathLike[str], reading: Reading = BY_DEFAULT) -> Table:
    """Read a table from a file or a folder.

    Known are .npy, .npz, .csv, .tsv (also .csv.gz, .tsv.gz), .parquet, .mat, the idx format of
    MNIST (…-ubyte or .idx, also gzipped), .zarr, .h5, .hdf5, and folders of images or of Parquet
    files. ``reading`` tells what they do not tell themselves. Errors name the place.
    """
    path = Path(path)
    found = format_of(path, reading)
    if found is None:
        raise ValueError(
            f"{str(path)!r} is of no known format; its name should end in "
            f"{', '.join(READERS)}, or be that of a folder of images"
        )
    if found.read is not None:
        return found.read(path, reading)
    assert found.source is not None
    return whole(found.source(path, reading))


def open_source(path: str | PathLike[str], reading: Reading = BY_DEFAULT) -> Source:
    """A file, or a folder, as a source of rows: .npy, .parquet, .zarr, .h5 or .hdf5."""
    path = Path(path)
    found = format_of(path, reading)
    if found is None or found.source is None:
        raise ValueError(
            f"{str(path)!r} cannot be read block by block; .npy, .parquet (or a folder of such), "
            ".zarr, .h5 and .hdf5 can. Read it with lrnn.datasets.read, if it fits in memory"
        )
    return found.source(path, reading)


def format_of(path: Path, reading: Reading = BY_DEFAULT) -> Format | None:
    """The format of a file or a folder, if it takes what is asked for; None if it is not known."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if not (path.is_file() or path.is_dir()):  # a pipe would be waited for
        raise ValueError(f"{str(path)!r} is neither a file nor a folder; write it to a file first")
    name = path.name.lower()
    if path.is_dir() and not name.endswith(".zarr"):
        found: Format | None = FOLDERS[
            "Parquet files" if any(path.glob("**/*.parquet")) else "images"
        ]
    else:
        name = name.removesuffix(".gz")
        found = next((known for suffix, known in READERS.items() if name.endswith(suffix)), None)
    if found is not None:
        for option in reading.given:
            if option not in found.options:
                raise ValueError(f"{option!r} is for {taking(option)}, not for {str(path)!r}")
    return found


def taking(option: str) -> str:
    """The formats that take a part of a `Reading`."""
    files = [suffix for suffix, known in READERS.items() if option in known.options]
    folders = [f"folders of {what}" for what, known in FOLDERS.items() if option in known.options]
    return ", ".join(files + folders)


# Numbers as text: comma- or tab-separated, with or without a line of names


def read_text(path: Path, reading: Reading) -> Table:
    """The numbers of a .csv or .tsv file; it may be gzipped."""
    content = _decoded(path)
    lines = content.splitlines()
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        raise ValueError(f"{str(path)!r} is empty")
    delimiter = _delimiter(lines[filled[0]])
    first = _cells(lines[filled[0]], delimiter)
    names = None if all(map(_is_number, first)) else tuple(cell.strip() for cell in first)
    if names is not None and len(filled) == 1:
        raise ValueError(f"{str(path)!r} has a line of names, but no rows")
    skipped = filled[0] + (names is not None)
    try:
        data = np.loadtxt(
            io.StringIO("\n".join(lines[skipped:])),
            delimiter=delimiter,
            comments=None,
            quotechar='"',
            ndmin=2,
        )
    except (ValueError, csv.Error):
        _complain(path, lines, filled[names is not None :], delimiter, names or first)
        raise ValueError(f"{str(path)!r} cannot be read as a table of numbers") from None
    if names is not None and len(names) != data.shape[1]:
        raise ValueError(
            f"{str(path)!r} has {len(names)} names in line {filled[0] + 1}, but "
            f"{data.shape[1]} columns"
        )
    wrong = np.argwhere(~np.isfinite(data))
    if len(wrong):
        row, column = wrong[0]
        line = filled[names is not None :][row] + 1
        raise ValueError(
            f"{str(path)!r}, line {line}, {_column(names, column)}: {data[row, column]} is not a "
            "finite number"
        )
    return Table(data, names)


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{str(path)!r} is a damaged gzip file: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = content[: error.start].count(b"\n") + 1, content[error.start]
        raise ValueError(
            f"{str(path)!r} is not text: byte {byte:#04x} in line {line} is no UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{str(path)!r} is not text: it holds zero bytes")
    return text


def _delimiter(line: str) -> str:
    """The separator that occurs most in a line; a comma if none does."""
    return max(DELIMITERS, key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _complain(
    path: Path,
    lines: list[str],
    rows: list[int],
    delimiter: str,
    first: tuple[str, ...] | list[str],
) -> None:
    """Find the first cell that is no number, or the first line of another length."""
    names = None if all(map(_is_number, first)) else tuple(first)
    width = len(_cells(lines[rows[0]], delimiter))
    for i in rows:
        cells = _cells(lines[i], delimiter)
        for column, cell in enumerate(cells):
            if not _is_number(cell):
                said = f"{_short(cell)!r} is not a number" if cell.strip() else "the cell is empty"
                raise ValueError(f"{str(path)!r}, line {i + 1}, {_column(names, column)}: {said}")
        if len(cells) != width:
            raise ValueError(
                f"{str(path)!r}, line {i + 1}: {len(cells)} cells, but {width} in line "
                f"{rows[0] + 1}"
            )


def _column(names: tuple[str, ...] | None, column: int) -> str:
    if names is not None and column < len(names):
        return f"column {column + 1} ({_short(names[column])!r})"
    return f"column {column + 1}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def _read_idx(path: Path, reading: Reading) -> Table:
    return table_of(read_idx(path), f"{str(path)!r}")


def _read_parquet(path: Path, reading: Reading) -> Table:
    return whole(_parquet(path, reading))


def _parquet(path: Path, reading: Reading) -> Source:
    return ParquetFiles(path)


def _npy(path: Path, reading: Reading) -> Source:
    return NpyFile(path)


TEXT = ("delimiter", "decimal", "encoding", "na")
READERS: dict[str, Format] = {
    ".npy": Format(read_npy, _npy),
    ".npz": Format(read_npz, options=("key",)),
    ".csv": Format(read_text, options=TEXT),
    ".tsv": Format(read_text, options=TEXT),
    ".parquet": Format(_read_parquet, _parquet),
    ".mat": Format(read_mat, options=("key",)),
    ".zarr": Format(source=array_source("zarr"), options=("key",)),
    ".h5": Format(source=array_source("h5py"), options=("key",)),
    ".hdf5": Format(source=array_source("h5py"), options=("key",)),
    ".idx": Format(_read_idx),
    "-ubyte": Format(_read_idx),
}
FOLDERS: dict[str, Format] = {
    "images": Format(read_images, options=("resize", "grey")),
    "Parquet files": Format(source=_parquet),
}
