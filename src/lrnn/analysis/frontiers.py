"""The frontier of error against spikes: what inhibition buys, and what it costs."""

from collections.abc import Mapping, Sequence
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

from lrnn.analysis import bounds
from lrnn.estimators.autoencoder import Fitted, LRNNAutoencoder
from lrnn.notebook import table
from lrnn.progress import decimal
from lrnn.rows import Rows
from lrnn.rows.validation import check_count, check_data
from lrnn.tables.messages import SettingWarning, warn
from lrnn.training import (
    PenalisedNetwork,
    Run,
    Settings,
    penalties_for,
    train_frontier,
    undominated,
    watching,
)

MOST_PENALTIES = 1_000_000
PENALTIES = 16
HEADER = ("network", "spike penalty", "way", "error", "on test data", "spikes")
LAYERS = ("hidden_layer_sizes", "decoder_layer_sizes")
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
    sizes : tuple of int
        Widths of its layers, as in `Frontier.structures`.
    way : {"down", "up", "from scratch"} or None
        How it was reached: as spikes became cheaper, as they became dearer, or at once. Two
        networks of one penalty differ in it; one of them fires less, the other has a lower error.
        None for the excitatory network, and where a file does not tell.
    """

    penalty: float | None
    error: float
    test_error: float | None
    spikes: float
    model: LRNNAutoencoder | None = None
    sizes: tuple[int, ...] = ()
    way: str | None = None

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
    """Networks of one structure or several, the cheapest first: with more spikes, lower errors.

    Attributes
    ----------
    structures : tuple of tuple of int
        Widths of the input and of the encoding layers; of all layers, where those behind the code
        do not mirror the ones before it.
    points : tuple of Point
        The networks.
    svd : float
        The error below which no linear map of the rank of the widest code can be.
    seconds : float
        How long it took.
    interrupted : bool
        Whether Ctrl-C or a callback ended it before its time.
    """

    structures: tuple[tuple[int, ...], ...]
    points: tuple[Point, ...]
    svd: float
    seconds: float
    interrupted: bool = False

    @property
    def excitatory(self) -> Point:
        """The network without inhibition."""
        return next(point for point in self.points if point.penalty is None)

    @property
    def name(self) -> str:
        """Its structures, in words."""
        return f"{' or '.join(map(_arrows, self.structures))} neurons"

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of `lines`."""
        return HEADER if len(self.structures) == 1 else (HEADER[0], "layers", *HEADER[1:])

    def within(self, spikes: float) -> Point:
        """The network with the lowest error that needs at most so many spikes per unit time.

        It is an error if even the cheapest one needs more.
        """
        affordable = [point for point in self.points if point.spikes <= spikes]
        if not affordable:
            number, least = min(enumerate(self.points, 1), key=lambda one: one[1].spikes)
            raise ValueError(
                f"no network needs only {spikes:g} spikes; the cheapest, number {number}, needs "
                f"{readable(least.spikes)}"
            )
        return min(affordable, key=lambda point: point.error)

    def lines(self) -> list[list[str]]:
        """Numbers of the networks, counted from 1, and what is known of them; see `header`."""
        return [
            [
                str(number),
                *([] if len(self.structures) == 1 else [_arrows(p.sizes)]),
                {None: "excitatory", 0.0: "free"}.get(p.penalty, f"{p.penalty or 0:.2g}"),
                p.way or "–",
                decimal(p.error),
                "–" if p.test_error is None else decimal(p.test_error),
                readable(p.spikes),
            ]
            for number, p in enumerate(self.points, 1)
        ]

    def _repr_html_(self) -> str:
        title = f"{self.name} ({self.seconds:.0f} s)"
        below = f"no linear map is below {decimal(self.svd)}"
        return table(title, self.header, self.lines(), [below])

    def to_json(self) -> dict[str, Any]:
        """All of it but the models."""
        names = ("penalty", "error", "test_error", "spikes", "sizes", "way")
        return {
            "structures": [list(sizes) for sizes in self.structures],
            "points": [{name: getattr(p, name) for name in names} for p in self.points],
            "svd": self.svd,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Frontier":
        """What `to_json` gave."""
        try:
            told = document["structures"] if "structures" in document else [document["sizes"]]
            structures = tuple(tuple(map(int, sizes)) for sizes in told)
            points = tuple(
                Point(p["penalty"], p["error"], p["test_error"], p["spikes"],
                      sizes=tuple(map(int, p.get("sizes", structures[0]))), way=p.get("way"))
                for p in document["points"]
            )  # fmt: skip
            numbers = [p.error + p.spikes for p in points] + [document["svd"], document["seconds"]]
            if not points or not np.isfinite(numbers).all():
                raise ValueError("its numbers make no sense")
            seconds, interrupted = float(document["seconds"]), bool(document["interrupted"])
            return cls(structures, points, float(document["svd"]), seconds, interrupted)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this is no frontier of error against spikes: {error}") from None


def frontier(
    X: Any,
    hidden_layer_sizes: Any = None,
    *,
    structures: Sequence[Any] | None = None,
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
    the excitatory network, and up again from there, or from one that was trained from scratch.
    Those are kept that no other one betters: of one penalty there may be two, one with fewer
    spikes, the other with a lower error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data in [0, 1], as for `LRNNAutoencoder`.
    hidden_layer_sizes : int or sequence of int, optional
        Widths of the encoding layers; by default as for `LRNNAutoencoder`.
    structures : sequence of such widths, optional
        Several structures in the place of one, such as ``[50, (1000, 50)]``: for every number of
        spikes the best network of any of them. One that does not mirror its encoding layers is a
        dictionary, ``{"hidden_layer_sizes": 50, "decoder_layer_sizes": 1000}``.
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

    Returns
    -------
    found : Frontier
        Its ``points`` are the networks, the cheapest first; ``within(spikes)`` picks one of them.

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
    chosen = _structures(hidden_layer_sizes, structures)
    base = LRNNAutoencoder(inhibition=True, **parameters | chosen[0])
    base._validate_params()
    rows = check_data(base, X, reset=True)
    passes = _passes(passes, rows, base)
    base.set_params(fine_tune=passes)
    base._validate_params()
    watcher: Any = None
    if checkpoint is not None:
        from lrnn.storage.checkpoints import checkpoint_of, seed_for

        base.set_params(random_state=seed_for(base, Path(checkpoint), resume))
        facts: dict[str, Any] = {"frontier": wanted}
        if structures is not None:
            facts["structures"] = [_plain(one) for one in chosen]
        watcher = checkpoint_of(base, rows, Path(checkpoint), every, resume, **facts)
    bases = [_like(base).set_params(**layers) for layers in chosen]
    all_settings = [one._settings(rows) for one in bases]
    rows = rows.in_memory()
    watchers = () if watcher is None else (watcher,)
    points: list[Point] = []
    with watcher or nullcontext():
        most = sum(_most(settings, wanted, rows) for settings in all_settings)
        with watching(base, X, most, *watchers) as observer:
            random, interrupted = check_random_state(base.random_state), False
            for one, settings in zip(bases, all_settings, strict=True):
                found, interrupted = _train(one, rows, wanted, Run(settings, random, observer))
                points += [_point(one, _told(settings), network) for network in found]
                if interrupted:
                    break
        if interrupted:
            if watcher is not None:
                watcher.save()
            warn("training was interrupted; what was found is kept")
        kept = tuple(_tested(point, X_test) for point in _best(points))
        if not (interrupted or any(point.penalty is not None or not point.error for point in kept)):
            warn(
                SettingWarning(
                    f"with inhibition, {passes:,} pass{'es' * (passes > 1)} at each penalty found "
                    "no network that is better than the excitatory one, which is all there is; "
                    f"give more passes, such as {{passes={5 * passes}}}"
                )
            )
        svd = bounds.svd(rows, max(min(settings.widths) for settings in all_settings))
    return Frontier(tuple(map(_told, all_settings)), kept, svd, perf_counter() - began, interrupted)


def _structures(hidden: Any, several: Sequence[Any] | None) -> list[dict[str, Any]]:
    """Layers of each structure, as parameters of a model."""
    if several is None:
        return [{"hidden_layer_sizes": hidden}]
    if hidden is not None:
        raise TypeError(
            "frontier() takes one structure as hidden_layer_sizes, or several as structures, not "
            f"both; got hidden_layer_sizes={hidden!r} and structures={several!r}"
        )
    if isinstance(several, str) or not isinstance(several, Sequence) or not several:
        raise ValueError(
            f"structures={several!r} should be widths of encoding layers, such as [50, (1000, 50)]"
        )
    found: list[dict[str, Any]] = []
    for one in several:
        layers = dict(one) if isinstance(one, Mapping) else {LAYERS[0]: one}
        if unknown := sorted(set(layers) - set(LAYERS)):
            raise ValueError(
                f"structures has {one!r}; a dictionary has the keys {' and '.join(LAYERS)}, and "
                f"not {', '.join(map(str, unknown))}"
            )
        found.append(layers)
    return found


def _plain(layers: Mapping[str, Any]) -> dict[str, Any]:
    """As a checkpoint keeps it."""
    return {k: v if isinstance(v, Integral | None) else list(v) for k, v in layers.items()}


def _told(settings: Settings) -> tuple[int, ...]:
    """Widths of the input and the encoding layers, or of all layers if those are no mirror."""
    return settings.widths if settings.decoding is not None else tuple(settings.sizes)


def _like(base: LRNNAutoencoder) -> LRNNAutoencoder:
    """A model that takes the same data."""
    model: LRNNAutoencoder = clone(base)
    model.n_features_in_ = base.n_features_in_
    model.white_, model.scaling_, model.filling_ = base.white_, base.scaling_, base.filling_
    if hasattr(base, "feature_names_in_"):
        model.feature_names_in_ = base.feature_names_in_
    return model


def _most(settings: Settings, penalties: int | list[float], rows: Rows) -> int:
    """How many passes and full-batch steps there may be for one structure."""
    count = penalties if isinstance(penalties, int) else len(penalties)
    return settings.most_passes(rows.shape[0]) + settings.fine_tune * (2 * count + 3)


def _train(
    base: LRNNAutoencoder, rows: Rows, penalties: int | list[float], run: Run
) -> tuple[list[PenalisedNetwork], bool]:
    """The networks of the frontier, and whether training was interrupted.

    A deep network is the shallow one, split: end to end, and without a penalty, it would learn to
    saturate at the cost of a thousand times as many spikes.
    """
    settings = replace(run.settings, inhibition=False)
    if settings.deep and settings.start is None:
        settings = replace(settings, fine_tune=0)
    trained = base._train(rows, replace(run, settings=settings))
    first = PenalisedNetwork.of(rows, None, trained)
    if trained.interrupted:
        return [first], True
    chosen = penalties_for(first, penalties) if isinstance(penalties, int) else penalties
    return train_frontier(rows, first, chosen, run)


def _best(points: Sequence[Point]) -> list[Point]:
    """Of the networks of all structures those that no other betters, and one without inhibition."""
    plain = min((p for p in points if p.penalty is None), key=lambda p: p.spikes)
    return undominated(p for p in points if p is plain or p.penalty is not None)


def _point(base: LRNNAutoencoder, sizes: tuple[int, ...], found: PenalisedNetwork) -> Point:
    """A network as a model of its own."""
    penalty = found.penalty
    model = _like(base)
    model.set_params(inhibition=penalty is not None, spike_penalty=penalty or 0.0)
    model._become(Fitted.after(found.trained, found.evaluation, model.rates))
    error, spikes = model.reconstruction_err_, model.spike_cost_
    return Point(penalty, error, None, spikes, model, sizes, found.way)


def _tested(point: Point, X_test: Any) -> Point:
    """The same with its error on other data."""
    if X_test is None or point.model is None:
        return point
    return replace(point, test_error=-point.model.score(X_test))


def _arrows(sizes: Sequence[int]) -> str:
    return " → ".join(map(str, sizes))


def _passes(passes: int | None, rows: Rows, base: LRNNAutoencoder) -> int:
    if passes is None:
        return -(-base._settings(rows).inhibitory_passes(rows.shape[0]) // 2)
    return check_count(passes, "passes")


def _checked(penalties: int | Sequence[float]) -> int | list[float]:
    """How many penalties, or penalties themselves, high ones first."""
    if isinstance(penalties, int | Integral):
        return check_count(penalties, "penalties", 2, MOST_PENALTIES)
    found = sorted(map(float, penalties), reverse=True)
    if not found or not all(0 < penalty < np.inf for penalty in found):
        raise ValueError(f"penalties must be numbers above 0, or how many of them; got {penalties}")
    return found
