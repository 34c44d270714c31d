"""Classifiers made of spikes: accuracy, and how many firings an output spike takes.

    LRNN_DATA_DIR=... python benchmarks/recognition.py [--device cuda] [--hidden 1000 300]
    LRNN_DATA_DIR=... python benchmarks/recognition.py --quick

MNIST, 60,000 images to learn from and 10,000 for testing (--quick: the first 10,000, and half of
the passes): `LRNNClassifier` where spikes are free and at several prices, with some of the pixels
masked in training and smoothed labels, beside LogisticRegression and MLPClassifier of scikit-learn
with hidden layers of the same widths. Firings per output spike are those on test images (their
geometric mean).
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from common import Stopwatch, report
from lrnn import LRNNClassifier
from lrnn.datasets import load

PRICES = (0.0, 0.003, 0.01, 0.03, 0.1)
QUICK_ROWS = 10_000


def images(split: str, rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    found = load("mnist", split=split, scaled=False)
    return (found.data[:rows] / np.float32(255)).astype(np.float32), found.target[:rows]


def row(what: str, model: Any, train: Any, test: Any) -> dict[str, object]:
    with Stopwatch() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(*train)
    found = {
        "what": what,
        "train": model.score(*train),
        "test": model.score(*test),
        "seconds": watch.seconds,
    }
    if isinstance(model, LRNNClassifier):
        found["firings per output spike"] = model.spikes_per_decision(test[0])
    print(found, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default=None)
    parser.add_argument("--hidden", type=int, nargs="+", default=[300])
    parser.add_argument("--passes", type=int, default=30)
    parser.add_argument("--mask", type=float, default=0.3)
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--prices", type=float, nargs="+", default=PRICES)
    chosen = parser.parse_args()
    train, test = images("train", QUICK_ROWS if chosen.quick else None), images("test")
    passes = chosen.passes // 2 if chosen.quick else chosen.passes
    hidden = tuple(chosen.hidden)
    results = [
        row("LogisticRegression", LogisticRegression(max_iter=100), train, test),
        row("MLPClassifier", MLPClassifier(hidden, max_iter=30, random_state=0), train, test),
    ]
    for price in chosen.prices:
        model = LRNNClassifier(
            hidden, spike_penalty=price, corruption=("mask", chosen.mask), max_iter=passes,
            label_smoothing=chosen.smoothing,
            device=chosen.device, random_state=0,
        )  # fmt: skip
        results.append(row(f"LRNNClassifier, price {price:g}", model, train, test))
    layers = "→".join(map(str, (784, *hidden, 10)))
    name = "recognition_quick" if chosen.quick else "recognition"
    name += "" if chosen.device is None else "_cuda"
    report(name, f"MNIST {layers}, {len(train[0]):,} images, {passes} passes", results)


if __name__ == "__main__":
    main()
