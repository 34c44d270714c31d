r"""Gradients of the full random neural network, with inhibition and a price for spikes.

Through a layer :math:`q_l = \min(y_l, 1)`, :math:`y_l = e_l / h_l` with excitation
:math:`e_l = q_{l-1} A^+_l` and inhibition :math:`h_l = 1 + q_{l-1} A^-_l`, the error flows back as

.. math::
    g_l &= \delta_l \odot [y_l < 1] / h_l, \qquad
    \frac{\partial}{\partial A^+_l} = q_{l-1}^\mathsf{T} g_l, \qquad
    \frac{\partial}{\partial A^-_l} = -q_{l-1}^\mathsf{T} (g_l \odot y_l), \\
    \delta_{l-1} &= g_l A^{+\mathsf{T}}_l - (g_l \odot y_l) A^{-\mathsf{T}}_l .

Spikes cost what neurons fire: with output rates 1, rates are :math:`r_{l-1} = P_l r_l` with
:math:`P_l = A^+_l + A^-_l`, and a row costs :math:`\sum_{l<L} r_l \cdot q_l`. With
:math:`s_0 = q_0` and :math:`s_l = q_l + P_l^\mathsf{T} s_{l-1}` its gradient by :math:`P_l` is
:math:`s_{l-1} r_l^\mathsf{T}`, and that by :math:`q_l` is :math:`r_l`.
"""

from collections.abc import Sequence
from typing import Any

from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, at_most
from lrnn.functional.gradients import LARGEST

Gradients = tuple[list[Array], list[Array]]


def penalised_gradients(
    inputs: Array, excitatory: Sequence[Array], inhibitory: Sequence[Array], penalty: Any = None
) -> tuple[Array, Array, Gradients]:
    """Squared error and spikes of all rows together, and gradients of error/2 + penalty × spikes.

    Gradients are by the excitatory and by the inhibitory weights. ``inputs`` in [0, 1] may be
    sparse, ``penalty`` an array of one number. Without it spikes are not counted: 0. Prices beyond
    all measure are cut off, such that steps always have a direction.
    """
    xp = array_namespace(excitatory[0])
    layers, ratios, inhibitions = [inputs], [], []
    for plus, minus in zip(excitatory, inhibitory, strict=True):
        inhibition = 1 + layers[-1] @ minus
        ratio = (layers[-1] @ plus) / inhibition
        ratios.append(ratio)
        inhibitions.append(inhibition)
        layers.append(at_most(ratio, 1))
    back = layers[-1] - (sparse.csr_array(inputs) if sparse.issparse(inputs) else inputs)
    error = xp.sum(xp.vecdot(back, back), dtype=xp.float64)
    spikes = xp.zeros_like(error)
    if penalty is not None:
        rates = _rates(excitatory, inhibitory)
        fired = [_sums(layer) for layer in layers[:-1]]
        prices = _prices(fired, excitatory, inhibitory)
        for rate, sums in zip(rates[:-1], fired, strict=True):
            spikes = spikes + xp.sum(rate * sums, dtype=xp.float64)
    plus_gradients: list[Array] = []
    minus_gradients: list[Array] = []
    for layer in reversed(range(len(excitatory))):
        flow = xp.where(ratios[layer] >= 1, xp.zeros_like(back), back) / inhibitions[layer]
        counter = flow * ratios[layer]
        by_plus, by_minus = layers[layer].T @ flow, -(layers[layer].T @ counter)
        if penalty is not None:
            price = at_most(penalty * prices[layer][:, None] * rates[layer + 1][None, :], LARGEST)
            by_plus, by_minus = by_plus + price, by_minus + price
        plus_gradients.insert(0, by_plus)
        minus_gradients.insert(0, by_minus)
        if layer:
            back = flow @ excitatory[layer].T - counter @ inhibitory[layer].T
            if penalty is not None:
                back = back + at_most(penalty * rates[layer], LARGEST)[None, :]
    return error, spikes, (plus_gradients, minus_gradients)


def _rates(excitatory: Sequence[Array], inhibitory: Sequence[Array]) -> list[Array]:
    rates = [array_namespace(excitatory[-1]).ones_like(excitatory[-1][0, :])]
    for plus, minus in zip(reversed(excitatory), reversed(inhibitory), strict=True):
        rates.insert(0, _finite(plus @ rates[0] + minus @ rates[0]))
    return rates


def _prices(
    fired: Sequence[Array], excitatory: Sequence[Array], inhibitory: Sequence[Array]
) -> list[Array]:
    """What a unit of rate at each layer's end costs, in spikes of the layers before it."""
    prices = [fired[0]]
    for layer in range(1, len(fired)):
        before = prices[-1]
        plus, minus = excitatory[layer - 1], inhibitory[layer - 1]
        prices.append(_finite(fired[layer] + plus.T @ before + minus.T @ before))
    return prices


def _finite(numbers: Array) -> Array:
    """Never so large that a product of two of them, or one with a weight, is beyond all numbers."""
    return at_most(numbers, float(array_namespace(numbers).finfo(numbers.dtype).max) ** 0.45)


def _sums(layer: Array) -> Array:
    if sparse.issparse(layer):
        return layer.sum(axis=0)
    return array_namespace(layer).sum(layer, axis=0)
