"""Two threads against one while other processes hold the cores.

    LRNN_DATA_DIR=... python benchmarks/busy.py [--quick]

Fits and transforms with one and with two threads, in turns, beside none, one and two processes that
do nothing but compute. Told are the medians, and how many times as long two threads took.
"""

import argparse
import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import sleep
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from common import Stopwatch, console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load

THREADS = (1, 2)
SETTLED = 0.3  # seconds after which other processes run


def spin() -> None:
    """Compute for ever."""
    x = 1.0
    while True:
        x = x * 1.0000001 % 10


@contextmanager
def beside(count: int) -> Iterator[None]:
    """Other processes that hold cores."""
    others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for other in others:
        other.start()
    sleep(SETTLED)
    try:
        yield
    finally:
        for other in others:
            other.terminate()
            other.join()


def works(quick: bool) -> Iterator[tuple[str, str, Callable[[], object], int]]:
    """Names of works, the works, and how often to repeat them."""
    mnist = load_mnist(dtype=np.float32)
    rng = np.random.default_rng(0)
    words = sparse.random_array((5_000, 4_000), density=0.005, rng=rng, format="csr")
    tables = {
        "digits": (load_digits().data / 16, 16, 200, 11),
        "wall following": (load("wall_following").data, 12, 200, 11),
        "MNIST, 2,000 rows": (mnist[:2_000], 50, 30, 5),
        "MNIST": (mnist, 100, 30, 3),
        "sparse, 0.5 %": (words, 20, 5, 3),
    }
    for name, (X, hidden, most, rounds) in tables.items():
        model = LRNNAutoencoder(hidden, max_iter=most, random_state=0)
        fitted = LRNNAutoencoder(hidden, max_iter=3, random_state=0).fit(X)
        again = max(1, int(2e7 // np.prod(X.shape)))  # short ones several times over

        def transform(fitted: Any = fitted, X: Any = X, again: int = again) -> None:
            for _ in range(again):
                fitted.transform(X)

        size = f"{X.shape[0]:,} × {X.shape[1]} → {hidden}"
        yield f"fit {name}", size, partial(model.fit, X), rounds
        yield f"transform {name}", size, transform, 2 * rounds + 1
        if quick:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="digits alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name, size, work, rounds in works(options.quick):
        for others in (0, 1, 2):
            seconds: dict[int, list[float]] = {n: [] for n in THREADS}
            with beside(others):
                for _ in range(rounds):
                    for n in THREADS:
                        with threadpool_limits(n, "blas"), Stopwatch() as watch:
                            work()
                        seconds[n].append(watch.seconds)
            one, two = (float(np.median(seconds[n])) for n in THREADS)
            row: dict[str, Any] = {"": name, "size": size, "other processes": others}
            row |= {"1 thread s": one, "2 threads s": two, "times as long": two / one}
            rows.append(row)
            console.print(f"{name}, {others} others: {one:.4f} s, {two:.4f} s, {two / one:.2f}")
    report("busy", "Two threads against one, beside other processes", rows)


if __name__ == "__main__":
    main()
