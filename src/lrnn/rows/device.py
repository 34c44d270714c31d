"""Rows for a device: arrays of torch, CuPy and others where they are, or the host's sent there."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import Array, Backend, backend_of, host_dtype, is_array, take_rows, to_numpy
from lrnn.rows.base import Pass, Rows, Work
from lrnn.rows.content import digest
from lrnn.rows.memory import HostRows, as_floats

SHARE = 0.5  # of a device's free memory that the data may take
CELLS_ON_DEVICE = 1 << 27  # rows × the widest layer that a GPU works on at once
FEWEST_ROWS = 64  # of a block on a GPU whose memory is short


class OneBlockAtATime(Rows):
    """Rows that a device works on block by block; blocks become shorter where memory is short."""

    resident = in_any_order = True

    @abstractmethod
    def take(self, rows: Any) -> Array:
        """Some rows, in the memory of the device."""

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """Rows in order."""
        height = max(1, CELLS_ON_DEVICE // self.shape[1])
        last = self.shape[0] if last is None else last
        for start in range(first, last, height):
            yield self.take(slice(start, min(start + height, last)))

    def make(self, one: Pass) -> Any:
        """Make a pass."""

        def of_part(part: slice) -> Any:
            return one.on(self.take(part), part.start)

        results = self._results(of_part, one.widest, one.most, one.skip)
        return one.over((part.stop, result) for part, result in results)

    def _results(
        self, work: Callable[[slice], Any], widest: int, most: int | None = None, skip: int = 0
    ) -> Iterator[tuple[slice, Any]]:
        first, count = skip, self.shape[0]
        height = min(max(1, CELLS_ON_DEVICE // widest), most or count)
        while first < count:
            part = slice(first, min(first + height, count))
            lacking = ""
            try:
                result = work(part)
            except Exception as error:
                if not self.backend.out_of_memory(error):
                    raise
                lacking = str(error)
            if not lacking:
                yield part, result
                first = part.stop
                continue
            height = min(height, part.stop - part.start) // 2
            if height < FEWEST_ROWS:
                raise MemoryError(
                    f"the memory of {self.backend.device} is too small even for {2 * height} rows "
                    f"of {self.shape[1]} attributes with {widest} neurons: {lacking:.200}. Free "
                    "some, or train on the CPU (device=None)"
                )
            self.backend.free_memory()


class DeviceRows(OneBlockAtATime):
    """An array of torch, CuPy or another namespace, in the memory of its device.

    Levels of 8 or 16 bits, of which ``white`` is 1, are converted as rows of them are read.
    """

    held_on_device = True

    def __init__(self, X: Array, white: float | None = None) -> None:
        self.X, self.white = X, white
        self.shape = tuple(X.shape)
        self.backend = backend_of(X)
        self.dtype = X.dtype if white is None else self.backend.xp.float32

    def take(self, rows: Any) -> Array:
        """Some rows."""
        block = take_rows(self.X, rows)
        return block if self.white is None else as_floats(block, self.white)

    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Array:
        """What ``work`` makes of all rows, in the memory of the device."""
        shape = (self.shape[0], width)
        found = self.backend.xp.empty(shape, dtype=dtype, device=self.backend.device)
        for part, block in self._results(lambda part: work(self.take(part)), widest):
            found[part, ...] = block
        return found

    def identity(self, count: int | None = None) -> str:
        """A sum over shape, type and bytes."""
        return digest(self.X if count is None else take_rows(self.X, slice(0, count)))


class SentRows(OneBlockAtATime):
    """Rows of the host that are sent to a device when they are asked for; levels as levels."""

    def __init__(self, rows: HostRows, backend: Backend) -> None:
        self._rows = rows
        self.shape = rows.shape
        self.white = rows.white
        self.backend = backend
        self.dtype = getattr(backend.xp, host_dtype(rows.dtype).name)

    def take(self, rows: Any) -> Array:
        """Some rows."""
        block = self._rows.X[to_numpy(rows) if is_array(rows) else rows]
        sent = self.backend.array(block.toarray() if sparse.issparse(block) else block)
        return sent if self.white is None else as_floats(sent, self.white)

    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Array:
        """What ``work`` makes of all rows, in the memory of the host."""
        found = np.empty((self.shape[0], width), dtype=host_dtype(dtype))
        for part, block in self._results(lambda part: work(self.take(part)), widest):
            found[part] = to_numpy(block)
        return found

    def identity(self, count: int | None = None) -> str:
        """That of the rows of the host."""
        return self._rows.identity(count)


def held(block: Array) -> Rows:
    """An array of any namespace, or a sparse one, of numbers in [0, 1] as rows in memory."""
    return HostRows(block) if backend_of(block).is_numpy else DeviceRows(block)


def on_device(rows: HostRows, backend: Backend, *, again: bool) -> Rows:
    """Rows of the host for work on a device.

    If they are read ``again`` and again they are sent at once, where the memory suffices.
    """
    if not again or rows.stored_sparse:
        return SentRows(rows, backend)
    free = backend.free_memory()
    if free is not None and rows.X.nbytes > SHARE * free:
        return SentRows(rows, backend)
    try:
        return DeviceRows(backend.array(rows.X), rows.white)
    except Exception as error:
        if not backend.out_of_memory(error):
            raise
        return SentRows(rows, backend)
