r"""Corrupted inputs: their means and variances, and samples of them.

*Masked* ones: a cell is 0 with some probability, independently of the others. *Noisy* ones:
:math:`\tilde x = \min(\max(x + \sigma\varepsilon, 0), 1)` with a standard normal
:math:`\varepsilon` for each cell. With :math:`\alpha = x/\sigma`, :math:`\beta = (1-x)/\sigma`, the
normal density :math:`\varphi` and tail :math:`Q`,

.. math::
    \mathrm{E}\,\tilde x &= x + \sigma\,(L(\alpha) - L(\beta)), & L(z) &= \varphi(z) - z\,Q(z), \\
    \mathrm{E}\,(\tilde x - x)^2 &= \sigma^2 (1 - K(\alpha) - K(\beta)), &
    K(z) &= (1 - z^2)\,Q(z) + z\,\varphi(z) .

Samples are functions of a key and of a cell's number (splitmix64; Steele, Lea & Flood 2014): the
same for arrays of all libraries, however the rows are divided into blocks.
"""

from math import log, pi, sqrt, tau
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_cupy_array, is_numpy_array, is_torch_array
from scipy import sparse
from scipy.special import ndtr

from lrnn.arrays import Array, at_least, at_most, backend_of, like, to_numpy

FAR = 40.0  # standard deviations, beyond which there is nothing
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
FINE = 40  # bits that decide whether a cell is masked
RARE = 1e-9  # probability that a drive is beyond what `highest_drives` says, at most


def clipped_noise(values: Array, deviation: float) -> tuple[Array, Array]:
    """Means and variances of ``values`` in [0, 1] with Gaussian noise, clipped to [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> means, variances = clipped_noise(np.array([0.0, 0.5, 1.0]), 0.1)
    >>> means.round(4)
    array([0.0399, 0.5   , 0.9601])
    >>> variances.round(4)
    array([0.0034, 0.01  , 0.0034])
    """
    if is_numpy_array(values):
        values = np.ascontiguousarray(values)
        means, variances = np.empty_like(values), np.empty_like(values)
        from lrnn.functional.corruption_kernels import clip_noise

        clip_noise(values.reshape(-1), deviation, means.reshape(-1), variances.reshape(-1))
        return means, variances
    low, low_square = _lost(values, deviation)
    high, high_square = _lost(1 - values, deviation)
    shift = low - high
    square = 1 - low_square - high_square
    return values + deviation * shift, deviation**2 * at_least(square - shift * shift, 0)


def _lost(distance: Array, deviation: float) -> tuple[Array, Array]:
    """L and K at the distance to a bound: what clipping takes from noise and from its square."""
    xp = array_namespace(distance)
    z = at_most(distance, FAR * deviation) / deviation
    tail, density = normal_cdf(-z), xp.exp(-z * z / 2) / sqrt(tau)
    return density - z * tail, (1 - z * z) * tail + z * density


def normal_cdf(z: Array) -> Array:
    """The standard normal distribution function."""
    if is_torch_array(z):
        import torch

        return torch.special.ndtr(z)
    if is_cupy_array(z):
        from cupyx.scipy.special import ndtr as on_device

        return on_device(z)
    return like(z, ndtr(to_numpy(z)))


def highest_drives(
    means: Array, variances: Array, encoder: Array, offsets: tuple[float, float] = (0.0, 0.0)
) -> Array:
    """Drives that hardly any corrupted row passes, for each row and each column of ``encoder``.

    ``means`` and ``variances`` of the cells may be sparse, and less by ``offsets``. Cells are
    independent and in [0, 1], so by Bernstein's inequality the drive is above this with a
    probability of at most ``RARE``. It is never more than that of a row of ones.
    """
    xp = array_namespace(encoder)
    squares = encoder * encoder
    average = means @ encoder + offsets[0] * xp.sum(encoder, axis=0)
    spread = variances @ squares + offsets[1] * xp.sum(squares, axis=0)
    unlikely = -log(RARE)
    jump = unlikely / 3 * xp.max(encoder, axis=0)
    most = average + jump + xp.sqrt(jump * jump + 2 * unlikely * at_least(spread, 0))
    return xp.minimum(most, xp.sum(encoder, axis=0)[None, :])


# Samples


def masked(block: Array, share: float, key: int, start: Any) -> Array:
    """``block`` with about this share of its cells set to 0; it may be sparse, and stays so.

    Cells are numbered from ``start`` on, row by row; the same numbers mask the same cells.
    """
    least = int(share * (1 << FINE))
    if sparse.issparse(block):
        found = sparse.csr_array(block, copy=True)
        found.data[_high_bits(random_bits(key, start + _places(found)), FINE) < least] = 0
        return found
    if is_numpy_array(block):
        return _each("mask", block, np.uint64(least), key, start)
    xp = array_namespace(block)
    kept = _high_bits(random_bits(key, _numbers(block, start)), FINE) >= least
    return xp.where(kept, block, xp.zeros_like(block))


def noisy(block: Array, deviation: float, key: int, start: Any) -> Array:
    """``block`` with Gaussian noise, clipped to [0, 1]; a sparse one becomes a full one.

    Cells are numbered as in `masked`; the same numbers are the same noise.
    """
    if sparse.issparse(block):
        block = block.toarray()
    if is_numpy_array(block):
        return _each("add_noise", block, block.dtype.type(deviation), key, start)
    xp = array_namespace(block)
    bits = random_bits(key, _numbers(block, start))
    one = (xp.astype(_high_bits(bits, 32), block.dtype) + 0.5) / 2.0**32
    other = xp.astype(bits & 0xFFFFFFFF, block.dtype) / 2.0**32
    normal = xp.sqrt(-2 * xp.log(one)) * xp.cos(2 * pi * other)  # Box & Muller
    return at_most(at_least(block + deviation * normal, 0), 1)


def random_bits(key: int, numbers: Array) -> Array:
    """64 random bits for each number, as integers with a sign."""
    found = numbers * _signed(GOLDEN) + _signed(key)
    found = (found ^ _high_bits(found, 34)) * _signed(FIRST)
    found = (found ^ _high_bits(found, 37)) * _signed(SECOND)
    return found ^ _high_bits(found, 33)


def key_of(seed: int, purpose: int) -> int:
    """A key of 64 bits: others for other seeds and purposes."""
    return int(random_bits(seed, np.array([purpose], dtype=np.int64))[0]) % (1 << 64)


def _high_bits(bits: Array, count: int) -> Array:
    """The highest of 64 bits."""
    return (bits >> (64 - count)) & ((1 << count) - 1)


def _signed(number: int) -> int:
    """As an integer of 64 bits with a sign."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _numbers(block: Array, start: Any) -> Array:
    backend = backend_of(block)
    xp = backend.xp
    rows, columns = block.shape
    first = xp.reshape(xp.arange(rows, dtype=xp.int64, device=backend.device), (rows, 1))
    return start + first * columns + xp.arange(columns, dtype=xp.int64, device=backend.device)


def _places(block: Any) -> Any:
    """Numbers of the cells that a CSR array stores, from 0 on."""
    rows = np.repeat(np.arange(block.shape[0], dtype=np.int64), np.diff(block.indptr))
    return rows * block.shape[1] + block.indices


def _each(kernel: str, block: Any, level: Any, key: int, start: int) -> Any:
    from lrnn.functional import corruption_kernels  # compiled, by those who need them

    block = np.ascontiguousarray(block)
    found = np.empty_like(block)
    work = getattr(corruption_kernels, kernel)
    work(block.reshape(-1), level, np.uint64(key), np.uint64(start), found.reshape(-1))
    return found
