"""The paper's data sets by name, and files: what a person calls their data."""

from typing import TYPE_CHECKING, Any

from lrnn.datasets.dataset import DataSet, data_sets, find
from lrnn.datasets.load import load
from lrnn.datasets.open import open_table
from lrnn.tables.read import Reading, Table, read, read_idx

if TYPE_CHECKING:
    DATA_SETS: dict[str, DataSet]

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


def __getattr__(name: str) -> Any:
    if name == "DATA_SETS":  # read when it is first used
        return data_sets()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
