"""The paper's data sets by name, and files: what a person calls their data."""

from lrnn.datasets.dataset import DATA_SETS, DataSet, find
from lrnn.datasets.load import load
from lrnn.datasets.open import open_table
from lrnn.tables.read import Reading, Table, read, read_idx

__all__ = [
    "DATA_SETS",
    "DataSet",
    "Reading",
    "Table",
    "find",
    "load",
    "open_table",
    "read",
    "read_idx",
]
