"""A file, or a folder of images, as a table: its name tells the format."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from lrnn.tables.arrays import read_mat, read_npy, read_npz
from lrnn.tables.idx import read_idx
from lrnn.tables.images import read_images
from lrnn.tables.parquet import read_parquet
from lrnn.tables.table import Table, table_of
from lrnn.tables.text import read_text


def read(path: str | PathLike[str]) -> Table:
    """Read a table from a file or a folder of images.

    Known are .npy, .npz, .csv, .tsv (also .csv.gz, .tsv.gz), .parquet, .mat, the idx format of
    MNIST (…-ubyte or .idx, also gzipped) and folders of images. Errors name the place.
    """
    path = Path(path)
    if path.is_dir():
        return read_images(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    name = path.name.lower().removesuffix(".gz")
    for suffix, reader in READERS.items():
        if name.endswith(suffix):
            return reader(path)
    raise ValueError(
        f"{str(path)!r} is of no known format; its name should end in "
        f"{', '.join(READERS)}, or be that of a folder of images"
    )


def _read_idx(path: Path) -> Table:
    return table_of(read_idx(path), f"{str(path)!r}")


READERS: dict[str, Callable[[Path], Table]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".csv": read_text,
    ".tsv": read_text,
    ".parquet": read_parquet,
    ".mat": read_mat,
    ".idx": _read_idx,
    "-ubyte": _read_idx,
}
