"""Tables in their raw units: what `LRNNClassifier` makes of them, and complement coding.

    LRNN_DATA_DIR=... python benchmarks/raw_tables.py [--names iris wine]

Accuracy by 3-fold cross-validation on tables in their raw units: logistic regression on
standardised columns; the classifier that sees columns x alone; the one with its defaults, which
sees x beside 1 - x where columns are scaled by their range; the one that always does; and with
smoothed labels and noise on the inputs besides.
"""

import argparse
import warnings
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import Stopwatch, report
from lrnn import LRNNClassifier
from lrnn.datasets import DATA_SETS, load

TABLES = [e.name for e in DATA_SETS.values() if e.image_shape is None and e.class_names]


def models() -> dict[str, Any]:
    regularised = {"label_smoothing": 0.1, "corruption": ("noise", 0.05)}
    return {
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "x alone": LRNNClassifier(complement=False, random_state=0),
        "default": LRNNClassifier(random_state=0),
        "x beside 1 - x": LRNNClassifier(complement=True, random_state=0),
        "and regularised": LRNNClassifier(complement=True, random_state=0, **regularised),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="+", default=TABLES)
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    results = []
    for name in parser.parse_args().names:
        found = load(name, scaled=False)
        row: dict[str, object] = {"data": DATA_SETS[name].title}
        with warnings.catch_warnings(), Stopwatch() as watch:
            warnings.filterwarnings("ignore", "The least populated class|.*beyond the range")
            for what, model in models().items():
                scores = cross_val_score(model, found.data, found.target, cv=folds)
                row[what] = float(scores.mean())
        results.append(row | {"seconds": watch.seconds})
        print(results[-1], flush=True)
    means = {what: sum(row[what] for row in results) / len(results) for what in models()}
    report("raw_tables", "tables in raw units, accuracy", [*results, {"data": "mean", **means}])


if __name__ == "__main__":
    main()
