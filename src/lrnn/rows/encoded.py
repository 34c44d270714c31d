"""Rows that are made from others when they are asked for: as a layer sees them, or coded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import Array, Floats, Layer
from lrnn.functional import weighed
from lrnn.functional.forward import complement_pairs
from lrnn.network.weights import through
from lrnn.rows.base import Pass, Rows, Work
from lrnn.rows.content import digest
from lrnn.rows.device import held


class DerivedRows(Rows):
    """``change(block)`` of every block of other rows, which are never stored."""

    def __init__(self, rows: Rows, change: Work, width: int, dtype: Any) -> None:
        self.rows, self._change = rows, change
        self.shape = (rows.shape[0], width)
        self.dtype = dtype
        self.backend, self.resident = rows.backend, rows.resident
        self.in_any_order, self.held_on_device = rows.in_any_order, rows.held_on_device
        self.on_workers, self.of_rows = rows.on_workers, rows.of_rows

    @property
    def weight(self) -> float:
        """That of the others."""
        return self.rows.weight

    @property
    def counted(self) -> int:
        """As many as of the others."""
        return self.rows.counted

    def take(self, rows: Any) -> Array:
        """Some rows."""
        return self._change(self.rows.take(rows))

    @property
    def parts(self) -> Sequence[int]:
        """Those of the others."""
        return self.rows.parts

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """Rows in order."""
        return map(self._change, self.rows.blocks(first, last))

    def make(self, one: Pass) -> Any:
        """Make a pass over the others."""
        work, widest = partial(_after, one.work, self._change), max(one.widest, self.rows.shape[1])
        return self.rows.make(replace(one, work=work, widest=widest))

    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Array:
        """What ``work`` makes of all rows."""
        widest = max(widest, self.rows.shape[1])
        return self.rows.transmit(partial(_after, work, self._change), width, dtype, widest)

    def remember(self) -> None:
        """As the others do."""
        self.rows.remember()

    def identity(self, count: int | None = None) -> str:
        """That of the others."""
        return self.rows.identity(count)


class WeightedRows(DerivedRows):
    """The same rows, each with a weight: a pass over them gives these to its work."""

    of_rows: Floats

    def __init__(self, rows: Rows, weights: Floats) -> None:
        super().__init__(rows, _same, rows.shape[1], rows.dtype)
        self.of_rows = weights
        self.white, self.columns, self.ledger = rows.white, rows.columns, rows.ledger
        self.gaps, self.along = rows.gaps, rows.along

    @property
    def weight(self) -> float:
        """The sum of the weights."""
        return float(self.of_rows.sum())

    @property
    def counted(self) -> int:
        """Those with a weight above 0."""
        return int(np.count_nonzero(self.of_rows))

    @property
    def cells(self) -> int:
        """Those of the others."""
        return self.rows.cells

    @property
    def sparse(self) -> bool:
        """As the others are."""
        return self.rows.sparse

    def matrix(self) -> Any:
        """That of the others, each row times the root of its weight; None if they have none."""
        found = self.rows.matrix()
        return None if found is None else weighed(found, np.sqrt(self.of_rows))

    def make(self, one: Pass) -> Any:
        """Make a pass over the others, with weights."""
        return self.rows.make(replace(one, weights=self.of_rows))

    def identity(self, count: int | None = None) -> str:
        """That of the others, and a sum over the weights."""
        own = digest(self.of_rows[:count].reshape(-1, 1))
        return f"{self.rows.identity(count)} {own}"


class ComplementedRows(DerivedRows):
    """The same rows, every x beside 1 − x (`lrnn.functional.complement_coded`), as they are read.

    Sparse rows become full ones, a block at a time.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows, _with_complements, 2 * rows.shape[1], rows.dtype)
        self.white, self.ledger, self.along = rows.white, rows.ledger, rows.along
        self.gaps = None if rows.gaps is None else ComplementedRows(rows.gaps)

    @property
    def buffered(self) -> int:
        """As many as of the others, which a buffer holds."""
        return self.rows.buffered

    def windows(self, random: np.random.RandomState) -> Iterator[Rows]:
        """Those of the others."""
        return map(ComplementedRows, self.rows.windows(random))

    def in_memory(self) -> Rows:
        """The others in memory, if they can be."""
        near = self.rows.in_memory()
        return self if near is self.rows else ComplementedRows(near)

    def identity(self, count: int | None = None) -> str:
        """That of the others, and that they are coded."""
        return f"{self.rows.identity(count)} beside complements"


def attributes_of(rows: Rows) -> Rows:
    """Rows as they were before complements stood beside them, if they do."""
    return rows.rows if isinstance(rows, ComplementedRows) else rows


def some_of(rows: Rows, which: Any) -> Rows:
    """Some rows, by a slice or by their numbers, in memory."""
    own = attributes_of(rows).in_memory()
    found = held(own.take(which))
    found.columns, found.along = own.columns, rows.along
    if own.gaps is not None:
        found.gaps = held(own.gaps.take(which))
    return ComplementedRows(found) if isinstance(rows, ComplementedRows) else found


def encoded(rows: Rows, layers: Sequence[Layer]) -> Rows:
    """Activations behind ``layers`` of excitatory weights."""
    last = layers[-1]
    return DerivedRows(rows, partial(through, tuple(layers)), last.shape[1], last.dtype)


def converted(rows: Rows, dtype: Any) -> Rows:
    """The same rows in another type of numbers."""
    change: Callable[[Array], Array] = partial(_as_type, rows.backend.xp, dtype)
    return DerivedRows(rows, change, rows.shape[1], dtype)


def _same(block: Array) -> Array:
    return block


def _with_complements(block: Array) -> Array:
    return complement_pairs(block.toarray() if sparse.issparse(block) else block)


def _after(work: Work, change: Work, block: Array, *weights: Array, **number: int) -> Any:
    return work(change(block), *weights, **number)


def _as_type(xp: Any, dtype: Any, block: Array) -> Array:
    return xp.astype(block, dtype)
