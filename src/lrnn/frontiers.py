"""The frontier of error against spikes: what inhibition buys, and what it costs."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from numbers import Integral
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_scalar

from lrnn import bounds
from lrnn.autoencoder import Fitted, LRNNAutoencoder
from lrnn.notebook import table
from lrnn.rows import Rows
from lrnn.tables.words import warn
from lrnn.training import PenalisedNetwork, Run, penalties_for, train_frontier, watching
from lrnn.validation import check_data

PENALTIES = 16
HEADER = ("network", "spike penalty", "error", "on test data", "spikes")
SET_HERE = ("inhibition", "spike_penalty", "fine_tune", "early_stopping")


@dataclass(frozen=True)
class Point:
    """One network of the frontier.

    Attributes
    ----------
    penalty : float or None
        What a spike costs, in error; 0 where spikes are free, None for the excitatory network.
    error, test_error : float
        Mean squared error on the training data, and on others if there were any (else None).
    spikes : float
        Firings per unit time of the input and hidden layers, on average over the training data.
    model : LRNNAutoencoder or None
        The network itself; None if the frontier was read from a file.
    """

    penalty: float | None
    error: float
    test_error: float | None
    spikes: float
    model: LRNNAutoencoder | None = None

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        if self.penalty is None:
            return "excitatory"
        return f"a spike costs {self.penalty:.2g}" if self.penalty else "spikes are free"


def readable(spikes: float) -> str:
    """A number of spikes for a person.

    >>> readable(42.61), readable(9643.2), readable(1.785e18)
    ('42.6', '9,643', '1.8e+18')
    """
    if spikes < 1e3:
        return f"{spikes:.3g}"
    return f"{spikes:,.0f}" if spikes < 1e7 else f"{spikes:.1e}"


@dataclass(frozen=True)
class Frontier:
    """Networks of one structure, the cheapest first: the more spikes, the lower the error.

    Attributes
    ----------
    sizes : tuple of int
        Widths of the input and of the encoding layers.
    points : tuple of Point
        The networks.
    svd : float
        The error below which no linear map of this rank can be.
    seconds : float
        How long it took.
    interrupted : bool
        Whether Ctrl-C or a callback ended it before its time.
    """

    sizes: tuple[int, ...]
    points: tuple[Point, ...]
    svd: float
    seconds: float
    interrupted: bool = False

    @property
    def excitatory(self) -> Point:
        """The network without inhibition."""
        return next(point for point in self.points if point.penalty is None)

    def within(self, spikes: float) -> Point:
        """The network with the lowest error that needs at most so many spikes."""
        affordable = [point for point in self.points if point.spikes <= spikes]
        if not affordable:
            number, least = min(enumerate(self.points, 1), key=lambda one: one[1].spikes)
            raise ValueError(
                f"no network needs only {spikes:g} spikes; the cheapest, number {number}, needs "
                f"{readable(least.spikes)}"
            )
        return min(affordable, key=lambda point: point.error)

    def lines(self) -> list[list[str]]:
        """Numbers of the networks, counted from 1, and what is known of them; see `HEADER`."""
        return [
            [
                str(number),
                {None: "excitatory", 0.0: "free"}.get(p.penalty, f"{p.penalty or 0:.2g}"),
                f"{p.error:.5f}",
                "–" if p.test_error is None else f"{p.test_error:.5f}",
                readable(p.spikes),
            ]
            for number, p in enumerate(self.points, 1)
        ]

    def _repr_html_(self) -> str:
        title = f"{' → '.join(map(str, self.sizes))} neurons ({self.seconds:.0f} s)"
        below = f"no linear map is below {self.svd:.5f}"
        return table(title, HEADER, self.lines(), [below])

    def to_json(self) -> dict[str, Any]:
        """All of it but the models."""
        names = ("penalty", "error", "test_error", "spikes")
        return {
            "sizes": list(self.sizes),
            "points": [{name: getattr(p, name) for name in names} for p in self.points],
            "svd": self.svd,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Frontier":
        """What `to_json` gave."""
        try:
            points = tuple(
                Point(p["penalty"], p["error"], p["test_error"], p["spikes"])
                for p in document["points"]
            )
            numbers = [p.error + p.spikes for p in points] + [document["svd"], document["seconds"]]
            if not points or not np.isfinite(numbers).all():
                raise ValueError("its numbers make no sense")
            sizes = tuple(map(int, document["sizes"]))
            seconds, interrupted = float(document["seconds"]), bool(document["interrupted"])
            return cls(sizes, points, float(document["svd"]), seconds, interrupted)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this is no frontier of error against spikes: {error}") from None


def frontier(
    X: Any,
    hidden_layer_sizes: Any = None,
    *,
    X_test: Any = None,
    penalties: int | Sequence[float] = PENALTIES,
    passes: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    every: float = 60.0,
    resume: bool = True,
    **parameters: Any,
) -> Frontier:
    """Error against spikes, from the excitatory network to one whose spikes are free.

    Networks are trained for many penalties of a spike, each started from its neighbour: down from
    the excitatory network, and up again from one that was trained from scratch. Those are kept
    that no other one betters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data in [0, 1], as for `LRNNAutoencoder`.
    hidden_layer_sizes : int or sequence of int, optional
        Widths of the encoding layers; by default as for `LRNNAutoencoder`.
    X_test : array-like of shape (n_samples, n_features), optional
        Data that errors are taken on besides.
    penalties : int or sequence of float, default=16
        Penalties of a spike (``spike_penalty``), or how many of them.
    passes : int, optional
        Passes over the data at each penalty and on each way; by default half of what
        ``LRNNAutoencoder(inhibition=True)`` makes.
    checkpoint : str or path-like, optional
        A file for checkpoints. It is left there at the end.
    every : float, default=60.0
        Seconds between these.
    resume : bool, default=True
        Go on from that file if it exists. It must be of the same data and parameters.
    **parameters
        Other parameters of `LRNNAutoencoder`, such as ``device``, ``random_state``, ``verbose``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import frontier
    >>> found = frontier(load_digits().data / 16, 16, penalties=3, passes=10, random_state=0)
    >>> found.points[-1].error < found.svd + 0.005
    True
    >>> found.within(1e9).error < found.excitatory.error
    True
    """
    began = perf_counter()
    if given := sorted(set(SET_HERE) & set(parameters)):
        raise TypeError(f"frontier() sets {', '.join(given)} itself")
    if parameters.get("corruption") is not None:
        raise ValueError(
            "frontier() takes the error on rows as they are, and no corruption; train single "
            "networks with LRNNAutoencoder(inhibition=True, spike_penalty=..., corruption=...)"
        )
    wanted = _checked(penalties)
    base = LRNNAutoencoder(hidden_layer_sizes, inhibition=True, **parameters)
    base._validate_params()
    rows = check_data(base, X, reset=True)
    base.set_params(fine_tune=_passes(passes, rows, base))
    base._validate_params()
    watcher: Any = None
    if checkpoint is not None:
        from lrnn.storage.checkpoints import checkpoint_of

        watcher = checkpoint_of(base, rows, Path(checkpoint), every, resume, frontier=wanted)
    settings, rows = base._settings(rows), rows.in_memory()
    count = wanted if isinstance(wanted, int) else len(wanted)
    most = settings.most_passes(rows.shape[0]) + settings.fine_tune * (2 * count + 3)
    watchers = () if watcher is None else (watcher,)
    with watcher or nullcontext():
        with watching(base, X, most, *watchers) as observer:
            run = Run(settings, check_random_state(base.random_state), observer)
            found, interrupted = _train(base, rows, wanted, run)
        if interrupted:
            if watcher is not None:
                watcher.save()
            warn("training was interrupted; what was found is kept")
        points = tuple(_point(base, one, X_test) for one in found)
        svd = bounds.svd(rows, min(settings.sizes))
    return Frontier(tuple(settings.sizes), points, svd, perf_counter() - began, interrupted)


def _train(
    base: LRNNAutoencoder, rows: Rows, penalties: int | list[float], run: Run
) -> tuple[list[PenalisedNetwork], bool]:
    """The networks of the frontier, and whether training was interrupted."""
    excitatory = replace(run, settings=replace(run.settings, inhibition=False))
    trained = base._train(rows, excitatory)
    first = PenalisedNetwork.of(rows, None, trained)
    if trained.interrupted:
        return [first], True
    chosen = penalties_for(first, penalties) if isinstance(penalties, int) else penalties
    return train_frontier(rows, first, chosen, run)


def _point(base: LRNNAutoencoder, found: PenalisedNetwork, X_test: Any) -> Point:
    """A network as a model of its own."""
    penalty = found.penalty
    model = clone(base).set_params(inhibition=penalty is not None, spike_penalty=penalty or 0.0)
    model.n_features_in_ = base.n_features_in_
    model.white_, model.scaling_, model.filling_ = base.white_, base.scaling_, base.filling_
    if hasattr(base, "feature_names_in_"):
        model.feature_names_in_ = base.feature_names_in_
    model._become(Fitted.after(found.trained, found.evaluation, model.rates))
    test_error = None if X_test is None else -model.score(X_test)
    return Point(penalty, model.reconstruction_err_, test_error, model.spike_cost_, model)


def _passes(passes: int | None, rows: Rows, base: LRNNAutoencoder) -> int:
    if passes is None:
        return -(-base._settings(rows).inhibitory_passes(rows.shape[0]) // 2)
    check_scalar(passes, "passes", Integral, min_val=1)
    return int(passes)


def _checked(penalties: int | Sequence[float]) -> int | list[float]:
    """How many penalties, or penalties themselves, high ones first."""
    if isinstance(penalties, int | Integral):
        check_scalar(penalties, "penalties", Integral, min_val=2)
        return int(penalties)
    found = sorted(map(float, penalties), reverse=True)
    if not found or not all(0 < penalty < np.inf for penalty in found):
        raise ValueError(f"penalties must be numbers above 0, or how many of them; got {penalties}")
    return found
