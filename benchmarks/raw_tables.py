"""Tables in their raw units: what models make of them, and complement coding.

    LRNN_DATA_DIR=... python benchmarks/raw_tables.py [--names iris wine] [--autoencoders]

Accuracy by 3-fold cross-validation, on three divisions, on tables in their raw units: logistic
regression on standardised columns; `LRNNClassifier` that sees columns x alone; the one with its
defaults, which sees x beside 1 - x where columns are scaled by their range; the one that always
does; and with smoothed labels and noise on the inputs besides.

With --autoencoders: the mean squared error of attributes that autoencoders give back, half as many
codes as attributes, without and with complements; and how well the error of a row of the other half
of a table tells that one of its cells has been made the lowest, or the highest, of its column (the
area under the ROC curve).
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import Stopwatch, report
from lrnn import LRNNAutoencoder, LRNNClassifier
from lrnn.datasets import DATA_SETS, load

TABLES = [e.name for e in DATA_SETS.values() if e.image_shape is None and e.class_names]
FOLDS = RepeatedStratifiedKFold(n_splits=3, n_repeats=3, random_state=5)


def models() -> dict[str, Any]:
    regularised: dict[str, Any] = {"label_smoothing": 0.1, "corruption": ("noise", 0.05)}
    return {
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "x alone": LRNNClassifier(complement=False, random_state=0),
        "default": LRNNClassifier(random_state=0),
        "x beside 1 - x": LRNNClassifier(complement=True, random_state=0),
        "and regularised": LRNNClassifier(complement=True, random_state=0, **regularised),
    }


def accuracies(name: str) -> dict[str, float]:
    found = load(name, scaled=False)
    return {
        what: float(cross_val_score(model, found.data, found.target, cv=FOLDS).mean())
        for what, model in models().items()
    }


def reconstructions(name: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = rng.permutation(np.asarray(load(name, scaled=False).data, dtype=np.float64))
    seen, new = np.array_split(X, 2)
    varied = np.ptp(seen, axis=0) > 0
    seen = seen[:, varied]
    low, high = seen.min(axis=0), seen.max(axis=0)
    new = np.clip(new[:, varied], low, high)
    columns, rows = rng.integers(0, len(low), len(new)), np.arange(len(new))
    found = {}
    for what, complement in {"x alone": False, "x beside 1 - x": True}.items():
        model = LRNNAutoencoder(scale="minmax", complement=complement, random_state=0).fit(seen)

        def errors(X: Any, model: LRNNAutoencoder = model) -> Any:
            return (((model.reconstruct(X) - X) / (high - low)) ** 2).mean(axis=1)

        found[f"error, {what}"] = float(errors(new).mean())
        for said, extreme in (("low", low), ("high", high)):
            wrong = new.copy()
            wrong[rows, columns] = extreme[columns]
            told = np.concatenate([errors(new), errors(wrong)])
            found[f"{said} cells, {what}"] = roc_auc_score(np.repeat([0, 1], len(new)), told)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="+", default=TABLES)
    parser.add_argument("--autoencoders", action="store_true")
    given = parser.parse_args()
    measure = reconstructions if given.autoencoders else accuracies
    results: list[dict[str, Any]] = []
    for name in given.names:
        with warnings.catch_warnings(), Stopwatch() as watch:
            warnings.filterwarnings(
                "ignore", "The least populated|.*beyond the range|the error was"
            )
            found = measure(name)
        results.append({"data": DATA_SETS[name].title, **found, "seconds": watch.seconds})
        print(results[-1], flush=True)
    means = {
        what: sum(row[what] for row in results) / len(results)
        for what in results[0]
        if what not in ("data", "seconds")
    }
    results.append({"data": "mean", **means})
    if given.autoencoders:
        report("raw_tables_autoencoders", "tables in raw units, given back", results)
    else:
        report("raw_tables", "tables in raw units, accuracy", results)


if __name__ == "__main__":
    main()
