"""The second moment as a matrix, formed once."""

from functools import partial
from typing import Any

from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, backend_of
from lrnn.moments.implicit import added, peaks
from lrnn.moments.reading import Reading
from lrnn.rows import ROWS_TO_SUM

CELLS_OF_PRODUCTS = 1 << 28  # that a GPU forms at once


class DenseMoment:
    """G itself, summed up block by block in float64, then kept in the precision of the data.

    A block's own product is taken in the precision of the data: its rows are few enough for its
    sums to be accurate, and the many blocks are added up in float64.
    """

    kind = "dense"

    def __init__(self, inputs: Any, reading: Reading | None = None) -> None:
        self.n_rows, self.n_attributes = inputs.shape
        self._inputs = inputs
        backend = backend_of(inputs)
        xp = backend.xp
        square = (self.n_attributes, self.n_attributes)
        nothing = partial(xp.zeros, square, dtype=xp.float64, device=backend.device)
        most = ROWS_TO_SUM if backend.is_numpy else None
        reading = reading or Reading()
        width = self.n_attributes
        total = reading.fold(products, added, inputs, width, nothing, most=most, threads=False)
        total = total / self.n_rows
        self.trace = float(xp.sum(xp.linalg.diagonal(total)))
        self.gram = xp.astype(total, inputs.dtype, copy=False)
        self.diagonal = xp.linalg.diagonal(self.gram)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        return self.gram @ matrix

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        backend = backend_of(self.gram)
        return backend.xp.take(self.gram, backend.send(attributes), axis=1)

    def peaks(self, matrix: Array) -> Array:
        """The largest entry of each column of ``X @ matrix``."""
        return peaks(self._inputs, matrix)


def products(block: Array) -> Array:
    """``block.T @ block``; sums over many rows (on a GPU) are taken in parts."""
    if sparse.issparse(block):
        return (block.T @ block).toarray()
    if is_numpy_array(block) or block.shape[0] <= ROWS_TO_SUM:
        return block.T @ block
    xp = array_namespace(block)
    rows, attributes = block.shape
    at_once = max(1, CELLS_OF_PRODUCTS // attributes**2) * ROWS_TO_SUM
    total = xp.zeros((attributes, attributes), dtype=xp.float64, device=backend_of(block).device)
    for first in range(0, rows, at_once):
        some = block[first : first + at_once, :]
        whole = some.shape[0] // ROWS_TO_SUM * ROWS_TO_SUM
        if whole:
            parts = xp.reshape(some[:whole, :], (-1, ROWS_TO_SUM, attributes))
            each = xp.matmul(xp.permute_dims(parts, (0, 2, 1)), parts)
            total += xp.sum(each, axis=0, dtype=xp.float64)
        rest = some[whole:, :]
        total += rest.T @ rest
    return total
