"""The state of many runs on a GPU."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking import cuda_kernel as kernel
from lrnn.spiking.cuda_kernel import UNIT, cuda
from lrnn.spiking.gpu_layout import Indices, Layout, packed_routes
from lrnn.spiking.ledger import Ledger
from lrnn.spiking.plan import FOREVER, Plan

PLAIN_SHARED_MEMORY = 48 << 10  # bytes of a block that need not be asked for
RESERVE = 0  # of the sums


@dataclass
class Runs:
    """All replicas of some rows of arrivals."""

    plan: Plan
    rows: Indices
    layout: Layout
    tables: list[Any]
    words: Any
    routes: Any
    sums: list[Any]
    random: Any
    counts: Any
    began: Any
    schedule: list[Any]

    @classmethod
    def of(cls, plan: Plan, rows: Indices) -> "Runs":
        """Runs at their beginning, the warm-up behind them."""
        layout = Layout.of(plan, rows, shared_memory())
        count, width = len(rows) * plan.replicas, layout.members.shape[1]
        per_row = 1 if layout.close else len(rows)  # else they have the tables in common
        inhibited = (2, width, count) if plan.inhibits else (2, 1, 1)
        device = cuda.to_device
        runs = cls(
            plan=plan,
            rows=rows,
            layout=layout,
            tables=[
                plan.network.n_neurons,
                device(np.repeat(layout.sizes, per_row)),
                plan.replicas,
                device(layout.clock_first),
                device(layout.clocks),
                device(layout.starts),
                device(layout.place),
            ],
            words=zeros((count, width), np.uint16),
            routes=device(packed_routes(plan)),
            sums=[
                zeros((width, count), np.uint32),  # reserve, in units
                zeros((width, count), np.uint32),  # fired
                zeros((width, count), np.uint32),  # busy
                zeros((width, count), np.uint64),  # observed
                zeros(inhibited, np.uint32),
            ],
            random=None,
            counts=zeros((4, count), np.int64),
            began=zeros((count, width), np.int64),
            schedule=[device(plan.look[rows]), device(plan.observe[rows])],
        )
        runs.random = device(np.ascontiguousarray(plan.streams[runs.numbers].T))
        if plan.start != "empty":
            runs._start()
        if plan.warm_up[rows].any():
            runs._warm_up()
        return runs

    @cached_property
    def numbers(self) -> Indices:
        """The numbers that the runs have in the plan."""
        replicas = np.arange(self.plan.replicas)
        return np.asarray((self.rows[:, None] * self.plan.replicas + replicas).ravel())

    @cached_property
    def tick_ends(self) -> NDArray[np.int64]:
        """Ticks of each run until each snapshot, where those are set by time."""
        return np.stack([self.plan.tick_ends(int(run)) for run in self.numbers])

    def advance(self, ticks: NDArray[np.int64] | int, events: int) -> None:
        """Go on until so many events of each run, or so many ticks."""
        ends = np.broadcast_to(np.asarray(ticks, dtype=np.int64), self.numbers.shape)
        arguments = (
            *self.tables, self.words, self.routes, *self.sums, self.random, self.counts,
            cuda.to_device(np.ascontiguousarray(ends)), events, *self.schedule,
        )  # fmt: skip
        layout = self.layout
        function = kernel.advance_close if layout.close else kernel.advance_far
        if layout.shared > PLAIN_SHARED_MEMORY:
            _allow(function, arguments, layout.shared)
        function[layout.grid, layout.block, 0, layout.shared](*arguments)
        cuda.synchronize()

    def write(self, ledger: Ledger, snapshot: int) -> None:
        """Put down what there is so far."""
        n, layout = self.plan.network.n_neurons, self.layout
        rank = np.argsort(np.argsort(self.numbers))
        sums = zeros((ledger.sums.shape[1], len(self.numbers), n), np.float32)
        firings, arrivals = (zeros((len(self.rows), n), np.uint64) for _ in range(2))
        kernel.collect[_grid(self.words), (8, 32)](
            cuda.to_device(rank), cuda.to_device(layout.members), self.tables[1],
            self.plan.replicas, self.words, *self.sums, self.began, sums, firings, arrivals,
        )  # fmt: skip
        first, last = int(self.numbers.min()), int(self.numbers.max())
        for kind in range(len(sums)):
            if last - first + 1 == len(self.numbers):
                sums[kind].copy_to_host(ledger.sums[snapshot, kind, first : last + 1])
            else:
                ledger.sums[snapshot, kind, np.sort(self.numbers)] = sums[kind].copy_to_host()
        ledger.counts[snapshot][:, self.numbers] = self.counts.copy_to_host()
        ledger.firings[self.rows] = firings.copy_to_host().astype(np.int64)
        ledger.arrivals[self.rows] = arrivals.copy_to_host().astype(np.int64)

    def _start(self) -> None:
        """Begin with potentials that are not all 0."""
        members, unit = self.layout.members, int(UNIT)
        began = np.empty(self.words.shape, dtype=np.int64)
        for i, number in enumerate(self.numbers):
            mine = members[i // self.plan.replicas if self.layout.close else 0]
            began[i] = self.plan.first_potentials(int(number))[mine]
        reserve = np.maximum(began - unit, 0) // unit
        self.words.copy_to_device((began - unit * reserve).astype(np.uint16))
        self.sums[RESERVE].copy_to_device(np.ascontiguousarray(reserve.T.astype(np.uint32)))
        self.began.copy_to_device(began)

    def _warm_up(self) -> None:
        """Go on for a while, and forget all but the potentials."""
        self.advance(np.repeat(self.plan.warm_up[self.rows], self.plan.replicas), FOREVER)
        shape = _grid(self.words), (8, 32)
        kernel.potentials_now[shape](self.words, self.sums[RESERVE], self.began)
        kernel.forget_firings[shape](self.words)
        for array in (*self.sums[RESERVE + 1 :], self.counts):
            _clear(array)


def bytes_per_row(plan: Plan) -> int:
    """Device memory for a row of arrivals: state and sums of its replicas, and its tables."""
    n = plan.network.n_neurons
    return n * (plan.replicas * (2 + 3 * 4 + 8 + 8 + 5 * 4 + 8 * plan.inhibits) + 64)


def free_memory() -> int:
    """Bytes that are free on the device."""
    free = cuda.current_context().get_memory_info().free
    return int(min(free, 1 << 40))  # numba's simulator of a device has no end of it


def shared_memory() -> int:
    """Bytes of shared memory that a block can have, with asking."""
    device = cuda.current_context().device
    if not _can_ask():
        return PLAIN_SHARED_MEMORY
    return int(getattr(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", PLAIN_SHARED_MEMORY))


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array on the device."""
    array = cuda.device_array(shape, dtype)
    _clear(array)
    return array


def _clear(array: Any) -> None:
    kernel.clear[min(1024, -(-array.size // 128)), 128](array.reshape(array.size))


def _grid(words: Any) -> tuple[int, int]:
    return -(-words.shape[0] // 8), -(-words.shape[1] // 32)


def _can_ask() -> bool:
    """Whether this numba is known to let us ask for more: it has no public way to."""
    try:
        from numba.cuda.cudadrv.driver import binding, driver

        return hasattr(driver, "cuKernelSetAttribute") and hasattr(binding, "CUfunction_attribute")
    except (ImportError, AttributeError):
        return False


def _allow(function: Any, arguments: tuple[Any, ...], size: int) -> None:
    """Ask for more shared memory than a block has as a rule."""
    from numba import typeof
    from numba.cuda.cudadrv.driver import binding, driver

    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    function.compile(tuple(getattr(a, "_numba_type_", None) or typeof(a) for a in arguments))
    for overload in function.overloads.values():
        loaded = overload._codelibrary.get_cufunc()
        driver.cuKernelSetAttribute(attribute, size, loaded.handle, loaded.device.id)
