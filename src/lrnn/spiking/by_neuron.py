"""Runs neuron by neuron, for networks without cycles: see `neuron_kernel` and `parts`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.spiking import plan as plans
from lrnn.spiking.neuron_kernel import (
    AREA,
    BUSY,
    FIRED,
    LOST,
    POTENTIAL,
    REFUSED,
    SINCE,
    begin,
    draw_arrivals,
)
from lrnn.spiking.parts import Division, Made, Parts
from lrnn.spiking.plan import Plan, Statistics

WINDOW = 1 << 17  # events that a part makes at once, about: their spikes stay in the cache
LEAST_WINDOW = 1 << 10  # of short runs: they need less room
LEVEL = 1 << 11  # events of a level in a window that are worth several threads
QUEUED = 60  # nanoseconds of an event that is taken from a queue, and more in a long one
NEAR = 1 << 11  # events to a snapshot: it is looked for among their times
MARGIN = (
    4.0  # standard deviations by which a window ends before, or behind, an event that is sought
)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def parts_of(division: Division) -> Parts:
    """Parts of a network in this process."""
    return Parts(division, window_for(division.plan, WINDOW))


def window_for(plan: Plan, most: int) -> int:
    """Events of a window for which there is room: no more than runs have."""
    if plan.unit == "time":
        return most
    return min(most, max(LEAST_WINDOW, int(plan.snapshots[-1])))


def parts_for(plan: Plan, threads: int) -> int:
    """How many parts are worth making at once for one run, by so many threads."""
    events = plan.snapshots[-1] * (1 if plan.unit == "events" else plan.happening.max())
    worth = events > WINDOW and LEVEL * plan.wiring.n_levels <= WINDOW
    return threads if worth and not plan.wiring.cyclic else 1


def faster(n_neurons: int, events: float, rings: float, cyclic: bool = False) -> bool:
    """Whether a run of so many events is made faster neuron by neuron than clock by clock.

    ``rings`` is how often clocks would ring for each event. A ring takes longer where tables do
    not fit into the processor's caches; a window (there is one for each snapshot) takes some time
    for each neuron, also if it is at rest. All in nanoseconds, as measured.
    """
    ring = 7 * min(1 + n_neurons / 7_000, 15)
    windows = min(8 + events / 1_000, 40) + events / WINDOW
    event = QUEUED + 12 * np.log2(n_neurons + 1) if cyclic else 33
    return bool(rings > max(6, (event + windows * (60 * n_neurons + 30_000) / events) / ring))


@dataclass
class NeuronRun:
    """One run; its neurons' states are in its parts."""

    clock_type: ClassVar[type] = np.float64  # of times, as they are

    plan: Plan
    number: int
    parts: Parts
    began: NDArray[np.int64]
    time: float = 0.0
    origin: float = 0.0
    events: int = 0
    _aim: int = 0
    _asked: NDArray[np.bool_] | None = None  # whose spikes are recorded
    _ahead: Floats = field(default_factory=lambda: np.empty(0))  # times of events to come, sorted
    _ahead_of: int = 0  # how many events there were before these
    _horizon: float = 0.0  # up to where they are all known

    @classmethod
    def of(cls, plan: Plan, number: int, parts: Parts | None = None) -> "NeuronRun":
        """A run at its beginning, the warm-up behind it."""
        parts = parts or parts_of(Division.of(plan, 1))
        order = parts.division.order
        run = cls(plan, number, parts, np.zeros(len(order), np.int64), _aim=parts.aim)
        times, counts, random = parts.state
        times[:], counts[:] = 0, 0
        counts[:, POTENTIAL] = plan.first_potentials(number)[order]
        random[:] = streams_of(plan.streams[number], order)
        parts.pace[:] = pace_of(plan, plan.scene(run.row), order)
        parts.recorded[:] = False
        begin(parts.pace, times, counts, random)
        parts.told()
        if plan.warm_up[run.row]:
            run.origin = float(plan.warm_up[run.row])
            for _ in run._until(run.origin, []):
                pass
            times, counts, _ = parts.state
            times[:, [AREA, BUSY]], times[:, SINCE] = 0, run.origin
            counts[:, [FIRED, REFUSED, LOST]] = 0
            parts.told()
            run.events = 0
        run.began = parts.state[1][:, POTENTIAL].copy()
        return run

    @property
    def row(self) -> int:
        """Which row of arrivals it is a replica of."""
        return self.number // self.plan.replicas

    @property
    def stops(self) -> NDArray[Any]:
        """Events, or times, at which there is something to write down."""
        return self.plan.stops

    @property
    def now(self) -> float:
        """Simulated time."""
        return self.time - self.origin

    @property
    def reached(self) -> float:
        """How far it has got: events, or time."""
        return self.now if self.plan.unit == "time" else self.events

    @property
    def ticks(self) -> int:
        """The time, in small units."""
        return round(self.now * float(self.plan.tick_rates[self.row]))

    @property
    def potentials(self) -> NDArray[np.int64]:
        """All potentials now."""
        return self._in_order(self._counted(POTENTIAL))

    @property
    def fired(self) -> NDArray[np.int64]:
        """Spikes that neurons have fired."""
        return self._in_order(self._counted(FIRED))

    @property
    def arrived(self) -> NDArray[np.int64]:
        """Excitatory spikes that arrived: those that left again, and those that are still there."""
        left = self._counted(FIRED) + self._counted(LOST)
        return self._in_order(left + self._counted(POTENTIAL) - self.began)

    def go_on(
        self, stop: float, recorded: NDArray[np.bool_] | None, spikes: list[Any]
    ) -> Iterator[float]:
        """Go on to a stop piece by piece, and tell how long each was."""
        if recorded is not self._asked:
            self._asked = recorded
            order = self.parts.division.order
            self.parts.recorded[:] = False if recorded is None else recorded[order]
            self.parts.told()
        if self.plan.unit == "time":
            yield from self._until(stop + self.origin, spikes)
        elif self.plan.wiring.cyclic:
            yield from self._from_queue(np.inf, int(stop), spikes)
        else:
            yield from self._for_events(int(stop), spikes)

    def show(self, frame: int) -> None:
        """Go on with the arrivals of another frame: the next ones are drawn anew, as they may be.

        The time until the next spike of a Poisson process does not depend on the past.
        """
        times, _, random = self.parts.state
        order = self.parts.division.order
        self.parts.pace[:] = pace_of(self.plan, self.plan.scene(self.row, frame), order)
        draw_arrivals(self.time, self.parts.pace, times, random)
        self.parts.told()

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        rate, ticks = self.plan.tick_rates[self.row], self.ticks
        times, potential = self.parts.state[0], self._counted(POTENTIAL)
        since = self.time - times[:, SINCE]
        sums = [
            self._in_order(times[:, AREA] + potential * since) * rate,
            self._in_order(times[:, BUSY] + (potential > 0) * since) * rate,
            self.arrived,
            self.fired,
        ]
        if self.plan.kinds > plans.INHIBITED:
            sums.append(self._in_order(self._counted(REFUSED)))
        statistics.write(snapshot, self.number, [ticks, self.events, ticks, ticks], *sums)

    def _from_queue(self, end: float, stop: float, spikes: list[Any]) -> Iterator[float]:
        """Events one after the other, up to a time or an event, where there are cycles."""
        by_time = self.plan.unit == "time"
        while self.time < end and self.events < stop:
            time, events = self.time, self.events
            made, reached = self.parts.from_queue(end, self._asked is not None, stop - self.events)
            self._add(made, reached, spikes)
            yield self.time - time if by_time else float(self.events - events)

    def _until(self, end: float, spikes: list[Any]) -> Iterator[float]:
        """Windows up to a time."""
        if self.plan.wiring.cyclic:
            yield from self._from_queue(end, np.inf, spikes)
        while self.time < end:
            begin = self.time
            self._window(min(end, begin + self._aim / self._events_per_time), spikes)
            yield self.time - begin

    def _for_events(self, stop: int, spikes: list[Any]) -> Iterator[float]:
        """Windows up to an event, the last of which ends right after it."""
        near = NEAR + len(self.began)
        while self.events < stop:
            before, left = self.events, stop - self.events
            if stop - self._ahead_of <= len(self._ahead):
                last = self._ahead[stop - self._ahead_of - 1]
                self._window(float(np.nextafter(last, np.inf)), spikes)
            elif self.time < self._horizon:
                self._window(self._horizon, spikes)
            elif left <= near:
                self._look_ahead(max(stop, self._last_before(self.events + near)))
            else:
                sure = min(left - MARGIN * np.sqrt(left), self._aim)
                end = self.time + sure / self._events_per_time
                if not self._window(end, spikes, most=left):
                    self._look_ahead(min(stop, self.events + self._aim))
            if self.events > before:
                yield float(self.events - before)

    def _last_before(self, event: int) -> int:
        """The last stop that is not behind an event; 0, if there is none."""
        place = int(np.searchsorted(self.stops, event, side="right"))
        return int(self.stops[place - 1]) if place else 0

    def _look_ahead(self, event: int) -> None:
        """Find out when the events to come happen, up to one, or less far."""
        left = event - self.events
        end = self.time + (left + MARGIN * np.sqrt(left)) / self._events_per_time
        made, self._horizon = self._made(end, False, foresee=True)
        self._ahead, self._ahead_of = np.sort(made.happened), self.events

    def _window(self, end: float, spikes: list[Any], most: float = np.inf) -> bool:
        """Go on to a time, or less far if that is too much at once.

        If there are more than ``most`` events, nothing is done, and the answer is False.
        """
        made, end = self._made(end, self._asked is not None, most=most)
        if made.events > most:
            return False
        self._add(made, end, spikes)
        return True

    def _add(self, made: Made, end: float, spikes: list[Any]) -> None:
        """Count what there was in a window, and keep its recorded spikes."""
        self.time = end
        self.events += made.events
        if len(made.when):
            division = self.parts.division
            order = np.lexsort((division.ranks[made.who], made.when))
            who = division.order[made.who[order]].astype(np.int32)
            spikes.append((made.when[order] - self.origin, who))

    def _made(
        self, end: float, record: bool, foresee: bool = False, most: float = np.inf
    ) -> tuple[Made, float]:
        """A window, and where it ends: before the time given, if there is no room for so much."""
        while True:
            made = self.parts.window(self.time, end, record, foresee, most)
            if made is not None:
                return made, end
            end = (self.time + end) / 2
            self._aim = max(1, self._aim // 2)

    def _counted(self, kind: int) -> NDArray[np.int64]:
        return self.parts.state[1][:, kind]

    def _in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        found = np.empty_like(values)
        found[self.parts.division.order] = values
        return found

    @property
    def _events_per_time(self) -> float:
        return float(self.plan.happening[self.row])


def pace_of(plan: Plan, scene: int, order: NDArray[np.int64]) -> Floats:
    """Mean times between firings, and between spikes from outside, of neurons in an order."""
    minus = plan.inhibitory_arrivals
    rates = np.zeros((len(order), 3))
    rates[:, 0] = plan.network.rates[order]
    rates[:, 1] = plan.arrivals[scene, order]
    if minus is not None:
        rates[:, 2] = minus[scene, order]
    with np.errstate(divide="ignore"):
        return np.divide(1.0, rates)


def streams_of(run: NDArray[np.uint64], neurons: NDArray[np.int64]) -> NDArray[np.uint64]:
    """States that the random numbers of neurons begin with: hashes of the run's and their number.

    SplitMix64 (Steele, Lea & Flood, 2014), which the authors of the generator recommend for this.
    """
    found = np.empty((len(neurons), 2), dtype=np.uint64)
    for half in range(2):
        z = run[half] + (2 * neurons.astype(np.uint64) + np.uint64(half + 1)) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found[:, half] = z ^ (z >> np.uint64(31))
    return found
