"""Refined codes: nonnegative least squares against a decoder, also where cells are missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import lsq_linear, nnls

from lrnn.functional import codes as module
from lrnn.functional import refined_codes


def problem(seed, rows=30, attributes=12, hidden=4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, attributes)) * (rng.random((rows, attributes)) < 0.7)
    decoder = rng.random((hidden, attributes)) * (rng.random((hidden, attributes)) < 0.6)
    return X.astype(dtype), decoder.astype(dtype), rng.random((rows, hidden)).astype(dtype)


def holes(seed, shape, patterns=None):
    rng = np.random.default_rng(seed)
    known = rng.random(shape) < 0.6
    if patterns is not None:
        known = known[rng.integers(patterns, size=len(known))]
    return known


def errors(X, codes, decoder, known=True):
    return (np.where(known, X - codes @ decoder, 0) ** 2).sum(axis=1)


def test_sweeps_lead_to_the_nonnegative_least_squares_solution():
    X, decoder, codes = problem(0)
    found = refined_codes(X, decoder, codes, 3000, upper=None)
    np.testing.assert_allclose(found, [nnls(decoder.T, x)[0] for x in X], atol=1e-8)


def test_no_code_exceeds_the_upper_bound():
    X, decoder, codes = problem(1)
    found = refined_codes(X, decoder / 4, codes, 3000)
    expected = [lsq_linear(decoder.T / 4, x, (0, 1), tol=1e-14).x for x in X]
    assert found.max() == 1
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("patterns", [None, 2])
@pytest.mark.parametrize("overhead", [0.0, 1e9])
def test_masked_sweeps_solve_the_problem_of_the_known_cells(patterns, overhead, monkeypatch):
    monkeypatch.setattr(module, "OF_PATTERN", overhead)
    X, decoder, codes = problem(2)
    known = holes(2, X.shape, patterns)
    gaps = np.where(known, X, np.nan)
    found = refined_codes(gaps, decoder, codes, 20_000, upper=None, known=known)
    expected = [nnls(decoder[:, k].T, x[k])[0] for x, k in zip(X, known, strict=True)]
    np.testing.assert_allclose(
        errors(X, found, decoder, known), errors(X, np.array(expected), decoder, known), atol=1e-8
    )


@given(st.integers(0, 1000), st.integers(1, 3), st.booleans())
def test_no_sweep_raises_the_error_of_any_row(seed, sweeps, masked):
    X, decoder, codes = problem(seed, rows=5)
    known = holes(seed, X.shape) if masked else np.full(X.shape, True)
    found = refined_codes(X, decoder, codes, sweeps, known=known)
    assert found.min() >= 0
    before, after = (errors(X, c, decoder, known) for c in (codes, found))
    assert (after <= before * (1 + 1e-12) + 1e-14).all()


@pytest.mark.parametrize("sweeps", [1, 7])
def test_matrices_of_patterns_and_residuals_give_the_same(sweeps, monkeypatch):
    X, decoder, codes = problem(3, rows=40, hidden=9)
    known = holes(3, X.shape, patterns=3)
    found = []
    for overhead in (0.0, np.inf):
        monkeypatch.setattr(module, "OF_PATTERN", overhead)
        found.append(refined_codes(X, decoder, codes, sweeps, known=known))
    np.testing.assert_allclose(*found, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.asfortranarray])
def test_sparse_rows_and_both_precisions(form, dtype):
    X, decoder, codes = problem(4, dtype=dtype)
    before = X.copy(), decoder.copy(), codes.copy()
    found = refined_codes(form(X), decoder, codes, 2)
    assert found.dtype == dtype
    wide = refined_codes(*(a.astype(np.float64) for a in (X, decoder, codes)), 2)
    np.testing.assert_allclose(found, wide, atol=1e-5)
    for array, same in zip((X, decoder, codes), before, strict=True):
        np.testing.assert_array_equal(array, same)
    known = holes(4, X.shape)
    np.testing.assert_allclose(
        refined_codes(form(X), decoder, codes, 2, known=known),
        refined_codes(X, decoder, codes, 2, known=known),
    )


@pytest.mark.parametrize("namespace", ["torch", "array_api_strict"])
@pytest.mark.parametrize("masked", [False, True])
def test_every_namespace_gives_the_same(namespace, masked):
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    X, decoder, codes = problem(5)
    known = holes(5, X.shape) if masked else None
    gaps = np.where(known, X, np.nan) if masked else X
    arrays = [xp.asarray(array) for array in (gaps, decoder, codes)]
    found = refined_codes(*arrays, 3, known=None if known is None else xp.asarray(known))
    np.testing.assert_allclose(
        np.asarray(found), refined_codes(gaps, decoder, codes, 3, known=known), atol=1e-10
    )


def test_codes_that_nothing_is_known_of_stay():
    X, decoder, codes = problem(6)
    decoder[1] = 0
    assert (refined_codes(X, decoder, codes, 2)[:, 1] == codes[:, 1]).all()
    known = holes(6, X.shape)
    known[3] = False
    found = refined_codes(X, decoder, codes, 2, known=known)
    assert (found[3] == codes[3]).all()
    assert (found[:, 1] == codes[:, 1]).all()


@given(st.integers(0, 1000), st.integers(1, 5), st.booleans())
def test_towards_saturating_outputs_no_sweep_raises_the_error(seed, sweeps, masked):
    X, decoder, codes = problem(seed, rows=5)
    X[X > 0.6] = 1
    known = holes(seed, X.shape) if masked else np.full(X.shape, True)

    def error(q):
        return (np.where(known, X - np.minimum(q @ (2 * decoder), 1), 0) ** 2).sum(axis=1)

    found = refined_codes(X, 2 * decoder, codes, sweeps, known=known, saturating=True)
    assert (error(found) <= error(codes) * (1 + 1e-12) + 1e-14).all()


def test_outputs_that_saturate_need_no_higher_error():
    """One code neuron excites two attributes, one of them far beyond 1."""
    decoder, x = np.array([[4.0, 1.0]]), np.array([[1.0, 0.75]])
    for form in (np.asarray, sparse.csr_array):
        found = refined_codes(form(x), decoder, np.array([[0.5]]), 200, saturating=True)
        np.testing.assert_allclose(found, [[0.75]], rtol=1e-5)
    assert refined_codes(x, decoder, sweeps=9)[0, 0] < 0.3  # a line through both


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("overhead", [0.0, np.inf])
def test_codes_whose_cells_are_all_missing_stay(dtype, overhead, monkeypatch):
    """Also where the matrix of the few missing cells is subtracted from that of all."""
    monkeypatch.setattr(module, "OF_PATTERN", overhead)
    X, decoder, codes = problem(7, attributes=40, dtype=dtype)
    decoder[2, 5:] = 0
    known = np.full(X.shape, True)
    known[:, :5] = False
    found = refined_codes(X, decoder, codes, 9, known=known)
    np.testing.assert_array_equal(found[:, 2], codes[:, 2])
