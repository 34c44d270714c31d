"""The second moment as products with the data; G is never formed."""

import math
from collections.abc import Callable
from functools import partial
from operator import iadd
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array
from lrnn.functional import column_sums, weighed
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.rows.memory import ROWS_TO_SUM


class ImplicitMoment:
    """G known only through ``G @ E = Xᵀ(X @ E)/n``: for sparse or very wide data."""

    kind = "implicit"

    def __init__(self, rows: Rows, fold: Fold | None = None) -> None:
        self.n_rows, self.n_attributes = rows.shape
        self._rows = rows
        xp = rows.backend.xp
        nothing = self._nothing(self.n_attributes)
        total = (fold or rows.fold)(squares, iadd, self.n_attributes, begin=nothing)
        self.weight = rows.weight
        total = total / self.weight
        self.trace = float(xp.sum(total))
        self.diagonal = xp.astype(total, rows.dtype)
        self._most = ROWS_TO_SUM
        if rows.sparse:  # sums over as many rows have fewer terms
            self._most = ROWS_TO_SUM * math.prod(rows.shape) // max(rows.cells, 1)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        xp = self._rows.backend.xp
        work, nothing = partial(twice, matrix), self._nothing(tuple(matrix.shape))
        own = 0 if self._rows.sparse else self.n_attributes  # numbers that a row takes, or more
        widest = max(own, int(matrix.shape[1]))
        total = self._rows.fold(work, iadd, widest, most=self._most, begin=nothing)
        return xp.astype(total / self.weight, matrix.dtype, copy=False)

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        chosen = np.zeros((self.n_attributes, len(attributes)))
        chosen[attributes, np.arange(len(attributes))] = 1
        return self.dot(self._rows.weights(chosen))

    def _nothing(self, shape: Any) -> Callable[[], Array]:
        """What makes a total of zeros."""
        backend = self._rows.backend
        return partial(backend.xp.zeros, shape, dtype=backend.xp.float64, device=backend.device)


def squares(block: Array, weights: Array | None = None) -> Array:
    """Sums of squares of the columns."""
    wide = np.float64 if sparse.issparse(block) else array_namespace(block).float64
    return column_sums(block * block, wide, weights)


def twice(matrix: Array, block: Array, weights: Array | None = None) -> Array:
    """``block.T @ (block @ matrix)``."""
    return block.T @ weighed(block @ matrix, weights)
