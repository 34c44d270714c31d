"""Sparse rows against the same rows as a full matrix, by how many of their cells are stored.

    python benchmarks/sparse_fill.py [--rounds 5]

Both are worked on in turns; a ratio of 1 says that sparse rows take as long as full ones. Also the
least times are compared that a few rounds give: other work on the machine changes both.
"""

import argparse
from typing import Any

import numpy as np
from scipy import sparse

from common import in_turns, report
from lrnn import LRNNAutoencoder, Moment

SHAPES = ((20_000, 1_000, 50), (100_000, 100, 20))  # rows, attributes, code neurons
FILLS = (0.001, 0.003, 0.01, 0.03, 0.08, 0.12, 0.2, 0.33, 0.5)  # shares of the cells


def seconds(X: Any, full: Any, hidden: int, rounds: int) -> dict[str, dict[str, float]]:
    """The least seconds of each method with sparse and with full rows."""
    settings: dict[str, Any] = {"max_iter": 20, "tol": 0, "random_state": 0}
    model = LRNNAutoencoder(hidden, **settings).fit(full[:2_000])
    methods = {
        "Moment.of": Moment.of,
        "fit": LRNNAutoencoder(hidden, **settings).fit,
        "transform": model.transform,
    }
    found = {}
    for name, method in methods.items():
        works = {"sparse": lambda m=method: m(X), "full": lambda m=method: m(full)}
        found[name] = in_turns(works, rounds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    rows = []
    for count, width, hidden in SHAPES:
        for fill in FILLS:
            X = sparse.random_array(
                (count, width), density=fill, format="csr", rng=0, dtype=np.float32
            )
            row: dict[str, Any] = {"rows": f"{count:,} × {width:,} → {hidden}", "stored": fill}
            for name, took in seconds(X, X.toarray(), hidden, rounds).items():
                row |= {
                    f"{name}, s": took["sparse"],
                    f"{name}, ratio": took["sparse"] / took["full"],
                }
            rows.append(row)
    report(
        "sparse_fill", "Sparse rows against full ones: seconds, and times those of full rows", rows
    )


if __name__ == "__main__":
    main()
