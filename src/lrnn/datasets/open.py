"""What a person calls their data: a file, a folder of images, or the name of a data set."""

import os
from os import PathLike, fspath
from pathlib import Path

from lrnn.datasets.load import load
from lrnn.datasets.read import read
from lrnn.datasets.registry import DATA_SETS, unknown
from lrnn.datasets.table import Table


def open_table(source: str | PathLike[str]) -> Table:
    """The table in a file or folder, or else the data set of that name, its numbers unscaled.

    >>> open_table("digits").data.shape
    (1797, 64)
    """
    name = fspath(source)
    if Path(name).exists():
        return read(name)
    if name in DATA_SETS:
        entry = DATA_SETS[name]
        return Table(load(name, scaled=False).data, entry.names or None, entry.image_shape)
    if Path(name).suffix or any(mark and mark in name for mark in (os.sep, os.altsep)):
        raise FileNotFoundError(f"there is no file {name!r}")
    raise ValueError(f"there is no file {name!r}, and {unknown(name)}")
