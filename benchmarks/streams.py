"""Learning from streams: `partial_fit` beside scikit-learn's MiniBatchNMF, part by part.

    python benchmarks/streams.py [--quick] [--only tables|images|drift|text]

Each part is given to one method after the other, so that all are measured in the same minutes.
Seconds are those of all `partial_fit` until then. Errors are mean squared errors per attribute on
rows of the same kind that are no part of the stream: for lrnn those of the network, for
MiniBatchNMF those of the codes that its `transform` searches for. `lrnn, as printed` is the
paper's rule (solver="minibatch"). Text are the docstrings of what is installed, with 4,000 terms;
its errors are relative ones, as in benchmarks/sparse_text.py.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import MiniBatchNMF
from sklearn.feature_extraction.text import TfidfVectorizer

from common import Stopwatch, load_mnist, report
from corpus import docstrings
from lrnn import LRNNAutoencoder
from lrnn.datasets import load
from sparse_text import relative_error

Error = Callable[[Any, Any], float]


def squared_error(model: Any, rows: np.ndarray) -> float:
    """Per attribute, of reconstructions by whatever codes a model gives."""
    found = np.minimum(model.inverse_transform(model.transform(rows)), 1)
    return float(np.mean((found - rows) ** 2))


def relative(model: Any, rows: sparse.csr_array) -> float:
    return relative_error(rows, np.asarray(model.transform(rows)), model.components_)


def compared(
    title: str,
    X: Any,
    tests: Mapping[str, Any],
    methods: Mapping[str, Any],
    part: int,
    marks: Sequence[int],
    error: Error = squared_error,
) -> list[dict[str, Any]]:
    """Errors and seconds of each method, after so many rows."""
    count = X.shape[0]
    seconds = dict.fromkeys(methods, 0.0)
    found: list[dict[str, Any]] = []
    for first in range(0, count, part):
        last = min(first + part, count)
        for name, model in methods.items():
            with warnings.catch_warnings(), Stopwatch() as watch:
                warnings.simplefilter("ignore")
                model.partial_fit(X[first:last])
            seconds[name] += watch.seconds
        if last not in (*marks, count):
            continue
        for name, model in methods.items():
            row = {"stream": title, "rows seen": last, "method": name}
            for what, rows in tests.items():
                row[f"error{what}"] = error(model, rows)
            found.append(row | {"seconds": seconds[name]})
    return found


def methods(codes: int, part: int, **more: Any) -> dict[str, Any]:
    """What is compared."""
    return {
        "lrnn": LRNNAutoencoder(codes, random_state=0),
        **more,
        "MiniBatchNMF": MiniBatchNMF(codes, batch_size=part, random_state=0),
        "lrnn, as printed": LRNNAutoencoder(codes, solver="minibatch", random_state=0),
    }


def shuffled(X: Any) -> Any:
    return X[np.random.RandomState(0).permutation(X.shape[0])]


def images(quick: bool) -> list[dict[str, Any]]:
    """MNIST."""
    X = shuffled(load_mnist(dtype=np.float32))[: 5_000 if quick else None]
    tests = {"": load_mnist("test", np.float32)[:2_000]}
    found = compared("MNIST →100", X, tests, methods(100, 500), 500, (500, 5_000))
    if not quick:
        with Stopwatch() as watch:
            model = LRNNAutoencoder(100, random_state=0).fit(X)
        whole = {"stream": "MNIST →100", "rows seen": len(X), "method": "lrnn, fit on all"}
        found.append(whole | {"error": squared_error(model, tests[""]), "seconds": watch.seconds})
    return found


def drift(quick: bool) -> list[dict[str, Any]]:
    """Digits 0 to 4, then 5 to 9: errors on each kind."""
    kinds = [load("mnist", split=split, scaled=False) for split in ("train", "test")]
    (X, low), (T, old) = (
        (k.data / np.float32(255), np.asarray(k.target).astype(int)) for k in kinds
    )
    count = 2_000 if quick else 15_000
    stream = np.concatenate([X[low < 5][:count], X[low >= 5][:count]])
    tests = {" on 0–4": T[old < 5][:1_500], " on 5–9": T[old >= 5][:1_500]}
    forgetting = {"lrnn, forget=3300": LRNNAutoencoder(50, forget=3_300, random_state=0)}
    marks = (count, count + 5_000)
    return compared("MNIST →50, drift", stream, tests, methods(50, 500, **forgetting), 500, marks)


def tables(quick: bool) -> list[dict[str, Any]]:
    """Small images, and a table of the paper."""
    digits = shuffled(load_digits().data / 16)
    found = compared(
        "digits →32", digits[:1_500], {"": digits[1_500:]}, methods(32, 100), 100, (100, 500)
    )
    table = shuffled(np.asarray(load("wall_following").data))
    last = len(table) - 1_000
    width = (table.shape[1] + 1) // 2
    return found + compared(
        f"wall-following →{width}", table[:last], {"": table[last:]}, methods(width, 100), 100,
        (100, 1_000),
    )  # fmt: skip


def text(quick: bool) -> list[dict[str, Any]]:
    """Docstrings."""
    limit = 4_000 if quick else 14_000
    texts = list(dict.fromkeys(islice(docstrings(), 2 * limit)))
    texts = [texts[i] for i in np.random.default_rng(0).permutation(len(texts))[:limit]]
    words = TfidfVectorizer(min_df=3, max_features=4_000, stop_words="english", dtype=np.float32)
    X = sparse.csr_array(words.fit_transform(texts))
    last = limit - 2_000
    return compared(
        "text →50", X[:last], {"": X[last:]}, methods(50, 500), 500, (500, 2_000), relative
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="shorter streams")
    parser.add_argument("--only", choices=list(STREAMS), help="one of the streams")
    given = parser.parse_args()
    LRNNAutoencoder(2).partial_fit(np.eye(20)[:, :8])  # what is loaded on first use
    for name, work in STREAMS.items():
        if given.only in (None, name):
            title = "partial_fit: errors on other rows, and seconds so far"
            report(f"streams_{name}", f"{name}, {title}", work(given.quick))


STREAMS = {"tables": tables, "images": images, "drift": drift, "text": text}

if __name__ == "__main__":
    main()
