r"""Missing cells, filled by codes that are probable as well as fitting.

Rows are taken for :math:`x = qD + \varepsilon`, with noise of variance :math:`\sigma^2` in each
cell and codes of mean :math:`\mu` and covariance :math:`\Sigma`. Of a row with gaps the most
probable codes :math:`q \ge 0` minimise

.. math:: \sum_{v\ \text{known}} (x_v - (qD)_v)^2
          + \sigma^2 (q - \mu)\,\Sigma^{-1} (q - \mu)^\mathsf{T},

which, with :math:`\sigma^2 \Sigma^{-1} = RR^\mathsf{T}`, is the problem of refined codes for a row
that goes on with :math:`\mu R`, under a decoder that goes on with :math:`R`. Without the second
term codes fit the known cells too well and the others badly, wherever there are not many more known
cells than codes.

Both moments of the codes are those of the data, :math:`\mu = \bar x D^+` and
:math:`\Sigma = D^{+\mathsf{T}}\operatorname{Cov}(x) D^+ - \sigma^2 (DD^\mathsf{T})^{-1}`.
"""

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Floats, at_least, at_most, backend_of
from lrnn.functional.codes import refined_codes

SWEEPS = 30  # over the codes of rows with gaps
LEAST = 1e-3  # of the largest variance of a combination of codes is that of any


def code_prior(
    decoder: Floats, mean: Floats, scatter: Floats, noise: float
) -> tuple[Floats, Floats]:
    """What is known of codes before a row is seen: their mean, and the root R.

    ``scatter`` is the covariance of ``x @ pinv(decoder)``, which noise of the cells makes larger
    than that of the codes.

    Parameters
    ----------
    decoder : ndarray of shape (n_parts, n_attributes)
        The parts.
    mean : ndarray of shape (n_attributes,)
        Of the rows.
    scatter : ndarray of shape (n_parts, n_parts)
        Their covariance, with noise.
    noise : float
        Of the cells.

    Returns
    -------
    codes : ndarray of shape (n_parts,)
        The mean.
    root : ndarray of shape (n_parts, n_parts)
        The root R.
    """
    own = scatter - noise * np.linalg.pinv(decoder @ decoder.T, rcond=1e-9, hermitian=True)
    variances, axes = np.linalg.eigh((own + own.T) / 2)
    variances = np.maximum(variances, max(LEAST * variances.max(), 1e-12))
    return mean @ np.linalg.pinv(decoder, rcond=1e-6), axes * np.sqrt(noise / variances)


def fill_gaps(block: Array, decoder: Array, codes: Array, root: Array) -> Array:
    """Rows in [0, 1] whose NaN become what their most probable codes give; others stay.

    ``codes`` and ``root`` are what `code_prior` gives. A row of nothing but NaN becomes
    ``codes @ decoder``.

    Parameters
    ----------
    block : array of shape (n_rows, n_attributes)
        Numbers in [0, 1], and NaN.
    decoder : array of shape (n_parts, n_attributes)
        The parts.
    codes : array of shape (n_parts,)
        The mean of the codes.
    root : array of shape (n_parts, n_parts)
        The root R.

    Returns
    -------
    filled : array of the same shape
        Without NaN.

    Examples
    --------
    >>> import numpy as np
    >>> decoder, codes, root = np.array([[1.0, 0.5]]), np.array([0.2]), np.array([[1e-6]])
    >>> fill_gaps(np.array([[0.6, np.nan]]), decoder, codes, root).round(3)
    array([[0.6, 0.3]])
    """
    xp = array_namespace(block)
    gaps = xp.isnan(block)
    gappy = xp.any(gaps, axis=1)
    some = xp.nonzero(gappy)[0]
    if some.shape[0] == 0:
        return block
    rows = xp.take(block, some, axis=0)
    count, device = rows.shape[0], backend_of(block).device
    ones = xp.ones((count, 1), dtype=block.dtype, device=device)
    sure = xp.ones((count, root.shape[1]), dtype=xp.bool, device=device)
    known = xp.concat([~xp.isnan(rows), sure], axis=1)
    start = at_least(ones * codes[None, :], 0)
    wider = xp.concat([rows, ones * (codes @ root)[None, :]], axis=1)
    longer = xp.concat([decoder, root], axis=1)
    found = refined_codes(wider, longer, start, SWEEPS, upper=None, known=known)
    fills = xp.astype(at_most(found @ decoder, 1), block.dtype, copy=False)
    places = xp.cumulative_sum(xp.astype(gappy, xp.int64), axis=0) - 1  # of rows among those
    return xp.where(gaps, xp.take(fills, at_least(places, 0), axis=0), block)
