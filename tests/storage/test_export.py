"""What other programs make of an exported model is what the model makes of the data."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from lrnn import LRNNAutoencoder
from lrnn.storage.export import to_onnx
from lrnn.tables.cut_off import RangeWarning

pytestmark = pytest.mark.filterwarnings("ignore::lrnn.rows.checks.SaturationWarning")


@pytest.fixture(params=["shallow", "deep", "unit rates", "float32"])
def model_and_data(request, digits):
    X = digits.astype(np.float32 if request.param == "float32" else np.float64)
    sizes = (30, 10) if request.param == "deep" else (10,)
    rates = "unit" if request.param == "unit rates" else "free"
    model = LRNNAutoencoder(sizes, rates=rates, max_iter=10, fine_tune=2, random_state=0).fit(X)
    outliers = np.vstack([X, 3 * X[:5]])  # values above 1 are saturated
    return model, outliers


def assert_near(found, exact):
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6)


def test_torch_module(model_and_data):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model, X = model_and_data
    module = model.to_torch()
    with torch.no_grad():
        assert_near(module(torch.from_numpy(X)).numpy(), model.reconstruct(X))
        codes = module.encoder(torch.from_numpy(X))
        assert_near(codes.numpy(), model.transform(X))
        assert_near(module.decoder(codes).numpy(), model.inverse_transform(codes.numpy()))
    assert module(torch.zeros(0, 64, dtype=codes.dtype)).shape == (0, 64)
    before = [w.copy() for w in model.encoders_]
    for parameter in module.parameters():
        parameter.data *= 2  # it has weights of its own
    np.testing.assert_array_equal(model.encoders_[0], before[0])


def run_onnx(path, X):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["codes", "reconstruction"], {"data": X})


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_onnx_file_for_levels(digits, tmp_path, dtype):
    """Raw data are levels, if the model learnt from such."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    white = np.iinfo(dtype).max
    levels = np.round(digits * white).astype(dtype)
    model = LRNNAutoencoder(5, max_iter=5, random_state=0).fit(levels)
    for scaling, unit in ((True, 1), (False, white)):
        to_onnx(model, tmp_path / "model.onnx", scaling=scaling)
        codes, back = run_onnx(tmp_path / "model.onnx", levels.astype(np.float32) / unit)
        assert_near(codes, model.transform(levels))
        assert_near(back, model.reconstruct(levels))


def test_onnx_types_are_named(digits, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    model = LRNNAutoencoder(5, max_iter=2, random_state=0).fit(digits)
    with pytest.raises(ValueError, match="must be float32 or float64; got 'int8'"):
        to_onnx(model, tmp_path / "model.onnx", dtype="int8")


def test_onnx_file(model_and_data, tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    model, X = model_and_data
    path = tmp_path / "model.onnx"
    to_onnx(model, path)
    assert {node.op_type for node in onnx.load(path).graph.node} == {"MatMul", "Clip"}
    codes, back = run_onnx(path, X)
    assert codes.dtype == X.dtype
    assert_near(codes, model.transform(X))
    assert_near(back, model.reconstruct(X))
    assert run_onnx(path, X[:1])[0].shape == (1, 10)

    to_onnx(model, path, dtype="float32")
    codes, back = run_onnx(path, X.astype(np.float32))
    assert codes.dtype == np.float32
    assert_near(codes, model.transform(X))
    assert_near(back, model.reconstruct(X))


@pytest.mark.parametrize("kind", ["minmax", "max", "levels"])
def test_onnx_file_with_its_scaling_takes_raw_data(kind, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    raw = load_wine().data
    raw = raw.clip(max=255) if kind == "levels" else raw  # 16 bits otherwise
    raw[:, 3] = 7.0  # a constant column
    model = LRNNAutoencoder((5,), max_iter=10, scale=kind).fit(raw)
    to_onnx(model, tmp_path / "m.onnx", scaling=True)
    later = raw * 1.3 - 0.5  # beyond the range that was seen
    codes, _ = run_onnx(tmp_path / "m.onnx", later)
    with pytest.warns(RangeWarning, match="values are beyond the range of training"):
        assert_near(codes, model.transform(later))


def test_a_model_that_is_not_fitted(tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(NotFittedError):
        to_onnx(LRNNAutoencoder(), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
