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
(Ishikawa, 1976), also where the plain one swings for millions of steps, or for ever. That
guarantees an answer; Newton steps (semismooth, because of the saturation) make it fast. They start
from where the plain iteration got to and, should that not do, from full saturation: without
inhibition T is monotone and concave, and from above Newton's iteration then falls monotonically to
the solution in finitely many steps. Neurons that no spike can ever reach stay at 0.
"""

from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, gmres, spilu

from lrnn.arrays import Floats

Weights = Any

TOLERANCE = 1e-12
PLAIN_STEPS = 64  # of the plain iteration, all rows at once, before rows are taken singly
PATIENCE = 20  # Newton steps without progress that end an attempt
ROUNDS = 50  # of averaged steps and another attempt, after the first two
AVERAGED_STEPS = 64  # in each round
DENSE_NEWTON = 3_000  # neurons up to which the Newton system is factorised
ROUNDING = 1e-14  # share to which eq. 1 can be met in floating-point numbers
SMALLEST = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)  # that has all its digits
LEAK = 1e-13  # keeps the Newton system of a network without any loss of spikes regular


def excitation(plus: Floats, total: Floats) -> Floats:
    """``min(plus / total, 1)``; 0 where nothing arrives, 1 where nothing takes spikes away."""
    q = (plus > 0).astype(float)
    np.divide(plus, total, out=q, where=plus < total)
    return q


def violation(q: Floats, image: Floats) -> Floats:
    """By which share ``q`` differs from its ``image`` T(q), neuron by neuron: 1 is all of it.

    An activation of 1e-13 matters as much as one of 0.1: a fast neuron that is hardly ever excited
    may be all that excites a slow one.
    """
    return np.abs(image - q) / np.maximum(np.maximum(image, q), SMALLEST)


def solve_feedback(
    plus: Floats, total: Floats, rates: Floats, loop_plus: Weights, loop_minus: Weights, tol: float
) -> tuple[Floats, Floats]:
    """Activations of a batch of rows, and the largest `violation` of eq. 1 in each.

    ``plus`` and ``total`` are numerator and denominator of eq. 1 without the loops.
    """
    q = np.zeros(plus.shape)
    residual = np.full(len(plus), np.inf)
    rows = np.arange(len(plus))
    state = q
    for _ in range(PLAIN_STEPS):
        loop = Loop(plus[rows], total[rows], rates, loop_plus, loop_minus)
        image = loop(state)
        residual[rows] = violation(state, image).max(axis=1)
        q[rows] = state
        moving = residual[rows] > tol
        if not moving.any():
            return q, residual
        rows, state = rows[moving], image[moving]
    for row in rows:
        loop = Loop(plus[row], total[row], rates, loop_plus, loop_minus)
        q[row], residual[row] = loop.solve(q[row], tol)
    return q, residual


@dataclass(frozen=True)
class Loop:
    """The map T of eq. 1 for neurons that feed back on each other, for one or many rows."""

    plus: Floats
    total: Floats
    rates: Floats
    loop_plus: Weights
    loop_minus: Weights

    def __call__(self, q: Floats) -> Floats:
        """T(q)."""
        return excitation(*self.drive(q))

    def drive(self, q: Floats) -> tuple[Floats, Floats]:
        """Numerator and denominator of eq. 1."""
        plus = self.plus if self.loop_plus is None else self.plus + q @ self.loop_plus
        total = self.total if self.loop_minus is None else self.total + q @ self.loop_minus
        return plus, total

    def reached(self) -> Floats:
        """1 for neurons that a spike from outside can reach, 0 for the others."""
        if self.loop_plus is None:
            return (self.plus > 0).astype(float)
        size = len(self.plus)
        outside = sparse.csr_array((self.plus > 0).astype(float)[None, :])
        edges = sparse.block_array(
            [[None, outside], [sparse.csr_array((size, 1)), sparse.csr_array(self.loop_plus)]]
        )
        found = csgraph.breadth_first_order(sparse.csr_array(edges), 0, return_predecessors=False)
        reached = np.zeros(size + 1)
        reached[found] = 1
        return reached[1:]

    def solve(self, q: Floats, tol: float) -> tuple[Floats, float]:
        """The steady state of one row from an approximate one, and its residual."""
        tol = max(tol, ROUNDING)  # no use in iterating for less
        best, least = self._newton(q, tol)
        if least > tol:
            best, least = min((best, least), self._newton(self.reached(), tol), key=itemgetter(1))
        for _ in range(ROUNDS):
            if least <= tol:
                break
            q = best
            for _ in range(AVERAGED_STEPS):
                q = (q + self(q)) / 2
            best, least = min((best, least), self._newton(q, tol), key=itemgetter(1))
        return best, least

    def _newton(self, q: Floats, tol: float) -> tuple[Floats, float]:
        """Newton steps as long as the residual, or all of q, goes down; the best state seen."""
        best, least, idle = q, np.inf, 0
        while True:
            plus, total = self.drive(q)
            image = excitation(plus, total)
            residual = float(violation(q, image).max())
            idle = 0 if residual < 0.9 * least else idle + 1
            if residual < least:
                best, least = q, residual
            if least <= tol or idle > PATIENCE:
                return best, least
            step = self._newton_step(image - q, image, plus, total)
            before = q
            # one application of T smooths what clipping to [0, 1] broke
            q = self(np.clip(q + step, 0, 1))
            if (q <= before).all() and (q < before).any():
                idle = 0

    def _newton_step(self, gap: Floats, image: Floats, plus: Floats, total: Floats) -> Floats:
        """Solve ``d − T'(q) d = T(q) − q``; a saturated neuron has no derivative.

        In flows (rate × d) the system's columns are diagonally dominant.
        """
        slope = (1 - LEAK) * (plus < total) * self.rates / total
        weights = 0.0 if self.loop_plus is None else _scale(self.loop_plus, self.rates, slope)
        if self.loop_minus is not None:
            weights = weights - _scale(self.loop_minus, self.rates, slope * image)
        flow = self.rates * gap
        if len(gap) <= DENSE_NEWTON or not sparse.issparse(weights):
            return _dense_solution(weights, flow) / self.rates
        return _sparse_solution(weights, flow) / self.rates


def _scale(weights: Weights, rates: Floats, slope: Floats) -> Weights:
    """Weights divided by the sender's rate and multiplied by the receiver's slope."""
    if sparse.issparse(weights):
        return sparse.diags_array(1 / rates) @ weights @ sparse.diags_array(slope)
    return weights / rates[:, None] * slope


def _dense_solution(weights: Weights, flow: Floats) -> Floats:
    """``y`` with ``y − y @ weights = flow``."""
    matrix = weights.toarray() if sparse.issparse(weights) else weights
    matrix = np.eye(len(flow)) - matrix
    try:
        return np.asarray(np.linalg.solve(matrix.T, flow), dtype=np.float64)
    except np.linalg.LinAlgError:
        return flow


def _sparse_solution(weights: Weights, flow: Floats) -> Floats:
    """The same by an iterative method, with an incomplete factorisation where it needs one."""
    matrix = sparse.csr_array(sparse.eye_array(len(flow)) - weights.T)
    solution, _ = gmres(matrix, flow, rtol=1e-6, restart=50, maxiter=4)
    if np.abs(matrix @ solution - flow).sum() > 0.01 * np.abs(flow).sum():
        factors = spilu(sparse.csc_array(matrix), drop_tol=1e-5, fill_factor=20)
        nearly = LinearOperator(matrix.shape, factors.solve, dtype=np.float64)
        solution, _ = gmres(matrix, flow, rtol=1e-6, restart=50, maxiter=4, M=nearly)
    return np.asarray(solution, dtype=np.float64)
