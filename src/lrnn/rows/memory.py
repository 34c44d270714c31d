"""Rows in the memory of the host: matrices of NumPy, full or sparse, read by several threads."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from math import ceil, prod
from typing import Any, TypeVar

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import HOST, Array, host_dtype
from lrnn.rows.base import Pass, Rows, Work
from lrnn.rows.blas import one_blas_thread, threads_for, workers
from lrnn.rows.content import digest

Result = TypeVar("Result")

CELLS_AT_ONCE = 1 << 22  # rows × the widest layer: bounds the working memory
CELLS_IN_CACHE = 1 << 19  # of a block that one thread works on: below, the overhead shows
EVENLY = 8  # many blocks are a multiple of this number
SCATTERED = 8  # times as long takes a number that is stored by itself
FULL = 0.1  # share of cells that are stored, from which on full blocks are faster (sparse_fill.py)
MULTIPLICATIONS = 64  # reckoned for a number of a row: it goes into products with narrow matrices
ROWS_TO_SUM = 4_096  # rows over which sums are taken in the precision of the data


class OutOfRangeError(ValueError):
    """Rows that were read have a value outside [0, 1]."""


class HostRows(Rows):
    """A matrix in memory. Levels of 8 or 16 bits are converted as rows of them are read.

    Where more than ``FULL`` of the cells of a sparse matrix are stored, it is read in full blocks,
    and `sparse` is False.

    Parameters
    ----------
    X : ndarray or csr_array
        Floats in [0, 1], or levels.
    white : float, optional
        The level that is 1.
    look : callable, optional
        Looks closely at X, whose numbers are not known to be in [0, 1], and gives rows that are, or
        an error. It is asked for only if the first pass over all rows, which checks them on the
        way, finds anything; or if rows are wanted before that.

    Examples
    --------
    >>> HostRows(np.array([[0, 255], [51, 102]], dtype=np.uint8), white=255).take(slice(1, 2))
    array([[0.2, 0.4]], dtype=float32)
    """

    backend = HOST
    resident = in_any_order = True

    def __init__(
        self, X: Any, white: float | None = None, look: Callable[[Any], Any] | None = None
    ) -> None:
        self._given, self._look = X, look
        self.shape = tuple(X.shape)
        self.white = white
        self.dtype = X.dtype if white is None else np.dtype(np.float32)

    @property
    def X(self) -> Any:  # noqa: N802
        """The matrix, of numbers that are known to be in [0, 1]."""
        self._look_closely()
        return self._given

    def _look_closely(self) -> None:
        if self._look is not None:
            self._given, self._look = self._look(self._given), None

    @property
    def cells(self) -> int:
        """Numbers that are stored."""
        return int(self._given.nnz) if self.sparse else super().cells

    @property
    def stored_sparse(self) -> bool:
        """Whether the matrix is a sparse one; its blocks may be full."""
        return bool(sparse.issparse(self._given))

    @property
    def sparse(self) -> bool:
        """Whether blocks are sparse: few enough cells of a sparse matrix are stored."""
        return self.stored_sparse and not self._filled

    @property
    def _filled(self) -> bool:
        """Whether many cells of a sparse matrix are stored."""
        return self.stored_sparse and self._given.nnz > FULL * self.shape[0] * self.shape[1]

    @property
    def _stored(self) -> float | None:
        """Numbers of a row of a sparse matrix."""
        return self.cells / max(self.shape[0], 1) if self.sparse else None

    def matrix(self) -> Any:
        """All rows as one CSR array of floats; None if they are a full matrix."""
        if not self.stored_sparse or self.white is None:
            return self.X if self.stored_sparse else None
        return as_floats(self.X, self.white)

    def take(self, rows: Any) -> Array:
        """Some rows; many of a sparse matrix stay sparse."""
        block = self.X[rows]
        if self._filled and prod(block.shape) <= CELLS_AT_ONCE:
            block = block.toarray()
        return block if self.white is None else as_floats(block, self.white)

    def _checked(self, rows: slice) -> Array:
        """Some rows for a pass that reads all; `OutOfRangeError` if they have to be looked at."""
        if self._filled:
            block = full_rows(self.X, rows)
            return block if self.white is None else as_floats(block, self.white)
        if self._look is None:
            return self.take(rows)
        block = self._given[rows]
        if not within_unit_interval(block):
            raise OutOfRangeError
        return block

    def _on_all(self, work: Callable[[], Result]) -> Result:
        """Work that reads all rows by `_checked`, if need be twice; they are known after it."""
        try:
            found = work()
        except OutOfRangeError:
            pass
        else:
            self._look = None
            return found
        self._look_closely()
        return work()

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """Rows in order."""
        height = max(1, CELLS_AT_ONCE // self.shape[1])
        last = self.shape[0] if last is None else last
        for start in range(first, last, height):
            yield self.take(slice(start, min(start + height, last)))

    def make(self, one: Pass) -> Any:
        """Make a pass."""

        def of_part(part: slice) -> tuple[int, Any]:
            return part.stop, one.on(self._checked(part), part.start)

        def whole() -> Any:
            how = (one.widest, one.most, one.skip, one.threads, one.least, self._stored)
            with closing(map_rows(of_part, self.shape[0], *how)) as parts:
                return one.over(parts)

        if one.skip or not (one.begin is None or callable(one.begin)):
            self._look_closely()  # such a pass could not be made again
        return self._on_all(whole)

    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Array:
        """What ``work`` makes of all rows."""
        found = np.empty((self.shape[0], width), dtype=host_dtype(dtype))

        def through(part: slice) -> None:
            found[part] = work(self._checked(part))

        def whole() -> Array:
            with closing(map_rows(through, self.shape[0], widest, stored=self._stored)) as parts:
                for _ in parts:
                    pass
            return found

        return self._on_all(whole)

    def identity(self, count: int | None = None) -> str:
        """A sum over shape, type and bytes."""
        return digest(self.X if count is None else self.X[:count])


def as_floats(levels: Array, white: float) -> Array:
    """Levels, also those of a sparse matrix, as float32 in [0, 1]: ``white`` becomes 1."""
    if sparse.issparse(levels):
        block = levels.astype(np.float32)
        block.data /= np.float32(white)
        return block
    xp = array_namespace(levels)
    block = xp.astype(levels, xp.float32)
    block /= white
    return block


def full_rows(X: Any, rows: slice) -> NDArray[Any]:
    """Consecutive rows of a CSR array as a full matrix; nothing is copied before."""
    starts = X.indptr[rows.start : rows.stop + 1]
    stored = slice(starts[0], starts[-1])
    parts = (X.data[stored], X.indices[stored], starts - starts[0])
    return np.asarray(sparse.csr_array(parts, shape=(len(starts) - 1, X.shape[1])).toarray())


def within_unit_interval(cells: Any) -> bool:
    """Whether all numbers are in [0, 1], in one look at each.

    Read as unsigned integers, the floats from 0 to 1 are those up to that of 1; negative numbers,
    infinities and NaNs are above it (and so is -0.0, which only costs a closer look).
    """
    bits = np.dtype(f"u{cells.dtype.itemsize}")
    return bool(cells.view(bits).max() <= np.ones((), cells.dtype).view(bits))


def map_rows(
    work: Callable[[slice], Result],
    rows: int,
    widest: int,
    most: int | None = None,
    skip: int = 0,
    threads: bool = True,
    least: int = 1,
    stored: float | None = None,
) -> Generator[Result, None, None]:
    """``work(part)`` for slices of consecutive rows, results in order.

    Several slices are worked on at a time, if there is enough to do (`threads_for`), each by one
    thread: unlike a matrix product with many threads, this keeps all cores busy between the
    products, too. Slices are so short that ``widest`` numbers for each of their rows stay in the
    cache, not shorter than ``least`` rows, but never longer than ``most``; they are the same for
    any number of threads. Rows of a sparse matrix have so many ``stored`` numbers each, and slices
    may be taller. The first ``skip`` rows are passed over. Without ``threads`` one slice follows
    the other, and the work itself may use all cores. Who does not go on to the end has to close it.
    """
    count = rows - skip
    if not threads:
        height = max(1, CELLS_AT_ONCE // widest)
        height = height if most is None else min(height, most)
        for first in range(skip, rows, height):
            yield work(slice(first, min(first + height, rows)))
        return
    cells = CELLS_IN_CACHE if stored is None else CELLS_AT_ONCE // 2
    height = max(1, least, cells // widest)
    height = height if most is None else min(height, most)
    number = max(ceil(count / height), 0)
    if number > EVENLY:
        number = EVENLY * ceil(number / EVENLY)  # such that all threads have equal work
    bounds = [skip + count * i // max(number, 1) for i in range(number + 1)]
    slices = [slice(first, last) for first, last in pairwise(bounds) if first < last]
    effort = MULTIPLICATIONS * (widest if stored is None else SCATTERED * stored)
    threads_used = min(threads_for(count * effort), len(slices))
    with one_blas_thread():
        if threads_used < 2:
            yield from map(work, slices)
            return
        with workers(threads_used) as pool:
            try:
                yield from _in_order(pool, work, slices, 2 * threads_used)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _in_order(
    pool: ThreadPoolExecutor, work: Callable[[slice], Result], slices: list[slice], ahead: int
) -> Iterator[Result]:
    """Results in order; no more than some are worked on, or wait to be taken."""
    begun: deque[Future[Result]] = deque()
    for part in slices:
        if len(begun) == ahead:
            yield begun.popleft().result()
        begun.append(pool.submit(work, part))
    while begun:
        yield begun.popleft().result()
