"""Simulation neuron by neuron: the same law as clock by clock, at any brightness."""

import numpy as np
import pytest
from scipy import sparse, stats

from lrnn import RandomNeuralNetwork
from lrnn.functional.compiled import compiled
from lrnn.spiking import by_neuron
from lrnn.spiking.exponential import exponential
from naming import naming

pytestmark = pytest.mark.filterwarnings("ignore:.*too short")


@compiled
def drawn(count, s0, s1):
    found = np.empty(count)
    for i in range(count):
        s0, s1, found[i] = exponential(s0, s1)
    return found


def layered(seed, sizes=(6, 4, 5), inhibition=True, skips=False):
    """Layers with routes to the next one, and with ``skips`` also to those behind it."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    layer = np.repeat(np.arange(len(sizes)), sizes)
    ahead = layer[:, None] < layer if skips else layer[:, None] + 1 == layer
    routes = rng.random((n, 2 * n)) ** 3 * np.tile(ahead, 2)
    if not inhibition:
        routes[:, n:] = 0
    routes /= np.maximum(1.1 * routes.sum(axis=1, keepdims=True), 1)
    rates = rng.uniform(0.5, 2, n)
    shuffled = rng.permutation(n)  # levels need not be in order
    plus, minus = (m[shuffled][:, shuffled] for m in (routes[:, :n], routes[:, n:]))
    arrivals = (rng.uniform(0.05, 0.2, n) * (layer < 2))[shuffled]
    inhibitory = rng.uniform(0, 0.2, n)[shuffled] if inhibition else None
    network = RandomNeuralNetwork(rates, plus, minus if inhibition else None)
    return network, arrivals, inhibitory


def test_exponential_numbers():
    x = drawn(2_000_000, np.uint64(20161), np.uint64(42))
    cells = np.floor(-np.expm1(-x) * 2_000).astype(int)  # uniform
    assert stats.chisquare(np.bincount(cells, minlength=2_000)).pvalue > 1e-3
    assert stats.kstest(x[:200_000], "expon").pvalue > 1e-3
    tail = x[x > 7.7] - 7.7  # beyond the lowest layer
    assert abs(len(tail) / len(x) / np.exp(-7.7) - 1) < 4 / np.sqrt(len(tail))
    assert stats.kstest(tail, "expon").pvalue > 1e-3


@pytest.mark.parametrize("brightness", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("inhibition", [False, True])
@pytest.mark.parametrize("skips", [False, True])
def test_activations_are_those_of_the_product_form(brightness, inhibition, skips):
    network, arrivals, inhibitory = layered(3, inhibition=inhibition, skips=skips)
    arrivals = arrivals * brightness
    result = network.simulate(
        arrivals, inhibitory, events=200_000, replicas=8, start="stationary", engine="neurons",
        random_state=1,
    )  # fmt: skip
    q = np.asarray(network.steady_state(arrivals, inhibitory))
    assert (result.firing_counts[q == 0] == 0).all()
    for estimator in ("arrivals", "busy", "potential"):
        low, high = result.confidence_interval(1 - 1e-4, estimator)
        assert ((low <= q) & (q <= high)).all(), estimator
    # firings are those of a Poisson process, by Burke's theorem where nothing inhibits
    if not inhibition:
        expected = (q * network.rates * result.time)[q > 0]
        z = (result.firing_counts[q > 0] - expected) / np.sqrt(expected)
        assert stats.chi2.sf((z**2).sum(), len(z)) > 1e-4


def test_both_engines_agree():
    network, arrivals, inhibitory = layered(5)
    found = [
        network.simulate(
            arrivals, inhibitory, time=3_000.0, replicas=16, engine=engine, random_state=2
        )
        for engine in ("clock", "neurons")
    ]
    for estimator in ("busy", "arrivals"):
        (low, high), (low_, high_) = (f.confidence_interval(0.99, estimator) for f in found)
        gap = found[0].activation(estimator) - found[1].activation(estimator)
        width = np.hypot(high - low, high_ - low_) / 2
        assert (np.abs(gap) < 2 * width + 1e-12).all()


@pytest.mark.parametrize("window", [50, 1_000, 1 << 17])
def test_spikes_are_the_same_for_any_windows(monkeypatch, window):
    network, arrivals, inhibitory = layered(7)
    neurons = np.arange(network.n_neurons)
    options = {"engine": "neurons", "record": neurons, "random_state": 3}
    expected = network.simulate(arrivals, inhibitory, events=20_000, **options)
    assert expected.events == 20_000
    monkeypatch.setattr(by_neuron, "WINDOW", window)
    other = network.simulate(
        arrivals, inhibitory, time=expected.time, snapshot_bytes=1, trace=True, **options
    )
    assert np.diff(expected.raster.times).min() >= 0
    count = len(expected.raster.neurons)
    np.testing.assert_array_equal(expected.raster.neurons, other.raster.neurons[:count])
    np.testing.assert_array_equal(expected.raster.times, other.raster.times[:count])
    counts = np.bincount(expected.raster.neurons, minlength=network.n_neurons)
    np.testing.assert_array_equal(counts, expected.firing_counts)


def test_room_for_few_spikes_is_enough(monkeypatch):
    """Windows become shorter; no event is lost, and none is too many."""
    network, arrivals, inhibitory = layered(7)
    options = {"engine": "neurons", "record": [0, 5], "random_state": 3, "events": 3_000}
    expected = network.simulate(arrivals, inhibitory, **options)
    monkeypatch.setattr(by_neuron, "WINDOW", 4)
    other = network.simulate(arrivals, inhibitory, **options)
    assert other.events == 3_000
    np.testing.assert_array_equal(other.raster.times, expected.raster.times)
    np.testing.assert_array_equal(other.firing_counts, expected.firing_counts)


def test_snapshots_are_right_after_their_events():
    network, arrivals, inhibitory = layered(11)
    result = network.simulate(
        arrivals, inhibitory, events=5_000, engine="neurons", random_state=4, record=[0, 1, 2]
    )
    for moment in result.snapshots:
        then = result.at(moment)
        assert then.events == moment
        for i in range(3):
            times = result.raster.times[result.raster.neurons == i]
            fired = np.count_nonzero(times <= then.time * (1 + 1e-12))
            assert fired == then.firing_counts[i]


def test_busy_is_a_time_average_also_in_short_runs():
    """M/M/1 from rest: the share of [0, t] for which it is excited, by uniformisation."""
    rate, arrival, end = 1.0, 0.7, 0.1
    network = RandomNeuralNetwork([rate], [[0.0]])
    result = network.simulate([arrival], time=end, replicas=4_000, engine="neurons", random_state=5)
    size = 30
    chain = np.diag(np.full(size - 1, arrival), 1) + np.diag(np.full(size - 1, rate), -1)
    chain -= np.diag(chain.sum(axis=1))
    moments = np.linspace(0, end, 201)
    excited = [1 - sparse.linalg.expm_multiply(chain.T * t, np.eye(size)[0])[0] for t in moments]
    exact = float(np.trapezoid(excited, moments)) / end
    share = result.activation("busy")[0]
    # the share of one run is from 0 to 1
    assert abs(share - exact) < 4 * np.sqrt(exact / 4_000)


def test_the_seed_tells_all_and_threads_nothing():
    network, arrivals, inhibitory = layered(13)
    rows = arrivals * np.array([[1.0], [0.1], [0.5]])
    options = {"events": 3_000, "replicas": 3, "engine": "neurons"}
    runs = [
        network.simulate(rows, inhibitory, threads=t, random_state=s, **options)
        for t, s in ((1, 6), (2, 6), (2, 7))
    ]
    np.testing.assert_array_equal(runs[0].firing_counts, runs[1].firing_counts)
    np.testing.assert_array_equal(runs[0].activation(), runs[1].activation())
    assert (runs[0].firing_counts != runs[2].firing_counts).any()


def test_a_warm_up_is_left_out():
    network, arrivals, _ = layered(17, inhibition=False)
    result = network.simulate(
        arrivals, time=500.0, warm_up=100.0, replicas=200, engine="neurons", random_state=8
    )
    assert result.time == pytest.approx(500 * 200)
    q = np.asarray(network.steady_state(arrivals))
    low, high = result.confidence_interval(1 - 1e-4)
    assert ((low <= q) & (q <= high)).all()


def test_rates_of_any_size():
    """Where a clock would wait for ever: rates over fourteen decades."""
    network = RandomNeuralNetwork([1e-7, 1.0, 1e7], np.eye(3, k=1))
    result = network.simulate([5e-8, 0, 0], events=20_000, random_state=9)
    np.testing.assert_allclose(result.activation("arrivals"), [0.5, 5e-8, 5e-15], rtol=0.1)


def test_a_saturated_neuron():
    network = RandomNeuralNetwork([1.0, 4.0], np.eye(2, k=1))
    result = network.simulate([2.0, 0.0], time=4_000.0, engine="neurons", random_state=10)
    assert result.saturated.tolist() == [True, False]
    np.testing.assert_allclose(result.activation("busy"), [1.0, 0.25], atol=0.03)


def test_what_it_is_not_for():
    loop = RandomNeuralNetwork([1.0, 1.0], [[0.0, 0.5], [0.5, 0.0]])
    with pytest.raises(ValueError, match=naming("device='cuda'", "cycles", "engine='clock'")):
        loop.simulate([0.1, 0.1], engine="neurons", device="cuda")
    with pytest.raises(ValueError, match=naming("engine", "auto", "clock", "neurons", "'bicycle'")):
        loop.simulate([0.1, 0.1], engine="bicycle")
    chain = RandomNeuralNetwork([1.0, 1.0], np.eye(2, k=1))
    with pytest.raises(ValueError, match=naming("engine='neurons'", "at_events=True")):
        chain.simulate([0.1, 0.1], engine="neurons", at_events=True)
