"""What a file or a folder is: a table of numbers, or a source of rows; its name tells which."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from lrnn.tables.arrays import array_source, read_mat, read_npy, read_npz
from lrnn.tables.frame import Columns
from lrnn.tables.idx import read_idx
from lrnn.tables.images import read_images
from lrnn.tables.reading import Reading
from lrnn.tables.recipe import Recipe, TableSource
from lrnn.tables.sources import NpyFile, ParquetFiles, Source, check_file
from lrnn.tables.table import Table, table_of, whole

if TYPE_CHECKING:
    from lrnn.tables.text import TextFile

__all__ = [
    "FOLDERS",
    "READERS",
    "Format",
    "Reading",
    "Table",
    "format_of",
    "open_columns",
    "open_source",
    "read",
    "read_idx",
]

BY_DEFAULT = Reading()


@dataclass(frozen=True)
class Format:
    """How files of a format are read: as a whole, as a source of rows, or as columns of any kind.

    ``options`` are the parts of a `Reading` that it takes.
    """

    read: Callable[[Path, Reading], Table] | None = None
    source: Callable[[Path, Reading], Source] | None = None
    columns: Callable[[Path, Reading], Columns] | None = None
    options: tuple[str, ...] = ()


def read(path: str | PathLike[str], reading: Reading = BY_DEFAULT) -> Table:
    r"""Read a table from a file or a folder.

    Known are .npy, .npz, .csv, .tsv (also .csv.gz, .tsv.gz), .parquet, .mat, the idx format of
    MNIST (…-ubyte or .idx, also gzipped), .zarr, .h5, .hdf5, and folders of images or of Parquet
    files. ``reading`` tells what they do not tell themselves. Errors name the place.

    Parameters
    ----------
    path : str or path-like
        The file or folder.
    reading : Reading, optional
        How it is to be read.

    Returns
    -------
    table : Table
        Its ``data``, names and labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from lrnn.datasets import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("a,b\n1,2\n3,4\n")
    ...     read(file).data
    array([[1., 2.],
           [3., 4.]])
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
    if path.suffix.lower() == ".safetensors":
        raise ValueError(
            f"{str(path)!r} is no data; lrnn.load reads a model, lrnn.load_moment a moment, which "
            "fit takes"
        )
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
    check_file(path)
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


def taken(path: Path, reading: Reading) -> Reading:
    """Of what is remembered of another file, that which this one takes."""
    found = format_of(path)
    options = () if found is None else found.options
    return Reading(**{name: getattr(reading, name) for name in reading.given if name in options})


def taking(option: str) -> str:
    """The formats that take a part of a `Reading`."""
    files = [suffix for suffix, known in READERS.items() if option in known.options]
    folders = [f"folders of {what}" for what, known in FOLDERS.items() if option in known.options]
    return ", ".join(files + folders)


def open_columns(path: str | PathLike[str], reading: Reading = BY_DEFAULT) -> Columns | None:
    """A file, or a folder, as columns of numbers and of text; None if it holds but a matrix."""
    path = Path(path)
    found = format_of(path, reading)
    return None if found is None or found.columns is None else found.columns(path, reading)


def _text(path: Path, reading: Reading) -> "TextFile":
    from lrnn.tables.text import TextFile  # it needs pyarrow

    return TextFile(path, reading)


def _read_text(path: Path, reading: Reading) -> Table:
    """The numbers of a text; columns that hold none are refused."""
    text = _text(path, reading)
    recipe, facts = Recipe.fit(text)
    source = TableSource(text, recipe, rows=facts[0].rows)
    return Table(whole(source).data, source.columns if text.named else None)


def _read_idx(path: Path, reading: Reading) -> Table:
    return table_of(read_idx(path), f"{str(path)!r}")


def _read_parquet(path: Path, reading: Reading) -> Table:
    return whole(_parquet(path, reading))


def _parquet(path: Path, reading: Reading) -> ParquetFiles:
    return ParquetFiles(path)


def _npy(path: Path, reading: Reading) -> Source:
    return NpyFile(path)


TEXT = ("delimiter", "decimal", "encoding", "header", "na")
READERS: dict[str, Format] = {
    ".npy": Format(read_npy, _npy),
    ".npz": Format(read_npz, options=("key",)),
    ".csv": Format(_read_text, columns=_text, options=TEXT),
    ".tsv": Format(_read_text, columns=_text, options=TEXT),
    ".parquet": Format(_read_parquet, _parquet, _parquet),
    ".mat": Format(read_mat, options=("key",)),
    ".zarr": Format(source=array_source("zarr"), options=("key",)),
    ".h5": Format(source=array_source("h5py"), options=("key",)),
    ".hdf5": Format(source=array_source("h5py"), options=("key",)),
    ".idx": Format(_read_idx),
    "-ubyte": Format(_read_idx),
}
FOLDERS: dict[str, Format] = {
    "images": Format(read_images, options=("resize", "grey")),
    "Parquet files": Format(source=_parquet, columns=_parquet),
}
