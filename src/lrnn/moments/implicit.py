"""The second moment as products with the data; G is never formed."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, backend_of, weights_for
from lrnn.moments.reading import Reading
from lrnn.rows import ROWS_TO_SUM, fold_rows


class ImplicitMoment:
    """G known only through ``G @ E = Xᵀ(X @ E)/n``: for sparse or very wide data."""

    kind = "implicit"

    def __init__(self, inputs: Any, reading: Reading | None = None) -> None:
        self.n_rows, self.n_attributes = inputs.shape
        self._inputs = inputs
        self._backend = backend_of(inputs)
        xp = self._backend.xp
        nothing = self._nothing(self.n_attributes)
        total = (reading or Reading()).fold(squares, added, inputs, self.n_attributes, nothing)
        total = total / self.n_rows
        self.trace = float(xp.sum(total))
        self.diagonal = xp.astype(total, inputs.dtype)
        self._most = ROWS_TO_SUM
        if sparse.issparse(inputs):  # sums over as many rows have fewer terms
            self._most = ROWS_TO_SUM * math.prod(inputs.shape) // max(inputs.nnz, 1)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        xp = self._backend.xp
        work, nothing = partial(twice, matrix), self._nothing(tuple(matrix.shape))
        width = self._width(matrix)
        total = fold_rows(work, added, self._inputs, width, most=self._most, begin=nothing)
        return xp.astype(total / self.n_rows, matrix.dtype, copy=False)

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        chosen = np.zeros((self.n_attributes, len(attributes)))
        chosen[attributes, np.arange(len(attributes))] = 1
        return self.dot(weights_for(self._inputs, chosen))

    def peaks(self, matrix: Array) -> Array:
        """The largest entry of each column of ``X @ matrix``."""
        return peaks(self._inputs, matrix)

    def _nothing(self, shape: Any) -> Callable[[], Array]:
        """What makes a total of zeros."""
        xp = self._backend.xp
        return partial(xp.zeros, shape, dtype=xp.float64, device=self._backend.device)

    def _width(self, matrix: Array) -> int:
        """Numbers that a row takes, in the data (where dense) and in its product."""
        own = 0 if sparse.issparse(self._inputs) else self.n_attributes
        return max(own, int(matrix.shape[1]))


def squares(block: Array) -> Array:
    """Sums of squares of the columns."""
    if sparse.issparse(block):
        return (block * block).sum(axis=0, dtype=np.float64)
    xp = array_namespace(block)
    return xp.sum(block * block, axis=0, dtype=xp.float64)


def twice(matrix: Array, block: Array) -> Array:
    """``block.T @ (block @ matrix)``."""
    return block.T @ (block @ matrix)


def added(total: Array, product: Array) -> Array:
    """The total, which is changed."""
    total += product
    return total


def peaks(inputs: Any, matrix: Array) -> Array:
    """The largest entry of each column of ``inputs @ matrix``, block by block."""
    width = matrix.shape[1] if sparse.issparse(inputs) else max(matrix.shape)
    return fold_rows(partial(highest, matrix), larger, inputs, width)


def highest(matrix: Array, block: Array) -> Array:
    """The largest entry of each column of ``block @ matrix``."""
    return array_namespace(matrix).max(block @ matrix, axis=0)


def larger(one: Array, other: Array) -> Array:
    """The larger one of each pair of numbers."""
    return array_namespace(one).maximum(one, other)
