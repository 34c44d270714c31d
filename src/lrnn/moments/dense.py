"""The second moment as a matrix, formed once."""

import numpy as np
from scipy import sparse

from lrnn.moments.implicit import peaks
from lrnn.moments.rows import ROWS_TO_SUM, Read, row_blocks, unheard
from lrnn.typing import Array


class DenseMoment:
    """G itself, summed up block by block in float64, then kept in the precision of the data.

    A block's own product is taken in the precision of the data: its rows are few enough for its
    sums to be accurate, and the many blocks are added up in float64.
    """

    kind = "dense"

    def __init__(self, inputs: Array, read: Read = unheard) -> None:
        self.n_rows, self.n_attributes = inputs.shape
        self._inputs = inputs
        total = np.zeros((self.n_attributes, self.n_attributes))
        for block in row_blocks(inputs, self.n_attributes, ROWS_TO_SUM):
            product = block.T @ block
            total += product.toarray() if sparse.issparse(product) else product
            read(block.shape[0])
        total /= self.n_rows
        self.trace = float(np.trace(total))
        self.gram = total.astype(inputs.dtype, copy=False)
        self.diagonal = self.gram.diagonal()

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        return self.gram @ matrix

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        return self.gram[:, attributes]

    def peaks(self, matrix: Array) -> Array:
        """The largest entry of each column of ``X @ matrix``."""
        return peaks(self._inputs, matrix)
