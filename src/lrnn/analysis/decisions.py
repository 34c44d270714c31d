"""Decisions spike by spike: a classifier's network is simulated until its output spikes decide.

`decide` presents each row to the network and stops when one class is far enough ahead;
`accuracy_by_events` tells how many rows are recognised after so many events, by a classifier, by
codes that are estimated from spikes, and by the spikes of the input alone.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats, to_numpy
from lrnn.functional.decisions import expected_spikes, first_passage, lead_for, leading
from lrnn.functional.shares import shares
from lrnn.network import RandomNeuralNetwork
from lrnn.network.weights import arrivals_at
from lrnn.notebook import table
from lrnn.progress import work_bar
from lrnn.rows import Rows
from lrnn.rows.validation import check_data
from lrnn.spiking.plan import SEEN, Start
from lrnn.spiking.raster import BYTES_PER_SPIKE
from lrnn.spiking.schedule import decades, number, whole_number
from lrnn.spiking.simulate import seed_sequence
from lrnn.spiking.simulation import Simulation
from lrnn.spiking.until import SpikeCount, check_until
from lrnn.tables.messages import SettingError, SettingWarning, warn

if TYPE_CHECKING:
    from lrnn.estimators.autoencoder import LRNNAutoencoder
    from lrnn.estimators.classifier import LRNNClassifier

__all__ = ["Decisions", "EventCurve", "UndecidableError", "accuracy_by_events", "decide"]

FIRST_LOOK, BETWEEN_LOOKS = 16, 1.25  # events: when it is asked first, and how much later again
SNAPSHOT_BYTES = 1 << 28
RECORD_BYTES = 1 << 29  # of output spikes, of some rows at a time
ROWS_AT_ONCE = 256
NEAR = 1.5  # times as often as others fires a best class that need not be told from a nearer one
LONG = 1e10  # events of all rows, that a user will want to know of before
PER_SECOND = 1e7  # events, about, on one core
FIRST_MILESTONE = 10
DRAWS = 40  # of what might be behind counts
LEAST = 1e-100  # spikes that a neuron could have handled
IGNORED = "the simulated time is too short|the limit came first"  # told here in other words


class UndecidableError(SettingError):
    """No row can be expected to decide, and nothing was simulated."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a network has decided, row by row.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        The class in front; of a row without any output spike the first.
    decided : ndarray of bool
        Whether it was far enough in front, before the limit.
    spikes : ndarray of int
        Output spikes up to the decision; of a row that is undecided, all.
    events : ndarray of float
        Events up to then: spikes from outside and firings of any neuron. (They are counted from
        time to time, and taken to come evenly in between.)
    counts : ndarray of int of shape (n_rows, n_classes)
        Output spikes of each class up to then.
    probabilities : ndarray of shape (n_rows, n_classes)
        The shares that these tend to, by the numeric solution.
    expected_spikes : ndarray of float
        About how many output spikes a decision takes, by theory, in steady state; infinite where
        two classes lead together.
    events_per_spike : ndarray of float
        How many events an output spike takes, in steady state; infinite where none comes.
    classes : ndarray
        The labels of the classes.
    confidence : float or None
        How surely, in steady state, a decision is the network's own verdict; None where a ``lead``
        was asked for, which promises nothing of the kind.
    ratio : float or None
        That is promised only of rows whose best class fires so many times as often as each other.
    lead : int or None
        Spikes by which a class was far enough in front; None where the evidence decided.
    limit : int
        Most events of a row.
    start : {"empty", "stationary"}
        How runs began.
    interrupted : bool
        Whether it was stopped before its end; rows that were not begun have no spikes.
    """

    labels: NDArray[Any]
    decided: NDArray[np.bool_]
    spikes: NDArray[np.int64]
    events: Floats
    counts: NDArray[np.int64]
    probabilities: Floats
    expected_spikes: Floats
    events_per_spike: Floats
    classes: NDArray[Any]
    confidence: float | None
    ratio: float | None
    lead: int | None
    limit: int
    start: str
    interrupted: bool

    @property
    def verdicts(self) -> NDArray[Any]:
        """What the numeric solution says: the classes with the largest shares."""
        return np.asarray(self.classes[self.probabilities.argmax(axis=1)])

    @property
    def agreement(self) -> float:
        """The share of the decided rows whose decision is the network's own verdict.

        NaN where none is decided. It is what was counted; ``confidence`` is what theory promises of
        all rows in steady state, and few rows cannot tell the two apart.
        """
        if not self.decided.any():
            return np.nan
        return float((self.labels == self.verdicts)[self.decided].mean())

    @property
    def expected_events(self) -> Floats:
        """About how many events a decision takes in steady state, by theory, of each row.

        Infinite where two classes lead together, or no output spike ever comes.
        """
        return self.expected_spikes * self.events_per_spike

    def score(self, y: ArrayLike) -> float:
        """The share of rows whose label is right; a row without any output spike is not.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The true labels.

        Returns
        -------
        accuracy : float
            From 0 to 1.
        """
        return float(np.mean((self.labels == np.asarray(y)) & (self.spikes > 0)))

    def __repr__(self) -> str:
        count = int(self.decided.sum())
        return f"{type(self).__name__}({count:,} of {len(self.labels):,} rows decided)"


def decide(
    model: "LRNNClassifier",
    X: Any,
    *,
    confidence: float = 0.95,
    ratio: float | None = None,
    lead: int | None = None,
    events: float = 1_000_000,
    start: Start = "empty",
    threads: int | None = None,
    progress: bool | None = None,
    random_state: Any = None,
) -> Decisions:
    """Simulate a classifier's network on each row until its output spikes decide.

    See :meth:`lrnn.LRNNClassifier.decide`.

    Parameters
    ----------
    model : LRNNClassifier
        A fitted one.
    X : as for :meth:`lrnn.LRNNClassifier.predict`
        The data.
    confidence, ratio, lead, events, start, threads, progress, random_state : optional
        As for :meth:`lrnn.LRNNClassifier.decide`.

    Returns
    -------
    found : Decisions
        Labels, and what they took.
    """
    limit = whole_number(events, "events")
    network = model.to_network(least_rate=0.0)
    classes = len(model.classes_)
    outputs = np.arange(network.n_neurons - classes, network.n_neurons)
    check_until(SpikeCount(outputs, confidence, lead), network.n_neurons)
    promised = confidence if lead is None else None
    if ratio is not None:
        lead = _lead(confidence, ratio, lead, classes)
    rule = SpikeCount(outputs, confidence, lead)
    shown = _Shown(check_data(model, X, reset=False), network)
    if not shown.count:
        raise ValueError("X has no rows: there is nothing to decide")
    forecast = _Forecast.of(shown, classes)
    spikes = expected_spikes(forecast.shares, confidence=confidence, lead=lead)
    near = None  # what a decision would take that need not tell apart what fires almost alike
    if lead is None:
        sooner = lead_for(confidence, NEAR, classes)
        near = expected_spikes(forecast.shares, confidence=confidence, lead=sooner)
    _check_budget(spikes, forecast.events_per_spike, limit, near, model.spike_penalty)

    n_rows = shown.count
    taken, happened = np.zeros(n_rows, np.int64), np.zeros(n_rows)
    counts, decided = np.zeros((n_rows, classes), np.int64), np.zeros(n_rows, bool)
    kept = _bytes_of_spikes(forecast.events_per_spike, limit)
    runs = _Runs(
        shown, start, seed_sequence(random_state), threads, progress, "deciding",
        {"events": limit, "snapshots": _looks(limit), "until": rule, "record": outputs,
         "record_bytes": np.finfo(float).max},
        kept,
    )  # fmt: skip
    for rows, result in runs.of(np.isfinite(forecast.events_per_spike)):
        assert result.raster is not None
        times, who = (
            np.split(each, np.cumsum(result.raster.counts)[:-1])
            for each in (result.raster.times, result.raster.neurons)
        )
        ends = np.array(result.time)
        for i, row in enumerate(rows):
            after, counts[row] = first_passage(
                who[i] - outputs[0], classes, confidence=confidence, lead=lead
            )
            decided[row], taken[row] = after > 0, after or len(who[i])
            if after:
                ends[i] = times[i][after - 1]
        happened[rows] = result.events_at(ends)
    found = Decisions(
        model.classes_[counts.argmax(axis=1)], decided, taken, happened, counts, forecast.shares,
        spikes, forecast.events_per_spike, model.classes_, promised, ratio, lead, limit, start,
        runs.interrupted,
    )  # fmt: skip
    _tell_undecided(found)
    return found


def _lead(confidence: float, ratio: Any, lead: int | None, classes: int) -> int:
    """The lead that is sure enough where the best class fires so many times as often as others."""
    if lead is not None:
        raise ValueError(f"give ratio or lead, not both (ratio={ratio!r}, lead={lead!r})")
    if not number(ratio, "ratio", positive=True) > 1:
        raise ValueError(f"ratio must be above 1, got {ratio!r}")
    return lead_for(confidence, ratio, classes)


@dataclass(frozen=True)
class _Shown:
    """Rows that are shown to a network, some at a time."""

    rows: Rows
    network: RandomNeuralNetwork

    @property
    def count(self) -> int:
        """How many there are."""
        return self.rows.shape[0]

    def arrivals(self, first: int, last: int) -> Floats:
        """What comes to all neurons, for rows from number ``first`` up to ``last``."""
        return arrivals_at(self.rows, self.network.rates, first, last)


@dataclass(frozen=True)
class _Forecast:
    """What the numeric solution says before anything is simulated.

    Attributes
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Of the output spikes.
    rates : ndarray of shape (n_rows, n_classes)
        Output spikes per unit time.
    happening : ndarray of shape (n_rows,)
        Events per unit time.
    """

    shares: Floats
    rates: Floats
    happening: Floats

    @classmethod
    def of(cls, shown: _Shown, classes: int) -> "_Forecast":
        """Of all rows."""
        found = []
        for first in range(0, shown.count, ROWS_AT_ONCE):
            arrivals = shown.arrivals(first, first + ROWS_AT_ONCE)
            with warnings.catch_warnings():  # what saturates is no concern here
                warnings.simplefilter("ignore")
                q = np.asarray(shown.network.steady_state(arrivals))
            fired = q * shown.network.rates
            found.append((fired[:, -classes:], arrivals.sum(axis=1) + fired.sum(axis=1)))
        rates, happening = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return cls(shares(rates), rates, happening)

    @property
    def events_per_spike(self) -> Floats:
        """Infinite where no output spike ever comes."""
        total = self.rates.sum(axis=1)
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(total > 0, self.happening / np.where(total > 0, total, 1), np.inf)


def _check_budget(
    spikes: Floats, each: Floats, limit: int, near: Floats | None, penalty: float
) -> None:
    """Refuse what cannot succeed, and tell beforehand what will take long."""
    awake = np.isfinite(each)
    if not awake.any():
        raise UndecidableError(
            f"none of the {len(each):,} rows makes an output spike: there is nothing to decide by"
        )
    with np.errstate(over="ignore"):
        events = spikes * each
        sooner = near is not None and bool((near * each <= limit).any())
    if not (events <= limit).any():
        easiest = int(np.argmin(events))
        nearly = "by which classes that fire almost alike end sooner"
        remedy = f"give a {{ratio}} such as {NEAR}, {nearly}" if sooner else ""
        if not np.isfinite(events[easiest]):
            raise UndecidableError(
                "two classes lead together in every row: no number of events decides"
                + (remedy and f"; {remedy}")
            )
        raise UndecidableError(
            f"no row can be expected to decide within {limit:,} events: the easiest row takes "
            f"about {events[easiest]:.1e}, that is about {ceil(spikes[easiest]):,} output spikes "
            f"with {each[easiest]:.1e} events for each. Allow more {{events}}, or "
            f"{remedy or _dearer(penalty)}"
        )
    whole = float(np.minimum(events[awake], limit).sum())
    if whole > LONG:
        warn(
            f"these decisions take about {whole:.1e} events, some {whole / PER_SECOND / 60:,.0f} "
            "minutes on one core; fewer rows, or a smaller limit of events, take less"
        )


def _dearer(penalty: float) -> str:
    """A remedy, if output spikes are dear."""
    higher = f"higher {{spike_penalty}} than its {penalty:g}" if penalty else "{spike_penalty}"
    return f"train with a {higher}, such as {max(0.1, 3 * penalty):.2g}: output spikes get cheaper"


def _tell_undecided(found: Decisions) -> None:
    """Which rows are open, and why."""
    count, total = int(np.count_nonzero(~found.decided)), len(found.decided)
    if not count or found.interrupted:
        return
    silent = int(np.isinf(found.events_per_spike).sum())
    reasons = [f"in {silent:,} no output spike ever comes"] if silent else []
    rest = ~found.decided & np.isfinite(found.events_per_spike)
    if rest.any():
        needed = found.expected_events[rest]
        tied = int(np.isinf(needed).sum())
        if tied:
            reasons.append(f"in {tied:,} two classes lead together")
        far = np.isfinite(needed) & (needed > found.limit)
        if far.any():
            reasons.append(f"in {far.sum():,} it takes more, about {np.median(needed[far]):.1e}")
        near = len(needed) - tied - int(far.sum())
        if near:
            reasons.append(f"in {near:,} it usually takes less, and did not by chance")
    warn(
        f"{count:,} of {total:,} rows ({100 * count / total:.1f} %) are undecided after "
        f"{found.limit:,} events: {'; '.join(reasons)}"
    )


def _bytes_of_spikes(each: Floats, limit: int) -> float:
    """Memory for the output spikes of a row that goes on to the limit, where they are cheapest."""
    most = limit / float(each.min())
    if most * BYTES_PER_SPIKE > RECORD_BYTES:
        raise ValueError(
            f"{limit:,} events of a row make up to {most:,.0f} output spikes, more than can be "
            f"kept; allow {int(RECORD_BYTES / BYTES_PER_SPIKE * each.min()):,} events at most"
        )
    return most * BYTES_PER_SPIKE


def _looks(limit: int) -> NDArray[np.int64]:
    """When it is asked whether a row is decided: after more and more events."""
    count = max(2, ceil(np.log(max(2, limit / FIRST_LOOK)) / np.log(BETWEEN_LOOKS)))
    return np.unique(np.geomspace(min(FIRST_LOOK, limit), limit, count).round().astype(np.int64))


@dataclass
class _Runs:
    """Runs of a network, some rows at a time, with a bar for all of them."""

    shown: _Shown
    start: Start
    seed: np.random.SeedSequence
    threads: int | None
    progress: bool | None
    task: str
    settings: dict[str, Any]
    kept: float = 0.0  # bytes of what is recorded of a row
    interrupted: bool = False

    def of(self, chosen: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], Simulation]]:
        """The chosen rows, but for dark ones, and what came of them."""
        network, count = self.shown.network, self.shown.count
        each = 4 * (SEEN + 1) * network.n_neurons * len(self.settings["snapshots"])
        fit = min(SNAPSHOT_BYTES // each, int(RECORD_BYTES / (self.kept + 1)))
        at_once = int(np.clip(fit, 1, ROWS_AT_ONCE))
        firsts = range(0, count, at_once)
        several = len(firsts) > 1
        with work_bar(self.task, count, self.progress if several else False) as report:
            for first, seed in zip(firsts, self.seed.spawn(len(firsts)), strict=True):
                arrivals = self.shown.arrivals(first, first + at_once)
                some = chosen[first : first + at_once] & (arrivals.sum(axis=1) > 0)
                if some.any():
                    with warnings.catch_warnings():
                        warnings.filterwarnings("ignore", IGNORED)
                        result = network.simulate(
                            arrivals[some], start=self.start, random_state=seed,
                            threads=self.threads, progress=False if several else self.progress,
                            snapshot_bytes=2 * SNAPSHOT_BYTES, **self.settings,
                        )  # fmt: skip
                    self.interrupted |= result.interrupted
                    yield first + np.flatnonzero(some), result
                report(float(min(first + at_once, count)))
                if self.interrupted:
                    return


# Accuracy against events


@dataclass(frozen=True, eq=False)
class EventCurve:
    """How many rows are recognised after so many events.

    Attributes
    ----------
    events : ndarray of int of shape (n_moments,)
        After how many events of each row.
    right : ndarray of bool of shape (n_moments, n_rows)
        Whether its label was right then.
    agree : ndarray of bool of shape (n_moments, n_rows)
        Whether it was the one that is recognised without any spikes, from exact activations.
    silent : ndarray of bool of shape (n_moments, n_rows)
        Whether there was nothing to recognise it by yet; such rows are not right.
    exact : float
        The accuracy without spikes, from exact activations.
    expected : ndarray of float of shape (n_moments,) or None
        What accuracy is to be expected in steady state; of a classifier, by theory.
    sureness : ndarray of float of shape (n_moments, n_rows) or None
        Of codes and inputs: how surely more spikes would give the same label. Activations that
        might be behind the counts so far are drawn 40 times, from gamma laws, and this is the share
        of them that the classifier gives it to.
    """

    events: NDArray[np.int64]
    right: NDArray[np.bool_]
    agree: NDArray[np.bool_]
    silent: NDArray[np.bool_]
    exact: float
    expected: Floats | None = None
    sureness: Floats | None = None

    @property
    def accuracy(self) -> Floats:
        """The share of rows that are right, at each moment."""
        return np.asarray(self.right.mean(axis=1))

    def stopping(self, confidence: float) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which rows are right, and after how many events, if each ends as soon as it is sure.

        That is when ``sureness`` is so high, which promises nothing: it is asked more than once,
        and does not know that a network at rest has to fill. Rows that are never sure go on to the
        end.

        Parameters
        ----------
        confidence : float
            How sure a row has to be, from 0 to 1.

        Returns
        -------
        right : ndarray of bool
            Whether each row's label is right.
        events : ndarray of int64
            After how many events it ended.
        """
        if self.sureness is None:
            raise ValueError(
                "stopping is for codes or inputs; a network decides by LRNNClassifier.decide"
            )
        sure = self.sureness >= confidence
        sure[-1] = True
        first = sure.argmax(axis=0)
        return self.right[first, np.arange(self.right.shape[1])], self.events[first]

    @property
    def header(self) -> list[str]:
        """What is in the columns of `lines`."""
        more = [] if self.expected is None else ["by theory"]
        return ["events", "accuracy", *more, "as without spikes", "no spikes yet"]

    def lines(self) -> list[list[str]]:
        """The curve as a table for a person has it; the last line is without spikes.

        Returns
        -------
        lines : list of list of str
            Cells, line by line; `header` names the columns.
        """
        found = []
        for i, count in enumerate(self.events):
            theory = [] if self.expected is None else [f"{self.expected[i]:.3f}"]
            shares_ = [f"{v[i].mean():.3f}" for v in (self.agree, self.silent)]
            found.append([f"{count:,}", f"{self.accuracy[i]:.3f}", *theory, *shares_])
        blank = [""] * (len(self.header) - 2)
        return [*found, ["without spikes", f"{self.exact:.3f}", *blank]]

    def _repr_html_(self) -> str:
        return table("", self.header, self.lines())


def accuracy_by_events(
    model: "LRNNClassifier | LRNNAutoencoder | None",
    X: Any,
    y: ArrayLike,
    *,
    classifier: Any = None,
    events: float = 100_000,
    start: Start = "empty",
    threads: int | None = None,
    progress: bool | None = None,
    random_state: Any = None,
) -> EventCurve:
    """How many rows are recognised after 10, 20, 50, 100, … events.

    Parameters
    ----------
    model : LRNNClassifier, LRNNAutoencoder or None
        A classifier, of which the output neuron that has fired most is asked. Or an autoencoder,
        whose encoder is simulated: its codes, as estimated from arrivals so far, go to
        ``classifier``. Or None, for the spikes of the input alone, of which each is one event:
        their counts, over the time that has passed and at most 1, go to ``classifier``.
    X : as for :meth:`lrnn.LRNNClassifier.predict`
        The data; with None an array in [0, 1].
    y : array-like of shape (n_rows,)
        Their labels.
    classifier : estimator of scikit-learn, optional
        Fitted on exact codes, ``model.transform(...)``, or on such data as X.
    events : float, default=100_000
        Events of each row.
    start : {"empty", "stationary"}, default="empty"
        Begin at rest, or in steady state.
    threads, progress, random_state : as for :meth:`lrnn.RandomNeuralNetwork.simulate`
        How it is simulated.

    Returns
    -------
    curve : EventCurve
        Labels after so many events of each row.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import LRNNClassifier, decisions
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = LRNNClassifier(20, spike_penalty=0.1, label_smoothing=0.1, random_state=0)
    >>> model = model.fit(X[:1000], y[:1000])
    >>> curve = decisions.accuracy_by_events(
    ...     model, X[1000:1050], y[1000:1050], events=20_000, random_state=0
    ... )
    >>> bool(curve.accuracy[-1] > curve.accuracy[0])
    True
    """
    limit = whole_number(events, "events")
    moments = np.append(decades(limit, min(FIRST_MILESTONE, limit)), limit).astype(np.int64)
    moments = np.unique(moments)
    labels = np.asarray(to_numpy(y))
    seed = seed_sequence(random_state)
    if model is None:
        return _of_inputs(
            np.asarray(X, dtype=np.float64), labels, _needed(classifier), moments, seed
        )
    if (classifier is None) != hasattr(model, "classes_"):
        raise ValueError(
            "an autoencoder needs classifier=, fitted on its codes, and an LRNNClassifier needs "
            f"none; got model={model!r:.60} and classifier={classifier!r:.60}"
        )
    recognises = classifier is None
    network = (
        model.to_network(least_rate=0.0)
        if recognises
        else model.to_network(part="encoder", least_rate=0.0)  # type: ignore[call-arg]
    )
    shown = _Shown(check_data(model, X, reset=False), network)
    _check_labels(labels, shown.count)
    runs = _Runs(
        shown, start, seed, threads, progress, "simulating",
        {"events": limit, "snapshots": moments},
    )  # fmt: skip
    everybody = np.ones(shown.count, dtype=bool)
    if not recognises:
        ask = _asking(classifier, to_numpy(model.transform(X)), labels, moments, seed)
        for rows, result in runs.of(everybody):
            for i, moment in enumerate(moments.tolist()):
                so_far = result.at(moment)._samples("arrivals", -1, pooled=True)
                arrived, could = (network.split(v.sum(axis=0))[-1] for v in so_far)
                ask.note(i, rows, arrived, could)
        _check_whole(runs)
        return ask.curve()
    classes = model.classes_
    forecast = _Forecast.of(shown, len(classes))
    _tell_of_silence(forecast.events_per_spike, limit, model.spike_penalty)
    counts = np.zeros((len(moments), shown.count, len(classes)), np.int64)
    for rows, result in runs.of(everybody):
        for i, moment in enumerate(moments.tolist()):
            counts[i, rows] = result.at(moment).firing_counts[:, -len(classes) :]
    _check_whole(runs)
    leader, fired = counts.argmax(axis=2), np.asarray(counts.any(axis=2))
    own = forecast.shares.argmax(axis=1)
    return EventCurve(
        moments,
        (classes[leader] == labels) & fired,
        (leader == own) & fired,
        ~fired,
        float((classes[own] == labels).mean()),
        _expected_accuracy(forecast, moments, classes, labels),
    )


def _tell_of_silence(each: Floats, limit: int, penalty: float) -> None:
    """Where output spikes are so dear that hardly any will come."""
    dear = int(np.count_nonzero(each > limit))
    if 2 * dear > len(each):
        warn(
            SettingWarning(
                f"{dear:,} of {len(each):,} rows make fewer than one output spike in {limit:,} "
                f"events: in the median row one takes about {np.median(each):.1e}. Allow more, or "
                f"{_dearer(penalty)}"
            )
        )


def _needed(classifier: Any) -> Any:
    if classifier is None:
        raise ValueError("the spikes of inputs need classifier=, fitted on such data as X")
    return classifier


def _check_labels(labels: NDArray[Any], n_rows: int) -> None:
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}, and X has {n_rows:,} rows")


def _check_whole(runs: _Runs) -> None:
    """What was interrupted is no curve."""
    if runs.interrupted:
        raise KeyboardInterrupt


def _expected_accuracy(
    forecast: _Forecast, moments: NDArray[np.int64], classes: NDArray[Any], labels: NDArray[Any]
) -> Floats:
    """In steady state, after the time in which so many events happen on average."""
    truth = np.searchsorted(classes, labels)
    known = classes[np.minimum(truth, len(classes) - 1)] == labels
    found = np.zeros(len(moments))
    for row in np.flatnonzero(known & np.isfinite(forecast.events_per_spike)):
        for i, moment in enumerate(moments):
            means = forecast.rates[row] * (moment / forecast.happening[row])
            found[i] += leading(means)[truth[row]]
    return found / len(labels)


@dataclass
class _Asking:
    """A classifier of estimates, asked at each moment."""

    classifier: Any
    random: np.random.Generator
    own: NDArray[Any]
    labels: NDArray[Any]
    moments: NDArray[np.int64]
    found: NDArray[Any]
    awake: NDArray[np.bool_]
    sureness: Floats

    def note(self, moment: int, rows: Any, arrived: Floats, could: Floats) -> None:
        """Put down what it says of some rows, by spikes that have arrived, of those that could.

        The arrivals are about Poisson, so that after k of them the mean follows a gamma law of
        shape k + 1/2 (Jeffreys).
        """
        could = np.maximum(could, LEAST)
        label = self.classifier.predict(np.minimum(arrived / could, 1))
        self.found[moment, rows] = label
        awake = self.awake[moment, rows] = np.asarray(arrived.any(axis=1))
        same = np.zeros(len(label))
        for _ in range(DRAWS):
            drawn = np.minimum(self.random.standard_gamma(arrived + 0.5) / could, 1)
            same += self.classifier.predict(drawn) == label
        self.sureness[moment, rows] = same / DRAWS * awake

    def curve(self) -> EventCurve:
        """All of it."""
        return EventCurve(
            self.moments,
            (self.found == self.labels) & self.awake,
            (self.found == self.own) & self.awake,
            ~self.awake,
            float((self.own == self.labels).mean()),
            sureness=self.sureness,
        )


def _asking(
    classifier: Any,
    exact: Floats,
    labels: NDArray[Any],
    moments: NDArray[np.int64],
    seed: np.random.SeedSequence,
) -> _Asking:
    own, shape = np.asarray(classifier.predict(exact)), (len(moments), len(labels))
    random = np.random.default_rng(seed.spawn(1)[0])
    found, awake = np.empty(shape, own.dtype), np.zeros(shape, bool)
    return _Asking(classifier, random, own, labels, moments, found, awake, np.zeros(shape))


def _of_inputs(
    X: Floats,
    labels: NDArray[Any],
    classifier: Any,
    moments: NDArray[np.int64],
    seed: np.random.SeedSequence,
) -> EventCurve:
    """Spikes of the inputs alone, which are Poisson processes: their law needs no simulation."""
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X must be a matrix of numbers in [0, 1], got shape {X.shape}")
    if not (X.min() >= 0 and X.max() <= 1):
        raise ValueError(
            f"X must be a matrix of numbers in [0, 1], and it has {X.min():g} to {X.max():g}; "
            "scale it as the classifier's data were"
        )
    _check_labels(labels, len(X))
    rates, random = X, np.random.default_rng(seed)
    total = rates.sum(axis=1, keepdims=True)
    bright = total > 0
    routes = np.where(bright, rates / np.where(bright, total, 1), 1 / X.shape[1])
    counts, time = np.zeros(X.shape, np.int64), np.zeros(len(X))
    ask = _asking(classifier, X, labels, moments, seed)
    for i, more in enumerate(np.diff(moments, prepend=0)):
        counts += random.multinomial(more, routes)
        time += random.standard_gamma(more, len(X)) / np.where(bright, total, 1)[:, 0]
        ask.note(i, slice(None), counts * bright, np.broadcast_to(time[:, None], counts.shape))
    return ask.curve()
