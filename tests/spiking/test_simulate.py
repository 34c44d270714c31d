"""`simulate`: what it counts, what it returns, and what it refuses."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from lrnn import LRNNAutoencoder, RandomNeuralNetwork
from lrnn.spiking import cpu_kernel
from lrnn.spiking.on_cpu import Run
from lrnn.spiking.plan import FOREVER, SEEN
from lrnn.spiking.simulate import make_plan
from naming import naming

ESTIMATORS = ("potential", "busy", "arrivals")
EVENTS_ONLY = {"events": 20_000, "random_state": 0}


@pytest.fixture
def layered():
    rng = np.random.default_rng(0)
    return RandomNeuralNetwork.from_layers([rng.random((4, 3)) / 3, rng.random((3, 4)) / 3])


@pytest.mark.parametrize("seed", range(5))
def test_no_spike_is_lost_or_made(seed, random_network):
    network, plus, minus = random_network(seed)
    result = network.simulate(plus, minus, events=20_000, observe_every=70, random_state=seed)
    fired, arrived = result.firing_counts, result.arrival_counts
    assert result.events == 20_000
    assert fired.sum() < 20_000  # the others came from outside
    assert (fired <= arrived).all()  # the rest is still there, or was inhibited
    for estimator in ESTIMATORS:
        q = result.activation(estimator)
        assert ((q >= 0) & (q <= 1)).all()


def test_without_inhibition_every_arrival_is_fired_or_kept(layered):
    arrivals = np.array([0.9, 0.5, 0.1, 0, 0, 0, 0, 0, 0, 0, 0])
    result = layered.simulate(arrivals, events=5_000, trace=True, random_state=0)
    kept = result.arrival_counts - result.firing_counts
    assert kept.min() >= 0
    assert kept.sum() == result.trace.totals[-1]


def test_shapes_are_those_of_the_arrivals(layered):
    one = np.full(11, 0.1)
    many = np.tile(one, (3, 1))
    for arrivals, replicas in ((one, 1), (one, 4), (many, 1), (many, 2)):
        result = layered.simulate(arrivals, events=5_000, replicas=replicas, random_state=0)
        assert result.activation().shape == arrivals.shape
        low, high = result.confidence_interval()
        assert low.shape == high.shape == arrivals.shape
        for name in ("mean_potential", "saturated", "arrival_counts", "firing_counts"):
            assert getattr(result, name).shape == arrivals.shape
        assert np.shape(result.events) == np.shape(result.time) == arrivals.shape[:-1]
        assert np.all(result.events == 5_000 * replicas)


def test_the_same_seed_gives_the_same_result_in_any_number_of_threads(random_network):
    network, plus, minus = random_network(3)
    rows = np.stack([plus, 2 * plus, plus / 2])
    results = [
        network.simulate(rows, minus, replicas=5, threads=threads, **EVENTS_ONLY)
        for threads in (1, 2, 7)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(
            other.activation("arrivals"), results[0].activation("arrivals")
        )
        np.testing.assert_array_equal(other.firing_counts, results[0].firing_counts)
        np.testing.assert_array_equal(other.time, results[0].time)
    different = network.simulate(rows, minus, replicas=5, events=20_000, random_state=1)
    assert (different.firing_counts != results[0].firing_counts).any()


def test_replicas_are_different_runs(random_network):
    network, plus, minus = random_network(3)
    result = network.simulate(plus, minus, replicas=8, **EVENTS_ONLY)
    fired = result._sums[-1, 3]
    assert len(np.unique(fired, axis=0)) == 8


def test_a_run_is_the_same_in_pieces_and_with_a_recording(monkeypatch, random_network):
    network, plus, minus = random_network(1)
    whole = network.simulate(plus, minus, **EVENTS_ONLY)
    monkeypatch.setattr("lrnn.spiking.on_cpu.PIECE", 777)
    monkeypatch.setattr("lrnn.spiking.on_cpu.SPIKES_AT_ONCE", 10)
    pieces = network.simulate(plus, minus, record=range(5), trace=True, **EVENTS_ONLY)
    np.testing.assert_array_equal(pieces._sums, whole._sums)
    np.testing.assert_array_equal(pieces._counts, whole._counts)
    assert len(pieces.raster.times) == whole.firing_counts.sum()
    np.testing.assert_array_equal(np.bincount(pieces.raster.neurons), whole.firing_counts)


@pytest.mark.parametrize("by", ["events", "time"])
def test_a_raster_is_in_order_and_within_the_time(by, random_network):
    network, plus, minus = random_network(2)
    length = {"events": 3_000} if by == "events" else {"time": 500.0}
    result = network.simulate(plus, minus, record=[0, 3], trace=True, random_state=5, **length)
    times = result.raster.times
    assert (np.diff(times) >= 0).all()
    assert times[0] > 0
    assert times[-1] <= result.time
    assert set(result.raster.neurons) == {0, 3}
    assert (np.diff(result.trace.times) >= 0).all()
    if by == "time":
        assert result.time == 500


def test_snapshots_are_what_a_shorter_run_gives(random_network):
    network, plus, minus = random_network(4)
    long = network.simulate(plus, minus, events=50_000, random_state=2)
    assert {1_000, 2_000, 5_000, 10_000, 20_000, 50_000} <= set(long.snapshots)
    for events in (1_000, 20_000):
        short = network.simulate(plus, minus, events=events, random_state=2)
        then = long.at(events)
        assert then.events == events
        np.testing.assert_allclose(
            then.activation("arrivals"), short.activation("arrivals"), rtol=1e-12
        )
        np.testing.assert_array_equal(then.firing_counts, short.firing_counts)
    with pytest.raises(ValueError, match=naming(777, 1000)):
        long.at(777)


def test_snapshots_take_no_more_memory_than_allowed(random_network):
    network, plus, minus = random_network(4)
    cell = 4 * 5 * 5  # bytes: float32, 5 kinds, 5 neurons
    for most in (1, 3, 40):
        result = network.simulate(
            plus, minus, events=10**6, snapshot_bytes=most * cell, random_state=0
        )
        assert len(result.snapshots) <= most
        assert result.snapshots[-1] == 10**6
    lone = network.simulate(plus, minus, events=10_000, snapshot_bytes=0, random_state=0)
    with pytest.raises(ValueError, match=naming("replicas", "snapshot_bytes")):
        lone.confidence_interval()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_events():
    """Ten million events take no more than a hundred thousand do."""
    code = """
import resource, sys, numpy as np
from lrnn import RandomNeuralNetwork
network = RandomNeuralNetwork.from_layers([np.full((50, 20), 0.01), np.full((20, 50), 0.02)])
arrivals = np.r_[np.full(50, 0.1), np.zeros(70)]
network.simulate(arrivals, events=100_000, random_state=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
network.simulate(arrivals, events=10_000_000, random_state=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2_000  # kB


def test_a_saturated_neuron_is_reported_and_never_overflows(monkeypatch):
    monkeypatch.setattr("lrnn.spiking.on_cpu.PIECE", 1 << 14)
    network = RandomNeuralNetwork([1.0, 1.0], [[0, 0.5], [0, 0]])
    result = network.simulate([50.0, 0.0], events=200_000, random_state=0)
    assert result.saturated.tolist() == [True, False]
    assert result.activation()[0] > 0.9999
    assert result.activation("busy")[0] > 0.99
    assert result.activation("arrivals")[0] == 1
    assert result.mean_potential[0] > 1e4
    assert abs(result.activation("busy")[1] - 0.5) < 0.05


def test_a_neuron_that_never_fires_saturates_or_rests():
    network = RandomNeuralNetwork([0.0, 0.0, 1.0], np.zeros((3, 3)))
    result = network.simulate([0.1, 0.0, 0.5], events=50_000, observe_every=50, random_state=0)
    assert result.saturated.tolist() == [True, False, False]
    for estimator in ESTIMATORS:
        q = result.activation(estimator)
        np.testing.assert_allclose(q, [1, 0, 0.5], atol=0.05)
        low, high = result.confidence_interval(0.95, estimator)
        assert (low <= q).all()
        assert (q <= high).all()


def test_potentials_beyond_a_word_are_kept_in_reserve():
    words = np.array([5, (7 << 32) + cpu_kernel.FULL - 1, 3 << 32, 0], dtype=np.int64)
    reserve = np.array([0, 10, 100, 0])
    fired = np.zeros(4, dtype=np.int64)
    cpu_kernel.settle(words[:4], reserve[:3], fired[:3])
    assert fired.tolist() == [0, 7, 3, 0]
    assert words.tolist() == [5, cpu_kernel.FULL, 100, cpu_kernel.NEVER]
    assert reserve[:3].tolist() == [0, 9, 0]


def test_a_stationary_start_has_the_law_of_the_steady_state(random_network):
    network, plus, minus = random_network(6)
    started = network.simulate(
        plus, minus, events=1, replicas=4_000, start="stationary", random_state=0
    )
    q = np.asarray(network.steady_state(plus, minus))
    mean, deviation = q / (1 - q), np.sqrt(q) / (1 - q)
    kept = started._sums[-1, 2] - started._sums[-1, 3]  # arrived less fired in one event: ±1
    assert np.abs(kept).max() <= 1
    plan = make_plan(
        network, plus, minus, events=1, time=None, observe_every=1, replicas=4_000, warm_up=0,
        start="stationary", snapshot_bytes=1 << 20, random_state=0,
    )  # fmt: skip
    drawn = np.array([plan.first_potentials(run) for run in range(4_000)])
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * deviation / np.sqrt(4_000)).all()


def test_a_saturated_neuron_starts_high():
    network = RandomNeuralNetwork([1.0, 1.0], [[0, 0.5], [0, 0]])
    result = network.simulate([1.0, 0.0], events=10_000, start="stationary", random_state=0)
    assert result.activation("busy")[0] == 1


def test_the_warm_up_is_left_out(random_network):
    network, plus, minus = random_network(8)
    result = network.simulate(plus, minus, events=5_000, warm_up=10_000, random_state=0)
    plain = network.simulate(plus, minus, events=5_000, random_state=0)
    assert result.events == plain.events == 5_000
    assert (result.firing_counts != plain.firing_counts).any()
    assert (result.firing_counts <= result.arrival_counts + 100).all()


def test_ctrl_c_returns_what_was_simulated(ctrl_c, random_network):
    network, plus, minus = random_network(2)
    network.simulate(plus, minus, events=1_000)  # compiled
    ctrl_c(0.5)
    result = network.simulate(plus, minus, events=10**12, random_state=0)
    assert result.interrupted
    assert "interrupted" in repr(result)
    assert 10_000 < result.events < 10**10
    q = np.asarray(network.steady_state(plus, minus))
    assert np.abs(result.activation("arrivals") - q).max() < 0.05
    assert np.isfinite(result.confidence_interval()[0]).all()
    assert result.at(10_000).events == 10_000


def test_progress_is_shown_when_wanted():
    code = """
import numpy as np
from lrnn import RandomNeuralNetwork, progress
progress.PATIENCE = 0
network = RandomNeuralNetwork([1.0], [[0.0]])
for wanted in (False, None, True):
    network.simulate([0.5], events=20_000_000, progress=wanted, random_state=0)
    print("-", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("100%") == 1


@pytest.mark.parametrize("warm_up", [0, 500])
def test_potentials_are_observed_after_every_so_many_events(monkeypatch, random_network, warm_up):
    network, plus, minus = random_network(1)
    monkeypatch.setattr("lrnn.spiking.on_cpu.PIECE", 777)
    arguments = {"events": 5_000, "observe_every": 70, "warm_up": warm_up, "random_state": 3}
    result = network.simulate(plus, minus, at_events=True, **arguments)
    plan = make_plan(
        network, plus, minus, time=None, replicas=1, start="empty", snapshot_bytes=0, **arguments
    )
    run, seen = Run.of(plan, 0), []
    for event in range(70, 5_001, 70):
        run.advance(FOREVER, event, None, np.empty((0, 2), np.int64))
        seen.append(run.potentials)
    np.testing.assert_array_equal(result._sums[-1, SEEN, 0], np.sum(seen, axis=0))
    mean = np.mean(seen, axis=0)
    np.testing.assert_allclose(result.activation("events"), mean / (1 + mean))
    low, high = result.confidence_interval(0.95, "events")
    assert (low < result.activation("events")).all()
    assert (result.activation("events") < high).all()
    assert result.compare(estimator="events").events[-1] == 5_000


def test_what_is_not_asked_for_is_not_observed(random_network):
    network, plus, minus = random_network(1)
    plain, more = (
        network.simulate(plus, minus, at_events=at_events, **EVENTS_ONLY)
        for at_events in (False, True)
    )
    np.testing.assert_array_equal(plain._counts, more._counts)
    np.testing.assert_array_equal(plain._sums, more._sums[:, :SEEN])
    assert len(plain.compare(estimator="events").events) == 0
    with pytest.raises(ValueError, match="at_events=True"):
        plain.activation("events")
    short = network.simulate(plus, minus, events=100, at_events=True, random_state=0)
    with pytest.raises(ValueError, match=naming(1000, "observe_every")):
        short.confidence_interval(0.95, "events")


def test_compare_gives_the_error_of_every_layer(layered, random_network):
    arrivals = layered.rates * 0.5 * (np.arange(11) < 4)
    result = layered.simulate(arrivals, events=100_000, random_state=0)
    found = result.compare()
    assert found.layers == ("input", "hidden", "output")
    assert found.events[-1] == 100_000
    assert found.errors.shape == (len(found.events), 3)
    q = np.asarray(layered.steady_state(arrivals))
    by_hand = np.sqrt(((result.activation() - q)[4:7] ** 2).mean())
    assert found.errors[-1, 1] == pytest.approx(by_hand)
    np.testing.assert_allclose(result.compare(q).errors, found.errors)
    network, plus, minus = random_network(0)
    assert network.simulate(plus, minus, events=2_000).compare().layers == ("all",)
    with pytest.raises(ValueError, match=naming("q", 3, 11)):
        result.compare([0.1, 0.2, 0.3])


def test_a_neuron_that_nothing_reached_may_still_be_excited():
    network = RandomNeuralNetwork([1.0, 1.0, 1.0], np.zeros((3, 3)))
    result = network.simulate([0.5, 1e-9, 0.0], events=10_000, random_state=0)
    low, high = result.confidence_interval()
    assert low[1] == 0 < 1e-9 < high[1]
    assert low[2] == high[2] == 0  # nothing ever comes there


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"arrivals": [0.1, -0.2]}, ["arrivals", "neuron 1", -0.2]),
        ({"arrivals": [0.1, np.nan]}, ["arrivals", "neuron 1", "nan"]),
        ({"arrivals": [0.1]}, ["arrivals", "(1,)", "(2,)"]),
        ({"arrivals": [0.0, 0.0]}, ["arrivals", 0]),
        ({"arrivals": [[0.1, 0.1], [0.0, 0.0]]}, ["arrivals", 0, "row 1"]),
        ({"inhibitory_arrivals": [np.inf, 0]}, ["inhibitory_arrivals", "neuron 0", "inf"]),
        ({"events": 0}, ["events", 0]),
        ({"events": -5}, ["events", -5]),
        ({"events": 1.5}, ["events", 1.5, "1e+15"]),
        ({"events": 1e30}, ["events", 1e30, "1e+15"]),
        ({"events": float("nan")}, ["events", "nan"]),
        ({"events": "many"}, ["events", "'many'"]),
        ({"events": True}, ["events", True]),
        ({"events": 10, "time": 1.0}, ["events=10", "time=1.0"]),
        ({"time": 0}, ["time", 0]),
        ({"time": 1e300}, ["time=1e+300", "1e+15"]),
        ({"observe_every": 0}, ["observe_every", 0]),
        ({"replicas": 2.5}, ["replicas", 2.5]),
        ({"warm_up": -1}, ["warm_up", -1]),
        ({"start": "full"}, ["start", "'empty'", "'stationary'", "'full'"]),
        ({"record": [0, 2]}, ["record", "neuron 2", 0, 1]),
        ({"record": [0.5]}, ["record", "[0.5]"]),
        ({"random_state": -1}, ["random_state", -1]),
        ({"threads": 0}, ["threads", 0]),
        ({"device": "abacus"}, ["device", "'cpu'", "'cuda'", "'dask'", "'abacus'"]),
        ({"device": "cuda", "trace": True}, ["trace", "device='cpu'", "device='cuda'"]),
        ({"device": "dask", "trace": True}, ["trace", "device='cpu'", "device='dask'"]),
        (
            {"device": "cuda", "record": [0], "engine": "clock"},
            ["record", "engine='clock'", "device='cuda'", "device='cpu'"],
        ),
    ],
)
def test_bad_input_is_refused_by_name(change, told):
    network = RandomNeuralNetwork([1.0, 1.0], np.zeros((2, 2)))
    arguments = {"arrivals": [0.1, 0.2], **change}
    with pytest.raises(ValueError, match=naming(*told)):
        network.simulate(**arguments)


@pytest.mark.parametrize("length", [{"events": 1_000}, {"events": 100}, {"time": 60.0}])
def test_a_short_run_is_observed_whatever_the_seed(length):
    network = RandomNeuralNetwork([1.0, 2.0], [[0.0, 0.5], [0.0, 0.0]])
    arrivals = np.tile([0.5, 0.3], (200, 1))
    for start in ("empty", "stationary"):
        result = network.simulate(arrivals, **length, start=start, random_state=0)
        assert 32 <= result.observations.min() <= result.observations.max() <= 128


SLOW_LAST = RandomNeuralNetwork([1e5, 1e5, 1.0], [[0, 1, 0], [0, 0, 1e-5], [0, 0, 0]])


@pytest.mark.parametrize("more", [{}, {"replicas": 3}, {"start": "stationary"}])
def test_a_time_in_which_a_slow_neuron_cannot_fire_is_said_to_be_too_short(more):
    arrivals = [0.7e5, 0, 0]
    with pytest.warns(UserWarning, match=naming("too short", 2)):
        result = SLOW_LAST.simulate(arrivals, events=100_000, random_state=0, **more)
    assert result.short.tolist() == [False, False, True]
    if not more:
        assert abs(result.activation()[2] - 0.7) > 0.5
    both = np.tile(arrivals, (2, 1))
    with pytest.warns(UserWarning, match=naming("too short", "2 neurons", "row 0", 20)):
        result = SLOW_LAST.simulate(both, time=0.5, random_state=0)
    assert result.short.tolist() == [[False, False, True]] * 2


@pytest.mark.parametrize("more", [{}, {"replicas": 4}, {"warm_up": 1_000}])
def test_as_long_as_the_warning_says_is_long_enough(more):
    with pytest.warns(UserWarning, match=naming("3,000,000 events")):
        SLOW_LAST.simulate([0.7e5, 0, 0], events=100_000, random_state=0)
    result = SLOW_LAST.simulate([0.7e5, 0, 0], events=3_000_000, random_state=0, **more)
    assert not result.short.any()
    assert result.at(100_000).short.any()


def test_a_loop_that_is_filled_slowly_takes_its_time():
    """The neuron itself is fast, but a spike stays for a million firings."""
    network = RandomNeuralNetwork([1.0], [[1 - 1e-6]])
    with pytest.warns(UserWarning, match="too short"):
        result = network.simulate([5e-7], events=1_000, random_state=0)
    assert result.activation()[0] < 0.1
    assert result.short.all()


def test_ordinary_runs_are_long_enough(layered, random_network, digits):
    """Without a warning, for here that would be an error."""
    network, plus, minus = random_network(0)
    assert not network.simulate(plus, minus, events=500, random_state=0).short.any()
    network.simulate(np.tile(plus, (3, 1)), minus, time=40.0, replicas=2, random_state=0)
    layered.simulate([0.9, 0.5, 0.1, *[0] * 8], events=1_000, random_state=0)
    model = LRNNAutoencoder(8, max_iter=5, random_state=0).fit(digits)
    model.to_network().simulate(model.arrivals(digits[:1])[0], events=10_000, random_state=0)
    one = RandomNeuralNetwork([1.0], [[0.0]])
    for load in (0.01, 0.5, 0.9999, 3.0):
        one.simulate([load], events=200, random_state=0)
    slow = RandomNeuralNetwork([1.0, 1e-9], np.zeros((2, 2)))
    slow.simulate([0.5, 1e-11], events=200, random_state=0)  # that hardly counts
    slow.simulate([0.5, 0.5], events=200, random_state=0)  # and this is always excited


def test_bad_questions_are_refused():
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate([0.5], events=1_000, observe_every=1_000, random_state=0).at(1_000)
    unseen = replace(result, _counts=0 * result._counts)
    with pytest.raises(ValueError, match=naming("potentials", "observe_every")):
        unseen.activation()
    with pytest.raises(ValueError, match=naming("estimator", *ESTIMATORS, "events", "'best'")):
        result.activation("best")
    with pytest.raises(ValueError, match=naming("level", 95)):
        result.confidence_interval(95, "busy")
    with pytest.raises(AttributeError):
        result.replicas = 3


@pytest.mark.parametrize(
    "seed", [np.random.default_rng(1), np.random.RandomState(1), np.random.SeedSequence(1), None]
)
def test_all_of_numpys_seeds_will_do(seed):
    network = RandomNeuralNetwork([1.0], [[0.0]])
    assert network.simulate([0.5], events=100, random_state=seed).events == 100


def test_it_works_where_nothing_can_be_written(tmp_path):
    """Compiled code is then not kept, but runs."""
    code = """
from numba.core import caching
caching.CacheImpl._locator_classes = []  # as if no folder could be written to
from lrnn import RandomNeuralNetwork
print(RandomNeuralNetwork([1.0], [[0.0]]).simulate([0.5], events=1000, random_state=0).events)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1000"]


def test_results_are_tables_in_a_notebook(random_network):
    network, plus, minus = random_network(3)
    result = network.simulate(plus, minus, events=20_000, random_state=0)
    found = result.compare()
    assert [line[0] for line in found.lines()][-2:] == ["10,000", "20,000"]
    for text in (found._repr_html_(), result._repr_html_()):
        assert text.count("<tr>") == 1 + len(found.lines())
        assert f"<td>{found.errors[-1, 0]:.4f}</td>" in text
    assert "20,000 events" in result._repr_html_()
