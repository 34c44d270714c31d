"""Factors W and H of data, from a network and some alternations."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import NMF

from lrnn import factorize
from naming import naming

QUICK = {"max_iter": 3, "alternations": 2}


def error(X, W, H):
    return float(np.mean((X - np.asarray(W) @ np.asarray(H)) ** 2))


def test_alternations_lower_the_error_to_that_of_nmf(digits):
    X = digits[:400]
    found = [error(X, *factorize(X, 10, alternations=n, max_iter=40)) for n in (0, 1, 3, 10)]
    assert found == sorted(found, reverse=True)
    nmf = NMF(10, init="nndsvda", random_state=0, max_iter=100, tol=0)
    W = nmf.fit_transform(X)
    assert found[2] < 1.03 * error(X, W, nmf.components_)


def test_factors_are_nonnegative_and_in_the_units_of_the_data(digits):
    X = digits[:200]
    W, H = factorize(X, 6)
    assert W.shape == (200, 6)
    assert H.shape == (6, 64)
    assert W.min() >= 0
    assert H.min() >= 0
    for size in (1000.0, 7):
        V, G = factorize(X * size, 6)
        assert error(size * X, V, G) == pytest.approx(size**2 * error(X, W, H), rel=0.05)
    levels = np.round(X * 255).astype(np.uint8)
    assert error(levels, *factorize(levels, 6)) == pytest.approx(255**2 * error(X, W, H), rel=0.05)


@pytest.mark.parametrize(
    "kind",
    [
        sparse.csr_array,
        np.asfortranarray,
        pd.DataFrame,
        np.ndarray.tolist,
        lambda X: lambda: iter(np.array_split(X, 3)),
    ],
)
def test_every_kind_of_rows_gives_the_same(digits, kind):
    X = digits[:60, 20:36]
    W, H = factorize(X, 5, **QUICK)
    V, G = factorize(kind(X), 5, **QUICK)
    np.testing.assert_allclose(V, W, atol=1e-6)
    np.testing.assert_allclose(G, H, atol=1e-6)


@pytest.mark.parametrize("namespace", ["torch", "array_api_strict"])
def test_arrays_of_other_libraries_stay_such(digits, namespace):
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    X = digits[:60, 20:36].copy()
    W, H = factorize(X, 5, **QUICK)
    V, G = factorize(xp.asarray(X), 5, **QUICK)
    assert type(V) is type(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(V), W, atol=1e-6)
    np.testing.assert_allclose(np.asarray(G), H, atol=1e-6)


def test_dask_arrays_and_files_are_read_block_by_block(digits, tmp_path, dask_here):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    X = digits[:60, 20:36].copy()
    np.save(tmp_path / "rows.npy", X)
    W, H = factorize(X, 5, **QUICK)
    for data in (da.from_array(X, chunks=(40, 64)), tmp_path / "rows.npy"):
        V, G = factorize(data, 5, **QUICK)
        assert isinstance(V, np.ndarray)
        np.testing.assert_allclose(V, W, atol=1e-6)
        np.testing.assert_allclose(G, H, atol=1e-6)


def test_work_on_a_device_comes_back(digits, monkeypatch):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    from lrnn.arrays import backend_of

    cpu = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: cpu)
    X = digits[:60, 20:36].copy()
    expected = factorize(X, 5, **QUICK)
    for data in (X, sparse.csr_array(X)):
        for ours, theirs in zip(factorize(data, 5, device="cuda", **QUICK), expected, strict=True):
            assert isinstance(ours, np.ndarray)
            np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("alternations", [0, 3, 50])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_factors_are_sane_in_missing_cells(load, alternations):
    """Those of known cells alone would be off by many times the range there."""
    X = load().data
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    gone = np.random.default_rng(0).random(X.shape) < 0.25
    gaps = np.where(gone, np.nan, X)
    W, H = factorize(gaps, 6, missing="allow", alternations=alternations, random_state=0)
    means = np.broadcast_to(np.nanmean(gaps, axis=0), X.shape)
    assert np.mean((X - W @ H)[gone] ** 2) < 0.8 * np.mean((X - means)[gone] ** 2)
    with pytest.raises(ValueError, match=naming("row 0", "column 2", "missing='allow'")):
        factorize(gaps, 3)


def test_what_cannot_be_factorised_is_refused(digits):
    with pytest.raises(ValueError, match=naming("X", "row 0", "column 0", -1)):
        factorize(np.where(digits > 2, 0, -1.0), 3)
    with pytest.raises(ValueError, match=naming("missing", "allow", "unstored", "median")):
        factorize(digits, 3, missing="median")
    with pytest.raises(ValueError, match=naming("n_components", 0)):
        factorize(digits, 0)
    with pytest.raises(TypeError, match=naming("factorize()", "max_iter", "scale")):
        factorize(digits, 3, scale="max")
