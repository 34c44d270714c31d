"""The gram solver against scikit-learn's NMF and the printed algorithm, on all of MNIST.

    LRNN_DATA_DIR=... python benchmarks/gram_solver.py [--hidden 100] [--json results.json]

All contenders run one after the other in this process, on the same data in float32. Seconds are
those of the whole fit, data in memory; for the gram solver they include forming the second moment
and the final passes. Its time to an error is read off the learning curve, plus all that is not in
the curve.
"""

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from lrnn import LRNNAutoencoder
from mnist import load_mnist


def timed_fit(model: LRNNAutoencoder, X: np.ndarray) -> float:
    before = perf_counter()
    model.fit(X)
    return perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--nmf-iterations", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    X = load_mnist(dtype=np.float32)
    results = {}

    ours = LRNNAutoencoder(options.hidden, solver="gram", random_state=0)
    seconds = timed_fit(ours, X)
    curve = ours.history_[0]
    around = seconds - curve.seconds[-1]
    results["gram solver, defaults"] = {"seconds": seconds, "error": ours.reconstruction_err_}

    nmf = NMF(options.hidden, max_iter=options.nmf_iterations, random_state=0)
    before = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        nmf.fit(X)
    seconds = perf_counter() - before
    error = float(nmf.reconstruction_err_) ** 2 / X.size
    results[f"NMF (cd), {options.nmf_iterations} iterations"] = {"seconds": seconds, "error": error}

    printed = LRNNAutoencoder(options.hidden, max_iter=10, tol=0, random_state=0)
    timed_fit(printed, X)
    best = int(np.argmin(printed.history_[0].errors))
    results["printed algorithm, 6,000 iterations"] = {
        "seconds": float(printed.history_[0].seconds[best]),
        "error": printed.reconstruction_err_,
    }

    table = Table("", "seconds", "error", "gram solver there after", "times faster")
    for name, result in results.items():
        there = np.flatnonzero(curve.errors <= result["error"])
        reached = around + curve.seconds[there[0]] if len(there) else None
        result["gram solver there after"] = reached
        table.add_row(
            name,
            f"{result['seconds']:.1f}",
            f"{result['error']:.5f}",
            "–" if reached is None else f"{reached:.2f} s",
            "–" if reached is None else f"{result['seconds'] / reached:.0f}",
        )
    Console(width=110).print(table)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
