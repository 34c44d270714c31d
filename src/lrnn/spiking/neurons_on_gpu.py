"""Runs neuron by neuron on a GPU: a block for each, all at once or as many as its memory holds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.functional.numba_cuda import (
    PLAIN_SHARED_MEMORY,
    allow_shared_memory,
    configured,
    cuda,
    shared_memory,
)
from lrnn.spiking import exponential
from lrnn.spiking import neuron_cuda_kernel as kernel
from lrnn.spiking.on_gpu import free_memory, zeros
from lrnn.spiking.plan import FOREVER, Plan, Statistics

THREADS = 128
ROOM = 2_048  # spikes on their way in a block, at most
WINDOW = 4_096  # events of a window, about
WINDOWS = 4_096  # of a launch
MOST_COUNTED = 1 << 31  # events of a run: its counts have 32 bits


def simulate_on_gpu(plan: Plan, statistics: Statistics, report: Callable[[float], None]) -> None:
    """Make all runs of the plan; on Ctrl-C, keep what they have counted."""
    at_once = max(1, int(free_memory() * 0.8 / bytes_per_row(plan)))
    done = 0
    try:
        for first in range(0, plan.n_rows, at_once):
            rows = np.arange(first, min(first + at_once, plan.n_rows))
            _make(plan, statistics, rows, done, report)
            done += len(rows) * plan.replicas
    except KeyboardInterrupt:
        statistics.interrupted = True


def _make(
    plan: Plan, statistics: Statistics, rows: Any, done: int, report: Callable[[float], None]
) -> None:
    runs = NeuronRuns.of(plan, rows)
    count = len(rows) * plan.replicas
    snapshot = 0
    try:
        for snapshot, stop in enumerate(plan.snapshots):
            for share in runs.go_on(stop):
                report(done + count * share)
            runs.write(statistics, snapshot)
    except KeyboardInterrupt:
        cuda.synchronize()
        for late in range(snapshot, len(plan.snapshots)):
            runs.write(statistics, late)
        raise


@dataclass(frozen=True)
class Members:
    """The neurons that a spike can come to, for each row of arrivals: the busiest first.

    Attributes
    ----------
    levels : ndarray of int32 of shape (n_rows, n_levels + 1)
        Where levels begin.
    who : ndarray of int32 of shape (n_rows, width)
        Their places in the order of the wiring.
    place : ndarray of int32 of shape (n_rows, n_neurons)
        Which number a neuron has, or −1.
    """

    levels: NDArray[np.int32]
    who: NDArray[np.int32]
    place: NDArray[np.int32]

    @classmethod
    def of(cls, plan: Plan, rows: Any) -> "Members":
        """Of these rows."""
        network, wiring = plan.network, plan.wiring
        q = np.asarray(plan.steady)[rows]
        busy = q * network.rates + plan.arrivals[rows]
        there = busy > 0
        if plan.inhibitory_arrivals is not None:
            there |= plan.inhibitory_arrivals[rows] > 0
        if network.inhibitory is not None:
            there |= ((q * network.rates) @ network.inhibitory) > 0
        busy, there = busy[:, wiring.order], there[:, wiring.order]
        level = np.repeat(np.arange(len(wiring.levels) - 1), np.diff(wiring.levels))
        width = max(1, int(there.sum(axis=1).max()))
        levels = np.zeros((len(rows), len(wiring.levels)), dtype=np.int32)
        who = np.zeros((len(rows), width), dtype=np.int32)
        place = np.full(there.shape, -1, dtype=np.int32)
        order = np.lexsort((-busy.mean(axis=0), level))
        levels[:, 1:] = np.cumsum(
            np.add.reduceat(there, wiring.levels[:-1], axis=1, dtype=np.int32), axis=1
        )
        row, column = np.nonzero(there[:, order])
        many = levels[:, -1]
        rank = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        mine = order[column]
        who[row, rank] = mine
        place[row, mine] = rank
        return cls(levels, who, place)


@dataclass
class NeuronRuns:
    """All replicas of some rows of arrivals."""

    plan: Plan
    rows: NDArray[np.int64]
    members: Members
    tables: Any
    network: list[Any]
    state: list[Any]
    kept: Any
    clock: Any
    passed: Any
    spans: Any
    began: Any
    happened: Any
    box: Any
    origin: Floats

    @classmethod
    def of(cls, plan: Plan, rows: NDArray[np.int64]) -> "NeuronRuns":
        """Runs at their beginning, the warm-up behind them."""
        device, wiring, order = cuda.to_device, plan.wiring, plan.wiring.order
        members = Members.of(plan, rows)
        count, width = len(rows) * plan.replicas, members.who.shape[1]
        tables = tuple(
            device(table) for table in (exponential.INSIDE, exponential.WIDTH, exponential.HEIGHT)
        )
        with np.errstate(divide="ignore"):
            between = 1 / plan.network.rates[order]
            outside = [plan.arrivals, plan.inhibitory_arrivals]
            paces = [
                np.full((1, 1), np.inf) if a is None else 1 / a[rows][:, order] for a in outside
            ]
        paces = [
            p if p.shape == (1, 1) else np.take_along_axis(p, members.who.astype(np.int64), axis=1)
            for p in paces
        ]
        kinds = 5 if plan.inhibits else 4
        if plan.inhibits and plan.inhibitory_arrivals is None:
            paces[1] = np.full((len(rows), width), np.inf)
        state = [
            cuda.device_array((kinds, count, width), np.float64),
            zeros((4 if plan.inhibits else 2, count, width), np.int32),
            cuda.device_array((2, count, width), np.uint64),
        ]
        kept = tuple(cuda.device_array(a.shape, a.dtype) for a in state)
        spans = np.repeat(WINDOW / plan.happening[rows], plan.replicas)
        runs = cls(
            plan=plan,
            rows=rows,
            members=members,
            tables=tables,
            network=[
                device(between),
                *(device(np.ascontiguousarray(p)) for p in paces),
                device(members.who),
                device(members.place),
                device(wiring.first.astype(np.int32)),
                device(wiring.limits),
                device(wiring.targets),
            ],
            state=state,
            kept=kept,
            clock=zeros((count,), np.float64),
            passed=zeros((count,), np.int64),
            spans=device(spans),
            began=zeros((count, width), np.int32),
            happened=cuda.device_array((count, 4 * WINDOW), np.float64),
            box=tuple(
                cuda.device_array((count, ROOM), kind) for kind in (np.float64, np.uint64, np.int32)
            ),
            origin=plan.warm_up[rows] / plan.tick_rates[rows],
        )
        runs._begin()
        return runs

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers that the runs have in the plan."""
        replicas = np.arange(self.plan.replicas)
        return np.asarray((self.rows[:, None] * self.plan.replicas + replicas).ravel())

    def go_on(self, stop: Any) -> Any:
        """Go on to a snapshot piece by piece, and tell how far they have got."""
        end = self.plan.snapshots[-1]
        if self.plan.unit == "time":
            ends = np.repeat(stop + self.origin, self.plan.replicas)
            yield from self._until(ends, FOREVER, end)
        else:
            yield from self._until(np.full(len(self.numbers), np.inf), int(stop), end)

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        plan, n = self.plan, self.plan.network.n_neurons
        first, last = int(self.numbers[0]), int(self.numbers[-1]) + 1
        sums = zeros((statistics.sums.shape[1], last - first, n), np.float32)
        firings, arrivals = (zeros((len(self.rows), n), np.uint64) for _ in range(2))
        rates = plan.tick_rates[self.rows]
        configured(kernel.collect, *self._grid())(
            cuda.to_device(np.arange(last - first)), self.network[3],
            cuda.to_device(plan.wiring.order), self._sizes, plan.replicas, cuda.to_device(rates),
            *self.state[:2], self.began, sums, firings, arrivals,
        )  # fmt: skip
        for kind in range(len(sums)):
            sums[kind].copy_to_host(statistics.sums[snapshot, kind, first:last])
        now = self.clock.copy_to_host() - np.repeat(self.origin, plan.replicas)
        ticks = np.round(now * np.repeat(rates, plan.replicas)).astype(np.int64)
        counts = statistics.counts[snapshot]
        counts[:, first:last] = ticks
        counts[1, first:last] = self.passed.copy_to_host()
        statistics.firings[self.rows] = firings.copy_to_host().astype(np.int64)
        statistics.arrivals[self.rows] = arrivals.copy_to_host().astype(np.int64)

    def _begin(self) -> None:
        plan = self.plan
        if plan.start != "empty":
            potentials = np.zeros(self.began.shape, dtype=np.int32)
            for i, number in enumerate(self.numbers):
                who = self.members.who[i // plan.replicas]
                potentials[i] = plan.first_potentials(int(number))[plan.wiring.order[who]]
            self.began.copy_to_device(potentials)
            self.state[1][kernel.POTENTIAL].copy_to_device(potentials)
        streams = cuda.to_device(np.ascontiguousarray(plan.streams[self.numbers]))
        between, pace, blocking, members = self.network[:4]
        configured(kernel.begin, *self._grid())(
            plan.replicas, self._sizes, self.tables, cuda.to_device(plan.wiring.order), between,
            pace, blocking, members, streams, *self.state,
        )  # fmt: skip
        if self.origin.any():
            for _ in self._until(np.repeat(self.origin, plan.replicas), FOREVER, np.inf):
                pass
            configured(kernel.forget, *self._grid())(
                self._sizes, plan.replicas, *self.state[:2], self.began
            )
            self.passed.copy_to_device(np.zeros(len(self.numbers), dtype=np.int64))

    def _until(self, time_ends: Floats, event_end: int, length: float) -> Any:
        """Launch after launch, until all runs are there."""
        plan = self.plan
        ends = cuda.to_device(time_ends)
        nobody = cuda.to_device(np.zeros(plan.network.n_neurons, dtype=np.bool_))
        none = cuda.device_array((1, 1), np.float64)
        senders, written = cuda.device_array((1, 1), np.int32), zeros((len(time_ends),), np.int32)
        common = [
            ROOM, plan.replicas, cuda.to_device(self.members.levels), self.box, self.tables,
            *self.network, *self.state, self.kept, self.clock, self.passed, self.spans,
            cuda.to_device(plan.happening[self.rows]), self.happened, nobody, none,
            senders, written, ends, event_end, WINDOWS,
        ]  # fmt: skip
        size = 8 * ROOM + 4 * self._ints
        shared = size <= shared_memory()
        if shared:
            function, arguments = kernel.advance_shared, tuple(common)
            if size > PLAIN_SHARED_MEMORY:
                allow_shared_memory(function, arguments, size)
        else:
            boxes = cuda.device_array((len(time_ends), ROOM), np.float64)
            ints = cuda.device_array((len(time_ends), self._ints), np.int32)
            function, arguments, size = kernel.advance_global, (boxes, ints, *common), 0
        while True:
            configured(function, len(time_ends), THREADS, 0, size)(*arguments)
            cuda.synchronize()
            reached = self.passed.copy_to_host()
            now = self.clock.copy_to_host()
            gone = reached.mean() if event_end < FOREVER else now.mean()
            yield float(gone / length)
            if ((reached >= event_end) | (now >= time_ends)).all():
                return

    @property
    def _ints(self) -> int:
        """Whole numbers that a block needs: drawers, heads, begins and sums."""
        return int(ROOM + 2 * self.members.who.shape[1] + 1 + THREADS)

    @property
    def _sizes(self) -> Any:
        return cuda.to_device(np.ascontiguousarray(self.members.levels[:, -1]))

    def _grid(self) -> tuple[tuple[int, int], tuple[int, int]]:
        count, width = self.began.shape
        return (-(-width // 64), -(-count // 4)), (64, 4)


def bytes_per_row(plan: Plan) -> int:
    """Device memory for a row of arrivals: the state of its replicas twice, sums, tables."""
    n = plan.network.n_neurons
    state = (5 * 8 + 4 * 4 + 2 * 8) * 2 + 4 + 6 * 4
    return plan.replicas * (n * state + 32 * WINDOW) + n * 64
