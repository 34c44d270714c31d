"""What a person calls their data: a file, a folder of images, or the name of a data set."""

import os
from os import PathLike, fspath
from pathlib import Path

from lrnn.datasets.dataset import data_sets, unknown
from lrnn.datasets.load import load
from lrnn.tables.read import BY_DEFAULT, Reading, Table, format_of, read

LARGE = 1 << 30  # bytes of a file that is rather read block by block


def open_table(
    source: str | PathLike[str],
    stream: bool = False,
    reading: Reading = BY_DEFAULT,
    split: str | None = None,
) -> Table:
    """The table in a file or folder, or else the data set of that name, its numbers unscaled.

    With ``stream``, large files are not read, but a source of rows (`lrnn.tables.sources`) is
    given; for text and Parquet files of any size, their columns (`lrnn.tables.frame`).
    ``reading`` tells how a file is to be read, where it does not tell itself; ``split`` which rows
    of a data set are meant.

    Parameters
    ----------
    source : str or path-like
        A file, a folder, or the name of a data set.
    stream : bool, default=False
        Whether large files are left where they are.
    reading : Reading, optional
        How the file is to be read.
    split : {"train", "test"}, optional
        Rows of a data set.

    Returns
    -------
    table : Table
        Its ``data``, names and labels.

    Examples
    --------
    >>> open_table("digits").data.shape
    (1797, 64)
    """
    name = fspath(source)
    if Path(name).exists():
        return _file(Path(name), stream, reading)
    if name in data_sets():
        if reading.given:
            raise ValueError(f"{reading.given[0]!r} is for files, and {name!r} is a data set")
        entry = data_sets()[name]
        found = load(name, split=split, scaled=False)
        labels = None if found.target is None else [found.target_names[i] for i in found.target]
        return Table(
            found.data,
            entry.names or None,
            entry.image_shape,
            None if labels is None else tuple(labels),
            entry.white,
        )
    if Path(name).suffix or any(mark and mark in name for mark in (os.sep, os.altsep)):
        raise FileNotFoundError(f"there is no file {name!r}")
    raise ValueError(f"there is no file {name!r}, and {unknown(name)}")


def _file(path: Path, stream: bool, reading: Reading) -> Table:
    found = format_of(path, reading)
    if not stream or found is None:
        return read(path, reading)
    if found.columns is not None:
        table = found.columns(path, reading)
        return Table(table, table.columns if table.named else None)
    large = found.read is None or path.stat().st_size > LARGE
    if found.source is None or not large:
        return read(path, reading)
    source = found.source(path, reading)
    return Table(source, source.columns, source.image_shape)
