"""The tables hold the right probabilities."""

import itertools

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from lrnn import RandomNeuralNetwork
from lrnn.spiking import cpu_kernel, draws
from lrnn.spiking.alias import alias_rows
from lrnn.spiking.plan import clocks_of, routes_of


def outcomes(limits, pairs, size):
    """Probability of each outcome of one alias table."""
    kept = np.where(pairs[:, 0] == pairs[:, 1], 1.0, limits / 2**64)
    found = np.zeros(size)
    np.add.at(found, pairs[:, 0], kept / len(pairs))
    np.add.at(found, pairs[:, 1], (1 - kept) / len(pairs))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1_000])
def test_alias_tables_hold_the_probabilities(n):
    rng = np.random.default_rng(n)
    weights = np.concatenate([rng.exponential(size=n) ** 3, rng.random(7)])
    limits, alias = alias_rows(np.array([0, n, n + 7]), weights)
    for begin, end in itertools.pairwise((0, n, n + 7)):
        pairs = np.stack([np.arange(begin, end), alias[begin:end]], axis=1)
        found = outcomes(limits[begin:end] * 2.0**64, pairs - begin, end - begin)
        expected = weights[begin:end] / weights[begin:end].sum()
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_routes_are_the_network_and_ways_in_and_out():
    plus = np.array([[0, 0.5, 0.2], [0, 0, 0], [0.1, 0, 0.3]])
    minus = np.array([[0.1, 0, 0], [0, 0.4, 0], [0, 0.6, 0]])
    routes = routes_of(RandomNeuralNetwork([1, 2, 3], plus, minus))
    assert routes.n_nodes == 3 * 3 + 1
    for neuron in range(3):
        part = slice(routes.first[neuron], routes.first[neuron + 1])
        pairs = routes.targets[part] + 3  # ~2 … 3 as 0 … 6
        found = outcomes(routes.limits[part], pairs, 7)
        expected = [
            *minus[neuron, ::-1],
            *plus[neuron],
            1 - plus[neuron].sum() - minus[neuron].sum(),
        ]
        np.testing.assert_allclose(found, expected, atol=1e-9)
    for i in range(3):
        assert set(routes.targets[routes.first[4 + i]]) == {i}
        assert set(routes.targets[routes.first[7 + i]]) == {~i}


def test_only_neurons_that_can_be_excited_have_clocks():
    network = RandomNeuralNetwork([1, 2, 0, 4], np.eye(4, k=1))
    clocks = clocks_of(routes_of(network), network.rates, np.array([0, 0.5, 0, 0]), None)
    assert clocks.excitable.tolist() == [1, 2]  # 2 never fires, so 3 gets nothing
    assert set(clocks.nodes.ravel()) == {1, 4 + 1 + 1}
    assert clocks.total_rate == pytest.approx(2 + 0.5)
    blocked = np.array([0.1, 0, 0, 0])
    clocks = clocks_of(routes_of(network), network.rates, np.array([0, 0.5, 0, 0]), blocked)
    assert set(clocks.nodes.ravel()) == {1, 4 + 1 + 1, 2 * 4 + 1}
    assert clocks.total_rate == pytest.approx(2 + 0.5 + 0.1)


def exact(limits, pairs, size):
    """Of all 2⁶⁴ random numbers, how many lead to each outcome of a table, to the last one."""
    n, found = len(pairs), [0] * size
    for entry, (limit, (own, other)) in enumerate(
        zip(limits.tolist(), pairs.tolist(), strict=True)
    ):
        begin, end = -(-(entry << 64) // n), -(-((entry + 1) << 64) // n)
        middle = -(-((entry << 64) + limit) // n)  # the first whose place is beyond the limit
        found[own] += middle - begin
        found[other] += end - middle
    return np.array([count / 2**64 for count in found])


def test_clocks_of_large_faint_networks_ring_at_their_rates():
    n = 100_000
    rng = np.random.default_rng(0)
    routes = routes_of(RandomNeuralNetwork(np.ones(n), sparse.csr_array((n, n))))
    arrivals = 1e-3 * rng.uniform(0.01, 1, n)
    clocks = clocks_of(routes, np.ones(n), arrivals, None)
    nodes = np.where(clocks.nodes > n, clocks.nodes - 1, clocks.nodes)
    found = exact(clocks.limits, nodes, 2 * n)
    wanted = np.concatenate([np.ones(n), arrivals]) / (n + arrivals.sum())
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_routes_are_taken_with_their_probabilities():
    n = 400
    rng = np.random.default_rng(0)
    weights = rng.random((n, n)) ** 12
    plus = 0.9 * weights / weights.sum(axis=1, keepdims=True)
    routes = routes_of(RandomNeuralNetwork(np.ones(n), plus))
    for neuron in (0, n - 1):
        part = slice(routes.first[neuron], routes.first[neuron + 1])
        found = exact(routes.limits[part], routes.targets[part], n + 1)
        wanted = np.append(plus[neuron], 1 - plus[neuron].sum())
        likely = wanted > 1e-9
        np.testing.assert_allclose(found[likely], wanted[likely], rtol=1e-9)
        assert np.abs(found - wanted).max() < 1e-15


def test_the_kernels_read_tables_alike():
    rng = np.random.default_rng(0)
    shared = njit(lambda drawn, count: cpu_kernel.share(drawn, count))
    for count in (1, 2, 3, 1000, 2**31 + 7, 2**32 - 1):
        for drawn in (0, 2**64 - 1, *rng.integers(2**64, size=20, dtype=np.uint64).tolist()):
            expected = divmod(drawn * count, 2**64)
            with np.errstate(over="ignore"):
                found = [int(x) for x in draws.share(np.uint64(drawn), np.uint64(count))]
            assert found == list(expected)
            assert shared(np.uint64(drawn), np.uint64(count)) == expected
