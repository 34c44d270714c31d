"""Recognition: two plain classifiers on codes of autoencoders, and on those of their peers."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import NMF, PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lrnn.autoencoder import LRNNAutoencoder
from lrnn.datasets import load
from lrnn.experiments.structures import STRUCTURES
from lrnn.experiments.tasks import QUICK_ROWS, Task

FOLDS = 5
TESTED = ("mnist", "cifar10")  # by their own test rows
NMF_ROWS = 5_000  # that scikit-learn's NMF learns from: it would take hours on all


class OnSomeRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fits a transformer on at most so many rows."""

    def __init__(self, transformer: Any, rows: int) -> None:
        self.transformer = transformer
        self.rows = rows

    def fit(self, X: Any, y: Any = None) -> "OnSomeRows":
        """Fit on rows evenly spread."""
        self.transformer_ = clone(self.transformer).fit(X[:: -(-len(X) // self.rows)])
        return self

    def transform(self, X: Any) -> Any:
        """As the transformer does."""
        return self.transformer_.transform(X)


def recognise(task: Task) -> dict[str, Any]:
    """Accuracies of each classifier on each kind of features, on test rows or cross-validated."""
    width = min(min(s.hidden) for s in STRUCTURES.values() if s.data == task.subject)
    tested = task.subject in TESTED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # long enough for a comparison
        warnings.filterwarnings("ignore", "The least populated class")
        scores = _on_test_rows(task, width) if tested else _cross_validated(task, width)
    how = "test rows" if tested else f"{FOLDS}-fold cross-validation"
    return {"width": width, "how": how, "results": scores}


def transformers(width: int) -> dict[str, Any]:
    """What is compared, at the same width."""
    return {
        "raw": FunctionTransformer(),
        "PCA": PCA(width, random_state=0),
        "NMF": OnSomeRows(NMF(width, init="nndsvda", max_iter=50, random_state=0), rows=NMF_ROWS),
        "lrnn": LRNNAutoencoder(width, random_state=0),
    }


def classifiers() -> dict[str, Any]:
    """A linear one, and one that is not."""
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=60, tol=1e-3)),
        "5-NN": KNeighborsClassifier(5),
    }


def _cross_validated(task: Task, width: int) -> list[dict[str, Any]]:
    entry = load(task.subject)
    keep = slice(None, QUICK_ROWS if task.quick else None)
    X, y = entry.data[keep], entry.target[keep]
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    scores: dict[tuple[str, str], list[float]] = {}
    for seen, new in folds:
        for name, features in transformers(width).items():
            codes = features.fit(X[seen]).transform(X[seen])
            for kind, model in classifiers().items():
                score = model.fit(codes, y[seen]).score(features.transform(X[new]), y[new])
                scores.setdefault((name, kind), []).append(score)
    return [_score(*key, float(np.mean(v)), float(np.std(v))) for key, v in scores.items()]


def _on_test_rows(task: Task, width: int) -> list[dict[str, Any]]:
    keep = slice(None, QUICK_ROWS if task.quick else None)
    train, test = (load(task.subject, split=split) for split in ("train", "test"))
    found = []
    for name, features in transformers(width).items():
        codes = features.fit(train.data[keep]).transform(train.data[keep])
        new = features.transform(test.data[keep])
        for kind, model in classifiers().items():
            score = model.fit(codes, train.target[keep]).score(new, test.target[keep])
            found.append(_score(name, kind, float(score), None))
    return found


def _score(features: str, classifier: str, accuracy: float, spread: float | None) -> dict[str, Any]:
    return {
        "features": features, "classifier": classifier, "accuracy": accuracy, "spread": spread,
    }  # fmt: skip
