r"""The multiplicative update rules of the paper, eqs. 6–7 (one layer) and 10–11 (any layer).

.. math::
    W &\leftarrow W \odot
        \frac{X^\mathsf{T} X \overline{W}^\mathsf{T}}
             {X^\mathsf{T} X W \overline{W}\,\overline{W}^\mathsf{T}} \qquad (6, 10) \\
    \overline{W} &\leftarrow \overline{W} \odot
        \frac{W^\mathsf{T} X^\mathsf{T} X}
             {W^\mathsf{T} X^\mathsf{T} X W \overline{W}} \qquad (7, 11)

Zero denominators are replaced by a tiny positive value. The products are associated so that
the cost is least for the sizes at hand: for a small batch of :math:`B` rows no
:math:`V \times V` matrix is formed.

Two facts about the rule as printed. An attribute that is zero in a whole minibatch has a zero
numerator, so its weights become zero, and stay so. And weights of no use shrink geometrically
until they (or their products) are subnormal numbers, on which processors are many times
slower; weights below the square root of the smallest normal number are therefore set to zero,
so that the product of any two weights is normal or zero.

With every firing rate 1 a weight *is* a routing probability, so each row of each weight matrix must
sum to at most 1. The paper keeps to this by a *check-and-adjust* of the rows and then *normalises*
the weights by the largest drive they cause, to keep neurons from saturating (Algorithm 1).
"""

from math import sqrt

from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, Rates, at_least


def update_encoder(inputs: Array, encoder: Array, decoder: Array) -> Array:
    """One multiplicative step of the encoder on a batch of inputs (eq. 6; eq. 10 with Q_{m-1}).

    ``inputs`` may be sparse.

    Parameters
    ----------
    inputs : array or sparse matrix of shape (n_rows, n_attributes)
        A minibatch.
    encoder : array of shape (n_attributes, n_hidden)
        W.
    decoder : array of shape (n_hidden, n_attributes)
        W̄.

    Returns
    -------
    encoder : array of the same shape
        After the step.

    Examples
    --------
    >>> import numpy as np
    >>> update_encoder(np.array([[1.0]]), np.array([[0.5]]), np.array([[1.0]]))
    array([[1.]])
    """
    if _gram_pays(inputs, encoder):
        gram = inputs.T @ inputs
        wanted = gram @ decoder.T
        given = _times_gram(gram @ encoder, decoder.T)
    else:
        wanted = inputs.T @ (inputs @ decoder.T)
        given = inputs.T @ _times_gram(inputs @ encoder, decoder.T)
    return multiply(encoder, wanted, given)


def update_decoder(inputs: Array, drive: Array, decoder: Array) -> Array:
    """One multiplicative step of the decoder (eq. 7; eq. 11), where ``drive = inputs @ encoder``.

    ``inputs`` may be sparse.

    Parameters
    ----------
    inputs : array or sparse matrix of shape (n_rows, n_attributes)
        A minibatch.
    drive : array of shape (n_rows, n_hidden)
        Of the hidden neurons.
    decoder : array of shape (n_hidden, n_attributes)
        W̄.

    Returns
    -------
    decoder : array of the same shape
        After the step.

    Examples
    --------
    >>> import numpy as np
    >>> update_decoder(np.array([[1.0]]), np.array([[0.5]]), np.array([[1.0]]))
    array([[2.]])
    """
    wanted = drive.T @ inputs
    given = _gram_times(drive, decoder)
    return multiply(decoder, wanted, given)


def multiply(weights: Array, numerator: Array, denominator: Array, power: float = 1.0) -> Array:
    """``weights ∘ (numerator / denominator)^power``, without division by zero or subnormals.

    With a power of 1 none of the rules above can raise the error; a higher one is bolder.

    Parameters
    ----------
    weights : array
        Nonnegative numbers.
    numerator, denominator : array of the same shape
        Of the factors.
    power : float, default=1.0
        Of the factors.

    Returns
    -------
    weights : array of the same shape
        Nonnegative, too.

    Examples
    --------
    >>> import numpy as np
    >>> multiply(np.array([2.0, 1.0]), np.array([3.0, 0.0]), np.array([4.0, 5.0]))
    array([1.5, 0. ])
    """
    xp = array_namespace(weights)
    limits = xp.finfo(weights.dtype)
    smallest = float(limits.smallest_normal)
    tiny = smallest / float(limits.eps)  # no ratio of bounded numbers to it overflows
    updated = numerator / at_least(denominator, tiny)
    if power == 1.5:
        updated = updated * xp.sqrt(updated)
    elif power != 1.0:
        updated = updated**power
    updated *= weights
    updated *= xp.astype(updated >= sqrt(smallest), updated.dtype)
    return updated


def row_sums(weights: Array) -> Array:
    """Sum of every row.

    Parameters
    ----------
    weights : array or sparse matrix of shape (n_from, n_to)
        Any numbers.

    Returns
    -------
    sums : array of shape (n_from,)
        One for each row.

    Examples
    --------
    >>> import numpy as np
    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    return array_namespace(weights).sum(weights, axis=1)


def adjust_rows(weights: Array) -> Array:
    """Divide the rows that sum to more than 1 by their sum; leave the others alone.

    Parameters
    ----------
    weights : array of shape (n_from, n_to)
        Nonnegative numbers.

    Returns
    -------
    weights : array of the same shape
        No row sums to more than 1.

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

    Parameters
    ----------
    weights : array of shape (n_from, n_to)
        Nonnegative numbers.
    drive : array of shape (n_rows, n_to)
        What they cause.
    rates : {"free", "unit"}
        Which constraint is kept.

    Returns
    -------
    divisor : array of no dimensions
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> weights, drive = np.array([[0.5, 0.25]]), np.array([[0.25, 0.125]])
    >>> float(normalisation(weights, drive, "free")), float(normalisation(weights, drive, "unit"))
    (0.25, 0.75)
    """
    xp = array_namespace(weights)
    divisor = xp.max(drive)
    if rates == "unit":
        divisor = xp.maximum(divisor, xp.max(row_sums(weights)))
    return xp.where(divisor > 0, divisor, xp.ones_like(divisor))


def _gram_times(rows: Array, right: Array) -> Array:
    """``rows.T @ rows @ right`` by the cheaper association."""
    if _small_gram_pays(right.shape[1], rows):
        return (rows.T @ rows) @ right
    return rows.T @ (rows @ right)


def _times_gram(left: Array, rows: Array) -> Array:
    """``left @ rows.T @ rows`` by the cheaper association."""
    if _small_gram_pays(left.shape[0], rows):
        return left @ (rows.T @ rows)
    return (left @ rows.T) @ rows


def _small_gram_pays(n: int, rows: Array) -> bool:
    """Whether ``rows.T @ rows`` (B × H to H × H) first is cheaper, before a matrix of n × H.

    In multiplications: B·H² + n·H² against 2·n·B·H.
    """
    b, h = rows.shape
    return bool(h * (n + b) < 2 * n * b)


def _gram_pays(inputs: Array, encoder: Array) -> bool:
    """Whether forming ``inputs.T @ inputs`` once is cheaper than two products with ``inputs``.

    In multiplications: B·V² + 2·V²·H against 4·B·V·H.
    """
    if sparse.issparse(inputs):
        return False
    b, (v, h) = inputs.shape[0], encoder.shape
    return bool(v * (b + 2 * h) < 4 * b * h)
