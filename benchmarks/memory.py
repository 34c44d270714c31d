"""Peak memory above the input: CIFAR-10 as uint8, 3072→150.

    LRNN_DATA_DIR=... python benchmarks/memory.py

The peak of the process's resident memory during ``fit`` and ``transform``, less what it was with
the data loaded and a small model already trained (so that libraries and thread stacks are there).
For comparison: four matrices of V² floats, and what a float32 copy of the data would take.
"""

import os
import threading
from pathlib import Path
from time import sleep

import numpy as np

from common import Stopwatch, load_cifar10, report
from lrnn import LRNNAutoencoder


class PeakMemory:
    """The most resident memory (bytes) in a ``with`` block, above that at its beginning."""

    def __enter__(self) -> "PeakMemory":
        self._before = self._highest = resident()
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._over.is_set():
            self._highest = max(self._highest, resident())
            sleep(0.002)

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._watcher.join()
        self.peak = self._highest - self._before


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    X = load_cifar10()
    LRNNAutoencoder(5, max_iter=2, fine_tune=1).fit(X[:500, :300])
    rows = []
    square = 4 * 3072**2 * 4
    for name, passes in (("fit, gram solver", 0), ("fit, then a pass of fine-tuning", 1)):
        model = LRNNAutoencoder(150, max_iter=20, fine_tune=passes, tol=0, random_state=0)
        with PeakMemory() as memory, Stopwatch() as watch:
            model.fit(X)
        rows.append({"": name, "peak MB": memory.peak / 1e6, "seconds": watch.seconds})
    with PeakMemory() as memory, Stopwatch() as watch:
        codes = model.transform(X)
    rows.append({"": "transform", "peak MB": memory.peak / 1e6, "seconds": watch.seconds})
    rows.append({"": "its result, the codes", "peak MB": codes.nbytes / 1e6})
    rows.append({"": "4·V² floats (float32)", "peak MB": square / 1e6})
    rows.append({"": "the input, uint8", "peak MB": X.nbytes / 1e6})
    rows.append({"": "a float32 copy of it", "peak MB": X.nbytes * 4 / 1e6})
    assert codes.dtype == np.float32
    report("memory", "Memory above the input: CIFAR-10, 60,000 rows of uint8, 3072→150", rows)


if __name__ == "__main__":
    main()
