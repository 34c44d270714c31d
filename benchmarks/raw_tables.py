"""Tables in their raw units: what `LRNNClassifier` makes of them, and complement coding.

    LRNN_DATA_DIR=... python benchmarks/raw_tables.py [--names iris wine]

Accuracy by 3-fold cross-validation on tables in their raw units: logistic regression on
standardised columns; the classifier with its defaults, which scales columns by their range; the
same on every column x beside 1 - x; and with smoothed labels and noise on the inputs besides.
"""

import argparse
import warnings
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from common import Stopwatch, report
from lrnn import LRNNClassifier
from lrnn.datasets import DATA_SETS, load
from lrnn.functional import complement_coded

TABLES = [e.name for e in DATA_SETS.values() if e.image_shape is None and e.class_names]


def complemented(**settings: Any) -> Any:
    model = LRNNClassifier(random_state=0, **settings)
    return make_pipeline(MinMaxScaler(clip=True), FunctionTransformer(complement_coded), model)


def models() -> dict[str, Any]:
    return {
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "as it is": LRNNClassifier(random_state=0),
        "x beside 1 - x": complemented(),
        "and regularised": complemented(label_smoothing=0.1, corruption=("noise", 0.05)),
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
