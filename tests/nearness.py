"""How near two ways to compute the same numbers must be (docs/stability.md)."""

import numpy as np


def assert_near(found, expected, terms, size=None):
    """Both are sums of at most so many terms, taken in different orders.

    In floating point a sum of n products is off by at most γ Σ|xᵢyᵢ|, with γ = nu / (1 - nu) and
    the unit roundoff u = ε/2, whatever the order (Higham, Accuracy and Stability of Numerical
    Algorithms, §3.1). So two of them differ by at most twice that. Where nothing is negative,
    Σ|xᵢyᵢ| is the sum itself, and the bound is relative.

    A sum of what are sums themselves adds up the terms of both: codes have those of the attributes,
    reconstructions also those of the code neurons. A quotient, a root, or a minimum adds one.

    Parameters
    ----------
    found, expected : array_like
        Numbers of the same type; NaN where both have none.
    terms : int
        On the longest way from the data to a number.
    size : float, optional
        The most that Σ|xᵢyᵢ| is, where something is negative.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    roundoff = terms * float(np.finfo(found.dtype).eps) / 2
    bound = 2 * roundoff / (1 - roundoff)
    if size is None:
        np.testing.assert_allclose(found, expected, rtol=bound)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=bound * size)


def of_training(steps, rows, attributes, hidden):
    """Terms of a weight after so many steps on so many rows each.

    A step multiplies it by a quotient of two sums over rows, attributes and code neurons. It leads
    towards a minimum: to first order, it does not magnify the difference of what it was given.
    """
    return 2 * steps * (rows + attributes + hidden)
