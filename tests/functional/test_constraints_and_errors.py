"""Row sums under unit rates, the paper's normalisation, and the reconstruction error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lrnn.functional import adjust_rows, normalisation, row_sums, squared_error

ROUNDING = 1 + 1e-14

namespaces = pytest.mark.parametrize("namespace", ["numpy", "torch", "array_api_strict"])
precisions = pytest.mark.parametrize(("precision", "rtol"), [("float64", 1e-13), ("float32", 1e-5)])

weight = st.one_of(st.sampled_from([0.0, 1e-300, 0.25, 1.0]), st.floats(0, 1e3))
any_weights = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=weight
)


@given(any_weights)
@settings(max_examples=200)
def test_adjusted_rows_sum_to_at_most_1(weights):
    adjusted = adjust_rows(weights)
    sums = weights.sum(axis=1)
    assert adjusted.sum(axis=1).max() <= ROUNDING
    np.testing.assert_array_equal(adjusted[sums <= 1], weights[sums <= 1])
    np.testing.assert_allclose(  # the others keep their proportions
        adjusted[sums > 1] * sums[sums > 1, None], weights[sums > 1], rtol=1e-14, atol=1e-300
    )


@given(any_weights, st.data())
@settings(max_examples=200)
def test_normalised_weights_keep_to_unit_rates_or_bring_the_largest_drive_to_1(weights, data):
    inputs = data.draw(hnp.arrays(np.float64, (3, len(weights)), elements=st.floats(0, 1)))
    weights = adjust_rows(weights)
    drive = inputs @ weights
    unit = weights / normalisation(weights, drive, "unit")
    assert row_sums(unit).max() <= ROUNDING
    assert (inputs @ unit).max() <= ROUNDING
    if drive.max() > 1e-200:
        free = weights / normalisation(weights, drive, "free")
        assert (inputs @ free).max() == pytest.approx(1, rel=1e-13)
        # the constraint, and nothing else, keeps unit rates from the same
        assert max(row_sums(unit).max(), (inputs @ unit).max()) == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("rates", ["free", "unit"])
def test_nothing_to_normalise_by_leaves_the_weights_alone(rates):
    assert normalisation(np.zeros((2, 3)), np.zeros((4, 3)), rates) == 1


def test_drive_that_saturates_scales_down_under_either_rates():
    weights, drive = np.array([[0.5, 0.25]]), np.array([[2.0, 0.5]])
    assert normalisation(weights, drive, "free") == normalisation(weights, drive, "unit") == 2


@namespaces
@precisions
def test_constraints_and_error_are_the_same_in_every_namespace(namespace, precision, rtol):
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    dtype = getattr(xp, precision)
    rng = np.random.default_rng(0)
    weights, drive = rng.random((5, 4)) * 0.8, rng.random((6, 4)) * 0.5
    w, d = xp.asarray(weights, dtype=dtype), xp.asarray(drive, dtype=dtype)
    sums = weights.sum(axis=1)
    assert (sums > 1).any()
    assert (sums < 1).any()
    divisors = {"free": drive.max(), "unit": max(drive.max(), sums.max())}
    results = [
        (row_sums(w), sums),
        (adjust_rows(w), weights / np.maximum(sums, 1)[:, None]),
        *((normalisation(w, d, rates), divisor) for rates, divisor in divisors.items()),
    ]
    for result, expected in results:
        assert result.dtype == dtype
        np.testing.assert_allclose(np.asarray(result), expected, rtol=rtol)
    error = squared_error(w, w * 0.5)
    assert error.dtype == xp.float64
    assert float(error) == pytest.approx(np.sum((weights * 0.5) ** 2), rel=rtol)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_error_of_sparse_inputs_is_that_of_dense_ones(kind):
    rng = np.random.default_rng(1)
    inputs = rng.random((4, 4)) * (rng.random((4, 4)) < 0.4)
    outputs = rng.random((4, 4))
    by_hand = sum((x - y) ** 2 for x, y in zip(inputs.flat, outputs.flat, strict=True))
    assert squared_error(kind(inputs), outputs) == pytest.approx(by_hand, rel=1e-13)
