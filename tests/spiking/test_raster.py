"""Spikes of chosen neurons, in every run; and files of them."""

import re
import sys
from itertools import pairwise
from time import sleep

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lrnn import RandomNeuralNetwork
from lrnn.spiking import on_cpu
from lrnn.spiking.raster import Raster
from naming import naming

ROWS = np.array([[0.5, 0.0, 0.2], [0.1, 0.3, 0.0]])
SHORT = pytest.mark.filterwarnings("ignore:.*too short")


@pytest.fixture(scope="module")
def network():
    """Feed-forward, with inhibition."""
    minus = np.zeros((3, 3))
    minus[0, 2] = 0.3
    return RandomNeuralNetwork([1.0, 0.7, 1.3], np.triu(np.full((3, 3), 0.3), 1), minus)


def simulated(network, engine="clock", **options):
    settings = {"time": 200.0, "replicas": 3, "record": [0, 2], "random_state": 1, **options}
    return network.simulate(ROWS, engine=engine, **settings)


@SHORT
@pytest.mark.parametrize("engine", ["clock", "neurons"])
@pytest.mark.parametrize("length", [{"time": 200.0}, {"time": None, "events": 500}])
@pytest.mark.parametrize("warm_up", [0, 30])
def test_all_runs_are_recorded_in_order(network, engine, length, warm_up):
    result = simulated(network, engine, **length, warm_up=warm_up)
    raster = result.raster
    keys = np.stack([raster.rows, raster.replicas, raster.times])
    np.testing.assert_array_equal(np.lexsort(keys[::-1]), np.arange(len(raster)))
    for row in range(2):
        counts = np.bincount(raster.neurons[raster.rows == row], minlength=3)
        np.testing.assert_array_equal(counts, result.firing_counts[row] * [1, 0, 1])
    fired = result._sums[-1, 3][:, [0, 2]].sum(axis=1)
    np.testing.assert_array_equal(raster.counts, fired)
    np.testing.assert_allclose(raster.durations, result._times[-1], rtol=1e-12)
    assert raster.runs.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert raster.recorded.tolist() == [0, 2]
    assert (raster.times.dtype, raster.neurons.dtype) == (np.float64, np.int32)


@SHORT
@pytest.mark.parametrize("engine", ["clock", "neurons"])
def test_a_run_is_selected_by_row_and_replica(network, engine):
    raster = simulated(network, engine).raster
    for run in raster:
        ((row, replica),) = run.runs
        mine = (raster.rows == row) & (raster.replicas == replica)
        np.testing.assert_array_equal(run.times, raster.times[mine])
        np.testing.assert_array_equal(run.neurons, raster.neurons[mine])
        assert {*run.rows} == {row}
        assert {*run.replicas} == {replica}
        assert np.shares_memory(run.times, raster.times)
        assert 0 < run.times[0] < run.times[-1] <= run.durations[0] == 200
    assert len({len(run) for run in raster}) > 1
    one = raster.of(1, 2)
    np.testing.assert_array_equal(one.of(1, 2).times, one.times)
    with pytest.raises(ValueError, match=naming("row", 2, 0, 1)):
        raster.of(2)
    with pytest.raises(ValueError, match=naming("replica", -1, 0, 2)):
        raster.of(0, -1)
    with pytest.raises(ValueError, match=naming("row", 0.5)):
        raster.of(0.5)
    with pytest.raises(ValueError, match=naming("row", 0, 1)):
        one.of(0, 2)


@SHORT
@pytest.mark.parametrize("engine", ["clock", "neurons"])
def test_a_recording_is_the_same_in_any_number_of_threads(network, engine):
    first, *others = (simulated(network, engine, threads=n).raster for n in (1, 2, 7))
    for other in others:
        np.testing.assert_array_equal(other.times, first.times)
        np.testing.assert_array_equal(other.neurons, first.neurons)
        np.testing.assert_array_equal(other.counts, first.counts)


@pytest.mark.parametrize("engine", ["clock", "neurons"])
def test_spikes_of_every_run_are_a_poisson_process(engine):
    """Burke's theorem: in steady state departures are as irregular as arrivals, in each run."""
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        [0.4], time=2_000.0, replicas=4, start="stationary", record=[0], engine=engine,
        random_state=0,
    )  # fmt: skip
    gaps = [np.diff(run.times, prepend=0) for run in result.raster]
    assert all(stats.kstest(found * 0.4, "expon").pvalue > 1e-6 for found in gaps)
    assert max(abs(np.corrcoef(a[:700], b[:700])[0, 1]) for a, b in pairwise(gaps)) < 0.19


@SHORT
def test_neurons_that_never_fire_and_runs_without_spikes():
    network = RandomNeuralNetwork([1.0, 1.0], np.zeros((2, 2)))
    raster = network.simulate([0.5, 0], events=10, record=[1], replicas=2, random_state=0).raster
    assert re.search(naming("Raster", "0 spikes", "1 neuron", "2 runs"), repr(raster))
    assert raster.times.shape == raster.rows.shape == raster.replicas.shape == (0,)
    assert len(raster.of(0, 1)) == 0


@SHORT
@pytest.mark.parametrize("engine", ["clock", "neurons"])
def test_what_was_interrupted_has_the_spikes_so_far(network, monkeypatch, engine):
    """A run that was never made has none, and lasted no time."""
    queues = []

    class Watched(on_cpu.RunQueue):
        def __init__(self, *arguments, **others):
            super().__init__(*arguments, **others)
            queues.append(self)

    def interrupted(futures, timeout):
        while not queues[0].done:
            sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(on_cpu, "RunQueue", Watched)
    monkeypatch.setattr(on_cpu, "wait", interrupted)
    long = {"time": 1e9, "record_bytes": 1e12}
    result = simulated(network, engine, threads=1, record=[2], **long)
    assert result.interrupted
    raster = result.raster
    np.testing.assert_array_equal(raster.counts, result._sums[-1, 3][:, 2])
    assert raster.counts[0] > 1_000
    assert not raster.counts[1:].any()
    assert not raster.durations[1:].any()
    assert raster.times[-1] <= raster.durations[0] < 1e9
    assert len(raster.of(1, 2)) == 0


def test_the_last_spike_is_not_behind_the_end():
    spikes = {1: (np.array([0.5, 1.0]), np.array([3, 4], np.int32))}
    raster = Raster.collect(spikes, np.array([3, 4]), 2, np.array([0.0, 1 - 1e-16, 0.0, 0.0]))
    assert raster.counts.tolist() == [0, 2, 0, 0]
    assert raster.rows.tolist() == [0, 0]
    assert raster.replicas.tolist() == [1, 1]
    assert raster.durations.tolist() == [0, 1, 0, 0]


# Memory


def test_too_many_spikes_are_refused_beforehand(network):
    with pytest.raises(ValueError, match=naming("record", "TiB", "record_bytes", "1.0 GiB")):
        network.simulate(ROWS, events=10**12, record=[0, 1, 2])  # fmt: skip
    with pytest.raises(ValueError, match=naming("record_bytes", -1)):
        network.simulate(ROWS, events=10, record=[0], record_bytes=-1)


@pytest.mark.parametrize("unit", ["time", "events"])
def test_how_many_spikes_are_expected(network, unit):
    """As many as there are, within six standard deviations of a Poisson number."""
    length = {"time": 5_000.0} if unit == "time" else {"events": 20_000}
    options = {"replicas": 2, "record": [0, 2], "random_state": 0, **length}
    count = len(network.simulate(ROWS, **options).raster)
    above, below = (12 * (count + sign * 6 * count**0.5) for sign in (1, -1))
    network.simulate(ROWS, **options, record_bytes=above)
    with pytest.raises(ValueError, match=naming("record", "record_bytes")):
        network.simulate(ROWS, **options, record_bytes=below)


# Files


@pytest.fixture(scope="module")
def raster(network):
    return network.simulate(
        ROWS, time=2_000.0, replicas=3, record=[0, 1, 2], random_state=1
    ).raster  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("at_once", [100, 1 << 18])
def test_files_have_a_line_for_each_spike(raster, tmp_path, monkeypatch, suffix, at_once):
    monkeypatch.setattr("lrnn.spiking.raster.SPIKES_AT_ONCE", at_once)
    path = tmp_path / f"spikes{suffix}"
    write, read = {
        ".csv": (raster.to_csv, lambda p: pd.read_csv(p, dtype=str).astype(float)),
        ".parquet": (raster.to_parquet, pd.read_parquet),
    }[suffix]
    write(path)
    found = read(path)
    assert list(found.columns) == ["row", "replica", "neuron", "time"]
    for name, expected in zip(
        found, (raster.rows, raster.replicas, raster.neurons, raster.times), strict=True
    ):
        np.testing.assert_array_equal(found[name], expected)
    with pytest.raises(FileExistsError, match=naming(path, "force=True")):
        write(path)
    path.write_text("old")
    write(path, force=True)
    assert len(read(path)) == len(raster)
    with pytest.raises(ValueError, match=naming("spikes.txt", suffix)):
        write("spikes.txt")
    with pytest.raises(FileNotFoundError, match=naming(tmp_path / "nowhere")):
        write(tmp_path / "nowhere" / path.name)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_files_without_spikes_have_columns(raster, tmp_path):
    silent = Raster.collect({}, raster.recorded, 3, raster.durations)
    silent.to_csv(tmp_path / "a.csv")
    silent.to_parquet(tmp_path / "a.parquet")
    assert (tmp_path / "a.csv").read_text() == "row,replica,neuron,time\n"
    found = pd.read_parquet(tmp_path / "a.parquet")
    assert [str(kind) for kind in found.dtypes] == ["int32", "int32", "int32", "float64"]
    assert len(found) == 0


# neo


def test_neo_has_a_segment_for_each_run_and_a_train_for_each_neuron(raster):
    neo = pytest.importorskip("neo", reason="pip install 'lrnn[neo]'")
    block = raster.to_neo(unit="ms")
    assert isinstance(block, neo.Block)
    assert re.search(naming("1 ms"), block.description)
    runs = [(s.annotations["row"], s.annotations["replica"]) for s in block.segments]
    assert runs == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    for segment, run in zip(block.segments, raster, strict=True):
        assert [t.annotations["neuron"] for t in segment.spiketrains] == [0, 1, 2]
        for neuron, train in enumerate(segment.spiketrains):
            np.testing.assert_array_equal(train.magnitude, run.times[run.neurons == neuron])
            assert float(train.t_start.rescale("s")) == 0
            assert float(train.t_stop.rescale("s")) == pytest.approx(run.durations[0] / 1000)
    seconds = raster.of(1, 0).to_neo()
    assert len(seconds.segments) == 1
    assert seconds.segments[0].spiketrains[0].units.dimensionality.string == "s"


def test_neo_has_trains_without_spikes(raster):
    pytest.importorskip("neo", reason="pip install 'lrnn[neo]'")
    silent = Raster.collect({}, np.array([4, 7]), 1, np.array([5.0])).to_neo()
    assert [len(train) for train in silent.segments[0].spiketrains] == [0, 0]


@pytest.mark.parametrize("unit", ["mm", "nonsense", 3])
def test_neo_needs_a_unit_of_time(raster, unit):
    pytest.importorskip("neo", reason="pip install 'lrnn[neo]'")
    with pytest.raises(ValueError, match=naming("unit", repr(unit), "'s'", "'ms'")):
        raster.to_neo(unit)


def test_without_neo_one_is_told_where_it_is(raster, monkeypatch):
    monkeypatch.setitem(sys.modules, "neo", None)
    with pytest.raises(ImportError, match=naming("to_neo", "pip install 'lrnn[neo]'")):
        raster.to_neo()
