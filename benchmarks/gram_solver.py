"""The gram solver against its peers, on all of MNIST: error against time.

    LRNN_DATA_DIR=... python benchmarks/gram_solver.py [--hidden 100]

All contenders run one after the other in this process, on the same data in float32 and on all
cores: scikit-learn's NMF (cd and mu) and MiniBatchNMF, the printed algorithm, and (where torch is
installed) a nonnegative saturating autoencoder trained by Adam. Seconds are those of the whole fit,
data in memory; for the gram solver they include forming the second moment and the final passes.
"There after" is when the gram solver had reached the contender's error: read off its learning
curve, plus all its time that is not in the curve. For the printed algorithm seconds are those to
its own lowest error, and evaluations of the error on all rows do not count on either side.
"""

import argparse
import math
import warnings
from time import perf_counter

import numpy as np
from sklearn.decomposition import NMF, MiniBatchNMF
from sklearn.exceptions import ConvergenceWarning

from common import Stopwatch, console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.training import LearningCurve


def nmf(X: np.ndarray, model: NMF | MiniBatchNMF) -> tuple[float, float]:
    with Stopwatch() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = model.fit_transform(X)
    return watch.seconds, float(((X - codes @ model.components_) ** 2).mean(dtype=np.float64))


def printed(X: np.ndarray, hidden: int) -> tuple[float, float]:
    """The time to, and the value of, its own lowest error in 6,000 iterations."""
    model = LRNNAutoencoder(hidden, solver="minibatch", max_iter=10, tol=0, random_state=0).fit(X)
    curve = model.history_[0]
    return float(curve.seconds[np.argmin(curve.errors)]), model.reconstruction_err_


def torch_adam(X: np.ndarray, hidden: int, passes: int = 10) -> tuple[float, float]:
    """Softplus weights, minibatches of 500: what one would write by hand."""
    import torch

    torch.manual_seed(0)
    data = torch.from_numpy(X)
    began = perf_counter()
    shapes = (X.shape[1], hidden), (hidden, X.shape[1])
    logs = [torch.randn(shape) - math.log(shape[0]) for shape in shapes]
    for log in logs:
        log.requires_grad_()
    adam = torch.optim.Adam(logs, lr=0.02)

    def forward(rows: "torch.Tensor") -> "torch.Tensor":
        for log in logs:
            rows = (rows @ torch.nn.functional.softplus(log)).clamp(max=1)
        return rows

    for _ in range(passes):
        for rows in data[torch.randperm(len(data))].split(500):
            adam.zero_grad()
            ((rows - forward(rows)) ** 2).mean().backward()
            adam.step()
    seconds = perf_counter() - began
    with torch.no_grad():
        return seconds, float(((data - forward(data)) ** 2).mean())


def reached(curve: LearningCurve, error: float, around: float) -> float | None:
    """Seconds until the gram solver had this error."""
    there = np.flatnonzero(curve.errors <= error)
    return float(around + curve.seconds[there[0]]) if len(there) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, default=100)
    options = parser.parse_args()
    hidden = options.hidden
    X = load_mnist(dtype=np.float32)

    with Stopwatch() as watch:
        ours = LRNNAutoencoder(hidden, random_state=0).fit(X)
    curve = ours.history_[0]
    around = watch.seconds - curve.seconds[-1]
    with Stopwatch() as evaluation:
        ours.score(X)
    with Stopwatch() as tuning:
        tuned = LRNNAutoencoder(hidden, fine_tune=3, random_state=0).fit(X)
    contenders = {
        "NMF (cd), 20 iterations": lambda: nmf(X, NMF(hidden, max_iter=20, random_state=0)),
        "NMF (mu), 20 iterations": lambda: nmf(
            X, NMF(hidden, solver="mu", init="nndsvda", max_iter=20, random_state=0)
        ),
        "MiniBatchNMF, 1 pass": lambda: nmf(X, MiniBatchNMF(hidden, max_iter=1, random_state=0)),
        "printed algorithm, best of 6,000 iterations": lambda: printed(X, hidden),
        "torch, Adam, 10 passes": lambda: torch_adam(X, hidden),
    }
    rows = [
        {"": "lrnn, defaults", "seconds": watch.seconds, "error": ours.reconstruction_err_},
        {"": "lrnn, fine_tune=3", "seconds": tuning.seconds, "error": tuned.reconstruction_err_},
    ]
    for name, run in contenders.items():
        try:
            seconds, error = run()
        except ImportError:
            console.print(f"{name}: torch is not installed")
            continue
        console.print(f"{name}: {error:.5f} after {seconds:.1f} s")
        uncounted = evaluation.seconds if name.startswith("printed") else 0
        after = reached(curve, error, around - uncounted)
        rows.append(
            {
                "": name,
                "seconds": seconds,
                "error": error,
                "lrnn there after s": after,
                "times faster": None if after is None else seconds / after,
            }
        )
    if hidden == 50:
        best = next(row["seconds"] for row in rows if row[""].startswith("printed"))
        after = reached(curve, 0.0204, around - evaluation.seconds)
        rows.append(
            {
                "": "the paper's error, against the printed algorithm's time to its own",
                "seconds": best,
                "error": 0.0204,
                "lrnn there after s": after,
                "times faster": best / after,
            }
        )
    report(f"gram_solver_{hidden}", f"MNIST 784→{hidden}, 60,000 rows, float32", rows)


if __name__ == "__main__":
    main()
