"""Can saturation make a deep network better than a shallow one of the same code width? MNIST →50.

    LRNN_DATA_DIR=... python benchmarks/saturation.py [--passes 6]

While no hidden neuron saturates, deep and shallow networks can do the same. All networks here are
trained end to end for the same number of passes, from different starts: the shallow optimum split
over the layers (what lrnn does), layer-wise training, and random weights. Some ten minutes.
"""

import argparse
from typing import Any

import numpy as np

from common import Stopwatch, console, load_mnist, report
from lowest_errors import without_saturation
from lrnn import LRNNAutoencoder
from lrnn.estimators.autoencoder import Fitted
from lrnn.network.weights import Weights, random_weights
from lrnn.rows import HostRows
from lrnn.training import Observer, Run, Settings, evaluate, train_end_to_end
from lrnn.training.gram import train_layers, train_whole

DEEP = (1000, 500, 250, 50)
STARTS = [
    ("split", (50,)),
    ("split", (200, 50)),
    ("split", (1000, 50)),
    ("split", DEEP),
    ("layer-wise", DEEP),
    ("random", DEEP),
]


def run(**settings: Any) -> Run:
    return Run(Settings(**settings), np.random.RandomState(0), Observer())


def start(kind: str, X: HostRows, sizes: tuple[int, ...]) -> Weights:
    if kind == "random":
        return random_weights(sizes, np.random.RandomState(0), X.weights)
    train = train_whole if kind == "split" else train_layers
    return train(X, run(sizes=sizes, tol=1e-5, max_iter=1_000)).weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", type=int, default=6)
    options = parser.parse_args()
    levels = load_mnist(dtype=None)
    X, rows = HostRows(levels, white=255), []
    for kind, hidden in STARTS:
        weights = start(kind, X, (784, *hidden))
        with Stopwatch() as watch:
            done = train_end_to_end(X, weights, run(max_iter=options.passes, tol=0))
        trained = done.weights
        model = LRNNAutoencoder(hidden)
        model.n_features_in_, model.binary_ = 784, False
        model._become(Fitted.after(done, evaluate(X, trained), "free"))
        share, linear = without_saturation(levels, model)
        rows.append(
            {
                "": f"784→{'→'.join(map(str, hidden))} from {kind}",
                "error at the start": evaluate(X, weights).error,
                f"after {options.passes} passes": evaluate(X, trained).error,
                "hidden saturated": f"{share:.2%}",
                "if they were linear": linear,
                "seconds": watch.seconds,
            }
        )
        console.print(rows[-1])
    report("saturation", "End-to-end training from several starts, MNIST, code of 50", rows)


if __name__ == "__main__":
    main()
