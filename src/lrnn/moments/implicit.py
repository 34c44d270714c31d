"""The second moment as products with the data; G is never formed."""

import math
from functools import reduce

import numpy as np
from scipy import sparse

from lrnn.moments.parallel import map_rows
from lrnn.moments.rows import ROWS_TO_SUM, Read, row_blocks, unheard
from lrnn.typing import Array


class ImplicitMoment:
    """G known only through ``G @ E = Xᵀ(X @ E)/n``: for sparse or very wide data."""

    kind = "implicit"

    def __init__(self, inputs: Array, read: Read = unheard) -> None:
        self.n_rows, self.n_attributes = inputs.shape
        self._inputs = inputs
        total = np.zeros(self.n_attributes)
        for block in row_blocks(inputs, self.n_attributes):
            total += (block * block).sum(axis=0, dtype=np.float64)
            read(block.shape[0])
        total /= self.n_rows
        self.trace = float(total.sum())
        self.diagonal = total.astype(inputs.dtype)
        self._most = ROWS_TO_SUM
        if sparse.issparse(inputs):  # sums over as many rows have fewer terms
            self._most = ROWS_TO_SUM * math.prod(inputs.shape) // max(inputs.nnz, 1)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""

        def part(rows: slice) -> Array:
            block = self._inputs[rows]
            return block.T @ (block @ matrix)

        total = np.zeros(matrix.shape)
        for product in map_rows(part, self._inputs, self._width(matrix), self._most):
            total += product
        total /= self.n_rows
        return total.astype(matrix.dtype, copy=False)

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        chosen = np.zeros((self.n_attributes, len(attributes)), dtype=self.diagonal.dtype)
        chosen[attributes, np.arange(len(attributes))] = 1
        return self.dot(chosen)

    def peaks(self, matrix: Array) -> Array:
        """The largest entry of each column of ``X @ matrix``."""
        return peaks(self._inputs, matrix)

    def _width(self, matrix: Array) -> int:
        """Numbers that a row takes, in the data (where dense) and in its product."""
        own = 0 if sparse.issparse(self._inputs) else self.n_attributes
        return max(own, int(matrix.shape[1]))


def peaks(inputs: Array, matrix: Array) -> Array:
    """The largest entry of each column of ``inputs @ matrix``, block by block."""
    width = matrix.shape[1] if sparse.issparse(inputs) else max(matrix.shape)
    parts = map_rows(lambda rows: (inputs[rows] @ matrix).max(axis=0), inputs, width)
    return reduce(np.maximum, parts)
