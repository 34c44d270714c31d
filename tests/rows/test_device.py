"""Data of the host on a device: sent in blocks, which become shorter where memory is short."""

import gc

import numpy as np
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder
from lrnn.arrays import HOST, backend_of
from lrnn.network.weights import Weights, transmit
from lrnn.rows import HostRows
from lrnn.rows import device as device_module
from lrnn.rows.device import DeviceRows, SentRows, on_device
from lrnn.training import evaluate
from naming import naming


@pytest.fixture
def device():
    """PyTorch's CPU stands for a device."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    return backend_of(torch.empty(0))


@pytest.mark.parametrize("kind", ["dense", "sparse", "levels"])
def test_rows_are_sent_block_by_block(digits, device, kind, monkeypatch):
    monkeypatch.setattr(device_module, "CELLS_ON_DEVICE", 64 * 100)
    host = {
        "dense": HostRows(np.array(digits)), "sparse": HostRows(sparse.csr_array(digits)),
        "levels": HostRows(np.round(digits * 255).astype(np.uint8), white=255),
    }[kind]  # fmt: skip
    rows = SentRows(host, device)
    seen = []
    rows.fold(lambda block: seen.append(block.shape[0]) or 0, lambda a, b: 0, 64)
    assert max(seen) == 100
    assert sum(seen) == 1797
    rng = np.random.default_rng(0)
    matrices = [rng.random((64, 5)) / 30, rng.random((5, 64))]
    weights = Weights((matrices[0].astype(rows.dtype.__str__().split(".")[-1]),), (matrices[1],))
    weights = weights.each(lambda w: w.astype(np.float32 if kind == "levels" else np.float64))
    expected = evaluate(host, weights)
    found = evaluate(rows, weights.on(device))
    assert found.error == pytest.approx(expected.error, rel=1e-5)
    codes = transmit(rows, weights.on(device).encoders)
    assert isinstance(codes, np.ndarray)
    np.testing.assert_allclose(codes, transmit(host, weights.encoders), rtol=1e-5)


def test_only_what_is_read_again_is_sent_at_once(digits, device):
    rows = HostRows(np.array(digits))
    assert isinstance(on_device(rows, device, again=False), SentRows)
    assert backend_of(on_device(rows, device, again=True).X) == device
    levels = HostRows(np.zeros((3, 2), np.uint8), white=255)
    assert on_device(levels, device, again=True).X.dtype == device.xp.uint8  # travels as it is


def test_levels_stay_levels_on_the_device(device):
    levels = HostRows(np.array([[0, 255], [51, 102]], dtype=np.uint8), white=255)
    for rows in (SentRows(levels, device), on_device(levels, device, again=True)):
        assert rows.dtype == device.xp.float32
        found = np.asarray(rows.take(slice(1, None)))
        np.testing.assert_allclose(found, [[0.2, 0.4]], rtol=1e-6)


def test_blocks_become_shorter_where_memory_is_short(device):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    X = device.array(np.random.default_rng(0).random((10_000, 8)))
    tried = []

    def work(block):
        tried.append(block.shape[0])
        if block.shape[0] > 700:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return float(block.sum())

    total = DeviceRows(X).fold(work, lambda a, b: a + b, 8)
    assert total == pytest.approx(float(X.sum()), rel=1e-12)
    assert tried[:5] == [10_000, 5_000, 2_500, 1_250, 625]
    assert max(tried[5:]) == 625  # and stay so


def test_memory_that_is_too_small_for_anything_is_a_clear_error(device):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")

    def work(block):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    with pytest.raises(MemoryError, match=naming("8 attributes", "2 GiB", "device=None")):
        DeviceRows(device.array(np.zeros((1_000, 8)))).fold(work, None, 8)


def test_other_errors_are_not_taken_for_lack_of_memory(device):
    def work(block):
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match="something else"):
        DeviceRows(device.array(np.zeros((1_000, 8)))).fold(work, None, 8)


def test_the_cpu_by_name(digits):
    model = LRNNAutoencoder(4, max_iter=2, device="cpu").fit(digits)
    np.testing.assert_array_equal(
        model.transform(digits), LRNNAutoencoder(4, max_iter=2).fit_transform(digits)
    )
    assert backend_of(digits) == HOST


@pytest.fixture
def named(device, monkeypatch):
    """What device="cuda" means in these tests: PyTorch's CPU stands for a GPU."""
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: device)


def float64_after_float32(digits):
    """Parts of a stream whose type changes."""
    parts = digits[:300].astype(np.float32), digits[300:600], digits[600:900].astype(np.float32)
    for settings in ({}, {"inhibition": True}):
        model, expected = (
            LRNNAutoencoder(6, random_state=0, device=name, **settings) for name in ("cuda", None)
        )
        for part in parts:
            model.partial_fit(part)
            expected.partial_fit(part)
        error = pytest.approx(expected.reconstruction_err_, rel=1e-3)
        assert model.reconstruction_err_ == error


def audit_after_fit(digits, dtype):
    """An audit of rows that go to a device block by block, in a type that may not be the model's.

    Levels too: they travel as such.
    """
    model = LRNNAutoencoder(6, max_iter=5, device="cuda").fit(digits.astype(dtype))
    alone = LRNNAutoencoder(6, max_iter=5).fit(digits.astype(dtype))
    for data in (digits, digits.astype(np.float32), np.round(255 * digits).astype(np.uint8)):
        found, expected = model.audit(data), alone.audit(data)
        assert found.valid
        assert found.layers[0].saturated == expected.layers[0].saturated == 43  # pixels
        for name in ("error", "variance", "bound"):
            value = getattr(expected.standing, name)
            assert getattr(found.standing, name) == pytest.approx(value, rel=1e-4)


def test_partial_fit_of_float64_after_float32(digits, named):
    float64_after_float32(digits)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_audit_of_data_of_the_host(digits, named, dtype):
    audit_after_fit(digits, dtype)


@pytest.mark.gpu
def test_on_a_gpu_partial_fit_and_audit_take_data_of_the_host(digits):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    float64_after_float32(digits)
    for dtype in (np.float32, np.float64):
        audit_after_fit(digits, dtype)


@pytest.fixture
def little_memory():
    """A GPU of which only some hundred megabytes may be used."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    torch.cuda.empty_cache()
    whole = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(600e6 / whole)
    yield torch
    torch.cuda.set_per_process_memory_fraction(1.0)


@pytest.mark.gpu
def test_data_larger_than_the_memory_of_the_gpu(little_memory, rng):
    levels = rng.integers(0, 256, (1_500_000, 500), dtype=np.uint8)  # 750 MB
    model = LRNNAutoencoder(10, max_iter=10, device="cuda").fit(levels)
    assert isinstance(model.encoders_[0], np.ndarray)
    part = levels[:20_000]
    expected = LRNNAutoencoder(10, max_iter=10).fit(levels[:100_000])
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=0.05)
    codes = model.transform(levels)
    assert codes.shape == (1_500_000, 10)
    model.device = None
    np.testing.assert_allclose(codes[:20_000], model.transform(part), atol=1e-5)


@pytest.mark.gpu
def test_a_gpu_that_is_nearly_full(little_memory, digits):
    torch = little_memory
    X = torch.rand((200_000, 500), device="cuda")  # 400 MB: blocks have to be small
    model = LRNNAutoencoder(10, max_iter=5).fit(X)
    assert model.encoders_[0].device == X.device
    assert model.transform(X).shape == (200_000, 10)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_training_leaves_no_memory_of_the_gpu_behind(library, digits):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "torch" and not xp.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    X = xp.asarray(digits, device="cuda") if library == "torch" else xp.asarray(digits)
    used = []
    for _ in range(3):
        LRNNAutoencoder(8, max_iter=10, random_state=0).fit(X)
        gc.collect()
        used.append(
            xp.cuda.memory_allocated()
            if library == "torch"
            else xp.get_default_memory_pool().used_bytes()
        )
    assert used[1] == used[2]


@pytest.mark.gpu
def test_device_cuda_is_numpy_in_and_numpy_out(digits):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    settings = {"hidden_layer_sizes": 8, "max_iter": 10, "fine_tune": 1, "random_state": 0}
    model = LRNNAutoencoder(**settings, device="cuda").fit(digits)
    expected = LRNNAutoencoder(**settings).fit(digits)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-6)
    for found in (model.transform(digits), model.encoders_[0], model.reconstruct(digits),
                  model.fit_transform(digits)):  # fmt: skip
        assert isinstance(found, np.ndarray)
    assert model.score(digits) == pytest.approx(expected.score(digits), rel=1e-6)
    assert not torch.backends.cuda.matmul.allow_tf32  # nor did we allow it
