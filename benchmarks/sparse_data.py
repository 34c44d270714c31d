"""Sparse data: 200,000 × 50,000 with 0.1 % nonzeros, 50 hidden units.

    python benchmarks/sparse_data.py

The data are counts-like: 50 topics, each with its own words, plus noise. A cut small enough for the
dense path is trained by both paths from the same start; their errors must agree.
"""

import numpy as np
from scipy import sparse

from common import Stopwatch, report
from lrnn import LRNNAutoencoder
from memory import PeakMemory

ROWS, WORDS, TOPICS, PER_ROW = 200_000, 50_000, 50, 50


def topics(rows: int, seed: int = 0) -> sparse.csr_array:
    """Rows of some 50 words, most of them from the row's own topic."""
    rng = np.random.default_rng(seed)
    popularity = rng.zipf(1.3, size=(TOPICS, 2_000)).clip(max=10_000).astype(float)
    words = rng.integers(0, WORDS, size=(TOPICS, 2_000))
    shares = np.cumsum(popularity / popularity.sum(axis=1, keepdims=True), axis=1)
    topic = rng.integers(0, TOPICS, size=rows)
    draws = rng.random((rows, PER_ROW))
    columns = np.empty((rows, PER_ROW), dtype=np.int32)
    for t in range(TOPICS):
        own = topic == t
        columns[own] = words[t, np.searchsorted(shares[t], draws[own]).clip(max=1_999)]
    noise = rng.random((rows, PER_ROW)) < 0.3
    columns[noise] = rng.integers(0, WORDS, size=int(noise.sum()))
    values = rng.random((rows, PER_ROW), dtype=np.float32) / 8
    start = np.arange(0, rows * PER_ROW + 1, PER_ROW)
    data = sparse.csr_array((values.ravel(), columns.ravel(), start), shape=(rows, WORDS))
    data.sum_duplicates()
    data.data.clip(max=1, out=data.data)
    return data


def main() -> None:
    X = topics(ROWS)
    LRNNAutoencoder(2, max_iter=1).fit(X[:50, :50])
    model = LRNNAutoencoder(TOPICS, max_iter=50, random_state=0, verbose=1)
    with PeakMemory() as memory, Stopwatch() as watch:
        model.fit(X)
    nothing = float((X.data.astype(np.float64) ** 2).sum() / (ROWS * WORDS))
    rows = [
        {
            "": f"{ROWS:,} × {WORDS:,}, {X.nnz / ROWS / WORDS:.2%} nonzeros, implicit",
            "error": model.reconstruction_err_,
            "of giving back nothing": f"{model.reconstruction_err_ / nothing:.1%}",
            "iterations": model.n_iter_,
            "seconds": watch.seconds,
            "peak MB above the input": memory.peak / 1e6,
            "input MB": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6,
        }
    ]
    common = np.argsort(-X.sum(axis=0))[:1_000]
    cut = sparse.csr_array(X[:5_000, np.sort(common)])
    for kind in ("implicit", "dense"):
        for name, data in (("sparse", cut), ("as a full matrix", cut.toarray())):
            found = LRNNAutoencoder(20, moment=kind, max_iter=50, tol=0, random_state=0).fit(data)
            error = found.reconstruction_err_
            rows.append({"": f"5,000 × 1,000 cut, {name}, {kind}", "error": error,
                         "iterations": found.n_iter_})  # fmt: skip
    report("sparse_data", "Sparse data", rows)


if __name__ == "__main__":
    main()
