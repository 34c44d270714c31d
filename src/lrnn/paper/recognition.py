"""Recognition: two plain classifiers on codes of autoencoders, and on those of their peers."""

import warnings
from math import ceil
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
from threadpoolctl import threadpool_limits

from lrnn.autoencoder import LRNNAutoencoder
from lrnn.datasets import DATA_SETS, load
from lrnn.paper.experiments import MODEST, QUICK_ROWS, STRUCTURES, Structure, Task
from lrnn.paper.inhibition import inhibitory
from lrnn.paper.training import fully_trained

FOLDS = 5
TEST_ROWS = {"mnist": 10_000, "cifar10": 10_000}  # that these bring along, behind the others
NMF_ROWS = 5_000  # that scikit-learn's NMF learns from: it would take hours on all
SHARES = {"inhibition": 0.0, "inhibition_modest": MODEST}  # what a spike costs; see inhibitory
START = 100  # full-batch steps before training with inhibition
PASSES = {"mnist": 3, "cifar10": 1}  # of that from each start: few, but enough to compare
STEPS = 300  # where no passes are given


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
    structure = narrowest(task.subject)
    tested = task.subject in TEST_ROWS
    with warnings.catch_warnings(), threadpool_limits(None if tested else 1):  # small: no threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # long enough for a comparison
        warnings.filterwarnings("ignore", "The least populated class")
        scores = _on_test_rows(task, structure) if tested else _cross_validated(task, structure)
    how = "test rows" if tested else f"{FOLDS}-fold cross-validation"
    return {"width": min(structure.hidden), "how": how, "results": scores}


def narrowest(data: str) -> Structure:
    """The paper's smallest structure for a data set."""
    return min((s for s in STRUCTURES.values() if s.data == data), key=lambda s: s.n_weights)


def transformers(width: int, quick: bool) -> dict[str, Any]:
    """What is compared, at the same width, but for inhibition."""
    nmf = NMF(width, init="nndsvda", max_iter=10 if quick else 50, random_state=0)
    return {
        "raw": FunctionTransformer(),
        "PCA": PCA(width, random_state=0),
        "NMF": OnSomeRows(nmf, rows=NMF_ROWS),
        "lrnn": LRNNAutoencoder(width, max_iter=30 if quick else 200, random_state=0),
    }


def fitted(X: Any, structure: Structure, quick: bool) -> dict[str, Any]:
    """All that is compared, trained on X."""
    found = {
        name: fully_trained(t, X) if name == "lrnn" else t.fit(X)
        for name, t in transformers(min(structure.hidden), quick).items()
    }
    passes = PASSES.get(structure.data, ceil(STEPS * structure.batch_size / len(X)))
    for name, share in SHARES.items():
        model = inhibitory(found["lrnn"], share, 1 if quick else passes)
        model.set_params(batch_size=structure.batch_size, max_iter=min(START, model.max_iter))
        found[name] = fully_trained(model, X.astype(np.float32, copy=False))  # fast, and enough
    return found


def classifiers(quick: bool) -> dict[str, Any]:
    """A linear one, and one that is not."""
    linear = LogisticRegression(max_iter=20 if quick else 60, tol=1e-3)
    return {
        "linear": make_pipeline(StandardScaler(), linear),
        "5-NN": KNeighborsClassifier(5),
    }


def _cross_validated(task: Task, structure: Structure) -> list[dict[str, Any]]:
    entry = load(task.subject)
    keep = slice(None, QUICK_ROWS if task.quick else None)
    X, y = entry.data[keep], entry.target[keep]
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    scores: dict[tuple[str, str], list[float]] = {}
    for seen, new in folds:
        for name, features in fitted(X[seen], structure, task.quick).items():
            codes = features.transform(X[seen])
            for kind, model in classifiers(task.quick).items():
                score = model.fit(codes, y[seen]).score(features.transform(X[new]), y[new])
                scores.setdefault((name, kind), []).append(score)
    return [_score(*key, float(np.mean(v)), float(np.std(v))) for key, v in scores.items()]


def _on_test_rows(task: Task, structure: Structure) -> list[dict[str, Any]]:
    entry = load(task.subject, split="all", scaled=False)
    keep = slice(None, QUICK_ROWS if task.quick else None)
    first = entry.data.shape[0] - TEST_ROWS[task.subject]
    white = np.float32(DATA_SETS[task.subject].white)
    X, y = entry.data[:first][keep] / white, entry.target[:first][keep]
    X_new, y_new = entry.data[first:][keep] / white, entry.target[first:][keep]
    found = []
    for name, features in fitted(X, structure, task.quick).items():
        codes, new = features.transform(X), features.transform(X_new)
        for kind, model in classifiers(task.quick).items():
            score = model.fit(codes, y).score(new, y_new)
            found.append(_score(name, kind, float(score), None))
    return found


def _score(features: str, classifier: str, accuracy: float, spread: float | None) -> dict[str, Any]:
    return {
        "features": features, "classifier": classifier, "accuracy": accuracy, "spread": spread,
    }  # fmt: skip
