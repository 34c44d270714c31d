"""Rows that are not in memory: files, arrays on disk, functions, clusters."""

import os
from typing import Any

import numpy as np

from lrnn.arrays import HOST, Backend
from lrnn.rows.cluster import DaskRows, dask_rows
from lrnn.rows.stream import Stream
from lrnn.tables.read import open_source
from lrnn.tables.sources import ArraySource, Blocks, Source, is_dask

SMALL_MAP = 1 << 28  # bytes of a mapped array that is read like any other


def rows_elsewhere(X: Any, user: str, device: Backend | None = None) -> Any:
    """Rows that are not in memory; None if X is something else."""
    if isinstance(X, Stream | DaskRows):
        return X
    if is_dask(X):
        return dask_rows(X, user, device)
    source: Source | None = None
    if isinstance(X, str | os.PathLike):
        source = open_source(X)
    elif isinstance(X, Source):
        source = X
    elif isinstance(X, np.memmap):
        source = ArraySource(X) if X.nbytes > SMALL_MAP and X.ndim == 2 else None
    elif hasattr(X, "chunks") and hasattr(X, "shape") and hasattr(X, "dtype"):
        source = ArraySource(X, getattr(X, "name", None) or "X")
    elif callable(X) and not hasattr(X, "shape"):
        source = Blocks(X)
    return None if source is None else Stream(source, user, device or HOST)
