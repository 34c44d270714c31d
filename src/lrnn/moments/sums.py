"""What is added up over rows in one pass; a second moment as a matrix is made of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import iadd
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, Backend, backend_of
from lrnn.functional import column_sums, weighed
from lrnn.rows import ComplementedRows, Rows, WeightedRows
from lrnn.rows.base import Fold
from lrnn.rows.memory import ROWS_TO_SUM

CELLS_OF_PRODUCTS = 1 << 28  # that a GPU forms at once
LARGEST = 1 << 28  # cells of XᵀX: 1 GiB in float32, 2 GiB in float64

OF_A_THREAD = 1 << 22  # cells of matrices that each thread may form for itself
TALL = 6  # times as many rows as attributes, at least, go into one

WIDE = 256  # attributes, from which on columns without content are left out of products
USED = 0.9  # share of the columns up to which that pays

ROUNDING = 1e-11  # by which share of the rows' weight sums of numbers in [0, 1] may be wrong


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows X in [0, 1], each times its weight, in float64; arrays of any backend.

    They add, subtract and take weights. What is not known of both is not known of their sum; what
    is lowest and highest does not subtract.

    Attributes
    ----------
    gram : array of shape (n_attributes, n_attributes)
        XᵀX.
    weight : float
        What the rows weigh: their number, if none has another weight than 1.
    n_rows : int
        Their number, without those that weigh nothing.
    columns : array of shape (n_attributes,) or None
        Sums of the columns, where they were taken.
    low, high : array of shape (n_attributes,) or None
        The lowest and the highest number of each column, where they are known.
    rounding : float
        By how much any of the sums may be wrong, from all that was added and subtracted.

    Examples
    --------
    >>> from lrnn.rows import held
    >>> one, other = (sums_of(held(np.array([row]))) for row in ([0.5, 1.0], [0.0, 0.5]))
    >>> (one * 0.5 + other).gram.tolist()
    [[0.125, 0.25], [0.25, 0.75]]
    """

    gram: Array
    weight: float
    n_rows: int
    columns: Array | None = None
    low: Array | None = None
    high: Array | None = None
    rounding: float = 0.0

    def __add__(self, other: "Sums") -> "Sums":
        xp = array_namespace(self.gram)
        return Sums(
            self.gram + other.gram,
            self.weight + other.weight,
            self.n_rows + other.n_rows,
            _both(xp.add, self.columns, other.columns),
            _both(xp.minimum, self.low, other.low),
            _both(xp.maximum, self.high, other.high),
            self.rounding + other.rounding,
        )

    def __sub__(self, other: "Sums") -> "Sums":
        return Sums(
            self.gram - other.gram,
            self.weight - other.weight,
            self.n_rows - other.n_rows,
            _both(array_namespace(self.gram).subtract, self.columns, other.columns),
            rounding=self.rounding + other.rounding,
        )

    def __mul__(self, factor: float) -> "Sums":
        return replace(
            self,
            gram=self.gram * factor,
            weight=self.weight * factor,
            columns=None if self.columns is None else self.columns * factor,
            rounding=self.rounding * factor,
        )

    def on(self, backend: Backend) -> "Sums":
        """The same numbers as arrays of a backend."""

        def send(array: Array | None) -> Array | None:
            return None if array is None else backend.send(array)

        gram, columns, low, high = map(send, (self.gram, self.columns, self.low, self.high))
        return replace(self, gram=gram, columns=columns, low=low, high=high)


def sums_of(rows: Rows, fold: Fold | None = None, *, whole: bool = True) -> Sums:
    """Sums over ``rows`` in one pass, which ``fold`` makes (by default `Rows.fold`).

    They are ``whole``, from products in float64; or XᵀX alone, which is all that a solver asks
    for: then a block's own product is taken in the precision of the data, since its rows are few
    enough for its sums to be accurate, and the many blocks are added up in float64.
    """
    width = rows.shape[1]
    options = of_products(rows)
    fold = fold or rows.fold
    half = width // 2
    if half >= WIDE and complemented(rows) and not whole:
        begin = partial(_some_sums, rows.backend, half)
        gram, columns = fold(_of_attributes, _both_added, width, begin=begin, **options)
        return Sums(with_complements(gram, columns, rows.weight), rows.weight, rows.counted)
    if not whole:
        begin = partial(_square, rows.backend, width)
        gram = fold(products, iadd, width, begin=begin, **options)
        return Sums(gram, rows.weight, rows.counted)
    begin = partial(_nothing, rows.backend, width)
    gram, columns, low, high = fold(_all_of, _added, width, begin=begin, **options)
    rounding = ROUNDING * rows.weight
    return Sums(gram, rows.weight, rows.counted, columns, low, high, rounding)


def complemented(rows: Rows) -> bool:
    """Whether the second half of the columns is 1 less the first."""
    own = rows.rows if isinstance(rows, WeightedRows) else rows
    return isinstance(own, ComplementedRows)


def with_complements(gram: Array, columns: Array, weight: float) -> Array:
    """XᵀX of attributes and their complements, from that of attributes and their sums.

    >>> x = np.array([[0.25, 1.0], [0.5, 0.0]])
    >>> both = np.concatenate([x, 1 - x], axis=1)
    >>> bool(np.allclose(with_complements(x.T @ x, x.sum(axis=0), 2.0), both.T @ both))
    True
    """
    xp = array_namespace(gram)
    across = columns[:, None] - gram
    other = weight - columns[:, None] - columns[None, :] + gram
    rows = [xp.concat([gram, across], axis=1), xp.concat([across.T, other], axis=1)]
    return xp.concat(rows, axis=0)


def _of_attributes(block: Array, weights: Array | None = None) -> list[Array]:
    """XᵀX and sums of the columns, of the first half of them."""
    own = block[:, : block.shape[1] // 2]
    own = np.ascontiguousarray(own) if is_numpy_array(own) else own
    return [products(own, weights), column_sums(own, weights=weights)]


def _both_added(total: list[Array], more: list[Array]) -> list[Array]:
    total[0] += more[0]
    total[1] += more[1]
    return total


def of_products(rows: Rows, matrices: int = 1) -> dict[str, Any]:
    """How a pass is to be made whose result for a block are so many matrices like XᵀX.

    Small ones are formed by several threads at a time, each its own, of blocks so tall that it pays
    to write them; large ones one after the other, by all threads of BLAS.
    """
    if not rows.backend.is_numpy:
        return {"threads": False}
    width = rows.shape[1]
    small = matrices * width**2 <= OF_A_THREAD and not rows.sparse
    return {"most": ROWS_TO_SUM, "threads": small, "least": TALL * width}


def products(block: Array, weights: Array | None = None) -> Array:
    """``block.T @ block``, with weights of the rows; over many rows (on a GPU) in parts."""
    if weights is not None:
        block = weighed(block, weights**0.5)
    if sparse.issparse(block):
        return (block.T @ block).toarray()
    if is_numpy_array(block):
        return _of_used_columns(block)
    if block.shape[0] <= ROWS_TO_SUM:
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


def _of_used_columns(block: Array) -> Array:
    """``block.T @ block`` of NumPy; columns that are 0 throughout are left out, if they are many.

    Margins of images are such columns, and attributes that are rare.
    """
    width = block.shape[1]
    if width < WIDE or not len(block):
        return block.T @ block
    used = np.flatnonzero(block.max(axis=0))  # no number is below 0
    if len(used) > USED * width:
        return block.T @ block
    some = np.take(block, used, axis=1)
    wide, found = np.zeros((len(used), width), block.dtype), np.zeros((width, width), block.dtype)
    wide[:, used] = some.T @ some
    found[used] = wide  # whole rows: faster than cell by cell
    return found


def _all_of(block: Array, weights: Array | None = None) -> list[Array]:
    """XᵀX, sums, lowest and highest numbers of a block's columns."""
    if sparse.issparse(block):
        wide = block.astype(np.float64)
        counted = wide if weights is None else wide[weights > 0]
        width = wide.shape[1]
        low, high = np.ones(width), np.zeros(width)
        if counted.shape[0]:
            low, high = (
                np.asarray(found.toarray()).reshape(-1)
                for found in (counted.min(axis=0), counted.max(axis=0))
            )
    else:
        xp = array_namespace(block)
        wide = xp.astype(block, xp.float64, copy=False)
        least = most = wide
        if weights is not None:  # rows without any are not there
            there = (weights > 0)[:, None]
            least = xp.where(there, wide, xp.ones_like(wide))
            most = xp.where(there, wide, xp.zeros_like(wide))
        low, high = xp.min(least, axis=0), xp.max(most, axis=0)
    return [products(wide, weights), column_sums(wide, weights=weights), low, high]


def _added(total: list[Array], more: list[Array]) -> list[Array]:
    xp = array_namespace(total[0])
    total[0] += more[0]
    total[1] += more[1]
    total[2], total[3] = xp.minimum(total[2], more[2]), xp.maximum(total[3], more[3])
    return total


def _square(backend: Backend, width: int) -> Array:
    return backend.xp.zeros((width, width), dtype=backend.xp.float64, device=backend.device)


def _some_sums(backend: Backend, width: int) -> list[Array]:
    zeros = backend.xp.zeros(width, dtype=backend.xp.float64, device=backend.device)
    return [_square(backend, width), zeros]


def _nothing(backend: Backend, width: int) -> list[Array]:
    """Sums over no rows; no number is below 0 or above 1."""
    where = {"dtype": backend.xp.float64, "device": backend.device}
    zeros, ones = partial(backend.xp.zeros, **where), partial(backend.xp.ones, **where)
    return [_square(backend, width), zeros(width), ones(width), zeros(width)]


def _both(combine: Callable[[Array, Array], Array], one: Any, other: Any) -> Any:
    return None if one is None or other is None else combine(one, other)
