"""Few labels: what codes that were learnt without labels are good for.

    LRNN_DATA_DIR=... python benchmarks/few_labels.py [--labels 100 1000 10000] [--seeds 3]

Autoencoders (and PCA) learn from all 60,000 training images of MNIST without labels; classifiers
learn from some labelled ones (classes in proportion, chosen anew by each seed), and all 10,000 test
images tell how well. Pixels, PCA codes, codes of excitatory autoencoders and of those with
inhibition at a modest price of spikes: each seen by logistic regression, by the nearest neighbours
and by `LRNNClassifier`. That one has the encoder as its first layers, which stay as they are
("frozen") or are trained further ("fine-tuned").

To be fair to each, logistic regression chooses its penalty and how features are scaled (as they
are, standardised, and logarithms of nonnegative ones) by 3-fold cross-validation on the labelled
rows (by a third of them, where there are many), and neighbours choose whether there are 1 or 5 of
them. `LRNNClassifier` has one recipe.

--scratch: only networks as deep as the fine-tuned ones, on pixels, from scratch.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from common import MODEST, Stopwatch, report
from lrnn import LRNNAutoencoder, LRNNClassifier
from recognition import images

HIDDEN, NOISE, SMOOTHING = 300, 0.05, 0.1
PENALTIES = (0.1, 1.0, 10.0)  # of logistic regression: C
SMALL = 1e-3  # is added before logarithms are taken
MANY, PASSES = 5_000, 15  # labels from which on so many passes, and one fold, are enough


def logarithms(codes: np.ndarray) -> np.ndarray:
    return np.log(codes + SMALL)


def folds(rows: int) -> Any:
    return 3 if rows < MANY else StratifiedShuffleSplit(1, test_size=1 / 3, random_state=0)


def linear(rows: int, signed: bool) -> GridSearchCV:
    """Logistic regression that chooses its penalty, and how features are scaled."""
    scalings: list[Any] = ["passthrough", StandardScaler()]
    if not signed:
        scalings.append(make_pipeline(FunctionTransformer(logarithms), StandardScaler()))
    model = Pipeline([("scaling", "passthrough"), ("linear", LogisticRegression(max_iter=100))])
    return GridSearchCV(model, {"scaling": scalings, "linear__C": PENALTIES}, cv=folds(rows))


def choice(model: Any) -> str:
    """What a cross-validation has chosen, in words."""
    if not isinstance(model, GridSearchCV):
        return ""
    found = dict(model.best_params_)
    kinds = {str: "as it is", StandardScaler: "standardised", Pipeline: "logarithms"}
    if "scaling" in found:
        found["scaling"] = kinds[type(found["scaling"])]
    return str(found)


def neighbours(rows: int) -> GridSearchCV:
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": (1, 5)}, cv=folds(rows))


def spiking(rows: int, before: tuple[int, ...] = (), **pretrain: Any) -> LRNNClassifier:
    passes = PASSES if rows >= MANY else None
    return LRNNClassifier(
        (*before, HIDDEN), label_smoothing=SMOOTHING, corruption=("noise", NOISE), max_iter=passes,
        random_state=0, **pretrain,
    )  # fmt: skip


def encoders(X: np.ndarray, widths: list[int], passes: int) -> dict[str, Any]:
    """What turns images into codes, learnt without labels."""
    found: dict[str, Any] = {}
    for width in widths:
        with Stopwatch() as watch:
            found[f"PCA {width}"] = PCA(width, random_state=0).fit(X)
            plain = LRNNAutoencoder(width, tol=1e-3, random_state=0).fit(X)
            found[f"autoencoder {width}"] = plain
            if passes:
                penalty = MODEST * plain.reconstruction_err_ / plain.spike_cost_
                model = clone(plain).set_params(inhibition=True, fine_tune=passes)
                found[f"inhibition {width}"] = model.set_params(spike_penalty=penalty).fit(X)
        print(f"codes of width {width}: {watch.seconds:.0f} s", flush=True)
    return found


def works(encoder: Any, rows: int) -> Iterator[tuple[str, Any, bool]]:
    """Classifiers, and whether they see codes (or images, which they encode themselves)."""
    yield "LogisticRegression", linear(rows, signed=isinstance(encoder, PCA)), True
    yield "nearest neighbours", neighbours(rows), True
    if encoder is None:
        yield "LRNNClassifier", spiking(rows), True
    elif isinstance(encoder, LRNNAutoencoder):
        yield "LRNNClassifier, frozen", spiking(rows, pretrain=encoder, freeze=True), False
        if not encoder.inhibition:
            yield "LRNNClassifier, fine-tuned", spiking(rows, pretrain=encoder), False


def deep(widths: list[int], rows: int) -> Iterator[tuple[str, Any, bool]]:
    """Networks on pixels with a layer where others have an encoder."""
    for width in widths:
        yield f"LRNNClassifier, {width} and {HIDDEN} from scratch", spiking(rows, (width,)), True


def told(features: str, classifier: str, labels: int, scores: list[float]) -> dict[str, object]:
    row = {
        "features": features,
        "classifier": classifier,
        "labels": labels,
        "test": float(np.mean(scores)),
        "±": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
    }
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--widths", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=3, help="with inhibition, from each start")
    parser.add_argument("--scratch", action="store_true")
    chosen = parser.parse_args()
    (X, y), (X_new, y_new) = images("train"), images("test")
    known: dict[str, Any] = {"pixels": None}
    if not chosen.scratch:
        known |= encoders(X, chosen.widths, chosen.passes)
    new_codes = {
        name: X_new if encoder is None else encoder.transform(X_new)
        for name, encoder in known.items()
    }
    results = []
    for labels in chosen.labels:
        scores: dict[tuple[str, str], list[float]] = {}
        for seed in range(chosen.seeds):
            seen, _ = train_test_split(
                np.arange(len(X)), train_size=labels, stratify=y, random_state=seed
            )
            for name, encoder in known.items():
                codes = X[seen] if encoder is None else encoder.transform(X[seen])
                compared = deep(chosen.widths, labels) if chosen.scratch else works(encoder, labels)
                for what, model, on_codes in compared:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", ConvergenceWarning)
                        model.fit(codes if on_codes else X[seen], y[seen])
                    score = model.score(new_codes[name] if on_codes else X_new, y_new)
                    scores.setdefault((name, what), []).append(score)
                    print(name, what, labels, seed, score, choice(model), flush=True)
        results += [told(*key, labels, found) for key, found in scores.items()]
    name = "few_labels_scratch" if chosen.scratch else "few_labels"
    report(name, "MNIST with few labels: share of the test images", results)


if __name__ == "__main__":
    main()
