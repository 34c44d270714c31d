"""How many threads work: `threads_for` says it for every piece of work on the host.

Threads of the BLAS library share one product, and wait for each other many times on the way. Where
another process holds a core, each such wait may last until its turn is over, some milliseconds: a
product that takes less by one thread is then many times slower by two. So products are left to one
thread each, threads of our own take one block of rows after the other, and only as many of them as
have enough to do.

BLAS's own number is mostly a setting of the whole process. Who limits it notes what it was and puts
that back. Two threads that do so at the same time note each other's limit, and one of them puts it
back for good. So the first who comes limits it, and the last who leaves sets it free again. Some
libraries have a number for each thread: there each thread does so for itself.
"""

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import RLock, local
from typing import Any

import numpy as np
import threadpoolctl
from numpy.typing import NDArray

__all__ = ["blas_threads", "one_blas_thread", "product", "threads_for", "workers"]

WORTH = 1 << 27  # multiplications for each thread: some milliseconds of work
PARTS = 4  # of a product for each thread: one that is held up leaves its share to others

# whether MKL, and OpenBLAS where OpenMP makes its threads, are set for one thread, or for all
OF_THREADS = [int(part) for part in re.findall(r"\d+", threadpoolctl.__version__)] >= [3, 7]


class _Library:
    """A BLAS library, whose number of threads any thread can read and set."""

    def __init__(self, controller: Any) -> None:
        self.threads: Callable[[], int] = controller.get_num_threads
        self.set: Callable[[int], Any] = controller.set_num_threads
        kind = controller.internal_api, getattr(controller, "threading_layer", None)
        self.per_thread = OF_THREADS and (kind[0] == "mkl" or kind == ("openblas", "openmp"))
        if hasattr(controller, "clear_controlling_thread") and not self.per_thread:
            # threadpoolctl (since 3.8) ignores all threads but one; the library itself does not
            for name in controller.check_symbols:
                if hasattr(controller.dynlib, name):
                    self.set = getattr(controller.dynlib, name.replace("get", "set"))


@cache
def _libraries(per_thread: bool) -> list[_Library]:
    found = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
    return [one for one in map(_Library, found) if one.per_thread == per_thread]


class _Limit:
    """Of BLAS to one thread: who has asked for it, and how it is to be lifted.

    Parameters
    ----------
    per_thread : bool
        Of the libraries that have a number for each thread.
    """

    def __init__(self, per_thread: bool) -> None:
        self.per_thread = per_thread
        self.users = 0
        self.before: list[int] | None = None  # threads of each library without the limit

    def threads(self) -> list[int]:
        if self.before is None:
            return [library.threads() for library in _libraries(self.per_thread)]
        return self.before

    def enter(self) -> None:
        if self.before is None:
            self.before = self.threads()
            for library in _libraries(self.per_thread):
                library.set(1)
        self.users += 1

    def leave(self) -> None:
        self.users -= 1
        if self.users == 0:
            self.lift()

    def lift(self) -> None:
        before, self.before = self.before, None
        for library, threads in zip(_libraries(self.per_thread), before or (), strict=False):
            library.set(threads)


class _Here(local):
    """What each thread knows of itself."""

    def __init__(self) -> None:
        self.is_worker = False
        self.limit = _Limit(per_thread=True)


_lock = RLock()  # what is collected as garbage may leave while its thread enters
_everywhere = _Limit(per_thread=False)
_here = _Here()


def blas_threads() -> int:
    """How many threads BLAS uses, or would use again if it were not limited here."""
    with _lock:
        return max(_everywhere.threads() + _here.limit.threads(), default=1)


def threads_for(multiplications: float) -> int:
    """How many threads a piece of work gets: those of BLAS, if there is enough for each of them.

    Work that is itself a part of some, done by one of several `workers`, gets one.

    Examples
    --------
    >>> threads_for(1e6)
    1
    """
    if _here.is_worker:
        return 1
    return max(1, min(blas_threads(), int(multiplications / WORTH)))


def workers(count: int) -> ThreadPoolExecutor:
    """So many threads that share the parts of a piece of work."""
    return ThreadPoolExecutor(count, initializer=_become_worker)


def _become_worker() -> None:
    _here.is_worker = True
    _here.limit.enter()  # until the thread ends


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
    limits = (_everywhere, _here.limit)
    with _lock:
        for limit in limits:
            limit.enter()
    try:
        yield
    finally:
        with _lock:
            for limit in limits:
                limit.leave()


def _begin_anew() -> None:
    """In the child of a fork: of all threads only this one is left, and no other will leave."""
    global _everywhere
    before, _everywhere = _everywhere, _Limit(per_thread=False)
    before.lift()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_begin_anew
    )
