"""What came out of a simulation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork, SteadyState
from lrnn.notebook import table
from lrnn.spiking.estimators import (
    Estimator,
    batch_ends,
    check_estimator,
    probability,
    ratio,
    spread,
)
from lrnn.spiking.plan import (
    ARRIVED,
    BUSY,
    EVENTS,
    FIRED,
    INHIBITED,
    LOOKS,
    OBSERVATIONS,
    OBSERVED,
    SEEN,
    TICKS,
)
from lrnn.spiking.raster import Raster

NEVER = 1e-100  # the rate of a neuron that does not fire: one spike is more than it can handle


@dataclass(frozen=True)
class Trace:
    """All potentials added up, in the course of time."""

    times: Floats
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class Convergence:
    """How the error to the numeric solution falls.

    Attributes
    ----------
    events : ndarray of shape (n_snapshots,)
        Events per run, on average.
    layers : tuple of str
        Names of the layers: "input", "hidden", …, "output"; or "all".
    errors : ndarray of shape (n_snapshots, n_layers)
        Root mean square error over a layer's neurons (and all rows).
    """

    events: Floats
    layers: tuple[str, ...]
    errors: Floats

    @property
    def milestones(self) -> list[int]:
        """Which snapshots are after a power of ten of events, and the last."""
        tens = [i for i, e in enumerate(self.events) if np.isclose(e, 10 ** np.round(np.log10(e)))]
        return sorted({*tens, len(self.events) - 1}) if len(self.events) else []

    def lines(self) -> list[list[str]]:
        """Errors at these, as a table for a person has them; see `header`."""
        return [
            [f"{self.events[i]:,.0f}", *(f"{error:.4f}" for error in self.errors[i])]
            for i in self.milestones
        ]

    @property
    def header(self) -> list[str]:
        """What is in the columns of that table."""
        return ["events", *(f"{name} RMSE" for name in self.layers)]

    def _repr_html_(self) -> str:
        return table("", self.header, self.lines())


@dataclass(frozen=True, eq=False)
class Simulation:
    """Estimates from a simulation; made by :meth:`lrnn.RandomNeuralNetwork.simulate`.

    Arrays have the shape of the arrivals. Where there are replicas, counts and times are those of
    all of them together, and estimates are from all of them together.

    Attributes
    ----------
    network : RandomNeuralNetwork
        What was simulated.
    replicas : int
        How many independent runs there are for each row of arrivals.
    unit : {"events", "time"}
        What the length of the simulation and its snapshots are measured in.
    snapshots : ndarray of shape (n_snapshots,)
        Where `at` can go back to.
    interrupted : bool
        Whether it was stopped before its end. Runs have then come to different points.
    steady : SteadyState
        The numeric activations that the estimates converge to.
    saturated : ndarray of bool
        Neurons whose potential grows without bound; their estimates tend to 1.
    short : ndarray of bool
        Neurons for which the simulated time is too short: their estimates may be far off.
    arrival_counts, firing_counts : ndarray of int64
        Spikes that each neuron received (excitatory) and fired. (In what `at` gives, numbers
        above 16 million are rounded to 24 bits.)
    raster : Raster or None
        Spikes of the recorded neurons, in all runs. (All of them also in what `at` gives.)
    trace : Trace or None
        All potentials of the first run added up, in the course of time.
    """

    network: RandomNeuralNetwork
    replicas: int
    unit: str
    snapshots: NDArray[Any]
    interrupted: bool
    arrival_counts: NDArray[np.int64]
    firing_counts: NDArray[np.int64]
    raster: Raster | None
    trace: Trace | None
    _steady: SteadyState
    _counts: NDArray[np.int64]
    _sums: NDArray[np.float32]
    _times: Floats
    _total_rates: Floats
    _every: int | None
    _one: bool
    _enough: Floats
    _begun: Floats | None

    @property
    def events(self) -> Any:
        """Events so far: spikes from outside and firings."""
        return self._of_row(self._per_row(self._counts[-1, EVENTS]).sum(axis=1))[()]

    @property
    def observations(self) -> Any:
        """How often all potentials were observed."""
        return self._of_row(self._per_row(self._counts[-1, OBSERVATIONS]).sum(axis=1))[()]

    @property
    def time(self) -> Any:
        """Simulated time."""
        return self._of_row(self._per_row(self._times[-1]).sum(axis=1))[()]

    @property
    def mean_potential(self) -> Floats:
        """Potentials, averaged over the observations."""
        return self._of_row(ratio(*self._samples("potential", -1, pooled=True)))

    @property
    def steady(self) -> SteadyState:
        """The numeric activations."""
        return self._steady[0] if self._one else self._steady

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Neurons whose potential grows without bound."""
        return np.asarray(self.steady.saturated)

    @property
    def short(self) -> NDArray[np.bool_]:
        """Neurons for which the simulated time is too short."""
        return self._of_row(self._shares < 1)

    @cached_property
    def _shares(self) -> Floats:
        """Simulated time as a share of a time long enough; of one run, if that began at rest."""
        times = self._per_row(self._times[-1])
        spent = times.sum(axis=1)
        if self._begun is not None:
            spent = np.minimum(spent, times.mean(axis=1) + self._begun)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # or never begun: 0/0
            return np.asarray(np.where(self._enough > 0, spent[:, None] / self._enough, np.inf))

    def activation(self, estimator: Estimator = "potential") -> Floats:
        r"""Estimated probability of each neuron to be excited.

        Parameters
        ----------
        estimator : {"potential", "busy", "arrivals", "events"}, default="potential"
            From the mean potential, :math:`\bar k/(1+\bar k)`; from the share of time for which the
            neuron was excited; or from the spikes that it received, over those that it could
            have handled: the most accurate, as a rule. "events" is :math:`\bar k/(1+\bar k)` with
            potentials seen right after every so many events, to the letter of the paper; it is
            biased (see docs/spiking.md), and needs ``at_events=True`` in the simulation.
        """
        check_estimator(estimator)
        self._seen(estimator)
        value = ratio(*self._samples(estimator, -1, pooled=True))
        return self._of_row(probability(value, estimator))

    def confidence_interval(
        self, level: float = 0.95, estimator: Estimator = "potential"
    ) -> tuple[Floats, Floats]:
        """Lower and upper ends of intervals that contain the activation with probability ``level``.

        From the spread between replicas or, where there is one run only, between its parts from
        snapshot to snapshot (batch means). Each holds for its neuron alone. Where no spike has
        arrived at all, the upper end is what would still have let none arrive with probability
        ``1 - level``. (The intervals of "events" are around what that converges to.)
        """
        check_estimator(estimator)
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        self._seen(estimator)
        numerator, denominator = self._samples(estimator, -1)
        if len(numerator) < 2:
            raise ValueError(
                "an interval needs two samples or more, and there is a single run with a single "
                "snapshot; simulate with replicas, longer, or with more snapshot_bytes"
            )
        value, half = ratio(numerator, denominator), spread(numerator, denominator, level)
        low, high = (probability(value + sign * half, estimator) for sign in (-1, 1))
        arrived, could = self._samples("arrivals", -1, pooled=True)
        with np.errstate(divide="ignore"):
            unseen = np.minimum(-np.log1p(-level) / could.sum(axis=0), 1)
        excitable = np.asarray(self._steady) > 0
        high = np.where((arrived.sum(axis=0) == 0) & excitable, np.fmax(high, unseen), high)
        return self._of_row(low), self._of_row(high)

    def coverage(self, level: float = 0.95, estimator: Estimator = "arrivals") -> float:
        """Share of the unsaturated neurons whose confidence interval holds the numeric value."""
        low, high = self.confidence_interval(level, estimator)
        exact = np.asarray(self.steady)
        held = ((low <= exact) & (exact <= high))[~self.saturated]
        return float(held.mean()) if held.size else np.nan

    def at(self, moment: float) -> "Simulation":
        """The simulation as it stood after so many events (or so much time) of each run."""
        found = np.flatnonzero(np.isclose(self.snapshots, moment, rtol=1e-12, atol=0))
        if not len(found):
            near = self.snapshots[np.argsort(np.abs(self.snapshots - moment))[:4]]
            raise ValueError(
                f"there is no snapshot at {moment!r} {self.unit}; the nearest are at "
                f"{', '.join(f'{m:g}' for m in np.sort(near))} (see .snapshots)"
            )
        upto = slice(found[0] + 1)
        counts = self._sums[found[0], [ARRIVED, FIRED]].astype(np.int64)
        arrived, fired = (self._of_row(self._per_row(c).sum(axis=1)) for c in counts)
        return replace(
            self,
            arrival_counts=arrived,
            firing_counts=fired,
            snapshots=self.snapshots[upto],
            _counts=self._counts[upto],
            _sums=self._sums[upto],
            _times=self._times[upto],
        )

    def compare(
        self, q: ArrayLike | None = None, estimator: Estimator = "potential"
    ) -> Convergence:
        """Error to the numeric solution, layer by layer, at every snapshot.

        ``q`` is the numeric solution; by default the network's steady state.
        """
        check_estimator(estimator)
        exact = np.atleast_2d(np.asarray(self._steady if q is None else q, dtype=np.float64))
        if exact.shape[-1] != self.network.n_neurons:
            raise ValueError(
                f"q has {exact.shape[-1]} columns, but there are {self.network.n_neurons} neurons"
            )
        errors, events = [], []
        for snapshot in range(len(self.snapshots)):
            value = ratio(*self._samples(estimator, snapshot, pooled=True))
            if np.isnan(value).any():
                continue  # nothing was observed so early
            squares = (probability(value, estimator) - exact) ** 2
            errors.append([float(np.sqrt(layer.mean())) for layer in self._layers(squares)])
            events.append(float(self._counts[snapshot, EVENTS].mean()))
        return Convergence(np.array(events), self.layer_names, np.array(errors))

    @property
    def layer_names(self) -> tuple[str, ...]:
        """What layers are called."""
        return self.network.layer_names

    def _repr_html_(self) -> str:
        found = self.compare()
        return table(repr(self), found.header, found.lines())

    def __repr__(self) -> str:
        runs = len(self._counts[0, 0])
        how = " (interrupted)" if self.interrupted else ""
        return (
            f"{type(self).__name__}({runs} {'run' if runs == 1 else 'runs'} of "
            f"{self.network.n_neurons} neurons, {int(self._counts[-1, EVENTS].sum()):,} events"
            f"{how})"
        )

    def _layers(self, values: Floats) -> Sequence[Floats]:
        return [values] if self.layer_names == ("all",) else self.network.split(values)

    def _per_row(self, values: Any) -> Any:
        """Values of runs as rows × replicas."""
        return values.reshape(-1, self.replicas, *values.shape[1:])

    def _of_row(self, values: Any) -> NDArray[Any]:
        return np.asarray(values[0] if self._one else values)

    def _seen(self, estimator: Estimator) -> None:
        if estimator == "potential" and not self._counts[-1, OBSERVATIONS].any():
            raise ValueError(
                "the potentials were not observed yet; simulate longer, or lower observe_every"
            )
        if estimator == "events":
            if self._every is None:
                raise ValueError(
                    "the potentials were not observed after events; simulate with at_events=True"
                )
            if self._counts[-1, EVENTS].max() < self._every:
                raise ValueError(
                    f"there were fewer than {self._every} events, and nothing was observed yet; "
                    "simulate longer, or lower observe_every"
                )

    def _samples(
        self, estimator: Estimator, snapshot: int, pooled: bool = False
    ) -> tuple[Floats, Floats]:
        """Numerator and denominator of an estimator: samples × rows × neurons.

        Samples are the replicas or, of a single run, its parts between snapshots.
        """
        if self.replicas == 1 and not pooled:
            sums = self._ratio(estimator, batch_ends(self._counts[:, TICKS].mean(axis=1)))
            numerator, denominator = (np.diff(values, axis=0, prepend=0) for values in sums)
            return numerator, denominator
        numerator, denominator = self._ratio(estimator, [snapshot])
        return tuple(np.moveaxis(self._per_row(v[0]), 1, 0) for v in (numerator, denominator))

    def _ratio(self, estimator: Estimator, part: Any) -> tuple[Floats, Floats]:
        """Numerator and denominator, snapshots × runs × neurons, of all up to each snapshot."""
        kind, counted = {
            "potential": (OBSERVED, OBSERVATIONS),
            "busy": (BUSY, LOOKS),
            "arrivals": (ARRIVED, TICKS),
            "events": (SEEN, EVENTS),
        }[estimator]
        if kind == SEEN and self._every is None:
            nothing = np.zeros_like(self._sums[part, OBSERVED], dtype=np.float64)
            return nothing, nothing
        numerator = self._sums[part, kind].astype(np.float64)
        denominator = self._counts[part, counted][..., None].astype(np.float64)
        if estimator == "events":
            denominator //= self._every
        if estimator == "arrivals":
            rates = np.repeat(self._total_rates, self.replicas)[:, None]
            denominator = denominator / rates * np.maximum(self.network.rates, NEVER)
            if self._sums.shape[1] > INHIBITED:
                denominator = denominator + self._sums[part, INHIBITED]
        return numerator, np.broadcast_to(denominator, numerator.shape)
