"""The error from the second moment, and steps that lower it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from lrnn.functional import descend_decoder, extrapolate, gram_error, multiply


def problem(seed, rows=40, attributes=7, hidden=3):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, attributes)) * (rng.random((rows, attributes)) < 0.6)
    return X, rng.random((attributes, hidden)), rng.random((hidden, attributes))


def parts(X, W):
    G = X.T @ X
    return G, (G @ W).T, W.T @ G @ W


@given(st.integers(0, 1000))
def test_gram_identity_is_the_direct_residual(seed):
    X, W, D = problem(seed)
    G, B, A = parts(X, W)
    direct = ((X - X @ W @ D) ** 2).sum()
    assert gram_error(np.trace(G), B, A, D) == pytest.approx(direct, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_sweeps_lead_to_the_nonnegative_least_squares_solution(seed):
    X, W, D = problem(seed)
    _, B, A = parts(X, W)
    found = descend_decoder(B, A, D, 3000)
    expected = np.stack([nnls(X @ W, column)[0] for column in X.T], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@given(st.integers(0, 1000), st.integers(1, 3))
def test_neither_a_sweep_nor_a_plain_step_raises_the_error(seed, sweeps):
    X, W, D = problem(seed)
    G, B, A = parts(X, W)
    before = gram_error(np.trace(G), B, A, D)
    better = descend_decoder(B, A, D, sweeps)
    after = gram_error(np.trace(G), B, A, better)
    assert after <= before * (1 + 1e-12)
    assert better.min() >= 0
    stepped = multiply(W, G @ better.T, G @ W @ better @ better.T)
    _, B, A = parts(X, stepped)
    assert gram_error(np.trace(G), B, A, better) <= after * (1 + 1e-12) + 1e-12
    assert stepped.min() >= 0


def test_a_silent_code_neuron_keeps_its_row():
    X, W, D = problem(0)
    W[:, 1] = 0
    _, B, A = parts(X, W)
    np.testing.assert_array_equal(descend_decoder(B, A, D, 2)[1], D[1])


def test_extrapolation_goes_on_and_leaves_zeros_alone():
    old, new = np.array([1.0, 2.0, 0.0, 3.0]), np.array([2.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(extrapolate(new, old, 1.0), [4.0, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(extrapolate(new, old, 0.0), new)


@pytest.mark.parametrize("namespace", ["torch", "array_api_strict"])
def test_every_namespace_gives_the_same(namespace):
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    X, W, D = problem(1)
    G, B, A = parts(X, W)
    b, a, d, w = (xp.asarray(array) for array in (B, A, D, W))
    assert gram_error(np.trace(G), b, a, d) == pytest.approx(gram_error(np.trace(G), B, A, D))
    np.testing.assert_allclose(
        np.asarray(descend_decoder(b, a, d, 2)), descend_decoder(B, A, D, 2), rtol=1e-12
    )
    np.testing.assert_allclose(
        np.asarray(extrapolate(w, w * 2, 0.7)), extrapolate(W, W * 2, 0.7), rtol=1e-12
    )
    np.testing.assert_allclose(
        np.asarray(multiply(w, xp.asarray(B.T * 1.0), xp.asarray(W + 1), 1.5)),
        multiply(W, B.T, W + 1, 1.5),
        rtol=1e-12,
    )
