"""What a file or a folder is: a table of numbers, or a source of rows; its name tells which."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.places import column_at, short
from lrnn.tables.sources import ArraySource, NpyFile, ParquetFiles, Source, reading

__all__ = ["READERS", "Format", "Table", "format_of", "open_source", "read", "read_idx"]

DELIMITERS = ",;\t"
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
GREY = ("1", "L", "LA", "I", "I;16", "F")  # Pillow's modes without colours
PIECE = 1 << 24  # bytes of an idx file that are read at once: it may promise more than there is
IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


@dataclass(frozen=True)
class Table:
    """Data as rows of attributes.

    Attributes
    ----------
    data : ndarray of shape (n_rows, n_attributes), or Source
        The numbers, of the type that the file has; or where they can be read block by block.
    names : tuple of str or None
        The attributes' names.
    image_shape : tuple of int or None
        Height and width (and channels), if rows are images.
    """

    data: Any
    names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Format:
    """How files of a format are read: as a whole, or as a source of rows, or both."""

    read: Callable[[Path], Table] | None = None
    source: Callable[[Path], Source] | None = None


def read(path: str | PathLike[str]) -> Table:
    """Read a table from a file or a folder.

    Known are .npy, .npz, .csv, .tsv (also .csv.gz, .tsv.gz), .parquet, .mat, the idx format of
    MNIST (…-ubyte or .idx, also gzipped), .zarr, .h5, .hdf5, and folders of images or of Parquet
    files. Errors name the place.
    """
    path = Path(path)
    found = format_of(path)
    if found is None:
        raise ValueError(
            f"{str(path)!r} is of no known format; its name should end in "
            f"{', '.join(READERS)}, or be that of a folder of images"
        )
    if found.read is not None:
        return found.read(path)
    assert found.source is not None
    return _whole(found.source(path))


def open_source(path: str | PathLike[str]) -> Source:
    """A file, or a folder, as a source of rows: .npy, .parquet, .zarr, .h5 or .hdf5."""
    path = Path(path)
    found = format_of(path)
    if found is None or found.source is None:
        raise ValueError(
            f"{str(path)!r} cannot be read block by block; .npy, .parquet (or a folder of such), "
            ".zarr, .h5 and .hdf5 can. Read it with lrnn.datasets.read, if it fits in memory"
        )
    return found.source(path)


def format_of(path: Path) -> Format | None:
    """The format of a file or a folder; None if it is not known."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    name = path.name.lower()
    if path.is_dir() and not name.endswith(".zarr"):
        return PARQUET_FOLDER if any(path.glob("**/*.parquet")) else IMAGE_FOLDER
    name = name.removesuffix(".gz")
    return next((found for suffix, found in READERS.items() if name.endswith(suffix)), None)


def table_of(array: NDArray[Any], where: str) -> Table:
    """An array of numbers as a table: a vector is one row, further axes are those of images."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {array.dtype}, not numbers")
    if array.dtype.kind == "b":
        array = array.astype(np.float64)  # 0 and 1; 8 bits would be levels
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"{where} holds no rows of numbers; its shape is {array.shape}")
    if array.ndim == 1:
        return Table(array[None, :])
    shape = array.shape[1:] if array.ndim > 2 else None
    return Table(array.reshape(len(array), -1), image_shape=shape)


def _whole(source: Source) -> Table:
    """All rows of a source."""
    blocks = list(source.blocks(0, source.shape[0]))
    data = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    return Table(table_of(data, f"{source.name!r}").data, source.columns)


# Arrays as NumPy and MATLAB write them. Pickled objects are never loaded.


def read_npy(path: Path) -> Table:
    """An array of a .npy file."""
    with reading(path, "is not a .npy file, or damaged"):
        array = np.load(path, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("it is a .npz file")
    return table_of(array, f"{str(path)!r}")


def read_npz(path: Path) -> Table:
    """The array of a .npz file, or the one that looks like data: "data", "X" or the only matrix."""
    with (
        reading(path, "is not a .npz file, or damaged"),
        np.load(path, allow_pickle=False) as archive,
    ):
        arrays = {name: np.asarray(archive[name]) for name in archive.files}
    return _table_of_chosen(arrays, path)


def read_mat(path: Path) -> Table:
    """A matrix of a MATLAB file, up to version 7.2."""
    from scipy.io import loadmat

    with reading(path, "is not a MATLAB file, or damaged"):
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


# Arrays on disk


def _array(library: str) -> Callable[[Path], Source]:
    return lambda path: ArraySource(_opened(library, path), str(path))


def _opened(library: str, path: Path) -> Any:
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


# Numbers as text: comma- or tab-separated, with or without a line of names


def read_text(path: Path) -> Table:
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
            f"{str(path)!r}, line {line}, {column_at(column, names)}: {data[row, column]} is not a "
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
                said = f"{short(cell)!r} is not a number" if cell.strip() else "the cell is empty"
                raise ValueError(f"{str(path)!r}, line {i + 1}, {column_at(column, names)}: {said}")
        if len(cells) != width:
            raise ValueError(
                f"{str(path)!r}, line {i + 1}: {len(cells)} cells, but {width} in line "
                f"{rows[0] + 1}"
            )


# The idx format of MNIST: a magic number, the shape, then the numbers, big-endian


def read_idx(path: str | PathLike[str]) -> NDArray[Any]:
    """Read an idx file, gzipped or not, as an array of the shape and type it states.

    No more is read, nor unpacked, than the shape takes.
    """
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            return _idx(file, fspath(path))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{fspath(path)!r} is a damaged gzip file: {error}") from None


def _idx(file: BinaryIO | gzip.GzipFile, name: str) -> NDArray[Any]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\x00\x00" or magic[2] not in IDX_TYPES:
        raise ValueError(f"{name!r} is not an idx file: it does not begin like one")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise ValueError(f"{name!r} is damaged: it ends before its shape is complete")
    shape = tuple(int(n) for n in np.frombuffer(sizes, ">u4"))
    kind = np.dtype(IDX_TYPES[magic[2]])
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    parts, found = [], 0
    while found <= wanted and (part := file.read(min(PIECE, wanted + 1 - found))):
        parts.append(part)
        found += len(part)
    if found != wanted:
        follow = f"{found} follow" if found < wanted else "more follow"
        raise ValueError(
            f"{name!r} is damaged: it states the shape {shape}, which takes {wanted} bytes, but "
            f"{follow}"
        )
    return np.frombuffer(b"".join(parts), kind).reshape(shape)


# Folders of images of one size, each a row


def read_images(folder: Path) -> Table:
    """All images of a folder in the order of their names, as uint8; grey if all of them are."""
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGES and p.is_file())
    if not paths:
        raise ValueError(f"{str(folder)!r} holds no images (files that end in {', '.join(IMAGES)})")
    rows = []
    colour = False
    for path in paths:
        pixels, grey = _pixels(path)
        colour |= not grey
        rows.append(pixels)
        if pixels.shape != rows[0].shape:
            raise ValueError(
                f"{str(path)!r} has {_size(pixels)} pixels, but {str(paths[0])!r} has "
                f"{_size(rows[0])}; all must be of one size"
            )
    images = np.stack(rows)
    if not colour:
        images = images[..., 0]
    return Table(images.reshape(len(images), -1), image_shape=images.shape[1:])


def _pixels(path: Path) -> tuple[NDArray[np.uint8], bool]:
    """An image's pixels as red, green and blue, and whether it is grey."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB")), image.mode in GREY
    except Exception as error:  # what damaged images raise is of many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{str(path)!r} is not an image, or damaged: {error}") from None


def _size(pixels: NDArray[np.uint8]) -> str:
    return f"{pixels.shape[1]}×{pixels.shape[0]}"


def _read_idx(path: Path) -> Table:
    return table_of(read_idx(path), f"{str(path)!r}")


def _read_parquet(path: Path) -> Table:
    return _whole(ParquetFiles(path))


IMAGE_FOLDER = Format(read_images)
PARQUET_FOLDER = Format(source=ParquetFiles)
READERS: dict[str, Format] = {
    ".npy": Format(read_npy, NpyFile),
    ".npz": Format(read_npz),
    ".csv": Format(read_text),
    ".tsv": Format(read_text),
    ".parquet": Format(_read_parquet, ParquetFiles),
    ".mat": Format(read_mat),
    ".idx": Format(_read_idx),
    "-ubyte": Format(_read_idx),
    ".zarr": Format(source=_array("zarr")),
    ".h5": Format(source=_array("h5py")),
    ".hdf5": Format(source=_array("h5py")),
}
