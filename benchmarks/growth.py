"""How time grows with rows, attributes and hidden units.

    python benchmarks/growth.py

Seconds per iteration of the gram solver (the median of 60, from one random start) and of the
printed algorithm (for one pass over all rows: it would need that many minibatches to see the
data once), on random data of rank 20 in float32; also the time to read the data into the second
moment. Draws docs/images/growth.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from common import Stopwatch, console, report
from lrnn import LRNNAutoencoder
from lrnn.moments import DenseMoment
from lrnn.rows import held

ROWS = (1_000, 10_000, 100_000, 1_000_000)
ATTRIBUTES = (64, 128, 256, 512, 1_024, 2_048)
HIDDEN = (10, 20, 50, 100, 200, 400)


def data(rows: int, attributes: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    parts = rng.random((20, attributes), dtype=np.float32) ** 4 / 8
    return np.minimum(rng.random((rows, 20), dtype=np.float32) @ parts, 1)


def measure(rows: int, attributes: int, hidden: int) -> dict[str, float]:
    X = data(rows, attributes)
    with Stopwatch() as reading:
        DenseMoment(held(X))
    model = LRNNAutoencoder(hidden, moment="dense", init="random", max_iter=60, tol=0)
    seconds = model.set_params(random_state=0).fit(X).history_[0].seconds
    few = X[: min(rows, 10_000)]
    printed = LRNNAutoencoder(hidden, solver="minibatch", max_iter=1, tol=0, random_state=0)
    took = printed.fit(few).history_[0].seconds[-1] * rows / len(few)
    return {
        "second moment s": reading.seconds,
        "gram solver s per iteration": float(np.median(np.diff(seconds))),
        "printed algorithm s per pass": float(took),
    }


def main() -> None:
    sweeps = {
        "rows": [(n, 256, 50) for n in ROWS],
        "attributes": [(10_000, v, 50) for v in ATTRIBUTES],
        "hidden units": [(10_000, 512, h) for h in HIDDEN],
    }
    results = []
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    for (name, shapes), axis in zip(sweeps.items(), axes, strict=True):
        position = list(sweeps).index(name)
        measured = []
        for shape in shapes:
            measured.append(measure(*shape))
            console.print(name, shape, measured[-1])
            labels = ("rows", "attributes", "hidden")
            results.append(
                {"varied": name, **dict(zip(labels, shape, strict=True)), **measured[-1]}
            )
        across = [shape[position] for shape in shapes]
        for label, marker in (
            ("gram solver s per iteration", "o-"),
            ("second moment s", "s:"),
            ("printed algorithm s per pass", "^--"),
        ):
            axis.loglog(across, [m[label] for m in measured], marker, label=label)
        fixed = [f"{n:,} {k}" for k, n in zip(sweeps, shapes[0], strict=True) if k != name]
        axis.set(xlabel=name, title=", ".join(fixed))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    axes[0].legend(fontsize="small")
    figure.savefig(Path(__file__).parent.parent / "docs" / "images" / "growth.png", dpi=110)
    report("growth", "Growth of time with the data", results)


if __name__ == "__main__":
    main()
