"""Rows that do not fit in memory: read block by block, from the first to the last."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import HOST, Array, Backend, host_dtype, is_array, to_numpy
from lrnn.rows.levels import ScaledRows
from lrnn.rows.values import FLOATS, LEVELS, check_values
from lrnn.tables.sources import Source, block_height, read_ahead


class Stream:
    """Rows of a source as numbers in [0, 1], checked on the way.

    While a block is worked on, the next one is read. ``prepare`` brings raw rows to [0, 1].
    """

    def __init__(
        self,
        source: Source,
        user: str = "lrnn",
        backend: Backend = HOST,
        prepare: Callable[[Any], Any] | None = None,
    ) -> None:
        self.source = source
        self.shape = source.shape
        self.backend = backend
        kind = source.dtype
        if prepare is not None:
            kind = prepare(np.zeros((1, self.shape[1]), dtype=kind)).dtype
        narrow = kind in LEVELS or kind == np.float32
        self._host_dtype = np.dtype(np.float32 if narrow else np.float64)
        self.dtype: Any = self._host_dtype
        if not backend.is_numpy:
            self.dtype = getattr(backend.xp, self._host_dtype.name)
        self._user = user
        self._prepare = prepare

    def identity(self) -> str:
        """By what one sees whether the rows are still the same."""
        return self.source.identity()

    @property
    def in_any_order(self) -> bool:
        """Whether rows can be taken in any order."""
        return self.source.in_any_order

    def __getitem__(self, rows: Any) -> Array:
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(self.shape[0]))
        raw = self.source.take(to_numpy(rows) if is_array(rows) else rows)
        return self._checked(raw, 0)

    def fold(
        self,
        folded: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        begin: Any,
        skip: int,
        heard: Callable[[int, Any], None],
    ) -> Any:
        """See `lrnn.rows.fold_rows`; ``folded`` is that for a block of rows in memory."""
        total, seen = begin, skip
        for block in self.blocks(skip):
            total = folded(block, begin=total)
            seen += block.shape[0]
            heard(seen, total)
        return total

    def transmit(self, work: Callable[[Array], Array], width: int, dtype: Any) -> Array:
        """Activations of all rows, in the host's memory."""
        found = np.empty((self.shape[0], width), dtype=host_dtype(dtype))
        first = 0
        for block in self.blocks():
            found[first : first + block.shape[0]] = to_numpy(work(block))
            first += block.shape[0]
        return found

    def blocks(self, first: int = 0) -> Iterator[Array]:
        """Blocks of rows in [0, 1], from row number ``first`` on."""
        height = block_height(self.shape[1], self._host_dtype)
        seen = first
        for raw in read_ahead(self.source.blocks(first, height)):
            if raw.ndim != 2 or raw.shape[1] != self.shape[1]:
                raise ValueError(
                    f"{self.source.name}: the block from row {seen} on has the shape {raw.shape}; "
                    f"it should have {self.shape[1]} columns"
                )
            yield self._checked(raw, seen)
            seen += raw.shape[0]
        if seen != self.shape[0]:
            raise ValueError(
                f"{self.source.name} has {seen} rows now, but it had {self.shape[0]}; it was "
                "changed while it was read"
            )

    def _checked(self, raw: Any, first: int) -> Array:
        block = raw if self._prepare is None else self._prepare(raw)
        if sparse.issparse(block):
            block = sparse.csr_array(block).astype(self._host_dtype, copy=False)
            block = check_values(block, self.source, self._user, first)
            return block if self.backend.is_numpy else self.backend.array(block.toarray())
        if block.dtype in LEVELS:
            return ScaledRows(self.backend.array(block))[:]
        if block.dtype.kind not in "biuf":
            raise ValueError(f"{self.source.name} holds {block.dtype}, not numbers")
        if block.dtype not in FLOATS:
            block = block.astype(self._host_dtype)
        block = check_values(np.ascontiguousarray(block), self.source, self._user, first)
        return self.backend.array(block)
