"""What no network can beat: lower bounds on the mean squared error per attribute."""

import math
from functools import partial
from operator import add
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import LinearOperator, eigsh

from lrnn.arrays import Array, to_numpy
from lrnn.functional import column_sums
from lrnn.moments import DenseMoment, ImplicitMoment
from lrnn.rows import Rows
from lrnn.rows.validation import check_count, check_matrix

__all__ = ["svd", "unit_rate", "variance"]

LARGEST_DENSE = 4_096  # rows or attributes whose products are formed, for all their eigenvalues


def svd(X: Any, n_hidden: int) -> float:
    """The lowest error of any linear map of rank ``n_hidden``: what truncated SVD leaves.

    An autoencoder none of whose neurons saturates is such a map. Saturation is not linear, and a
    deep network may pass this bound by it.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Data in [0, 1].
    n_hidden : int
        Width of the narrowest layer.

    Returns
    -------
    error : float
        Mean squared error per attribute.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.outer([0.5, 1.0, 0.2], [1.0, 0.3])
    >>> bool(svd(X, 1) < 1e-15)
    True
    """
    check_count(n_hidden, "n_hidden")
    rows = check_matrix(X, "bounds.svd")
    count, attributes = rows.shape
    if n_hidden >= min(count, attributes):
        rows.fold(_sums, add, attributes)  # rows from elsewhere are checked as they are read
        return 0.0
    if count < attributes and count <= LARGEST_DENSE and rows.resident:
        return float(_all_but_the_highest(_products_of_rows(rows), n_hidden) / attributes)
    if attributes <= LARGEST_DENSE:
        return float(_all_but_the_highest(to_numpy(DenseMoment(rows).gram), n_hidden) / attributes)
    moment = ImplicitMoment(rows)
    send = rows.backend.send
    product = LinearOperator(
        (attributes, attributes),
        matvec=lambda v: to_numpy(moment.dot(send(v.reshape(-1, 1))))[:, 0],
        dtype=np.float64,
    )
    highest = eigsh(product, n_hidden, return_eigenvectors=False)
    return float(max(moment.trace - highest.sum(), 0.0) / attributes)


def unit_rate(X: Any, n_hidden: int) -> float:
    """The lowest error that a network with unit rates could have.

    Such a network cannot emit more spikes than its narrowest layer fires, so its outputs sum to at
    most ``n_hidden``. The bound is what it costs to bring each row of X to such a sum, as cheaply
    as can be.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Data in [0, 1].
    n_hidden : int
        Width of the narrowest layer.

    Returns
    -------
    error : float
        Mean squared error per attribute.

    Examples
    --------
    >>> unit_rate([[1.0, 1.0, 0.0, 0.0]], 1)  # half of each spike is lost
    0.125
    """
    check_count(n_hidden, "n_hidden")
    rows = check_matrix(X, "bounds.unit_rate")
    total = rows.fold(partial(_excess, n_hidden), add, rows.shape[1], threads=False)
    return float(total / math.prod(rows.shape))


def variance(X: Any) -> float:
    """The error of always giving back the mean: what a network that learns anything is below.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Data in [0, 1].

    Returns
    -------
    error : float
        Mean squared error per attribute.

    Examples
    --------
    >>> variance([[0.0, 1.0], [1.0, 1.0]])
    0.125
    """
    rows = check_matrix(X, "bounds.variance")
    moment = ImplicitMoment(rows)
    mean = rows.fold(_sums, add, rows.shape[1]) / rows.shape[0]
    return float(max(moment.trace - mean @ mean, 0.0) / rows.shape[1])


def _products_of_rows(rows: Rows) -> Array:
    """``X @ X.T / n``: its eigenvalues are those of the second moment, but for zeros."""
    X = rows.take(slice(None))
    X = X if sparse.issparse(X) else to_numpy(X)
    count, attributes = X.shape
    if sparse.issparse(X):
        return (X @ X.T).toarray() / count
    total = np.zeros((count, count))
    for first in range(0, attributes, LARGEST_DENSE):
        part = X[:, first : first + LARGEST_DENSE].astype(np.float64)
        total += part @ part.T
    return total / count


def _all_but_the_highest(symmetric: Array, number: int) -> float:
    """The sum of all eigenvalues but the highest ones."""
    last = symmetric.shape[0] - number - 1
    lowest = eigvalsh(symmetric.astype(np.float64), subset_by_index=(0, last))
    return float(np.maximum(lowest, 0).sum())


def _sums(block: Array) -> Array:
    return column_sums(block if sparse.issparse(block) else to_numpy(block), np.float64)


def _excess(most: float, block: Array) -> float:
    """Squared distance of all rows to the nonnegative vectors with a sum of at most ``most``.

    The nearest one subtracts the same from every entry, but leaves none below 0.
    """
    rows = (block.toarray() if sparse.issparse(block) else to_numpy(block)).astype(np.float64)
    rows = rows[rows.sum(axis=1) > most]
    falling = -np.sort(-rows, axis=1)
    sums = np.cumsum(falling, axis=1)
    thresholds = (sums - most) / np.arange(1, rows.shape[1] + 1)
    kept = (falling > thresholds).sum(axis=1)  # entries that stay above 0
    threshold = np.take_along_axis(thresholds, kept[:, None] - 1, axis=1)
    return float((np.minimum(rows, threshold) ** 2).sum())
