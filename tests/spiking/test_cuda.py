"""The GPU's kernel gives what the CPU's kernel gives, bit for bit.

Without a GPU these tests run in numba's simulator of one, which is slow: see test_simulator.
"""

import numpy as np
import pytest
from numba import config

from lrnn import RandomNeuralNetwork
from naming import naming

SIMULATED = bool(config.ENABLE_CUDASIM)
MORE = 1 if SIMULATED else 100  # a real GPU gets more to do

pytestmark = pytest.mark.filterwarnings("ignore:.*too short")


@pytest.fixture
def cuda():
    module = pytest.importorskip("lrnn.spiking.cuda_kernel", reason="numba-cuda is not installed")
    if not module.cuda.is_available():
        pytest.skip("there is no CUDA device; test_simulator runs the same kernels")


@pytest.fixture
def chain():
    """Excitatory, with a neuron near saturation, one that saturates, and one never reached."""
    return RandomNeuralNetwork([1.0, 1.0, 1.0, 1.0], np.diag([0.9, 0.3, 0.0], k=1)), [
        [0.97, 0.0, 0.0, 0.0],
        [30.0, 0.0, 0.0, 0.0],
        [0.0, 0.5, 0.0, 0.0],
    ]


def assert_same(network, arrivals, inhibitory=None, **arguments):
    cpu, gpu = (
        network.simulate(
            arrivals, inhibitory, device=device, engine="clock", random_state=7, **arguments
        )
        for device in ("cpu", "cuda")
    )
    np.testing.assert_array_equal(gpu._counts, cpu._counts)
    reached = np.repeat(np.atleast_2d(cpu.steady) > 0, cpu.replicas, axis=0)
    np.testing.assert_array_equal(gpu._sums * reached, cpu._sums * reached)
    for name in ("arrival_counts", "firing_counts", "time"):
        np.testing.assert_array_equal(getattr(gpu, name), getattr(cpu, name))
    return gpu


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.usefixtures("cuda")
class TestAgainstTheCPU:
    @pytest.mark.parametrize(("replicas", "events"), [(33, 60 * MORE), (2, 100 * MORE)])
    def test_recurrent_and_inhibitory(self, random_network, replicas, events):
        network, plus, minus = random_network(0)
        assert_same(
            network, plus, minus, replicas=replicas, events=events, observe_every=11,
            snapshot_bytes=0,
        )  # fmt: skip

    def test_snapshots_and_warm_up(self, random_network):
        network, plus, minus = random_network(1)
        rows = np.stack([plus, plus / 2])
        assert_same(
            network, rows, minus, events=50 * MORE, warm_up=20, observe_every=10,
            start="stationary", snapshot_bytes=3 * 4 * 5 * 5 * 2,
        )  # fmt: skip

    @pytest.mark.parametrize("start", ["empty", "stationary"])
    @pytest.mark.parametrize("replicas", [1] if SIMULATED else [1, 40])
    def test_potentials_beyond_a_byte(self, chain, start, replicas):
        network, rows = chain
        result = assert_same(
            network, rows, events=700 * MORE, replicas=replicas, start=start, observe_every=10,
            snapshot_bytes=0,
        )  # fmt: skip
        assert result.mean_potential[1].max() > 100

    def test_counts_beyond_a_byte(self):
        network = RandomNeuralNetwork([1.0], [[0.0]])
        result = assert_same(network, [0.9], events=1_500 * MORE, snapshot_bytes=0)
        assert result.firing_counts[0] > 600

    @pytest.mark.parametrize("replicas", [1, 33])
    def test_observations_after_events(self, random_network, chain, replicas):
        network, plus, minus = random_network(0)
        at_events = {"at_events": True, "replicas": replicas, "snapshot_bytes": 0}
        assert_same(
            network, plus, minus, events=60 * MORE, warm_up=20, observe_every=7, **at_events
        )
        if replicas == 1:
            network, rows = chain
            result = assert_same(network, rows, events=400 * MORE, observe_every=10, **at_events)
            assert result.activation("events")[1].max() > 0.99

    @pytest.mark.parametrize("replicas", [2, 33])
    def test_short_runs_and_watched_potentials(self, random_network, replicas):
        network, plus, minus = random_network(2)
        arguments = {"events": 9, "snapshots": [3], "start": "stationary", "replicas": replicas}
        watched = {"watch": [4, 0], "watch_at": [0, 5, 9]}
        cpu, gpu = (
            network.simulate(
                [plus, plus / 2],
                minus,
                device=device,
                engine="clock",
                random_state=7,
                **arguments,
                **watched,
            )
            for device in ("cpu", "cuda")
        )
        np.testing.assert_array_equal(gpu._counts, cpu._counts)
        np.testing.assert_array_equal(gpu._sums, cpu._sums)
        np.testing.assert_array_equal(gpu.potentials, cpu.potentials)

    def test_rows_that_end_when_enough_is_known(self, random_network):
        network, plus, minus = random_network(1)
        rows = np.stack([plus, plus / 2, plus / 9])
        result = assert_same(
            network, rows, minus, events=600 * MORE, replicas=3, snapshots=[200 * MORE, 400 * MORE],
            until=0.7 / np.sqrt(MORE), watch=[0], watch_at=[300],
        )  # fmt: skip
        assert len(set(result.events)) > 1

    def test_networks_that_are_too_large_are_refused(self):
        n = 0x3FFF
        from scipy import sparse

        network = RandomNeuralNetwork(np.ones(n), sparse.csr_array((n, n)))
        with pytest.raises(ValueError, match=naming("16,382", "16,383")):
            network.simulate(np.ones(n) / 2, events=10, device="cuda", engine="clock")


@pytest.mark.skipif(
    SIMULATED, reason="is about machines without a device, and the simulator is one"
)
def test_no_device_is_a_clear_error():
    from lrnn.spiking.cuda_kernel import cuda

    if cuda.is_available():
        pytest.skip("is about machines without a CUDA device, and this one has one")
    network = RandomNeuralNetwork([1.0], [[0.0]])
    with pytest.raises(RuntimeError, match=naming("device='cuda'", "lrnn[cuda]", "device='cpu'")):
        network.simulate([0.5], events=10, device="cuda")
