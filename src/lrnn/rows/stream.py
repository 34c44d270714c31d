"""Rows that are not in memory: read from a source, block by block, from the first to the last."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import HOST, Array, Backend, host_dtype, is_array, to_numpy
from lrnn.rows.base import Pass, Rows, Work
from lrnn.rows.checks import FLOATS, check_alike, check_values, narrow, summed, white_of
from lrnn.rows.content import ContentSum
from lrnn.rows.device import held
from lrnn.rows.memory import as_floats
from lrnn.tables.messages import warn
from lrnn.tables.sources import Source, block_height, read_ahead


class Stream(Rows):
    """Rows of a source as numbers in [0, 1], checked on the way.

    While a block is worked on, the next one is read. ``white`` is the level that is 1, where they
    are levels.
    """

    resident = False

    def __init__(
        self,
        source: Source,
        user: str = "lrnn",
        backend: Backend = HOST,
        white: float | None = None,
    ) -> None:
        self.source = source
        self.shape = source.shape
        self.columns, self.in_any_order = source.columns, source.in_any_order
        self.backend = backend
        self.white = white
        self._host_dtype = narrow(source.dtype)
        self.dtype: Any = self._host_dtype
        if not backend.is_numpy:
            self.dtype = getattr(backend.xp, self._host_dtype.name)
        self._user, self._told = user, False
        self._content: ContentSum | None = None

    def take(self, rows: Any) -> Array:
        """Some rows, read now."""
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(self.shape[0]))
        numbers = to_numpy(rows) if is_array(rows) else rows
        return self._checked(self.source.take(numbers), numbers)

    @property
    def parts(self) -> Sequence[int]:
        """Those of the source."""
        return self.source.parts

    @property
    def sparse(self) -> bool:
        """Whether the source gives sparse blocks, and they stay so."""
        return self.source.sparse and self.backend.is_numpy

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """Rows in order, from number ``first`` up to ``last``."""
        return self._blocks(first, last, self.shape[1])

    def _blocks(self, first: int, last: int | None, width: int) -> Iterator[Array]:
        """Such rows, of which each takes the memory of so many numbers."""
        seen, end = first, self.shape[0] if last is None else last
        wanted = self.source.blocks(first, block_height(width, self._host_dtype))
        if last is not None:
            wanted = first_rows(wanted, last - first)
        for raw in read_ahead(self._remembered(wanted, first)):
            if raw.ndim != 2 or raw.shape[1] != self.shape[1]:
                raise ValueError(
                    f"{self.source.name}: the block from row {seen} on has the shape "
                    f"{raw.shape}; it should have {self.shape[1]} columns"
                )
            if seen + raw.shape[0] <= end:
                yield self._checked(raw, seen)
            seen += raw.shape[0]
        if seen != end:
            raise ValueError(
                f"{self.source.name} has {seen} rows now, but it had {self.shape[0]}; it was "
                "changed while it was read"
            )
        self._tell()

    def _tell(self) -> None:
        """Warn, once, of what was cut off; it is counted when all rows have been read."""
        if self.ledger and not self._told:
            self._told = True
            warn(self.ledger.warning())

    def make(self, one: Pass) -> Any:
        """Make a pass; each block is worked on as rows in memory are."""
        total, seen = one.begin, one.skip
        width = one.widest if self.sparse else self.shape[1]
        for block in self._blocks(one.skip, None, width):
            end = seen + block.shape[0]
            own = None if one.weights is None else one.weights[seen:end]
            before = one.before + seen
            part = replace(one, begin=total, skip=0, reached=None, weights=own, before=before)
            total, seen = held(block).make(part), end
            if one.reached is not None:
                one.reached(seen, total)
        return total

    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Array:
        """What ``work`` makes of all rows, in the memory of the host."""
        found = np.empty((self.shape[0], width), dtype=host_dtype(dtype))
        first = 0
        for block in self.blocks():
            found[first : first + block.shape[0]] = to_numpy(work(block))
            first += block.shape[0]
        return found

    def remember(self) -> None:
        """Sum up what is read from the first row on, while other blocks are worked on."""
        self._content = self._content or ContentSum()

    def identity(self, count: int | None = None) -> str:
        """A sum over what the source gave; rows that it has not given yet are read now."""
        count = self.shape[0] if count is None else count
        content = self._content
        if content is None or (content.rows > count and content.of(count) is None):
            self._content = content = ContentSum()
        first = content.rows
        if first < count:
            height = block_height(self.shape[1], self._host_dtype)
            lacking = self.source.blocks(first, height)
            if count < self.shape[0]:
                lacking = first_rows(lacking, count - first)
            for _ in read_ahead(self._remembered(lacking, first)):
                pass
            self._tell()
        return f"{self.source.dtype.str} {self.shape} {self.white} {content.of(count)}"

    def _remembered(self, blocks: Iterator[Any], first: int) -> Iterator[Any]:
        """The same blocks, summed up where they are read."""
        for block in blocks:
            if self._content is not None and block.ndim == 2 and block.dtype.kind in "biuf":
                self._content.add(block, first)
            yield block
            first += block.shape[0]

    def _checked(self, block: Any, first: Any) -> Array:
        """A block as it was read, as floats in [0, 1] on the device."""
        source = self.source
        if block.dtype.kind not in "biuf":
            raise ValueError(f"{source.name} holds {block.dtype}, not numbers")
        block = sparse.csr_array(block) if sparse.issparse(block) else np.ascontiguousarray(block)
        check_alike(block, source.dtype, source.columns, self._user, first, source.name)
        if self.white is not None:
            if sparse.issparse(block):
                return self._sent(as_floats(summed(block), self.white))
            if self.backend.is_numpy:
                return as_floats(block, self.white)
            return as_floats(self._sent(block), self.white)  # levels travel faster
        if block.dtype not in FLOATS:
            block = block.astype(self._host_dtype)
        origin = None if self.ledger is None else self.ledger.origin
        return self._sent(check_values(block, source.columns, self._user, first, origin=origin))

    def _sent(self, block: Any) -> Array:
        if self.backend.is_numpy:
            return block
        return self.backend.array(block.toarray() if sparse.issparse(block) else block)


def first_rows(blocks: Iterator[Any], count: int) -> Iterator[Any]:
    """So many rows of blocks; no block behind them is asked for."""
    for block in blocks:
        yield block[:count]
        count -= block.shape[0]
        if count <= 0:
            return


def stream(source: Source, user: str, backend: Backend, before: float | None) -> Stream:
    """Rows of a source; ``before`` is the level that was 1 in training, if there was one."""
    height = block_height(source.shape[1], source.dtype)
    highest = (block.max() for block in source.blocks(0, height))
    return Stream(source, user, backend, white_of(source.dtype, lambda: highest, before))
