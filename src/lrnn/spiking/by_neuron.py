"""Runs neuron by neuron, for networks without cycles: see `neuron_kernel`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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
    make_window,
)
from lrnn.spiking.plan import Plan, Statistics

WINDOW = 1 << 17  # events that are made at once, about: their spikes stay in the cache
NOTHING = np.empty(0)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MARGIN = (
    4.0  # standard deviations by which a window ends before, or behind, an event that is sought
)


@dataclass
class NeuronRun:
    """The state of one run; neurons are in the order of the wiring."""

    clock_type: ClassVar[type] = np.float64  # of times, as they are

    plan: Plan
    number: int
    times: Floats
    counts: NDArray[np.int64]
    random: NDArray[np.uint64]
    began: NDArray[np.int64]
    events: int = 0
    origin: float = 0.0
    frame: int = 0

    @classmethod
    def of(cls, plan: Plan, number: int) -> "NeuronRun":
        """A run at its beginning, the warm-up behind it."""
        n = plan.network.n_neurons
        streams = streams_of(plan.streams[number], plan.wiring.order)
        counts, began = np.zeros((n, 4), np.int64), np.zeros(n, np.int64)
        run = cls(plan, number, np.zeros((n, 6)), counts, streams, began)
        run.counts[:, POTENTIAL] = plan.first_potentials(number)[plan.wiring.order]
        begin(run._pace, run.times, run.counts, run.random)
        if plan.warm_up[run.row]:
            run.origin = float(plan.warm_up[run.row] / plan.tick_rates[run.row])
            for _ in run._until(run.origin, run._nobody, []):
                pass
            run.times[:, [AREA, BUSY]] = 0
            run.counts[:, [FIRED, REFUSED, LOST]] = 0
            run.events = 0
        run.began = run.counts[:, POTENTIAL].copy()
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
        return float(self.times[0, SINCE]) - self.origin

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
        return self._in_order(self.counts[:, POTENTIAL])

    @property
    def fired(self) -> NDArray[np.int64]:
        """Spikes that neurons have fired."""
        return self._in_order(self.counts[:, FIRED])

    @property
    def arrived(self) -> NDArray[np.int64]:
        """Excitatory spikes that arrived: those that left again, and those that are still there."""
        left = self.counts[:, FIRED] + self.counts[:, LOST]
        return self._in_order(left + self.counts[:, POTENTIAL] - self.began)

    def go_on(
        self, stop: float, recorded: NDArray[np.bool_] | None, spikes: list[Any]
    ) -> Iterator[float]:
        """Go on to a stop piece by piece, and tell how long each was."""
        recorded = self._nobody if recorded is None else recorded[self.plan.wiring.order]
        if self.plan.unit == "time":
            yield from self._until(stop + self.origin, recorded, spikes)
        else:
            yield from self._for_events(int(stop), recorded, spikes)

    def show(self, frame: int) -> None:
        """Go on with the arrivals of another frame: the next ones are drawn anew, as they may be.

        The time until the next spike of a Poisson process does not depend on the past.
        """
        self.frame = frame
        del self._pace
        draw_arrivals(self._pace, self.times, self.random)

    def write(self, statistics: Statistics, snapshot: int) -> None:
        """Put down what there is so far."""
        rate, ticks = self.plan.tick_rates[self.row], self.ticks
        sums = [self._in_order(self.times[:, kind]) * rate for kind in (AREA, BUSY)]
        sums += [self.arrived, self.fired]
        if self.plan.kinds > plans.INHIBITED:
            sums.append(self._in_order(self.counts[:, REFUSED]))
        statistics.write(snapshot, self.number, [ticks, self.events, ticks, ticks], *sums)

    def _until(self, end: float, recorded: NDArray[np.bool_], spikes: list[Any]) -> Iterator[float]:
        """Windows up to a time."""
        span = WINDOW / self._events_per_time
        while self.times[0, SINCE] < end:
            begin = self.times[0, SINCE]
            self._window(min(end, begin + span), recorded, spikes)
            yield float(self.times[0, SINCE] - begin)

    def _for_events(
        self, stop: int, recorded: NDArray[np.bool_], spikes: list[Any]
    ) -> Iterator[float]:
        """Windows up to an event, the last of which ends right after it."""
        while self.events < stop:
            before, left = self.events, stop - self.events
            spare = MARGIN * np.sqrt(left)
            begin = self.times[0, SINCE]
            sure = min(left - spare, WINDOW)
            if sure > left / 4:
                found = self._window(
                    begin + sure / self._events_per_time, recorded, spikes, most=left
                )
                if found >= 0:
                    yield float(self.events - before)
                    continue
            self._up_to(stop, begin + (left + spare) / self._events_per_time, recorded, spikes)
            yield float(self.events - before)

    def _up_to(self, stop: int, end: float, recorded: NDArray[np.bool_], spikes: list[Any]) -> None:
        """A window that ends right after an event, or before it at the given time."""
        kept = self._state()
        before, left = self.events, stop - self.events
        happened = np.empty(4 * left + 1024)
        found = self._window(end, self._nobody, [], happened=happened)
        end = float(self.times[0, SINCE])  # less far, if there was no room
        self._restore(kept)
        self.events = before
        if found >= left:
            end = float(np.nextafter(np.partition(happened[:found], left - 1)[left - 1], np.inf))
        self._window(end, recorded, spikes)

    def _window(
        self,
        end: float,
        recorded: NDArray[np.bool_],
        spikes: list[Any],
        most: int | None = None,
        happened: Floats = NOTHING,
    ) -> int:
        """Go on to a time, or less far if that is too much at once; how many events there were.

        If there are more than ``most`` events, nothing is done, and the answer is −1.
        """
        wiring, boxes = self.plan.wiring, self._boxes
        kept = self._state()
        while True:
            found, written = make_window(
                wiring.levels, end, self._pace, self.times, self.counts, self.random, wiring.first,
                wiring.limits, wiring.targets, boxes.outbox, boxes.goals, boxes.inbox, boxes.begins,
                recorded, boxes.spikes, boxes.senders, happened,
            )  # fmt: skip
            if found >= 0 and (most is None or found <= most):
                break
            self._restore(kept)
            if found >= 0:
                return -1
            end = (end + float(self.times[0, SINCE])) / 2  # no room for so many spikes
        self.events += found
        if written:
            when = boxes.spikes[:written] - self.origin
            order = np.argsort(when, kind="stable")
            who = wiring.order[boxes.senders[:written][order]]
            spikes.append((when[order], who.astype(np.int32)))
        return int(found)

    def _state(self) -> tuple[Any, ...]:
        return self.times.copy(), self.counts.copy(), self.random.copy()

    def _restore(self, kept: tuple[Any, ...]) -> None:
        for array, values in zip((self.times, self.counts, self.random), kept, strict=True):
            array[:] = values

    def _in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        found = np.empty_like(values)
        found[self.plan.wiring.order] = values
        return found

    @cached_property
    def _pace(self) -> Floats:
        """Mean times between firings, and between spikes from outside."""
        plan, order = self.plan, self.plan.wiring.order
        inhibitory, scene = plan.inhibitory_arrivals, plan.scene(self.row, self.frame)
        rates = [
            plan.network.rates,
            plan.arrivals[scene],
            np.zeros(len(order)) if inhibitory is None else inhibitory[scene],
        ]
        with np.errstate(divide="ignore"):
            return np.ascontiguousarray(1 / np.stack(rates, axis=1)[order])

    @cached_property
    def _nobody(self) -> NDArray[np.bool_]:
        """Whose spikes are recorded, if none are."""
        return np.zeros(len(self.times), dtype=np.bool_)

    @property
    def _events_per_time(self) -> float:
        return float(self.plan.happening[self.row])

    @cached_property
    def _boxes(self) -> "Boxes":
        levels = np.diff(self.plan.wiring.levels)
        return Boxes.of(2 * WINDOW, int(levels.max()))


@dataclass
class Boxes:
    """Where spikes are on their way: the times and the goals of those that were sent, inboxes."""

    outbox: Floats
    goals: NDArray[np.int32]
    inbox: Floats
    begins: NDArray[np.int64]
    spikes: Floats
    senders: NDArray[np.int32]

    @classmethod
    def of(cls, room: int, widest: int) -> "Boxes":
        """Empty ones."""
        return cls(
            outbox=np.empty(room),
            goals=np.empty(room, np.int32),
            inbox=np.empty(room),
            begins=np.empty(widest + 1, np.int64),
            spikes=np.empty(room),
            senders=np.empty(room, np.int32),
        )


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
