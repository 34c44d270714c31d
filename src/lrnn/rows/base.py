"""What rows of data are to the rest of the library: one contract for every kind of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array, Backend, Floats, backend_of, host_dtype
from lrnn.tables.ledger import Ledger
from lrnn.tables.table import Along

BUFFER_BYTES = 1 << 30  # of rows in memory, for minibatches of those that come only in order

Work = Callable[..., Any]  # of a block, of its rows' weights, if any, and of its number, if asked
Combine = Callable[[Any, Any], Any]
Reached = Callable[[int, Any], None]
Fold = Callable[..., Any]  # a pass over rows: Rows.fold, or one that is watched


class Rows(ABC):
    """Rows of numbers in [0, 1], wherever they are and however they get there.

    Attributes
    ----------
    shape : (int, int)
        How many rows and attributes there are.
    dtype : data type
        That of the numbers in blocks, as their namespace calls it.
    backend : Backend
        Whose arrays the blocks are, and on which device.
    white : float or None
        The level that is 1, where the numbers are stored as levels.
    columns : sequence of str or None
        Their names, where the rows themselves know them.
    ledger : Ledger or None
        What their scaling has cut off, so far as they have been read.
    along : Along or None
        What goes along with them: names, index, label, the shape of images.
    gaps : Rows or None
        The same rows with NaN where cells were missing, if these have been filled.
    resident : bool
        Whether they are in memory: to read them again costs little.
    in_any_order : bool
        Whether rows can be had by their numbers, in any order.
    held_on_device : bool
        Whether they are in the memory of the device that works on them.
    on_workers : bool
        Whether they are on a cluster: `transmit` gives what is computed when it is needed.
    of_rows : ndarray or None
        What each row weighs; None where each weighs 1.
    """

    shape: tuple[int, int]
    dtype: Any
    backend: Backend
    white: float | None = None
    columns: Sequence[str] | None = None
    ledger: Ledger | None = None
    along: Along | None = None
    gaps: "Rows | None" = None
    resident: bool
    in_any_order: bool
    held_on_device: bool = False
    on_workers: bool = False
    of_rows: Floats | None = None

    @property
    def cells(self) -> int:
        """Numbers that are stored: all of them, or those of a sparse matrix."""
        return self.shape[0] * self.shape[1]

    @property
    def sparse(self) -> bool:
        """Whether blocks are sparse matrices."""
        return False

    @property
    def weight(self) -> float:
        """What all rows weigh: each weighs 1, unless weights were given (`WeightedRows`)."""
        return float(self.shape[0])

    @property
    def counted(self) -> int:
        """How many rows weigh anything."""
        return self.shape[0]

    @property
    def parts(self) -> Sequence[int]:
        """Where reading may begin without reading what is before, and the number of rows."""
        return (0, self.shape[0])

    @cached_property
    def buffered(self) -> int:
        """About how many rows ``BUFFER_BYTES`` hold."""
        size = self.shape[1] * host_dtype(self.dtype).itemsize
        if not self.in_any_order and sparse.issparse(next(iter(self.blocks()))):
            size = -(-self.fold(_stored_bytes, _sum, self.shape[1]) // self.shape[0])
        return max(1, BUFFER_BYTES // int(size))

    @property
    def heights(self) -> list[int]:
        """How many rows can be had in any order at a time: all, or as equal numbers as can be."""
        count = 1 if self.in_any_order else ceil(self.shape[0] / self.buffered)
        return [int(n) for n in np.diff(np.linspace(0, self.shape[0], count + 1).astype(int))]

    def windows(self, random: np.random.RandomState) -> "Iterator[Rows]":
        """All rows once, as many at a time as `heights` says, in memory where they are not.

        What was given is gone when the next ones are asked for.
        """
        if self.in_any_order:
            return iter([self])
        from lrnn.rows.buffer import windows

        return windows(self, random)

    def in_memory(self) -> "Rows":
        """The same rows in memory, if they are not there and a buffer holds them all."""
        if self.resident or self.shape[0] > self.buffered:
            return self
        from lrnn.rows.buffer import whole

        return whole(self)

    def matrix(self) -> Any:
        """All rows as one CSR array of floats, if they are sparse and in memory; else None."""
        return None

    @abstractmethod
    def take(self, rows: Any) -> Array:
        """Some rows, by a slice or by their numbers; where they can be had so."""

    @abstractmethod
    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """All rows from number ``first`` up to ``last``, in order, some at a time."""

    def fold(
        self,
        work: Work,
        combine: Combine,
        widest: int,
        *,
        most: int | None = None,
        begin: Any = None,
        skip: int = 0,
        threads: bool = True,
        reached: Reached | None = None,
        numbered: bool = False,
        least: int = 1,
    ) -> Any:
        """One pass: ``combine`` the results of ``work`` on blocks of consecutive rows.

        Blocks are so short that ``widest`` numbers for each of their rows stay small, and not
        longer than ``most`` rows; on a CPU not shorter than ``least``, if that is less. The first
        ``skip`` rows are passed over. ``combine(total, result)`` may change its first argument,
        which is ``begin`` (or ``begin()``) at first, if that is given: a total that is nothing, or
        that of the rows that are passed over. ``reached(rows, total)`` is told how far it is. On a
        CPU several blocks are worked on at the same time, unless ``threads`` is False; then the
        work itself may use all cores. If it is ``numbered``, ``work`` is also given the number of
        each block's first row, from 0 on.
        """
        rest = (begin, skip, threads, reached, numbered)
        return self.make(Pass(work, combine, widest, most, *rest, least=least))

    @abstractmethod
    def make(self, one: "Pass") -> Any:
        """Make the pass that `fold` is asked for."""

    @abstractmethod
    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Array:
        """What ``work`` makes of all rows: ``width`` numbers of this type for each of them.

        No other large array arises on the way; ``widest`` is as in `fold`.
        """

    def remember(self) -> None:  # noqa: B027
        """From now on, sum up what rows hold as they are read: `identity` will be asked for."""

    @abstractmethod
    def identity(self, count: int | None = None) -> str:
        """A sum over what all rows hold, or the first ``count`` of them.

        Rows that are not in memory are read for it, unless they have been since `remember`.
        """

    def weights(self, host: NDArray[Any]) -> Array:
        """Numbers of the host as weights for these rows: of their backend and type."""
        return self.backend.array(host.astype(host_dtype(self.dtype), copy=False))

    def of_type(self, dtype: Any) -> "Rows":
        """Rows for work with weights of this type.

        NumPy mixes types by itself, block by block; arrays of others have to be converted.
        """
        if self.backend.is_numpy or self.dtype == dtype:
            return self
        from lrnn.rows.encoded import converted

        return converted(self, dtype)


@dataclass(frozen=True)
class Pass:
    """What `Rows.fold` is asked for."""

    work: Work
    combine: Combine
    widest: int
    most: int | None
    begin: Any
    skip: int
    threads: bool
    reached: Reached | None
    numbered: bool = False
    before: int = 0  # rows of all that are before those of this pass
    weights: Floats | None = None  # of all rows that it is made over
    least: int = 1

    def on(self, block: Array, first: int) -> Any:
        """Work on a block, whose first row is number ``first`` of those of this pass."""
        number = {"first": self.before + first} if self.numbered else {}
        if self.weights is None:
            return self.work(block, **number)
        own = self.weights[first : first + block.shape[0]]
        return self.work(block, backend_of(block).array(own), **number)

    def over(self, results: Iterator[tuple[int, Any]]) -> Any:
        """Combine results, each told with the number of rows up to its end."""
        total = total_of(self.begin)
        for rows, result in results:
            total = result if total is None else self.combine(total, result)
            if self.reached is not None:
                self.reached(rows, total)
        return total


def total_of(begin: Any) -> Any:
    """The total that a pass begins with, made where it is needed."""
    return begin() if callable(begin) else begin


def _stored_bytes(block: Any) -> int:
    """What a block takes as a sparse matrix; it may have become full for the work on it."""
    if not sparse.issparse(block):
        size = block.dtype.itemsize + np.dtype(np.int32).itemsize
        return int(np.count_nonzero(block) * size)
    return sum(int(part.nbytes) for part in (block.data, block.indices, block.indptr))


def _sum(one: int, other: int) -> int:
    return one + other
