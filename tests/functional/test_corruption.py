"""Means, variances and samples of corrupted cells, each by an independent way."""

from math import log, sqrt

import numpy as np
import pytest
from array_api_compat import array_namespace
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import norm

from lrnn.arrays import to_numpy
from lrnn.functional.corruption import (
    clipped_noise,
    highest_drives,
    key_of,
    masked,
    noisy,
    random_bits,
)
from lrnn.moments import Dropout

LEVEL = 1e-6  # at which bounds would fail a right program


def hoeffding(count):
    """By how much a mean of so many numbers in [0, 1] may be off."""
    return sqrt(log(2 / LEVEL) / (2 * count))


def tensor(values):
    return pytest.importorskip("torch", reason="pip install 'lrnn[torch]'").tensor(values)


def strict(values):
    return pytest.importorskip("array_api_strict", reason="pip install 'lrnn[test]'").asarray(
        values
    )


@pytest.mark.parametrize("make", [np.asarray, tensor, strict])
@pytest.mark.parametrize("deviation", [0.01, 0.1, 1.0])
def test_means_and_variances_are_integrals(make, deviation):
    values = np.array([0.0, 1e-3, 0.05, 0.5, 0.93, 1.0])
    means, variances = map(to_numpy, clipped_noise(make(values), deviation))
    for value, mean, variance in zip(values, means, variances, strict=True):
        inside = [
            quad(
                lambda y, p, x: y**p * norm.pdf(y, x, deviation), 0, 1, (p, value), points=[value]
            )[0]
            for p in (1, 2)
        ]
        above = norm.sf(1, value, deviation)
        first, second = (part + above for part in inside)
        assert mean == pytest.approx(first, abs=1e-9)
        assert variance == pytest.approx(second - first**2, abs=1e-9)


@pytest.mark.parametrize("deviation", [1e-6, 1e-3, 0.1, 1.0])
def test_float32_is_accurate_at_all_levels(deviation):
    values = np.linspace(0, 1, 1_001)
    exact = clipped_noise(values, deviation)
    for make in (np.asarray, tensor):
        found = [to_numpy(part) for part in clipped_noise(make(values.astype("f4")), deviation)]
        assert [part.dtype for part in found] == ["float32"] * 2
        np.testing.assert_allclose(found[0], exact[0], atol=3e-7)
        # a cell that is moved by rounding moves its variance as it moves beside the bound
        np.testing.assert_allclose(found[1], exact[1], atol=1e-6 * deviation**2 + 1e-7 * deviation)


def test_samples_have_these_means_and_variances():
    count = 200_000
    for value in (0.0, 0.03, 0.9):
        drawn = noisy(np.full((count, 1), value), 0.1, key_of(7, 1), 0)
        (mean,), (variance,) = clipped_noise(np.array([value]), 0.1)
        assert abs(drawn.mean() - mean) < hoeffding(count)
        assert abs((drawn**2).mean() - (variance + mean**2)) < hoeffding(count)
        # and more sharply: five standard deviations of a mean, which is nearly normal
        assert abs(drawn.mean() - mean) < 5 * sqrt(variance / count)


def test_a_share_of_the_cells_is_masked():
    ones = np.ones((2_000, 100))
    for share in (0.01, 0.5, 0.75):
        lost = masked(ones, share, key_of(3, 1), 0) == 0
        assert abs(lost.mean() - share) < hoeffding(lost.size)
        assert np.abs(lost.mean(axis=0) - share).max() < sqrt(log(2 * 100 / LEVEL) / (2 * 2_000))


def test_cells_are_independent_of_their_neighbours():
    lost = masked(np.ones((1_000, 64)), 0.5, key_of(0, 1), 0) == 0
    for one, other in ((lost[:, 1:], lost[:, :-1]), (lost[1:], lost[:-1])):
        assert abs((one & other).mean() - 0.25) < 3 * hoeffding(one.size)  # pairs of three colours


def test_bits_are_those_of_splitmix64():
    """The first numbers of the seed 1234567, as others publish them."""
    found = random_bits(1234567, np.array([1, 2, 3], dtype=np.int64)).astype(np.uint64)
    assert found.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("sample", [masked, noisy])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_samples_are_the_same_for_all(sample, dtype, rng):
    """Libraries, blocks of any height, sparse rows."""
    block = (rng.random((30, 17)) * (rng.random((30, 17)) < 0.5)).astype(dtype)
    key, start = key_of(1, 2), 10**12
    expected = sample(block, 0.3, key, start)
    assert expected.dtype == dtype
    assert (sample(np.asfortranarray(block), 0.3, key, start) == expected).all()
    parts = [sample(block[:11], 0.3, key, start), sample(block[11:], 0.3, key, start + 11 * 17)]
    assert (np.vstack(parts) == expected).all()
    for make in (tensor, strict):
        found = sample(make(block), 0.3, key, start)
        assert array_namespace(found) is array_namespace(make(block))
        np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6, rtol=0)
    few = sample(sparse.csr_array(block), 0.3, key, start)
    assert sparse.issparse(few) == (sample is masked)
    assert ((few.toarray() if sparse.issparse(few) else few) == expected).all()


def test_keys_differ():
    keys = {key_of(seed, purpose) for seed in (0, 1, 2, 3, 2**31, 2**32 - 1) for purpose in (1, 2)}
    assert len(keys) == 12


def test_hardly_any_noise_passes_the_highest_drives(rng):
    values, encoder = rng.random((3, 400)) * 0.3, rng.random((400, 4))
    means, variances = clipped_noise(values, 0.2)
    highest = highest_drives(means, variances, encoder)
    drawn = np.stack([noisy(values, 0.2, key_of(0, 1), i * values.size) for i in range(500)])
    drives = drawn @ encoder
    assert (drives <= highest).all()
    assert (drives.max(axis=0) > 0.5 * highest).all()  # it is a bound of this size
    assert (highest < 0.5 * encoder.sum(axis=0)).all()
    few = highest_drives(means[:, :2], variances[:, :2], encoder[:2])
    np.testing.assert_allclose(few, np.tile(encoder[:2].sum(axis=0), (3, 1)))  # no more than that
    some = highest_drives(
        sparse.csr_array(means - 0.02), sparse.csr_array(variances - 0.01), encoder, (0.02, 0.01)
    )
    np.testing.assert_allclose(some, highest)


@pytest.mark.parametrize("library", ["numpy", "array_api_strict", "torch"])
def test_silent_neurons_are_the_same_ones_everywhere(library):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    dropout = Dropout(0.3, seed=2)
    block = np.full((200, 50), 0.5)
    known = dropout.factors(1, block, 7)
    assert set(np.unique(known)) == {0.0, 1 / (1 - 0.3)}
    silent = known == 0
    assert abs(silent.mean() - 0.3) < 4 * np.sqrt(0.21 / silent.size)
    np.testing.assert_array_equal(np.asarray(dropout.factors(1, xp.asarray(block), 7)), known)
    for layer, step in ((2, 7), (1, 8)):
        other = dropout.factors(layer, block, step) == 0
        both = (other & silent).mean()
        assert abs(both - 0.09) < 4 * np.sqrt(0.09 * 0.91 / silent.size)
