"""Second moments of corrupted rows: by enumeration, by samples, and by every kind of moment."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import norm

from lrnn.arrays import like, to_numpy
from lrnn.functional import gram_error
from lrnn.moments import Corruption, second_moment
from lrnn.rows import HostRows, held
from naming import naming

LEVEL = 1e-6


@pytest.fixture
def values(rng):
    return rng.random((40, 5)) * (rng.random((40, 5)) < 0.6)


def matrices(moment):
    """S and C, as products with the identity."""
    eye = like(moment.diagonal, np.eye(moment.n_attributes))
    inputs, targets = map(to_numpy, moment.driven(eye))
    np.testing.assert_allclose(to_numpy(moment.wanted(eye)), targets.T, rtol=1e-6, atol=1e-12)
    return inputs, targets.T


def of(rows, corruption, kind="dense"):
    return second_moment(rows, 2, kind, corruption=Corruption.of(corruption))


def tensors(values):
    return held(pytest.importorskip("torch", reason="pip install 'lrnn[torch]'").tensor(values))


KINDS = {
    "full": lambda values: HostRows(values),
    "sparse": lambda values: HostRows(sparse.csr_array(values)),
    "torch": tensors,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("kind", ["dense", "implicit"])
def test_masks_are_all_enumerated(make, kind, values):
    share = 0.3
    S, C = np.zeros((5, 5)), np.zeros((5, 5))
    for mask in product([0, 1], repeat=5):
        probability = np.prod([1 - share if one else share for one in mask])
        seen = values * mask
        S += probability * seen.T @ seen / len(values)
        C += probability * seen.T @ values / len(values)
    found = matrices(of(make(values), ("mask", share), kind))
    np.testing.assert_allclose(found[0], S, rtol=1e-12)
    np.testing.assert_allclose(found[1], C, rtol=1e-12)


def cell(value, deviation, power):
    """E of a power of a noisy cell, by integration."""
    inside = quad(lambda y: y**power * norm.pdf(y, value, deviation), 0, 1, points=[value])[0]
    return inside + norm.sf(1, value, deviation)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("kind", ["dense", "implicit"])
def test_noise_is_integrated(make, kind, values):
    means = np.vectorize(cell)(values, 0.1, 1)
    S = means.T @ means / len(values)
    S[np.diag_indices(5)] = np.vectorize(cell)(values, 0.1, 2).mean(axis=0)
    found = matrices(of(make(values), ("noise", 0.1), kind))
    np.testing.assert_allclose(found[0], S, atol=1e-9)
    np.testing.assert_allclose(found[1], means.T @ values / len(values), atol=1e-9)


@pytest.mark.parametrize("corruption", [("mask", 0.5), ("noise", 0.2)])
def test_the_expected_error_is_that_of_samples(corruption, values, rng):
    encoder, decoder = rng.random((5, 2)) / 5, rng.random((2, 5)) / 2
    wanted, moment = Corruption.of(corruption, 5), of(HostRows(values), corruption)
    inputs, targets = moment.driven(encoder)
    expected = gram_error(moment.trace, targets.T, encoder.T @ inputs, decoder) / 5
    count = 3_000
    errors = np.array(
        [
            ((values - wanted.of_rows(values, i * len(values)) @ encoder @ decoder) ** 2).mean()
            for i in range(count)
        ]
    )
    assert abs(errors.mean() - expected) < sqrt(log(2 / LEVEL) / (2 * count))  # all are in [0, 1]
    assert abs(errors.mean() - expected) < 5 * errors.std() / sqrt(count)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["dense", "implicit"])
@pytest.mark.parametrize("corruption", [("mask", 0.5), ("noise", 0.1)])
def test_the_precision_of_the_rows_is_kept(dtype, kind, corruption, values):
    for X in (values.astype(dtype), sparse.csr_array(values.astype(dtype))):
        moment = of(HostRows(X), corruption, kind)
        assert moment.kind == kind
        encoder = np.ones((5, 2), dtype=dtype)
        for found in (*moment.driven(encoder), moment.wanted(encoder), moment.dot(encoder)):
            assert found.dtype == dtype


def test_anchors_are_those_of_the_rows_themselves(values):
    plain = second_moment(HostRows(values), 2, "dense")
    for kind in ("dense", "implicit"):
        noise = of(HostRows(values), ("noise", 0.3), kind)
        np.testing.assert_allclose(noise.diagonal, plain.diagonal)
        np.testing.assert_allclose(noise.columns(np.array([2])), plain.columns(np.array([2])))
        assert noise.trace == pytest.approx(plain.trace)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("mask", ["('mask', 0.5)", "('noise', 0.1)"]),
        (("mask",), ["('mask', 0.5)", "('noise', 0.1)"]),
        (("blur", 0.5), ["kind", "'mask'", "'noise'"]),
        ((["mask"], 0.5), ["kind", "'mask'", "'noise'"]),
        (("mask", "0.5"), ["level", "number"]),
        (("mask", True), ["level", "number"]),
        (("mask", 1), [1]),
        (("mask", 1.0), [1]),
        (("mask", -0.1), ["level", 0, 1e-06, 1, "share"]),
        (("mask", float("nan")), ["level", 0, 1e-06, 1, "share"]),
        (("noise", 1.5), ["level", 0, 1e-06, 1, "deviation"]),
        (("noise", 1e-9), ["level", 0, 1e-06, 1, "deviation"]),
        (("noise", float("inf")), ["level", 0, 1e-06, 1, "deviation"]),
    ],
)
def test_what_is_no_corruption_is_refused(given, told):
    with pytest.raises(ValueError, match=naming(f"corruption={given!r}", *told)):
        Corruption.of(given)


def test_a_level_of_zero_is_none():
    assert Corruption.of(("mask", 0)) is Corruption.of(["noise", 0.0]) is None
    assert Corruption.of(["noise", np.float32(0.5)]) == Corruption("noise", 0.5)
    assert Corruption.of(("noise", 1), np.int64(7)) == Corruption("noise", 1.0, 7)
