r"""Any nonnegative weights as firing rates × routing probabilities.

In a random neural network a weight is *rate × probability*, and rates need not be 1. For
effective weights :math:`A^\pm_1 \dots A^\pm_L \ge 0` between consecutive layers, set the output
rates to 1 and go backwards:

.. math::
    r_{l-1,i} = \sum_j (A^+_l + A^-_l)_{ij}\, r_{l,j} \quad (1 \text{ where that is } 0), \qquad
    p^\pm_{l,ij} = A^\pm_{l,ij}\, r_{l,j} / r_{l-1,i} .

Each row of :math:`p^+_l + p^-_l` sums to at most 1, and with external arrivals
:math:`\min(x_i, 1)\, r_{0,i}` the network's activations are those of the forward pass. A rate so
small that products with it would underflow counts as 0: such a neuron fires at rate 1 and loses
nearly all its spikes, which realises the same weights.

These are the lowest rates that will do, and so the fewest spikes. Any neuron may fire faster, if it
loses the surplus: with a least rate of 1, the paper's rate, only those neurons that have to fire
faster than that. It costs spikes, but a neuron that hardly ever fires can hardly be observed.
"""

from collections.abc import Sequence
from math import sqrt

from array_api_compat import array_namespace

from lrnn.arrays import Array


def firing_rates(
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array | None] | None = None,
    least: float = 0.0,
) -> list[Array]:
    """Firing rates of all ``len(excitatory) + 1`` layers, none below ``least``.

    The output layer's are 1, or ``least`` if that is more.

    Parameters
    ----------
    excitatory : sequence of array
        Weights between consecutive layers.
    inhibitory : sequence of array or None, optional
        Those that inhibit, if any.
    least : float, default=0.0
        No neuron fires more slowly.

    Returns
    -------
    rates : list of array
        One for each layer.

    Examples
    --------
    >>> import numpy as np
    >>> firing_rates([np.array([[2.0], [0.0]]), np.array([[1.0, 3.0]])])
    [array([8., 1.]), array([4.]), array([1., 1.])]
    >>> firing_rates([np.array([[2.0], [0.1]])], least=1)
    [array([2., 1.]), array([1.])]
    """
    xp = array_namespace(*excitatory)
    floor = sqrt(float(xp.finfo(excitatory[0].dtype).smallest_normal))
    rates = [xp.ones_like(excitatory[-1][0, :]) * max(1.0, least)]
    for layer in reversed(range(len(excitatory))):
        rate = excitatory[layer] @ rates[0]
        minus = None if inhibitory is None else inhibitory[layer]
        if minus is not None:
            rate = rate + minus @ rates[0]
        rate = xp.where(rate > floor, rate, xp.ones_like(rate))
        rates.insert(0, xp.clip(rate, min=least))
    return rates


def firings(
    rates: Sequence[Array],
    activations: Sequence[Array],
    excitatory: Sequence[Array],
    inhibitory: Sequence[Array] | None = None,
) -> Array:
    """Firings per unit time of each layer but the last, at these activations.

    Neurons that lead nowhere need not fire, and do not count.

    Parameters
    ----------
    rates : sequence of array
        Firing rates of each layer's neurons.
    activations : sequence of array
        Of each layer's neurons.
    excitatory : sequence of array
        Weights between consecutive layers.
    inhibitory : sequence of array, optional
        Those that inhibit, if any.

    Returns
    -------
    firings : array
        Of each layer but the last.

    Examples
    --------
    >>> import numpy as np
    >>> weights = [np.array([[2.0], [0.0]]), np.array([[1.0, 3.0]])]
    >>> rates = firing_rates(weights)
    >>> firings(rates, [np.array([0.5, 1.0]), np.array([1.0]), np.array([1.0, 1.0])], weights)
    array([4., 4.])
    """
    xp = array_namespace(*rates)
    used = used_rates(rates, excitatory, inhibitory)
    return xp.stack([xp.vecdot(rate, q) for rate, q in zip(used, activations, strict=False)])


def used_rates(
    rates: Sequence[Array], excitatory: Sequence[Array], inhibitory: Sequence[Array] | None = None
) -> list[Array]:
    """Firing rates of each layer but the last; 0 of neurons that lead nowhere.

    Parameters
    ----------
    rates : sequence of array
        What `firing_rates` gives.
    excitatory : sequence of array
        Weights between consecutive layers.
    inhibitory : sequence of array, optional
        Those that inhibit, if any.

    Returns
    -------
    rates : list of array
        One for each layer but the last.

    Examples
    --------
    >>> import numpy as np
    >>> weights = [np.array([[2.0], [0.0]])]
    >>> used_rates(firing_rates(weights), weights)
    [array([2., 0.])]
    """
    xp = array_namespace(*rates)
    found = []
    for layer, weight in enumerate(excitatory):
        sums = xp.sum(weight, axis=1)
        if inhibitory is not None:
            sums = sums + xp.sum(inhibitory[layer], axis=1)
        found.append(xp.where(sums > 0, rates[layer], xp.zeros_like(rates[layer])))
    return found


def routing(weights: Array, rates: Array, next_rates: Array) -> Array:
    """Routing probabilities between two layers that realise ``weights`` under these rates.

    Parameters
    ----------
    weights : array of shape (n_from, n_to)
        Nonnegative numbers.
    rates : array of shape (n_from,)
        Firing rates of the neurons that send.
    next_rates : array of shape (n_to,)
        Firing rates of those that receive.

    Returns
    -------
    probabilities : array of shape (n_from, n_to)
        No row sums to more than 1, if the rates are those of `firing_rates`.

    Examples
    --------
    >>> import numpy as np
    >>> routing(np.array([[2.0, 6.0]]), np.array([8.0]), np.ones(2))
    array([[0.25, 0.75]])
    """
    return weights * next_rates[None, :] / rates[:, None]
