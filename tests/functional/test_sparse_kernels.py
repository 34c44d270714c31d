"""Compiled work on sparse rows, against the same in plain NumPy and float64."""

import numpy as np
import pytest
from scipy import sparse

from lrnn.functional import sparse_kernels as kernels

LEAST = {np.float32: np.float32(1e-30), np.float64: 1e-290}


@pytest.fixture(params=[np.float32, np.float64])
def case(request, rng):
    """Sparse data with an empty row and an empty column, an encoder, a decoder (transposed)."""
    X = rng.random((30, 12)) * (rng.random((30, 12)) < 0.3)
    X[4], X[:, 5] = 0, 0
    encoder, decoder = rng.random((2, 12, 4))
    decoder *= rng.random((12, 4)) < 0.5
    dtype = request.param
    return dtype, *(part.astype(dtype) for part in (X, encoder, decoder))


def lines(X):
    found = sparse.csr_array(X)
    return found.indptr, found.indices, found.data


def close(found, expected, dtype):
    scale = np.abs(expected).max()
    tolerance = scale * (1e-12 if dtype is np.float64 else 2e-5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_products_with_some_of_the_rows(case):
    dtype, X, encoder, _ = case
    found = np.full((30, 4), 7, dtype=dtype)
    kernels.multiply_rows(*lines(X), encoder, found, 3, 20)
    close(found[3:20], X[3:20].astype(float) @ encoder, dtype)
    assert (found[:3] == 7).all()
    assert (found[20:] == 7).all()


def test_long_sums_are_taken_in_parts(rng):
    X = rng.random((1, 3 * kernels.TERMS + 5))
    matrix = rng.random((X.shape[1], 2))
    found = np.empty((1, 2))
    kernels.multiply_rows(*lines(X), matrix, found, 0, 1)
    np.testing.assert_allclose(found, X @ matrix, rtol=1e-12)


@pytest.mark.parametrize("sweeps", [0, 1, 3])
def test_rows_descend_one_factor_after_the_other(case, rng, sweeps):
    dtype, X, _, decoder = case
    decoder[:, 2] = 0  # does nothing, and is left as it is
    factors = rng.random((30, 4)).astype(dtype)
    expected = factors.astype(float)
    wide, gram = decoder.astype(float), decoder.T.astype(float) @ decoder
    for _ in range(sweeps):
        for h in (0, 1, 3):
            left = (X - expected @ wide.T) @ wide[:, h]
            expected[:, h] = np.maximum(expected[:, h] + left / gram[h, h], 0)
    linear = np.empty(30)
    given = decoder, gram.astype(dtype), factors, sweeps, LEAST[dtype], linear
    kernels.descend_rows(*lines(X), *given, 0, 30)
    close(factors, expected, dtype)
    close(linear, ((X @ wide) * expected).sum(axis=1), dtype)


def test_a_sweep_takes_each_weight_of_the_encoder_to_its_optimum(case, rng):
    dtype, X, encoder, decoder = case
    encoder /= 10
    encoder[1] = 0  # free to grow
    gram = (decoder.T.astype(float) @ decoder).astype(dtype)
    codes = (X.astype(float) @ encoder).astype(dtype)
    kernels.make_slopes(*lines(X), decoder, gram, codes, 0, 30)
    wide = encoder.astype(float)
    close(codes, X @ wide @ gram - X @ decoder.astype(float), dtype)
    order = rng.permutation(12)
    lengths = (X.astype(float) ** 2).sum(axis=0)
    before = ((X - X @ wide @ decoder.T) ** 2).sum()
    for v in order:
        for h in range(4):
            slope = X[:, v] @ (X @ wide @ gram - X @ decoder)[:, h]
            if lengths[v] and gram[h, h]:
                wide[v, h] = max(wide[v, h] - slope / lengths[v] / gram[h, h], 0)
    given = order, encoder, codes, gram, lengths.astype(dtype), LEAST[dtype]
    kernels.sweep_encoder(*lines(X.T), *given)
    close(encoder, wide, dtype)
    close(codes, X @ wide @ gram - X @ decoder.astype(float), dtype)
    assert ((X - X @ wide @ decoder.T) ** 2).sum() < before
    assert encoder[1].any()


def test_rows_are_added_up(case, rng):
    _, X, _, _ = case
    total = np.ones(12)
    rows, factors = np.array([2, 7, 7]), rng.random(3)
    kernels.add_rows(*lines(X), rows, factors, total)
    np.testing.assert_allclose(total, 1 + factors @ X[rows].astype(float), rtol=1e-12)
