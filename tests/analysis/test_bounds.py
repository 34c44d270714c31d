"""Lower bounds: right by another road, and never above what a network reaches."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.decomposition import TruncatedSVD

from lrnn import LRNNAutoencoder, bounds
from naming import naming


def rows(seed, shape=(30, 8), density=0.7):
    rng = np.random.default_rng(seed)
    return rng.random(shape) * (rng.random(shape) < density)


@pytest.mark.parametrize("hidden", [1, 3, 7])
def test_svd_leaves_the_smallest_singular_values(hidden):
    X = rows(0)
    values = np.linalg.svd(X, compute_uv=False)
    assert bounds.svd(X, hidden) == pytest.approx((values[hidden:] ** 2).sum() / X.size, rel=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_svd_of_few_rows_takes_the_products_of_rows(rng, kind):
    X = rng.random((40, 5_000)) * (rng.random((40, 5_000)) < 0.3)
    values = np.linalg.svd(X, compute_uv=False)
    left = (values[7:] ** 2).sum() / X.size
    assert bounds.svd(kind(X), 7) == pytest.approx(left, rel=1e-9)
    levels = (X * 255).astype(np.uint8)
    assert bounds.svd(levels, 7) == pytest.approx(bounds.svd(levels / 255, 7), rel=1e-5)


def test_svd_of_digits_is_what_truncated_svd_leaves(digits):
    model = TruncatedSVD(16, algorithm="arpack", random_state=0)
    left = ((digits - model.inverse_transform(model.fit_transform(digits))) ** 2).mean()
    assert bounds.svd(digits, 16) == pytest.approx(left, rel=1e-9)
    assert bounds.svd(digits.astype(np.float32), 16) == pytest.approx(left, rel=1e-4)
    assert bounds.svd(digits, 64) == 0


def test_svd_of_wide_sparse_data_needs_no_square_matrix():
    X = sparse.random_array((60, 6_000), density=0.01, format="csr", rng=0)
    values = np.linalg.svd(X.toarray(), compute_uv=False)
    assert bounds.svd(X, 5) == pytest.approx((values[5:] ** 2).sum() / 360_000, rel=1e-6)


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_unit_rate_is_the_distance_to_what_can_be_emitted(hidden):
    X = rows(1, (6, 5))
    total = 0.0
    for x in X:  # a general solver's nearest point with y ≥ 0 and Σy ≤ hidden
        best = minimize(
            lambda y, x=x: ((x - y) ** 2).sum(),
            np.full(5, hidden / 10),
            jac=lambda y, x=x: 2 * (y - x),
            bounds=[(0, None)] * 5,
            constraints={"type": "ineq", "fun": lambda y: hidden - y.sum()},
            options={"ftol": 1e-14},
        )
        total += best.fun
    assert bounds.unit_rate(X, hidden) == pytest.approx(total / X.size, rel=1e-6, abs=1e-12)


def test_unit_rate_is_nothing_where_all_spikes_can_be_emitted():
    assert bounds.unit_rate(rows(2), 8) == 0


def test_all_kinds_of_data_give_the_same_bounds():
    levels = np.random.default_rng(0).integers(0, 256, (50, 9), dtype=np.uint8)
    X = levels / 255
    for bound in (bounds.svd, bounds.unit_rate):
        expected = bound(X, 3)
        assert bound(levels, 3) == pytest.approx(expected, rel=1e-5)
        assert bound(sparse.csr_array(X), 3) == pytest.approx(expected, rel=1e-12)
        assert bound(X.tolist(), 3) == pytest.approx(expected, rel=1e-12)
    assert bounds.variance(sparse.csr_array(X)) == pytest.approx(X.var(axis=0).mean(), rel=1e-9)


@pytest.mark.parametrize("sizes", [(8,), (20, 4), (30,)])
def test_no_network_is_below_its_bound(digits, sizes):
    unit = LRNNAutoencoder(sizes, rates="unit", max_iter=10, random_state=0).fit(digits)
    standing = unit.audit(digits).standing
    assert standing.bound == bounds.unit_rate(digits, min(sizes))
    assert standing.variance == pytest.approx(digits.var(axis=0).mean())
    assert standing.error == pytest.approx(unit.reconstruction_err_)
    assert standing.bound < standing.error
    if sizes == (30,):  # enough to emit a digit's spikes
        assert standing.error < standing.variance
        assert 0 < standing.explained < 1
        assert f"{100 * standing.explained:.0f} %" in str(standing)
    else:  # not even the mean can be emitted
        assert standing.explained < 0
    assert re.search(naming(min(sizes), f"{standing.bound:.4g}"), str(unit.audit(digits)))
    linear = LRNNAutoencoder(sizes, random_state=0).fit(digits).audit(digits).standing
    assert linear.bound == bounds.svd(digits, min(sizes)) < linear.error


def test_the_number_of_hidden_neurons_is_checked():
    with pytest.raises(ValueError, match="n_hidden"):
        bounds.svd(rows(0), 0)
    with pytest.raises(TypeError, match="n_hidden"):
        bounds.unit_rate(rows(0), 2.5)
    with pytest.raises(ValueError, match=naming("bounds.unit_rate", -1, "row 0")):
        bounds.unit_rate([[-1.0]], 1)


def test_svd_of_full_rank_reads_what_it_is_given():
    def rows(value):
        return lambda: iter([np.full((1, 3), value)])

    for value in (np.inf, -0.25):
        with pytest.raises(ValueError, match=naming("bounds.svd", "row 0", "column 0")):
            bounds.svd(rows(value), 1)
    assert bounds.svd(rows(0.5), 1) == 0
