"""Gradients of the saturating network, and steps on a logarithmic scale."""

from itertools import pairwise

import array_api_strict
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import softmax

from lrnn.functional import (
    activations,
    error_gradients,
    free_gradient,
    reroot,
    reroute,
    reweight,
    root_gradient,
    route_gradient,
)

SIZES = (6, 5, 3, 5, 6)


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((20, 6)) * (rng.random((20, 6)) < 0.8)
    return X, [rng.uniform(0, 1.2, shape) for shape in pairwise(SIZES)]


def halved_error(flat, X):
    weights, at = [], 0
    for shape in pairwise(SIZES):
        weights.append(flat[at : at + np.prod(shape)].reshape(shape))
        at += np.prod(shape)
    return ((X - activations(X, weights)[-1]) ** 2).sum() / 2


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_finite_differences(seed):
    X, weights = problem(seed)
    layers = activations(X, weights)
    assert any((layer >= 1).any() and (layer < 1).any() for layer in layers[1:])  # some saturate
    error, gradients = error_gradients(X, weights)
    flat = np.concatenate([w.ravel() for w in weights])
    assert error / 2 == pytest.approx(halved_error(flat, X), rel=1e-12)
    numeric = approx_fprime(flat, halved_error, 1e-7, X)
    np.testing.assert_allclose(np.concatenate([g.ravel() for g in gradients]), numeric, atol=2e-5)


def test_sparse_data_have_the_same_gradients():
    X, weights = problem(0)
    error, gradients = error_gradients(X, weights)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        found, others = error_gradients(kind(X), weights)
        assert float(found) == pytest.approx(float(error), rel=1e-12)
        for a, b in zip(gradients, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)
            assert isinstance(b, np.ndarray)


def test_routes_are_a_softmax_with_a_way_out():
    rng = np.random.default_rng(0)
    logits, change = rng.normal(size=(4, 6)), rng.normal(size=(4, 6))
    out = np.zeros((4, 1))

    def routes(u):
        return softmax(np.hstack([u, out]), axis=1)[:, :-1]

    np.testing.assert_allclose(reroute(routes(logits), change), routes(logits + change), rtol=1e-12)
    gradient = rng.normal(size=(4, 6))
    numeric = approx_fprime(
        logits.ravel(), lambda u: (gradient * routes(u.reshape(4, 6))).sum(), 1e-7
    )
    found = route_gradient(routes(logits), gradient)
    np.testing.assert_allclose(found.ravel(), numeric, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_row_of_routes_sums_to_more_than_one(dtype):
    rng = np.random.default_rng(0)
    routes = rng.dirichlet(np.ones(50), size=20).astype(dtype)  # nothing leaves
    for _ in range(200):
        routes = reroute(routes, rng.normal(size=routes.shape).astype(dtype))
        assert routes.dtype == dtype
        assert routes.min() >= 0
        assert routes.sum(axis=1, dtype=np.float64).max() <= 1 + 4 * np.finfo(dtype).eps


def test_wide_rows_of_vanishing_routes_do_not_add_up_to_more_than_one():
    routes = np.full((2, 200_000), 5e-6, np.float32)
    change = np.full(routes.shape, -40, np.float32)
    change[:, 0] = 40
    for _ in range(3):
        routes = reroute(routes, change)
        assert routes.min() > 0
        assert routes.sum(axis=1, dtype=np.float64).max() <= 1 + 1e-6


def test_free_steps_are_on_a_logarithmic_scale():
    rng = np.random.default_rng(0)
    weights, change = rng.random((3, 4)), rng.normal(size=(3, 4))
    np.testing.assert_allclose(np.log(reweight(weights, change)), np.log(weights) + change)
    np.testing.assert_array_equal(free_gradient(weights, change), weights * change)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_other_libraries_give_the_same(library):
    xp = (
        array_api_strict
        if library == "array_api_strict"
        else pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    )
    X, weights = problem(1)
    error, gradients = error_gradients(X, weights)
    found, others = error_gradients(xp.asarray(X), [xp.asarray(w) for w in weights])
    assert float(found) == pytest.approx(float(error), rel=1e-12)
    for a, b in zip(gradients, others, strict=True):
        np.testing.assert_allclose(np.asarray(b), a, rtol=1e-10, atol=1e-13)
    routes, change = np.full((2, 3), 0.25), np.eye(2, 3)
    np.testing.assert_allclose(
        np.asarray(reroute(xp.asarray(routes), xp.asarray(change))), reroute(routes, change)
    )


def test_steps_on_square_roots():
    """The gradient is the slope by the roots, and steps move these; none leaves the numbers."""
    X, weights = problem(1)
    _, gradients = error_gradients(X, weights)
    roots = np.concatenate([np.sqrt(w).ravel() for w in weights])
    numeric = approx_fprime(roots, lambda flat: halved_error(flat**2, X), 1e-7)
    found = [root_gradient(w, g).ravel() for w, g in zip(weights, gradients, strict=True)]
    np.testing.assert_allclose(np.concatenate(found), numeric, atol=5e-5)
    moved = reroot(np.array([[4.0, 1e-3, 0.0]]), np.array([[0.5, -1.0, 0.2]]))
    np.testing.assert_allclose(moved, [[6.25, 0.0, 0.04]], atol=1e-9)
    assert (moved > 0).all()
    for kind in (np.float32, np.float64):
        ends = reroot(np.array([[1e-9, 4e9]], dtype=kind), np.array([[-9, 1e6]], dtype=kind))
        assert (np.isfinite(ends) & (ends > 0)).all()
