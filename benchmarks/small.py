"""Small data beside scikit-learn's NMF: digits, faces, and the tables of the paper.

    LRNN_DATA_DIR=... python benchmarks/small.py

Each table has the hidden width of the paper. NMF (coordinate descent) makes 20 iterations; "there
after" is when lrnn had reached their error, all its time that is not in its learning curve counted
before the first step. That time is the "start-up": checks, the second moment, starts, the last
pass. All are the least of some fits in turns, data in memory as float64. Where nothing stands,
lrnn ends above NMF's error: NMF's codes need not be a function of the data.
"""

import warnings

import numpy as np
from sklearn.decomposition import NMF

from common import WIDTHS, Stopwatch, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load
from peers import learning_curve, reached

FITS = 7
LARGEST = 10_000  # rows of data that are called small


def measured(X: np.ndarray, hidden: int) -> dict[str, object]:
    """One row of the table."""
    theirs, ours, startup = np.inf, np.inf, np.inf
    curve: tuple[tuple[float, float], ...] = ()
    for _ in range(FITS):
        nmf = NMF(hidden, max_iter=20, tol=0, random_state=0)
        with Stopwatch() as watch:
            codes = nmf.fit_transform(X)
        theirs = min(theirs, watch.seconds)
        model = LRNNAutoencoder(hidden, random_state=0)
        with Stopwatch() as watch:
            model.fit(X)
        startup = min(startup, watch.seconds - model.history_[0].seconds[-1])
        if watch.seconds < ours:
            ours, curve = watch.seconds, learning_curve(model.history_, watch.seconds)
    error = float(np.mean((X - codes @ nmf.components_) ** 2))
    there = reached(curve, error)
    return {
        "NMF, ms": 1e3 * theirs,
        "its error": error,
        "lrnn there after, ms": None if there is None else 1e3 * there,
        "times NMF's": None if there is None else there / theirs,
        "lrnn, ms": 1e3 * ours,
        "its error ": model.reconstruction_err_,
        "start-up, ms": 1e3 * startup,
    }


def main() -> None:
    warnings.simplefilter("ignore")  # that either of them could go on
    rows = []
    for name, hidden in {"digits": 16, **WIDTHS}.items():
        X = load(name).data.astype(np.float64)
        if len(X) <= LARGEST:
            what = f"{name}, {X.shape[0]} × {X.shape[1]} → {hidden}"
            rows.append({"": what, **measured(X, hidden)})
    report("small", "Small data, to the error of NMF (cd, 20 iterations)", rows)


if __name__ == "__main__":
    main()
