"""How low the errors go with patience: shallow and deep networks on MNIST and CIFAR-10.

    LRNN_DATA_DIR=... python benchmarks/lowest_errors.py [--only NAME …]

Gram solver with many iterations, then end-to-end passes over the saturating network. The last three
columns tell what saturation has to do with it: the share of hidden activations (over all images)
that are saturated, the error of the same network if its hidden neurons did not saturate, and the
bound for all linear maps of the code's width. Some minutes for MNIST, some more for CIFAR-10.
"""

import argparse

import numpy as np

from common import Stopwatch, console, load_mnist, report
from lrnn import LRNNAutoencoder, bounds
from lrnn.datasets import DATA_SETS, load
from lrnn.functional import propagate

DEEP, DEEP_COLOURS = (1000, 500, 250, 50), (1000, 500, 150)
NAMES = {"MNIST": "mnist", "CIFAR-10": "cifar10"}
RUNS = [
    ("MNIST", (100,), 10),
    ("MNIST", (50,), 10),
    ("MNIST", DEEP, 0),
    ("MNIST", DEEP, 10),
    ("CIFAR-10", (150,), 6),
    ("CIFAR-10", DEEP_COLOURS, 0),
    ("CIFAR-10", DEEP_COLOURS, 6),
]


def without_saturation(X: np.ndarray, model: LRNNAutoencoder) -> tuple[float, float]:
    """The share of saturated hidden activations, and the error if hidden layers were linear."""
    *hidden, last = [*model.encoders_, *model.decoders_]
    saturated, cells, squares = 0, 0, 0.0
    for rows in np.array_split(X, max(1, len(X) // 2_000)):
        inputs = rows / np.float32(255)
        layer = linear = inputs
        for weight in hidden:
            layer, linear = propagate(layer, weight), linear @ weight
            saturated += int((layer >= 1).sum())
            cells += layer.size
        squares += float(((inputs - np.minimum(linear @ last, 1)) ** 2).sum(dtype=np.float64))
    return saturated / cells, squares / X.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="MNIST or CIFAR-10")
    options = parser.parse_args()
    rows, loaded = [], {}
    for name, sizes, passes in RUNS:
        if options.only and name not in options.only:
            continue
        if name not in loaded:
            loaded = {name: load(NAMES[name], scaled=False).data}
        X = loaded[name]
        model = LRNNAutoencoder(
            sizes, stacking="joint", max_iter=1_000, tol=1e-5, fine_tune=passes, random_state=0,
            verbose=1,
        )  # fmt: skip
        with Stopwatch() as watch:
            model.fit(X)
        share, linear = without_saturation(X, model)
        held_out = None
        if name == "MNIST":
            held_out = -model.score(load_mnist("test", None))
        rows.append(
            {
                "": f"{name} {'→'.join(map(str, (X.shape[1], *sizes)))}",
                "end-to-end passes": passes,
                "paper": DATA_SETS[NAMES[name]].errors.get("-".join(map(str, sizes))),
                "error": model.reconstruction_err_,
                "on test images": held_out,
                "seconds": watch.seconds,
                "hidden saturated": f"{share:.2%}",
                "if they were linear": linear,
                "linear bound": bounds.svd(X, min(sizes)),
            }
        )
        console.print(rows[-1])
    suffix = "_".join(options.only).lower() if options.only else ""
    report(f"lowest_errors{suffix and f'_{suffix}'}", "Lowest errors, with patience", rows)


if __name__ == "__main__":
    main()
