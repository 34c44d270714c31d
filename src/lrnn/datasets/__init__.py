"""Data: one reader per file format."""

from lrnn.datasets.idx import read_idx
from lrnn.datasets.read import read
from lrnn.datasets.table import Table

__all__ = ["Table", "read", "read_idx"]
