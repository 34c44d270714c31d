r"""The random neural network's constraints on weights under unit firing rates.

With every firing rate 1 a weight *is* a routing probability, so each row of each weight
matrix must sum to at most 1. The paper keeps to this by a *check-and-adjust* of the rows and
then *normalises* the weights by the largest drive they cause, to keep neurons from saturating
(Algorithm 1).
"""

from array_api_compat import array_namespace

from lrnn.functional.limits import at_least
from lrnn.typing import Array, Rates


def row_sums(weights: Array) -> Array:
    """Sum of every row."""
    return array_namespace(weights).sum(weights, axis=1)


def adjust_rows(weights: Array) -> Array:
    """Divide the rows that sum to more than 1 by their sum; leave the others alone.

    Examples
    --------
    >>> import numpy as np
    >>> adjust_rows(np.array([[3.0, 1.0], [0.1, 0.2]]))
    array([[0.75, 0.25],
           [0.1 , 0.2 ]])
    """
    xp = array_namespace(weights)
    return weights / at_least(xp.sum(weights, axis=1, keepdims=True), 1)


def normalisation(weights: Array, drive: Array, rates: Rates) -> Array:
    """Divisor (a 0-d array) by which the paper normalises ``weights`` that cause ``drive``.

    With ``rates="free"`` it is the largest drive, as printed: where that is below 1 it scales
    the weights up, also past row sums of 1. With ``rates="unit"`` the weights are never scaled
    further up than until their largest row sums to 1. Without any drive it is 1.
    """
    xp = array_namespace(weights)
    divisor = xp.max(drive)
    if rates == "unit":
        divisor = xp.maximum(divisor, xp.max(row_sums(weights)))
    return xp.where(divisor > 0, divisor, xp.ones_like(divisor))
