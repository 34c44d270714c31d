"""Runs on a GPU: all at once, or as many as its memory holds."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba.core.errors import NumbaPerformanceWarning
from numpy.typing import NDArray

from lrnn.spiking import cuda_kernel as kernel
from lrnn.spiking.cuda_kernel import EXTERNAL, INHIBITS, NOWHERE, UNIT, cuda
from lrnn.spiking.ledger import Ledger
from lrnn.spiking.plan import Plan
from lrnn.spiking.tables import Clocks, Routes

Indices = NDArray[np.intp]

FOREVER = 1 << 62
AT_ONCE = 16_000_000_000  # events of all runs in one launch: two seconds or so
LEAST_LANES = 32  # replicas that are worth a block of their own
FAR_BLOCK = 32
MOST_EVENTS = 1 << 32  # of a run: its counts have 32 bits
PLAIN_SHARED_MEMORY = 48 << 10  # bytes of a block that need not be asked for


def simulate_on_gpu(plan: Plan, ledger: Ledger, report: Callable[[float], None]) -> None:
    """Make all runs of the plan; on Ctrl-C, leave what there is in the ledger."""
    check_device(plan)
    at_once = max(1, int(_free_memory() * 0.8 / _bytes_per_row(plan)))
    done = 0
    try:
        for rows in _groups(plan):
            for first in range(0, len(rows), at_once):
                part = rows[first : first + at_once]
                with warnings.catch_warnings():  # of few runs, which a user may well want
                    warnings.simplefilter("ignore", NumbaPerformanceWarning)
                    _make(plan, ledger, part, done, report)
                done += len(part) * plan.replicas
    except KeyboardInterrupt:
        ledger.interrupted = True


def check_device(plan: Plan) -> None:
    """Complain of what cannot be done on a GPU, or here."""
    if not cuda.is_available():
        raise RuntimeError(
            "device='cuda' needs an NVIDIA GPU and numba-cuda (pip install 'lrnn[cuda]'), and none "
            "was found; device='cpu' gives the same results"
        )
    if plan.network.n_neurons >= NOWHERE:
        raise ValueError(
            f"device='cuda' is for networks of up to {int(NOWHERE) - 1:,} neurons, this one has "
            f"{plan.network.n_neurons:,}; use device='cpu'"
        )
    if plan.unit == "events" and plan.snapshots[-1] >= MOST_EVENTS:
        raise ValueError(
            f"device='cuda' is for up to {MOST_EVENTS:,} events of each run, got "
            f"{plan.snapshots[-1]:,}; use more replicas, or device='cpu'"
        )


def _groups(plan: Plan) -> list[Indices]:
    """Rows whose replicas take the same number of rounds, the largest networks first."""
    sizes = np.array([len(c.excitable) for c in plan.clocks])
    lanes = [_lanes(plan, [row]) for row in range(plan.n_rows)]
    rounds = -(-plan.replicas // np.maximum(lanes, 1))
    order = np.argsort(-sizes, kind="stable")
    return [order[rounds[order] == count] for count in np.unique(rounds)[::-1]]


def _lanes(plan: Plan, rows: Sequence[int] | Indices) -> int:
    """How many runs of each of these rows fit into a block's shared memory."""
    longest = max(1, max(len(plan.clocks[row].excitable) for row in rows))
    return (_shared_memory() - _table_bytes(plan, rows)) // (2 * longest)


def _table_bytes(plan: Plan, rows: Sequence[int] | Indices) -> int:
    """Shared memory for the tables of the largest of these rows."""
    largest = max(len(plan.clocks[row].limits) + len(plan.clocks[row].excitable) for row in rows)
    return 8 * largest + 2 * plan.network.n_neurons


def _make(
    plan: Plan, ledger: Ledger, rows: Indices, done: int, report: Callable[[float], None]
) -> None:
    """Make the runs of some rows of arrivals."""
    runs = Runs.of(plan, rows)
    length = plan.snapshots[-1]
    by_time = plan.unit == "time"
    piece = max(20_000, AT_ONCE // runs.count)
    reached: Any = 0
    try:
        for snapshot, stop in enumerate(plan.snapshots):
            if by_time:
                runs.advance(runs.tick_ends[:, snapshot].copy(), FOREVER)
            else:
                while reached < stop:
                    reached = min(stop, reached + piece)
                    runs.advance(None, int(reached))
                    report(done + runs.count * reached / length)
            runs.write(ledger, snapshot)
            report(done + runs.count * stop / length)
    except KeyboardInterrupt:
        cuda.synchronize()
        for late in range(snapshot, len(plan.snapshots)):
            runs.write(ledger, late)
        raise


@dataclass
class Runs:
    """The state of many runs, on the device."""

    plan: Plan
    rows: Indices
    numbers: Indices
    kernel: Any
    grid: int
    block: int
    shared: int
    tables: list[Any]
    members: Any
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
        n, replicas = plan.network.n_neurons, plan.replicas
        numbers = (rows[:, None] * replicas + np.arange(replicas)).ravel()
        count = len(numbers)
        clocks = [plan.clocks[row] for row in rows]
        n_clocks = np.array([len(c.limits) for c in clocks])
        longest = max(max(len(c.excitable) for c in clocks), 1)
        lanes = _lanes(plan, rows)
        close = min(replicas, lanes) >= LEAST_LANES
        if close:
            members = [c.excitable for c in clocks]
            block = -(-replicas // -(-replicas // lanes))  # all rounds of about the same length
            grid, shared = len(rows), _table_bytes(plan, rows) + 2 * longest * block
        else:
            members = [np.arange(n)]
            block, grid, shared = FAR_BLOCK, -(-count // FAR_BLOCK), 0
        sizes = np.array([len(m) for m in members], dtype=np.int32)
        width = max(1, int(sizes.max()))
        place = np.full((len(members), n), NOWHERE, dtype=np.uint16)
        listed = np.zeros((len(members), width), dtype=np.int32)
        starts = np.zeros((len(members), width), dtype=np.uint64)
        packed_rows = _packed_rows(plan.routes)
        for i, who in enumerate(members):
            place[i, who] = np.arange(len(who))
            listed[i, : len(who)] = who
            starts[i, : len(who)] = packed_rows[who]
        packed_clocks = [
            _packed_clocks(c, place[i if close else 0], n) for i, c in enumerate(clocks)
        ]
        device = cuda.to_device
        if not close:
            sizes = np.repeat(sizes, len(rows))
        inhibited = (2, width, count) if plan.inhibits else (2, 1, 1)
        shapes: list[tuple[tuple[int, ...], Any]] = [((width, count), np.uint32)] * 3 + [
            ((width, count), np.uint64)
        ]
        shapes.append((inhibited, np.uint32))
        words, reserve, began = _first_words(plan, numbers, listed, close)
        runs = cls(
            plan=plan,
            rows=rows,
            numbers=numbers,
            kernel=kernel.advance_close if close else kernel.advance_far,
            grid=grid,
            block=block,
            shared=shared,
            tables=[
                n,
                device(sizes),
                replicas,
                device(np.concatenate([[0], np.cumsum(n_clocks)]).astype(np.int32)),
                device(np.concatenate(packed_clocks)),
                device(starts),
                device(place),
            ],
            members=device(listed if close else np.repeat(listed, len(rows), axis=0)),
            words=device(words),
            routes=device(_packed_routes(plan.routes, n)),
            sums=[_zeros(*shape) for shape in shapes],
            random=device(np.ascontiguousarray(plan.streams[numbers].T)),
            counts=device(np.zeros((4, count), dtype=np.int64)),
            began=device(began),
            schedule=[device(plan.look[rows]), device(plan.observe[rows])],
        )
        runs.sums[0].copy_to_device(reserve)
        runs._warm_up()
        return runs

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.numbers)

    def advance(self, ticks: NDArray[np.int64] | None, events: int) -> None:
        """Go on until so many events of each run, or so many ticks."""
        ends = np.full(self.count, FOREVER, dtype=np.int64) if ticks is None else ticks
        arguments = (
            *self.tables, self.words, self.routes, *self.sums, self.random, self.counts,
            cuda.to_device(ends), events, *self.schedule,
        )  # fmt: skip
        if self.shared > PLAIN_SHARED_MEMORY:
            _allow(self.kernel, arguments, self.shared)
        self.kernel[self.grid, self.block, 0, self.shared](*arguments)
        cuda.synchronize()

    @cached_property
    def tick_ends(self) -> NDArray[np.int64]:
        """Ticks of each run until each snapshot, where those are set by time."""
        return np.stack([self.plan.tick_ends(run) for run in self.numbers])

    def write(self, ledger: Ledger, snapshot: int) -> None:
        """Put down what there is so far."""
        n = self.plan.network.n_neurons
        sums = _zeros((ledger.sums.shape[1], self.count, n), np.float32)
        firings, arrivals = (_zeros((len(self.rows), n), np.uint64) for _ in range(2))
        kernel.collect[_grid(self.words), (8, 32)](
            self.members, self.tables[1], self.plan.replicas, self.words, *self.sums, self.began,
            sums, firings, arrivals,
        )  # fmt: skip
        for kind in range(len(sums)):
            ledger.sums[snapshot, kind, self.numbers] = sums[kind].copy_to_host()
        ledger.counts[snapshot][:, self.numbers] = self.counts.copy_to_host()
        ledger.firings[self.rows] = firings.copy_to_host().astype(np.int64)
        ledger.arrivals[self.rows] = arrivals.copy_to_host().astype(np.int64)

    def _warm_up(self) -> None:
        skipped = np.repeat(self.plan.warm_up[self.rows], self.plan.replicas)
        if not skipped.any():
            return
        self.advance(skipped, FOREVER)
        kernel.potentials_now[_grid(self.words), (8, 32)](self.words, self.sums[0], self.began)
        kernel.forget_firings[_grid(self.words), (8, 32)](self.words)
        for array in (*self.sums[1:], self.counts):
            _clear(array)


def _first_words(
    plan: Plan, numbers: Indices, members: NDArray[np.int32], close: bool
) -> tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.int64]]:
    """Words, reserves and potentials at the beginning, in the runs' own numbering."""
    began = np.zeros((len(numbers), members.shape[1]), dtype=np.int64)
    if plan.start != "empty":
        for i, number in enumerate(numbers):
            mine = members[i // plan.replicas if close else 0]
            began[i] = plan.first_potentials(number)[mine]
    unit = int(UNIT)
    reserve = np.maximum(began - unit, 0) // unit
    words = (began - unit * reserve).astype(np.uint16)
    return words, np.ascontiguousarray(reserve.T.astype(np.uint32)), began


def _pack(limits: NDArray[np.uint32], outcomes: NDArray[np.int64]) -> NDArray[np.uint64]:
    own, alias = outcomes.astype(np.uint64).T
    packed = (limits.astype(np.uint64) << np.uint64(32)) | (alias << np.uint64(16)) | own
    return np.asarray(packed)


def _packed_rows(routes: Routes) -> NDArray[np.uint64]:
    """Where the entries of each node begin, and how many there are."""
    first = routes.first.astype(np.uint64)
    return (first[:-1] << np.uint64(32)) | np.diff(first)


def _packed_routes(routes: Routes, n_neurons: int) -> NDArray[np.uint64]:
    target = routes.targets.astype(np.int64)
    outcome = np.where(target < 0, int(INHIBITS) | ~target, target)
    return _pack(routes.limits, np.where(target == n_neurons, int(NOWHERE), outcome))


def _packed_clocks(clocks: Clocks, place: NDArray[np.uint16], n: int) -> NDArray[np.uint64]:
    node = clocks.nodes.astype(np.int64)
    inhibits = node > 2 * n
    external = node > n
    neuron = node - external * (n + 1) - inhibits * n
    outcome = place[neuron].astype(np.int64) | external * int(EXTERNAL) | inhibits * int(INHIBITS)
    return _pack(clocks.limits, outcome)


def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    array = cuda.device_array(shape, dtype)
    _clear(array)
    return array


def _clear(array: Any) -> None:
    kernel.clear[min(1024, -(-array.size // 128)), 128](array.reshape(array.size))


def _grid(words: Any) -> tuple[int, int]:
    return -(-words.shape[0] // 8), -(-words.shape[1] // 32)


def _bytes_per_row(plan: Plan) -> int:
    """Device memory for a row of arrivals: state and sums of its replicas, and its tables."""
    n = plan.network.n_neurons
    return n * (plan.replicas * (2 + 3 * 4 + 8 + 8 + 5 * 4 + 8 * plan.inhibits) + 64)


def _free_memory() -> int:
    free = cuda.current_context().get_memory_info().free
    return int(min(free, 1 << 40))  # numba's simulator of a device has no end of it


def _shared_memory() -> int:
    """Bytes that a block can have, with asking."""
    device = cuda.current_context().device
    return int(getattr(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", PLAIN_SHARED_MEMORY))


def _allow(function: Any, arguments: tuple[Any, ...], size: int) -> None:
    """Ask for more shared memory than a block has as a rule; numba has no public way to."""
    from numba import typeof
    from numba.cuda.cudadrv.driver import binding, driver

    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    function.compile(tuple(getattr(a, "_numba_type_", None) or typeof(a) for a in arguments))
    for overload in function.overloads.values():
        loaded = overload._codelibrary.get_cufunc()
        driver.cuKernelSetAttribute(attribute, size, loaded.handle, loaded.device.id)
