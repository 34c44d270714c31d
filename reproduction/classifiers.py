"""Classifiers made of spikes beside those of scikit-learn, on attributes and on codes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from lrnn import LRNNClassifier
from lrnn.datasets import DATA_SETS
from reproduction.experiments import CLASSIFIERS, SEEN_BY, Recipe, Task, recipe_for
from reproduction.recognition import (
    TEST_ROWS,
    Parts,
    accuracy,
    folds,
    how,
    networks,
    quietly,
    structures,
    with_test_rows,
)
from reproduction.training import fully_trained

PASSES = {"mnist": 20, "cifar10": 12}  # over larger data: few, for time; the perceptron's too
PATIENCE = 500  # passes of the perceptron over other data, at most
LINEAR = 200  # iterations of logistic regression
LINEAR_LARGE = 60  # of larger data
CLEAR = 2.0  # percent by which accuracies differ for more than chance, of most data here


def classify(task: Task, device: str | None = None) -> dict[str, Any]:
    """Accuracies of all classifiers on attributes and on codes, of spiking ones with firings.

    These train on a ``device``, if one is named.
    """
    found: dict[tuple[str, str], list[tuple[float, float | None]]] = {}
    with quietly(task):
        for parts in _parts(task):
            for features, seen in _features(task, parts).items():
                for name, make in contenders(task, device).items():
                    score = _scored(make(), seen)
                    found.setdefault((features, name), []).append(score)
    return {**how(task), "results": [_score(*key, scores) for key, scores in found.items()]}


def contenders(task: Task, device: str | None = None) -> dict[str, Callable[[], Any]]:
    """What makes each classifier, by its name."""
    recipe, data = recipe_for(task.subject), task.subject
    large = data in TEST_ROWS
    standard = () if large else (StandardScaler(),)  # levels of images are alike, and stay

    def linear() -> Any:
        iterations = 20 if task.quick else LINEAR_LARGE if large else LINEAR
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=iterations, tol=1e-3))

    def perceptron() -> Any:
        iterations = 5 if task.quick else PASSES.get(data, PATIENCE)
        model = MLPClassifier((recipe.hidden,), max_iter=iterations, random_state=0)
        return make_pipeline(*standard, model)

    def spikes(price: float) -> Any:
        passes = 5 if task.quick else PASSES.get(data)
        return spiking(recipe, price, passes, device)

    return {
        "linear": linear,
        "perceptron": perceptron,
        "5-NN": lambda: KNeighborsClassifier(5),
        "spikes": lambda: spikes(0.0),
        "spikes_priced": lambda: spikes(recipe.price),
    }


def spiking(
    recipe: Recipe, price: float, passes: int | None, device: str | None = None
) -> LRNNClassifier:
    """A classifier made of spikes by a recipe: as many passes as are usual, if none are given."""
    return LRNNClassifier(
        recipe.hidden,
        complement=recipe.complement,
        spike_penalty=price,
        max_iter=passes,
        label_smoothing=recipe.smoothing,
        corruption=("noise", recipe.noise),
        device=device,
        random_state=0,
    )


def _parts(task: Task) -> Iterator[Parts]:
    """Folds; or the rows that a data set brings along for testing, and the others."""
    if task.subject in TEST_ROWS:
        yield with_test_rows(task)
        return
    for fold in folds(task, scaled=False):
        scaled = _scaling(task.subject, fold.X)
        yield fold._replace(X=scaled(fold.X), X_new=scaled(fold.X_new))


def _scaling(data: str, X: Any) -> Callable[[Any], Any]:
    """What brings rows into [0, 1]: by the level that is white, or by the range of columns of X."""
    white = DATA_SETS[data].white
    if white is not None:
        return lambda rows: rows / np.float32(white)
    scaler = MinMaxScaler(clip=True).fit(X)
    return lambda rows: scaler.transform(rows).astype(np.float32)


def _features(task: Task, parts: Parts) -> dict[str, Parts]:
    """Attributes as they are, and codes of the paper's smallest network, by our solver."""
    structure = structures(task.subject)[0]
    model = networks(structure, len(parts.X), task.quick)["lrnn"]
    return {"raw": parts, "lrnn": parts.through(fully_trained(model, parts.X))}


def _scored(model: Any, parts: Parts) -> tuple[float, float | None]:
    """Accuracy on new rows, and firings per output spike of a classifier made of spikes."""
    model.fit(parts.X, parts.y)
    score = float(model.score(parts.X_new, parts.y_new))
    if not isinstance(model, LRNNClassifier):
        return score, None
    if model.history_[-1].stopped == "interrupted":
        raise KeyboardInterrupt
    return score, model.spikes_per_decision(parts.X_new)


def _score(
    features: str, classifier: str, found: list[tuple[float, float | None]]
) -> dict[str, Any]:
    """The mean over folds, with their spread; of firings the geometric mean."""
    firings = [spikes for _, spikes in found if spikes is not None]
    return {
        "features": features,
        "classifier": classifier,
        **accuracy([score for score, _ in found]),
        "firings": float(np.exp(np.mean(np.log(firings)))) if firings else None,
    }


def in_words(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the table comes to: means over data sets, and where spikes are behind or ahead."""
    said = []
    for seen in dict.fromkeys(row["features"] for row in rows):
        these = [row for row in rows if row["features"] == seen]
        means = {name: np.mean([row[name] for row in these]) for name in CLASSIFIERS}
        scores = ", ".join(f"{CLASSIFIERS[n]} {100 * mean:.1f} %" for n, mean in means.items())
        said.append(f"On {seen}, mean over {len(these)} data sets: {scores}.")
    raw = [row for row in rows if row["features"] == SEEN_BY["raw"]]
    for name in ("linear", "perceptron"):
        gaps = {row["data"]: 100 * (row["spikes"] - row[name]) for row in raw}
        apart = {
            "ahead of": [f"{data} (+{gap:.1f})" for data, gap in gaps.items() if gap > CLEAR],
            "behind": [f"{data} (−{-gap:.1f})" for data, gap in gaps.items() if gap < -CLEAR],
        }
        sides = "; ".join(
            f"more than {CLEAR:g} points {side} it on {', '.join(where) or 'none'}"
            for side, where in apart.items()
        )
        said.append(f"LRNNClassifier (free) beside {CLASSIFIERS[name]}, on attributes: {sides}.")
    return said
