"""Initial weights from anchor attributes, picked from the second moment alone."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from lrnn.arrays import (
    Array,
    Floats,
    at_least,
    at_most,
    backend_of,
    copied,
    host_dtype,
    like,
    to_numpy,
)
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
    return np.unique(places * (more.max(initial=0) + 1) + more, return_inverse=True)[1]


def _host(array: Array) -> Floats:
    return np.asarray(to_numpy(array), dtype=np.float64)


@dataclass(frozen=True)
class Anchors:
    """Attributes of which the others are made, as far as one can.

    Attributes
    ----------
    attributes : ndarray of int
        Which they are, the one that explains the most first.
    products : array of shape (n_attributes, n_anchors)
        Their columns of G, where G is.
    order : ndarray of shape (n_attributes,)
        All attributes in an order that does not depend on where they stand.
    sums : ndarray of shape (n_attributes,)
        Sums of the rows of G.
    lengths : array of shape (n_attributes,)
        The diagonal of G, likewise.
    """

    attributes: NDArray[np.intp]
    products: Array
    order: NDArray[np.intp]
    sums: Floats
    lengths: Array

    @cached_property
    def correlations(self) -> Array:
        """Correlations (cosines) of all attributes with them, in float64."""
        xp, backend = array_namespace(self.lengths), backend_of(self.lengths)
        lengths = xp.astype(self.lengths, xp.float64)
        roots = xp.sqrt(at_least(lengths, float(np.finfo(float).tiny)))
        own = xp.take(roots, backend.array(self.attributes))
        # more than 1, where squares of tiny numbers have underflowed
        return at_most(self.products / own / roots[:, None], 1.0)

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
    xp, backend = array_namespace(moment.diagonal), backend_of(moment.diagonal)
    known = float(xp.finfo(moment.diagonal.dtype).eps)
    enough = max(1e-10, 10 * known) * float(xp.max(moment.diagonal))
    if backend.on_gpu and moment.kind == "dense":
        from lrnn.functional.cuda_pivots import pivots

        whole, sent = moment.columns(np.arange(len(order))), backend.array(order)
        places = pivots(whole, sent, hidden, enough, 1 - TIED)
        products = xp.take(whole, xp.take(sent, places), axis=1)
        anchors = order[to_numpy(places)]
    else:
        anchors, columns = _pivots(moment, order, hidden, enough)
        products = backend.array(columns)
    return Anchors(anchors, products, order, sums, moment.diagonal)


def _pivots(
    moment: SecondMoment, order: NDArray[np.intp], count: int, enough: float
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """So many pivots, one after the other on the host; and their columns of G."""
    lengths = _host(moment.diagonal)
    left, dtype = lengths.copy(), host_dtype(moment.diagonal.dtype)
    factor = np.zeros((count, len(order)), dtype=dtype)
    columns = np.zeros((len(order), count), dtype=dtype)
    anchors = np.zeros(count, dtype=np.intp)
    for k in range(count):
        score, most = left, left.max()
        if most <= enough:
            score = np.where(left < 0, left, lengths)
            most = score.max()
        anchor = anchors[k] = order[np.argmax((score >= (1 - TIED) * most)[order])]
        columns[:, k] = to_numpy(moment.columns(np.array([anchor])))[:, 0]
        if left[anchor] > enough:
            pivot = columns[:, k] - factor[:k, anchor] @ factor[:k]
            factor[k] = pivot / np.sqrt(left[anchor])
            left = np.maximum(left - factor[k] ** 2, 0)
        left[anchors[: k + 1]] = -1
    return anchors, columns


def sharpened(correlations: Array, power: float) -> Array:
    """Profiles that concentrate on what correlates best; nothing is excluded for good."""
    return at_least(correlations, 0.0) ** power + FLOOR


def anchor_weights(moment: SecondMoment, anchors: Anchors, power: float) -> Start:
    """Encoder and decoder that start as sharpened correlation profiles, optimally scaled."""
    xp = array_namespace(moment.diagonal)
    encoder = sharpened(xp.astype(anchors.correlations, moment.diagonal.dtype), power)
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
    backend, dtype = backend_of(moment.diagonal), moment.diagonal.dtype
    xp, sums = backend.xp, backend.array(anchors.sums)
    product = leak * sums[:, None] + (1 - leak) * anchors.products
    own = xp.take(product, backend.array(anchors.attributes), axis=0)
    gram = to_numpy(leak * xp.sum(product, axis=0) + (1 - leak) * own)
    ridge = max(RIDGE * np.trace(gram) / hidden, np.finfo(float).tiny)
    inverse = backend.array(np.linalg.inv(gram + ridge * np.eye(hidden)))
    decoder = xp.astype(at_least(inverse @ product.T, 0.0), dtype)
    driven = None if moment.corrupted else (xp.astype(product, dtype),) * 2
    return like(moment.diagonal, encoder), decoder, driven
