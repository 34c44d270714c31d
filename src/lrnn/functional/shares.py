r"""Classes as shares of the output spikes: probabilities, their cross-entropy, and its gradients.

Output neuron *c* of a row fires with probability :math:`q_c` at rate 1, so of all output spikes
:math:`p_c = q_c / \sum_k q_k` are its own: the probability of its class. With targets
:math:`t_c \ge 0` (the weight of the row for its class, 0 for the others) a row costs
:math:`-\sum_c t_c \log p_c`, and

.. math::
    \frac{\partial}{\partial q_c} = \frac{1}{\sum_k q_k}
        \left( \sum_k t_k - \frac{t_c}{p_c} \right),

which flows back through the layers as every error does (see :mod:`lrnn.functional.gradients`).

**Spikes per decision.** Input and hidden layers fire :math:`F = \sum_{l<L} r_l \cdot q_l` spikes
per unit time, the outputs :math:`\sum_c q_c`; their ratio S is what an output spike takes. Each
spike that leaves an output neuron has come to it from a hidden one, and so on, so that S is at
least the number of these layers. A price on log S has the gradient
:math:`-1/\sum_k q_k` by every output and :math:`1/F` times that of F, row by row.
"""

from collections.abc import Sequence
from typing import Any

from array_api_compat import array_namespace

from lrnn.arrays import Array, at_most
from lrnn.functional.forward import column_sums
from lrnn.functional.gradients import (
    LARGEST,
    Gradients,
    Price,
    Silence,
    flow_back,
    needed_rates,
    pass_on,
    shadow_prices,
)

LEAST_SHARE = 1e-9  # is added to a share before its logarithm is taken


def shares(outputs: Array) -> Array:
    """Each neuron's share of its row's spikes; equal shares where nothing fires.

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([[0.1, 0.3], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    xp = array_namespace(outputs)
    total = xp.sum(outputs, axis=1, keepdims=True)
    equal = xp.full_like(outputs, 1 / outputs.shape[1])
    return xp.where(total > 0, outputs / _or_one(total), equal)


def cross_entropy(probabilities: Array, targets: Array) -> Array:
    """The cross-entropy of all rows together, a number of float64."""
    xp = array_namespace(probabilities)
    return -xp.sum(targets * xp.log(probabilities + LEAST_SHARE), dtype=xp.float64)


def log_spikes(layers: Sequence[Array], rates: Sequence[Array], scale: float = 0.0) -> Array:
    """Logarithm of the firings per output spike, for each row; 0 where nothing fires at the end.

    ``layers`` are the activations of all layers, the first of which may be sparse; ``rates`` those
    of all but the last, beside some rate whose logarithm is ``scale``.

    Examples
    --------
    >>> import numpy as np
    >>> layers = [np.array([[0.5]]), np.array([[0.25]]), np.array([[0.1, 0.15]])]
    >>> np.exp(log_spikes(layers, [np.array([2.0]), np.array([4.0])])).round(6)
    array([8.])
    """
    xp = array_namespace(layers[-1])
    fired = sum((q @ rate for q, rate in zip(layers[:-1], rates, strict=True)), start=0.0)
    total = xp.sum(layers[-1], axis=1)
    found = scale + xp.log(_or_one(fired)) - xp.log(_or_one(total))
    return xp.where(total > 0, found, xp.zeros_like(found))


def share_gradients(
    inputs: Array,
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array] | None,
    targets: Array,
    penalty: Any = None,
    first: int = 0,
    silence: Silence | None = None,
) -> tuple[Array, Gradients]:
    """Cross-entropy of all rows (may be sparse) and the price of their spikes, and its gradients.

    With a ``penalty`` that times log S is added for each row, as often as its targets weigh. Of the
    layers before number ``first`` no gradients are taken. Some hidden neurons may be silenced (see
    `pass_on`).

    Parameters
    ----------
    inputs : array or sparse matrix of shape (n_rows, n_attributes)
        Data in [0, 1].
    excitatory : sequence of array
        Weights between consecutive layers.
    inhibitory : sequence of array or None
        Those that inhibit, if any.
    targets : array of shape (n_rows, n_classes)
        What each row weighs, for its class.
    penalty : float, optional
        What the logarithm of the spikes per output spike costs.
    first : int, default=0
        The first layer that learns.
    silence : callable, optional
        What becomes of hidden activations, by the number of their layer.

    Returns
    -------
    loss : array of no dimensions
        Summed over rows.
    gradients : (list of array, list of array)
        By the weights that excite and by those that inhibit.
    """
    passed = pass_on(inputs, excitatory, inhibitory, silence)
    layers = passed.layers
    xp = array_namespace(layers[-1])
    total = xp.sum(layers[-1], axis=1, keepdims=True)
    found = shares(layers[-1])
    pull = targets / (found + LEAST_SHARE)
    back = xp.sum(pull * found, axis=1, keepdims=True) - pull
    loss, price = cross_entropy(found, targets), None
    if penalty is not None:
        weights = xp.sum(targets, axis=1)
        rates = needed_rates(excitatory, inhibitory)
        loss = loss + penalty * xp.sum(weights * log_spikes(layers, rates[:-1]), dtype=xp.float64)
        back = back - penalty * weights[:, None]
        price = _log_price(layers, rates, penalty * weights, excitatory, inhibitory)
    back = xp.where(total > 0, back / _or_one(total), xp.zeros_like(back))
    return loss, flow_back(passed, excitatory, inhibitory, back, price, first)


def _log_price(
    layers: Sequence[Array],
    rates: Sequence[Array],
    penalties: Array,
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array] | None,
) -> Price:
    """What the logarithm of a row's firings adds to gradients, times the row's own penalty."""
    fired = sum((q @ rate for q, rate in zip(layers[:-1], rates[:-1], strict=True)), start=0.0)
    each = penalties / _or_one(fired)
    sums = [column_sums(layer, weights=each) for layer in layers[:-1]]
    shadow = shadow_prices(sums, excitatory, inhibitory)

    def price(layer: int) -> tuple[Array, Array]:
        by_weights = at_most(shadow[layer][:, None] * rates[layer + 1][None, :], LARGEST)
        return by_weights, at_most(each[:, None] * rates[layer][None, :], LARGEST)

    return price


def _or_one(numbers: Array) -> Array:
    """Numbers, and 1 in the place of 0: what is divided by them is 0 there, too."""
    xp = array_namespace(numbers)
    return xp.where(numbers > 0, numbers, xp.ones_like(numbers))
