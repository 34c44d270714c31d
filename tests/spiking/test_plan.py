"""The tables hold the right probabilities."""

import itertools

import numpy as np
import pytest

from lrnn import RandomNeuralNetwork
from lrnn.spiking.alias import alias_rows
from lrnn.spiking.plan import clocks_of, routes_of


def outcomes(limits, pairs, size):
    """Probability of each outcome of one alias table."""
    kept = np.where(pairs[:, 0] == pairs[:, 1], 1.0, limits / 2**32)
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
        found = outcomes(limits[begin:end] * 2**32, pairs - begin, end - begin)
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
