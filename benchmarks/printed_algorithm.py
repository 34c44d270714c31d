"""The paper's three algorithms, as printed, on all of MNIST.

    LRNN_DATA_DIR=... python benchmarks/printed_algorithm.py

For each structure of the paper's Figure 2a: the lowest error within 6,000 iterations of 100
rows, the row sums of the effective weights (the printed algorithm's do not stay below 1), those of
the realised network's routing probabilities (at most 1), and by how much the network's steady
state differs from the forward pass.
"""

import argparse
from typing import Any

import numpy as np
from rich.table import Table

from common import RESULTS, console, load_mnist, write
from lrnn import LRNNAutoencoder
from lrnn.datasets import DATA_SETS

RUNS = [
    ("Algorithm 1", (100,), "joint"),
    ("Algorithm 1", (50,), "joint"),
    ("Algorithm 2", (1000, 500, 250, 50), "layerwise"),
    ("Algorithm 3", (1000, 500, 250, 50), "joint"),
]


def measure(
    X: np.ndarray, sizes: tuple[int, ...], stacking: Any, seed: int, every: int
) -> dict[str, Any]:
    model = LRNNAutoencoder(
        sizes, solver="minibatch", stacking=stacking, max_iter=10, tol=0, evaluate_every=every,
        random_state=seed, verbose=1,
    ).fit(X)  # fmt: skip
    rows = X[:: max(1, len(X) // 5_000)]
    network = model.to_network()
    q = network.steady_state(model.arrivals(rows))
    report = model.audit(rows)
    curves = model.history_
    return {
        "lowest error": model.reconstruction_err_,
        "lowest minibatch error": float(min(c.batch_errors.min() for c in curves[-1:])),
        "first errors": [float(c.errors[0]) for c in curves],
        "lowest errors": [c.lowest for c in curves],
        "last errors": [float(c.errors[-1]) for c in curves],
        "iterations": [len(c.batch_errors) for c in curves],
        "seconds": float(sum(c.seconds[-1] for c in curves)),
        "row sums": report.largest_row_sum,
        "probabilities": report.largest_routed,
        "steady state": float(np.abs(network.split(q)[-1] - model.reconstruct(rows)).max()),
        "valid": report.valid,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float32")
    parser.add_argument("--every", type=int, default=600, help="iterations between evaluations")
    parser.add_argument("--only", type=int, nargs="*", help="rows of the table to run, from 0")
    options = parser.parse_args()
    X = load_mnist(dtype=getattr(np, options.dtype))
    table = Table(
        "algorithm", "structure", "paper", "lowest error", "row sums ≤", "Σ probabilities ≤",
        "|steady state - forward| ≤", "seconds",
    )  # fmt: skip
    results = []
    for i, (algorithm, sizes, stacking) in enumerate(RUNS):
        if options.only is not None and i not in options.only:
            continue
        result = measure(X, sizes, stacking, options.seed, options.every)
        structure = "→".join(map(str, (784, *sizes)))
        paper = DATA_SETS["mnist"].errors.get("-".join(map(str, sizes)))
        results.append({"algorithm": algorithm, "structure": structure, "paper": paper, **result})
        table.add_row(
            algorithm, structure, str(paper or "–"), f"{result['lowest error']:.5f}",
            f"{result['row sums']:.2f}", f"{result['probabilities']:.15f}",
            f"{result['steady state']:.0e}", f"{result['seconds']:.0f}",
        )  # fmt: skip
    console.print(table)
    if len(results) == len(RUNS):
        title = f"The paper's algorithms as printed, seed {options.seed}, {options.dtype}"
        write(RESULTS / "printed_algorithm.json", title, results)


if __name__ == "__main__":
    main()
