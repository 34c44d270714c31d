"""Initial weights from anchor attributes, picked from the second moment alone."""

from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import TypeAlias

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from lrnn.arrays import Array, Floats, copied, host_dtype, like, to_numpy
from lrnn.functional import gram_error
from lrnn.moments import SecondMoment

# an encoder, its decoder, and the products with the encoder, where they are known
Start: TypeAlias = tuple[Array, Array, tuple[Array, Array] | None]


@dataclass(frozen=True)
class Pair:
    """An encoder, its decoder, and their error per attribute."""

    encoder: Array
    decoder: Array
    error: float


FLOOR = 1e-4  # weights between uncorrelated attributes: small, but free to grow
LEAK = 0.01  # weights to a code that is one attribute, from all others together
RIDGE = 1e-6  # on the least squares for its decoder: anchors may be all but dependent
ROUNDS = 3  # in which attributes of the same size are told apart
TIED = 1e-5  # share by which residuals, or sums, of equal attributes may differ by rounding


def own_order(moment: SecondMoment) -> tuple[NDArray[np.intp], Floats]:
    """Attributes in an order that depends on what they are, and the sums of the rows of G.

    They are sorted by their size; those of equal size by their products with all others; and those
    for which these are equal, too, by products with all others weighted by their place so far, as
    long as this tells any apart. What is still equal is (nearly always) interchangeable.
    """
    sizes = moment.diagonal
    make = partial(like, sizes)
    sums = _host(moment.dot(make(np.ones((moment.n_attributes, 1)))))[:, 0]
    places = _refined(_places(_host(sizes)), _places(sums))
    for _ in range(ROUNDS):
        apart = places.max(initial=0) + 1
        if apart == len(places):
            break
        products = moment.dot(make(np.sqrt(1.0 + places)[:, None]))
        places = _refined(places, _places(_host(products)[:, 0]))
        if places.max() + 1 == apart:
            break
    return np.argsort(places, kind="stable"), sums


def _places(values: Floats) -> NDArray[np.intp]:
    """Of numbers in ascending order; those that only rounding tells apart share one."""
    order = np.argsort(values)
    apart = np.diff(values[order]) > TIED * np.abs(values).max(initial=0.0)
    places = np.empty(len(values), dtype=np.intp)
    places[order] = np.concatenate([[0], np.cumsum(apart)])
    return places


def _refined(places: NDArray[np.intp], more: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places of which those that are shared are told apart by others."""
    both = places * (more.max(initial=0) + 1) + more
    return np.unique(both, return_inverse=True)[1].reshape(-1)


def _host(array: Array) -> Floats:
    return np.asarray(to_numpy(array), dtype=np.float64)


@dataclass(frozen=True)
class Anchors:
    """Attributes of which the others are made, as far as one can.

    Attributes
    ----------
    attributes : ndarray of int
        Which they are, the one that explains the most first.
    products : ndarray of shape (n_attributes, n_anchors)
        Their columns of G, on the host.
    order : ndarray of shape (n_attributes,)
        All attributes in an order that does not depend on where they stand.
    sums : ndarray of shape (n_attributes,)
        Sums of the rows of G.
    lengths : ndarray of shape (n_attributes,)
        The diagonal of G.
    """

    attributes: NDArray[np.intp]
    products: Floats
    order: NDArray[np.intp]
    sums: Floats
    lengths: Floats

    @property
    def correlations(self) -> Floats:
        """Correlations (cosines) of all attributes with them, in float64."""
        roots = np.sqrt(np.maximum(self.lengths, np.finfo(float).tiny))
        cosines = self.products / roots[self.attributes] / roots[:, None]
        # more than 1, where squares of tiny numbers have underflowed
        return np.minimum(cosines, 1)

    def first(self, count: int) -> "Anchors":
        """The first ones; these are what `find_anchors` finds if it looks for so many."""
        return replace(
            self,
            attributes=self.attributes[:count],
            products=self.products[:, :count],
        )


def find_anchors(moment: SecondMoment, hidden: int) -> Anchors:
    """The pivots of a pivoted Cholesky factorisation of G.

    This is each time the attribute of which the anchors before explain the least. Where the rank of
    G is exhausted, attributes that are no anchors yet follow in order of their size. Of several
    that are alike the first in their `own_order` is taken, so that it does not matter where they
    stand.
    """
    order, sums = own_order(moment)
    lengths = _host(moment.diagonal)
    left = lengths.copy()
    dtype = host_dtype(moment.diagonal.dtype)
    factor = np.zeros((hidden, len(lengths)), dtype=dtype)
    columns = np.zeros((len(lengths), hidden), dtype=dtype)
    anchors = np.zeros(hidden, dtype=np.intp)
    spent = np.zeros(len(lengths), dtype=bool)
    known = float(array_namespace(moment.diagonal).finfo(moment.diagonal.dtype).eps)
    enough = max(1e-10, 10 * known) * lengths.max(initial=0.0)
    for k in range(hidden):
        score = np.where(spent, -1.0, left if left.max() > enough else lengths)
        alike = score[order] >= (1 - TIED) * score.max()
        anchor = anchors[k] = order[np.argmax(alike)]
        spent[anchor] = True
        columns[:, k] = to_numpy(moment.columns(np.array([anchor])))[:, 0]
        if left[anchor] > enough:
            pivot = columns[:, k] - factor[:k, anchor] @ factor[:k]
            factor[k] = pivot / np.sqrt(left[anchor])
            left = np.maximum(left - factor[k] ** 2, 0)
            left[anchor] = 0
    return Anchors(anchors, columns, order, sums, lengths)


def sharpened(correlations: Array, power: float) -> Array:
    """Profiles that concentrate on what correlates best; nothing is excluded for good."""
    return np.maximum(correlations, 0) ** power + FLOOR


def anchor_weights(moment: SecondMoment, anchors: Anchors, power: float) -> Start:
    """Encoder and decoder that start as sharpened correlation profiles, optimally scaled."""
    encoder = like(moment.diagonal, sharpened(anchors.correlations, power))
    xp = array_namespace(encoder)
    decoder = copied(encoder.T)
    product, target = moment.driven(encoder)
    gram = product.T @ encoder
    linear = float(xp.sum(target.T * decoder, dtype=xp.float64))
    square = gram_error(0.0, 0 * target.T, gram, decoder)
    scale = sqrt(linear / square) if square > 0 else 1.0
    scaled = product * scale
    driven = scaled, scaled if target is product else target * scale
    return encoder * scale, decoder * scale, driven


def one_hot_weights(moment: SecondMoment, anchors: Anchors) -> Start:
    """Codes that are the anchors themselves, and the decoder that fits them best.

    This is where sharper and sharper profiles lead to. If each part of the data has an attribute
    that is its alone (data are then called separable), it is the solution but for noise. No product
    with G is needed: that of the encoder is made of G's columns, and of the sums of its rows.
    (Those of corrupted inputs are not.)
    """
    attributes, hidden = anchors.products.shape
    leak = LEAK / attributes
    encoder = np.full((attributes, hidden), leak)
    encoder[anchors.attributes, np.arange(hidden)] = 1
    product = leak * anchors.sums[:, None] + (1 - leak) * anchors.products
    gram = leak * product.sum(axis=0) + (1 - leak) * product[anchors.attributes]
    ridge = max(RIDGE * np.trace(gram) / hidden, np.finfo(float).tiny)
    decoder = np.linalg.solve(gram + ridge * np.eye(hidden), product.T)
    made = partial(like, moment.diagonal)
    driven = None if moment.corrupted else (made(product),) * 2
    return made(encoder), made(np.maximum(decoder, 0)), driven
