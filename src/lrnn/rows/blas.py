"""How many threads work: `threads_for` says it for every piece of work on the host.

Threads of the BLAS library share one product, and wait for each other many times on the way. Where
another process holds a core, each such wait may last until its turn is over, some milliseconds: a
product that takes less by one thread is then many times slower by two. So products are left to one
thread each, threads of our own take one block of rows after the other, and only as many of them as
have enough to do.

BLAS's own number is a setting of the whole process, shared by all who set it. Who limits it notes
what it was and puts that back. Two threads that do so at the same time note each other's limit, and
one of them puts it back for good. So it is limited only once, by the first who comes, and set free
again by the last who leaves.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import RLock, local
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads", "one_blas_thread", "product", "threads_for", "workers"]

WORTH = 1 << 27  # multiplications for each thread: some milliseconds of work
PARTS = 4  # of a product for each thread: one that is held up leaves its share to others


class _Limit:
    """Of BLAS to one thread: who has asked for it, and how it is to be lifted."""

    def __init__(self) -> None:
        self.lock = RLock()  # what is collected as garbage may leave while its thread enters
        self.users = 0
        self.threads = 1  # without the limit
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.limiter is None:
                self.threads = _threads_now()
                self.limiter = _controller().limit(limits=1)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.lift()

    def lift(self) -> None:
        limiter, self.limiter = self.limiter, None
        if limiter is not None:
            limiter.restore_original_limits()


_limit = _Limit()
_here = local()


def blas_threads() -> int:
    """How many threads BLAS uses, or would use again if it were not limited here."""
    with _limit.lock:
        return _threads_now() if _limit.limiter is None else _limit.threads


def threads_for(multiplications: float) -> int:
    """How many threads a piece of work gets: those of BLAS, if there is enough for each of them.

    Work that is itself a part of some, done by one of several `workers`, gets one.

    Examples
    --------
    >>> threads_for(1e6)
    1
    """
    if getattr(_here, "is_worker", False):
        return 1
    return max(1, min(blas_threads(), int(multiplications / WORTH)))


def workers(count: int) -> ThreadPoolExecutor:
    """So many threads that share the parts of a piece of work."""
    return ThreadPoolExecutor(count, initializer=_become_worker)


def _become_worker() -> None:
    _here.is_worker = True


def product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """``left @ right``; threads take some rows after the other, if there is enough to do."""
    count = threads_for(left.shape[0] * left.shape[1] * right.shape[1])
    if count < 2:
        with one_blas_thread():
            alone: NDArray[Any] = left @ right
        return alone
    found = np.empty((left.shape[0], right.shape[1]), np.result_type(left, right))
    bounds = [left.shape[0] * i // (PARTS * count) for i in range(PARTS * count + 1)]

    def part(rows: slice) -> None:
        np.matmul(left[rows], right, out=found[rows])

    with one_blas_thread(), workers(count) as pool:
        list(pool.map(part, map(slice, bounds[:-1], bounds[1:])))
    return found


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for as long as anybody needs it."""
    limit = _limit
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _threads_now() -> int:
    return max((library["num_threads"] for library in _controller().info()), default=1)


def _hold() -> None:
    _limit.lock.acquire()


def _go_on() -> None:
    _limit.lock.release()


def _begin_anew() -> None:
    """In the child of a fork: of all threads only this one is left, and no other will leave."""
    global _limit
    before, _limit = _limit, _Limit()
    before.lift()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_go_on, after_in_child=_begin_anew)
