"""What came out of a simulation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

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
from lrnn.spiking.uncertainty import Uncertainty, count_interval
from lrnn.spiking.until import (
    UNBIASED,
    Decision,
    Lead,
    Precision,
    SpikeCount,
    Until,
    lead_of,
)

CELLS_AT_ONCE = 1 << 20  # of rows and neurons, where theory is asked
ENOUGH_REPLICAS = 10  # for the spread between them to be known
NEVER = 1e-100  # the rate of a neuron that does not fire: one spike is more than it can handle


@dataclass(frozen=True)
class Trace:
    """All potentials added up, in the course of time."""

    times: Floats
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class Transient:
    """Activations in the course of time: shares of replicas in which neurons were excited.

    Attributes
    ----------
    moments : ndarray of shape (n_moments,)
        After how many events, or how much time.
    neurons : ndarray of shape (n_watched,)
        Whose.
    activation, low, high : ndarray of shape (n_moments, [n_rows,] n_watched)
        Shares, and ends of their confidence intervals (Clopper and Pearson's, which hold exactly);
        NaN where no run got so far.
    """

    moments: NDArray[Any]
    neurons: NDArray[np.intp]
    activation: Floats
    low: Floats
    high: Floats


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
        """Errors at these, as a table for a person has them; see `header`.

        Returns
        -------
        lines : list of list of str
            Cells, line by line.
        """
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
    until : Precision, Decision, SpikeCount or None
        What was to be known. Rows of arrivals for which it was known have ended there; what later
        snapshots show of them is what they had come to.
    watched, moments : ndarray
        Neurons that were watched, and after how many events, or how much time.
    potentials : ndarray of int64 of shape (n_moments, [n_rows,] replicas, n_watched) or None
        What their potentials were; −1 where a run did not get so far.
    frames : ndarray of shape (n_frames,) or None
        When the frames of a film ended. Arrays then have the shape of one of its frames, except
        for `steady` and `saturated`, which have that of all of them.
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
    until: Until | None
    watched: NDArray[np.intp]
    moments: NDArray[Any]
    potentials: NDArray[np.int64] | None
    frames: Floats | None
    _steady: SteadyState
    _counts: NDArray[np.int64]
    _sums: NDArray[np.float32]
    _times: Floats
    _total_rates: Floats
    _every: int | None
    _one: bool
    _theory: Uncertainty | None
    _reviews: int
    _stopped: NDArray[np.intp]
    _from: float = 0

    @property
    def events(self) -> Any:
        """How many events there were: spikes that came from outside, and firings of any neuron.

        One number for each row of arrivals, of all replicas together.
        """
        return self._of_row(self._per_row(self._counts[-1, EVENTS]).sum(axis=1))[()]

    @property
    def observations(self) -> Any:
        """How often all potentials were observed (in small units of time, if without a break)."""
        return self._of_row(self._per_row(self._counts[-1, OBSERVATIONS]).sum(axis=1))[()]

    @property
    def time(self) -> Any:
        """Simulated time, in the unit of the rates: excited, a neuron of rate 1 fires once in it.

        (On average.) One number for each row of arrivals, of all replicas together.
        """
        return self._of_row(self._per_row(self._times[-1]).sum(axis=1))[()]

    @property
    def mean_potential(self) -> Floats:
        """Potentials (spikes that wait in a neuron), averaged over the observations.

        It tends to q/(1−q); of a saturated neuron it grows as long as one simulates.
        """
        return self._of_row(ratio(*self._samples("potential", -1, pooled=True)))

    @property
    def steady(self) -> SteadyState:
        """What the estimates tend to: the steady state of the network, solved numerically.

        Of a film, that of each frame if it went on for ever.
        """
        if self.frames is None or len(self.frames) == 1:
            return self._steady[0] if self._one else self._steady
        shape = (len(self.frames), self.network.n_neurons)
        films: Any = self._steady.reshape(-1, *shape)
        return cast(SteadyState, films[0] if self._one else films)

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Neurons whose potential grows without bound."""
        return np.asarray(self.steady.saturated)

    @property
    def short(self) -> NDArray[np.bool_]:
        """Neurons for which the simulated time is too short.

        Either their estimates may be far off, or their bias is more than half of what chance
        explains, so that their intervals may miss. The time that is long enough follows from
        theory: from how long the network remembers its beginning. A film is never too short.
        """
        return self._of_row(self._short)

    @property
    def _short(self) -> NDArray[np.bool_]:
        found = self._shares < 1
        for estimator in UNBIASED:
            found |= self._biased(estimator)
        return np.asarray(found)

    def _biased(self, estimator: Estimator) -> NDArray[np.bool_]:
        """Where an interval may not hold because of the bias of its estimate."""
        if self._theory is None:
            return np.zeros((len(self._stopped), self.network.n_neurons), dtype=np.bool_)
        return self._by_blocks(lambda theory, times: theory.biased(estimator, times))

    def _by_blocks(self, ask: Callable[[Uncertainty, Floats], NDArray[Any]]) -> NDArray[Any]:
        """What theory says of runs of these times, some rows at a time: it takes room."""
        assert self._theory is not None
        times, count = self._expected_times, len(self._stopped)
        height = max(1, CELLS_AT_ONCE // self.network.n_neurons)
        if count <= height:
            return ask(self._theory, times)
        parts = [slice(first, first + height) for first in range(0, count, height)]
        return np.concatenate([ask(self._theory.rows(part), times[part]) for part in parts])

    @property
    def _expected_times(self) -> Floats:
        """Times of runs, rows × replicas; on average, where runs end after so many events.

        For what they happen to take is not independent of what is estimated from them.
        """
        if self.unit == "time" or self._theory is None:
            return np.asarray(self._per_row(self._times[-1]))
        return np.asarray(self._per_row(self._counts[-1, EVENTS]) / self._theory.pace)

    @property
    def _run_times(self) -> Floats:
        """Times of runs, as ticks tell them: rows × replicas."""
        return np.asarray(self._per_row(self._counts[-1, TICKS]) / self._total_rates[:, None])

    @cached_property
    def _shares(self) -> Floats:
        """Simulated time as a share of a time long enough: of all runs together, or of each."""
        if self._theory is None:
            return np.full((len(self._stopped), self.network.n_neurons), np.inf)
        return self._by_blocks(lambda theory, times: theory.shares(times))

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

        Returns
        -------
        activation : ndarray
            Of the shape of the arrivals.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> result = network.simulate([0.5], events=100_000, random_state=0)
        >>> result.activation("arrivals").round(1)
        array([0.5])
        """
        check_estimator(estimator)
        self._seen(estimator)
        value = ratio(*self._samples(estimator, -1, pooled=True))
        return self._of_row(probability(value, estimator))

    def confidence_interval(
        self, level: float = 0.95, estimator: Estimator = "arrivals"
    ) -> tuple[Floats, Floats]:
        """Lower and upper ends of intervals that contain the activation with probability ``level``.

        From the spread between replicas or, where there is one run only (with ``until``, fewer than
        ten), between its parts from snapshot to snapshot (batch means); from 0 to 1 where that is
        unknown. An interval is never narrower than theory predicts, and is extended by the bias of
        runs that begin empty or end with an event. Intervals of neurons that are marked as
        `short` may miss. Each holds for its neuron alone. (The intervals of "events" are around
        what that converges to.)

        In a simulation with ``until`` they hold for wherever it has ended: they allow for the K
        times that it might have, by a level of 1 − (1 − level)/K each.

        Parameters
        ----------
        level : float, default=0.95
            The probability.
        estimator : {"potential", "busy", "arrivals", "events"}, default="arrivals"
            As for :meth:`activation`; the intervals of "arrivals" are the narrowest, and hold best.

        Returns
        -------
        lower, upper : ndarray
            Of the shape of the arrivals.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> result = network.simulate([0.5], events=100_000, random_state=0)
        >>> lower, upper = result.confidence_interval(0.99)
        >>> bool(lower[0] < 0.5 < upper[0])
        True
        """
        check_estimator(estimator)
        _check_level(level)
        self._seen(estimator)
        if self.frames is not None and self.replicas == 1:
            raise ValueError(
                "an interval of a film needs replicas, for what comes later has other arrivals; "
                "simulate with replicas=2 or more"
            )
        if len(self._samples(estimator, -1)[0]) < 2:
            raise ValueError(
                "an interval needs two samples or more, and this is a single run, which its "
                "snapshots do not part; simulate with replicas, with snapshots all along the run, "
                "or with more snapshot_bytes"
            )
        low, high = self._interval(level, estimator)
        return self._of_row(low), self._of_row(high)

    def _interval(self, level: float, estimator: Estimator) -> tuple[Floats, Floats]:
        """The same, rows × neurons; from 0 to 1 where nothing is known."""
        numerator, denominator = self._samples(estimator, -1)
        level = 1 - (1 - level) / self._reviews
        value, half = ratio(numerator, denominator), spread(numerator, denominator, level)
        low, high = value - half, value + half
        if self._theory is not None:
            least, most = self._by_theory(level, estimator)
            low, high = np.minimum(low, least), np.maximum(high, most)
        low, high = (np.asarray(probability(end, estimator)) for end in (low, high))
        low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
        if self._theory is not None:
            return low, np.where(self._theory.q < 1, high, 1.0)
        arrived, could = self._samples("arrivals", -1, pooled=True)
        with np.errstate(divide="ignore"):
            unseen = np.minimum(-np.log1p(-level) / could.sum(axis=0), 1)
        excitable = (self._per(self._steady, self._n_frames) > 0).any(axis=1)
        high = np.where((arrived.sum(axis=0) == 0) & excitable, np.fmax(high, unseen), high)
        return low, high

    def _by_theory(self, level: float, estimator: Estimator) -> tuple[Floats, Floats]:
        """What no interval is narrower than, with the bias of runs that are short."""
        assert self._theory is not None
        value = ratio(*self._samples(estimator, -1, pooled=True))
        times = self._run_times
        dispersion, bias = (
            self._theory.dispersion(estimator), self._theory.bias(estimator, times.mean(axis=1))
        )  # fmt: skip
        low, high = count_interval(value, times.sum(axis=1), dispersion, level)
        return low + np.minimum(bias, 0), high + np.maximum(bias, 0)

    def coverage(self, level: float = 0.95, estimator: Estimator = "arrivals") -> float:
        """Share of the unsaturated neurons whose confidence interval holds the numeric value.

        Parameters
        ----------
        level : float, default=0.95
            Of the intervals.
        estimator : {"potential", "busy", "arrivals", "events"}, default="arrivals"
            As for :meth:`activation`.

        Returns
        -------
        share : float
            Near ``level``, if the intervals are what they claim to be.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> network.simulate([0.5], events=100_000, random_state=0).coverage(0.99)
        1.0
        """
        self._check_one_steady_state()
        low, high = self.confidence_interval(level, estimator)
        exact = np.asarray(self.steady)
        held = ((low <= exact) & (exact <= high))[~self.saturated]
        return float(held.mean()) if held.size else np.nan

    def at(self, moment: float) -> "Simulation":
        """The simulation as it stood after so many events (or so much time) of each run.

        Parameters
        ----------
        moment : float
            One of ``snapshots``.

        Returns
        -------
        result : Simulation
            Of what had happened by then.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> network.simulate([0.5], events=100_000, random_state=0).at(1_000)
        Simulation(1 run of 1 neurons, 1,000 events)
        """
        return self._part(-1, self._place(moment))

    def between(self, begin: float, end: float) -> "Simulation":
        """What happened from one snapshot to another; 0 is the beginning.

        So ``between(begin, end).activation()`` is the activation in that time. In a film, from the
        end of one frame to that of the next, it is that under this frame's arrivals, and `steady`
        is what it would tend to if the frame went on.

        Parameters
        ----------
        begin, end : float
            Two of ``snapshots``, or 0 and one of them.

        Returns
        -------
        result : Simulation
            Of what happened in between.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> result = network.simulate([0.5], events=3_000, snapshots=[1_000, 3_000], random_state=0)
        >>> int(result.between(1_000, 3_000).events)
        2000
        """
        if not begin < end:
            raise ValueError(f"between({begin!r}, {end!r}) must be two moments, the later one last")
        first = -1 if begin == self._from else self._place(begin)
        last = self._place(end)
        return self._part(first, last)

    def frame(self, number: int) -> "Simulation":
        """What happened in a frame of a film; they are numbered from 0.

        Parameters
        ----------
        number : int
            Which.

        Returns
        -------
        result : Simulation
            Of what happened while it was shown.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> film = network.simulate([[0.8], [0.1]], frames=2_000.0, random_state=0)
        >>> film.frame(1).activation("arrivals").round(1)
        array([0.1])
        """
        if self.frames is None:
            raise ValueError("there are no frames; simulate with frames=…")
        if not -len(self.frames) <= number < len(self.frames):
            raise ValueError(
                f"there is no frame {number}; they are numbered 0 to {len(self.frames) - 1}"
            )
        number %= len(self.frames)
        return self.between(self.frames[number - 1] if number else self._from, self.frames[number])

    def _place(self, moment: float) -> int:
        """Which snapshot was taken then."""
        found = np.flatnonzero(np.isclose(self.snapshots, moment, rtol=1e-12, atol=0))
        if not len(found):
            near = self.snapshots[np.argsort(np.abs(self.snapshots - moment))[:4]]
            raise ValueError(
                f"there is no snapshot at {moment!r} {self.unit}; the nearest are at "
                f"{', '.join(f'{m:g}' for m in np.sort(near))} (see .snapshots)"
            )
        return int(found[0])

    def _part(self, first: int, last: int) -> "Simulation":
        """What happened from the end of one snapshot (−1: the beginning) to that of another."""
        part = slice(first + 1, last + 1)
        counts, sums, times = self._counts[part], self._sums[part], self._times[part]
        theory, steady, frames, begin = self._theory, self._steady, self.frames, self._from
        if first >= 0:
            begin = self.snapshots[first].item()
            counts, sums = counts - self._counts[first], sums - self._sums[first]
            times = times - self._times[first]
            if theory is not None:
                theory = theory.after(self._per_row(self._times[first]).mean(axis=1))
        if frames is not None:
            shown = slice(
                np.searchsorted(frames, begin, "right"),
                np.searchsorted(frames, self.snapshots[last]) + 1,
            )
            steady = self._per(steady, self._n_frames)[:, shown].reshape(-1, steady.shape[-1])
            frames = frames[shown]
        arrived, fired = (
            self._of_row(self._per_row(c).sum(axis=1))
            for c in sums[-1, [ARRIVED, FIRED]].astype(np.int64)
        )
        return replace(
            self,
            arrival_counts=arrived,
            firing_counts=fired,
            snapshots=self.snapshots[part],
            frames=frames,
            _steady=steady,
            _counts=counts,
            _sums=sums,
            _times=times,
            _theory=theory,
            _stopped=np.where(self._stopped <= last, self._stopped, -1),
            _from=begin,
        )

    def events_at(self, times: ArrayLike) -> Floats:
        """How many events there were in each row's run up to a time of its own.

        Between snapshots they are taken to come evenly. For runs without replicas.

        Parameters
        ----------
        times : array-like of shape (n_rows,)
            A time for each row; a number, where there is one.

        Returns
        -------
        events : ndarray of the same shape
            Not rounded.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> result = RandomNeuralNetwork([1.0], [[0.0]]).simulate([0.5], time=100, random_state=0)
        >>> bool(result.events_at(100.0) == result.events)
        True
        """
        if self.replicas > 1:
            raise ValueError(f"events_at is for single runs, and there are {self.replicas} of each")
        found = [
            np.interp(time, np.append(0.0, passed), np.append(0.0, events))
            for time, passed, events in zip(
                np.atleast_1d(times), self._times.T, self._counts[:, EVENTS].T, strict=True
            )
        ]
        return self._of_row(np.array(found))[()]

    def transient(self, level: float = 0.95) -> Transient:
        """Activations of the watched neurons at each moment at which they were watched.

        They are shares of the replicas in which a neuron was excited then, so that there is no
        need to wait for a steady state; give many ``replicas``, and the length as ``time``. (After
        a number of events, it is the activation right after the last of them.)

        Parameters
        ----------
        level : float, default=0.95
            Of the intervals.

        Returns
        -------
        transient : Transient
            Activations and their intervals, moment by moment.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> result = network.simulate(
        ...     [0.5], time=50, watch=[0], watch_at=[0, 50], replicas=1_000, random_state=0
        ... )
        >>> result.transient().activation.round(1).tolist()  # at rest, and in the end
        [[0.0], [0.5]]
        """
        if self.potentials is None:
            raise ValueError("no neurons were watched; simulate with watch=[…], and replicas")
        _check_level(level)
        there = (self.potentials >= 0).sum(axis=-2)
        excited = (self.potentials > 0).sum(axis=-2)
        tail = (1 - level) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            share = excited / there
            low = special.betaincinv(np.maximum(excited, 1), there - excited + 1, tail)
            high = special.betaincinv(excited + 1, np.maximum(there - excited, 1), 1 - tail)
        low = np.where(there > 0, np.where(excited > 0, low, 0.0), np.nan)
        high = np.where(there > 0, np.where(excited < there, high, 1.0), np.nan)
        return Transient(self.moments, self.watched, share, low, high)

    @property
    def reached(self) -> Any:
        """Whether that was known which ``until`` asks for; None without it."""
        return None if self.until is None else self._of_row(self._stopped >= 0)[()]

    @property
    def decision(self) -> Any:
        """Who leads, among the candidates of a `Decision`: a neuron, or the number of a group.

        Of a `SpikeCount` the neuron that has fired most. Where `reached` is false, it is not
        certain.
        """
        if isinstance(self.until, SpikeCount):
            return self._of_row(np.asarray(self.until.neurons)[self._fired.argmax(axis=1)])[()]
        if not isinstance(self.until, Decision):
            return None
        plain = all(np.ndim(each) == 0 for each in self.until.neurons)
        named = np.asarray(self.until.neurons) if plain else np.arange(len(self.until.neurons))
        return self._of_row(named[self._lead.leader])[()]

    @cached_property
    def _lead(self) -> Lead:
        """Who leads in each row, of the candidates of a `Decision`, and how surely."""
        assert isinstance(self.until, Decision)
        samples = self._samples(self.until.estimator, -1)
        arrived, could = (v.sum(axis=0) for v in self._samples("arrivals", -1, pooled=True))
        return lead_of(self.until, *samples, arrived, could, self._reviews)

    @property
    def _fired(self) -> Floats:
        """How often the candidates of a `SpikeCount` have fired: rows × candidates."""
        assert isinstance(self.until, SpikeCount)
        each = self._sums[-1, FIRED][:, np.asarray(self.until.neurons)]
        return np.asarray(self._per_row(each).sum(axis=1, dtype=np.float64))

    @cached_property
    def _widths(self) -> Floats:
        """Of the intervals that a `Precision` asks for: rows × neurons, NaN for all others."""
        assert isinstance(self.until, Precision)
        low, high = self._interval(self.until.level, self.until.estimator)
        q = np.asarray(self._steady)
        chosen = (q > 0) & (q < 1)
        if self.until.neurons is not None:
            chosen &= np.isin(np.arange(q.shape[1]), np.asarray(self.until.neurons))
        return np.where(chosen, np.nan_to_num(high - low, nan=1.0), np.nan)

    @property
    def _settled(self) -> NDArray[np.bool_]:
        """Of which rows enough is known for ``until``."""
        if isinstance(self.until, SpikeCount):
            return np.asarray(self.until.settled(self._fired))
        count = self.replicas if self.replicas > 1 else len(self.snapshots)
        if count < 2 or not self._counts[-1, [LOOKS, OBSERVATIONS]].any(axis=1).all():
            return np.zeros(len(self._stopped), dtype=np.bool_)
        assert self.until is not None
        long_enough = (self._shares >= 1) & ~self._biased(self.until.estimator)
        if isinstance(self.until, Precision):
            unknown = ~np.isnan(self._widths)
            narrow = ~(unknown & ~(self._widths <= self.until.width)).any(axis=1)
            return np.asarray(narrow & (long_enough | ~unknown).all(axis=1))
        assert self.until is not None
        candidates = np.concatenate(self.until.groups())
        sure = self._lead.ahead > self._lead.uncertain
        return np.asarray(sure & long_enough[:, candidates].all(axis=1))

    def compare(
        self, q: ArrayLike | None = None, estimator: Estimator = "potential"
    ) -> Convergence:
        """Error to the numeric solution, layer by layer, at every snapshot.

        ``q`` is the numeric solution; by default the network's steady state.

        Parameters
        ----------
        q : array-like, optional
            The numeric solution; by default the network's steady state.
        estimator : {"potential", "busy", "arrivals", "events"}, default="potential"
            As for :meth:`activation`.

        Returns
        -------
        convergence : Convergence
            Root mean square errors, and at which snapshots.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> result = network.simulate([0.5], events=100_000, random_state=0)
        >>> bool(result.compare(estimator="arrivals").errors[-1][0] < 0.02)
        True
        """
        check_estimator(estimator)
        if q is None:
            self._check_one_steady_state()
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
        if self.frames is not None and len(self.frames) > 1:
            return table(repr(self), ["frames end at"], [[f"{end:g}"] for end in self.frames])
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
        return self._per(values, self.replicas)

    def _per(self, values: Any, each: int) -> Any:
        return np.asarray(values).reshape(-1, each, *values.shape[1:])

    @property
    def _n_frames(self) -> int:
        return 1 if self.frames is None else len(self.frames)

    def _of_row(self, values: Any) -> NDArray[Any]:
        return np.asarray(values[0] if self._one else values)

    def _check_one_steady_state(self) -> None:
        if self._n_frames > 1:
            raise ValueError(
                "a film has a steady state for each frame; compare one, such as result.frame(0)"
            )

    def _seen(self, estimator: Estimator) -> None:
        seen = {"potential": OBSERVATIONS, "busy": LOOKS}.get(estimator)
        if seen is not None and not self._counts[-1, seen].any():
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

        Samples are the replicas or, of a single run, its parts between snapshots; of a few replicas
        that end when enough is known, the parts of all.
        """
        few = self.until is not None and self.frames is None and self.replicas < ENOUGH_REPLICAS
        if (few or self.replicas == 1) and not pooled:
            parts = self._batches(estimator)
            shape = (len(parts[0]), -1, self.replicas, parts[0].shape[-1])
            each = [np.moveaxis(values.reshape(shape), 2, 0) for values in parts]
            top, bottom = (values.reshape(-1, *values.shape[2:]) for values in each)
            return top, bottom
        numerator, denominator = self._ratio(estimator, [snapshot])
        return tuple(np.moveaxis(self._per_row(v[0]), 1, 0) for v in (numerator, denominator))

    def _batches(self, estimator: Estimator) -> tuple[Floats, Floats]:
        """Samples of single runs: their parts between snapshots, none after their end."""
        ticks = self._counts[:, TICKS]
        ended = (ticks == ticks[-1]).argmax(axis=0)
        ends = {}
        for last in {*ended.tolist()}:
            passed = self.snapshots[: last + 1] - self._from
            if self.interrupted:  # they may be far from there
                passed = ticks[: last + 1, ended == last].mean(axis=1)
            ends[last] = batch_ends(passed)
        if len(ends) == 1:
            sums = self._ratio(estimator, ends[ended[0]])
        else:
            most = max(map(len, ends.values()))
            padded = [ends[last] + [last] * (most - len(ends[last])) for last in ended]
            place: Any = np.array(padded).T[..., None]
            all_n, all_d = self._ratio(estimator, slice(None))
            sums = np.take_along_axis(all_n, place, 0), np.take_along_axis(all_d, place, 0)
        numerator, denominator = (np.diff(values, axis=0, prepend=0) for values in sums)
        return numerator, denominator

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


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
