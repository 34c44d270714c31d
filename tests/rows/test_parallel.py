"""Blocks of rows on all cores: the same results, in order, whatever happens."""

import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lrnn import LRNNAutoencoder
from lrnn.rows.blas import blas_threads, one_blas_thread
from lrnn.rows.memory import map_rows
from lrnn.tables.messages import UnfitNumbersError
from nearness import assert_near


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
        assert_near(found, X.sum(axis=1), 400)


def test_several_threads_work_and_blas_gets_its_own_back(monkeypatch):
    monkeypatch.setattr("lrnn.rows.blas.WORTH", 1)
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


def blas_now():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def in_a_thread(work):
    """What it gives, in a thread that has ended."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def entered():
    """A limit that stays: who leaves it, and in which thread, is another matter."""
    limit = one_blas_thread()
    limit.__enter__()
    return limit


@pytest.mark.parametrize("leaving", [*permutations(range(3))])
@pytest.mark.parametrize("alone", [0, 1, 2], ids="main thread is number {}".format)
def test_the_last_of_several_threads_sets_blas_free(alone, leaving):
    """Whoever comes first, whoever leaves first, and whoever has ended."""
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(3, "blas"))
        pools = [stack.enter_context(ThreadPoolExecutor(1)) for _ in range(3)]
        does = [pool.submit for pool in pools]
        does[alone] = lambda work, *given: completed(work(*given))
        limits = [do(entered).result() for do in does]
        assert blas_threads() == 3  # there will be so many again
        for left, i in enumerate(leaving):
            assert blas_now() == {1}, left
            does[i](limits[i].__exit__, None, None, None).result()
        assert blas_now() == {3}
        assert blas_threads() == 3


def completed(result):
    future = Future()
    future.set_result(result)
    return future


def test_what_a_thread_that_has_ended_leaves_another_takes_up():
    with threadpool_limits(3, "blas"):
        limit = in_a_thread(entered)
        assert blas_now() == {1}
        limit.__exit__(None, None, None)
        assert blas_now() == {3}
        with pytest.raises(ZeroDivisionError), one_blas_thread(), one_blas_thread():
            1 / 0  # noqa: B018
        assert blas_now() == {3}


def test_another_thread_limits_blas_within_the_limit_of_a_caller():
    """A thread that has set a number of its own does not keep others from setting it."""

    def within():
        with one_blas_thread():
            return blas_now()

    with threadpool_limits(3, "blas"):
        assert in_a_thread(within) == {1}
        assert blas_now() == {3}


def test_callers_in_any_thread_can_limit_blas_afterwards():
    def limited():
        with threadpool_limits(3, "blas"):
            return blas_now()

    with one_blas_thread():
        pass
    assert in_a_thread(limited) == {3}


def test_where_each_thread_has_a_number_each_is_limited_and_set_free(monkeypatch):
    """As with MKL: the number that a thread sets is its own."""
    from lrnn.rows import blas

    class Number(threading.local):
        now = 4

        def put(self, now):
            self.now = now

    number = Number()
    library = SimpleNamespace(threads=lambda: number.now, set=number.put)
    monkeypatch.setattr(blas, "_libraries", lambda per_thread: [library] if per_thread else [])
    monkeypatch.setattr(blas, "_here", blas._Here())
    with ThreadPoolExecutor(1) as other:
        first, second = entered(), other.submit(entered).result()
        assert number.now == other.submit(lambda: number.now).result() == 1
        assert blas_threads() == 4
        first.__exit__(None, None, None)
        assert number.now == 4
        assert other.submit(lambda: number.now).result() == 1
        other.submit(second.__exit__, None, None, None).result()
        assert other.submit(lambda: number.now).result() == 4
    with blas.workers(1) as pool:
        assert pool.submit(lambda: number.now).result() == 1
    assert number.now == 4


def test_transform_in_several_threads_leaves_blas_as_it_was(digits):
    tall = np.tile(digits, (60, 1))
    model = LRNNAutoencoder(8, max_iter=5).fit(digits)
    found, wrong = [], tall.copy()
    wrong[0, 0] = -1

    def work(X):
        try:
            found.append(model.transform(X))
        except UnfitNumbersError:
            found.append(sys.exc_info()[2])  # which keeps all frames alive

    with threadpool_limits(2, "blas"):
        expected = model.transform(tall)
        for _ in range(3):
            threads = [threading.Thread(target=work, args=(X,)) for X in (tall, wrong, tall, tall)]
            for thread in threads:
                thread.start()
            work(tall)  # this thread comes and leaves in any order, too
            for thread in threads:
                thread.join()
            assert blas_now() == {2}
    codes = [one for one in found if isinstance(one, np.ndarray)]
    assert len(codes) == 12
    assert len(found) == 15
    for one in codes:
        np.testing.assert_array_equal(one, expected)


def test_an_error_that_is_kept_does_not_keep_the_limit():
    X = np.zeros((40_000, 64))
    X[0, 0] = np.nan
    with threadpool_limits(2, "blas"):
        for fit in (lambda: LRNNAutoencoder(2).fit(X), lambda: list(stopped(1_000))):
            with pytest.raises((ValueError, ZeroDivisionError)) as kept:
                fit()
            assert blas_now() == {2}, kept


def stopped(rows):
    """A pass whose results cannot be combined."""
    from lrnn.rows.memory import HostRows

    return HostRows(np.zeros((rows, 4))).fold(lambda block: 1, lambda one, other: 1 / 0, 4, most=9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork among threads is the point
def test_a_fork_amid_the_work_of_others_begins_without_their_limit():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            leave.wait(30)

    with threadpool_limits(2, "blas"):
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(30)
        child = os.fork()
        if child == 0:
            sound = blas_now() == {2} and blas_threads() == 2
            with one_blas_thread():
                sound &= blas_now() == {1}
            os._exit(0 if sound and blas_now() == {2} else 1)
        leave.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert blas_now() == {2}


def test_threads_are_given_to_work_that_is_worth_them(monkeypatch):
    from lrnn.rows import blas

    with threadpool_limits(3, "blas"):
        assert blas.threads_for(blas.WORTH) == 1
        assert blas.threads_for(2 * blas.WORTH) == 2
        assert blas.threads_for(1e15) == 3
        with one_blas_thread():
            assert blas.threads_for(1e15) == 3  # they are our own
        with blas.workers(1) as pool:
            assert pool.submit(blas.threads_for, 1e15).result() == 1  # a part of a work


@pytest.mark.parametrize("rows", [1, 3, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_is_that_of_plain_numpy(rng, monkeypatch, rows, dtype):
    from lrnn.rows import blas

    left, right = rng.random((rows, 30)).astype(dtype), rng.random((30, 7)).astype(dtype)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    monkeypatch.setattr(blas, "WORTH", 1)
    for threads in (1, 3):
        with threadpool_limits(threads, "blas"):
            found = blas.product(left, right)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, exact, rtol=1e-5 if dtype == np.float32 else 1e-13)


def test_small_work_is_done_by_one_thread_of_blas(digits):
    """Products of a few microseconds are not shared, and no thread waits for another."""
    from lrnn.functional import gram

    seen = set()
    original = gram.descend_decoders

    def watched(*given):
        seen.update(blas_now())
        return original(*given)

    with threadpool_limits(2, "blas"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("lrnn.training.together.descend_decoders", watched)
        LRNNAutoencoder(8, max_iter=3, tol=1.0).fit(digits)
        assert blas_now() == {2}
    assert seen == {1}
