r"""Activations of neurons that feed back on each other.

**Why the iteration cannot fail.** Let T be the right-hand side of eq. 1. For two states that differ
by :math:`d` and a neuron that is saturated in neither,

.. math:: (T(q)_i - T(q')_i)\,\Big(r_i + \lambda_i + \sum_j q_j w^-_{ji}\Big)
          = \sum_j d_j\, \big(w^+_{ji} - T(q')_i\, w^-_{ji}\big) .

Since :math:`T(q') \le 1` and :math:`\sum_i (w^+_{ji} + w^-_{ji}) \le r_j`,

.. math:: \sum_i r_i\, |T(q)_i - T(q')_i| \;\le\; \sum_j r_j\, |d_j|

(clipping at 1 only helps): T is non-expansive in the rate-weighted 1-norm, the *flow* by which
two states differ. So the residual in that norm never rises along the plain iteration, and the
averaged iteration :math:`q \leftarrow (q + T(q))/2` converges to a solution from anywhere
(Ishikawa, 1976), also where the plain one oscillates for ever. Newton steps (semismooth, because
of the saturation) make it fast; where a few of them in a row have not lowered the residual, they
are taken back and the averaged iteration goes on from the last good state, so the guarantee
stays. Started from the network at rest, neurons that no spike can ever reach stay at 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, gmres

from lrnn.typing import Vector

Weights = Any

TOLERANCE = 1e-12
PLAIN_STEPS = 64  # of the plain iteration, all rows at once, before rows are taken singly
NEWTON_STEPS = 1_000
PATIENCE = 12  # Newton steps that may pass without descent (saturation may have to spread first)
AVERAGED_STEPS = 32  # of the averaged iteration where Newton steps do not descend
DENSE_NEWTON = 4_000  # neurons up to which the Newton system is factorised
LEAK = 1e-13  # keeps the Newton system of a network without any loss of spikes regular


def excitation(plus: Vector, total: Vector) -> Vector:
    """``min(plus / total, 1)``; 0 where nothing arrives, 1 where nothing takes spikes away."""
    return np.where(plus < total, plus / np.where(total > 0, total, 1), (plus > 0).astype(float))


def solve_feedback(
    plus: Vector, total: Vector, rates: Vector, loop_plus: Weights, loop_minus: Weights, tol: float
) -> tuple[Vector, Vector]:
    """Activations of a batch of rows, and the largest violation of eq. 1 in each.

    ``plus`` and ``total`` are numerator and denominator of eq. 1 without the loops.
    """
    q = np.zeros(plus.shape)
    residual = np.full(len(plus), np.inf)
    rows = np.arange(len(plus))
    state = q
    for _ in range(PLAIN_STEPS):
        loop = Loop(plus[rows], total[rows], rates, loop_plus, loop_minus)
        image = loop(state)
        residual[rows] = np.abs(image - state).max(axis=1)
        q[rows] = state
        moving = residual[rows] > tol
        if not moving.any():
            return q, residual
        rows, state = rows[moving], image[moving]
    for row in rows:
        loop = Loop(plus[row], total[row], rates, loop_plus, loop_minus)
        q[row], residual[row] = loop.newton(q[row], tol)
    return q, residual


@dataclass(frozen=True)
class Loop:
    """The map T of eq. 1 for neurons that feed back on each other, for one or many rows."""

    plus: Vector
    total: Vector
    rates: Vector
    loop_plus: Weights
    loop_minus: Weights

    def __call__(self, q: Vector) -> Vector:
        """T(q)."""
        return excitation(*self.drive(q))

    def drive(self, q: Vector) -> tuple[Vector, Vector]:
        """Numerator and denominator of eq. 1."""
        plus = self.plus if self.loop_plus is None else self.plus + q @ self.loop_plus
        total = self.total if self.loop_minus is None else self.total + q @ self.loop_minus
        return plus, total

    def flow(self, difference: Vector) -> float:
        """The norm in which T is non-expansive."""
        return float(self.rates @ np.abs(difference))

    def newton(self, q: Vector, tol: float) -> tuple[Vector, float]:
        """Newton iteration for one row, watched: back to averaging where it does not descend."""
        best, least = q, np.inf
        anchor, level, tries = q, np.inf, 0
        for _ in range(NEWTON_STEPS):
            plus, total = self.drive(q)
            image = excitation(plus, total)
            gap = image - q
            residual = float(np.abs(gap).max())
            if residual < least:
                best, least = q, residual
            if least <= tol:
                break
            norm = self.flow(gap)
            if norm < 0.9 * level:
                anchor, level, tries = q, norm, 0
            elif tries == PATIENCE:
                q, level, tries = self._averaged(anchor), np.inf, 0
                continue
            tries += 1
            step = self._newton_step(gap, image, plus, total)
            # one application of T smooths what clipping to [0, 1] broke
            q = self(np.clip(q + step, 0, 1))
        return best, least

    def _averaged(self, q: Vector) -> Vector:
        for _ in range(AVERAGED_STEPS):
            q = (q + self(q)) / 2
        return q

    def _newton_step(self, gap: Vector, image: Vector, plus: Vector, total: Vector) -> Vector:
        """Solve ``d − T'(q) d = T(q) − q``; a saturated neuron has no derivative."""
        slope = (1 - LEAK) * (plus < total) / total
        if len(gap) <= DENSE_NEWTON:
            return _dense_step(gap, image, slope, self.loop_plus, self.loop_minus)

        def apply(d: Vector) -> Vector:
            change = 0.0 if self.loop_plus is None else d @ self.loop_plus
            if self.loop_minus is not None:
                change = change - image * (d @ self.loop_minus)
            return np.asarray(d - slope * change)

        # in the scale of flows, where T' has norm at most 1
        scaled = LinearOperator(
            (len(gap), len(gap)), lambda y: self.rates * apply(y / self.rates), dtype=np.float64
        )
        y, _ = gmres(scaled, self.rates * gap, rtol=1e-6, restart=50, maxiter=4)
        return np.asarray(y / self.rates)


def _dense_step(
    gap: Vector, image: Vector, slope: Vector, loop_plus: Weights, loop_minus: Weights
) -> Vector:
    matrix = np.eye(len(gap))
    if loop_plus is not None:
        matrix -= _dense(loop_plus) * slope
    if loop_minus is not None:
        matrix += _dense(loop_minus) * (slope * image)
    try:
        return np.asarray(np.linalg.solve(matrix.T, gap), dtype=np.float64)
    except np.linalg.LinAlgError:
        return gap


def _dense(weights: Weights) -> Vector:
    return np.asarray(weights.toarray() if sparse.issparse(weights) else weights)
