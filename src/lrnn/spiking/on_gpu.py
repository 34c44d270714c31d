"""Runs on a GPU: all at once, or as many as its memory holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.functional.numba_cuda import (
    PLAIN_SHARED_MEMORY,
    allow_shared_memory,
    configured,
    cuda,
    shared_memory,
)
from lrnn.spiking import cuda_kernel as kernel
from lrnn.spiking.cuda_kernel import NOWHERE, UNIT
from lrnn.spiking.gpu_layout import Indices, Layout, groups, packed_routes, rests_of
from lrnn.spiking.plan import FOREVER, INHIBITED, Plan, Statistics
from lrnn.spiking.results import judge

AT_ONCE = 16_000_000_000  # events of all runs in one launch: two seconds or so
MOST_COUNTED = 1 << 32  # events of a run: its counts have 32 bits
RESERVE = 0  # of the sums


def simulate_on_gpu(plan: Plan, statistics: Statistics, report: Callable[[float], None]) -> None:
    """Make all runs of the plan; on Ctrl-C, keep what they have counted."""
    check_device()
    check_plan(plan)
    at_once = max(1, int(free_memory() * 0.8 / bytes_per_row(plan)))
    done = 0
    try:
        for rows in groups(plan, shared_memory()):
            for first in range(0, len(rows), at_once):
                runs = Runs.of(plan, rows[first : first + at_once])
                make(runs, statistics, done, report)
                done += len(runs.numbers)
    except KeyboardInterrupt:
        statistics.interrupted = True


def check_device() -> None:
    """Complain where there is no device."""
    if not cuda.is_available():
        raise RuntimeError(
            "device='cuda' needs an NVIDIA GPU and numba-cuda (pip install 'lrnn[cuda]'), and none "
            "was found; device='cpu' gives the same results"
        )


def check_plan(plan: Plan) -> None:
    """Complain of what cannot be done clock by clock on a GPU."""
    if plan.network.n_neurons >= NOWHERE:
        raise ValueError(
            f"device='cuda' clock by clock is for networks of up to {int(NOWHERE) - 1:,} neurons, "
            f"this one has {plan.network.n_neurons:,}; use device='cpu'"
        )
    check_length(plan.snapshots[-1], MOST_COUNTED)


def check_length(length: float, most: int) -> None:
    """Complain of runs with more events than can be counted."""
    if length >= most:
        raise ValueError(
            f"device='cuda' is for up to {most:,} events of each run, and this would be "
            f"{length:,.0f}; use more replicas, or device='cpu'"
        )


class DeviceRuns:
    """All replicas of some rows of arrivals, on a device."""

    plan: Plan
    rows: Indices
    ended: NDArray[np.bool_]

    @cached_property
    def numbers(self) -> Indices:
        """The numbers that the runs have in the plan."""
        replicas = np.arange(self.plan.replicas)
        return np.asarray((self.rows[:, None] * self.plan.replicas + replicas).ravel())

    def go_on(self, stop: int) -> Iterator[float]:
        """Go on to a stop of the plan, piece by piece, and tell how far they have got."""
        raise NotImplementedError

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        raise NotImplementedError

    def watch(self, statistics: Statistics, moment: int) -> None:
        """Write down potentials of those that are watched, in runs that go on."""
        raise NotImplementedError

    def show(self, frame: int) -> None:
        """Go on with the arrivals of another frame."""
        raise NotImplementedError

    def end(self, statistics: Statistics, snapshot: int) -> bool:
        """Stop the runs of rows of which enough is known; whether that was the last of them."""
        going = np.flatnonzero(~self.ended)
        self.ended[going] = judge(self.plan, statistics, self.rows[going], snapshot)
        return bool(self.ended.all())


def make(
    runs: DeviceRuns, statistics: Statistics, done: int, report: Callable[[float], None]
) -> None:
    """Make the runs of some rows of arrivals."""
    plan, count, snapshot = runs.plan, len(runs.numbers), 0
    try:
        for i in range(len(plan.stops)):
            for share in runs.go_on(i):
                report(done + count * share)
            if plan.moment_of[i] >= 0:
                runs.watch(statistics, int(plan.moment_of[i]))
            if plan.snapshot_of[i] < 0:
                continue
            snapshot = int(plan.snapshot_of[i])
            runs.write(statistics, snapshot)
            if snapshot in plan.reviews and runs.end(statistics, snapshot):
                break
            if plan.frames is not None and snapshot in plan.frames[:-1]:
                runs.show(int(np.searchsorted(plan.frames, snapshot)) + 1)
    except KeyboardInterrupt:
        cuda.synchronize()
        for late in range(snapshot, len(plan.snapshots)):
            runs.write(statistics, late)
        raise
    for late in range(snapshot + 1, len(plan.snapshots)):
        runs.write(statistics, late)


@dataclass
class Runs(DeviceRuns):
    """All replicas of some rows of arrivals, clock by clock, until so many events."""

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
    ended: NDArray[np.bool_]
    reached: int = 0  # events

    @classmethod
    def of(cls, plan: Plan, rows: Indices) -> "Runs":
        """Runs at their beginning, the warm-up behind them."""
        layout = Layout.of(plan, rows, shared_memory())
        count, width = len(rows) * plan.replicas, layout.members.shape[1]
        per_row = 1 if layout.shared else len(rows)  # else they have the tables in common
        inhibited = (2, width, count) if plan.kinds > INHIBITED else (2, 1, 1)
        seen = (width, count) if plan.every is not None else (1, 1)
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
                device(layout.clock_rests),
                device(layout.starts),
                device(layout.place),
            ],
            words=zeros((count, width), np.uint16),
            routes=[device(packed_routes(plan)), device(rests_of(plan.routes.limits))],
            sums=[
                zeros((width, count), np.uint32),  # reserve, in units
                zeros((width, count), np.uint32),  # fired
                zeros((width, count), np.uint32),  # busy
                zeros((width, count), np.uint64),  # observed
                zeros(seen, np.uint64),
                zeros(inhibited, np.uint32),
            ],
            random=None,
            counts=zeros((4, count), np.int64),
            began=zeros((count, width), np.int64),
            schedule=[device(plan.look[rows]), device(plan.observe[rows])],
            ended=np.zeros(len(rows), dtype=np.bool_),
        )
        runs.schedule.append(device(plan.shifts[runs.numbers]))
        runs.random = device(np.ascontiguousarray(plan.streams[runs.numbers].T))
        if plan.start != "empty":
            runs._start()
        if plan.warm_up[rows].any():
            runs._warm_up()
        return runs

    def go_on(self, stop: int) -> Iterator[float]:
        """Go on to a stop of the plan, piece by piece, and tell how far they have got."""
        goal, last = int(self.plan.stops[stop]), self.plan.stops[-1]
        while self.reached < goal:
            self.reached = min(goal, self.reached + max(20_000, AT_ONCE // len(self.numbers)))
            self.advance(FOREVER, self.reached)
            yield float(self.reached / last)

    def advance(self, ticks: NDArray[np.int64] | int, events: int) -> None:
        """Go on until so many events of each run, or so many ticks."""
        ends = np.where(np.repeat(self.ended, self.plan.replicas), 0, ticks).astype(np.int64)
        arguments = (
            *self.tables, self.words, *self.routes, *self.sums, self.random, self.counts,
            cuda.to_device(np.ascontiguousarray(ends)), events, *self.schedule,
            self.plan.every or FOREVER,
        )  # fmt: skip
        layout = self.layout
        function = kernel.advance_shared if layout.shared else kernel.advance_global
        if layout.shared_bytes > PLAIN_SHARED_MEMORY:
            allow_shared_memory(function, arguments, layout.shared_bytes)
        configured(function, layout.grid, layout.block, 0, layout.shared_bytes)(*arguments)
        cuda.synchronize()

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        if self.plan.dense[self.rows].any():
            configured(kernel.look_now, *_grid(self.words))(
                cuda.to_device(self.plan.dense[self.rows]), self.plan.replicas, self.tables[1],
                self.words, self.sums[RESERVE], *self.sums[2:4], self.counts,
            )  # fmt: skip
        n, layout = self.plan.network.n_neurons, self.layout
        rank = np.argsort(np.argsort(self.numbers))
        sums = zeros((statistics.sums.shape[1], len(self.numbers), n), np.float32)
        firings, arrivals = (zeros((len(self.rows), n), np.uint64) for _ in range(2))
        configured(kernel.collect, *_grid(self.words))(
            cuda.to_device(rank), cuda.to_device(layout.members), self.tables[1],
            self.plan.replicas, self.words, *self.sums, self.began, sums, firings, arrivals,
        )  # fmt: skip
        first, last = int(self.numbers.min()), int(self.numbers.max())
        for kind in range(len(sums)):
            if last - first + 1 == len(self.numbers):
                sums[kind].copy_to_host(statistics.sums[snapshot, kind, first : last + 1])
            else:
                statistics.sums[snapshot, kind, np.sort(self.numbers)] = sums[kind].copy_to_host()
        statistics.counts[snapshot][:, self.numbers] = self.counts.copy_to_host()
        statistics.firings[self.rows] = firings.copy_to_host().astype(np.int64)
        statistics.arrivals[self.rows] = arrivals.copy_to_host().astype(np.int64)

    def watch(self, statistics: Statistics, moment: int) -> None:
        """Write down potentials of those that are watched, in runs that go on."""
        potentials = zeros(self.words.shape, np.int64)
        configured(kernel.potentials_now, *_grid(self.words))(
            self.words, self.sums[RESERVE], potentials
        )
        found, members = potentials.copy_to_host(), self.layout.members
        for row in np.flatnonzero(~self.ended):
            runs = slice(row * self.plan.replicas, (row + 1) * self.plan.replicas)
            known = row if self.layout.shared else 0
            place = np.full(self.plan.network.n_neurons, -1)
            size = self.layout.sizes[known]
            place[members[known, :size]] = np.arange(size)
            at = place[self.plan.watched]
            seen = np.where(at >= 0, found[runs][:, at], 0)
            statistics.potentials[moment, self.numbers[runs]] = seen

    def _start(self) -> None:
        """Begin with potentials that are not all 0."""
        members, unit = self.layout.members, int(UNIT)
        began = np.empty(self.words.shape, dtype=np.int64)
        for i, number in enumerate(self.numbers):
            mine = members[i // self.plan.replicas if self.layout.shared else 0]
            began[i] = self.plan.first_potentials(int(number))[mine]
        reserve = np.maximum(began - unit, 0) // unit
        self.words.copy_to_device((began - unit * reserve).astype(np.uint16))
        self.sums[RESERVE].copy_to_device(np.ascontiguousarray(reserve.T.astype(np.uint32)))
        self.began.copy_to_device(began)

    def _warm_up(self) -> None:
        """Go on for a while, and forget all but the potentials."""
        ticks = [self.plan.warm_up_ticks(int(run)) for run in self.numbers]
        self.advance(np.array(ticks, dtype=np.int64), FOREVER)
        shape = _grid(self.words)
        configured(kernel.potentials_now, *shape)(self.words, self.sums[RESERVE], self.began)
        configured(kernel.forget_firings, *shape)(self.words)
        for array in (*self.sums[RESERVE + 1 :], self.counts):
            _clear(array)


def bytes_per_row(plan: Plan) -> int:
    """Device memory for a row of arrivals: state and sums of its replicas, and its tables."""
    n, more = plan.network.n_neurons, plan.kinds - INHIBITED
    return n * (plan.replicas * (2 + 3 * 4 + 8 + 8 + 6 * 4 + 8 * more) + 64)


def free_memory() -> int:
    """Bytes that are free on the device."""
    free = cuda.current_context().get_memory_info().free
    return int(min(free, 1 << 40))  # numba's simulator of a device has no end of it


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array on the device."""
    array = cuda.device_array(shape, dtype)
    _clear(array)
    return array


def _clear(array: Any) -> None:
    blocks = min(1024, -(-array.size // 128))
    configured(kernel.clear, blocks, 128)(array.reshape(array.size))


def _grid(words: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Blocks, and threads of each: one thread per word."""
    return (-(-words.shape[0] // 8), -(-words.shape[1] // 32)), (8, 32)
