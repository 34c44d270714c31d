"""The kernel: its tables hold the right probabilities, and it simulates the network's law."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2, norm

from lrnn import RandomNeuralNetwork
from lrnn.spiking import reference
from lrnn.spiking.kernel import (
    ARRIVED,
    BUSY,
    EVENTS,
    FIRED,
    OBSERVATIONS,
    POTENTIAL,
    TICKS,
    UNLIMITED,
    advance,
)
from lrnn.spiking.tables import alias_rows, tables

LEVEL = 1e-6  # of every statistical test here: with fixed seeds they pass or fail for good


class Run:
    """One simulation from rest."""

    def __init__(self, network, arrivals, inhibitory_arrivals=None, seed=0):
        self.network = network
        minus = np.zeros(network.n_neurons) if inhibitory_arrivals is None else inhibitory_arrivals
        self.tables = tables(network, np.asarray(arrivals, float), np.asarray(minus, float))
        n = network.n_neurons
        self.state = np.zeros((n + 1, 4), dtype=np.int64)
        self.state[n, POTENTIAL] = UNLIMITED
        self.observed = np.zeros(n, dtype=np.int64)
        self.random = np.random.SeedSequence(seed).generate_state(2, np.uint64)
        self.counts = np.zeros(3, dtype=np.int64)

    def go(self, events, observe_every=1_000):
        t = self.tables
        advance(
            t.clock_limits, t.clock_nodes, t.first, t.route_limits, t.targets, self.state,
            self.observed, self.random, self.counts, events, observe_every,
        )  # fmt: skip
        return self

    @property
    def busy(self):
        ticks = self.counts[TICKS]
        state = self.state[:-1]
        return (state[:, BUSY] + ticks * (state[:, POTENTIAL] > 0)) / ticks


def random_network(seed, n=5):
    """Recurrent, inhibitory, with self-loops, and stable."""
    rng = np.random.default_rng(seed)
    routes = rng.dirichlet(np.ones(2 * n + 1) * 0.5, size=n)
    network = RandomNeuralNetwork(rng.uniform(0.5, 2, n), routes[:, :n], routes[:, n : 2 * n])
    return network, rng.uniform(0, 0.5, n), rng.uniform(0, 0.5, n)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1_000])
def test_alias_tables_hold_the_probabilities(n):
    rng = np.random.default_rng(n)
    weights = np.concatenate([rng.exponential(size=n) ** 3, rng.random(7)])
    first = np.array([0, n, n + 7])
    limits, alias = alias_rows(first, weights)
    for begin, end in itertools.pairwise(first):
        own = np.arange(begin, end) == alias[begin:end]
        kept = np.where(own, 1.0, limits[begin:end] / 2**32)
        found = np.zeros(end - begin)
        np.add.at(found, np.arange(end - begin), kept)
        np.add.at(found, alias[begin:end] - begin, 1 - kept)
        expected = weights[begin:end] / weights[begin:end].sum()
        np.testing.assert_allclose(found / (end - begin), expected, atol=1 / 2**32, rtol=1e-12)


def test_only_neurons_that_can_be_excited_have_clocks():
    network = RandomNeuralNetwork([1, 2, 3, 4], np.eye(4, k=1), np.zeros((4, 4)))
    made = tables(network, np.array([0, 0.5, 0, 0]), np.array([0.1, 0, 0, 0]))
    assert set(made.clock_nodes.ravel()) == {1, 2, 3, 4}  # 4 is the outside world
    assert made.total_rate == pytest.approx(2 + 3 + 4 + 0.6)


@pytest.mark.parametrize("seed", range(5))
def test_no_spike_is_lost_or_made(seed):
    run = Run(*random_network(seed), seed=seed).go(20_000, 7)
    potential, fired, arrived = (run.state[:, i] for i in (POTENTIAL, FIRED, ARRIVED))
    assert run.counts[EVENTS] == 20_000 == fired.sum()
    assert run.counts[OBSERVATIONS] == 20_000 // 7
    assert run.counts[TICKS] >= 20_000
    assert potential.min() >= 0
    assert (fired[:-1] + potential[:-1] <= arrived[:-1]).all()  # the rest was inhibited
    assert ((run.busy >= 0) & (run.busy <= 1)).all()


def test_without_inhibition_every_arrival_is_fired_or_kept():
    network = RandomNeuralNetwork.from_layers([np.random.default_rng(0).random((4, 3))])
    run = Run(network, [1, 1, 1, 1, 0, 0, 0]).go(5_000)
    state = run.state[:-1]
    np.testing.assert_array_equal(state[:, FIRED] + state[:, POTENTIAL], state[:, ARRIVED])


def test_the_same_seed_gives_the_same_run_in_any_number_of_pieces():
    whole = Run(*random_network(1), seed=3).go(10_000)
    pieces = Run(*random_network(1), seed=3)
    for events in (1, 999, 1_500, 7_500):
        pieces.go(events)
    for name in ("state", "observed", "random", "counts"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))
    other = Run(*random_network(1), seed=4).go(10_000)
    assert (other.state != whole.state).any()


def test_the_busy_time_is_that_of_the_steady_state():
    """Independent replicas of 20 networks; one sum of squared z-scores for all neurons."""
    replicas, z = 40, []
    for seed in range(20):
        network, plus, minus = random_network(100 + seed)
        q = np.asarray(network.steady_state(plus, minus))
        found = []
        for r in range(replicas):
            run = Run(network, plus, minus, seed=(seed, r)).go(
                2_000
            )  # from rest into the steady state
            start = run.busy * run.counts[TICKS], run.counts[TICKS]
            run.go(10_000)
            late = run.busy * run.counts[TICKS] - start[0]
            found.append(late / (run.counts[TICKS] - start[1]))
        error = np.std(found, axis=0, ddof=1) / np.sqrt(replicas)
        z.append((np.mean(found, axis=0) - q) / error)
    z = np.concatenate(z)
    # a t variable of 39 degrees of freedom has variance 39/37
    assert (z**2).sum() / (39 / 37) < chi2.isf(LEVEL, len(z)) * 1.3
    assert abs(z.mean()) < norm.isf(LEVEL / 2) / np.sqrt(len(z)) * 1.1


def test_a_single_neuron_has_a_geometric_potential():
    """Potentials at times so far apart that they are independent: a chi-square test."""
    load = 0.5
    run = Run(RandomNeuralNetwork([1.0], [[0.0]]), [load])
    seen = []
    for _ in range(4_000):
        run.go(400)
        seen.append(run.state[0, POTENTIAL])
    # after an even number of events the potential's parity is even: compare pairs of values
    pairs = np.minimum(np.array(seen) // 2, 5)
    counts = np.bincount(pairs, minlength=6)
    assert (np.array(seen) % 2 == 0).all()
    # the jump chain's law is π(k) ∝ (rate out of k)·(1 − ρ)ρᵏ, restricted to even k
    k = np.arange(0, 200, 2)
    law = np.where(k == 0, load, 1 + load) * load**k
    law /= law.sum()
    expected = np.append(law[:5], law[5:].sum()) * len(seen)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(LEVEL, 5)


def test_the_reference_agrees_with_the_steady_state():
    network, plus, minus = random_network(7, n=3)
    q = np.asarray(network.steady_state(plus, minus))
    found = []
    for r in range(30):
        random = np.random.default_rng((7, r))
        moments = itertools.islice(reference.events(network, plus, minus, random), 200, 1_200)
        times, states = zip(*((m.time, m.potentials > 0) for m in moments), strict=True)
        stay = np.diff(times)
        found.append((np.array(states[:-1]) * stay[:, None]).sum(axis=0) / stay.sum())
    error = np.std(found, axis=0, ddof=1) / np.sqrt(30)
    z = (np.mean(found, axis=0) - q) / error
    assert (abs(z) < 6).all()  # |t| of 29 degrees of freedom: P < 2e-6
