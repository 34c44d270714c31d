"""Data: one registry of the paper's data sets, and one reader per file format."""

from lrnn.datasets.dataset import DataSet, hidden_width
from lrnn.datasets.load import load
from lrnn.datasets.open import open_table
from lrnn.datasets.registry import DATA_SETS, find
from lrnn.tables.idx import read_idx
from lrnn.tables.read import read
from lrnn.tables.table import Table

__all__ = [
    "DATA_SETS",
    "DataSet",
    "Table",
    "find",
    "hidden_width",
    "load",
    "open_table",
    "read",
    "read_idx",
]
