"""One network in parts: the same spikes for any number of threads, processes and workers."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lrnn import RandomNeuralNetwork
from lrnn.spiking import by_neuron, on_processes, partitioned
from lrnn.spiking.by_neuron import faster
from lrnn.spiking.on_cpu import RunQueue
from lrnn.spiking.on_processes import ProcessParts
from lrnn.spiking.parts import Division, Parts
from lrnn.spiking.plan import Statistics
from lrnn.spiking.simulate import make_plan
from naming import naming

pytestmark = pytest.mark.filterwarnings("ignore:.*too short")


def layered(seed, sizes=(9, 1, 6, 5)):
    """Layers with routes of both kinds to all later ones, and inhibition from outside."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    layer = np.repeat(np.arange(len(sizes)), sizes)
    routes = rng.random((n, 2 * n)) ** 3 * np.tile(layer[:, None] < layer, 2)
    routes /= np.maximum(1.1 * routes.sum(axis=1, keepdims=True), 1)
    shuffled = rng.permutation(n)  # levels need not be in order
    plus, minus = (m[shuffled][:, shuffled] for m in (routes[:, :n], routes[:, n:]))
    network = RandomNeuralNetwork(rng.uniform(0.5, 2, n), plus, minus)
    return network, (rng.uniform(0.05, 0.3, n) * (layer < 2))[shuffled], rng.uniform(0, 0.2, n)


def plan_of(seed=7, **options):
    settings = {
        "events": None, "time": None, "observe_every": 100, "replicas": 1, "warm_up": 0,
        "start": "empty", "snapshot_bytes": 1 << 20, "random_state": 3, "engine": "neurons",
    }  # fmt: skip
    return make_plan(*layered(seed), **settings | options)


def made(plan, parts=None, trace=False):
    """All that there is to know of a plan's runs, if these parts make them."""
    statistics = Statistics.of(plan)
    recorded = np.ones(3 * plan.network.n_neurons + 1, np.bool_)
    queue = RunQueue(plan, statistics, recorded, trace, parts=parts)
    queue.work()
    return statistics


def check_same(found, expected):
    for name in ("counts", "sums", "firings", "arrivals", "trace"):
        assert (getattr(found, name) is None) == (getattr(expected, name) is None)
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert sorted(found.spikes) == sorted(expected.spikes)
    for run, spikes in expected.spikes.items():
        for ours, theirs in zip(found.spikes[run], spikes, strict=True):
            np.testing.assert_array_equal(ours, theirs)


LENGTHS = (
    {"events": 3_000},
    {"time": 500.0},
    {"events": 2_000, "start": "stationary", "warm_up": 300, "replicas": 2},
    {"time": 200.0, "warm_up": 50.0},
)


@pytest.mark.parametrize("options", LENGTHS)
@pytest.mark.parametrize(("n_parts", "window"), [(2, 1 << 13), (3, 200), (5, 4), (21, 500)])
def test_parts_make_the_same_bit_for_bit(options, n_parts, window):
    """Also where there is room for few spikes, so that windows become shorter."""
    plan = plan_of(**options)
    expected = made(plan)
    assert len(expected.spikes[0][0]) > 100
    check_same(made(plan, partial(Parts, Division.of(plan, n_parts), window)), expected)


@pytest.mark.slow
@pytest.mark.slow
def test_parts_made_at_once(monkeypatch):
    monkeypatch.setattr("lrnn.spiking.parts.SMALL", 0)
    plan = plan_of(events=5_000)
    found = made(plan, partial(Parts, Division.of(plan, 3), 500), trace=True)
    check_same(found, made(plan, trace=True))


def test_threads_share_one_run(monkeypatch):
    network, arrivals, minus = layered(7)
    monkeypatch.setattr(by_neuron, "WINDOW", 1 << 13)
    teams = []
    monkeypatch.setattr(Parts, "_start", lambda self, start=Parts._start: (
        teams.append(self.division.n_parts), start(self)))  # fmt: skip
    found = [
        network.simulate(
            arrivals, minus, events=30_000, engine="neurons", threads=threads, random_state=1
        )
        for threads in (1, 3)
    ]
    assert teams == [1, 3]
    np.testing.assert_array_equal(found[0]._sums, found[1]._sums)
    np.testing.assert_array_equal(found[0].firing_counts, found[1].firing_counts)
    # several replicas have a thread each; and a short run is not worth two
    network.simulate(arrivals, events=30_000, replicas=4, engine="neurons", threads=2)
    network.simulate(arrivals, events=1_000, engine="neurons", threads=2)
    assert teams[2:] == [1, 1, 1]


@pytest.mark.parametrize("n_parts", [1, 2, 4, 21])
def test_every_neuron_is_in_one_part_and_every_level_in_order(n_parts):
    plan = plan_of(events=1_000)
    wiring, division = plan.wiring, Division.of(plan, n_parts)
    assert sorted(division.order) == list(range(21))
    assert (division.order == wiring.order[division.ranks]).all()
    for level, (low, high) in enumerate(zip(wiring.levels[:-1], wiring.levels[1:], strict=True)):
        ranks = [
            division.ranks[division.of_part(p)][slice(*division.levels[p, level : level + 2])]
            for p in range(n_parts)
        ]
        np.testing.assert_array_equal(np.concatenate(ranks), np.arange(low, high))


def test_parts_hold_their_own_tables_and_are_balanced():
    rng = np.random.default_rng(0)
    network = RandomNeuralNetwork.from_layers([rng.random((60, 30)), rng.random((30, 60))])
    arrivals = np.append(rng.random(60) * network.rates[:60] / 2, np.zeros(90))
    plan = make_plan(
        network, arrivals, None, events=1_000, time=None, observe_every=100, replicas=1,
        warm_up=0, start="empty", snapshot_bytes=1, random_state=0, engine="neurons",
    )  # fmt: skip
    whole = len(plan.wiring.limits)
    for n_parts in (2, 4):
        sizes = [len(tables.limits) for tables in Division.of(plan, n_parts).tables]
        assert sum(sizes) == whole
        assert max(sizes) < 1.3 * whole / n_parts


def test_processes_make_the_same_even_if_one_is_killed(monkeypatch):
    """It costs the window; and nothing is left behind: no process, no shared memory."""
    network, arrivals, minus = layered(7)
    options = {
        "events": 4_000, "record": range(21), "replicas": 2, "random_state": 3, "warm_up": 100,
        "start": "stationary", "engine": "neurons",
    }  # fmt: skip
    expected = network.simulate(arrivals, minus, **options)
    calls, pids, names = [], set(), set()

    def level(self, *arguments, make=ProcessParts._level):
        calls.append(arguments)
        pids.update(process.pid for process in self._processes)
        names.update(memory.name for memory in self._shared)
        if len(calls) == 30:
            os.kill(self._processes[1].pid, signal.SIGKILL)
        return make(self, *arguments)

    monkeypatch.setattr(ProcessParts, "_level", level)
    found = network.simulate(arrivals, minus, partition=2, **options)
    np.testing.assert_array_equal(found._sums, expected._sums)
    np.testing.assert_array_equal(found._counts, expected._counts)
    np.testing.assert_array_equal(found.raster.times, expected.raster.times)
    np.testing.assert_array_equal(found.raster.neurons, expected.raster.neurons)
    assert len(pids) == 3
    assert not any(alive(pid) for pid in pids)
    assert not {f"/dev/shm/{name}" for name in names} & {*map(str, Path("/dev/shm").glob("*"))}


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def test_the_command_line(call, tmp_path):
    assert call("fit", "wine", "-o", "wine.safetensors", cwd=tmp_path).returncode == 0
    command = ["simulate", "wine.safetensors", "wine", "--events", "2e4", "--no-figure", "--json"]
    plain = call(*command, "--engine", "neurons", cwd=tmp_path)
    parts = call(*command, "--partition", 2, cwd=tmp_path)
    assert parts.returncode == 0, parts.stderr
    assert json.loads(parts.stdout)["rmse"] == json.loads(plain.stdout)["rmse"]
    refused = call(*command, "--partition", 2, "--engine", "clock", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.names("--partition", "--engine clock")


def test_a_process_that_is_killed_again_and_again(monkeypatch):
    monkeypatch.setattr(on_processes, "TRIES", 1)
    network, arrivals, minus = layered(7)

    def level(self, *arguments, make=ProcessParts._level):
        os.kill(self._processes[0].pid, signal.SIGKILL)
        return make(self, *arguments)

    monkeypatch.setattr(ProcessParts, "_level", level)
    with pytest.raises(RuntimeError, match=naming("part 1 of 1", "signal 9", "partition")):
        network.simulate(arrivals, minus, partition=1, random_state=0)


def test_ctrl_c_keeps_what_was_simulated(monkeypatch, ctrl_c):
    network, arrivals, minus = layered(7)
    monkeypatch.setattr(partitioned, "PROCESS_WINDOW", 1_000)
    calls = []

    def level(self, *arguments, make=ProcessParts._level):
        calls.append(arguments)
        if len(calls) == 40:
            ctrl_c(0)
        return make(self, *arguments)

    monkeypatch.setattr(ProcessParts, "_level", level)
    result = network.simulate(arrivals, minus, partition=1, events=10**12, random_state=0)
    assert result.interrupted
    assert 1_000 < result.events < 10**9


SCRIPT = """
import os, sys, time
import numpy as np
from lrnn import RandomNeuralNetwork
from lrnn.spiking.on_processes import ProcessParts
make = ProcessParts._level
def level(self, *arguments):
    print(*(process.pid for process in self._processes), flush=True)
    return make(self, *arguments)
ProcessParts._level = level
RandomNeuralNetwork([1.0, 1.0], np.eye(2, k=1)).simulate([0.5, 0], partition=2, events=1e12)
"""


@pytest.mark.slow
def test_no_process_outlives_the_program(tmp_path):
    """Which is a script without a guard, and is killed."""
    (tmp_path / "script.py").write_text(SCRIPT)
    program = subprocess.Popen(
        [sys.executable, tmp_path / "script.py"], stdout=subprocess.PIPE, text=True
    )
    pids = [int(pid) for pid in program.stdout.readline().split()]
    assert len(pids) == 2
    assert all(alive(pid) for pid in pids)
    program.kill()
    program.wait()
    program.stdout.close()
    end = time.monotonic() + 30
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.filterwarnings("default")  # Dask's own, also in its threads
def test_workers_make_the_same():
    distributed = pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    network, arrivals, minus = layered(7)
    options = {"time": 300.0, "warm_up": 20.0, "record": range(21), "random_state": 3}
    expected = network.simulate(arrivals, minus, engine="neurons", **options)
    with (
        distributed.LocalCluster(
            n_workers=3, processes=False, threads_per_worker=1, dashboard_address=None,
            silence_logs=60,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        for partition in ("dask", client):
            found = network.simulate(arrivals, minus, partition=partition, **options)
            np.testing.assert_array_equal(found._sums, expected._sums)
            np.testing.assert_array_equal(found.raster.times, expected.raster.times)
            np.testing.assert_array_equal(found.raster.neurons, expected.raster.neurons)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_killed_worker_costs_a_window(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    from lrnn.spiking.on_workers import WorkerParts

    network, arrivals, minus = layered(7)
    options = {"events": 30_000, "record": range(21), "random_state": 3}
    expected = network.simulate(arrivals, minus, engine="neurons", **options)
    calls, hosts = [], set()

    def level(self, *arguments, make=WorkerParts._level):
        calls.append(arguments)
        hosts.update(self._hosts)
        if len(calls) in (10, 51):
            victim = self._hosts[len(calls) % 3]
            os.kill(client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
        return make(self, *arguments)

    monkeypatch.setattr(WorkerParts, "_level", level)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=60
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = network.simulate(arrivals, minus, partition="dask", **options)
    assert len(hosts) == 4
    np.testing.assert_array_equal(found._sums, expected._sums)
    np.testing.assert_array_equal(found.raster.times, expected.raster.times)


def test_what_a_partition_is_not_for():
    loop = RandomNeuralNetwork([1.0, 1.0], [[0.0, 0.5], [0.5, 0.0]])
    with pytest.raises(ValueError, match=naming("partition", "cycles")):
        loop.simulate([0.1, 0.1], partition=2)
    chain = RandomNeuralNetwork([1.0, 1.0], np.eye(2, k=1))
    for options, told in (
        ({"partition": 3}, [1, 2, 3]),
        ({"partition": 0}, [1, 2, 0]),
        ({"partition": True}, ["'dask'", True]),
        ({"partition": 2.0}, ["'dask'", 2.0]),
        ({"partition": "spark"}, ["'dask'", "'spark'"]),
        ({"partition": 2, "device": "cuda"}, ["device='cpu'", "device='cuda'"]),
        ({"partition": 2, "device": "dask"}, ["device='cpu'", "device='dask'"]),
        ({"partition": 2, "engine": "clock"}, ["engine='neurons'", "'auto'", "engine='clock'"]),
        ({"partition": 2, "threads": 2}, ["partition=2", "threads=2"]),
        ({"partition": 2, "at_events": True}, ["at_events=True"]),
    ):
        with pytest.raises(ValueError, match=naming("partition", *told)):
            chain.simulate([0.1, 0.1], **options)


def test_dask_without_a_client():
    pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    chain = RandomNeuralNetwork([1.0, 1.0], np.eye(2, k=1))
    with pytest.raises(ValueError, match=naming("partition='dask'", "dask.distributed.Client")):
        chain.simulate([0.1, 0.1], partition="dask")


@pytest.mark.parametrize(
    ("n_neurons", "events", "rings", "by_neuron"),
    [
        (2, 1_000, 14, False),
        (2, 1_000, 134, True),
        (1_618, 1_000, 24, False),  # 0.45 ms by the clock, and 1.4
        (1_618, 1_000, 2_371, True),  # 17 ms, and 1.3
        (1_618, 1_000_000, 2.7, False),
        (1_618, 1_000_000, 24, True),
        (100_000, 1_000, 35, False),
        (100_000, 1_000, 3_499, True),
        (100_000, 1_000_000, 35, True),
    ],
)
def test_which_engine_is_faster_as_measured(n_neurons, events, rings, by_neuron):
    assert faster(n_neurons, events, rings) == by_neuron
