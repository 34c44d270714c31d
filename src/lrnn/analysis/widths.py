"""Which width? Errors on entries that were held out, against the number of code neurons."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from operator import matmul
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lrnn.arrays import to_numpy
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.moments import second_moment
from lrnn.notebook import table
from lrnn.progress import StageBars
from lrnn.rows.validation import check_count, check_data
from lrnn.training import Observer, ProgressBar, Run
from lrnn.training.held_out import (
    PARTS,
    SAMPLE,
    Sample,
    column_groups,
    entry_errors,
    held_out_errors,
)

__all__ = ["WidthPath", "WidthPoint", "score_entries", "widths"]

HEADER = ("code neurons", "error on held-out entries", "standard error", "")
STEPS = 30  # of each network; its parts are improved afterwards
WIDEST = 128  # of those that are tried if nobody says which
TAKEN = ("max_iter", "tol", "moment", "scale", "device", "random_state", "verbose")


@dataclass(frozen=True)
class WidthPoint:
    """One width.

    Attributes
    ----------
    width : int
        How many code neurons.
    error : float
        Mean squared error on entries that were held out.
    standard_error : float
        Of that mean, over rows.
    """

    width: int
    error: float
    standard_error: float


@dataclass(frozen=True)
class WidthPath:
    """Errors on held-out entries for several widths, the narrowest first.

    Attributes
    ----------
    attributes : int
        How many attributes the data have.
    rows : int
        How many rows were held out in all.
    points : tuple of WidthPoint
        The widths.
    seconds : float
        How long it took.
    """

    attributes: int
    rows: int
    points: tuple[WidthPoint, ...]
    seconds: float

    @property
    def best(self) -> WidthPoint:
        """The width with the lowest error."""
        return min(self.points, key=lambda point: point.error)

    @property
    def suggested(self) -> WidthPoint:
        """The narrowest width whose error is within one standard error of the lowest.

        Wider ones foretell held-out entries no better, as far as these rows can tell. `remark` says
        where it is the widest that was tried.
        """
        most = self.best.error + self.best.standard_error
        return next(point for point in self.points if point.error <= most)

    @property
    def remark(self) -> str:
        """What should be known of the suggestion, if anything."""
        if self.suggested is self.points[-1] and self.suggested.width < self.attributes - 1:
            return "the widest is the best: wider ones may be better"
        return ""

    def lines(self) -> list[list[str]]:
        """What is known of each width; see `HEADER`."""
        return [
            [
                str(point.width),
                f"{point.error:.3g}",
                f"{point.standard_error:.1g}",
                ", ".join(
                    name
                    for name, found in (("suggested", self.suggested), ("lowest", self.best))
                    if found is point
                ),
            ]
            for point in self.points
        ]

    def __str__(self) -> str:
        rows = [HEADER, *self.lines()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *([self.remark] if self.remark else [])])

    def _repr_html_(self) -> str:
        title = f"{self.attributes} attributes, {self.rows} rows held out ({self.seconds:.0f} s)"
        return table(title, HEADER, self.lines(), [self.remark] if self.remark else [])

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "attributes": self.attributes,
            "rows": self.rows,
            "points": [vars(point) for point in self.points],
            "suggested": self.suggested.width,
            "best": self.best.width,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "WidthPath":
        """What `to_json` gave."""
        try:
            points = tuple(
                WidthPoint(int(p["width"]), float(p["error"]), float(p["standard_error"]))
                for p in document["points"]
            )
            if not points or not np.isfinite([p.error + p.standard_error for p in points]).all():
                raise ValueError("its numbers make no sense")
            counts = int(document["attributes"]), int(document["rows"])
            return cls(*counts, points, float(document["seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"these are no errors against widths: {error}") from None


def widths(
    X: Any,
    widths: Iterable[int] | None = None,
    *,
    folds: int | None = None,
    **parameters: Any,
) -> WidthPath:
    """Errors on held-out entries against the number of code neurons, and a suggestion.

    Rows are held out of training, and in these a fifth of the attributes at a time: codes come from
    the others, and the parts foretell what was left out. That becomes better until there are as
    many code neurons as the data have parts, and then worse again. The error of whole rows
    (:meth:`lrnn.LRNNAutoencoder.score`) only falls.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data, as for `LRNNAutoencoder`; complete ones.
    widths : iterable of int, optional
        Numbers of code neurons, below that of attributes. By default 1, 2, 3, 4, 6, 8, 11, 16 and
        so on, up to 128.
    folds : int, optional
        How often other rows are held out, up to 5. By default 5 times for up to 2,500 rows; of more
        rows 500 are held out, once.
    **parameters
        Parameters of `LRNNAutoencoder`: ``max_iter`` (30 by default), ``tol``, ``moment``,
        ``scale``, ``device``, ``random_state`` (0 by default) or ``verbose``.

    Returns
    -------
    path : WidthPath
        A table; ``path.suggested.width`` is the narrowest width whose error is within one standard
        error of the lowest, and `lrnn.plots.widths` draws it.

    Notes
    -----
    What is put to the test are parts, not networks: the decoder is improved by 50 alternations of
    coordinate descent for codes of its own, on up to 2,000 rows of those that are not held out.

    Examples
    --------
    >>> import numpy as np
    >>> import lrnn
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.random((3, 20)) * (rng.random((3, 20)) < 0.5)
    >>> X = rng.random((200, 3)) @ parts / 3 + 0.05 * rng.random((200, 20))
    >>> path = lrnn.widths(X, range(1, 7))
    >>> path.suggested.width
    3
    """
    began = perf_counter()
    if refused := sorted(set(parameters) - set(TAKEN)):
        raise TypeError(
            f"widths() does not take {', '.join(refused)}: it trains shallow networks without "
            f"inhibition by the gram solver, on complete rows, and takes {', '.join(TAKEN)}"
        )
    base = LRNNAutoencoder(1, **{"random_state": 0, "max_iter": STEPS, **parameters})
    base._validate_params()
    rows = check_data(base, X, reset=True, user="widths")
    count, attributes = rows.shape[0], base.n_features_in_
    chosen = _chosen(widths, count, attributes)
    folds = _folds(folds, count)
    random = check_random_state(base.random_state)
    with ExitStack() as stack:
        bars = stack.enter_context(StageBars()) if base.verbose else None
        watcher = Observer() if bars is None else ProgressBar(bars)
        settings = base._settings(rows)
        reading = Run(settings, random, watcher).reading(rows, f"reading {attributes} attributes")
        moment = second_moment(rows, max(chosen), base.moment, reading)
        sample = Sample.of(rows, random)
        if bars is not None:
            bars.begin("held-out entries", folds * len(chosen))

        def reached(width: int) -> None:
            if bars is not None:
                bars.advance(1)
                bars.note(f"{width} code neurons")

        run = Run(settings, random, Observer())
        complemented = rows.shape[1] > attributes
        errors = held_out_errors(moment, sample, chosen, folds, run, reached, complemented)
    means = errors.mean(axis=0)
    spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.zeros(len(chosen))
    points = map(WidthPoint, chosen, means.tolist(), (spread / np.sqrt(len(errors))).tolist())
    return WidthPath(attributes, len(errors), tuple(points), perf_counter() - began)


def score_entries(estimator: Any, X: Any, y: Any = None) -> float:
    """Minus the mean squared error on entries that were held out: a score that finds a width.

    Give it to a search as ``scoring``: with :meth:`lrnn.LRNNAutoencoder.score`, which sees whole
    rows, ``GridSearchCV`` always takes the widest network. Of the rows of X a fifth of the
    attributes is left out at a time, and foretold from the others (see `widths`, which is more
    precise).

    Parameters
    ----------
    estimator : LRNNAutoencoder or Pipeline
        A fitted one, without inhibition; or a pipeline of scikit-learn that ends in one. Entries
        are then those of what the steps before it make of X: errors are comparable as long as these
        steps are the same. (A scaler before it shall keep rows that it has not seen in [0, 1], as
        ``MinMaxScaler(clip=True)`` does.)
    X : array-like of shape (n_samples, n_features)
        Rows that it was not trained on.
    y : None
        Ignored.

    Returns
    -------
    score : float
        At most 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from lrnn import LRNNAutoencoder, score_entries
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.random((3, 20)) * (rng.random((3, 20)) < 0.5)
    >>> X = rng.random((200, 3)) @ parts / 3 + 0.05 * rng.random((200, 20))
    >>> grid = {"hidden_layer_sizes": [1, 2, 3, 4, 8]}
    >>> model = LRNNAutoencoder(max_iter=20, tol=0)
    >>> GridSearchCV(model, grid, scoring=score_entries, cv=2).fit(X).best_params_
    {'hidden_layer_sizes': 3}
    """
    check_is_fitted(estimator)
    while isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    if not isinstance(estimator, LRNNAutoencoder):
        raise TypeError(
            "estimator must be an LRNNAutoencoder, or a Pipeline that ends in one, got "
            f"{type(estimator).__name__}"
        )
    if estimator.weights_.inhibitory is not None:
        raise ValueError(
            "score_entries needs a network without inhibition, whose outputs are sums of parts; "
            "train with inhibition=False, or use its score"
        )
    rows = check_data(estimator, X, reset=False)
    if rows.gaps is not None:
        raise ValueError(
            "score_entries holds entries out itself, and takes rows without missing cells; fill "
            "them before, as impute does, or leave rows that have some out"
        )
    attributes = estimator.n_features_in_
    _check_attributes(attributes)
    random = np.random.RandomState(0)
    sample = Sample.of(rows, random).rows
    decoder = reduce(matmul, map(to_numpy, estimator.weights_.decoders)).astype(np.float64)
    groups = column_groups(rows.shape[1], random, rows.shape[1] > attributes)
    return -float(entry_errors(sample, decoder, groups).mean())


def _chosen(widths: Iterable[int] | None, rows: int, attributes: int) -> list[int]:
    """Widths to try, the narrowest first."""
    _check_attributes(attributes)
    if rows < 2:
        raise ValueError("X has one row; of two or more, some are held out")
    if widths is None:
        most = min(attributes - 1, WIDEST)
        return sorted({round(2 ** (i / 2)) for i in range(15)} & set(range(1, most + 1)))
    if isinstance(widths, str | Integral) or not isinstance(widths, Iterable):
        raise TypeError(f"widths must be whole numbers such as [8, 16, 32], got {widths!r}")
    chosen = list(widths)
    for width in chosen:
        if not isinstance(width, Integral) or isinstance(width, bool):
            raise TypeError(f"widths has {width!r}; a layer's width is a whole number")
        if not 1 <= width < attributes:
            raise ValueError(
                f"widths has {width}; of {attributes} attributes, give widths from 1 to "
                f"{attributes - 1}"
            )
    if not chosen:
        raise ValueError("widths is empty; give some, such as [8, 16, 32]")
    return sorted({int(width) for width in chosen})


def _check_attributes(attributes: int) -> None:
    if attributes < 2:
        raise ValueError("X has one attribute; of two or more, some are foretold from the others")


def _folds(folds: int | None, rows: int) -> int:
    most = min(PARTS, rows)
    if folds is None:
        return most if rows <= SAMPLE else 1
    return check_count(folds, "folds", most=most)
