"""Some rows of a stream, whose moment is that of all on average."""

import numpy as np
import pytest
from scipy import sparse

from lrnn.moments import ImplicitMoment
from lrnn.moments.reservoir import Reservoir
from lrnn.rows import HostRows, held


def reservoir_of(parts, forget=None, seed=0):
    random, found = np.random.RandomState(seed), Reservoir.begin(held(parts[0]))
    for part in parts:
        found = found.after(held(part), forget, random)
    return found


def gram(reservoir):
    """n·G, by products."""
    rows = reservoir.weighted(np.float64)
    return ImplicitMoment(rows).dot(np.eye(rows.shape[1])) * rows.weight


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("forget", [None, 7.0])
def test_while_there_is_room_it_is_exact(rng, make, forget):
    parts = [rng.random((n, 4)) for n in (3, 1, 6)]
    found = reservoir_of([make(part) for part in parts], forget)
    weights = [1.0 if forget is None else 0.5 ** (n / forget) for n in (7, 6, 0)]
    expected = sum(w * p.T @ p for w, p in zip(weights, parts, strict=True))
    np.testing.assert_allclose(gram(found), expected, rtol=1e-12)
    weight = sum(w * len(p) for w, p in zip(weights, parts, strict=True))
    assert found.weight == pytest.approx(weight)
    sums = sum(w * p.sum(axis=0) for w, p in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.columns, sums)
    np.testing.assert_array_equal(found.high, np.concatenate(parts).max(axis=0))


@pytest.mark.parametrize("forget", [None, 20.0])
def test_without_room_for_all_it_is_right_on_average(rng, monkeypatch, forget):
    """Priority sampling is unbiased: the mean of 600 is within 5 standard errors (6e-7)."""
    monkeypatch.setattr("lrnn.moments.reservoir.ROOM", 10 * 3)
    parts = [rng.random((20, 3)), 0.3 * rng.random((5, 3)), rng.random((15, 3))]
    share = [1.0 if forget is None else 0.5 ** (n / forget) for n in (20, 15, 0)]
    expected = sum(w * p.T @ p for w, p in zip(share, parts, strict=True))
    drawn = [reservoir_of(parts, forget, seed) for seed in range(600)]
    assert {len(found.logs) for found in drawn} == {10}
    found = np.array([gram(one) for one in drawn])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - expected) < 5 * error).all()
    assert drawn[0].weight == pytest.approx(
        sum(w * len(p) for w, p in zip(share, parts, strict=True))
    )


def test_it_never_holds_more_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr("lrnn.moments.reservoir.ROOM", 100)
    random, rng = np.random.RandomState(0), np.random.default_rng(0)
    found = Reservoir.begin(HostRows(sparse.csr_array((1, 50))))
    for _ in range(30):
        part = sparse.random_array((20, 50), density=0.1, rng=rng, format="csr")
        found = found.after(HostRows(part), None, random)
        assert found.matrix.nnz <= 100
    assert found.weight == 600
