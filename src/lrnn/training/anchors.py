"""Initial weights from anchor attributes, picked from the second moment alone."""

from math import sqrt

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, copied, like, to_numpy
from lrnn.functional import gram_error
from lrnn.moments import SecondMoment

FLOOR = 1e-4  # weights between uncorrelated attributes: small, but free to grow


def anchor_correlations(moment: SecondMoment, hidden: int) -> Array:
    """Correlations (cosines) of all attributes with ``hidden`` anchors.

    Anchors are the pivots of a pivoted Cholesky factorisation of G: each time the attribute of
    which the anchors before explain the least. Where the rank of G is exhausted, attributes that
    are no anchors yet follow in order of their size.
    """
    lengths = to_numpy(moment.diagonal).astype(np.float64)
    left = lengths.copy()
    factor = np.zeros((len(lengths), hidden))
    columns = np.zeros((len(lengths), hidden))
    spent = np.zeros(len(lengths), dtype=bool)
    enough = 1e-10 * lengths.max(initial=0.0)
    for k in range(hidden):
        score = np.where(spent, -1.0, left if left.max() > enough else lengths)
        anchor = int(np.argmax(score))
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
    product, target = moment.driven(encoder)
    gram = product.T @ encoder
    linear = float(xp.sum(target.T * decoder, dtype=xp.float64))
    square = gram_error(0.0, 0 * target.T, gram, decoder)
    scale = sqrt(linear / square) if square > 0 else 1.0
    return encoder * scale, decoder * scale
