"""Networks with cycles, event by event: neurons at rest cost nothing, also there."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lrnn import RandomNeuralNetwork
from lrnn.spiking.wiring import Wiring
from spiking.test_partition import LENGTHS, check_same, made, plan_of


@pytest.mark.parametrize("options", LENGTHS)
def test_without_cycles_it_gives_the_spikes_of_neuron_by_neuron(options):
    plan = plan_of(**options)
    n = plan.network.n_neurons
    queued = replace(
        plan, spikes_from=Wiring(plan.network, np.arange(n), np.array([0, n]), cyclic=True)
    )
    check_same(made(queued), made(plan))


def check_against_the_steady_state(result):
    """Means over replicas, within what chance allows at a level of 10⁻⁶ for all neurons."""
    numerator, denominator = result._samples("busy", -1)
    found = (numerator / denominator)[:, 0]
    exact, replicas = np.asarray(result.steady), len(found)
    bound = stats.t.ppf(1 - 1e-6 / (2 * found.shape[1]), replicas - 1) / np.sqrt(replicas)
    spread = found.std(axis=0, ddof=1)
    assert (np.abs(found.mean(axis=0) - exact) <= bound * spread + 1e-12).all()


def test_loops_inhibition_and_self_loops_keep_their_steady_state(random_network):
    for seed in range(3):
        network, plus, minus = random_network(seed)
        result = network.simulate(
            plus, minus, time=2_000.0, start="stationary", replicas=30, engine="neurons",
            random_state=seed,
        )  # fmt: skip
        if not result.saturated.any():
            check_against_the_steady_state(result)


@pytest.mark.parametrize("ratio", [1e7, 1e11])
@pytest.mark.parametrize("back", [0.0, 0.3])
def test_a_neuron_that_is_hardly_ever_excited_costs_nothing(ratio, back):
    """Its clock would ring ``ratio`` times for each event; with 32 bits others never rang."""
    network = RandomNeuralNetwork([1.0, ratio], [[0.0, 0.5], [back, 0.0]])
    result = network.simulate(
        [0.5, 0.0], events=20_000, start="stationary", replicas=20, random_state=0
    )
    assert (result.events == 400_000).all()
    found = result.activation("arrivals")
    np.testing.assert_allclose(found, result.steady, rtol=0.05)  # 10⁵ spikes: 0.3 %, correlated


@pytest.mark.filterwarnings("ignore:.*too short")
def test_many_windows_and_recorded_spikes():
    network = RandomNeuralNetwork([1.0, 2.0], [[0.2, 0.5], [0.6, 0.0]], [[0, 0.1], [0.1, 0]])
    options = {"engine": "neurons", "record": [0, 1], "random_state": 3}
    result = network.simulate([0.4, 0.1], [0.1, 0.0], events=300_000, **options)
    raster = result.raster
    np.testing.assert_array_equal(np.bincount(raster.neurons), result.firing_counts)
    assert (np.diff(raster.times) > 0).all()
    parts = [network.simulate([0.4, 0.1], [0.1, 0.0], events=k, **options) for k in (1, 77, 5_000)]
    for part in parts:
        count = len(part.raster)
        np.testing.assert_array_equal(part.raster.times, raster.times[:count])


def test_auto_takes_it_where_clocks_would_ring_too_often():
    network = RandomNeuralNetwork([1.0, 1.0], [[0.0, 0.5], [0.5, 0.0]])
    for arrival, engine in ((0.4, "clock"), (1e-4, "neurons")):
        found, expected = (
            network.simulate([arrival, 0.0], events=5_000, engine=e, random_state=0)
            for e in ("auto", engine)
        )
        np.testing.assert_array_equal(found._counts, expected._counts)


def networks_of_rate(rate):
    """Two that feed each other, a spike for ``rate`` firings or for ten; and 20 of all rates."""
    rng = np.random.default_rng(0)
    for kept in (1 - 1 / rate, 0.9):
        yield RandomNeuralNetwork([rate, rate], [[0, kept], [kept, 0]]), np.array([0.4, 0.0])
    routes = rng.dirichlet(np.ones(41), size=20)
    rates = 10.0 ** rng.uniform(0, np.log10(rate), 20)
    network = RandomNeuralNetwork(rates, routes[:, :20], routes[:, 20:40])
    yield network, rng.random(20)
    yield network, rng.random(20) * rates


@pytest.mark.filterwarnings("ignore:.*too short")
@pytest.mark.parametrize("rate", [1e10, 3e12, 1e15])
@pytest.mark.parametrize("engine", ["auto", "neurons"])
def test_rates_in_loops_may_be_of_any_size(rate, engine):
    """A run takes as many steps as it has events, however long the network is empty before."""
    for network, arrivals in networks_of_rate(rate):
        result = network.simulate(
            arrivals, events=10_000, replicas=4, engine=engine, random_state=0
        )
        assert result.events == 40_000
        low, high = result.confidence_interval(1 - 1e-6)
        exact = np.asarray(result.steady)
        assert ((low <= exact) & (exact <= high))[~result.short].all()


def test_clocks_that_would_ring_for_ever_are_refused_before_they_start():
    ring, arrivals = next(networks_of_rate(1e10))
    for options in ({"engine": "clock"}, {"at_events": True}):
        with pytest.raises(ValueError, match="engine='neurons'"):
            ring.simulate(arrivals, events=10_000, random_state=0, **options)
