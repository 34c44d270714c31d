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
from lrnn.moments.second_moment import SecondMoment
from lrnn.rows import Rows
from lrnn.rows.base import Fold, Work
from lrnn.rows.memory import ROWS_TO_SUM, SCATTERED


class ImplicitMoment(SecondMoment):
    """G known only through ``G @ E = Xᵀ(X @ E)/n``: for sparse or very wide data."""

    kind = "implicit"

    def __init__(
        self, rows: Rows, fold: Fold | None = None, sums: Work | None = None, count: int = 1
    ) -> None:
        """``sums`` gives ``count`` sums of each attribute; the first is that of its squares."""
        self.n_rows, self.n_attributes = rows.shape
        self._rows = rows
        xp = rows.backend.xp
        width, self.weight = self.n_attributes, rows.weight
        nothing = self._nothing(width if sums is None else (count, width))
        total = (fold or rows.fold)(sums or squares, iadd, count * width, begin=nothing)
        self._sums = xp.reshape(total / self.weight, (count, width))
        self.trace = float(xp.sum(self._sums[0, ...]))
        self.diagonal = xp.astype(self._sums[0, ...], rows.dtype)
        self._most = ROWS_TO_SUM
        slower = SCATTERED if rows.sparse else 1
        self.effort = 2.0 * slower * rows.cells if rows.resident else math.inf
        if rows.sparse:  # sums over as many rows have fewer terms
            self._most = ROWS_TO_SUM * math.prod(rows.shape) // max(rows.cells, 1)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        return self._folded(partial(twice, matrix), matrix, tuple(matrix.shape))

    def _folded(self, work: Work, matrix: Array, shape: tuple[int, ...]) -> Array:
        """The mean of ``work``, which multiplies by a matrix, over all rows."""
        xp, nothing = self._rows.backend.xp, self._nothing(shape)
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
    if sparse.issparse(block):
        of_cells = block.data.astype(np.float64) ** 2
        if weights is not None:
            of_cells *= np.repeat(weights, np.diff(block.indptr))
        return np.bincount(block.indices, of_cells, minlength=block.shape[1])
    return column_sums(block * block, array_namespace(block).float64, weights)


def twice(matrix: Array, block: Array, weights: Array | None = None) -> Array:
    """``block.T @ (block @ matrix)``."""
    return block.T @ weighed(block @ matrix, weights)
