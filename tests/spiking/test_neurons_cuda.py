"""Neuron by neuron the GPU's kernel gives the CPU's spikes.

Times may differ in their last bits, as logarithms do. Without a GPU these tests run in numba's
simulator of one, with few threads and little room: see test_simulator.
"""

import sys
from dataclasses import replace

import numpy as np
import pytest
from numba import config

from lrnn import RandomNeuralNetwork

SIMULATED = bool(config.ENABLE_CUDASIM)
MORE = 1 if SIMULATED else 300  # a real GPU gets more to do
TEAMS = ["block", "whole"]
on_both = pytest.mark.parametrize("gpu", TEAMS, indirect=True)  # also in the simulator

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:.*too short"),
    pytest.mark.filterwarnings("ignore:overflow"),
]


@pytest.fixture(autouse=True, params=["block"] if SIMULATED else TEAMS)
def gpu(request, monkeypatch):
    module = pytest.importorskip("lrnn.spiking.neurons_on_gpu", reason="numba-cuda is not there")
    if not module.cuda.is_available():
        pytest.skip("there is no CUDA device; test_simulator runs the same kernels")
    before = sys.getswitchinterval()
    if SIMULATED:
        sys.setswitchinterval(1e-6)  # threads of a block wait for each other all the time
        monkeypatch.setattr(module.kernel, "THREADS", 2)
        monkeypatch.setattr(module.kernel, "CHUNK", 2)
        give_room(module, monkeypatch, 24, 24)
    monkeypatch.setattr(module, "FEW", 0 if request.param == "block" else 1_000_000)
    monkeypatch.setattr(module, "BUSIEST", np.inf)
    yield module
    sys.setswitchinterval(before)


def give_room(module, monkeypatch, room, window):
    for name in ("BLOCK", "WHOLE"):
        team = getattr(module, name)
        monkeypatch.setattr(module, name, replace(team, room=room, window=window))


@pytest.fixture
def network():
    """Four levels, connections that skip one, inhibition; and a neuron that is never reached."""
    rng = np.random.default_rng(0)
    sent = np.triu(rng.random((2, 7, 7)), k=1) * [[[0.7]], [[0.3]]]
    sent[:, :2, 1], sent[:, 2:4, 3], sent[:, :, 6] = 0, 0, 0
    sent *= 0.9 / np.maximum(sent.sum(axis=(0, 2), keepdims=True), 0.9)
    return RandomNeuralNetwork(rng.uniform(0.5, 2, 7), *sent)


PLUS = np.array([[0.4, 0.3, 0, 0.1, 0, 0, 0], [0.9, 0, 0.02, 0, 0, 0, 0]])
MINUS = np.array([0, 0.1, 0, 0, 0.2, 0, 0.1])


def assert_same(network, *rows, **arguments):
    cpu, gpu = (
        network.simulate(*rows, device=device, engine="neurons", random_state=7, **arguments)
        for device in ("cpu", "cuda")
    )
    np.testing.assert_array_equal(gpu._counts[:, 1], cpu._counts[:, 1])
    np.testing.assert_allclose(gpu._counts, cpu._counts, rtol=1e-12)
    np.testing.assert_allclose(gpu._sums, cpu._sums, rtol=1e-6, atol=1e-6)
    for name in ("arrival_counts", "firing_counts"):
        np.testing.assert_array_equal(getattr(gpu, name), getattr(cpu, name))
    if cpu.raster is not None:
        np.testing.assert_array_equal(gpu.raster.counts, cpu.raster.counts)
        np.testing.assert_array_equal(gpu.raster.neurons, cpu.raster.neurons)
        np.testing.assert_allclose(gpu.raster.times, cpu.raster.times, rtol=1e-12)
    if cpu.potentials is not None:
        np.testing.assert_array_equal(gpu.potentials, cpu.potentials)
    return gpu


@on_both
def test_events_and_recorded_spikes(network):
    found = assert_same(network, PLUS, MINUS, events=70 * MORE, record=[0, 3], snapshots=[30])
    assert len(found.raster) > 5


def test_time_without_inhibition(network):
    excited = RandomNeuralNetwork(network.rates, network.excitatory)
    assert_same(excited, PLUS, time=20.0 * MORE, replicas=2, snapshot_bytes=0)


def test_transients_are_those_of_the_cpu_also_of_many_runs(network, monkeypatch):
    """Which go clock by clock, if they last for so many events: all wait for the leading run."""
    for least in ("MANY_ROWS", "MANY_REPLICAS"):
        monkeypatch.setattr("lrnn.spiking.simulate." + least, 1)
    arguments = {"time": 4.0, "watch": [0, 2], "watch_at": np.linspace(0, 4, 17), "replicas": 3}
    cpu, gpu = (
        network.simulate(PLUS, MINUS, device=device, engine=engine, random_state=7, **arguments)
        for device, engine in (("cpu", "neurons"), ("cuda", "auto"))
    )
    np.testing.assert_array_equal(gpu.potentials, cpu.potentials)


def test_stationary_start_and_warm_up(network):
    arguments = {"start": "stationary", "warm_up": 15, "snapshot_bytes": 0}
    assert_same(network, PLUS[:1], MINUS, events=40 * MORE, record=[1], **arguments)


@on_both
def test_windows_without_room_are_made_again(network, gpu, monkeypatch):
    give_room(gpu, monkeypatch, 5 if SIMULATED else 20, 40)
    assert_same(network, PLUS[:1], MINUS, events=45 * MORE, record=[0], snapshot_bytes=0)


def test_inboxes_in_global_memory(network, gpu, monkeypatch):
    monkeypatch.setattr(gpu, "shared_memory", lambda: 0)
    assert_same(network, PLUS, MINUS, events=30 * MORE, snapshot_bytes=0)


def test_films_and_watched_potentials(network):
    film = np.stack([PLUS[0], 0 * PLUS[0], PLUS[1]])
    ends = np.array([4.0, 6.0, 10.0]) * (1 if SIMULATED else 20)
    assert_same(network, film, frames=ends, replicas=2, watch=[0, 5, 6], watch_at=[0, ends[0]])


def test_rows_that_end_when_enough_is_known(network):
    width = 0.9 if SIMULATED else 0.2
    arguments = {"snapshots": [60 * MORE], "until": width, "replicas": 3, "watch": [0]}
    assert_same(network, PLUS, events=90 * MORE, watch_at=[70 * MORE], **arguments)
