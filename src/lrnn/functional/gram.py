r"""Full-batch steps on the second moment :math:`G = X^\mathsf{T}X/n` of the data.

While no hidden neuron saturates, with :math:`B = W^\mathsf{T}G`, :math:`A = W^\mathsf{T}GW` and
:math:`M = \overline{W}\,\overline{W}^\mathsf{T}`,

.. math:: \tfrac1n \|X - XW\overline{W}\|^2
          = \operatorname{tr} G - 2\langle B, \overline{W}\rangle + \langle A, M\rangle .
"""

from math import inf
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from numpy.typing import NDArray

from lrnn.arrays import Array, at_least, at_most, backend_of, copied

FEW_ROWS = 32  # of a decoder, which are gone through one after the other
ROWS_AT_ONCE = 12  # of more, which are gone through after one product with all others


def gram_error(trace: float, moments: Array, gram: Array, decoder: Array) -> float:
    """Squared error of a row, from ``moments`` B = WᵀG and ``gram`` A = WᵀGW.

    Parameters
    ----------
    trace : float
        Of G.
    moments : array of shape (n_hidden, n_attributes)
        B = WᵀG.
    gram : array of shape (n_hidden, n_hidden)
        A = WᵀGW.
    decoder : array of shape (n_hidden, n_attributes)
        W̄.

    Returns
    -------
    error : float
        Summed over attributes.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([[1.0]])
    >>> gram_error(1.0, one, one, 0.5 * one)
    0.25
    """
    return max(trace + float(gram_cost(moments, gram, decoder)), 0.0)


def gram_cost(moments: Array, gram: Array, decoder: Array, own: Array | None = None) -> Array:
    """That error less the trace of G: what depends on the weights, a number where they are.

    ``own`` is the decoder's M, where it is known.

    Parameters
    ----------
    moments : array of shape (n_hidden, n_attributes)
        B = WᵀG.
    gram : array of shape (n_hidden, n_hidden)
        A = WᵀGW.
    decoder : array of shape (n_hidden, n_attributes)
        W̄.
    own : array of shape (n_hidden, n_hidden), optional
        M = W̄W̄ᵀ.

    Returns
    -------
    cost : array of no dimensions
        Below 0, if the decoder is better than none.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([[1.0]])
    >>> float(gram_cost(one, one, 0.5 * one))
    -0.75
    """
    xp = array_namespace(decoder)
    wide = {"dtype": xp.float64}
    linear = xp.sum(moments * decoder, **wide)
    own = decoder @ decoder.T if own is None else own
    return xp.sum(gram * own, **wide) - 2 * linear


def descend_decoder(
    moments: Array, gram: Array, decoder: Array, sweeps: int, upper: float = inf
) -> Array:
    """Lower the error over the decoder alone: each row in turn goes to its exact optimum.

    This is coordinate descent on ``‖X − Q @ decoder‖²`` with ``decoder ≥ 0`` (HALS), given
    ``moments = QᵀX`` and ``gram = QᵀQ``. A code neuron that is never excited keeps its row; no
    weight that is found exceeds ``upper``.

    Parameters
    ----------
    moments : array of shape (n_hidden, n_attributes)
        QᵀX.
    gram : array of shape (n_hidden, n_hidden)
        QᵀQ.
    decoder : array of shape (n_hidden, n_attributes)
        Where to begin.
    sweeps : int
        How often all rows are gone through.
    upper : float, default=inf
        The most that a weight may be.

    Returns
    -------
    decoder : array of the same shape
        A better one.

    Examples
    --------
    >>> import numpy as np
    >>> descend_decoder(np.array([[2.0, -1.0]]), np.array([[4.0]]), np.zeros((1, 2)), 1)
    array([[0.5, 0. ]])
    """
    if is_numpy_array(decoder):
        return descend_decoders(moments[None], gram[None], decoder[None], sweeps, upper)[0]
    if backend_of(decoder).on_gpu:
        from lrnn.functional.cuda_descent import descend

        return descend(moments, gram, decoder, sweeps, upper)
    xp = array_namespace(decoder)
    hidden = gram.shape[0]
    lengths = xp.linalg.diagonal(gram)[:, None]
    divisor = xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    targets = xp.where(lengths > 0, moments / divisor, decoder)
    itself = xp.eye(hidden, dtype=gram.dtype, device=backend_of(gram).device)
    others = gram * (1 - itself) / divisor  # all but the row's own share
    decoder = copied(decoder)
    nothing = xp.zeros_like(decoder[0, :])
    for _ in range(sweeps):
        for h in range(hidden):
            found = xp.maximum(targets[h, :] - others[h, :] @ decoder, nothing)
            decoder[h, :] = found if upper == inf else at_most(found, upper)
    return decoder


def descend_decoders(
    moments: NDArray[Any],
    gram: NDArray[Any],
    decoders: NDArray[Any],
    sweeps: int,
    upper: float = inf,
) -> NDArray[Any]:
    """`descend_decoder` for several decoders at once, each with its own moments and gram.

    Some rows at a time are given what all other rows leave to them, in one product; then only the
    few of them have to be gone through one after the other.

    Parameters
    ----------
    moments, gram, decoders : ndarray
        As for `descend_decoder`, with one axis more in front.
    sweeps : int
        How often all rows are gone through.
    upper : float, default=inf
        The most that a weight may be.

    Returns
    -------
    decoders : ndarray of the same shape
        Better ones.
    """
    hidden = gram.shape[-1]
    lengths = np.diagonal(gram, axis1=-2, axis2=-1)[..., None]
    never = ~(lengths > 0)
    divisor = np.where(never, lengths.dtype.type(1), lengths)
    targets = np.divide(moments, divisor, order="C")
    if never.any():
        np.copyto(targets, decoders, where=never)
    others = gram / divisor
    place = np.arange(hidden)
    others[..., place, place] = 0
    decoders = decoders.copy(order="C")
    few = hidden if hidden <= FEW_ROWS else ROWS_AT_ONCE
    parts = [slice(first, min(first + few, hidden)) for first in range(0, hidden, few)]
    each = []
    for rows in parts:
        own = [slice(h, h + 1) for h in range(rows.start, rows.stop)]
        each.append([(others[..., h, rows].copy(), decoders[..., h, :]) for h in own])
        others[..., rows, rows] = 0
    found = np.empty_like(decoders[..., :1, :])
    for _ in range(sweeps):
        for rows, steps in zip(parts, each, strict=True):
            near, left = decoders[..., rows, :], targets[..., rows, :]
            if few < hidden:
                left = left - others[..., rows, :] @ decoders
            for i, (shares, row) in enumerate(steps):
                np.matmul(shares, near, out=found)
                np.subtract(left[..., i : i + 1, :], found, out=found)
                if upper != inf:
                    np.minimum(found, upper, out=found)
                np.maximum(found, 0, out=row)
    return decoders


def extrapolate(new: Array, old: Array, momentum: float | Array) -> Array:
    """Go on in the direction from ``old`` to ``new``, on a logarithmic scale.

    Parameters
    ----------
    new, old : array of the same shape
        Weights after a step, and before it.
    momentum : float or array
        How far to go on, as a multiple of the step.

    Returns
    -------
    weights : array of the same shape
        Positive where these are.

    Examples
    --------
    >>> import numpy as np
    >>> extrapolate(np.array([[2.0]]), np.array([[1.0]]), 1.0)
    array([[4.]])
    """
    xp = array_namespace(new)
    nothing = xp.astype(old <= 0, new.dtype)  # 1 where the ratio is taken for 1
    ratio = (new * (1 - nothing) + nothing) / (old + nothing)
    return new * at_least(at_most(ratio, 10.0), 0.1) ** momentum
