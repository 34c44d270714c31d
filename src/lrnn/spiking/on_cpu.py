"""Runs on a CPU: one after the other in each of several threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Event, Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking.by_neuron import NeuronRun, parts_for, parts_of
from lrnn.spiking.cpu_kernel import SPIKES, advance, settle
from lrnn.spiking.parts import Division, Parts
from lrnn.spiking.plan import EVENTS, FOREVER, INHIBITED, TICKS, Plan, Statistics

PIECE = 1 << 20  # ticks, some hundredths of a second: then a run listens if it should stop
SPIKES_AT_ONCE = 1 << 16
TRACE_POINTS = 1_000
REFRESH = 0.1  # seconds between reports of progress


def simulate_on_cpu(
    plan: Plan,
    statistics: Statistics,
    threads: int | None,
    recorded: NDArray[np.bool_] | None,
    trace: bool,
    report: Callable[[float], None],
) -> None:
    """Make all runs of the plan; on Ctrl-C, stop them and keep what they have counted."""
    cores = threads or available_cores()
    n_threads = min(plan.n_runs, cores)
    queue = RunQueue(plan, statistics, recorded, trace, threads=cores // n_threads)
    make_runs(queue, n_threads, statistics, report)


def make_runs(
    queue: "RunQueue", n_threads: int, statistics: Statistics, report: Callable[[float], None]
) -> None:
    """Let threads make all runs of a queue; on Ctrl-C, stop them and keep what they have."""
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(queue.work) for _ in range(n_threads)]
        try:
            while wait(futures, timeout=REFRESH).not_done:
                report(queue.done)
        except KeyboardInterrupt:
            queue.stop.set()
            statistics.interrupted = True
        for future in futures:
            future.result()
    report(queue.done)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class RunQueue:
    """Runs that wait for any number of threads to make them."""

    def __init__(
        self,
        plan: Plan,
        statistics: Statistics,
        recorded: NDArray[np.bool_] | None,
        trace: bool,
        runs: range | None = None,
        threads: int = 1,
        parts: Callable[[], Parts] | None = None,
    ) -> None:
        """``threads`` of each run, or who else makes the ``parts`` of its network."""
        self.plan, self.statistics = plan, statistics
        self.recorded, self.trace = recorded, trace
        self.stop = Event()
        self.done = 0.0  # runs, with fractions
        self._runs = iter(range(plan.n_runs) if runs is None else runs)
        self._lock = Lock()
        self._parts = parts
        if plan.by_neuron and parts is None:
            division = Division.of(plan, parts_for(plan, threads))
            self._parts = partial(parts_of, division)

    def work(self) -> None:
        """Make runs as long as there are any."""
        try:
            with nullcontext() if self._parts is None else self._parts() as parts:
                while (number := self._next()) is not None:
                    if parts is None:
                        self._make(Run.of(self.plan, number))
                    else:
                        self._make(NeuronRun.of(self.plan, number, parts))
        except BaseException:
            self.stop.set()
            raise

    def _next(self) -> int | None:
        """The number of the next run, if there is one to be made."""
        with self._lock:
            return None if self.stop.is_set() else next(self._runs, None)

    def _make(self, run: "Run | NeuronRun") -> None:
        first = run.number == 0
        recorded = self.recorded if first else None
        tracing = self.trace and first
        spikes: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        totals: list[tuple[int, int]] = []
        ends = stops = run.ends
        if tracing:
            points = np.linspace(0, ends[-1], TRACE_POINTS + 1).astype(ends.dtype)
            stops = np.union1d(ends, points)
        for stop in stops:
            if not self._go_on(run, stop, recorded, spikes):
                break
            if tracing:
                totals.append((run.ticks, int(run.potentials.sum())))
            for snapshot in np.flatnonzero(ends == stop):
                run.write(self.statistics, int(snapshot))
        if self.stop.is_set():  # all later snapshots show how far it got
            for late in np.flatnonzero(ends > run.reached):
                run.write(self.statistics, int(late))
        with self._lock:
            self.statistics.firings[run.row] += run.fired
            self.statistics.arrivals[run.row] += run.arrived
        if recorded is not None:
            when, who = zip(*spikes, strict=True) if spikes else ((), ())
            self.statistics.spikes = (
                np.concatenate([np.empty(0, dtype=run.clock_type), *when]),
                np.concatenate([np.empty(0, dtype=np.int64), *who]),
            )
        if tracing:
            self.statistics.trace = np.array(totals, dtype=np.int64).reshape(-1, 2)

    def _go_on(self, run: "Run | NeuronRun", stop: Any, recorded: Any, spikes: list[Any]) -> bool:
        """Go on to a stop, listening for who wants all to end; whether it got there."""
        pieces = run.go_on(stop, recorded, spikes)
        while not self.stop.is_set():
            made = next(pieces, None)
            if made is None:
                return True
            with self._lock:
                self.done += made / max(run.ends[-1], 1e-300)
        return False


@dataclass
class Run:
    """The state of one run, clock by clock."""

    clock_type: ClassVar[type] = np.int64  # of times, which are ticks

    plan: Plan
    number: int
    words: NDArray[np.int64]
    reserve: NDArray[np.int64]
    fired: NDArray[np.int64]
    busy: NDArray[np.int64]
    observed: NDArray[np.int64]
    seen: NDArray[np.int64] | None
    inhibited: NDArray[np.int64]
    random: NDArray[np.uint64]
    counts: NDArray[np.int64]
    began: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan, number: int) -> "Run":
        """A run at its beginning, the warm-up behind it."""
        n = plan.network.n_neurons
        words = np.zeros(plan.routes.n_nodes, dtype=np.int64)
        potentials = plan.first_potentials(number)
        fired, busy, observed = (np.zeros(n, dtype=np.int64) for _ in range(3))
        run = cls(
            plan=plan,
            number=number,
            words=words,
            reserve=potentials.copy(),
            fired=fired,
            busy=busy,
            observed=observed,
            seen=None if plan.every is None else np.zeros(n, dtype=np.int64),
            inhibited=np.zeros((2, n), dtype=np.int64),
            random=plan.streams[number].copy(),
            counts=np.zeros(5, dtype=np.int64),
            began=potentials,
        )
        settle(words, run.reserve, run.fired)
        if plan.warm_up[run.row]:
            run.advance(int(plan.warm_up[run.row]), FOREVER, None, np.empty((0, 2), np.int64))
            run.began = run.potentials
            for array in (run.fired, run.busy, run.observed, run.seen, run.inhibited, run.counts):
                if array is not None:
                    array[:] = 0
        return run

    @property
    def row(self) -> int:
        """Which row of arrivals it is a replica of."""
        return self.number // self.plan.replicas

    @property
    def potentials(self) -> NDArray[np.int64]:
        """All potentials now."""
        n = len(self.reserve)
        return self.reserve + self.words[:n]

    @property
    def arrived(self) -> NDArray[np.int64]:
        """Excitatory spikes that arrived: those that left again, and those that are still there."""
        return np.asarray(self.fired + self.inhibited[1] + self.potentials - self.began)

    @property
    def ends(self) -> NDArray[Any]:
        """Events, or ticks, at which snapshots are taken."""
        return self.plan.snapshots if self._goal == EVENTS else self._tick_ends

    @property
    def reached(self) -> int:
        """How far it has got: events, or ticks."""
        return int(self.counts[self._goal])

    @property
    def ticks(self) -> int:
        """Rings of all clocks so far."""
        return int(self.counts[TICKS])

    @cached_property
    def _tick_ends(self) -> NDArray[np.int64]:
        return self.plan.tick_ends(self.number)

    @property
    def _goal(self) -> int:
        return TICKS if self.plan.unit == "time" else EVENTS

    def go_on(
        self, stop: int, recorded: NDArray[np.bool_] | None, spikes: list[Any]
    ) -> Iterator[int]:
        """Go on to a stop piece by piece, and tell how long each was."""
        buffer = np.empty((0 if recorded is None else SPIKES_AT_ONCE, 2), np.int64)
        goal = self._goal
        while self.counts[goal] < stop:
            before, piece = self.counts[goal], self.counts[TICKS] + PIECE
            if goal == TICKS:
                self.advance(min(stop, piece), FOREVER, recorded, buffer)
            else:
                self.advance(piece, stop, recorded, buffer)
            if self.counts[SPIKES]:
                found = buffer[: self.counts[SPIKES]].copy()
                spikes.append((found[:, 0], found[:, 1]))
                self.counts[SPIKES] = 0
            yield int(self.counts[goal] - before)

    def advance(
        self,
        tick_end: int,
        event_end: int,
        recorded: NDArray[np.bool_] | None,
        spikes: NDArray[np.int64],
    ) -> None:
        """Go on."""
        plan, clocks = self.plan, self.plan.clocks[self.row]
        advance(
            plan.routes.first, plan.routes.limits, plan.routes.targets, clocks.limits, clocks.nodes,
            self.words, self.reserve, self.fired, self.busy, self.observed, self.seen,
            self.inhibited, self.random, self.counts, tick_end, event_end, plan.look[self.row],
            plan.observe[self.row], plan.every or FOREVER, recorded, spikes,
        )  # fmt: skip

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        sums = [self.observed, self.busy, self.arrived, self.fired]
        if self.plan.kinds > INHIBITED:
            sums.append(self.inhibited[0])
        if self.seen is not None:
            sums.append(self.seen)
        statistics.write(snapshot, self.number, self.counts, *sums)
