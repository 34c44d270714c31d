"""One network without cycles in parts, each of which makes the events of its own neurons.

A part holds some neurons of each level, next to each other in the wiring's order: their tables,
their paces, their states with their random numbers. It makes a level of a window of time from the
spikes that have come to it, and sorts those that its neurons send by the part that they go to. When
all parts have made a level, they take the spikes that are for them, and make the next one. Spikes
do not depend on how many parts there are, nor on who makes them: threads (here), processes of this
machine (`on_processes`) or the workers of a Dask cluster (`on_workers`).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.spiking import queue_kernel
from lrnn.spiking.meeting import FAILED, meeting
from lrnn.spiking.neuron_kernel import make_level, make_share, make_window
from lrnn.spiking.plan import Plan
from lrnn.spiking.wiring import Outgoing, Tables, numbers_of

NOTHING = np.empty(0)
SMALL = 1 << 14  # events of a window that are not worth several threads
IDLE = 0.1  # time that neurons take even if they are at rest, all of them, to that of all events
SPIKE = 12  # bytes: its time, and where it goes

Piece = tuple[Floats, NDArray[np.int32]]  # times and goals of spikes


class Made(NamedTuple):
    """What there was in a window: events, recorded spikes (times, neurons), times of all events."""

    events: int
    when: Floats
    who: NDArray[np.int64]
    happened: Floats


@dataclass(frozen=True)
class Division:
    """Which neurons are whose; they are numbered from those of the first part to the last one's.

    Attributes
    ----------
    plan : Plan
        Of a simulation neuron by neuron.
    order : ndarray of int
        The neurons, by these numbers.
    ranks : ndarray of int
        Their places in the order of the wiring.
    starts : ndarray of int of shape (n_parts + 1,)
        The number of the first neuron of each part; then how many there are.
    levels : ndarray of int of shape (n_parts, n_levels + 1)
        Where levels begin among the neurons of each part, and the last ends.
    """

    plan: Plan
    order: NDArray[np.int64]
    ranks: NDArray[np.int64]
    starts: NDArray[np.int64]
    levels: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan, n_parts: int, in_common: bool = False) -> "Division":
        """Parts that have about as many events, and as large tables, in every level.

        The size of tables does not matter if they are in a memory that all have ``in_common``.
        """
        wiring = plan.wiring
        ends = np.empty((wiring.n_levels, n_parts + 1), dtype=np.int64)
        weights = None if n_parts == 1 else _weights(plan, in_common)[wiring.order]
        for level, (low, high) in enumerate(
            zip(wiring.levels[:-1], wiring.levels[1:], strict=True)
        ):
            ends[level] = low
            ends[level, -1] = high
            if weights is not None:
                heap = np.cumsum(weights[low:high])
                middle = heap - weights[low:high] / 2
                goals = heap[-1] * np.arange(1, n_parts) / n_parts
                ends[level, 1:-1] = low + np.searchsorted(middle, goals)
        sizes = np.diff(ends, axis=1).T
        ranks = np.concatenate(
            [np.arange(level[p], level[p + 1]) for p in range(n_parts) for level in ends]
        )
        return cls(
            plan,
            wiring.order[ranks],
            ranks,
            np.concatenate([[0], np.cumsum(sizes.sum(axis=1))]),
            np.concatenate([np.zeros((n_parts, 1), np.int64), np.cumsum(sizes, axis=1)], axis=1),
        )

    @property
    def cyclic(self) -> bool:
        """Whether the network has cycles."""
        return self.plan.wiring.cyclic

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.levels)

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return int(self.levels.shape[1]) - 1

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each neuron."""
        return numbers_of(self.order)

    def of_part(self, part: int) -> slice:
        """The numbers of its neurons."""
        return slice(int(self.starts[part]), int(self.starts[part + 1]))

    def outgoing(self, part: int) -> Outgoing:
        """Where the spikes of a part's neurons go."""
        return Outgoing.of(self.plan.network, self.order[self.of_part(part)], self.numbers)

    @cached_property
    def tables(self) -> list[Tables]:
        """Those of all parts."""
        if self.n_parts == 1:
            return [self.plan.wiring.tables]
        return [self.outgoing(part).tables() for part in range(self.n_parts)]


def _weights(plan: Plan, in_common: bool) -> Floats:
    """What neurons take: their share in all events, and in all tables, or a little each."""
    network = plan.network
    events = (plan.arrivals + np.asarray(plan.steady) * network.rates).mean(axis=0)
    if plan.inhibitory_arrivals is not None:
        events = events + plan.inhibitory_arrivals.mean(axis=0)
    if in_common:
        return np.asarray(events / events.sum() + IDLE / network.n_neurons)
    entries = np.ones(network.n_neurons)
    for matrix in (network.excitatory, network.inhibitory):
        if matrix is not None:
            entries += np.asarray((matrix != 0).sum(axis=1)).ravel()
    return np.asarray(events / events.sum() + entries / entries.sum())


class Part:
    """The neurons of one part, and where their spikes are on the way.

    Parameters
    ----------
    levels : ndarray of int
        Where its levels begin, and the last ends.
    starts : ndarray of int
        Where the numbers of all parts' neurons begin.
    tables : Tables
        Where its neurons' spikes go.
    room : int
        For how many spikes there is room.
    """

    def __init__(
        self, levels: NDArray[np.int64], starts: NDArray[np.int64], tables: Tables, room: int
    ) -> None:
        self.levels, self.starts, self.tables = levels, np.array(starts), tables
        self._owners = np.repeat(np.arange(len(starts) - 1, dtype=np.uint16), np.diff(starts))
        widest = int(np.diff(levels).max())
        self._queue = (np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest))
        self._outbox, self._goals = np.empty(room), np.empty(room, np.int32)
        self._waiting, self._waiting_goals = np.empty(room), np.empty(room, np.int32)
        self._inbox, self._begins = np.empty(room), np.empty(widest + 1, np.int64)
        self._spikes, self._senders = np.empty(room), np.empty(room, np.int32)
        self._happened = np.empty(room)
        self._waits = self._events = self._written = 0
        self._foresees = False

    def attach(
        self,
        pace: Floats,
        recorded: NDArray[np.bool_],
        times: Floats,
        counts: NDArray[np.int64],
        random: NDArray[np.uint64],
    ) -> Self:
        """Its neurons are in these states: an old one, and room for a new one."""
        self.pace, self.recorded = pace, recorded
        self.times, self.counts, self.random = times, counts, random
        self._nobody = np.zeros(len(pace), np.bool_)
        return self

    def window(self, begin: float, end: float, old: int, record: bool, foresee: bool) -> bool:
        """Make all levels, if this is the only part; whether there was room."""
        tables = self.tables
        self._foresees = foresee
        self._events, self._written = make_window(
            self.levels, begin, end, old, self.pace, self.times, self.counts, self.random,
            tables.first, tables.limits, tables.targets, self._outbox, self._goals,
            self._inbox, self._begins, self.recorded if record else self._nobody, self._spikes,
            self._senders, self._happened if foresee else NOTHING,
        )  # fmt: skip
        return self._events >= 0

    def events(self, end: float, most: float, old: int, record: bool) -> float:
        """Make events from the queue until ``end``, or so many; up to which time they are made.

        This must be the only part.
        """
        tables = self.tables
        self._events, self._written, reached = queue_kernel.make_window(
            end, int(min(most, len(self._spikes))), old, self.pace, self.times, self.counts,
            self.random, tables.first, tables.limits, tables.targets,
            self.recorded if record else self._nobody, self._spikes, self._senders, *self._queue,
        )  # fmt: skip
        return float(reached)

    def share(
        self,
        me: int,
        begin: float,
        end: float,
        old: int,
        record: bool,
        foresee: bool,
        boxes: Piece,
        offsets: NDArray[np.int64],
        common: NDArray[np.int64],
    ) -> bool:
        """Make all levels while other threads make those of other parts; whether there was room."""
        tables = self.tables
        self._foresees = foresee
        self._events, self._written = make_share(
            me, common, *boxes, offsets, self.levels, begin, end, old, self.pace, self.times,
            self.counts, self.random, tables.first, tables.limits, tables.targets, self._waiting,
            self._waiting_goals, self._outbox, self._goals, self._inbox, self._begins,
            self.recorded if record else self._nobody, self._spikes, self._senders,
            self._happened if foresee else NOTHING, self._owners, self.starts,
        )  # fmt: skip
        return self._events >= 0

    def level(
        self,
        level: int,
        begin: float,
        end: float,
        old: int,
        record: bool,
        foresee: bool,
        pieces: Sequence[Piece],
        box: Piece,
    ) -> NDArray[np.int64] | None:
        """Make a level from ``pieces`` that have come from all parts; what is sent is in ``box``.

        That to part p is from the p-th to the next of the numbers returned; None: no room.
        """
        if level == 0:
            self._waits = self._events = self._written = 0
        self._foresees = foresee
        tables, offsets = self.tables, np.empty(len(self.starts), np.int64)
        if self._waits + sum(len(times) for times, _ in pieces) > len(self._waiting):
            return None
        for times, goals in pieces:
            here = slice(self._waits, self._waits + len(times))
            self._waiting[here], self._waiting_goals[here] = times, goals
            self._waits += len(times)
        self._waits, self._events, self._written = make_level(
            self.levels[level], self.levels[level + 1], begin, end, old, self.pace, self.times,
            self.counts, self.random, tables.first, tables.limits, tables.targets, self._waiting,
            self._waiting_goals, self._waits, self._outbox, self._goals, self._inbox, self._begins,
            self.recorded if record else self._nobody, self._spikes, self._senders, self._written,
            self._happened if foresee else NOTHING, self._events, self._owners, self.starts, *box,
            offsets,
        )  # fmt: skip
        return None if self._waits < 0 else offsets

    def made(self) -> Made:
        """What there was in the window that has just been made."""
        return Made(
            self._events,
            self._spikes[: self._written].copy(),
            self._senders[: self._written].astype(np.int64),
            self._happened[: self._events].copy() if self._foresees else NOTHING,
        )


class Parts:
    """All parts of a network, made by threads of this process, for one run at a time.

    Parameters
    ----------
    division : Division
        Which neurons are whose.
    window : int
        For so many events of a part in a window there is room, and for more.

    Attributes
    ----------
    aim : int
        How many events a window should have, all parts together.
    pace : ndarray of shape (n_neurons, 3)
        Mean times between firings, and between spikes from outside, of either kind.
    recorded : ndarray of bool of shape (n_neurons,)
        Whose spikes are recorded.
    times, counts, random : ndarray of shape (2, n_neurons, ...)
        States of the neurons, by the numbers of the division: that of now, and the one to come.
    sent : int
        Bytes of all spikes that went from one part to another.
    """

    states = 2

    def __init__(self, division: Division, window: int) -> None:
        self.division, self.room = division, 2 * window
        self.aim = window * division.n_parts
        n = len(division.order)
        self.pace = self._array((n, 3), np.float64)
        self.recorded = self._array((n,), np.bool_)
        self.times = self._array((self.states, n, 6), np.float64)
        self.counts = self._array((self.states, n, 4), np.int64)
        self.random = self._array((self.states, n, 2), np.uint64)
        self.now = self.sent = 0
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what was taken."""
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def state(self) -> tuple[Floats, NDArray[np.int64], NDArray[np.uint64]]:
        """That of now: times, counts, random numbers."""
        return self.times[self.now], self.counts[self.now], self.random[self.now]

    def told(self) -> None:
        """The state of now, the pace or who is recorded has been changed from outside."""

    def window(
        self, begin: float, end: float, record: bool, foresee: bool, most: float
    ) -> Made | None:
        """Make a window; None, if there was no room.

        With ``foresee`` there are the times of all events, and nothing has happened; nor has it if
        there are more than ``most`` events.
        """
        made = self._make(begin, end, record, foresee)
        if made is not None and not foresee and made.events <= most:
            self.now = 1 - self.now
        return made

    def from_queue(self, end: float, record: bool, most: float) -> tuple[Made, float]:
        """Make events of a network with cycles until ``end``, or so many; and up to which time."""
        (part,) = self._parts
        reached = part.events(end, min(most, self.aim), self.now, record)
        self.now = 1 - self.now
        return part.made(), reached

    def _array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Where states are kept."""
        return np.zeros(shape, dtype)

    def _start(self) -> None:
        """Make the parts."""
        division, count = self.division, self.division.n_parts
        self._parts = [
            Part(division.levels[p], division.starts, division.tables[p], self.room).attach(
                *(of_part(a, division.of_part(p)) for a in self._arrays)
            )
            for p in range(count)
        ]
        self._pool = None if count == 1 else ThreadPoolExecutor(count - 1)
        room = 0 if count == 1 else self.room
        self._mail = np.empty((count, 2, room)), np.empty((count, 2, room), np.int32)
        self._boxes = [Box(*both) for both in zip(*self._mail, strict=True)]
        self._density = 0.0  # events per unit time, lately

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.pace, self.recorded, self.times, self.counts, self.random

    def _make(self, begin: float, end: float, record: bool, foresee: bool) -> Made | None:
        """A window of all parts; None, if there was no room."""
        if self._pool is None:
            (part,) = self._parts
            return part.made() if part.window(begin, end, self.now, record, foresee) else None
        busy = self._density * (end - begin) >= SMALL
        made = (self._together if busy else self._by_level)(begin, end, record, foresee)
        self._density = 0.0 if made is None else made.events / (end - begin)
        return made

    def _together(self, begin: float, end: float, record: bool, foresee: bool) -> Made | None:
        """A window of all parts, by a thread for each."""
        assert self._pool is not None
        count, common = len(self._parts), meeting()
        offsets = np.zeros((self.division.n_levels, count, count + 1), np.int64)
        arguments = begin, end, self.now, record, foresee, self._mail, offsets, common
        try:
            submit = self._pool.submit
            others = [submit(self._parts[p].share, p, *arguments) for p in range(1, count)]
            mine = self._parts[0].share(0, *arguments)
        except BaseException:  # nobody waits for those who do not come
            common[FAILED] = 1
            raise
        if not all([mine, *(other.result() for other in others)]):
            return None
        counts = np.diff(offsets, axis=2)
        self.sent += SPIKE * int(counts.sum() - np.trace(counts, axis1=1, axis2=2).sum())
        return together(self._made(), self.division)

    def _by_level(self, begin: float, end: float, record: bool, foresee: bool) -> Made | None:
        """A window of all parts, level by level."""
        offsets = np.empty((0, 0), np.int64)
        for level in range(self.division.n_levels):
            found = self._level(level, begin, end, record, foresee, offsets)
            if any(ends is None for ends in found):
                return None
            offsets = np.stack(found)
            counts = np.diff(offsets, axis=1)
            self.sent += SPIKE * int(counts.sum() - np.trace(counts))
        return together(self._made(), self.division)

    def _level(
        self,
        level: int,
        begin: float,
        end: float,
        record: bool,
        foresee: bool,
        offsets: NDArray[np.int64],
    ) -> list[Any]:
        """A level of all parts, one after the other; see `Part.level`."""

        def make(p: int) -> NDArray[np.int64] | None:
            return self._parts[p].level(
                level, begin, end, self.now, record, foresee,
                pieces_for(p, level, self._boxes, offsets), self._boxes[p].slot(level),
            )  # fmt: skip

        return [make(p) for p in range(len(self._parts))]

    def _made(self) -> list[Made]:
        """What each part has made in this window."""
        return [part.made() for part in self._parts]


class Box(NamedTuple):
    """Spikes that a part has sent: in turn those of even and of odd levels, while others read."""

    times: Floats
    goals: NDArray[np.int32]

    @classmethod
    def of(cls, room: int) -> "Box":
        """An empty one."""
        return cls(np.empty((2, room)), np.empty((2, room), np.int32))

    def slot(self, level: int) -> Piece:
        """Where the spikes of a level are."""
        return self.times[level % 2], self.goals[level % 2]

    def piece(self, level: int, low: int, high: int) -> Piece:
        """Some of them."""
        return self.times[level % 2, low:high], self.goals[level % 2, low:high]


def pieces_for(
    part: int, level: int, boxes: Sequence[Box], offsets: NDArray[np.int64]
) -> list[Piece]:
    """Spikes that all parts have sent to one, before a level."""
    return [
        box.piece(level - 1, ends[part], ends[part + 1])
        for box, ends in zip(boxes, offsets, strict=level > 0)
    ]


def of_part(whole: NDArray[Any], numbers: slice) -> NDArray[Any]:
    """What an array has of some neurons; of two states, where it has two."""
    return whole[:, numbers] if whole.ndim == 3 else whole[numbers]


def together(made: Sequence[Made], division: Division) -> Made:
    """What all parts have made."""
    who = [found.who + division.starts[p] for p, found in enumerate(made)]
    return Made(
        sum(found.events for found in made),
        np.concatenate([found.when for found in made]),
        np.concatenate(who),
        np.concatenate([found.happened for found in made]),
    )
