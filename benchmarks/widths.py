"""Which width: data of a known number of parts, by lrnn and by cross-validation of NMF.

    python benchmarks/widths.py [--mnist]

Rows are sums of 3 to 10 parts, with noise. lrnn's suggestion is that of `lrnn.widths`. For NMF the
same rows and entries are held out, and foretold by the same codes, from parts of scikit-learn's NMF
that was trained on the other rows for each fold and width. "score" is what ``GridSearchCV`` takes
by `LRNNAutoencoder.score`, "score_entries" by that.
"""

import argparse
import warnings

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import lrnn
from common import Stopwatch, load_mnist, report
from lrnn.analysis.widths import WidthPath, WidthPoint
from lrnn.rows import held
from lrnn.training.held_out import Sample, column_groups, entry_errors

SETS = {
    "5 parts": (5, 1_000, 60, 0.05),
    "10 parts": (10, 1_000, 60, 0.05),
    "10 parts, noise": (10, 1_000, 60, 0.3),
    "10 parts, more noise": (10, 1_000, 60, 0.6),
    "5 parts, 100 rows": (5, 100, 60, 0.2),
    "3 parts, 8 attributes": (3, 100, 8, 0.1),
}


def made_of(parts: int, rows: int, attributes: int, noise: float, seed: int) -> np.ndarray:
    random = np.random.RandomState(seed)
    codes = random.gamma(1, 1, (rows, parts)) * (random.rand(rows, parts) > 0.5)
    thin = 0.4 if attributes < 20 else 0.7
    X = codes @ (random.rand(parts, attributes) * (random.rand(parts, attributes) > thin))
    X /= X.max()
    return np.asarray(np.clip(X + noise * 2 * X.std() * random.randn(rows, attributes), 0, 1))


def by_nmf(X: np.ndarray, widths: list[int], folds: int = 5) -> WidthPath:
    random = np.random.RandomState(0)
    sample = Sample.of(held(X), random)
    groups = column_groups(X.shape[1], random)
    errors = []
    with Stopwatch() as watch:
        for fold in range(folds):
            test, others = sample.split(fold)
            models = [NMF(w, init="nndsvda", max_iter=300, random_state=0) for w in widths]
            parts = [model.fit(others).components_ for model in models]
            errors.append(np.stack([entry_errors(test, p, groups) for p in parts], axis=1))
    table = np.concatenate(errors)
    spread = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    points = map(WidthPoint, widths, table.mean(axis=0).tolist(), spread.tolist())
    return WidthPath(X.shape[1], len(table), tuple(points), watch.seconds)


def by_search(X: np.ndarray, widths: list[int], scoring: object) -> int:
    grid = {"hidden_layer_sizes": widths}
    search = GridSearchCV(lrnn.LRNNAutoencoder(max_iter=50, tol=0), grid, scoring=scoring, cv=3)
    return int(search.fit(X).best_params_["hidden_layer_sizes"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", action="store_true", help="the cost on MNIST, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for seed, (name, (parts, count, attributes, noise)) in enumerate(SETS.items()):
        X = made_of(parts, count, attributes, noise, seed)
        most = attributes - 1
        widths = sorted({min(max(parts + by, 1), most) for by in (-4, -2, -1, 0, 1, 2, 6, 14)})
        ours, theirs = lrnn.widths(X, widths), by_nmf(X, widths)
        rows.append(
            {
                "data": name,
                "tried": " ".join(map(str, widths)),
                "lrnn.widths": ours.suggested.width,
                "NMF": theirs.suggested.width,
                "score": by_search(X, widths, None),
                "score_entries": by_search(X, widths, lrnn.score_entries),
                "seconds": f"{ours.seconds:.1f}",
                "NMF seconds": f"{theirs.seconds:.1f}",
            }
        )
    report("widths", "Widths by held-out entries", rows)
    if options.mnist:
        X, widths = load_mnist(dtype=None), [10, 25, 50, 100]
        with Stopwatch() as watch:
            lrnn.LRNNAutoencoder(100).fit(X)
        path = lrnn.widths(X, widths)
        lines = [
            {
                "width": p.width,
                "error": f"{p.error:.4f}",
                "standard error": f"{p.standard_error:.4f}",
            }
            for p in path.points
        ]
        seconds = f"the path {path.seconds:.1f} s, one fit of 100 {watch.seconds:.1f} s"
        report("widths_mnist", f"MNIST: {seconds}", lines)


if __name__ == "__main__":
    main()
