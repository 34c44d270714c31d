r"""Steepest descent on the error of the whole saturating network.

Through a layer :math:`q_l = \min(d_l, 1)` with drive :math:`d_l = q_{l-1} A_l` the error flows
back as :math:`\delta_l`, and a saturated neuron passes nothing on:

.. math::
    \delta_L &= (q_L - x) \odot [d_L < 1], \qquad
    \delta_{l-1} = (\delta_l A_l^\mathsf{T}) \odot [d_{l-1} < 1], \\
    \tfrac12 \frac{\partial \|x - q_L\|^2}{\partial A_l} &= q_{l-1}^\mathsf{T} \delta_l .

Steps are taken on a logarithmic scale, so weights stay positive. Under unit rates a neuron's
weights are the probabilities of its routes, and those and the way out of the network share the
whole: a softmax over all of them, such that no row can ever sum to more than 1.
"""

from collections.abc import Sequence
from itertools import accumulate

from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, at_least, at_most
from lrnn.functional.forward import propagate

LARGEST = 4e9
"""Of a weight that is learnt: four of them multiplied are still a number of 32 bits."""


def error_gradients(inputs: Array, weights: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Squared error of ``inputs`` in [0, 1] (may be sparse), a number, and half its gradients."""
    layers = list(accumulate(weights, propagate, initial=inputs))
    xp = array_namespace(layers[-1])
    back = layers[-1] - (sparse.csr_array(inputs) if sparse.issparse(inputs) else inputs)
    error = xp.sum(xp.vecdot(back, back), dtype=xp.float64)
    gradients: list[Array] = []
    for layer in reversed(range(len(weights))):
        back = _silenced(back, layers[layer + 1] >= 1)  # saturated neurons pass nothing on
        gradients.insert(0, layers[layer].T @ back)
        if layer:
            back = back @ weights[layer].T
    return error, gradients


def _silenced(back: Array, saturated: Array) -> Array:
    if is_numpy_array(back):
        back[saturated] = 0  # it is ours: no second array
        return back
    xp = array_namespace(back)
    return xp.where(saturated, xp.zeros_like(back), back)


def free_gradient(weights: Array, gradient: Array) -> Array:
    """The gradient by the logarithms of the weights."""
    return weights * gradient


def reweight(weights: Array, change: Array) -> Array:
    """Weights whose logarithms have changed by so much.

    None becomes too small to come back, or so large that products of a few of them overflow.
    """
    xp = array_namespace(weights)
    smallest = float(xp.finfo(weights.dtype).smallest_normal) ** 0.25
    return at_most(at_least(weights * xp.exp(change), smallest), LARGEST)


def route_gradient(weights: Array, gradient: Array) -> Array:
    """The gradient by the logits of the routes; each row sums to at most 1."""
    own = weights * gradient
    return own - weights * array_namespace(weights).sum(own, axis=1, keepdims=True)


def reroute(weights: Array, change: Array) -> Array:
    """Routes whose logits have changed by so much; that of the way out stays as it is.

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
