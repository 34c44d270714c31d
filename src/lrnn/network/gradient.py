r"""Derivatives of a function of the steady state, by implicit differentiation of eq. 1.

Where neuron *i* is not saturated eq. 1 reads :math:`q_i D_i = N_i`, with denominator
:math:`D_i = r_i + \lambda_i + \sum_j q_j w^-_{ji}`. With :math:`g_i = \partial L/\partial q_i` and
:math:`\nu_i = \partial L/\partial N_i`, by all ways through the network,

.. math:: \nu_i D_i = g_i + \sum_j (w^+_{ij} - q_j w^-_{ij})\, \nu_j ,
    \qquad \nu_i = 0 \text{ where } q_i = 1 .

It is one linear system for each row of arrivals, the transposed one of a Newton step, and it is
solved in the order of the stages, the last first: neurons that do not feed back need no system at
all. Everything else follows from :math:`\nu`:

.. math::
    \frac{\partial L}{\partial \Lambda_i} &= \nu_i, &
    \frac{\partial L}{\partial p^+_{ij}} &= r_i q_i \nu_j, \\
    \frac{\partial L}{\partial \lambda_i} &= -q_i \nu_i, &
    \frac{\partial L}{\partial p^-_{ij}} &= -r_i q_i\, q_j \nu_j, \\
    \frac{\partial L}{\partial r_i} &=
    q_i \Big( \sum_j (p^+_{ij} - q_j p^-_{ij})\, \nu_j - \nu_i \Big) .
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.network.steady_state import LEAK, Stage, flow, solve_linear

CLOSED = 1e-12  # share of its spikes that a group of neurons must lose to count as one that does
CONNECTION_CELLS = 1 << 20  # rows × connections that are multiplied at once
SENDERS = 256  # whose connections are multiplied at once
SCATTERED = 32  # pairs for each connection above which a product of matrices is the slower one
EXACT = 1e-13  # share to which an iterative solution is sought


@dataclass(frozen=True)
class Gradient:
    """Derivatives of a function of the steady state.

    Attributes
    ----------
    rates : array of shape (n_neurons,)
        By firing rates, at fixed probabilities: summed over rows of arrivals.
    excitatory, inhibitory : array or sparse array of shape (n_neurons, n_neurons), or None
        By probabilities, at fixed rates: summed over rows. Of a network's sparse matrix, the
        connections that exist; None where the network has none of that kind.
    arrivals, inhibitory_arrivals : array of the shape of the arrivals
        By external arrivals, row by row.
    """

    rates: Floats
    excitatory: Any
    inhibitory: Any
    arrivals: Floats
    inhibitory_arrivals: Floats


def drive(
    stages: list[Stage], rates: Floats, arrivals: Floats, inhibition: Floats, q: Floats
) -> tuple[Floats, Floats]:
    """Numerator and denominator of eq. 1 for a batch of rows."""
    plus, total = np.array(arrivals), rates + inhibition
    for stage in stages:
        here, known, own = stage.neurons, q[:, stage.sources], q[:, stage.neurons]
        plus[:, here] += flow(known, stage.plus) + flow(own, stage.loop_plus)
        total[:, here] += flow(known, stage.minus) + flow(own, stage.loop_minus)
    return plus, total


def sensitivities(
    stages: list[Stage], rates: Floats, q: Floats, total: Floats, of: Floats
) -> tuple[Floats, Floats, float]:
    """ν for a batch of rows, the sum in its equation, and how exactly feedback was solved.

    ``total`` is the denominator of eq. 1, ``of`` the derivatives by q.
    """
    nu, onwards, residual = np.empty(q.shape), np.zeros(q.shape), 0.0
    slope = np.zeros(q.shape)
    np.divide(1, total, out=slope, where=(q < 1) & (total > 0))
    for stage in reversed(stages):
        here = stage.neurons
        back = of[:, here] + onwards[:, here]
        if stage.feedback:
            found, left = _through_feedback(stage, rates[here], q[:, here], slope[:, here], back)
            residual = max(residual, left)
            onwards[:, here] += _backwards(found, q[:, here], stage.loop_plus, stage.loop_minus)
        else:
            found = back * slope[:, here]
        onwards[:, stage.sources] += _backwards(found, q[:, here], stage.plus, stage.minus)
        nu[:, here] = found
    return nu, onwards, residual


def _backwards(nu: Floats, q: Floats, plus: Any, minus: Any) -> Any:
    excited = 0.0 if plus is None else nu @ plus.T
    return excited if minus is None else excited - (q * nu) @ minus.T


def _through_feedback(
    stage: Stage, rates: Floats, q: Floats, slope: Floats, back: Floats
) -> tuple[Floats, float]:
    slope = slope * rates

    def solved(rows: Any, slope: Floats, right: Floats) -> tuple[Floats, float]:
        return solve_linear(
            rates, stage.loop_plus, stage.loop_minus, slope[rows], q[rows], right[rows],
            adjoint=True, rtol=EXACT,
        )  # fmt: skip

    resting = (q == 0).any(axis=1)
    if resting.any():  # a spike to neurons that never lose one would excite them for ever: a jump
        firings, _ = solved(resting, slope * (1 - LEAK), np.ones(q.shape))
        slope[resting] *= ~((firings > 1 / CLOSED) & (q[resting] == 0))
    right = back / rates
    z, residual = solved(slice(None), slope, right)
    singular = ~np.isfinite(z).all(axis=1)
    if singular.any():
        z[singular], _ = solved(singular, slope * (1 - LEAK), right)
    return z * slope, residual


class Sums:
    """Derivatives by what belongs to the network, summed over blocks of rows."""

    def __init__(self, rates: Floats, excitatory: Any, inhibitory: Any) -> None:
        self.network = rates, excitatory, inhibitory
        self.rates = np.zeros(len(rates))
        self.excitatory: Any
        self.inhibitory: Any
        self.excitatory, self.inhibitory = (
            None if p is None else np.zeros(p.nnz if sparse.issparse(p) else p.shape)
            for p in (excitatory, inhibitory)
        )

    def add(self, q: Floats, nu: Floats, onwards: Floats) -> None:
        """Add those of some rows."""
        rates, excitatory, inhibitory = self.network
        counter = -q * nu
        fired = q * rates
        self.excitatory += _by_connection(fired, nu, excitatory)
        if inhibitory is not None:
            self.inhibitory += _by_connection(fired, counter, inhibitory)
        silent = np.flatnonzero(rates == 0)  # they have no weights, but would have them at a rate
        onwards = onwards / np.where(rates > 0, rates, 1)
        if len(silent):
            onwards[:, silent] = nu @ excitatory[silent].T
            if inhibitory is not None:
                onwards[:, silent] += counter @ inhibitory[silent].T
        self.rates += (q * (onwards - nu)).sum(axis=0)

    def matrices(self) -> tuple[Any, Any]:
        """By excitatory and inhibitory probabilities, stored as these are."""
        _, *probabilities = self.network
        plus, minus = (
            sparse.csr_array((sums, p.indices, p.indptr), shape=p.shape)
            if sparse.issparse(p)
            else sums
            for sums, p in zip((self.excitatory, self.inhibitory), probabilities, strict=True)
        )
        return plus, minus


def _by_connection(fired: Floats, received: Floats, probabilities: Any) -> Floats:
    """``fired.T @ received``; of a sparse matrix, at the connections that exist."""
    if not sparse.issparse(probabilities):
        return np.asarray(fired.T @ received)
    fired, received = np.ascontiguousarray(fired.T), np.ascontiguousarray(received.T)
    ends, targets = probabilities.indptr, probabilities.indices
    source = np.repeat(np.arange(len(fired)), np.diff(ends))
    products = np.empty(len(targets))
    for first in range(0, len(fired), SENDERS):
        last = min(first + SENDERS, len(fired))
        part = slice(ends[first], ends[last])
        reached, place = np.unique(targets[part], return_inverse=True)
        if (last - first) * len(reached) < SCATTERED * len(place):
            block = fired[first:last] @ received[reached].T
            products[part] = block[source[part] - first, place]
            continue
        at_once = max(1, CONNECTION_CELLS // max(1, fired.shape[1]))
        for start in range(part.start, part.stop, at_once):
            some = slice(start, min(start + at_once, part.stop))
            products[some] = np.vecdot(fired[source[some]], received[targets[some]])
    return products
