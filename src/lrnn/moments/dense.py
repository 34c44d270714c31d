"""The second moment as a matrix, formed once."""

from functools import partial
from operator import iadd

from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, backend_of
from lrnn.moments.second_moment import SecondMoment
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.rows.memory import ROWS_TO_SUM

CELLS_OF_PRODUCTS = 1 << 28  # that a GPU forms at once
STEPS = 100  # of a solver that the cost is reckoned for
LARGEST = 1 << 28  # cells of G: 1 GiB in float32


class DenseMoment(SecondMoment):
    """G itself, summed up block by block in float64, then kept in the precision of the data.

    A block's own product is taken in the precision of the data: its rows are few enough for its
    sums to be accurate, and the many blocks are added up in float64.
    """

    kind = "dense"

    def __init__(self, rows: Rows, fold: Fold | None = None) -> None:
        self.n_rows, self.n_attributes = rows.shape
        backend = rows.backend
        xp = backend.xp
        square = (self.n_attributes, self.n_attributes)
        nothing = partial(xp.zeros, square, dtype=xp.float64, device=backend.device)
        most = ROWS_TO_SUM if backend.is_numpy else None
        total = (fold or rows.fold)(
            products, iadd, self.n_attributes, begin=nothing, most=most, threads=False
        )
        total = total / self.n_rows
        self.trace = float(xp.sum(xp.linalg.diagonal(total)))
        self.gram = xp.astype(total, rows.dtype, copy=False)
        self.diagonal = xp.linalg.diagonal(self.gram)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        return self.gram @ matrix

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        backend = backend_of(self.gram)
        return backend.xp.take(self.gram, backend.send(attributes), axis=1)


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


def dense_pays(rows: Rows, hidden: int, matrices: int = 1) -> bool:
    """In multiplications: rows·V² (half of that by symmetry) once, or 2·cells·H a step.

    Rows that have to be read again for every step are only read again if G (or as many such
    ``matrices`` as are needed) is too large.
    """
    attributes = rows.shape[1]
    square = attributes * attributes
    fits = matrices * square <= LARGEST
    if not fits or not rows.resident:
        return bool(fits)
    forming = rows.cells * attributes / 2
    return bool(forming + STEPS * 2 * square * hidden < STEPS * 2 * 2 * rows.cells * hidden)
