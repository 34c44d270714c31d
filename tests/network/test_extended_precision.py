"""Steady states of stiff networks against arithmetic with 80 digits."""

import warnings
from decimal import Decimal, localcontext

import numpy as np
import pytest

from lrnn import RandomNeuralNetwork

ROUNDING = 2.0**-53
TOLERANCE = 1e-12  # that steady_state has by default


def stiff_network(rng):
    """Rates over 24 decades, loops that feed loops, next to no loss of spikes."""
    n = int(rng.integers(2, 9))
    routes = rng.random((n, 2 * n)) ** rng.choice([1, 4, 12])
    routes *= rng.random(routes.shape) < rng.random()
    if rng.random() < 0.5:
        routes[:, n:] = 0
    if rng.random() < 0.5:  # parts that only feed those behind them
        part = np.sort(rng.integers(0, 3, n))
        routes *= np.tile(part[:, None] <= part, 2)
    sums = np.maximum(routes.sum(axis=1, keepdims=True), 1e-300)
    routes *= (1 - 10.0 ** -rng.uniform(0, 6, (n, 1))) / sums
    network = RandomNeuralNetwork(10.0 ** rng.uniform(-12, 12, n), routes[:, :n], routes[:, n:])
    arrivals = 10.0 ** rng.uniform(-12, 12, n) * (rng.random(n) < 0.5)
    arrivals[0] = max(arrivals[0], 1e-3)
    return network, arrivals, 10.0 ** rng.uniform(-12, 12, n) * (rng.random(n) < 0.3)


def decimals(values):
    return [[Decimal(float(v)) for v in row] for row in np.atleast_2d(values)]


def dense(matrix, n):
    if matrix is None:
        return np.zeros((n, n))
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


class Exact:
    """Eq. 1 in decimals."""

    def __init__(self, network, arrivals, inhibitory):
        n = self.n = network.n_neurons
        self.rates, self.plus, self.minus = (
            decimals(v)[0] for v in (network.rates, arrivals, inhibitory)
        )
        sent = (decimals(dense(p, n)) for p in (network.excitatory, network.inhibitory))
        self.excites, self.inhibits = (
            [[self.rates[j] * p[j][i] for j in range(n)] for i in range(n)] for p in sent
        )

    def image(self, q):
        """T(q), and numerators and denominators of eq. 1."""
        above = [
            self.plus[i] + sum(w * x for w, x in zip(self.excites[i], q, strict=True))
            for i in range(self.n)
        ]
        below = [
            self.rates[i]
            + self.minus[i]
            + sum(w * x for w, x in zip(self.inhibits[i], q, strict=True))
            for i in range(self.n)
        ]
        return [min(a / b, Decimal(1)) for a, b in zip(above, below, strict=True)], above, below

    def system(self, image, above, below):
        """1 − T'(q)."""
        return [
            [
                Decimal(i == j)
                - (self.excites[i][j] - image[i] * self.inhibits[i][j])
                / below[i]
                * (above[i] < below[i])
                for j in range(self.n)
            ]
            for i in range(self.n)
        ]

    def solve(self, q):
        """By Newton's iteration; and how much an error of each T(q) can change each q."""
        for _ in range(100):
            image, above, below = self.image(q)
            gap = [t - x for t, x in zip(image, q, strict=True)]
            if all(
                abs(g) <= Decimal("1e-60") * max(x, Decimal("1e-300"))
                for g, x in zip(gap, q, strict=True)
            ):
                identity = [[Decimal(i == j) for j in range(self.n)] for i in range(self.n)]
                system = self.system(image, above, below)
                return q, np.abs([[float(v) for v in row] for row in solution(system, identity)])
            steps = solution(self.system(image, above, below), [[g] for g in gap])
            moved = [
                min(max(x + s[0], Decimal(0)), Decimal(1)) for x, s in zip(q, steps, strict=True)
            ]
            q = self.image(moved)[0]
        raise AssertionError("no convergence")


def solution(matrix, right):
    """Of a linear system, by Gauss."""
    n = len(matrix)
    rows = [list(a) + list(b) for a, b in zip(matrix, right, strict=True)]
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


@pytest.mark.parametrize("seed", range(60))
def test_as_exact_as_the_numbers_allow(seed):
    """It is off by the tolerance, and by roundings of eq. 1 that are amplified by the network."""
    network, arrivals, inhibitory = stiff_network(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of neurons that are saturated
        found = np.asarray(network.steady_state(arrivals, inhibitory))
    with localcontext() as context:
        context.prec = 80
        exact, amplified = Exact(network, arrivals, inhibitory).solve(decimals(found)[0])
    exact = np.array([float(x) for x in exact])
    # one evaluation of eq. 1 has up to n + 3 roundings in its numerator, and in its denominator
    bound = amplified @ exact * 2 * (network.n_neurons + 3) * ROUNDING
    assert (np.abs(found - exact) <= 2 * TOLERANCE * exact + 2 * bound + 1e-300).all()
