"""Initial weights from anchor attributes, picked from the second moment alone."""

from math import sqrt

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from lrnn.arrays import Array, Floats, copied, like, to_numpy
from lrnn.functional import gram_error
from lrnn.moments import SecondMoment

FLOOR = 1e-4  # weights between uncorrelated attributes: small, but free to grow
TIED = 1e-5  # share by which residuals, or sums, of equal attributes may differ by rounding


def own_order(moment: SecondMoment) -> NDArray[np.intp]:
    """Attributes in an order that depends on what they are, not on where they stand.

    They are sorted by their size, and those of equal size by their products with all others, then
    with these weighted by their size. What is still equal is (nearly always) interchangeable.
    """
    sizes = moment.diagonal
    xp = array_namespace(sizes)
    products = to_numpy(moment.dot(xp.stack([xp.ones_like(sizes), sizes], axis=1)))
    keys = (products[:, 1], products[:, 0], to_numpy(sizes))  # the last one counts most
    return np.lexsort([_ranks(key.astype(np.float64)) for key in keys])


def _ranks(values: Floats) -> NDArray[np.intp]:
    """Their places in ascending order; those that only rounding tells apart share one."""
    order = np.argsort(values)
    apart = np.diff(values[order]) > TIED * np.abs(values).max(initial=0.0)
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.concatenate([[0], np.cumsum(apart)])
    return ranks


def anchor_correlations(moment: SecondMoment, hidden: int, order: NDArray[np.intp]) -> Array:
    """Correlations (cosines) of all attributes with ``hidden`` anchors.

    Anchors are the pivots of a pivoted Cholesky factorisation of G: each time the attribute of
    which the anchors before explain the least. Where the rank of G is exhausted, attributes that
    are no anchors yet follow in order of their size. Of several that are alike the first in
    ``order`` is taken (see `own_order`), so that it does not matter where they stand.
    """
    lengths = to_numpy(moment.diagonal).astype(np.float64)
    left = lengths.copy()
    factor = np.zeros((len(lengths), hidden))
    columns = np.zeros((len(lengths), hidden))
    spent = np.zeros(len(lengths), dtype=bool)
    known = float(array_namespace(moment.diagonal).finfo(moment.diagonal.dtype).eps)
    enough = max(1e-10, 10 * known) * lengths.max(initial=0.0)
    for k in range(hidden):
        score = np.where(spent, -1.0, left if left.max() > enough else lengths)
        anchor = int(order[np.argmax(score[order] >= (1 - TIED) * score.max())])
        spent[anchor] = True
        columns[:, k] = to_numpy(moment.columns(np.array([anchor])))[:, 0]
        if left[anchor] > enough:
            pivot = columns[:, k] - factor[:, :k] @ factor[anchor, :k]
            factor[:, k] = pivot / np.sqrt(left[anchor])
            left = np.maximum(left - factor[:, k] ** 2, 0)
            left[anchor] = 0
        columns[:, k] /= np.sqrt(max(lengths[anchor], np.finfo(float).tiny))
    cosines = columns / np.sqrt(np.maximum(lengths, np.finfo(float).tiny))[:, None]
    return np.minimum(cosines, 1)  # more, where squares of tiny numbers have underflowed


def sharpened(correlations: Array, power: float) -> Array:
    """Profiles that concentrate on what correlates best; nothing is excluded for good."""
    return np.maximum(correlations, 0) ** power + FLOOR


def anchor_weights(moment: SecondMoment, correlations: Array, power: float) -> tuple[Array, Array]:
    """Encoder and decoder that start as sharpened correlation profiles, optimally scaled."""
    encoder = like(moment.diagonal, sharpened(correlations, power))
    xp = array_namespace(encoder)
    decoder = copied(encoder.T)
    moments = moment.dot(encoder).T
    gram = moments @ encoder
    linear = float(xp.sum(moments * decoder, dtype=xp.float64))
    square = gram_error(0.0, 0 * moments, gram, decoder)
    scale = sqrt(linear / square) if square > 0 else 1.0
    return encoder * scale, decoder * scale
