"""The second moment of rows with missing cells, from the pairs of cells that are known."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Array, Floats
from lrnn.moments.second_moment import SecondMoment


class KnownMoment(SecondMoment):
    """G as a matrix: the covariances of pairs of known cells, plus the products of their means.

    Each pair has rows of its own, so that this is no moment of any rows at first. What makes the
    covariances indefinite is cut off, and G is nonnegative.

    Parameters
    ----------
    X : ndarray
        Rows in [0, 1]; what is in unknown cells does not matter.
    known : ndarray of bool
        Which cells are known.
    mean : ndarray
        The mean of the known cells of each column.
    weights : ndarray, optional
        Of the rows.
    """

    kind = "dense"

    def __init__(
        self,
        X: NDArray[Any],
        known: NDArray[np.bool_],
        mean: Floats,
        weights: Floats | None = None,
    ) -> None:
        self.n_rows, self.n_attributes = X.shape
        centred = np.where(known, X - mean.astype(X.dtype), X.dtype.type(0))
        counted = known.astype(np.float32)
        if weights is not None:
            roots = np.sqrt(weights)[:, None]
            centred *= roots.astype(X.dtype)
            counted *= roots.astype(np.float32)
        pairs = (counted.T @ counted).astype(np.float64)
        together = (centred.T @ centred).astype(np.float64)
        covariance = np.divide(together, pairs, out=np.zeros_like(pairs), where=pairs > 0)
        variances, axes = np.linalg.eigh(covariance)
        self.covariance: Floats = (axes * np.maximum(variances, 0)) @ axes.T
        gram = np.maximum(self.covariance + np.outer(mean, mean), 0)
        self.trace = float(np.trace(gram))
        self.gram = gram.astype(X.dtype)
        self.diagonal = np.diagonal(self.gram)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        return self.gram @ matrix

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        return self.gram[:, attributes]
