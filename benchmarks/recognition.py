"""Classifiers made of spikes: accuracy, and how many firings an output spike takes.

    LRNN_DATA_DIR=... python benchmarks/recognition.py [--device cuda] [--hidden 1000 300]
    LRNN_DATA_DIR=... python benchmarks/recognition.py --quick
    python benchmarks/recognition.py --digits

MNIST, 60,000 images to learn from and 10,000 for testing (--quick: the first 10,000, and half of
the passes): `LRNNClassifier` where spikes are free and at several prices, with some of the pixels
masked in training and smoothed labels, beside LogisticRegression and MLPClassifier of scikit-learn
with hidden layers of the same widths. Firings per output spike are those on test images (their
geometric mean). --digits: what regularises, on 1,200 of scikit-learn's digits, for the others.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from common import Stopwatch, report
from lrnn import LRNNClassifier
from lrnn.datasets import load

PRICES = (0.0, 0.003, 0.01, 0.03, 0.1)
QUICK_ROWS = 10_000
REGULARISED = (  # hidden layers, noise on inputs, smoothing of labels
    ((300,), 0.0, 0.0), ((300,), 0.0, 0.1), ((300,), 0.2, 0.0), ((300,), 0.2, 0.1),
    ((200, 100), 0.2, 0.1),
)  # fmt: skip


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


def on_digits() -> None:
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    X, y = X[order] / 16, y[order]
    train, test = (X[:1200], y[:1200]), (X[1200:], y[1200:])
    results = [row("LogisticRegression", LogisticRegression(max_iter=1000), train, test)]
    for hidden, level, smoothing in REGULARISED:
        model = LRNNClassifier(
            hidden, corruption=("noise", level), label_smoothing=smoothing, random_state=0
        )
        results.append(row(f"{hidden}, noise {level}, smoothing {smoothing}", model, train, test))
    report("recognition_digits", "digits, 1,200 to learn from, 597 for testing", results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default=None)
    parser.add_argument("--hidden", type=int, nargs="+", default=[300])
    parser.add_argument("--passes", type=int, default=30)
    parser.add_argument("--mask", type=float, default=0.3)
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--prices", type=float, nargs="+", default=PRICES)
    parser.add_argument("--digits", action="store_true")
    chosen = parser.parse_args()
    if chosen.digits:
        on_digits()
        return
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
