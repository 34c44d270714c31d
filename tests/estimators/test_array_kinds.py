"""One suite for the estimator over all kinds of arrays: the same assertions for each of them.

NumPy in float64 is what all others are compared with.
"""

import warnings
from functools import cache

import numpy as np
import pytest

from lrnn import LRNNAutoencoder, bounds, frontier, load
from lrnn.arrays import backend_of, to_numpy
from lrnn.rows.checks import SaturationWarning
from naming import naming


class Kind:
    """How to make an array of a library, and how to recognise it."""

    def __init__(self, name, make, tolerance=1e-9):
        self.name, self.make, self.tolerance = name, make, tolerance

    def __repr__(self):
        return self.name


def torch_on(device):
    def make(values):
        torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
        if device == "cuda" and not torch.cuda.is_available():
            pytest.skip("PyTorch finds no CUDA device")
        return torch.asarray(np.array(values), device=device)

    return make


def cupy_array(values):
    cupy = pytest.importorskip("cupy", reason="CuPy is for CUDA devices")
    return cupy.asarray(values)


def strict_array(values):
    return pytest.importorskip("array_api_strict", reason="pip install 'lrnn[test]'").asarray(
        np.array(values)
    )


def dask_array(values):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    return da.from_array(values, chunks=(500, 40))


KINDS = [
    Kind("numpy", np.asarray),
    Kind("array-api-strict", strict_array),
    Kind("torch-cpu", torch_on("cpu")),
    pytest.param(Kind("torch-cuda", torch_on("cuda")), marks=pytest.mark.gpu),
    pytest.param(Kind("cupy", cupy_array), marks=pytest.mark.gpu),
    Kind("dask", dask_array),
]
SETTINGS = {
    "gram": {"hidden_layer_sizes": 12, "max_iter": 40},
    "random start": {"hidden_layer_sizes": 8, "init": "random", "max_iter": 20},
    "implicit": {"hidden_layer_sizes": 8, "moment": "implicit", "max_iter": 10},
    "deep": {"hidden_layer_sizes": (20, 8), "max_iter": 15},
    "as wide as the data": {"hidden_layer_sizes": 64},
}
IN_ANY_ORDER = {
    "fine-tuned": {"hidden_layer_sizes": 8, "max_iter": 10, "fine_tune": 2},
    "deep, fine-tuned": {"hidden_layer_sizes": (20, 8), "max_iter": 5, "fine_tune": 2},
    "inhibition": {"hidden_layer_sizes": 8, "max_iter": 5, "fine_tune": 3, "inhibition": True},
    "inhibition at a price": {
        "hidden_layer_sizes": 8, "max_iter": 5, "fine_tune": 3, "inhibition": True,
        "spike_penalty": 1e-5,
    },
    "inhibition, rows held out": {
        "hidden_layer_sizes": 8, "max_iter": 5, "fine_tune": 3, "inhibition": True,
        "early_stopping": True,
    },
    "unit rates": {"hidden_layer_sizes": 8, "rates": "unit", "max_iter": 2},
    "unit rates, deep": {"hidden_layer_sizes": (20, 8), "rates": "unit", "max_iter": 2},
    "as printed": {"hidden_layer_sizes": 8, "solver": "minibatch", "max_iter": 3},
    "as printed, layer-wise": {
        "hidden_layer_sizes": (20, 8), "solver": "minibatch", "max_iter": 2,
    },
    "as printed, jointly": {
        "hidden_layer_sizes": (20, 8), "solver": "minibatch", "stacking": "joint", "max_iter": 2,
    },
}  # fmt: skip
kinds = pytest.mark.parametrize("kind", KINDS, ids=repr)
others = [p for p in KINDS if getattr(p, "values", (p,))[0].name != "numpy"]
other_kinds = pytest.mark.parametrize("kind", others, ids=repr)


def host(found):
    """Results of any kind as NumPy has them."""
    return np.asarray(found.compute()) if hasattr(found, "compute") else to_numpy(found)


def same_kind(found, given):
    assert type(found) is type(given)
    if not hasattr(given, "compute"):
        assert backend_of(found) == backend_of(given)


@pytest.fixture(scope="module")
def of_numpy(digits):
    """Models of NumPy's digits, trained once for all kinds."""

    @cache
    def trained(name):
        settings = (SETTINGS | IN_ANY_ORDER)[name]
        return LRNNAutoencoder(**settings, random_state=0).fit(digits)

    return trained


@kinds
@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_the_same(digits, of_numpy, kind, name):
    X = kind.make(digits)
    model = LRNNAutoencoder(**SETTINGS[name], random_state=0).fit(X)
    expected = of_numpy(name)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-6)
    assert model.spike_cost_ == pytest.approx(expected.spike_cost_, rel=1e-4)
    assert model.n_features_in_ == 64
    assert model.n_iter_ == expected.n_iter_
    # the same weights, up to how rounding grows over the steps
    for found, known in zip(model.encoders_, expected.encoders_, strict=True):
        np.testing.assert_allclose(to_numpy(found), known, atol=1e-5 * known.max())


@kinds
@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_training_on_minibatches_is_the_same(digits, of_numpy, kind, name):
    X, settings = kind.make(digits), IN_ANY_ORDER[name]
    model = LRNNAutoencoder(**settings, random_state=0)
    expected = of_numpy(name)
    assert model.fit(X).reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-6)
    np.testing.assert_allclose(
        model.history_[-1].batch_errors, expected.history_[-1].batch_errors, rtol=1e-5
    )
    if settings.get("rates") == "unit":
        for weight in model.encoders_ + model.decoders_:
            assert to_numpy(weight).sum(axis=1).max() <= 1 + 1e-12


@kinds
@pytest.mark.slow
def test_a_frontier_is_the_same(digits, kind):
    X, settings = kind.make(digits[:300]), {"penalties": 2, "passes": 3, "random_state": 0}
    found = frontier(X, 6, X_test=X, **settings)
    expected = frontier(digits[:300], 6, **settings)
    assert found.svd == pytest.approx(expected.svd, rel=1e-6)
    for one, other in zip(found.points, expected.points, strict=True):
        assert one.error == pytest.approx(other.error, rel=1e-5)
        assert one.test_error == pytest.approx(one.error, rel=1e-6)
        assert one.spikes == pytest.approx(other.spikes, rel=1e-3)
        same_kind(one.model.transform(X), X)


@kinds
def test_a_stream_with_inhibition_is_the_same(digits, kind):
    model, expected = (LRNNAutoencoder(6, inhibition=True, random_state=0) for _ in range(2))
    for part in (digits[:200], digits[200:500]):
        model.partial_fit(kind.make(part))
        expected.partial_fit(part)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-5)


@kinds
def test_results_are_arrays_of_the_same_kind(digits, kind):
    X = kind.make(digits)
    model = LRNNAutoencoder(12, max_iter=5).fit(X)
    codes = model.transform(X)
    back = model.inverse_transform(codes)
    for found in (codes, back, model.reconstruct(X), model.fit_transform(X)):
        same_kind(found, X)
    if kind.name != "dask":
        same_kind(model.encoders_[0], X)
        same_kind(model.components_, X)
    assert host(codes).max() <= 1
    assert host(codes).min() >= 0
    np.testing.assert_allclose(host(model.fit_transform(X)), host(codes), rtol=1e-12)
    np.testing.assert_allclose(host(model.reconstruct(X)), host(back), atol=1e-12)
    error = np.mean((digits - host(back)) ** 2)
    assert -model.score(X) == pytest.approx(error, rel=1e-9)
    assert model.reconstruction_err_ == pytest.approx(error, rel=1e-9)


@kinds
def test_a_model_works_on_all_other_kinds(digits, kind, tmp_path):
    model = LRNNAutoencoder(6, max_iter=5).fit(digits)
    X = kind.make(digits)
    np.testing.assert_allclose(host(model.transform(X)), model.transform(digits), atol=1e-12)
    other = LRNNAutoencoder(6, max_iter=5).fit(X)
    codes = other.transform(digits)
    assert isinstance(codes, np.ndarray)
    np.testing.assert_allclose(codes, host(other.transform(X)), atol=1e-12)
    other.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").transform(digits), codes)


@kinds
def test_a_network_has_the_same_steady_state(digits, kind):
    X = kind.make(digits)
    model = LRNNAutoencoder(6, max_iter=5).fit(X)
    if kind.name == "dask":
        X = digits
    network = model.to_network()
    q = network.steady_state(model.arrivals(X[:20, :]))
    np.testing.assert_allclose(
        network.split(np.asarray(q))[-1], to_numpy(model.reconstruct(X[:20, :])), atol=1e-10
    )
    assert model.audit().valid


@kinds
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_narrow_types_stay_narrow(digits, kind, dtype):
    values = np.round(digits * 255).astype(np.uint8) if dtype == np.uint8 else digits
    X = kind.make(values.astype(dtype))
    expected = LRNNAutoencoder(8, max_iter=20).fit(values / 255 if dtype == np.uint8 else digits)
    model = LRNNAutoencoder(8, max_iter=20).fit(X)
    assert host(model.transform(X)).dtype == np.float32
    assert to_numpy(model.encoders_[0]).dtype == np.float32
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-3)


@kinds
def test_types_may_be_mixed(digits, kind):
    X = kind.make(digits.astype(np.float32))
    model = LRNNAutoencoder(6, max_iter=5).fit(digits)
    np.testing.assert_allclose(host(model.transform(X)), model.transform(digits), atol=1e-6)
    assert model.score(X) == pytest.approx(model.score(digits), rel=1e-5)


@kinds
def test_bad_data_are_refused_with_their_place(digits, kind):
    for value, named in [(np.nan, "NaN"), (np.inf, "inf"), (-0.5, -0.5)]:
        bad = digits.copy()
        bad[1_200, 7] = value
        with pytest.raises(ValueError, match=naming(named, "row 1200", "column 7")):
            LRNNAutoencoder(4, max_iter=2).fit(kind.make(bad))
    with pytest.raises(ValueError, match=naming("2D", "1D")):
        LRNNAutoencoder(4).fit(kind.make(digits)[0, :])
    model = LRNNAutoencoder(4, max_iter=2).fit(kind.make(digits))
    with pytest.raises(ValueError, match=naming("X", 63, 64)):
        model.transform(kind.make(digits[:, 1:]))
    with pytest.raises(ValueError, match=naming("codes", 5, 4)):
        model.inverse_transform(kind.make(digits[:, :5]))


@kinds
def test_values_above_one_saturate(digits, kind):
    high = digits.copy()
    high[3, 3] = 1.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LRNNAutoencoder(4, max_iter=3).fit(kind.make(high))
    assert any(w.category is SaturationWarning for w in caught)
    expected = LRNNAutoencoder(4, max_iter=3).fit(np.minimum(high, 1))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)


@kinds
def test_bounds_are_the_same(digits, kind):
    X = kind.make(digits)
    assert bounds.svd(X, 10) == pytest.approx(bounds.svd(digits, 10), rel=1e-9)
    assert bounds.unit_rate(X, 10) == pytest.approx(bounds.unit_rate(digits, 10), rel=1e-9)
    assert bounds.variance(X) == pytest.approx(bounds.variance(digits), rel=1e-9)


@kinds
def test_partial_fit(digits, kind):
    X = kind.make(digits)
    model = LRNNAutoencoder(6, random_state=0)
    expected = LRNNAutoencoder(6, random_state=0)
    for part in (slice(0, 900), slice(900, None)):
        model.partial_fit(X[part, :])
        expected.partial_fit(digits[part])
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-6)


@other_kinds
def test_a_device_that_does_not_fit_is_an_error(digits, kind):
    """NumPy's data go to any device."""
    with pytest.raises(ValueError, match="device="):
        LRNNAutoencoder(4, device="cpu" if "cu" in kind.name else "cuda").fit(kind.make(digits))


def test_a_device_that_is_not_there_is_an_error(digits):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    if torch.cuda.is_available():
        pytest.skip("is about machines without a CUDA device, and this one has one")
    with pytest.raises(ValueError, match=naming("device='cuda'", "torch")):
        LRNNAutoencoder(4, device="cuda").fit(digits)
