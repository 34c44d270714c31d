r"""Codes refined against a decoder: nonnegative least squares, one coordinate after the other.

Given a decoder :math:`\overline{W}`, a code neuron at a time goes to where

.. math:: \|x - q \overline{W}\|^2, \qquad 0 \le q_h \le u,

is least, the others staying where they are; a *sweep* goes through all of them. A row needs its
data only through :math:`x \overline{W}^\mathsf{T}`, so sparse rows stay sparse, and then the
:math:`H \times H` matrix :math:`M = \overline{W}\,\overline{W}^\mathsf{T}`. No step raises the
error. Codes are probabilities, so :math:`u = 1`; the factors of a factorisation have no such bound.

Where cells are missing, the sum is over the known ones, and each pattern of them has a matrix
:math:`M` of its own. Patterns get it where many rows share them, or sweeps are many; the other rows
keep their residuals, :math:`V` numbers, up to date instead.

Outputs of a network saturate: what counts is :math:`\|x - \min(q \overline{W}, 1)\|^2`. Where an
output :math:`y` is above 1, :math:`(y - q \overline{W})^2 + (x - 1)^2` is an upper bound of its
share that is exact at the present codes. So a sweep towards :math:`y` in these cells, and :math:`x`
in the others, cannot raise the error either.
"""

from math import inf
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, at_least, at_most, backend_of, copied
from lrnn.functional.gram import descend_decoder

OF_PATTERN = 5e5  # multiplications by residuals that take as long as a pattern's overhead
FASTER = 14.0  # than these is a matrix product


def refined_codes(
    inputs: Array,
    decoder: Array,
    codes: Array | None = None,
    sweeps: int = 1,
    *,
    upper: float | None = 1.0,
    known: Array | None = None,
    saturating: bool = False,
) -> Array:
    """Codes of ``inputs``, improved for a linear ``decoder`` by sweeps of coordinate descent.

    Parameters
    ----------
    inputs : array or sparse array of shape (n_rows, n_attributes)
        The data. What is in cells that are not known does not matter; it may be NaN.
    decoder : array of shape (n_code, n_attributes)
        What each code neuron adds to the output.
    codes : array of shape (n_rows, n_code), optional
        Where to begin; by default at 0.
    sweeps : int, default=1
        How often each code goes to its optimum. A row whose codes do not move any more is done.
    upper : float or None, default=1.0
        Codes stay in [0, upper].
    known : array of bool of shape (n_rows, n_attributes), optional
        Which cells count; by default all do.
    saturating : bool, default=False
        Whether outputs are at most 1, as those of a network.

    Returns
    -------
    refined : array of shape (n_rows, n_code)
        A new array. Codes of neurons whose decoder is 0 in all cells that count stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> decoder = np.array([[1.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    >>> refined_codes(np.array([[0.2, 0.6, 0.4]]), decoder, sweeps=50).round(6)
    array([[0.2, 0.8]])
    >>> x = np.array([[np.nan, 0.6, 0.4]])
    >>> refined_codes(x, decoder, sweeps=50, known=~np.isnan(x)).round(6)
    array([[0.2, 0.8]])
    """
    if known is not None and sparse.issparse(inputs):
        inputs = inputs.toarray()
    xp = array_namespace(decoder)
    dtype = decoder.dtype if sparse.issparse(inputs) else xp.result_type(inputs, decoder)
    if sparse.issparse(inputs):
        dtype = np.result_type(inputs.dtype, dtype)
    decoder = xp.astype(decoder, dtype, copy=False)
    shape, device = (inputs.shape[0], decoder.shape[0]), backend_of(decoder).device
    if codes is None:
        codes = xp.zeros(shape, dtype=dtype, device=device)
    codes = copied(xp.astype(codes, dtype, copy=False))
    high = inf if upper is None else float(upper)
    codes = at_most(at_least(codes, 0), high)
    if known is not None and bool(xp.all(known)):
        known = None
    if known is not None:
        inputs = xp.where(known, inputs, xp.zeros_like(inputs))  # no NaN
    for some in _rounds(sweeps, known is None) if saturating else (sweeps,):
        wanted = _beyond(inputs, codes @ decoder) if saturating else inputs
        if known is None:
            codes = _complete(wanted, decoder, codes, some, high)
        else:
            codes = _masked(wanted, decoder, codes, some, high, known)
    return codes


def _rounds(sweeps: int, cheap: bool) -> list[int]:
    """Sweeps between two looks at what saturates: one, or a quarter where they begin slowly."""
    each = 1 if cheap else -(-sweeps // 4)
    return [min(each, sweeps - done) for done in range(0, sweeps, max(each, 1))]


def _beyond(inputs: Array, outputs: Array) -> Array:
    """What the codes are to give: the data, or outputs that saturate."""
    xp = array_namespace(outputs)
    over = outputs > 1
    if not bool(xp.any(over)):
        return inputs
    full = inputs.toarray() if sparse.issparse(inputs) else inputs
    return xp.where(over, outputs, full)


def _complete(inputs: Array, decoder: Array, codes: Array, sweeps: int, upper: float) -> Array:
    """Sweeps over codes of rows without gaps."""
    gram, wanted = decoder @ decoder.T, inputs @ decoder.T
    if not is_numpy_array(codes):
        return descend_decoder(wanted.T, gram, codes.T, sweeps, upper).T
    from lrnn.functional.code_kernels import by_gram

    slope = np.ascontiguousarray(wanted - codes @ gram)
    by_gram(codes, slope, gram, sweeps, *_limits(codes.dtype, upper))
    return codes


def _masked(
    inputs: Array, decoder: Array, codes: Array, sweeps: int, upper: float, known: Array
) -> Array:
    """Sweeps over codes of rows; what is in unknown cells is left out."""
    if not is_numpy_array(codes):
        return _masked_anywhere(inputs, decoder, codes, sweeps, upper, known)
    packed = np.packbits(known, axis=1)
    _, first, pattern, count = np.unique(
        packed, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    pattern = pattern.reshape(-1)
    hidden, width = decoder.shape
    shared = 2.0 * width * hidden * sweeps * count > OF_PATTERN + width * hidden**2 / FASTER
    if shared.any():
        from lrnn.functional.code_kernels import by_gram

        whole, wanted = decoder @ decoder.T, np.where(known, inputs, 0) @ decoder.T
        rounding = 64 * np.finfo(codes.dtype).eps  # of a difference of sums
        for number in np.flatnonzero(shared):
            rows = np.flatnonzero(pattern == number) if count[number] > 1 else first[[number]]
            cells = known[rows[0]]
            few = 2 * np.count_nonzero(cells) < width
            some = decoder[:, cells if few else ~cells]
            gram = some @ some.T if few else whole - some @ some.T
            unseen = np.diagonal(gram) < rounding * np.diagonal(whole)
            gram[unseen, unseen] = 0
            own = codes[rows]
            by_gram(own, wanted[rows] - own @ gram, gram, sweeps, *_limits(codes.dtype, upper))
            codes[rows] = own
    alone = np.flatnonzero(~shared[pattern])
    if len(alone):
        from lrnn.functional.code_kernels import by_residuals

        mask = known[alone].astype(codes.dtype)
        own = codes[alone]
        residual = np.ascontiguousarray(mask * (inputs[alone] - own @ decoder), codes.dtype)
        lengths = mask @ (decoder * decoder).T
        limits = _limits(codes.dtype, upper)
        by_residuals(own, residual, mask, np.ascontiguousarray(decoder), lengths, sweeps, *limits)
        codes[alone] = own
    return codes


def _masked_anywhere(
    inputs: Array, decoder: Array, codes: Array, sweeps: int, upper: float, known: Array
) -> Array:
    """The same for arrays of any namespace, all rows at once."""
    xp = array_namespace(decoder)
    mask = xp.astype(known, decoder.dtype)
    residual = mask * (xp.astype(inputs, decoder.dtype) - codes @ decoder)
    lengths = mask @ (decoder * decoder).T
    seen = lengths > _smallest(xp.finfo(decoder.dtype))
    divisor = xp.where(seen, lengths, xp.ones_like(lengths))
    for _ in range(sweeps):
        for h in range(decoder.shape[0]):
            moved = codes[:, h] + (residual @ decoder[h, :]) / divisor[:, h]
            moved = at_most(at_least(moved, 0), upper)
            step = xp.where(seen[:, h], moved - codes[:, h], xp.zeros_like(moved))
            codes[:, h] += step
            residual -= mask * (step[:, None] * decoder[h, :][None, :])
    return codes


def _limits(dtype: Any, upper: float) -> tuple[Any, Any]:
    """The highest code, and the least length of a decoder that counts, as numbers of this type."""
    kind = np.dtype(dtype).type
    return kind(upper), kind(_smallest(np.finfo(dtype)))


def _smallest(limits: Any) -> float:
    return float(limits.smallest_normal) / float(limits.eps)
