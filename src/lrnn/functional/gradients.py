r"""Steepest descent on the error of the whole saturating network.

Through a layer :math:`q_l = \min(d_l, 1)` with drive :math:`d_l = q_{l-1} A_l` the error flows
back as :math:`\delta_l`, and a saturated neuron passes nothing on:

.. math::
    \delta_L &= (q_L - x) \odot [d_L < 1], \qquad
    \delta_{l-1} = (\delta_l A_l^\mathsf{T}) \odot [d_{l-1} < 1], \\
    \tfrac12 \frac{\partial \|x - q_L\|^2}{\partial A_l} &= q_{l-1}^\mathsf{T} \delta_l .

Steps are taken on a logarithmic scale, or on that of square roots, so weights stay positive. Under
unit rates a neuron's weights are the probabilities of its routes, and those and the way out of the
network share the whole: a softmax over all of them, such that no row can ever sum to more than 1.

**With inhibition.** Through a layer :math:`q_l = \min(y_l, 1)`, :math:`y_l = e_l / h_l` with
excitation :math:`e_l = q_{l-1} A^+_l` and inhibition :math:`h_l = 1 + q_{l-1} A^-_l`, the error
flows back as

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from typing import Any

from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, at_least, at_most
from lrnn.functional.forward import column_sums, propagate

LARGEST = 4e9
"""Of a weight that is learnt: four of them multiplied are still a number of 32 bits."""


def error_gradients(
    inputs: Array, weights: Sequence[Array], targets: Array | None = None, unit: float = 1.0
) -> tuple[Array, list[Array]]:
    """Squared error of ``inputs`` in [0, 1] (may be sparse), a number, and half its gradients.

    With ``targets`` it is that to these, which the inputs should become.

    Parameters
    ----------
    inputs : array or sparse matrix of shape (n_rows, n_attributes)
        Data in [0, 1].
    weights : sequence of array
        Between consecutive layers.
    targets : array of the shape of the outputs, optional
        What should come out; by default the inputs.
    unit : float, default=1.0
        In which gradients are told: those of dim data are so small that their squares could not be
        told from 0.

    Returns
    -------
    error : array of no dimensions
        The sum of squared differences.
    gradients : list of array
        Half of its derivatives, by each matrix of weights.

    Examples
    --------
    >>> import numpy as np
    >>> error, (gradient,) = error_gradients(np.array([[1.0]]), [np.array([[0.5]])])
    >>> float(error), gradient
    (0.25, array([[-0.5]]))
    """
    layers = list(accumulate(weights, propagate, initial=inputs))
    xp = array_namespace(layers[-1])
    back = _difference(layers[-1], inputs if targets is None else targets)
    error = xp.sum(xp.vecdot(back, back), dtype=xp.float64)
    back = _in_units(back, unit)
    gradients: list[Array] = []
    for layer in reversed(range(len(weights))):
        back = _silenced(back, layers[layer + 1] >= 1)  # saturated neurons pass nothing on
        gradients.insert(0, layers[layer].T @ back)
        if layer:
            back = back @ weights[layer].T
    return error, gradients


def _in_units(back: Array, unit: float) -> Array:
    return back if unit == 1 else back / unit


def _difference(outputs: Array, targets: Array) -> Array:
    return outputs - (sparse.csr_array(targets) if sparse.issparse(targets) else targets)


def _silenced(back: Array, saturated: Array) -> Array:
    if is_numpy_array(back):
        back[saturated] = 0  # it is ours: no second array
        return back
    xp = array_namespace(back)
    return xp.where(saturated, xp.zeros_like(back), back)


def free_gradient(weights: Array, gradient: Array) -> Array:
    """The gradient by the logarithms of the weights.

    Parameters
    ----------
    weights : array
        Positive numbers.
    gradient : array of the same shape
        By the weights.

    Returns
    -------
    gradient : array of the same shape
        By their logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> free_gradient(np.array([2.0]), np.array([3.0]))
    array([6.])
    """
    return weights * gradient


def reweight(weights: Array, change: Array) -> Array:
    """Weights whose logarithms have changed by so much.

    None becomes too small to come back, or so large that products of a few of them overflow.

    Parameters
    ----------
    weights : array
        Positive numbers.
    change : array of the same shape
        Of their logarithms.

    Returns
    -------
    weights : array of the same shape
        Positive, too.

    Examples
    --------
    >>> import numpy as np
    >>> reweight(np.array([2.0]), np.log([3.0])).round(6)
    array([6.])
    """
    xp = array_namespace(weights)
    return at_most(at_least(weights * xp.exp(change), smallest(weights)), LARGEST)


def smallest(weights: Array) -> float:
    """A weight of this type is never less: four of them multiplied are still a number."""
    tiny = float(array_namespace(weights).finfo(weights.dtype).smallest_normal)
    return sqrt(sqrt(tiny))


def root_gradient(weights: Array, gradient: Array) -> Array:
    """The gradient by the square roots of the weights.

    Parameters
    ----------
    weights : array
        Positive numbers.
    gradient : array of the same shape
        By the weights.

    Returns
    -------
    gradient : array of the same shape
        By their square roots.

    Examples
    --------
    >>> import numpy as np
    >>> root_gradient(np.array([4.0]), np.array([3.0]))
    array([12.])
    """
    return 2 * array_namespace(weights).sqrt(weights) * gradient


def reroot(weights: Array, change: Array) -> Array:
    """Weights whose square roots have changed by so much; none becomes too small to come back.

    Parameters
    ----------
    weights : array
        Positive numbers.
    change : array of the same shape
        Of their square roots.

    Returns
    -------
    weights : array of the same shape
        Positive, too.

    Examples
    --------
    >>> import numpy as np
    >>> reroot(np.array([[0.25, 0.01]]), np.array([[0.1, -0.1]])).round(3)
    array([[0.36, 0.  ]])
    """
    xp = array_namespace(weights)
    least = sqrt(smallest(weights))
    return at_most(xp.square(at_least(xp.sqrt(weights) + change, least)), LARGEST)


def route_gradient(weights: Array, gradient: Array) -> Array:
    """The gradient by the logits of the routes; each row sums to at most 1.

    Parameters
    ----------
    weights : array of shape (n_from, n_to)
        Probabilities; no row sums to more than 1.
    gradient : array of the same shape
        By the probabilities.

    Returns
    -------
    gradient : array of the same shape
        By their logits.

    Examples
    --------
    >>> import numpy as np
    >>> route_gradient(np.array([[0.5, 0.25]]), np.array([[1.0, 0.0]]))
    array([[ 0.25 , -0.125]])
    """
    own = weights * gradient
    return own - weights * array_namespace(weights).sum(own, axis=1, keepdims=True)


def reroute(weights: Array, change: Array) -> Array:
    """Routes whose logits have changed by so much; that of the way out stays as it is.

    Parameters
    ----------
    weights : array of shape (n_from, n_to)
        Probabilities; no row sums to more than 1.
    change : array of the same shape
        Of their logits.

    Returns
    -------
    weights : array of the same shape
        Again no row sums to more than 1.

    Examples
    --------
    >>> import numpy as np
    >>> reroute(np.array([[0.5, 0.25]]), np.log([[3.0, 1.0]])).round(3)
    array([[0.75 , 0.125]])
    """
    xp = array_namespace(weights)
    tiny = float(xp.finfo(weights.dtype).eps)
    out = at_least(1 - xp.sum(weights, axis=1, keepdims=True), tiny)
    new = reweight(weights, change)
    return new / (out + xp.sum(new, axis=1, keepdims=True))


# With inhibition

Gradients = tuple[list[Array], list[Array]]
Silence = Callable[[int, Array], Array]
Price = Callable[[int], tuple[Array, Array]]


def penalised_gradients(
    inputs: Array,
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array],
    penalty: Any = None,
    targets: Array | None = None,
    unit: float = 1.0,
) -> tuple[Array, Array, Gradients]:
    """Squared error and spikes of all rows together, and gradients of error/2 + penalty × spikes.

    Gradients are by the excitatory and by the inhibitory weights. ``inputs`` in [0, 1] may be
    sparse, ``penalty`` an array of one number. Without it spikes are not counted: 0. Prices beyond
    all measure are cut off, such that steps always have a direction. With ``targets`` the error is
    that to these. Gradients of the error are told in a ``unit``; the penalty should be told in it.
    """
    xp = array_namespace(excitatory[0])
    passed = pass_on(inputs, excitatory, inhibitory)
    layers = passed.layers
    back = _difference(layers[-1], inputs if targets is None else targets)
    error = xp.sum(xp.vecdot(back, back), dtype=xp.float64)
    spikes = xp.zeros_like(error)
    price: Price | None = None
    if penalty is not None:
        rates = needed_rates(excitatory, inhibitory)
        fired = [column_sums(layer) for layer in layers[:-1]]
        shadow = shadow_prices(fired, excitatory, inhibitory)
        for rate, sums in zip(rates[:-1], fired, strict=True):
            spikes = spikes + xp.sum(rate * sums, dtype=xp.float64)

        def price(layer: int) -> tuple[Array, Array]:
            by_weights = at_most(
                penalty * shadow[layer][:, None] * rates[layer + 1][None, :], LARGEST
            )
            return by_weights, at_most(penalty * rates[layer], LARGEST)[None, :]

    return error, spikes, flow_back(passed, excitatory, inhibitory, _in_units(back, unit), price)


@dataclass(frozen=True)
class Passed:
    """What has become of inputs, layer by layer.

    Attributes
    ----------
    layers : list of arrays
        Activations, those of the inputs first.
    ratios : list of arrays
        What activations would be if no neuron saturated, from the first layer of weights on.
    divisors : list of arrays or None
        What inhibition has divided by; None without it.
    factors : list of arrays or None
        What activations were multiplied by, where some neurons were silenced.
    """

    layers: list[Array]
    ratios: list[Array]
    divisors: list[Array | None]
    factors: list[Array | None]


def pass_on(
    inputs: Array,
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array] | None,
    silence: Silence | None = None,
) -> Passed:
    """Let inputs pass all layers.

    ``silence`` gives the factors by which activations of a hidden layer, which it is told with its
    number, are multiplied.
    """
    layers, ratios, divisors, factors = [inputs], [], [], []
    for number, (plus, minus) in enumerate(_pairs(excitatory, inhibitory), 1):
        divisor = None if minus is None else 1 + layers[-1] @ minus
        ratio = layers[-1] @ plus if divisor is None else (layers[-1] @ plus) / divisor
        reached = at_most(ratio, 1)
        hidden = number < len(excitatory)
        factor = silence(number, reached) if silence is not None and hidden else None
        ratios.append(ratio)
        divisors.append(divisor)
        factors.append(factor)
        layers.append(reached if factor is None else reached * factor)
    return Passed(layers, ratios, divisors, factors)


def flow_back(
    passed: Passed,
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array] | None,
    back: Array,
    price: Price | None = None,
    first: int = 0,
) -> Gradients:
    """Gradients by the weights of layers from number ``first`` on, of what changes with outputs.

    ``back`` is the gradient by the outputs of what `pass_on` gave. The ``price`` of a layer is what
    spikes add to the gradient by its weights, and by the activations that it is given.
    """
    xp = array_namespace(back)
    layers, ratios, divisors = passed.layers, passed.ratios, passed.divisors
    plus_gradients: list[Array] = []
    minus_gradients: list[Array] = []
    for layer, (plus, minus) in reversed([*enumerate(_pairs(excitatory, inhibitory))][first:]):
        flow = xp.where(ratios[layer] >= 1, xp.zeros_like(back), back)
        if (factor := passed.factors[layer]) is not None:
            flow = flow * factor
        by_weights, by_activations = (None, None) if price is None else price(layer)
        if minus is not None:
            flow = flow / divisors[layer]
            counter = flow * ratios[layer]
            minus_gradients.insert(0, _plus(layers[layer].T @ -counter, by_weights))
        plus_gradients.insert(0, _plus(layers[layer].T @ flow, by_weights))
        if layer > first:
            back = flow @ plus.T if minus is None else flow @ plus.T - counter @ minus.T
            back = _plus(back, by_activations)
    return plus_gradients, minus_gradients


def _plus(one: Array, other: Array | None) -> Array:
    return one if other is None else one + other


def _pairs(
    excitatory: Sequence[Array], inhibitory: Sequence[Array] | None
) -> list[tuple[Array, Array | None]]:
    minus: Sequence[Array | None] = inhibitory or [None] * len(excitatory)
    return list(zip(excitatory, minus, strict=True))


def needed_rates(excitatory: Sequence[Array], inhibitory: Sequence[Array] | None) -> list[Array]:
    """Firing rates of all layers that the weights need, with output rates 1."""
    rates = [array_namespace(excitatory[-1]).ones_like(excitatory[-1][0, :])]
    for plus, minus in reversed(_pairs(excitatory, inhibitory)):
        rate = plus @ rates[0]
        rates.insert(0, _finite(rate if minus is None else rate + minus @ rates[0]))
    return rates


def shadow_prices(
    fired: Sequence[Array], excitatory: Sequence[Array], inhibitory: Sequence[Array] | None
) -> list[Array]:
    """What a unit of rate at each layer's end costs, in spikes of the layers before it."""
    prices = [fired[0]]
    for sums, (plus, minus) in zip(fired[1:], _pairs(excitatory, inhibitory), strict=False):
        price = sums + plus.T @ prices[-1]
        prices.append(_finite(price if minus is None else price + minus.T @ prices[-1]))
    return prices


def _finite(numbers: Array) -> Array:
    """Never so large that a product of two of them, or one with a weight, is beyond all numbers."""
    return at_most(numbers, float(array_namespace(numbers).finfo(numbers.dtype).max) ** 0.45)
