"""The multiplicative update rules, eqs. 6 and 7."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lrnn.functional import updates
from lrnn.functional.updates import update_decoder, update_encoder

# rows, attributes, hidden: each has its own cheapest association of the products
SIZES = {
    "one row": (1, 6, 4),
    "few rows": (3, 20, 2),
    "few rows, wide code": (2, 7, 30),
    "many rows, narrow code": (200, 9, 6),
    "many rows, wide code": (200, 6, 11),
    "single attribute": (5, 1, 3),
}


def batch(rows, attributes, hidden, seed=0):
    rng = np.random.default_rng(seed)
    inputs = rng.random((rows, attributes)) * (rng.random((rows, attributes)) < 0.7)
    return inputs, rng.random((attributes, hidden)), rng.random((hidden, attributes))


def encoder_as_printed(X, W, D):
    """Eq. 6, a zero denominator replaced by a tiny positive value."""
    return W * (X.T @ X @ D.T) / np.maximum(X.T @ X @ W @ D @ D.T, 1e-290)


def decoder_as_printed(X, W, D):
    """Eq. 7."""
    return D * (W.T @ X.T @ X) / np.maximum(W.T @ X.T @ X @ W @ D, 1e-290)


@pytest.mark.parametrize("namespace", ["numpy", "torch", "array_api_strict"])
@pytest.mark.parametrize(("precision", "rtol"), [("float64", 1e-12), ("float32", 1e-4)])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_updates_are_those_printed_in_every_namespace(size, namespace, precision, rtol):
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    dtype = getattr(xp, precision)
    X, W, D = batch(*size)
    x, w, d = (xp.asarray(array, dtype=dtype) for array in (X, W, D))
    for updated, expected in (
        (update_encoder(x, w, d), encoder_as_printed(X, W, D)),
        (update_decoder(x, x @ w, d), decoder_as_printed(X, W, D)),
    ):
        assert updated.dtype == dtype
        np.testing.assert_allclose(np.asarray(updated), expected, rtol=rtol)


def test_sizes_above_take_every_association(monkeypatch):
    taken = set()
    original = updates._small_gram_pays

    def watched(n, rows):
        taken.add(("rows' Gram matrix first", original(n, rows)))
        return original(n, rows)

    monkeypatch.setattr(updates, "_small_gram_pays", watched)
    for size in SIZES.values():
        X, W, D = batch(*size)
        taken.add(("inputs' Gram matrix", updates._gram_pays(X, W)))
        update_encoder(X, W, D)
        update_decoder(X, X @ W, D)
    assert len(taken) == 4


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_updates_on_sparse_inputs_are_those_on_dense_ones(size, kind):
    X, W, D = batch(*size)
    for on_sparse, on_dense in (
        (update_encoder(kind(X), W, D), update_encoder(X, W, D)),
        (update_decoder(kind(X), kind(X) @ W, D), update_decoder(X, X @ W, D)),
    ):
        assert type(on_sparse) is np.ndarray
        np.testing.assert_allclose(on_sparse, on_dense, rtol=1e-12)


# Laws


@st.composite
def batches(draw, precision=np.float64, tiny=1e-160):
    """Inputs in [0, 1] and weights, with dead attributes, dead units, zeros and tiny numbers."""
    rows, attributes, hidden = draw(st.tuples(*[st.integers(1, 8)] * 3))
    inputs = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1, width=32))
    weights = st.one_of(st.sampled_from([0.0, 1.0, tiny, tiny**0.5]), st.floats(0, 2**10, width=32))

    def matrix(shape, elements):
        matrix = draw(hnp.arrays(precision, shape, elements=elements.map(precision)))
        if draw(st.booleans()):
            matrix[draw(st.integers(0, shape[0] - 1))] = 0
        if draw(st.booleans()):
            matrix[:, draw(st.integers(0, shape[1] - 1))] = 0
        return matrix * draw(st.sampled_from([0, 1, 1, 1]))

    return (
        matrix((rows, attributes), inputs),
        matrix((attributes, hidden), weights),
        matrix((hidden, attributes), weights),
    )


@given(st.one_of(batches(), batches(np.float32, 1e-20)))
@settings(max_examples=300)
def test_updated_weights_are_finite_and_nonnegative_and_zeros_stay(case):
    X, W, D = case
    for updated, weights in (update_encoder(X, W, D), W), (update_decoder(X, X @ W, D), D):
        assert updated.dtype == weights.dtype
        assert np.isfinite(updated).all()
        assert (updated >= 0).all()
        assert (updated[weights == 0] == 0).all()


@given(batches(tiny=1e-6))
@settings(max_examples=300)
def test_no_update_raises_the_unsaturated_error(case):
    # The error is a quadratic form of either matrix with nonnegative coefficients; the rule
    # goes to the minimum of a separable function that touches it at the present weights and
    # lies above it elsewhere (Lee & Seung, 2001).
    X, W, D = case

    def error(W, D):
        return np.sum((X - X @ W @ D) ** 2)

    before = error(W, D)
    slack = 1e-9 * before + 1e-12 * np.sum(X**2)
    assert error(update_encoder(X, W, D), D) <= before + slack
    assert error(W, update_decoder(X, X @ W, D)) <= before + slack


def test_updates_lower_the_error_until_little_can_be_gained():
    X, W, D = batch(60, 12, 4)
    W, D = W / 100, D / 100
    errors = []
    for _ in range(300):
        errors.append(np.sum((X - X @ W @ D) ** 2))
        W = update_encoder(X, W, D)
        D = update_decoder(X, X @ W, D)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.75 * errors[2]


def test_weights_that_reconstruct_exactly_are_a_fixed_point():
    # Separable data X = Q (I M): the encoder reads the codes off the first attributes.
    rng = np.random.default_rng(2)
    codes, mixing = rng.random((40, 3)), rng.random((3, 5))
    encoder = np.vstack([np.eye(3), np.zeros((5, 3))])
    decoder = np.hstack([np.eye(3), mixing])
    X = codes @ decoder
    np.testing.assert_allclose(update_encoder(X, encoder, decoder), encoder, rtol=1e-13)
    np.testing.assert_allclose(update_decoder(X, X @ encoder, decoder), decoder, rtol=1e-13)


def test_attribute_that_is_zero_in_the_batch_loses_its_weights():
    X, W, D = batch(10, 5, 3)
    X[:, 2] = 0
    assert (update_encoder(X, W, D)[2] == 0).all()
    assert (update_decoder(X, X @ W, D)[:, 2] == 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_whose_products_would_be_subnormal_are_set_to_zero(dtype):
    limits = np.finfo(dtype)
    threshold = np.sqrt(float(limits.smallest_normal))
    # a row of ones that W and D reconstruct (to rounding) leaves every weight as it is
    X, D = np.ones((1, 3), dtype), np.ones((1, 3), dtype)
    W = np.array([[1], [2 * threshold], [threshold / 2]], dtype)
    kept, small, lost = update_encoder(X, W, D)[:, 0]
    assert kept == pytest.approx(1, rel=1e-6)
    assert small == pytest.approx(2 * threshold, rel=1e-6)
    assert lost == 0
    *_, lost = update_decoder(
        np.array([[1, 1, 0.5 * threshold]], dtype), np.ones((1, 1), dtype), D
    )[0]
    assert lost == 0


def test_small_batch_of_many_attributes_forms_no_square_matrix():
    rows, attributes, hidden = 10, 20_000, 3  # the square matrix would take 3.2 GB
    X, W, D = batch(rows, attributes, hidden)
    tracemalloc.start()
    update_encoder(X, W, D)
    update_decoder(X, X @ W, D)
    update_encoder(sparse.csr_array(X), W, D)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * X.nbytes
