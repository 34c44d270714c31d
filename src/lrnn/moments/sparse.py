"""The second moment of sparse rows in memory: products with them, by rows and by columns."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array
from lrnn.moments.implicit import ImplicitMoment
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.rows.blas import threads_for
from lrnn.rows.memory import ROWS_TO_SUM

SLOWER = 32  # a multiplication by a stored number than one of BLAS
ENOUGH = 1 << 20  # multiplications of a product that are worth a copy, and loading a compiler
PARTS = 4  # of the work, for each thread


@dataclass(frozen=True)
class Lines:
    """Rows of X, or of its transpose, as the kernels of `functional.sparse_kernels` take them."""

    starts: NDArray[Any]
    places: NDArray[Any]
    values: NDArray[Any]

    @classmethod
    def of(cls, matrix: Any) -> "Lines":
        """Those of a CSR array, or the columns of a CSC array; nothing is copied."""
        return cls(matrix.indptr, matrix.indices, matrix.data)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def each(self, kernel: Callable[..., None], width: int, *given: Any) -> None:
        """Run a kernel on all lines, by several threads if there is work enough for them.

        A line takes ``width`` multiplications for each of its numbers, and ``width`` for itself.
        """
        own = self.starts, self.places, self.values
        threads = threads_for(SLOWER * (len(self.values) + len(self)) * width)
        if threads == 1:
            kernel(*own, *given, 0, len(self))
            return
        work = self.starts + np.arange(len(self) + 1) * width
        shares = np.linspace(0, int(work[-1]), PARTS * threads + 1)
        bounds = np.searchsorted(work, shares).tolist()
        with ThreadPoolExecutor(threads) as pool:
            parts = [pool.submit(kernel, *own, *given, *part) for part in pairwise(bounds)]
            for part in parts:
                part.result()


class SparseMoment(ImplicitMoment):
    """G through products with a CSR array, of which a copy by columns is kept.

    Attributes
    ----------
    by_rows, by_columns : Lines
        X and its transpose; each row times the root of its weight, if rows have weights.
    """

    kind = "sparse"

    def __init__(self, rows: Rows, fold: Fold | None = None) -> None:
        super().__init__(rows, fold)
        matrix = rows.matrix()
        self.by_rows, self.by_columns = Lines.of(matrix), Lines.of(sparse.csc_array(matrix))
        self.squares = np.asarray(self._sums[0] * self.weight, dtype=matrix.dtype)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        product = self.back(self.forth(np.ascontiguousarray(matrix)))
        return (product / self.weight).astype(matrix.dtype, copy=False)

    def forth(self, matrix: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """``X @ matrix``."""
        return _multiplied(self.by_rows, matrix, out)

    def back(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """``X.T @ matrix``."""
        return _multiplied(self.by_columns, matrix)

    def chosen(self, attributes: NDArray[np.intp]) -> NDArray[Any]:
        """Columns of X, as a full matrix."""
        of = self.by_columns
        found = np.zeros((self.n_rows, len(attributes)), dtype=of.values.dtype)
        for k, v in enumerate(attributes):
            some = slice(of.starts[v], of.starts[v + 1])
            found[of.places[some], k] = of.values[some]
        return found

    def columns(self, attributes: Array) -> Array:
        """Columns of G: each is a sum over the rows that have its attribute."""
        from lrnn.functional.sparse_kernels import add_rows

        found = np.zeros((len(attributes), self.n_attributes))
        of, rows = self.by_columns, self.by_rows
        for line, v in zip(found, attributes, strict=True):
            some = slice(of.starts[v], of.starts[v + 1])
            add_rows(rows.starts, rows.places, rows.values, of.places[some], of.values[some], line)
        return (found / self.weight).T.astype(self.diagonal.dtype)


def sparse_pays(rows: Rows, hidden: int) -> bool:
    """Whether rows are sparse, in memory, and many enough; G is known not to be formed."""
    there = rows.sparse and rows.resident and rows.backend.is_numpy
    return bool(there and rows.cells * hidden >= ENOUGH)


def gram(matrix: NDArray[Any]) -> NDArray[Any]:
    """``matrix.T @ matrix``, whose sums over many rows are taken in parts, added in float64."""
    total = np.zeros((matrix.shape[1], matrix.shape[1]))
    for first in range(0, len(matrix), ROWS_TO_SUM):
        some = matrix[first : first + ROWS_TO_SUM]
        total += some.T @ some
    found: NDArray[Any] = total.astype(matrix.dtype)
    return found


def _multiplied(
    lines: Lines, matrix: NDArray[Any], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    from lrnn.functional.sparse_kernels import multiply_rows

    width = matrix.shape[1]
    found = np.empty((len(lines), width), dtype=matrix.dtype) if out is None else out
    lines.each(multiply_rows, width, matrix, found)
    return found
