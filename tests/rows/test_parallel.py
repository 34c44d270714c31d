"""Blocks of rows on all cores: the same results, in order, whatever happens."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lrnn import LRNNAutoencoder
from lrnn.rows.memory import map_rows


def covered(rows, widest, most=None):
    parts = list(map_rows(lambda part: part, rows, widest, most))
    assert parts[0].start == 0
    assert parts[-1].stop == rows
    assert all(a.stop == b.start for a, b in pairwise(parts))
    return [part.stop - part.start for part in parts]


@pytest.mark.parametrize("rows", [1, 2, 7, 1_000, 12_345])
@pytest.mark.parametrize("widest", [1, 300, 10**8])
def test_every_row_is_in_one_block(rows, widest):
    assert sum(covered(rows, widest)) == rows


def test_no_rows_are_no_work():
    assert list(map_rows(lambda part: part, 0, 3)) == []


def test_blocks_are_equal_and_not_longer_than_allowed():
    lengths = covered(100_000, 1_000, most=700)
    assert max(lengths) <= 700
    assert max(lengths) - min(lengths) <= 1


def test_results_are_in_order_and_do_not_depend_on_threads(rng):
    X = rng.random((5_000, 400))
    sums = []
    for threads in (1, 2, 5):
        with threadpool_limits(threads, "blas"):
            parts = list(map_rows(lambda part: X[part].sum(axis=1), len(X), 400, most=64))
        sums.append(np.concatenate(parts))
    for found in sums:
        np.testing.assert_array_equal(found, X.sum(axis=1))


def test_several_threads_work_and_blas_gets_its_own_back():
    before = threadpool_info()
    both = threading.Barrier(2)
    with threadpool_limits(2, "blas"):
        names = set(
            map_rows(
                lambda part: (both.wait(timeout=10), threading.current_thread().name)[1],
                2,
                1,
                most=1,
            )
        )
    assert len(names) == 2
    assert threadpool_info() == before


def test_an_error_in_a_block_ends_the_work(rng):
    done = []

    def work(part):
        if part.start == 0:
            raise ValueError("no such row")
        done.append(part)

    with (
        threadpool_limits(2, "blas"),
        pytest.raises(ValueError, match="no such row"),
    ):
        list(map_rows(work, 1_000, 1, most=1))
    assert len(done) < 999


def test_codes_do_not_depend_on_threads(digits):
    tall = np.tile(digits, (80, 1))
    model = LRNNAutoencoder(8, max_iter=5).fit(digits)
    found = []
    for threads in (1, 3):
        with threadpool_limits(threads, "blas"):
            found.append((model.transform(tall), model.score(tall)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-13, atol=1e-15)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-12)
