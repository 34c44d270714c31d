r"""How activations respond to a few more spikes: derivatives of the steady state, forwards.

Let :math:`x_i` more spikes arrive at neuron *i* per unit time. Where it is not saturated its
activation, :math:`q_i D_i = N_i` by eq. 1 with :math:`D_i = r_i + \lambda_i + \sum_j q_j
w^-_{ji}`, changes by

.. math:: D_i\, \delta_i = x_i + \sum_j \delta_j\, (w^+_{ji} - q_i w^-_{ji}) .

`gradient` solves the transposed system. Here it is solved for one :math:`x`, and for the response
of each neuron to spikes of its own, :math:`\partial q_i / \partial \Lambda_i`: that is
:math:`1/D_i` for a neuron on no cycle, and larger where its spikes come back to it.
"""

import numpy as np

from lrnn.arrays import Floats
from lrnn.network.steady_state import (
    DENSE_NEWTON,
    LEAK,
    SYSTEM_CELLS,
    Stage,
    dense,
    flow,
    solve_linear,
)


def response(
    stages: list[Stage], rates: Floats, q: Floats, total: Floats, more: Floats, full: Floats
) -> Floats:
    """δ for a batch of rows; ``more`` is x, and ``full`` is δ of the saturated neurons.

    ``total`` is the denominator of eq. 1.
    """
    found = np.zeros(q.shape)
    slope = _slope(q, total)
    for stage in stages:
        here = stage.neurons
        known = found[:, stage.sources]
        comes = more[:, here] + flow(known, stage.plus) - q[:, here] * flow(known, stage.minus)
        if stage.feedback:
            rate = rates[here]
            right = np.where(q[:, here] < 1, slope[:, here] * comes, full[:, here]) * rate
            solved, _ = solve_linear(
                rate, stage.loop_plus, stage.loop_minus,
                slope[:, here] * rate * (1 - LEAK), q[:, here], right,
            )  # fmt: skip
            found[:, here] = solved / rate
        else:
            found[:, here] = np.where(q[:, here] < 1, slope[:, here] * comes, full[:, here])
    return found


def own_response(stages: list[Stage], rates: Floats, q: Floats, total: Floats) -> Floats:
    """How much the activation of each neuron rises for one more spike to it per unit time.

    In loops of more than 3,000 neurons only a lower bound, 1/D, which leaves out spikes that come
    back.
    """
    found = _slope(q, total)
    for stage in stages:
        rate = rates[stage.neurons]
        if stage.feedback and len(rate) <= DENSE_NEWTON:
            slope = found[:, stage.neurons]
            found[:, stage.neurons] = slope * _returns(stage, rate, slope, q[:, stage.neurons])
    return found


def _slope(q: Floats, total: Floats) -> Floats:
    """1/D; 0 for saturated neurons, and those that nothing takes spikes from."""
    slope = np.zeros(q.shape)
    np.divide(1, total, out=slope, where=(q < 1) & (total > 0))
    return slope


def _returns(stage: Stage, rates: Floats, slope: Floats, q: Floats) -> Floats:
    """Effect of a spike on its neuron over all visits, in units of that of one visit."""
    if stage.loop_minus is None:  # then it depends on which neurons are saturated, not on q
        slope, rows = np.unique(slope, axis=0, return_inverse=True)
        q = np.zeros(slope.shape)
    else:
        rows = np.arange(len(q))
    plus, minus = (
        np.zeros((1, 1)) if w is None else dense(w) / rates[:, None]
        for w in (stage.loop_plus, stage.loop_minus)
    )
    found = np.empty(slope.shape)
    at_once = max(1, SYSTEM_CELLS // len(rates) ** 2)
    for start in range(0, len(slope), at_once):
        part = slice(start, start + at_once)
        receives = (1 - LEAK) * (slope[part] * rates)[:, None, :]
        system = np.eye(len(rates)) - (plus - minus * q[part, None, :]) * receives
        found[part] = np.diagonal(np.linalg.inv(system), axis1=1, axis2=2)
    return found[rows.reshape(-1)]
