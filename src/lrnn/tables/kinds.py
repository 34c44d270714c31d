"""What X is: data in memory, a file, an array on disk, a function of blocks."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import is_array
from lrnn.tables.read import open_columns, open_source, taken
from lrnn.tables.reading import Reading
from lrnn.tables.sources import ArraySource, Blocks
from lrnn.tables.table import Table

__all__ = ["SMALL_MAP", "opened"]

SMALL_MAP = 1 << 28  # bytes of a mapped array that is read like any other


def opened(X: Any, reading: Reading | None = None) -> Table:
    """X as a table, read block by block if it is not in memory; ``reading`` is how to read files.

    Data in memory stay what they are, and are looked at later.
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, str | os.PathLike):
        how = Reading() if reading is None else taken(Path(X), reading)
        return Table(open_columns(X, how) or open_source(X, how))
    if isinstance(X, np.memmap):
        return Table(ArraySource(X) if X.nbytes > SMALL_MAP and X.ndim == 2 else X)
    if isinstance(X, _on_disk("Array", "Dataset")):
        return Table(ArraySource(X, X.name or "X"))
    if isinstance(X, _on_disk("Group", "Group")):
        names = [repr(str(name)) for name in X]
        content = ", ".join([*names[:5], *(["…"] if len(names) > 5 else [])]) or "nothing"
        raise TypeError(
            f"X is a group, {X.name!r}, that holds {content}; give one of its arrays, such as "
            f"X[{next(iter(names), repr('data'))}]"
        )
    if callable(X) and not is_array(X) and not sparse.issparse(X):
        return Table(Blocks(X))
    if isinstance(X, Iterator):
        raise TypeError(
            f"X is a {type(X).__name__}, which can be read only once; give a function that makes "
            "one each time it is called, such as lambda: (block for block in blocks)"
        )
    return Table(X)


def _on_disk(of_zarr: str, of_hdf5: str) -> tuple[Any, ...]:
    """Classes of Zarr and HDF5 with these names, as far as these libraries are in use."""
    named = (("zarr", of_zarr), ("h5py", of_hdf5))
    return tuple(getattr(sys.modules[lib], name) for lib, name in named if lib in sys.modules)
