"""Moments of a simulation: snapshots, films, neurons that are watched, an end when all is known."""

import re
import warnings

import numpy as np
import pytest

from lrnn import RandomNeuralNetwork, plots
from lrnn.spiking import Decision, Precision
from lrnn.spiking.simulate import make_plan
from naming import naming

CHAIN = RandomNeuralNetwork([1.0, 1.0, 2.0], [[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]])
ARRIVALS = np.array([0.6, 0.1, 0.2])
ROWS = np.array([[0.6, 0.1, 0.2], [0.2, 0.5, 0.1], [0.05, 0.3, 0.1]])
FILM = np.array([[0.6, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.3, 0.8]])
ENGINES = ("clock", "neurons")

pytestmark = pytest.mark.filterwarnings("ignore:.*too short")


@pytest.mark.parametrize("engine", ENGINES)
def test_snapshots_are_taken_when_asked_for(engine):
    options = {"engine": engine, "random_state": 1}
    result = CHAIN.simulate(ARRIVALS, events=5_000, snapshots=[100, 3_333], **options)
    assert result.snapshots.tolist() == [100, 3_333, 5_000]
    assert result.at(3_333).events == 3_333
    whole = CHAIN.simulate(ARRIVALS, events=5_000, **options)  # they do not change the spikes
    np.testing.assert_array_equal(result.firing_counts, whole.firing_counts)
    timed = CHAIN.simulate(ARRIVALS, time=10.0, snapshots=(0.5, 10), **options)
    assert timed.snapshots.tolist() == [0.5, 10.0]
    assert timed.at(0.5).time == pytest.approx(0.5)


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("engine", ENGINES)
def test_between_two_snapshots_is_what_happened_there(engine, replicas):
    result = CHAIN.simulate(
        ROWS, events=20_000, replicas=replicas, engine=engine, observe_every=10, random_state=2
    )
    early, late = result.at(5_000), result.between(5_000, 20_000)
    assert (late.events == 15_000 * replicas).all()
    np.testing.assert_allclose(early.time + late.time, result.time)
    np.testing.assert_array_equal(early.firing_counts + late.firing_counts, result.firing_counts)
    np.testing.assert_array_equal(early.observations + late.observations, result.observations)
    share = early.time / result.time
    for estimator in ("busy", "arrivals"):
        both = [part.activation(estimator) for part in (early, late)]
        mixed = both[0] * share[:, None] + both[1] * (1 - share[:, None])
        np.testing.assert_allclose(mixed, result.activation(estimator), atol=0.02)
    low, high = late.confidence_interval(1 - 1e-4, "arrivals")
    assert ((low <= late.steady) & (late.steady <= high)).all()
    np.testing.assert_array_equal(result.between(0, 5_000).activation(), early.activation())
    assert late.between(5_000, 10_000).events.tolist() == [5_000 * replicas] * 3
    with pytest.raises(ValueError, match=naming("snapshot", 4)):
        result.between(4, 20_000)
    with pytest.raises(ValueError, match=naming("between(20000, 5000)")):
        result.between(20_000, 5_000)


@pytest.mark.parametrize("unit", ["events", "time"])
@pytest.mark.parametrize("engine", ENGINES)
def test_watched_potentials_do_not_change_the_run(engine, unit):
    length = {"events": 2_000} if unit == "events" else {"time": 800.0}
    options = {"engine": engine, "replicas": 2, "random_state": 3, **length}
    plain = CHAIN.simulate(ROWS, **options)
    result = CHAIN.simulate(ROWS, watch=[2, 0], trace=True, **options)
    np.testing.assert_array_equal(result._sums, plain._sums)
    assert plain.potentials is None
    assert result.potentials.shape == (1_001, 3, 2, 2)
    assert (result.potentials[0] == 0).all()
    assert result.potentials.min() == 0 < result.potentials.max()
    kept = result._sums[-1, 2] - result._sums[-1, 3]  # arrived, and not fired
    last = result.potentials[-1].reshape(6, 2)
    np.testing.assert_array_equal(last, kept[:, [2, 0]])
    assert len(result.trace.times) == len(result.trace.totals) == 1_001
    assert (result.trace.totals >= result.potentials[:, 0, 0].sum(axis=-1)).all()
    assert result.trace.totals[-1] == kept[0].sum()
    assert result.trace.times[-1] == pytest.approx(result._times[-1, 0])
    one = CHAIN.simulate(ARRIVALS, watch=[1], watch_at=[0, 7], **options)
    assert one.potentials.shape == (2, 2, 1)
    assert one.transient().activation.shape == (2, 1)


def test_a_transient_has_an_interval_that_can_be_computed_by_hand():
    """Of 10 replicas none, or all, are excited: the ends are the roots of tail = pⁿ."""
    lone = RandomNeuralNetwork([1.0], [[0.0]])
    result = lone.simulate(
        [1e6], time=1.0, watch=[0], watch_at=[0, 1], replicas=10, engine="neurons", random_state=0
    )
    found = result.transient(0.9)
    assert found.activation.ravel().tolist() == [0.0, 1.0]
    np.testing.assert_allclose(found.low.ravel(), [0, 0.05**0.1])
    np.testing.assert_allclose(found.high.ravel(), [1 - 0.05**0.1, 1])
    assert found.neurons.tolist() == [0]
    with pytest.raises(ValueError, match=naming("watch", "replicas")):
        lone.simulate([0.5], events=10, random_state=0).transient()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_film_is_a_row_after_the_other(engine):
    films = np.stack([FILM, FILM[::-1]])
    result = CHAIN.simulate(films, frames=[10, 15, 40], replicas=5, engine=engine, random_state=4)
    assert result.snapshots.tolist() == [10, 15, 40]
    assert result.frames.tolist() == [10, 15, 40]
    assert result.steady.shape == result.saturated.shape == (2, 3, 3)
    assert result.activation("arrivals").shape == (2, 3)
    np.testing.assert_allclose(result.time, 5 * 40)
    dark = result.frame(1)
    np.testing.assert_allclose(dark.time, 5 * 5)
    np.testing.assert_array_equal(dark.steady, CHAIN.steady_state(films[:, 1]))
    assert (dark.arrival_counts[0, 0], dark.firing_counts[:, 0].sum() > 0) == (0, True)
    frames = [result.frame(i) for i in range(3)]
    np.testing.assert_array_equal(
        sum(frame.firing_counts for frame in frames), result.firing_counts
    )
    np.testing.assert_array_equal(result.frame(-1).firing_counts, frames[2].firing_counts)
    assert result.between(10, 40).steady.shape == (2, 2, 3)
    assert result.confidence_interval()[0].shape == (2, 3)
    assert frames[2].compare().errors.shape == (1, 1)
    assert "frames" in result._repr_html_()
    assert not result.short.any()
    equal = CHAIN.simulate(FILM, frames=2.0, snapshots=[1, 3], random_state=4)
    assert equal.snapshots.tolist() == [1, 2, 3, 4, 6]
    assert equal.between(1, 2).steady.shape == (3,)
    for question in (result.compare, result.coverage):
        with pytest.raises(ValueError, match=naming("result.frame(0)")):
            question()
    with pytest.raises(ValueError, match=naming("result.frame(0)")):
        plots.simulated_layers(result)
    plots.simulated_layers(frames[2])
    with pytest.raises(ValueError, match=naming("replicas=2")):
        equal.confidence_interval()
    with pytest.raises(ValueError, match=naming(3, 0, 2)):
        equal.frame(3)
    with pytest.raises(ValueError, match="frames="):
        CHAIN.simulate(ARRIVALS, events=100).frame(0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_film_of_one_picture_is_a_simulation(engine):
    """To the law: arrivals are drawn anew when frames end, and that changes nothing."""
    options = {"engine": engine, "replicas": 20, "start": "stationary", "random_state": 5}
    film = CHAIN.simulate(np.tile(ARRIVALS, (50, 1)), frames=20.0, **options)
    low, high = film.confidence_interval(1 - 1e-5, "arrivals")
    q = np.asarray(CHAIN.steady_state(ARRIVALS))
    assert ((low <= q) & (q <= high)).all()
    assert (high - low).max() < 0.1


@pytest.mark.parametrize("replicas", [1, 4])
@pytest.mark.parametrize("engine", ENGINES)
def test_each_row_ends_for_itself(engine, replicas):
    options = {"engine": engine, "replicas": replicas, "random_state": 6}
    rule = Precision(0.1, [0])
    result = CHAIN.simulate(ROWS, events=10**5, until=rule, threads=2, **options)
    assert result.reached.all()
    assert len(set(result.events)) > 1  # the faint row is known sooner
    assert result.until == rule
    assert result.snapshots[-1] == result.events.max() / replicas < 10**5
    assert (np.diff(result.compare().events) > 0).all()
    low, high = result.confidence_interval(0.95, "arrivals")
    assert (high - low)[:, 0].max() <= 0.1
    again = CHAIN.simulate(ROWS, events=10**5, until=rule, threads=1, **options)
    np.testing.assert_array_equal(again.firing_counts, result.firing_counts)
    # each is what a simulation of that length is
    for row in range(3):
        events = int(result.events[row]) // replicas
        full = CHAIN.simulate(ROWS, events=10**5, snapshots=[events], **options).at(events)
        np.testing.assert_array_equal(full.firing_counts[row], result.firing_counts[row])
        np.testing.assert_allclose(
            full.activation("arrivals")[row], result.activation("arrivals")[row], rtol=1e-6
        )
        here = result.at(events)
        assert here.reached[row]
        assert here.events[row] == result.events[row]
    first = result.at(result.snapshots[0])
    assert not first.reached.any()
    timed = CHAIN.simulate(ROWS, time=1e5, until=0.1, **options)
    assert timed.reached.all()
    for row in range(3):
        assert timed.time[row] / replicas == pytest.approx(
            min(timed.snapshots, key=lambda s, t=timed.time[row] / replicas: abs(s - t))
        )


def test_who_leads_is_told():
    options = {"events": 10**6, "random_state": 7}
    result = CHAIN.simulate(ROWS, until=Decision([0, 1, 2]), **options)
    assert result.reached.all()
    assert result.decision.tolist() == np.asarray(CHAIN.steady_state(ROWS)).argmax(axis=1).tolist()
    grouped = CHAIN.simulate(ARRIVALS, until=Decision([[2], [0, 1]], level=0.99), **options)
    assert grouped.decision == 1
    assert grouped.reached
    assert CHAIN.simulate(ARRIVALS, events=100, random_state=0).decision is None


def test_a_limit_that_comes_first_tells_how_long_would_do():
    told = naming("1 of 3", 0.1, "neuron 0", "row 0", "events")
    with pytest.warns(UserWarning, match=told) as found:
        result = CHAIN.simulate(ROWS, events=2_000, until=Precision(0.1, [0]), random_state=8)
    assert result.reached.tolist() == [False, True, True]
    needed = int(re.search(r"([\d,]+) events", str(found[0].message))[1].replace(",", ""))
    assert CHAIN.simulate(ROWS, events=3 * needed, until=Precision(0.1, [0])).reached.all()
    with pytest.warns(UserWarning, match=naming("lead", 0, 1, "time")):
        result = CHAIN.simulate([0.5, 0.26, 0], time=100.0, until=Decision([1, 0]), random_state=8)
    assert not result.reached


def test_what_no_length_decides_is_not_promised():
    apart = RandomNeuralNetwork([1.0, 1.0, 1.0], np.zeros((3, 3)))
    with pytest.warns(UserWarning, match="candidates|limit") as found:
        apart.simulate([0.5, 0.5, 0.3], events=3_000, until=Decision([0, 1, 2]), random_state=1)
    assert len(found) == 2
    assert not any("events" in str(w.message) for w in found)
    with pytest.warns(UserWarning, match=r"\de\+1\d events"):
        apart.simulate(
            [0.5, 0.49999, 0.3], events=3_000, until=Decision([0, 1, 2]), random_state=1, replicas=2
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_review_that_cannot_judge_is_passed_over(engine):
    options = {"events": 10**6, "until": 0.05, "random_state": 3, "engine": engine}
    one = RandomNeuralNetwork([1.0], [[0.0]])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*came first")  # two samples are few
        result = one.simulate([0.5], snapshots=[100, 5_000, 500_000], **options)
    assert result.events == 10**6
    low, high = result.confidence_interval()
    assert low <= 0.5 <= high
    few = one.simulate([0.5], replicas=3, **options)
    assert few.reached
    assert few.events < 10**6


def test_an_interval_of_which_nothing_is_known_is_from_0_to_1():
    one = RandomNeuralNetwork([1.0], [[0.0]])
    rows = np.full((40, 1), 0.5)
    result = one.simulate(
        rows, events=20_000, snapshots=[19_980], observe_every=100, engine="clock", random_state=3
    )
    low, high = result.confidence_interval()
    assert ((low <= 0.5) & (high >= 0.5)).all()
    assert ((low == 0) & (high == 1)).any()
    alone = one.simulate([0.5], events=10**5, snapshots=[1_000, 2_000], random_state=3)
    with pytest.raises(ValueError, match=naming("replicas", "snapshot_bytes")):
        alone.confidence_interval()


def test_a_clock_that_rings_for_nothing_is_told_of():
    one = RandomNeuralNetwork([1.0], [[0.0]])
    limit = one.simulate([1e-3], time=1.0, engine="clock", random_state=0)  # short enough
    assert limit.time == 1
    with pytest.warns(UserWarning, match=naming("2.0e+09", 500, "engine='neurons'")):
        make_plan(
            one, [1e-3], None, events=None, time=2e9 / 1.001, observe_every=100, replicas=1,
            warm_up=0, start="empty", snapshot_bytes=0, random_state=0, engine="clock",
        )  # fmt: skip


@pytest.mark.parametrize("estimator", ["arrivals", "busy", "potential"])
def test_saturated_and_idle_neurons_keep_nobody_waiting(estimator):
    network = RandomNeuralNetwork([1.0, 1.0, 1.0], np.zeros((3, 3)))
    rule = Precision(0.2, estimator=estimator)
    result = network.simulate(
        [3.0, 0.0, 0.5], events=10**6, observe_every=10, until=rule, random_state=9
    )
    assert result.reached
    assert result.events < 200_000
    only = network.simulate([3.0, 0.0, 0.5], events=10**6, until=Precision(0.01, [0, 1]))
    assert only.reached


def test_a_neuron_that_nothing_reached_is_not_thought_to_be_known():
    """Nothing has arrived in any replica, and so there is no spread."""
    network = RandomNeuralNetwork([1.0, 1.0], np.zeros((2, 2)))
    result = network.simulate(
        [0.5, 1e-3], events=10**5, until=Precision(2e-3, [1]), replicas=8, random_state=10
    )
    assert result.reached
    assert result.time > 2_000  # so long, nothing may have come by chance, one time in fifty


def test_on_dask_it_is_the_same(dask_here):
    pytest.importorskip("dask", reason="pip install 'lrnn[dask]'")
    options = {"watch": [0, 2], "watch_at": [0, 100, 2_000], "replicas": 3, "random_state": 11}
    for more in ({"events": 400_000, "until": 0.1}, {"events": 5_000}):
        here, there = (CHAIN.simulate(ROWS, device=d, **more, **options) for d in ("cpu", "dask"))
        for name in ("_sums", "_counts", "potentials", "_stopped"):
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    film = [CHAIN.simulate(FILM, frames=5.0, device=d, random_state=1) for d in ("cpu", "dask")]
    np.testing.assert_array_equal(film[0]._sums, film[1]._sums)


def test_ctrl_c_ends_what_has_not_ended(ctrl_c):
    CHAIN.simulate(ARRIVALS, events=1_000, until=0.5, watch=[0])  # compiled
    ctrl_c(0.5)
    result = CHAIN.simulate(
        np.tile(ARRIVALS, (2, 1)), events=10**13, until=1e-7, watch=[0], random_state=0
    )
    assert result.interrupted
    assert not result.reached.any()
    assert result.events.min() > 1_000
    assert (result.potentials[-1] == -1).all()
    assert np.isnan(result.transient().activation[-1]).all()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"snapshots": [5, 3]}, ["snapshots", 3, 5]),
        ({"snapshots": [0, 3]}, ["snapshots", 0, 1000, "events"]),
        ({"snapshots": [2_000]}, ["snapshots", 2000, 1000]),
        ({"snapshots": [1.5]}, ["snapshots", 1.5, "events"]),
        ({"snapshots": ["a"]}, ["snapshots", "['a']"]),
        ({"until": 0}, ["until", "width", 0.0]),
        ({"until": "soon"}, ["until", "'soon'", "Precision", "Decision", "SpikeCount"]),
        ({"until": Precision(0.1, [3])}, ["until", "neuron 3", 0, 2]),
        ({"until": Precision(0.1, estimator="events")}, ["until", "estimator", "'events'", "busy"]),
        ({"until": Precision(0.1, level=95)}, ["until", "level", 95]),
        ({"until": Decision([1])}, ["Decision", "neurons=[1]"]),
        ({"until": Decision(5)}, ["Decision", "neurons=5"]),
        ({"until": Decision([0, [0]])}, ["Decision", 0, 1, "[0]"]),
        ({"until": Decision([[0], []])}, ["until", "[]"]),
        ({"until": Decision([1, [0.5]])}, ["until", "[0.5]"]),
        ({"until": 0.1, "snapshot_bytes": 0}, ["until", "snapshots", "snapshot_bytes"]),
        ({"watch": [7]}, ["watch", "neuron 7", 0, 2]),
        ({"watch_at": [7]}, ["watch_at", "watch"]),
        ({"watch": [0], "watch_at": [-1]}, ["watch_at", -1, 1000]),
        ({"frames": [1, 2]}, ["arrivals", "(3,)", "(frames, 3)"]),
    ],
)
def test_bad_moments_are_refused_by_name(change, told):
    with pytest.raises(ValueError, match=naming(*told)):
        CHAIN.simulate(ARRIVALS, **{"events": 1_000, **change})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"frames": [1, 2]}, ["frames", "(2,)", 3]),
        ({"frames": [1, 3, 2]}, ["frames", 2, 3]),
        ({"frames": -1}, ["frames", -1]),
        ({"frames": 1, "time": 3.0}, ["film", "events", "time"]),
        ({"frames": 1, "until": 0.1}, ["until", "film"]),
        (
            {"frames": 1, "device": "cuda", "engine": "clock"},
            ["film", "engine='clock'", "device='cuda'", "device='cpu'"],
        ),
    ],
)
def test_bad_films_are_refused_by_name(change, told):
    with pytest.raises(ValueError, match=naming(*told)):
        CHAIN.simulate(FILM, **change)


LOOP = RandomNeuralNetwork([1.0, 1.0], [[0.0, 0.5], [0.5, 0.0]])


@pytest.mark.parametrize(
    ("network", "engine", "why"),
    [
        (CHAIN, {"engine": "clock"}, "engine='clock'"),
        (CHAIN, {"at_events": True}, "at_events"),
        (LOOP, {}, "cycles"),
        (LOOP, {"engine": "neurons"}, "cycles"),
    ],
)
@pytest.mark.parametrize(
    "more", [{}, {"until": 0.1}, {"watch": [0], "watch_at": [1, 2]}, {"start": "stationary"}]
)
def test_clock_by_clock_a_gpu_keeps_no_time(network, engine, why, more):
    with pytest.raises(ValueError, match=naming(why, "device='cuda'", "device='cpu'")):
        network.simulate(np.full(network.n_neurons, 0.1), time=3.0, device="cuda", **engine, **more)


@pytest.mark.parametrize("until", [None, 0.1])
def test_many_runs_of_some_time_go_neuron_by_neuron_on_a_gpu(until):
    """Many runs until so many events go clock by clock."""
    rows = np.tile(ARRIVALS, (100, 1))
    plans = [
        make_plan(
            CHAIN, rows, None, observe_every=1_000, replicas=64, warm_up=0, start="empty",
            snapshot_bytes=1 << 28, random_state=0, until=until, device="cuda", **length,
        )
        for length in ({"events": 1_000, "time": None}, {"events": None, "time": 1_000.0})
    ]  # fmt: skip
    assert [plan.by_neuron for plan in plans] == [False, True]
