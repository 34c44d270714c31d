"""What fills missing cells, learnt from rows that have some.

A decoder, and a distribution of its codes, are taken from the second moment of the data. Where rows
are many, that is the one of the pairs of cells that are known. Where they are few, such a moment is
all noise: then gaps are filled, first with the means of their columns, the moment is that of the
filled rows, and this goes on for some rounds.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.functional import code_prior
from lrnn.moments.known import KnownMoment
from lrnn.rows import HostRows, WeightedRows
from lrnn.rows.gaps import Filling
from lrnn.tables.messages import Place, TableError
from lrnn.training.gram import GramSearch, starts, train_pair
from lrnn.training.parameters import check_layer_sizes
from lrnn.training.run import Observer, Run
from lrnn.training.settings import Settings

MANY = 5  # rows for each attribute
ROUNDS = 3  # where rows are few
STEPS = 60


def learn_filling(rows: HostRows | WeightedRows, names: Sequence[str] | None = None) -> Filling:
    """The filling for rows like these, of which some cells are missing (NaN).

    It has as many parts as a network has code neurons by default, whatever the network is like that
    will be trained on the filled rows. Rows count by their weights.
    """
    weights = None
    if isinstance(rows, WeightedRows):
        given, each, heavy = cast(HostRows, rows.rows), rows.of_rows, rows.of_rows > 0
        rows, weights = HostRows(given.X[heavy]), each[heavy]
    X = rows.X
    known = ~np.isnan(X)
    seen = known.sum(axis=0)
    if not seen.all():
        unseen = np.flatnonzero(seen == 0)
        more = f" (and {len(unseen) - 1:,} more)" if len(unseen) > 1 else ""
        raise TableError(
            f"X has no known cell in {{at}}{more}: all of it is missing, and nothing can be learnt "
            "of it",
            remedy="leave that column out",
            at=Place.at(None, unseen[0], names),
        )
    count, width = X.shape
    hidden = min(*check_layer_sizes(None, width), count)
    mean = np.nansum(X, axis=0, dtype=np.float64) / seen
    if weights is not None:
        mean = weights @ np.where(known, X, 0) / (weights @ known)
    settings = Settings(sizes=(width, hidden), max_iter=STEPS)
    run = Run(settings, np.random.RandomState(0), Observer())
    if count >= MANY * width:
        return _of_pairs(X, known, mean, weights, run)
    filled = np.where(known, X, mean.astype(X.dtype))
    for _ in range(ROUNDS):
        filling = _of_filled(filled, known, weights, run)
        filled = filling.filled(rows).X
    return filling


def _of_pairs(
    X: NDArray[Any], known: NDArray[np.bool_], mean: Floats, weights: Floats | None, run: Run
) -> Filling:
    """From the moments of pairs of known cells."""
    moment = KnownMoment(X, known, mean, weights)
    search = GramSearch(starts(moment, run.settings.sizes[1], run), run)
    _uninterrupted(run.train(search, "filling"))
    decoder = _of_length_one(search.best.state.decoder)
    width, parts = decoder.shape[1], len(decoder)
    inverse = np.linalg.pinv(decoder, rcond=1e-6)
    rest = np.eye(width) - inverse @ decoder
    noise = np.vdot(rest, moment.covariance @ rest) / max(width - parts, 1)
    return _filling(decoder, mean, inverse.T @ moment.covariance @ inverse, noise, moment.trace)


def _of_filled(
    filled: NDArray[Any], known: NDArray[np.bool_], weights: Floats | None, run: Run
) -> Filling:
    """From rows that are complete already."""
    rows = HostRows(filled)
    given = rows if weights is None else WeightedRows(rows, weights)
    trained = train_pair(given, run.settings.sizes[1], None, run)
    _uninterrupted(trained.curves[0].stopped)
    decoder = _of_length_one(trained.weights.decoders[0])
    width, parts = decoder.shape[1], len(decoder)
    codes = filled @ np.linalg.pinv(decoder, rcond=1e-6)
    missed = np.where(known, filled - codes @ decoder, 0)
    each = np.ones(len(filled)) if weights is None else weights
    noise = each @ (missed**2).sum(axis=1) / (each @ known.sum(axis=1))
    scatter = np.atleast_2d(np.cov(codes.T, ddof=0, aweights=each))
    mean, size = (each @ values / each.sum() for values in (filled, (filled**2).sum(axis=1)))
    return _filling(decoder, mean, scatter, noise * width / max(width - parts, 1), size)


def _filling(decoder: Floats, mean: Floats, scatter: Floats, noise: float, size: float) -> Filling:
    """With a noise of no less than a millionth of the mean square of a cell."""
    noise = max(float(noise), 1e-6 * float(size) / decoder.shape[1], 1e-12)
    return Filling(decoder, *code_prior(decoder, mean, scatter, noise))


def _of_length_one(decoder: NDArray[Any]) -> Floats:
    """Rows of a decoder with the length 1; those that are 0 are left out, unless all are."""
    lengths = np.linalg.norm(decoder.astype(np.float64), axis=1)
    used = lengths > 0
    if not used.any():
        return np.full((1, decoder.shape[1]), decoder.shape[1] ** -0.5)
    found: Floats = decoder[used] / lengths[used][:, None]
    return found


def _uninterrupted(stopped: str) -> None:
    if stopped == "interrupted":
        raise KeyboardInterrupt
