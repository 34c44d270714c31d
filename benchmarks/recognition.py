"""Classifiers made of spikes: accuracy, and how many firings an output spike takes.

    LRNN_DATA_DIR=... python benchmarks/recognition.py [--device cuda] [--hidden 1000 300]
    LRNN_DATA_DIR=... python benchmarks/recognition.py --quick
    LRNN_DATA_DIR=... python benchmarks/recognition.py --best --device cuda
    python benchmarks/recognition.py --digits
    python benchmarks/recognition.py --draw docs/images/accuracy-by-spikes.png

MNIST, 60,000 images to learn from and 10,000 for testing (--quick: the first 10,000, and half of
the passes): `LRNNClassifier` where spikes are free and at several prices, with some of the pixels
masked in training and smoothed labels, beside LogisticRegression and MLPClassifier of scikit-learn
with hidden layers of the same widths. Firings per output spike are those on test images (their
geometric mean). --best: what a wide, regularised network reaches where spikes are free, and one
hidden layer at many prices; three seeds. --digits: what regularises, on 1,200 of scikit-learn's
digits, for the others.
"""

import argparse
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from common import Stopwatch, known, report
from lrnn import LRNNClassifier
from lrnn.datasets import load
from lrnn.plots.axes import COLOURS, key, levels, logarithmic, plain

PRICES = (0.0, 0.003, 0.01, 0.03, 0.1)
QUICK_ROWS = 10_000
REGULARISED = (  # hidden layers, noise on inputs, smoothing of labels, passes
    ((300,), 0.0, 0.0, 40), ((300,), 0.0, 0.1, 40), ((300,), 0.2, 0.0, 40), ((300,), 0.2, 0.1, 40),
    ((200, 100), 0.2, 0.1, 40), ((200, 100), 0.2, 0.1, 250),
)  # fmt: skip

FREE: dict[str, Any] = {  # the best that was found where spikes are free
    "hidden_layer_sizes": (1000, 500, 300), "dropout": 0.4, "corruption": ("mask", 0.1),
    "label_smoothing": 0.1, "max_iter": 80,
}  # fmt: skip
PRICED: dict[str, Any] = {
    "hidden_layer_sizes": (2000,), "dropout": 0.1, "corruption": ("mask", 0.03),
    "label_smoothing": 0.05, "max_iter": 80,
}  # fmt: skip
BEST_PRICES = (0.0, 0.005, 0.012, 0.026, 0.05, 0.085, 0.13)
SEEDS = (0, 1, 2)


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


def best(device: str | None, prices: Sequence[float], seeds: Sequence[int]) -> None:
    """The lowest errors that were found; what is not asked for stays as it was measured before."""
    train, test = images("train"), images("test")
    name = "recognition_best" + ("" if device is None else "_cuda")
    for price, seed in product(prices, seeds):
        settings = PRICED if price else FREE
        layers = "→".join(map(str, (784, *settings["hidden_layer_sizes"], 10)))
        model = LRNNClassifier(**settings, spike_penalty=price, device=device, random_state=seed)
        new = row(f"{layers}, price {price:g}", model, train, test) | {"seed": seed}
        others = [r for r in known(name) if (r["what"], r["seed"]) != (new["what"], seed)]
        report(name, f"MNIST, {len(train[0]):,} images", [*others, new])


def draw(path: Path) -> None:
    """Accuracy against firings per output spike, as it was measured on a GPU."""
    rows = known("recognition_best_cuda")
    figure = Figure(figsize=(5.2, 3.6), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    found = sorted({r["what"] for r in rows if not r["what"].endswith("price 0")})
    for part, style in (("test", "o-"), ("train", ":")):
        line = [
            tuple(
                np.mean([r[name] for r in rows if r["what"] == what])
                for name in ("firings per output spike", part)
            )
            for what in found
        ]
        ax.plot(*zip(*sorted(line), strict=True), style, color=COLOURS[0], markersize=3, label=part)
    free = [r["test"] for r in rows if r["what"].endswith("price 0")]
    if free:
        levels(ax, {"spikes are free": float(np.mean(free))}, side="left")
    logarithmic(ax, "x")
    key(ax)
    plain(ax, "firings per output spike", "share of images recognised")
    figure.savefig(path)


def on_digits() -> None:
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    X, y = X[order] / 16, y[order]
    train, test = (X[:1200], y[:1200]), (X[1200:], y[1200:])
    results = [row("LogisticRegression", LogisticRegression(max_iter=1000), train, test)]
    for hidden, level, smoothing, passes in REGULARISED:
        model = LRNNClassifier(
            hidden, corruption=("noise", level), label_smoothing=smoothing, max_iter=passes,
            random_state=0,
        )  # fmt: skip
        what = f"{hidden}, noise {level}, smoothing {smoothing}, {passes} passes"
        results.append(row(what, model, train, test))
    report("recognition_digits", "digits, 1,200 to learn from, 597 for testing", results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default=None)
    parser.add_argument("--hidden", type=int, nargs="+", default=[300])
    parser.add_argument("--passes", type=int, default=30)
    parser.add_argument("--mask", type=float, default=0.3)
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--prices", type=float, nargs="+", default=None)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="with --best")
    parser.add_argument("--digits", action="store_true")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--draw", type=Path, default=None, help="only the plot of what is known")
    chosen = parser.parse_args()
    if chosen.draw is not None:
        draw(chosen.draw)
        return
    if chosen.digits or chosen.best:
        on_digits() if chosen.digits else best(
            chosen.device, chosen.prices or BEST_PRICES, chosen.seeds
        )
        return
    train, test = images("train", QUICK_ROWS if chosen.quick else None), images("test")
    passes = chosen.passes // 2 if chosen.quick else chosen.passes
    hidden = tuple(chosen.hidden)
    results = [
        row("LogisticRegression", LogisticRegression(max_iter=100), train, test),
        row("MLPClassifier", MLPClassifier(hidden, max_iter=30, random_state=0), train, test),
    ]
    for price in chosen.prices or PRICES:
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
