"""Unit rates, solved: MNIST 784→100 and 784→50 with every row of weights summing to at most 1.

    LRNN_DATA_DIR=... python benchmarks/unit_rates.py

Beside the error: the largest row sum after any single step, the bound that no network with unit
rates can pass, the data's variance, and what the printed algorithm reaches under the same
constraint (6,000 iterations).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from common import Stopwatch, load_mnist, report
from lrnn import LRNNAutoencoder, bounds
from lrnn.training.adam import Adam


class RowSums:
    """The largest row sum of any weights after any step, while in a ``with`` block."""

    def __enter__(self) -> "RowSums":
        self.largest = 0.0
        self.steps = 0
        self._step = Adam.step

        def watched(adam: Adam, gradients: Sequence[Any], size: Any) -> None:
            self._step(adam, gradients, size)
            sums = (w.sum(axis=1, dtype=np.float64).max() for w in adam.weights)
            self.largest = max(self.largest, *map(float, sums))
            self.steps += 1

        Adam.step = watched  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, *error: object) -> None:
        Adam.step = self._step  # type: ignore[method-assign]


def main() -> None:
    X = load_mnist(dtype=None)
    rows = []
    for hidden in (100, 50):
        with RowSums() as sums, Stopwatch() as watch:
            ours = LRNNAutoencoder(hidden, rates="unit", random_state=0, verbose=1).fit(X)
        with Stopwatch() as printing:
            printed = LRNNAutoencoder(
                hidden, rates="unit", solver="minibatch", max_iter=10, tol=0, random_state=0
            ).fit(X)
        common = {
            "bound": bounds.unit_rate(X, hidden),
            "data's variance": bounds.variance(X),
        }
        rows.append(
            {
                "": f"784→{hidden}, lrnn, defaults",
                "error": ours.reconstruction_err_,
                **common,
                "passes": ours.n_iter_,
                "seconds": watch.seconds,
                "largest row sum after any step": f"{sums.largest:.7f} ({sums.steps} steps)",
            }
        )
        rows.append(
            {
                "": f"784→{hidden}, printed algorithm",
                "error": printed.reconstruction_err_,
                **common,
                "passes": printed.n_iter_,
                "seconds": printing.seconds,
            }
        )
    report("unit_rates", "MNIST with unit rates", rows)


if __name__ == "__main__":
    main()
