"""What other programs make of an exported model is what the model makes of the data."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

import nearness
from lrnn import LRNNAutoencoder, LRNNClassifier, Scaling
from lrnn.storage.export import to_onnx
from lrnn.tables.ledger import RangeWarning
from naming import naming

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
    """The same sums in another order: the most are those of the deep model, and of rounding."""
    nearness.assert_near(found, exact, 64 + 30 + 10 + 30 + 5)


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


def run_onnx(path, X, results=("codes", "reconstruction")):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(list(results), {"data": X})


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
    with pytest.raises(ValueError, match=naming("float32", "float64", "'int8'")):
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
    assert_near(codes, np.float32(model.transform(X)))
    assert_near(back, np.float32(model.reconstruct(X)))


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
    with pytest.warns(RangeWarning, match=naming("range")):
        assert_near(codes, model.transform(later))


@pytest.mark.parametrize("kind", ["minmax", "max"])
def test_what_comes_out_is_in_the_data_s_units_by_the_file_s_metadata(call, kind, tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    raw = load_wine().data
    model = LRNNAutoencoder((5,), max_iter=10, scale=kind).fit(raw)
    model.save(tmp_path / "m.safetensors")
    done = call("export", "m.safetensors", "--scaling", cwd=tmp_path)
    assert done.returncode == 0
    stored = {p.key: p.value for p in onnx.load(tmp_path / "m.onnx").metadata_props}
    scaling = json.loads(stored["scaling"])
    _, back = run_onnx(tmp_path / "m.onnx", raw)
    assert back.max() <= 1
    assert_near(back * scaling["span"] + scaling["low"], model.reconstruct(raw))


SCALED = {
    "minmax": {"scale": "minmax"},
    "max": {"scale": "max"},
    "levels": {"scale": "levels"},
    "complements": {"scale": "minmax", "complement": True},
}


@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", SCALED.values(), ids=SCALED)
def test_torch_module_with_the_scaling_takes_raw_data(settings, dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    wine = load_wine()
    raw = wine.data.clip(max=255).astype(dtype)
    raw[:, 3] = 7.0  # a constant column
    later = np.vstack([raw, raw * dtype(1.3) - dtype(0.5)])  # beyond the range that was seen
    model = LRNNAutoencoder(5, max_iter=10, **settings).fit(raw)
    recogniser = LRNNClassifier(5, max_iter=10, random_state=0, **settings).fit(raw, wine.target)
    module, shares = model.to_torch(scaling=True), recogniser.to_torch(scaling=True)
    assert all(parameter.ndim == 2 for parameter in module.parameters())  # weights alone
    rows = torch.from_numpy(later)
    with torch.no_grad():
        assert_near(module.encoder(rows).numpy(), model.transform(later))
        back = model.scaling_.revert(module(rows).numpy())
        np.testing.assert_allclose(back, model.reconstruct(later), rtol=1e-4, atol=1e-4)
        assert_near(shares(rows).numpy(), recogniser.predict_proba(later))


def test_torch_module_for_levels(digits):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    levels = np.round(digits * 255).astype(np.uint8)
    model = LRNNAutoencoder(5, max_iter=5, random_state=0).fit(levels)
    for module, unit in ((model.to_torch(scaling=True), 1), (model.to_torch(), 255)):
        rows = torch.tensor(levels / unit, dtype=torch.float32)
        assert_near(module.encoder(rows).detach().numpy(), model.transform(levels))


def test_what_is_exported_from_a_model_that_scales_tells_which_rows_it_takes(tmp_path):
    """Raw rows would be cut off without a word."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("torch", reason="PyTorch is not installed")
    model = LRNNAutoencoder(2, scale="minmax").fit(load_wine().data)
    for made in (model.to_torch, lambda: to_onnx(model, tmp_path / "m.onnx")):
        with pytest.warns(UserWarning, match=naming("minmax", "model.scaling_.apply(X)")):
            made()
    model.to_torch(scaling=False)  # it is meant
    to_onnx(model, tmp_path / "m.onnx", scaling=False)


def test_what_is_exported_from_a_model_of_texts_takes_numbers(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    frame = pd.DataFrame({"length": np.arange(30.0) % 7, "colour": ["red", "blue", "green"] * 10})
    model = LRNNAutoencoder(2, scale=Scaling.fit(frame, categories="onehot")).fit(frame)
    told = naming("'colour'", 4, "model.scaling_.selected(X)")
    with pytest.warns(UserWarning, match=told):
        module = model.to_torch(scaling=True)
    with pytest.warns(UserWarning, match=told):
        to_onnx(model, tmp_path / "m.onnx", scaling=True)
    numbers = np.asarray(model.scaling_.selected(frame))
    assert_near(module.encoder(torch.tensor(numbers)).detach(), model.transform(frame))
    assert_near(run_onnx(tmp_path / "m.onnx", numbers)[0], model.transform(frame))


def test_a_model_that_is_not_fitted(tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(NotFittedError):
        to_onnx(LRNNAutoencoder(), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


# Classifiers

RESULTS = ("label", "probabilities", "codes")
NAMES = {
    "whole numbers": np.arange(10) - 3,
    "text": np.array([f"é{i}" for i in range(10)]),
    "objects": np.array([f"class {i}" for i in range(10)], dtype=object),
    "numbers": np.arange(10) * 2.0,
    "truth": np.arange(10) > 4,
}


@pytest.fixture(params=["plain", "excitatory", "deep", "float32", "behind an encoder"])
def classifier_and_data(request, digits):
    """Rows where nothing fires, and values above 1, are among the data."""
    X = digits.astype(np.float32 if request.param == "float32" else np.float64)
    settings = {
        "excitatory": {"inhibition": False},
        "deep": {"hidden_layer_sizes": (15, 8)},
        "behind an encoder": {"pretrain": LRNNAutoencoder(6, random_state=0).fit(X)},
    }.get(request.param, {})
    settings = {"hidden_layer_sizes": (12,), "max_iter": 4, "random_state": 0} | settings
    model = LRNNClassifier(**settings).fit(X, load_digits().target)
    return model, np.vstack([X[:200], 3 * X[:5], 0 * X[:3]])


def test_torch_module_of_a_classifier(classifier_and_data):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model, X = classifier_and_data
    module = model.to_torch()
    with torch.no_grad():
        found = module(torch.from_numpy(X)).numpy()
        assert_near(module.hidden(torch.from_numpy(X)).numpy(), model.transform(X))
    assert_near(found, model.predict_proba(X))
    np.testing.assert_array_equal(found[-3:], X.dtype.type(0.1))
    loss = torch.nn.functional.nll_loss(
        module(torch.from_numpy(X[:50])).log(), torch.from_numpy(model.predict(X[:50]))
    )
    loss.backward()  # it can be trained further
    assert all(p.grad.isfinite().all() for p in module.parameters())


def test_onnx_file_of_a_classifier(classifier_and_data, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    model, X = classifier_and_data
    path = tmp_path / "model.onnx"
    to_onnx(model, path)
    label, found, codes = run_onnx(path, X, RESULTS)
    assert_near(found, model.predict_proba(X))
    assert found.dtype == X.dtype
    assert_near(codes, model.transform(X))
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_array_equal(found[-3:], X.dtype.type(0.1))
    to_onnx(model, path, dtype="float32")
    found = run_onnx(path, X.astype(np.float32), ["probabilities"])[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-4)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_onnx_labels_are_those_of_the_model(digits, names, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    model = LRNNClassifier(9, max_iter=3, random_state=0).fit(digits, names[load_digits().target])
    to_onnx(model, tmp_path / "m.onnx")
    (label,) = run_onnx(tmp_path / "m.onnx", digits[:90], ["label"])
    np.testing.assert_array_equal(label, model.predict(digits[:90]))
    if names.dtype.kind in "bif":
        assert label.dtype == names.dtype


def test_onnx_file_of_a_classifier_takes_raw_data(tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    wine = load_wine()
    model = LRNNClassifier(9, max_iter=20, random_state=0).fit(wine.data, wine.target)
    to_onnx(model, tmp_path / "m.onnx", scaling=True)
    label, found = run_onnx(tmp_path / "m.onnx", wine.data, ["label", "probabilities"])
    assert_near(found, model.predict_proba(wine.data))
    np.testing.assert_array_equal(label, model.predict(wine.data))
    levels = np.round(load_digits().data * 15).astype(np.uint8)
    model = LRNNClassifier(9, max_iter=3, random_state=0).fit(levels, load_digits().target)
    to_onnx(model, tmp_path / "m.onnx", scaling=True)
    (found,) = run_onnx(tmp_path / "m.onnx", levels.astype(np.float32), ["probabilities"])
    np.testing.assert_allclose(found, model.predict_proba(levels), rtol=0, atol=1e-5)
