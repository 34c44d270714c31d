"""Recognition: two plain classifiers on codes of autoencoders, and on those of their peers."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any, NamedTuple

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

from lrnn import LRNNAutoencoder
from lrnn.datasets import DATA_SETS, load
from reproduction.experiments import MODEST, STRUCTURES, Structure, Task, some
from reproduction.inhibition import inhibitory
from reproduction.training import fully_trained

FOLDS = 5
TEST_ROWS = {"mnist": 10_000, "cifar10": 10_000}  # that these bring along, behind the others
NMF_ROWS = 5_000  # that scikit-learn's NMF learns from: it would take hours on all
SHARES = {"inhibition": 0.0, "inhibition_modest": MODEST}  # what a spike costs; see inhibitory
START = 100  # full-batch steps before training with inhibition
PASSES = {"mnist": 3, "cifar10": 1}  # of that from each start: few, but enough to compare
STEPS = 300  # where no passes are given
PRINTED_STEPS = 1_000  # of Algorithm 1 at least, or as many passes as in the other experiments
PRINTED = {  # passes of Algorithm 1 or 2 (for each layer pair) over larger data: few, likewise
    "mnist-50": 5, "mnist-1000-500-250-50": 2, "yale-500-100-50": 20, "cifar10-150": 3,
    "cifar10-1000-500-150": 1,
}  # fmt: skip
FINE_TUNE = {"mnist-1000-500-250-50": 2, "yale-500-100-50": 20, "cifar10-1000-500-150": 1}
"""Passes with which our deep networks end: these alone set their codes apart from shallow ones."""


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
    found: dict[tuple[str, str, str], list[float]] = {}
    with quietly(task):
        for structure in structures(task.subject):
            for parts in _parts(task):
                for name, features in fitted(parts.X, structure, task.quick).items():
                    seen = parts.through(features)
                    for kind, model in classifiers(task.quick).items():
                        score = float(model.fit(seen.X, seen.y).score(seen.X_new, seen.y_new))
                        found.setdefault((structure.name, name, kind), []).append(score)
    names = ("structure", "features", "classifier")
    scores = [dict(zip(names, key, strict=True)) | accuracy(v) for key, v in found.items()]
    return {**how(task), "results": scores}


@contextmanager
def quietly(task: Task) -> Iterator[None]:
    """Without warnings: trainings are long enough for a comparison. Small data need no threads."""
    with warnings.catch_warnings(), threadpool_limits(None if task.subject in TEST_ROWS else 1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class")
        warnings.filterwarnings("ignore", "with inhibition, .* found no network")
        yield


def how(task: Task) -> dict[str, Any]:
    """The width of codes, and on which rows accuracies are taken."""
    tested = task.subject in TEST_ROWS
    return {
        "width": structures(task.subject)[0].hidden[-1],
        "how": "test rows" if tested else f"{FOLDS}-fold cross-validation",
    }


def accuracy(scores: list[float]) -> dict[str, Any]:
    """The mean over folds, and their spread if there are several."""
    spread = float(np.std(scores)) if len(scores) > 1 else None
    return {"accuracy": float(np.mean(scores)), "spread": spread}


def structures(data: str) -> list[Structure]:
    """The paper's smallest structure for a data set, and the deep one if it has one.

    Their codes are of the same width.
    """
    known = [s for s in STRUCTURES.values() if s.data == data]
    return [min(known, key=lambda s: s.n_weights), *(s for s in known if s.deep)]


def peers(width: int, quick: bool) -> dict[str, Any]:
    """What networks are compared with, at the same width."""
    nmf = NMF(width, init="nndsvda", max_iter=10 if quick else 50, random_state=0)
    return {
        "raw": FunctionTransformer(),
        "PCA": PCA(width, random_state=0),
        "NMF": OnSomeRows(nmf, rows=NMF_ROWS),
    }


def networks(structure: Structure, rows: int, quick: bool) -> dict[str, LRNNAutoencoder]:
    """A structure that is to be trained as printed (Algorithm 1 or 2) and by our solver."""
    common: dict[str, Any] = {"batch_size": structure.batch_size, "random_state": 0}
    enough = min(structure.passes, ceil(PRINTED_STEPS * structure.batch_size / rows))
    passes = 1 if quick else PRINTED.get(structure.name, enough)
    ours = LRNNAutoencoder(structure.hidden, max_iter=30 if quick else 200, **common)
    if structure.deep:
        ours.set_params(stacking="joint", fine_tune=1 if quick else FINE_TUNE[structure.name])
    return {
        "printed": LRNNAutoencoder(
            structure.hidden, solver="minibatch", max_iter=passes, tol=0, **common
        ),
        "lrnn": ours,
    }


def fitted(X: Any, structure: Structure, quick: bool) -> dict[str, Any]:
    """All that is compared, trained on X; of a deep structure, the networks without inhibition."""
    found = {
        name: fully_trained(model, X) for name, model in networks(structure, len(X), quick).items()
    }
    if structure.deep:
        return found
    found = {n: t.fit(X) for n, t in peers(structure.hidden[-1], quick).items()} | found
    passes = PASSES.get(structure.data, ceil(STEPS * structure.batch_size / len(X)))
    for name, share in SHARES.items():
        model = inhibitory(found["lrnn"], share, 1 if quick else passes)
        model.set_params(max_iter=min(START, model.max_iter))
        found[name] = fully_trained(model, X.astype(np.float32, copy=False))  # fast, and enough
    return found


def classifiers(quick: bool) -> dict[str, Any]:
    """A linear one, and one that is not."""
    linear = LogisticRegression(max_iter=20 if quick else 60, tol=1e-3)
    return {
        "linear": make_pipeline(StandardScaler(), linear),
        "5-NN": KNeighborsClassifier(5),
    }


class Parts(NamedTuple):
    """Rows in [0, 1] to learn from and new ones, with their labels."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any

    def through(self, features: Any) -> "Parts":
        """With the codes of rows in their place."""
        codes = features.transform(self.X), features.transform(self.X_new)
        return Parts(codes[0], self.y, codes[1], self.y_new)


def with_test_rows(task: Task) -> Parts:
    """Images of a data set that brings along some for testing."""
    entry = load(task.subject, split="all", scaled=False)
    first = entry.data.shape[0] - TEST_ROWS[task.subject]
    white = np.float32(DATA_SETS[task.subject].white)
    X, X_new = (some(part, task.quick) / white for part in np.split(entry.data, [first]))
    y, y_new = (some(part, task.quick) for part in np.split(entry.target, [first]))
    return Parts(X, y, X_new, y_new)


def folds(task: Task, scaled: bool) -> Iterator[Parts]:
    """Rows to learn from and the others, for each fold; columns may be scaled by all rows."""
    entry = load(task.subject, scaled=scaled)
    X, y = some(entry.data, task.quick), some(entry.target, task.quick)
    for seen, new in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        yield Parts(X[seen], y[seen], X[new], y[new])


def _parts(task: Task) -> Iterable[Parts]:
    tested = task.subject in TEST_ROWS
    return [with_test_rows(task)] if tested else folds(task, scaled=True)
