"""The excitation probabilities solve eq. 1, whatever the network looks like."""

import re
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lrnn import RandomNeuralNetwork
from lrnn.functional import activations
from lrnn.network import SteadyState, steady_state
from naming import naming


def image(q, rates, excitatory, inhibitory, arrivals, inhibitory_arrivals):
    """Right-hand side of eq. 1, written out again."""
    fired = q * rates
    numerator = arrivals + fired @ excitatory
    denominator = rates + inhibitory_arrivals + fired @ inhibitory
    q = (numerator > 0).astype(float)  # where nothing takes spikes away
    np.divide(numerator, denominator, out=q, where=numerator < denominator)
    return q


def violation(q, *problem):
    """Largest violation of eq. 1."""
    return np.abs(np.asarray(q) - image(np.asarray(q), *problem)).max()


def share_violated(q, *problem):
    """The violation of eq. 1 in each neuron, as a share of its activation."""
    right = image(np.asarray(q), *problem)
    return np.abs(np.asarray(q) - right) / np.maximum(np.maximum(q, right), 1e-290)


def solve(rates, excitatory, inhibitory, arrivals, inhibitory_arrivals):
    network = RandomNeuralNetwork(rates, excitatory, inhibitory)
    return network.steady_state(arrivals, inhibitory_arrivals)


def any_network(rng):
    """Dense or sparse, with cycles and self-loops, some rates 0, up to 500 neurons."""
    n = int(np.exp(rng.uniform(0, np.log(501))))
    density = rng.choice([1.0, 0.3, min(1, 3 / n), min(1, 1.5 / n)])
    sent = rng.exponential(size=(n, n)) * (rng.random((n, n)) < density)
    total = sent.sum(axis=1, keepdims=True)
    sent *= (1 - rng.choice([0, 1e-9, 1e-3, 0.1, 0.5])) / np.where(total > 0, total, 1)
    share = rng.choice([0, 0.1, 0.5, 0.9, 1.0])
    inhibits = rng.random((n, n)) < share if rng.random() < 0.5 else np.full((n, n), share)
    rates = np.exp(rng.normal(size=n) * rng.choice([0, 1, 3]))
    if rng.random() < 0.1:
        rates[rng.random(n) < 0.2] = 0
    load = rates.mean() * rng.choice([1e-3, 0.1, 0.5, 1, 3])
    arrivals = load * rng.exponential(size=n) * (rng.random(n) < rng.choice([0.1, 0.5, 1]))
    inhibitory_arrivals = rates.mean() * rng.exponential(size=n) * rng.choice([0, 0, 0.5])
    return rates, sent * (1 - inhibits), sent * inhibits, arrivals, inhibitory_arrivals


def rings(rng):
    """A few permutations on top of each other: cycles of all lengths, hardly a leak."""
    n = int(rng.integers(1, 40))
    sent = np.zeros((n, n))
    for _ in range(rng.integers(1, 4)):
        sent[np.arange(n), rng.permutation(n)] += rng.random()
    sent *= (1 - rng.choice([0, 1e-12, 1e-6, 0.01])) / sent.sum(axis=1, keepdims=True)
    inhibits = rng.random((n, n)) < rng.choice([0, 0.3, 0.7, 1])
    rates = 10 ** (rng.uniform(-1, 1, n) * rng.choice([0, 1, 4, 8]))
    load = rates * rng.random(n) * 10 ** rng.uniform(-8, 2)
    arrivals = np.where(rng.random(n) < rng.choice([0.1, 1]), load, 0)
    inhibitory_arrivals = np.where(rng.random(n) < 0.2, rates * rng.random(n), 0)
    return rates, sent * ~inhibits, sent * inhibits, arrivals, inhibitory_arrivals


def well_damped(rng, n=30, rows=None):
    """A recurrent network that loses a tenth of its spikes: its solution is well conditioned."""
    sent = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.4)
    sent *= 0.9 / np.maximum(sent.sum(axis=1, keepdims=True), 1e-300)
    inhibits = rng.random((n, n)) < 0.4
    rates = np.exp(rng.normal(size=n))
    shape = n if rows is None else (rows, n)
    arrivals = rates * rng.exponential(size=shape) * rng.choice([0.1, 0.5, 2], size=shape)
    return rates, sent * ~inhibits, sent * inhibits, arrivals, rates * rng.random(shape)


# What can be computed by hand


@pytest.mark.parametrize("arrival", [0.0, 0.3, 1.999, 2.0, 5.0])
def test_single_neuron_is_an_mm1_queue(arrival):
    q = RandomNeuralNetwork([2.0], [[0.0]]).steady_state([arrival])
    assert q == [min(arrival / 2, 1)]


def test_mutually_inhibiting_neurons_meet_their_quadratic():
    # q₁ = Λ₁/(r₁ + q₂ r₂ p₂), q₂ = Λ₂/(r₂ + q₁ r₁ p₁)  ⇒  a quadratic in q₁
    r1, r2, p1, p2, arrival1, arrival2 = 2.0, 3.0, 0.5, 0.8, 1.5, 2.5
    inhibitory = [[0, p1], [p2, 0]]
    q = RandomNeuralNetwork([r1, r2], np.zeros((2, 2)), inhibitory).steady_state(
        [arrival1, arrival2]
    )
    roots = np.roots(
        [r1 * r1 * p1, r1 * r2 + arrival2 * r2 * p2 - arrival1 * r1 * p1, -arrival1 * r2]
    )
    expected = roots[roots > 0].item()
    assert q == pytest.approx([expected, arrival2 / (r2 + expected * r1 * p1)], abs=1e-12)


@pytest.mark.parametrize("arrival", [0.1, 0.5, 0.74, 0.76, 3.0])
def test_excitatory_self_loop_lowers_the_capacity(arrival):
    rate, p = 1.5, 0.5
    q = RandomNeuralNetwork([rate], [[p]]).steady_state([arrival])
    # eq. 1 is met to 1e-12, and the loop amplifies that by 1/(1−p)
    assert q == pytest.approx([min(arrival / (rate * (1 - p)), 1)], abs=1e-12 / (1 - p))


@pytest.mark.parametrize("arrival", [0.1, 1.0, 2.9, 3.1])
def test_inhibitory_self_loop_meets_its_quadratic(arrival):
    # q = Λ/(r + q r p)
    rate, p = 2.0, 0.5
    q = RandomNeuralNetwork([rate], [[0.0]], [[p]]).steady_state([arrival])
    expected = (np.sqrt(rate**2 + 4 * rate * p * arrival) - rate) / (2 * rate * p)
    assert q == pytest.approx([min(expected, 1)], abs=1e-12)


def test_neuron_that_never_fires_only_loses_what_inhibition_takes():
    #                       excited alone, excited and inhibited, left alone, inhibited alone
    arrivals, inhibitory_arrivals = [0.2, 0.2, 0, 0], [0, 0.8, 0, 1]
    network = RandomNeuralNetwork(np.zeros(4), np.zeros((4, 4)))
    assert network.steady_state(arrivals, inhibitory_arrivals).tolist() == [1, 0.25, 0, 0]


def test_sinks_of_a_loop_collect_its_spikes():
    # 0 ⇄ 1 feed back; 2 and 3 never fire, 3 is inhibited by 1 as often as it is excited twice
    excitatory = [[0, 0.5, 0.25, 0.25], [0.5, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
    inhibitory = np.zeros((4, 4))
    inhibitory[1, 3] = 0.5
    q = RandomNeuralNetwork([1, 1, 0, 0], excitatory, inhibitory).steady_state([0.3, 0, 0, 0])
    assert q == pytest.approx([0.4, 0.2, 1, 1], abs=1e-12)
    q = RandomNeuralNetwork([1, 1, 0, 0], excitatory, inhibitory).steady_state([0, 0.3, 0, 0])
    assert q == pytest.approx([0.2, 0.4, 1, 0.25], abs=1e-12)


# Any network


@pytest.mark.parametrize("seed", range(10))
def test_random_networks_are_solved(seed):
    rng = np.random.default_rng(seed)
    saturated = unsaturated = 0
    for _ in range(100):
        problem = rings(rng) if rng.random() < 0.3 else any_network(rng)
        rates, excitatory, inhibitory, *arrivals = problem
        if rng.random() < 0.3:
            excitatory, inhibitory = sparse.csr_array(excitatory), sparse.csr_array(inhibitory)
        q = np.asarray(solve(rates, excitatory, inhibitory, *arrivals))
        assert q.min() >= 0
        assert q.max() <= 1
        assert violation(q, *problem) <= 1e-10
        saturated += (q == 1).any()
        unsaturated += ((q > 0) & (q < 1)).any()
    assert saturated >= 20
    assert unsaturated >= 20


def test_solves_what_the_plain_iteration_rings_on():
    # From rest, "kick" excites the ring 2 ⇄ 3 in the first step, and "brake", a million times
    # faster, silences kick in the second. The pulse runs round the ring, which loses a millionth
    # of it per step; the steady state is a small inflow against that small loss.
    kick, brake, here, there = range(4)
    rates = np.array([1.0, 1e6, 1.0, 1.0])
    excitatory, inhibitory = np.zeros((4, 4)), np.zeros((4, 4))
    excitatory[kick, here] = 1
    excitatory[here, there] = excitatory[there, here] = 1 - 1e-6
    excitatory[there, [kick, brake]] = 0.5e-6  # all four feed back on each other
    inhibitory[brake, kick] = 1
    arrivals = np.array([0.9, 0.9e6, 0, 0])
    problem = rates, excitatory, inhibitory, arrivals, np.zeros(4)

    plain = np.zeros(4)
    for _ in range(10_000):
        plain = image(plain, *problem)
    assert violation(plain, *problem) > 0.1

    q = solve(*problem)
    assert violation(q, *problem) <= 1e-12
    # what the ring sends to kick and brake is next to nothing
    assert q[kick] == pytest.approx(0.9 / (1 + 0.9e6), rel=1e-5)
    assert q[here] == pytest.approx(q[kick] / (1 - (1 - 1e-6) ** 2), rel=1e-6)


def ring_with_shortcuts(seed, n=100, inhibits=0.0, arrival=0.01):
    """Steps of 1 and 2 round a ring, of very uneven odds; arrivals at one neuron fill it."""
    rng = np.random.default_rng(seed)
    i = np.arange(n)
    odds = np.concatenate([10.0 ** (-9 * rng.random(n)), np.ones(n)])
    ends = np.tile(i, 2), np.concatenate([i + 1, i + 2]) % n
    sent = sparse.csr_array((odds, ends), shape=(n, n))
    sent = sparse.csr_array(sparse.diags_array((1 - 1e-6) / sent.sum(axis=1)) @ sent)
    inhibitory = sent.copy()
    inhibitory.data *= rng.random(sent.nnz) < inhibits
    return np.ones(n), sent - inhibitory, inhibitory, arrival * (i == 0), np.zeros(n)


@pytest.mark.parametrize("inhibits", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("seed", range(10))
def test_ring_that_overflows_in_few_places_is_solved(seed, inhibits):
    problem = ring_with_shortcuts(seed, inhibits=inhibits)
    assert violation(solve(*problem), *problem) <= 1e-10


@pytest.mark.parametrize("inhibits", [0.0, 0.001])
@pytest.mark.parametrize("arrival", [0.01, 0.002])
def test_long_ring_is_solved(inhibits, arrival):
    problem = ring_with_shortcuts(0, 5_000, inhibits, arrival)
    q = solve(*problem)
    assert violation(q, *problem) <= 1e-10
    assert (q > 0).all()  # the spikes went all the way round


@pytest.mark.slow
def test_dense_recurrent_network_of_2_000_neurons_is_solved():
    rng = np.random.default_rng(0)
    sent = rng.exponential(size=(2_000, 2_000))
    sent *= 0.99 / sent.sum(axis=1, keepdims=True)
    inhibits = rng.random(sent.shape)
    rates = np.exp(rng.normal(size=2_000))
    arrivals = rates * rng.random(2_000) * 0.3
    problem = rates, sent * (1 - inhibits), sent * inhibits, arrivals, np.zeros(2_000)
    assert violation(solve(*problem), *problem) <= 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(("inhibits", "leak"), [(0.5, 0.01), (0.02, 1e-6), (0.0, 1e-4), (0.9, 0.0)])
def test_sparse_recurrent_network_of_100_000_neurons_is_solved(inhibits, leak):
    rng = np.random.default_rng(1)
    n, fan_out = 100_000, 10
    ends = np.repeat(np.arange(n), fan_out), rng.integers(0, n, n * fan_out)
    sent = sparse.csr_array((rng.exponential(size=n * fan_out), ends), shape=(n, n))
    sent = sparse.csr_array(sparse.diags_array((1 - leak) / sent.sum(axis=1)) @ sent)
    inhibitory = sent.copy()
    inhibitory.data *= rng.random(sent.nnz) < inhibits
    rates = np.exp(rng.normal(size=n))
    arrivals = rates * rng.random(n) * 0.1 * (rng.random(n) < 0.1)
    problem = rates, sent - inhibitory, inhibitory, arrivals, np.zeros(n)
    assert violation(solve(*problem), *problem) <= 1e-10


# Spikes that reach nobody, spikes that never leave


def test_neurons_that_no_spike_reaches_stay_at_rest():
    # 0, 1: a closed loop with nothing arriving; 2, 3: a damped one, and it inhibits 0
    excitatory, inhibitory = np.zeros((5, 5)), np.zeros((5, 5))
    excitatory[0, 1] = excitatory[1, 0] = 1
    excitatory[2, 3] = excitatory[3, 2] = 0.7
    inhibitory[2, 0] = inhibitory[3, 3] = 0.3
    excitatory[4, 4] = 1  # alone with itself
    q = RandomNeuralNetwork(np.ones(5), excitatory, inhibitory).steady_state([0, 0, 0.4, 0, 0])
    assert q[[0, 1, 4]].tolist() == [0, 0, 0]
    assert (q[[2, 3]] > 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_inhibition_alone_excites_nobody(seed):
    # 0…5 excite each other and inhibit 6…9, which excite each other and all: one component
    rng = np.random.default_rng(seed)
    excitatory = rng.random((10, 10)) * (rng.random((10, 10)) < 0.6)
    inhibitory = np.zeros((10, 10))
    inhibitory[:6, 6:] = excitatory[:6, 6:]
    excitatory[:6, 6:] = 0
    excitatory[6:, :6] *= 10.0 ** -rng.integers(0, 12)  # the resting part is nearly closed
    total = np.maximum((excitatory + inhibitory).sum(axis=1, keepdims=True), 1)
    arrivals = np.where(np.arange(10) < 6, rng.random(10), 0)
    q = RandomNeuralNetwork(np.ones(10), excitatory / total, inhibitory / total).steady_state(
        arrivals
    )
    assert (q[6:] == 0).all()
    assert (q[:6] > 0).all()


@pytest.mark.parametrize("arrival", [1e-6, 1e-13, 1e-20, 1e-200])
def test_closed_loop_fills_up_from_the_smallest_arrival(arrival):
    excitatory = np.roll(np.eye(7), 1, axis=1)
    rates = np.array([1, 1, 2, 2, 1, 1, 1.0])
    arrivals = np.zeros(7)
    arrivals[3] = arrival
    q = RandomNeuralNetwork(rates, excitatory).steady_state(arrivals)
    # the slowest neurons fill up, the two of double rate are fed at half theirs
    assert q == pytest.approx([1, 1, 0.5, 0.5 + arrival / 2, 1, 1, 1], abs=1e-10)
    assert q.saturated[[0, 1, 4, 5, 6]].all()


@pytest.mark.parametrize("rates", [[1, 1], [1, 1, 1], [1, 2, 1], [3, 1, 2, 1, 5]])
def test_the_slowest_of_a_closed_loop_are_saturated_to_the_last_bit(rates):
    rates = np.array(rates, dtype=float)
    ring = RandomNeuralNetwork(rates, np.roll(np.eye(len(rates)), 1, axis=1))
    arrivals = np.zeros((99, len(rates)))
    arrivals[:, 0] = np.arange(1, 100) / 100
    q = ring.steady_state(arrivals)
    slowest = rates == rates.min()
    assert q.saturated[:, slowest].all()
    assert (q[:, slowest] == 1).all()
    assert np.isinf(q.mean_potential[:, slowest]).all()


# Feed-forward networks


@pytest.fixture
def layered():
    rng = np.random.default_rng(3)
    sizes = 7, 5, 6, 4
    excitatory = [rng.exponential(size=s) * 0.5 for s in pairwise(sizes)]
    inhibitory = [rng.exponential(size=w.shape) * 0.5 for w in excitatory]
    inputs = rng.random((9, 7)) * 1.3
    network = RandomNeuralNetwork.from_layers(excitatory, inhibitory)
    arrivals = np.zeros((9, network.n_neurons))
    arrivals[:, :7] = np.minimum(inputs, 1) * network.rates[:7]
    return network, arrivals, np.hstack(activations(inputs, excitatory, inhibitory))


@pytest.fixture
def no_iteration(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a feed-forward network was iterated")

    monkeypatch.setattr(steady_state, "solve_feedback", refuse)


@pytest.mark.usefixtures("no_iteration")
def test_feed_forward_network_is_solved_in_closed_form(layered):
    network, arrivals, expected = layered
    np.testing.assert_allclose(network.steady_state(arrivals), expected, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("no_iteration")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_feed_forward_network_is_recognised_in_any_order(layered, storage):
    network, arrivals, expected = layered
    order = np.random.default_rng(4).permutation(network.n_neurons)
    shuffled = RandomNeuralNetwork(
        network.rates[order],
        storage(network.excitatory.toarray()[np.ix_(order, order)]),
        storage(network.inhibitory.toarray()[np.ix_(order, order)]),
    )
    q = shuffled.steady_state(arrivals[:, order])
    np.testing.assert_allclose(q, expected[:, order], rtol=0, atol=1e-14)


@pytest.mark.usefixtures("no_iteration")
def test_long_chain_is_solved_in_closed_form():
    n = 2_000
    rng = np.random.default_rng(5)
    rates, p = np.exp(rng.normal(size=n)), rng.uniform(0.99, 1, n - 1)
    order = rng.permutation(n)  # position in the chain → neuron
    excitatory = sparse.csr_array((p, (order[:-1], order[1:])), shape=(n, n))
    network = RandomNeuralNetwork(rates[np.argsort(order)], excitatory)
    arrivals = np.zeros(n)
    arrivals[order[0]] = 0.9 * rates.min()  # nobody saturates: the flow only shrinks
    flow = 0.9 * rates.min() * np.concatenate([[1], np.cumprod(p)])
    np.testing.assert_allclose(network.steady_state(arrivals)[order], flow / rates, rtol=1e-11)


def test_loop_between_feed_forward_parts_takes_and_gives():
    # 0 → (1 ⇄ 2) → 3, in the order 3, 1, 0, 2
    excitatory = np.zeros((4, 4))
    excitatory[2, 1] = 0.5
    excitatory[1, 3] = 0.5
    excitatory[3, 1] = 0.5
    excitatory[3, 0] = 0.4
    q = RandomNeuralNetwork(np.ones(4), excitatory).steady_state([0, 0, 0.6, 0])
    # q₁ = 0.3 + q₂/2, q₂ = q₁/2
    assert q == pytest.approx([0.08, 0.4, 0.6, 0.2], abs=1e-12)


# Batches, storage, order


def test_batch_equals_its_rows_one_by_one():
    rng = np.random.default_rng(6)
    rates, excitatory, inhibitory, arrivals, inhibition = well_damped(rng, rows=25)
    network = RandomNeuralNetwork(rates, excitatory, inhibitory)
    singly = [network.steady_state(*row) for row in zip(arrivals, inhibition, strict=True)]
    batch = network.steady_state(arrivals, inhibition)
    assert batch.shape == (25, 30)
    assert singly[0].shape == (30,)
    assert batch.saturated.any()
    np.testing.assert_allclose(batch, singly, rtol=0, atol=1e-10)


def test_rows_of_a_batch_take_their_newton_steps_together(monkeypatch):
    rng = np.random.default_rng(16)
    sent = rng.exponential(size=(8, 8))
    sent *= 0.999 / sent.sum(axis=1, keepdims=True)
    network = RandomNeuralNetwork(np.exp(rng.normal(size=8)), sent * 0.98, sent * 0.02)
    arrivals = 10.0 ** rng.uniform(-4, 0, (60, 8))
    calls = []
    solve = np.linalg.solve
    monkeypatch.setattr(np.linalg, "solve", lambda *a: calls.append(len(a[0])) or solve(*a))
    batch = network.steady_state(arrivals)
    assert max(calls) > 20  # rows that the plain iteration left over
    assert len(calls) < 60
    assert batch.saturated.any()
    assert network.residual(batch, arrivals).max() < 1e-12
    np.testing.assert_allclose(batch, [network.steady_state(row) for row in arrivals], rtol=1e-9)


def test_singular_system_spoils_no_other_row():
    matrices = np.array([np.eye(2), np.ones((2, 2)), 2 * np.eye(2)])
    found = steady_state._dense_solutions(matrices, np.ones((3, 2)))
    np.testing.assert_array_equal(found, [[1, 1], [np.nan, np.nan], [0.5, 0.5]])


def test_one_vector_of_inhibitory_arrivals_serves_all_rows():
    rng = np.random.default_rng(7)
    rates, excitatory, inhibitory, arrivals, inhibition = well_damped(rng, rows=5)
    network = RandomNeuralNetwork(rates, excitatory, inhibitory)
    np.testing.assert_array_equal(
        network.steady_state(arrivals, inhibition[0]),
        network.steady_state(arrivals, np.tile(inhibition[0], (5, 1))),
    )
    np.testing.assert_array_equal(
        network.steady_state(arrivals), network.steady_state(arrivals, np.zeros(30))
    )


def test_batch_larger_than_a_block_equals_its_rows(monkeypatch):
    rng = np.random.default_rng(8)
    *network, arrivals, inhibition = well_damped(rng, rows=7)
    network = RandomNeuralNetwork(*network)
    whole = network.steady_state(arrivals, inhibition)
    monkeypatch.setattr("lrnn.network.random_neural_network.CELLS_AT_ONCE", 60)  # two rows
    np.testing.assert_allclose(
        network.steady_state(arrivals, inhibition), whole, rtol=0, atol=1e-10
    )


def test_batch_without_rows_has_a_steady_state_without_rows():
    network = RandomNeuralNetwork([1, 1], [[0, 0.5], [0.5, 0]])
    assert network.steady_state(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("seed", range(5))
def test_storage_does_not_matter(seed):
    rates, excitatory, inhibitory, *arrivals = well_damped(np.random.default_rng(seed))
    dense = solve(rates, excitatory, inhibitory, *arrivals)
    for kind in sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix:
        stored = solve(rates, kind(excitatory), kind(inhibitory), *arrivals)
        np.testing.assert_allclose(stored, dense, rtol=0, atol=1e-10)
    mixed = solve(rates, sparse.csr_array(excitatory), inhibitory, *arrivals)
    np.testing.assert_allclose(mixed, dense, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_order_of_the_neurons_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    rates, excitatory, inhibitory, arrivals, inhibition = well_damped(rng)
    order = rng.permutation(len(rates))
    q = solve(rates, excitatory, inhibitory, arrivals, inhibition)
    shuffled = solve(
        rates[order],
        excitatory[np.ix_(order, order)],
        inhibitory[np.ix_(order, order)],
        arrivals[order],
        inhibition[order],
    )
    np.testing.assert_allclose(shuffled, q[order], rtol=0, atol=1e-10)


# Precision


def test_precision_out_of_reach_is_a_warning_that_tells_the_violation():
    network = RandomNeuralNetwork([1, 1], np.zeros((2, 2)), [[0, 1], [1, 0]])
    with pytest.warns(ConvergenceWarning, match=naming("tol")) as told:
        q = network.steady_state([0.75, 0.75], tol=-1.0)
    assert told[0].filename == __file__
    violation = network.residual(q, [0.75, 0.75]).max()
    assert re.search(naming(f"{violation:.1e}"), str(told[0].message))
    assert q == pytest.approx([0.5, 0.5], abs=1e-12)


def test_coarse_tolerance_is_kept_and_ends_early():
    rates, excitatory, inhibitory, *arrivals = problem = ring_with_shortcuts(0, inhibits=0.1)
    network = RandomNeuralNetwork(rates, excitatory, inhibitory)
    coarse, fine = network.steady_state(*arrivals, tol=1e-3), network.steady_state(*arrivals)
    assert 1e-10 < share_violated(coarse, *problem).max() <= 1e-3
    assert share_violated(fine, *problem).max() <= 1e-10


def test_residual_is_the_violation_of_eq_1_at_any_state():
    rng = np.random.default_rng(9)
    problem = rates, excitatory, inhibitory, *arrivals = well_damped(rng, rows=4)
    network = RandomNeuralNetwork(rates, excitatory, sparse.csr_array(inhibitory))
    state = rng.random((4, 30))
    np.testing.assert_allclose(
        network.residual(state, *arrivals), share_violated(state, *problem), atol=1e-13
    )


@pytest.mark.parametrize(
    ("fast", "slow", "arrival"),
    [(1e6, 1e-6, 1e-6), (1e6, 1e-6, 1e-7), (1e8, 1.0, 0.5), (1e13, 1.0, 0.5), (1e12, 1e-12, 1e-12)],
)
def test_a_loop_that_is_hardly_ever_excited_still_feeds_a_slow_neuron(fast, slow, arrival):
    # 0 ⇄ 1 send each other half of their spikes and a quarter on to neuron 2
    routes = np.zeros((3, 3))
    routes[0, 1] = routes[1, 0] = 0.5
    routes[:2, 2] = 0.25
    network = RandomNeuralNetwork([fast, fast, slow], routes)
    first = arrival / fast / (1 - 0.25)
    exact = [first, first / 2, 1.5 * first * fast * 0.25 / slow]
    arrivals = [arrival, 0, 0]
    q = network.steady_state(arrivals)
    assert np.asarray(q) == pytest.approx(exact, rel=1e-11, abs=0)
    assert network.residual(q, arrivals).max() <= 1e-12
    # and what was taken for an answer before is told from one
    assert network.residual(np.zeros(3), arrivals).max() == 1


@pytest.mark.parametrize("seed", range(20))
def test_loops_with_rates_over_24_decades_are_solved_to_the_last_neuron(seed):
    """Excitatory networks are linear while none saturates: rational numbers solve them exactly."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    rates = 10 ** rng.uniform(-12, 12, n)
    routes = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.6)
    routes *= 0.8 / np.maximum(routes.sum(axis=1, keepdims=True), 1e-300)
    arrivals = np.where(rng.random(n) < 0.6, rates.min() * 10 ** rng.uniform(-3, -1, n), 0)
    exact = rational_steady_state(rates, routes, arrivals)
    assert max(exact) < 1
    q = np.asarray(RandomNeuralNetwork(rates, routes).steady_state(arrivals))
    assert q == pytest.approx(np.array([float(x) for x in exact]), rel=1e-10, abs=0)


def rational_steady_state(rates, routes, arrivals):
    """``q r (I − P) = Λ`` by Gauss and Jordan, in fractions."""
    n = len(rates)
    rows = [
        [Fraction(int(i == j)) - Fraction(routes[j, i]) for j in range(n)] + [Fraction(arrivals[i])]
        for i in range(n)
    ]
    for k in range(n):  # the diagonal dominates its column: no pivot is 0
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / Fraction(rate) for row, rate in zip(rows, rates, strict=True)]


def test_rates_of_any_size_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RandomNeuralNetwork([1e-200], [[0]]).steady_state([1e200]) == [1]
        assert (RandomNeuralNetwork([1, 1], np.eye(2)).steady_state([1e308, 1e308]) == 1).all()


# What a steady state knows


def test_potential_is_geometric():
    q = RandomNeuralNetwork([1, 1, 1], np.zeros((3, 3))).steady_state([0, 0.25, 0.8])
    k = np.arange(400)
    law = np.array([q.probability(int(i)) for i in k])
    np.testing.assert_allclose(law.sum(axis=0), 1, rtol=1e-13)
    np.testing.assert_allclose(k @ law, q.mean_potential, rtol=1e-12)
    np.testing.assert_allclose(q.mean_potential, [0, 1 / 3, 4], rtol=1e-14)
    np.testing.assert_allclose(1 - q.probability(0), q, rtol=1e-14)


def test_saturated_neuron_has_no_finite_potential():
    q = RandomNeuralNetwork([1, 1], np.zeros((2, 2))).steady_state([1.5, 0.5])
    assert q.saturated.tolist() == [True, False]
    assert q.mean_potential.tolist() == [np.inf, 1]
    assert [q.probability(k)[0] for k in (0, 1, 50)] == [0, 0, 0]


@pytest.mark.parametrize("potential", [-1, 0.5])
def test_potential_is_a_whole_number(potential):
    q = RandomNeuralNetwork([1], [[0]]).steady_state([0.5])
    with pytest.raises(ValueError, match=naming("potential", potential)):
        q.probability(potential)


def test_slice_is_a_steady_state_and_arithmetic_a_plain_array():
    q = RandomNeuralNetwork([1, 1], np.zeros((2, 2))).steady_state([[0.5, 1.0], [0.2, 0.1]])
    assert type(q) is type(q[0]) is type(q[:, 1]) is SteadyState
    assert q[0].saturated.tolist() == [False, True]
    for plain in q + 1, q @ np.ones(2), np.sqrt(q), q > 0.5, q.saturated, q.mean_potential:
        assert type(plain) is np.ndarray
    assert type(q.sum()) is type(q[0, 0]) is np.float64
