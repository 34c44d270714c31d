"""Runs on a CPU: one after the other in each of several threads."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
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
from lrnn.spiking.plan import (
    EVENTS,
    FOREVER,
    INHIBITED,
    LOOKS,
    OBSERVATIONS,
    TICKS,
    Plan,
    Statistics,
)
from lrnn.spiking.raster import Spikes
from lrnn.spiking.results import judge

AllOf = Callable[[Callable[..., Any], Iterable[Any]], None]

PIECE = 1 << 20  # ticks, some hundredths of a second: then a run listens if it should stop
SPIKES_AT_ONCE = 1 << 16
SIDE_BY_SIDE = 4  # runs of each thread, where it is asked from time to time how far they are
CELLS = 1 << 18  # neurons of all of these runs, if they may be more
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
    plan = queue.plan
    with ThreadPoolExecutor(n_threads) as pool:

        def all_of(function: Callable[..., Any], items: Iterable[Any]) -> None:
            shared, lock = iter(items), Lock()

            def work() -> None:
                while True:
                    with lock:
                        item = next(shared, shared)
                    if item is shared:
                        return
                    function(item)

            futures = [pool.submit(work) for _ in range(n_threads)]
            try:
                while wait(futures, timeout=REFRESH).not_done:
                    report(queue.done)
            except KeyboardInterrupt:
                queue.stop.set()
                statistics.interrupted = True
            for future in futures:
                future.result()

        if plan.until is None:
            all_of(lambda _: queue.work(), range(n_threads))
        else:
            most = max(SIDE_BY_SIDE * n_threads, CELLS // plan.network.n_neurons)
            queue.work_until(range(plan.n_rows), all_of, most)
    report(queue.done)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _walk_to(review: int, walk: Iterator[int]) -> None:
    """Go on with a run until a snapshot."""
    for snapshot in walk:
        if snapshot >= review:
            return


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
        self.recorded = recorded
        if trace:
            statistics.trace = np.full((len(plan.moments), 2), -1, dtype=np.int64)
        self.stop = Event()
        self.done = 0.0  # runs, with fractions
        self._runs = iter(range(plan.n_runs) if runs is None else runs)
        self._lock = Lock()
        self._parts = parts
        if plan.by_neuron and parts is None:
            division = Division.of(plan, parts_for(plan, threads), in_common=True)
            self._parts = partial(parts_of, division)

    def work(self) -> None:
        """Make runs as long as there are any."""
        try:
            with nullcontext() if self._parts is None else self._parts() as parts:
                while (number := self._next()) is not None:
                    for _ in self.walk(number, parts):
                        pass
        except BaseException:
            self.stop.set()
            raise

    def _next(self) -> int | None:
        """The number of the next run, if there is one to be made."""
        with self._lock:
            return None if self.stop.is_set() else next(self._runs, None)

    def work_until(self, rows: range, all_of: AllOf, most: int) -> None:
        """Make all runs of these rows, from review to review; a row ends when enough is known.

        ``all_of`` calls a function with each of many things, in any order, before it comes back.
        About ``most`` runs go on side by side.
        """
        at_once = max(1, most // self.plan.replicas)
        for first in range(rows.start, rows.stop, at_once):
            some = np.arange(first, min(first + at_once, rows.stop))
            walks = {row: [self.walk(n) for n in self._numbers(row)] for row in some}
            for review in self.plan.reviews:
                all_of(partial(_walk_to, review), (walk for row in some for walk in walks[row]))
                if self.stop.is_set():
                    break
                some = self._end(some, walks, review)
                if not len(some):
                    break
            for row in some:
                for walk in walks[row]:
                    walk.close()
            if self.stop.is_set():
                return

    def _end(self, rows: NDArray[np.intp], walks: dict[Any, Any], review: int) -> NDArray[np.intp]:
        """End the runs of rows of which enough is known; which rows go on."""
        reached = judge(self.plan, self.statistics, rows, review)
        for row in rows[reached]:
            for walk in walks[row]:
                walk.close()
        return np.asarray(rows[~reached])

    def _numbers(self, row: Any) -> range:
        return range(row * self.plan.replicas, (row + 1) * self.plan.replicas)

    def walk(self, number: int, parts: Parts | None = None) -> Generator[int, None, None]:
        """Make a run, and tell of each snapshot that it has come to; if left alone, it ends."""
        try:
            if self.plan.by_neuron:
                yield from self._walk(NeuronRun.of(self.plan, number, parts))
            else:
                yield from self._walk(Run.of(self.plan, number))
        except Exception:
            self.stop.set()
            raise

    def _walk(self, run: "Run | NeuronRun") -> Generator[int, None, None]:
        plan = self.plan
        recorded = self.recorded
        spikes: list[Spikes] = []
        snapshot = -1
        try:
            for i, stop in enumerate(run.stops):
                if not self._go_on(run, stop, recorded, spikes):
                    break
                if plan.moment_of[i] >= 0:
                    self._watch(run, int(plan.moment_of[i]))
                if plan.snapshot_of[i] >= 0:
                    snapshot = int(plan.snapshot_of[i])
                    run.write(self.statistics, snapshot)
                    yield snapshot
                    if plan.frames is not None and snapshot in plan.frames[:-1]:
                        run.show(int(np.searchsorted(plan.frames, snapshot)) + 1)
        finally:
            self._end_of(run, snapshot, recorded, spikes)

    def _watch(self, run: "Run | NeuronRun", moment: int) -> None:
        """Write down potentials."""
        potentials = run.potentials
        self.statistics.potentials[moment, run.number] = potentials[self.plan.watched]
        if self.statistics.trace is not None and run.number == 0:
            self.statistics.trace[moment] = run.ticks, potentials.sum()

    def _end_of(
        self, run: "Run | NeuronRun", snapshot: int, recorded: Any, spikes: list[Any]
    ) -> None:
        """All later snapshots show how far it got."""
        for late in range(snapshot + 1, len(self.plan.snapshots)):
            run.write(self.statistics, late)
        with self._lock:
            self.statistics.firings[run.row] += run.fired
            self.statistics.arrivals[run.row] += run.arrived
            if not self.stop.is_set():
                self.done += max(0.0, 1 - float(run.reached / max(run.stops[-1], 1e-300)))
        if recorded is not None:
            when, who = zip(*spikes, strict=True) if spikes else ((), ())
            self.statistics.spikes[run.number] = (
                np.concatenate([np.empty(0, dtype=run.clock_type), *when]),
                np.concatenate([np.empty(0, dtype=np.int32), *who]),
            )

    def _go_on(self, run: "Run | NeuronRun", stop: Any, recorded: Any, spikes: list[Any]) -> bool:
        """Go on to a stop, listening for who wants all to end; whether it got there."""
        pieces = run.go_on(stop, recorded, spikes)
        while not self.stop.is_set():
            made = next(pieces, None)
            if made is None:
                return True
            with self._lock:
                self.done += made / max(run.stops[-1], 1e-300)
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
    frame: int = 0

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
            ticks = plan.warm_up_ticks(number)
            run.advance(ticks, FOREVER, None, np.empty((0, 2), np.int64))
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
    def stops(self) -> NDArray[Any]:
        """Events, or ticks, at which there is something to write down."""
        return self.plan.stops if self._goal == EVENTS else self._tick_ends

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
                ticks, nodes = buffer[: self.counts[SPIKES]].T
                spikes.append((ticks.copy(), nodes.astype(np.int32)))
                self.counts[SPIKES] = 0
            yield int(self.counts[goal] - before)

    def show(self, frame: int) -> None:
        """Go on with the arrivals of another frame; no clock remembers when it rang."""
        self.frame = frame

    def advance(
        self,
        tick_end: int,
        event_end: int,
        recorded: NDArray[np.bool_] | None,
        spikes: NDArray[np.int64],
    ) -> None:
        """Go on."""
        plan = self.plan
        clocks = plan.clocks[plan.scene(self.row, self.frame)]
        advance(
            plan.routes.first, plan.routes.limits, plan.routes.targets, clocks.limits, clocks.nodes,
            self.words, self.reserve, self.fired, self.busy, self.observed, self.seen,
            self.inhibited, self.random, self.counts, tick_end, event_end, plan.look[self.row],
            plan.observe[self.row], plan.shifts[self.number], plan.every or FOREVER, recorded,
            spikes,
        )  # fmt: skip

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        if self.plan.dense[self.row]:
            self.counts[[LOOKS, OBSERVATIONS]] += 1
            self.busy += self.potentials > 0
            self.observed += self.potentials
        sums = [self.observed, self.busy, self.arrived, self.fired]
        if self.plan.kinds > INHIBITED:
            sums.append(self.inhibited[0])
        if self.seen is not None:
            sums.append(self.seen)
        statistics.write(snapshot, self.number, self.counts, *sums)
