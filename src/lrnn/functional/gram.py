r"""Full-batch steps on the second moment :math:`G = X^\mathsf{T}X/n` of the data.

While no hidden neuron saturates, with :math:`B = W^\mathsf{T}G`, :math:`A = W^\mathsf{T}GW` and
:math:`M = \overline{W}\,\overline{W}^\mathsf{T}`,

.. math:: \tfrac1n \|X - XW\overline{W}\|^2
          = \operatorname{tr} G - 2\langle B, \overline{W}\rangle + \langle A, M\rangle .
"""

from math import inf

from array_api_compat import array_namespace

from lrnn.arrays import Array, at_least, at_most, backend_of, copied


def gram_error(trace: float, moments: Array, gram: Array, decoder: Array) -> float:
    """Squared error of a row, from ``moments`` B = WᵀG and ``gram`` A = WᵀGW."""
    return max(trace + float(gram_cost(moments, gram, decoder)), 0.0)


def gram_cost(moments: Array, gram: Array, decoder: Array, own: Array | None = None) -> Array:
    """That error less the trace of G: what depends on the weights, a number where they are.

    ``own`` is the decoder's M, where it is known.
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
    """
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


def extrapolate(new: Array, old: Array, momentum: float) -> Array:
    """Go on in the direction from ``old`` to ``new``, on a logarithmic scale."""
    xp = array_namespace(new)
    one = xp.ones_like(new)
    ratio = xp.where(old > 0, new / xp.where(old > 0, old, one), one)
    return new * at_least(at_most(ratio, 10.0), 0.1) ** momentum
