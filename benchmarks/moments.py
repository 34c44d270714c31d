"""What it costs to keep a moment: to make, add, store and train on it, beside training on rows.

    python benchmarks/moments.py [--codes 100] [--steps 60] [--rows 60000]

MNIST, levels of 8 bits. "Pooled" are sums of six sites, merged; "forgotten" is a model after 1,000
rows were subtracted, beside one that was trained on the others. Reconstructions are compared on the
rows of training: those of models on rows and on sums are the same but for rounding.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from common import Stopwatch, fastest, load_mnist, report
from lrnn import LRNNAutoencoder, Moment, load_moment
from lrnn.moments import DenseMoment
from lrnn.rows import HostRows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codes", type=int, default=100)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rows", type=int, default=60_000)
    given = parser.parse_args()
    X, test = load_mnist(dtype=None)[: given.rows], load_mnist("test", dtype=None)
    sample, rest = X[:2000], X[1000:]

    def fitted(data: object) -> LRNNAutoencoder:
        return LRNNAutoencoder(given.codes, max_iter=given.steps, random_state=0).fit(data)

    LRNNAutoencoder(2, max_iter=1).fit(X[:50])  # what is loaded on first use
    pooled = Moment.of(X)
    sites = [Moment.of(part) for part in np.array_split(X, 6)]
    merged, left = Moment.merge(sites), pooled - Moment.of(X[:1000])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "moment.safetensors")
        pooled.save(file)
        size = file.stat().st_size
        seconds = {
            "XᵀX in float32, as fit on rows takes it": fastest(
                lambda: DenseMoment(HostRows(X, 255)), 2
            ),
            "Moment.of, in float64": fastest(lambda: Moment.of(X), 2),
            "a + b": fastest(lambda: pooled + left),
            "save": fastest(lambda: pooled.save(file)),
            "load_moment": fastest(lambda: load_moment(file)),
            "1,000 rows added to a file": fastest(lambda: load_moment(file) + Moment.of(X[:1000])),
        }
    rows = [{"": name, "seconds": took} for name, took in seconds.items()]
    reference: dict[int, LRNNAutoencoder] = {}
    for name, data, of in (
        ("fit: rows", X, X),
        ("fit: moment", pooled, X),
        ("fit: six sites pooled", merged, X),
        ("fit: rows without 1,000", rest, rest),
        ("fit: 1,000 rows forgotten", left, rest),
    ):
        with Stopwatch() as watch:
            model = fitted(data)
        known = reference.setdefault(len(of), model)
        apart = np.abs(model.reconstruct(sample[-1000:]) - known.reconstruct(sample[-1000:])).max()
        rows.append(
            {
                "": name,
                "seconds": watch.seconds,
                "reconstruction_err_": model.reconstruction_err_,
                "error": -model.score(of),
                "test error": -model.score(test),
                "largest difference": float(apart),
            }
        )
    about = f"{len(X):,} rows, {X.shape[1]} → {given.codes}, {given.steps} steps"
    report("moments", f"Moments of MNIST: {about}; a file of {size / 2**20:.1f} MiB", rows)


if __name__ == "__main__":
    main()
