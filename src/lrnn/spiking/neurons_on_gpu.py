"""Runs neuron by neuron on a GPU: a block for each, all at once or as many as its memory holds.

A few runs have the whole device one after the other.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.functional.numba_cuda import (
    PLAIN_SHARED_MEMORY,
    allow_shared_memory,
    configured,
    cuda,
    multiprocessors,
    shared_memory,
)
from lrnn.spiking import exponential
from lrnn.spiking import neuron_cuda_kernel as kernel
from lrnn.spiking.on_gpu import DeviceRuns, check_device, check_length, free_memory, make, zeros
from lrnn.spiking.plan import EVENTS, FOREVER, Plan, Statistics
from lrnn.spiking.raster import Spikes

WINDOWS = 4_096  # of a launch
FEW = 64  # runs that may have the whole device, one after the other:
BUSIEST = 0.077  # fewer, where the busiest neurons have much of what happens
RECORDED_AT_ONCE = 1 << 27  # spikes of all runs that are recorded before they are fetched
MOST_COUNTED = 1 << 31  # events of a run: its counts have 32 bits


def simulate_on_gpu(
    plan: Plan,
    statistics: Statistics,
    recorded: NDArray[np.bool_] | None,
    report: Callable[[float], None],
) -> None:
    """Make all runs of the plan; on Ctrl-C, keep what they have counted."""
    check_device()
    by_time = plan.unit == "time"
    check_length(plan.snapshots[-1] * (plan.happening.max() if by_time else 1), MOST_COUNTED)
    at_once = max(1, int(free_memory() * 0.8 / bytes_per_row(plan, recorded is not None)))
    done = 0
    try:
        for first in range(0, plan.n_rows, at_once):
            rows = np.arange(first, min(first + at_once, plan.n_rows))
            runs = NeuronRuns.of(plan, rows, recorded)
            try:
                make(runs, statistics, done, report)
            finally:
                runs.tell_spikes(statistics)
            done += len(runs.numbers)
    except KeyboardInterrupt:
        statistics.interrupted = True


@dataclass(frozen=True)
class Team:
    """Who makes a run.

    Attributes
    ----------
    room : int
        Spikes on their way, at most.
    window : int
        Events of a window, about.
    whole : bool
        All blocks of the device together, not one for each run.
    """

    room: int
    window: int
    whole: bool = False

    @classmethod
    def of(cls, plan: Plan) -> "Team":
        """For the runs of a plan.

        A whole device makes a run as fast as the busiest neuron of each level lets it.
        """
        order, levels = plan.wiring.order, plan.wiring.levels
        fired = np.asarray(plan.steady).mean(axis=0) * plan.network.rates
        busiest = np.maximum.reduceat(fired[order], levels[:-1]).sum() / plan.happening.mean()
        if plan.n_runs > FEW or plan.n_runs * busiest > BUSIEST:
            return BLOCK
        return replace(WHOLE, room=WHOLE.room + kernel.CHUNK * plan.network.n_neurons)


BLOCK = Team(room=2_048, window=4_096)
WHOLE = Team(room=1 << 20, window=1 << 20, whole=True)


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
        scenes = scenes_of(plan, rows)
        q = np.asarray(plan.steady)[scenes]
        there = (q > 0) | (plan.arrivals[scenes] > 0)
        if plan.inhibitory_arrivals is not None:
            there |= plan.inhibitory_arrivals[scenes] > 0
        if network.inhibitory is not None:
            there |= ((q * network.rates) @ network.inhibitory) > 0
        there = np.asarray(there.reshape(len(rows), plan.n_frames, -1).any(axis=1))
        busy = (q.mean(axis=0) * network.rates)[wiring.order]
        there = there[:, wiring.order]
        level = np.repeat(np.arange(len(wiring.levels) - 1), np.diff(wiring.levels))
        width = max(1, int(there.sum(axis=1).max()))
        levels = np.zeros((len(rows), len(wiring.levels)), dtype=np.int32)
        who = np.zeros((len(rows), width), dtype=np.int32)
        place = np.full(there.shape, -1, dtype=np.int32)
        order = np.lexsort((-busy, level))
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
class NeuronRuns(DeviceRuns):
    """All replicas of some rows of arrivals, neuron by neuron.

    Attributes
    ----------
    pace : list of device arrays
        Mean times between firings, and between spikes from outside, of either kind.
    routes : list of device arrays
        Who the neurons are, and where their spikes go.
    state, kept : device arrays
        Times, counts and random numbers of all neurons; those to which a run may come back.
    box : tuple of device arrays
        Spikes on their way: times, random numbers, goals.
    clock, passed, spans : device arrays
        Of each run: the time, events so far, the length of a window.
    """

    plan: Plan
    team: Team
    rows: NDArray[np.int64]
    ended: NDArray[np.bool_]
    members: Members
    tables: Any
    pace: list[Any]
    routes: list[Any]
    state: list[Any]
    kept: Any
    box: Any
    clock: Any
    passed: Any
    spans: Any
    began: Any
    happened: Any
    origin: Floats
    recording: list[Any]
    spikes: dict[int, list[Spikes]]

    @classmethod
    def of(
        cls, plan: Plan, rows: NDArray[np.int64], recorded: NDArray[np.bool_] | None = None
    ) -> "NeuronRuns":
        """Runs at their beginning, the warm-up behind them."""
        device, wiring = cuda.to_device, plan.wiring
        members, team = Members.of(plan, rows), Team.of(plan)
        count, width = len(rows) * plan.replicas, members.who.shape[1]
        state = [
            cuda.device_array((5 if plan.inhibits else 4, count, width), np.float64),
            zeros((4 if plan.inhibits else 2, count, width), np.int32),
            cuda.device_array((2, count, width), np.uint64),
        ]
        who = np.zeros(plan.network.n_neurons, np.bool_)
        room = 1
        if recorded is not None:
            who = recorded[wiring.order]
            room = spikes_at_once(count, team)
        runs = cls(
            plan=plan,
            team=team,
            rows=rows,
            ended=np.zeros(len(rows), dtype=np.bool_),
            members=members,
            tables=tuple(
                device(t) for t in (exponential.INSIDE, exponential.WIDTH, exponential.HEIGHT)
            ),
            pace=[],
            routes=[
                device(members.who),
                device(members.place),
                device(wiring.first.astype(np.int32)),
                device(wiring.limits),
                device(wiring.targets),
            ],
            state=state,
            kept=tuple(cuda.device_array(a.shape, a.dtype) for a in state),
            box=tuple(
                cuda.device_array((1 if team.whole else count, team.room), kind)
                for kind in (np.float64, np.uint64, np.int32)
            ),
            clock=zeros((count,), np.float64),
            passed=zeros((count,), np.int64),
            spans=device(np.repeat(team.window / plan.happening[rows], plan.replicas)),
            began=zeros((count, width), np.int32),
            happened=cuda.device_array((1 if team.whole else count, 4 * team.window), np.float64),
            origin=plan.warm_up[rows],
            recording=[
                device(who),
                cuda.device_array((count, room), np.float64),
                cuda.device_array((count, room), np.int32),
                zeros((count,), np.int32),
            ],
            spikes={} if recorded is None else {int(number): [] for number in range(count)},
        )
        runs._begin()
        return runs

    def go_on(self, stop: int) -> Iterator[float]:
        """Go on to a stop of the plan, piece by piece, and tell how far they have got."""
        plan, end = self.plan, self.plan.stops[stop]
        if plan.unit == "time":
            yield from self._until(end + self.origin, FOREVER)
        else:
            yield from self._until(np.full(len(self.rows), np.inf), int(end))

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        plan, n = self.plan, self.plan.network.n_neurons
        first, last = int(self.numbers[0]), int(self.numbers[-1]) + 1
        sums = zeros((statistics.sums.shape[1], last - first, n), np.float32)
        firings, arrivals = (zeros((len(self.rows), n), np.uint64) for _ in range(2))
        rates = plan.tick_rates[self.rows]
        configured(kernel.collect, *self._grid())(
            self.routes[0], cuda.to_device(plan.wiring.order), self._sizes, plan.replicas,
            cuda.to_device(rates), *self.state[:2], self.began, sums, firings, arrivals,
        )  # fmt: skip
        for kind in range(len(sums)):
            sums[kind].copy_to_host(statistics.sums[snapshot, kind, first:last])
        now = self.clock.copy_to_host() - np.repeat(self.origin, plan.replicas)
        counts = statistics.counts[snapshot]
        counts[:, first:last] = np.round(now * np.repeat(rates, plan.replicas)).astype(np.int64)
        counts[EVENTS, first:last] = self.passed.copy_to_host()
        statistics.firings[self.rows] = firings.copy_to_host().astype(np.int64)
        statistics.arrivals[self.rows] = arrivals.copy_to_host().astype(np.int64)

    def watch(self, statistics: Statistics, moment: int) -> None:
        """Write down potentials of those that are watched, in runs that go on."""
        found = self.state[1][kernel.POTENTIAL].copy_to_host()
        places = np.argsort(self.plan.wiring.order)[self.plan.watched]
        for row in np.flatnonzero(~self.ended):
            runs = slice(row * self.plan.replicas, (row + 1) * self.plan.replicas)
            at = self.members.place[row, places]
            seen = np.where(at >= 0, found[runs][:, at], 0)
            statistics.potentials[moment, self.numbers[runs]] = seen

    def show(self, frame: int) -> None:
        """Go on with the arrivals of another frame: the next ones are drawn anew."""
        self._set_pace(frame)
        configured(kernel.draw_arrivals, *self._grid())(
            self.plan.replicas, self._sizes, self.tables, *self.pace[1:], self.clock,
            self.state[0], self.state[2],
        )  # fmt: skip

    def tell_spikes(self, statistics: Statistics) -> None:
        """Hand over the spikes that were recorded, in order of time."""
        first = int(self.numbers[0])
        for run, found in self.spikes.items():
            when = np.concatenate([np.empty(0), *(times for times, _ in found)])
            who = np.concatenate([np.empty(0, np.int32), *(neurons for _, neurons in found)])
            order = np.argsort(when, kind="stable")
            statistics.spikes[first + run] = when[order], who[order]

    def _begin(self) -> None:
        plan = self.plan
        self._set_pace(0)
        if plan.start != "empty":
            potentials = np.zeros(self.began.shape, dtype=np.int32)
            for i, number in enumerate(self.numbers):
                who = self.members.who[i // plan.replicas]
                potentials[i] = plan.first_potentials(int(number))[plan.wiring.order[who]]
            self.began.copy_to_device(potentials)
            self.state[1][kernel.POTENTIAL].copy_to_device(potentials)
        streams = cuda.to_device(np.ascontiguousarray(plan.streams[self.numbers]))
        configured(kernel.begin, *self._grid())(
            plan.replicas, self._sizes, self.tables, cuda.to_device(plan.wiring.order), *self.pace,
            self.routes[0], streams, *self.state,
        )  # fmt: skip
        if self.origin.any():
            asked = self.recording
            nobody = cuda.to_device(np.zeros(plan.network.n_neurons, np.bool_))
            self.recording = [nobody, *asked[1:]]
            for _ in self._until(self.origin, FOREVER):
                pass
            self.recording = asked
            configured(kernel.forget, *self._grid())(
                self._sizes, plan.replicas, *self.state[:2], self.began
            )
            self.passed.copy_to_device(np.zeros(len(self.numbers), dtype=np.int64))

    def _set_pace(self, frame: int) -> None:
        """How often spikes come from outside in a frame."""
        plan, order, who = self.plan, self.plan.wiring.order, self.members.who
        scenes = scenes_of(plan, self.rows)[frame :: plan.n_frames]
        rates = [plan.arrivals, plan.inhibitory_arrivals if plan.inhibits else None]
        paces = [np.full((1, 1), np.inf), np.full((1, 1), np.inf)]
        with np.errstate(divide="ignore"):
            for kind, outside in enumerate(rates):
                if outside is not None:
                    paces[kind] = 1 / outside[scenes[:, None], order[who]]
            if plan.inhibits and plan.inhibitory_arrivals is None:
                paces[1] = np.full(who.shape, np.inf)
            between = 1 / plan.network.rates[order]
        self.pace = [cuda.to_device(np.ascontiguousarray(pace)) for pace in (between, *paces)]

    def _until(self, time_ends: Floats, event_end: int) -> Iterator[float]:
        """Launch after launch, until all runs are there."""
        plan, count = self.plan, len(self.numbers)
        ends = np.repeat(np.where(self.ended, -np.inf, time_ends), plan.replicas)
        arguments: tuple[Any, ...] = (
            self.team.room, plan.replicas, cuda.to_device(self.members.levels), self.box,
            self.tables, *self.pace, *self.routes, *self.state, self.kept, self.clock, self.passed,
            self.spans, cuda.to_device(plan.happening[self.rows]), self.happened, *self.recording,
            cuda.to_device(ends), event_end, WINDOWS,
        )  # fmt: skip
        going = np.arange(count)
        while len(going):
            self.advance(going, arguments)
            if self.spikes:
                self._take_spikes()
            reached, now = self.passed.copy_to_host(), self.clock.copy_to_host()
            gone = reached.mean() if plan.unit == "events" else now.mean()
            yield min(1.0, float(gone / plan.stops[-1]))
            going = np.flatnonzero((reached < event_end) & (now < ends))

    def advance(self, going: NDArray[np.int64], arguments: tuple[Any, ...]) -> None:
        """Go on for some windows with the runs that are not there yet."""
        if self.team.whole:
            self._advance_whole(going, arguments)
        else:
            self._advance_blocks(arguments)
        cuda.synchronize()

    def _advance_blocks(self, arguments: tuple[Any, ...]) -> None:
        """All runs at once."""
        count, room = len(self.numbers), self.team.room
        size = 8 * room + 4 * self._ints
        function = kernel.advance_shared
        if size > shared_memory():
            boxes = cuda.device_array((count, room), np.float64)
            ints = cuda.device_array((count, self._ints), np.int32)
            function, arguments, size = kernel.advance_global, (boxes, ints, *arguments), 0
        elif size > PLAIN_SHARED_MEMORY:
            allow_shared_memory(function, arguments, size)
        configured(function, count, kernel.THREADS, 0, size)(*arguments)

    def _advance_whole(self, going: NDArray[np.int64], arguments: tuple[Any, ...]) -> None:
        """One run after the other."""
        blocks = multiprocessors()
        inbox = cuda.device_array((1, self.team.room), np.float64)
        ints = cuda.device_array((1, self._ints + blocks), np.int32)
        common = zeros((kernel.SHARED,), np.int32)
        for run in going:
            configured(kernel.advance_whole, blocks, kernel.THREADS)(
                int(run), common, inbox, ints, *arguments
            )

    def _take_spikes(self) -> None:
        """Fetch what was recorded, and make room for more."""
        _, times, senders, written = self.recording
        counts = written.copy_to_host()
        for run in np.flatnonzero(counts):
            here = slice(counts[run])
            when = times[run, here].copy_to_host() - self.origin[run // self.plan.replicas]
            who = self.plan.wiring.order[senders[run, here].copy_to_host()]
            self.spikes[int(run)].append((when, who.astype(np.int32)))
        written.copy_to_device(np.zeros(len(counts), dtype=np.int32))

    @property
    def _ints(self) -> int:
        """Whole numbers that a block needs: drawers, heads and begins."""
        return int(self.team.room + 2 * self.members.who.shape[1] + 1)

    @cached_property
    def _sizes(self) -> Any:
        return cuda.to_device(np.ascontiguousarray(self.members.levels[:, -1]))

    def _grid(self) -> tuple[tuple[int, int], tuple[int, int]]:
        count, width = self.began.shape
        return (-(-width // 64), -(-count // 4)), (64, 4)


def scenes_of(plan: Plan, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The vectors of arrivals of some rows, frame by frame."""
    return np.asarray((rows[:, None] * plan.n_frames + np.arange(plan.n_frames)).ravel())


def spikes_at_once(count: int, team: Team) -> int:
    """How many spikes of each of so many runs are recorded before they are fetched."""
    return max(4 * team.window, min(RECORDED_AT_ONCE // count, 1 << 20))


def bytes_per_row(plan: Plan, recording: bool) -> int:
    """Device memory for a row of arrivals: the state of its replicas twice, sums, tables."""
    n, team = plan.network.n_neurons, Team.of(plan)
    state = (5 * 8 + 4 * 4 + 2 * 8) * 2 + 4 + 6 * 4
    each = n * state + 32 * team.window + 20 * team.room
    if recording:
        each += 12 * spikes_at_once(plan.n_runs, team)
    return plan.replicas * each + n * 64
