"""Data as rows of numbers in [0, 1]: in memory, on a device, in files, on a cluster.

`Rows` is the contract; the rest of the library reads rows through it alone: by one pass over them
(`Rows.fold`, `Rows.transmit`) and, where training draws minibatches, by their numbers
(`Rows.take`), of all of them or of those that a buffer holds (`Rows.windows`).
"""

from lrnn.rows.base import Rows
from lrnn.rows.device import held
from lrnn.rows.encoded import (
    ComplementedRows,
    WeightedRows,
    attributes_of,
    encoded,
    some_of,
)
from lrnn.rows.memory import HostRows

__all__ = [
    "ComplementedRows",
    "HostRows",
    "Rows",
    "WeightedRows",
    "attributes_of",
    "encoded",
    "held",
    "some_of",
]
