"""Data as rows of numbers in [0, 1]: in memory, on a device, in files, on a cluster.

Arrays of NumPy, SciPy (sparse), torch, CuPy are such rows themselves. All others are objects with
``shape``, ``dtype`` and ``backend``; those that are not in memory have a method ``fold`` by which
they are read from the first to the last. The rest of the library reads rows by `fold_rows` alone,
and, where training draws minibatches, by indices.
"""

from lrnn.rows.encoded import EncodedRows
from lrnn.rows.levels import ScaledRows
from lrnn.rows.parallel import map_rows
from lrnn.rows.passes import ROWS_TO_SUM, fold_rows
from lrnn.rows.types import of_type

__all__ = ["ROWS_TO_SUM", "EncodedRows", "ScaledRows", "fold_rows", "map_rows", "of_type"]
