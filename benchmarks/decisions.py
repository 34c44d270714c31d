"""Decisions spike by spike: accuracy against events, and how many a decision takes.

    LRNN_DATA_DIR=... python benchmarks/decisions.py [--figure docs/images/accuracy-by-events.png]

MNIST, the first 5,000 training images to learn from, the first 1,000 test images to recognise.
Accuracy after 10, 20, 50, … events of each image: of `LRNNClassifier` (784→300→10) at two prices of
spikes, of logistic regression on codes of an autoencoder (784→50, excitatory) that are estimated
from the spikes of its encoder, from rest and from steady state, and of logistic regression on the
spikes of the input alone. Then decisions that stop when they are sure: by the counted output spikes
of the classifiers, and where codes or inputs that might be behind the spikes so far give the same
label 95 times in 100; "ratio": classifiers that are to be sure only where the best class fires 1.5
times as often as others. --events: of each image; --limit: of each decision.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import Stopwatch, report
from lrnn import LRNNAutoencoder, LRNNClassifier, decisions, plots
from recognition import images

TRAIN, TEST = 5_000, 1_000
PRICES = (0.05, 0.1)
RATIO = 1.5  # of the best class to others, where decisions are to be sure
CONFIDENCE = 0.95
STARTS = {"empty": "from rest", "stationary": "in steady state"}
SHOWN = (100, 1_000, 10_000, 100_000, 1_000_000)


def curve_row(what: str, curve: Any, seconds: float) -> dict[str, object]:
    found: dict[str, object] = {"what": what}
    for events in SHOWN:
        at = np.flatnonzero(curve.events == events)
        found[f"{events:,}"] = float(curve.accuracy[at[0]]) if len(at) else None
    found |= {"without spikes": curve.exact, "seconds": seconds}
    print(found, flush=True)
    if curve.expected is not None:
        print("by theory", dict(zip(curve.events.tolist(), curve.expected.round(3), strict=True)))
    return found


def stop_row(what: str, score: float, mean: float, **more: object) -> dict[str, Any]:
    found = {"what": what, "accuracy": score, "mean events": mean, **more}
    print(found, flush=True)
    return found


def linear_row(what: str, curve: Any) -> dict[str, object]:
    right, events = curve.stopping(CONFIDENCE)
    return stop_row(
        what, float(right.mean()), float(events.mean()),
        **{
            "median events": float(np.median(events)),
            "undecided": float(np.mean(curve.sureness[-1] < CONFIDENCE)),
        },
    )  # fmt: skip


def decided(
    model: Any, X: Any, y: Any, what: str, start: str, ratio: float | None, chosen: Any
) -> dict[str, Any]:
    with Stopwatch() as watch:
        found = model.decide(
            X, confidence=CONFIDENCE, ratio=ratio, events=chosen.limit, start=start,
            threads=chosen.threads, progress=False, random_state=0,
        )  # fmt: skip
    sure, right = found.decided, found.labels == y
    return stop_row(
        f"{what}, {STARTS[start]}", found.score(y), float(found.events.mean()),
        **{
            "median events": float(np.median(found.events)),
            "by theory": float(np.median(found.expected_events)),
            "undecided": float(1 - sure.mean()),
            "right, of the decided": float(right[sure].mean()),
            "as without spikes": found.agreement,
            "output spikes": float(found.spikes[sure].mean()),
            "expected": float(found.expected_spikes[sure].mean()),
            "seconds": watch.seconds,
        },
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=None)
    parser.add_argument("--events", type=float, default=1e6)
    parser.add_argument("--limit", type=float, default=1e6)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--prices", type=float, nargs="+", default=PRICES)
    chosen = parser.parse_args()
    (X, y), (X_new, y_new) = images("train", TRAIN), images("test", TEST)
    settings = {"events": chosen.events, "progress": False, "random_state": 0}
    settings["threads"] = chosen.threads
    curves, points, rows, stops = {}, {}, [], []

    def curve(what: str, model: Any, **more: Any) -> Any:
        with Stopwatch() as watch:
            found = decisions.accuracy_by_events(model, X_new, y_new, **settings, **more)
        rows.append(curve_row(what, found, watch.seconds))
        return found

    for price in chosen.prices:
        model = LRNNClassifier(
            (300,), spike_penalty=price, corruption=("mask", 0.3), label_smoothing=0.1,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        name = f"classifier, price {price:g}"
        print(name, model.score(X_new, y_new), model.spikes_per_decision(X_new), flush=True)
        for start, when in STARTS.items():
            found = curve(f"{name}, {when}", model, start=start)
            stops.append(decided(model, X_new, y_new, f"{name}, ratio", start, RATIO, chosen))
            stops.append(decided(model, X_new, y_new, name, start, None, chosen))
            if start == "empty":
                curves[name] = found
                points[name] = (stops[-1]["mean events"], stops[-1]["accuracy"])
    codes = LRNNAutoencoder(50, fine_tune=5, random_state=0).fit(X)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))
    linear.fit(codes.transform(X), y)
    for start, when in STARTS.items():
        found = curve(f"codes, {when}", codes, classifier=linear, start=start)
        curves[f"codes, {when}"] = found
        stops.append(linear_row(f"codes, {when}", found))
    inputs = LogisticRegression(C=0.05, max_iter=500).fit(X, y)
    found = curves["input spikes"] = curve("input spikes", None, classifier=inputs)
    stops.append(linear_row("input spikes", found))
    title = f"MNIST, {TRAIN:,} images to learn from, {TEST:,} to recognise: accuracy after events"
    report("decisions", title, rows)
    report("decisions_stopping", f"stopping when {100 * CONFIDENCE:g} % sure", stops)
    if chosen.figure is not None:
        figure = Figure(figsize=(5.6, 3.6), dpi=130, layout="constrained")
        plots.accuracy_by_events(curves, stops=points, ax=figure.add_subplot())
        figure.savefig(chosen.figure)


if __name__ == "__main__":
    main()
