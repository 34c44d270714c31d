"""Rows in memory are checked by the first pass over them, and looked at only if it finds any."""

from functools import partial
from operator import iadd

import numpy as np
import pytest

from lrnn import LRNNAutoencoder
from lrnn.moments import DenseMoment
from lrnn.rows.checks import SaturationWarning, check_values
from lrnn.rows.memory import HostRows
from lrnn.tables.messages import UnfitNumbersError
from naming import naming


def unchecked(X):
    """Rows, and a list of how often they were looked at."""
    looked = []

    def look(X):
        looked.append(1)
        return check_values(X, None, "a test")

    return HostRows(X, look=look), looked


def sums(rows, **options):
    width = rows.shape[1]
    begin = partial(np.zeros, width)
    return rows.fold(lambda block: block.sum(axis=0), iadd, width, begin=begin, **options)


def test_numbers_in_the_unit_interval_are_read_once(rng):
    rows, looked = unchecked(rng.random((500, 6)))
    np.testing.assert_allclose(sums(rows, most=40), rows.X.sum(axis=0))
    rows.take([3, 1])
    assert not looked


@pytest.mark.parametrize("where", [0, 250, 499])
def test_what_a_pass_finds_is_looked_at_and_it_is_made_again(rng, where):
    X = rng.random((500, 6))
    X[where, 2] = 1.5
    rows, looked = unchecked(X)
    with pytest.warns(SaturationWarning, match=naming(1.5, f"row {where}", "column 2")):
        found = sums(rows, most=40)
    np.testing.assert_allclose(found, np.minimum(X, 1).sum(axis=0))
    assert X[where, 2] == 1.5
    rows, _ = unchecked(X)
    with pytest.warns(SaturationWarning):
        codes = rows.transmit(lambda block: block[:, 2:3], 1, X.dtype, 6)
    assert codes.max() <= 1
    assert looked == [1]


def test_rows_that_are_taken_first_are_looked_at_first(rng):
    X = rng.random((50, 3))
    X[40, 0] = np.nan
    for work in (
        lambda rows: rows.take(slice(0, 2)),
        lambda rows: next(rows.blocks()),
        lambda rows: rows.X,
        lambda rows: rows.identity(),
        lambda rows: sums(rows, skip=45),
    ):
        rows, _ = unchecked(X)
        for _ in range(2):  # and again, if somebody goes on
            with pytest.raises(UnfitNumbersError, match=naming("NaN", "row 40", "column 0")):
                work(rows)


def test_minus_zero_is_no_error(rng):
    X = rng.random((50, 3))
    X[7, 1] = -0.0
    rows, looked = unchecked(X)
    np.testing.assert_allclose(sums(rows), X.sum(axis=0))
    assert looked == [1]


def test_fit_reads_numbers_for_the_check_and_the_moment_at_once(rng, monkeypatch):
    monkeypatch.setattr("lrnn.rows.checks.within_unit_interval", None)  # not even called
    X = rng.random((300, 8)).astype(np.float32)
    model = LRNNAutoencoder(2, max_iter=30, tol=0.01).fit(X)
    assert model.transform(X).shape == (300, 2)


def test_the_moment_is_that_of_plain_float64(rng):
    X = rng.random((9_000, 40)).astype(np.float32)
    exact = X.astype(np.float64).T @ X.astype(np.float64) / len(X)
    np.testing.assert_allclose(DenseMoment(HostRows(X)).gram, exact, rtol=3e-6)
