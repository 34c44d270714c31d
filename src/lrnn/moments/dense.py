"""The second moment as a matrix, formed once."""

from typing import Any, Self

from array_api_compat import array_namespace, is_numpy_array

from lrnn.arrays import Array, backend_of
from lrnn.moments.second_moment import SecondMoment
from lrnn.moments.sums import LARGEST, Sums, sums_of
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.rows.blas import product

OF_SPARSE = 1 << 22  # cells of G, at most, for sparse rows that are not in memory
STEPS = 100  # of a solver that the cost is reckoned for


class DenseMoment(SecondMoment):
    """G itself: sums over rows (`Sums`) over their weight, kept in the precision of the data."""

    kind = "dense"

    def __init__(self, rows: Rows, fold: Fold | None = None) -> None:
        self._keep(sums_of(rows, fold, whole=False), rows.dtype)

    @classmethod
    def of(cls, sums: Sums, dtype: Any) -> Self:
        """That of sums, in numbers of a type of their namespace."""
        found = cls.__new__(cls)
        found._keep(sums, dtype)
        return found

    def _keep(self, sums: Sums, dtype: Any) -> None:
        xp = array_namespace(sums.gram)
        total = sums.gram / sums.weight
        self.n_rows, self.n_attributes = sums.n_rows, int(total.shape[0])
        self.trace = float(xp.sum(xp.linalg.diagonal(total)))
        self.gram = xp.astype(total, dtype, copy=False)
        self.diagonal = xp.linalg.diagonal(self.gram)
        if is_numpy_array(self.gram):  # on a GPU it takes no longer than to ask for it
            self.effort = float(self.n_attributes**2)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        if is_numpy_array(self.gram) and is_numpy_array(matrix):
            return product(self.gram, matrix)
        return self.gram @ matrix

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        backend = backend_of(self.gram)
        return backend.xp.take(self.gram, backend.send(attributes), axis=1)


def dense_pays(rows: Rows, hidden: int, matrices: int = 1) -> bool:
    """In multiplications: rows·V² (half of that by symmetry) once, or 2·cells·H a step.

    Rows that have to be read again for every step are only read again if G (or as many such
    ``matrices`` as are needed) is too large; sparse ones also if it is so large that to add up one
    for each block takes longer.
    """
    attributes = rows.shape[1]
    square = attributes * attributes
    most = LARGEST if rows.resident or not rows.sparse else OF_SPARSE
    fits = matrices * square <= most
    if not fits or not rows.resident:
        return bool(fits)
    forming = rows.cells * attributes / 2
    return bool(forming + STEPS * 2 * square * hidden < STEPS * 2 * 2 * rows.cells * hidden)
