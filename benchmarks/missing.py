"""Missing cells: what lrnn fills in, against other ways, in one run.

    LRNN_DATA_DIR=... python benchmarks/missing.py [--quick] [--codes] [--ratings]

30 % of the cells are taken out at random (of MNIST, pixels that are always 0 are left out). Figures
are mean squared errors of these cells, on data in [0, 1], and seconds. Masked NMF (multiplicative
steps on known cells, 200 of them) has as many parts as lrnn's filling, half of the attributes and
at most 100, or a quarter of that. KNNImputer and IterativeImputer are scikit-learn's as they come,
the latter for up to 64 attributes. With --codes only the first table is made: what it is worth that
codes are probable, and do not only fit. With --ratings only another: cells that a sparse matrix
does not store, which are missing, or 0.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from common import Stopwatch, console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load
from lrnn.functional import refined_codes

TABLES = ("wall_following", "wine", "sonar", "parkinsons", "glass")
SHARE = 0.3


def data() -> dict[str, np.ndarray]:
    found = {"digits": load_digits().data / 16}
    if "--quick" not in sys.argv:
        few = load_mnist(dtype=np.float32)[:5_000]
        found["MNIST, 5,000 rows"] = few[:, few.max(axis=0) > 0]
        found["Yale"] = load("yale").data
    return found | {name: load(name).data for name in TABLES}


def lrnn_fills(gaps: np.ndarray) -> np.ndarray:
    return np.asarray(LRNNAutoencoder(missing="allow", random_state=0).fit(gaps).impute(gaps))


def masked_nmf(gaps: np.ndarray, parts: int, steps: int = 200) -> np.ndarray:
    """Multiplicative steps on ‖M∘(X − WH)‖²."""
    known = (~np.isnan(gaps)).astype(gaps.dtype)
    X, rng = np.nan_to_num(gaps), np.random.default_rng(0)
    W, H = (rng.random(shape).astype(X.dtype) * 0.3 for shape in
            ((len(X), parts), (parts, X.shape[1])))  # fmt: skip
    tiny = np.finfo(X.dtype).tiny * 1e10
    for _ in range(steps):
        W *= (X @ H.T) / np.maximum((known * (W @ H)) @ H.T, tiny)
        H *= (W.T @ X) / np.maximum(W.T @ (known * (W @ H)), tiny)
    return np.where(np.isnan(gaps), np.clip(W @ H, 0, 1), gaps)


def ways(X: np.ndarray) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    parts = min((X.shape[1] + 1) // 2, 100)  # as many as the default of lrnn
    found = {
        "lrnn": lrnn_fills,
        "masked NMF": lambda gaps: masked_nmf(gaps, parts),
        "masked NMF, fewer parts": lambda gaps: masked_nmf(gaps, max(1, parts // 4)),
        "KNNImputer": KNNImputer().fit_transform,
        "column means": SimpleImputer().fit_transform,
    }
    if X.shape[1] <= 64:
        found["IterativeImputer"] = IterativeImputer(random_state=0).fit_transform
    return found


def of_codes_that_only_fit() -> None:
    """What it is worth that codes are probable: the same parts with codes of known cells alone."""
    rows = []
    for name, X in data().items():
        if X.shape[1] > 64:
            continue
        gone = np.random.RandomState(0).rand(*X.shape) < SHARE
        gaps = np.where(gone, np.nan, X)
        model = LRNNAutoencoder(missing="allow", random_state=0).fit(gaps)
        decoder = model.filling_.decoder
        fitting = refined_codes(gaps, decoder, sweeps=100, upper=None, known=~gone) @ decoder
        rows.append(
            {
                "": f"{name}, {len(decoder)} parts",
                "only fitting": float(np.mean((np.clip(fitting, 0, 1) - X)[gone] ** 2)),
                "probable": float(np.mean((model.impute(gaps) - X)[gone] ** 2)),
            }
        )
    report("missing_codes", "Mean squared error of missing cells, by codes", rows)


def of_ratings() -> None:
    """Those of docs/missing.md: half of them are given, with noise."""
    rng = np.random.default_rng(0)
    truth = 1 + 4 * rng.random((200, 3)) @ rng.random((3, 20)) / 3
    who, what = np.nonzero(rng.random(truth.shape) < 0.5)
    said = truth[who, what] + 0.2 * rng.standard_normal(len(who))
    ratings = sparse.csr_array((said, (who, what)), shape=truth.shape)
    gaps = np.full(truth.shape, np.nan)
    gaps[who, what] = said
    settings: dict[str, Any] = {"scale": "max", "random_state": 0, "tol": 0.01}
    model = LRNNAutoencoder(6, missing="unstored", **settings).fit(ratings)
    found = {
        "lrnn": model.impute(ratings),
        "masked NMF of rank 3": masked_nmf(gaps / said.max(), 3) * said.max(),
        "column means": SimpleImputer().fit_transform(gaps),
        "lrnn, what is not stored is 0": LRNNAutoencoder(6, **settings)
        .fit(ratings)
        .reconstruct(ratings),
    }
    gone = np.isnan(gaps)
    errors = {way: float(np.mean((filled - truth)[gone] ** 2)) for way, filled in found.items()}
    report("missing_ratings", "Mean squared error of ratings that were not given", [errors])


def main() -> None:
    if "--ratings" in sys.argv:
        of_ratings()
        return
    of_codes_that_only_fit()
    if "--codes" in sys.argv:
        return
    warm = np.random.default_rng(0).random((30, 4))
    warm[3, 1] = np.nan
    lrnn_fills(warm)  # compiles
    errors, seconds = [], []
    for name, X in data().items():
        console.print(name)
        gone = np.random.RandomState(0).rand(*X.shape) < SHARE
        gaps = np.where(gone, X.dtype.type(np.nan), X)
        row: dict[str, Any] = {"": name}
        took: dict[str, Any] = {"": name}
        for way, fill in ways(X).items():
            with warnings.catch_warnings(), Stopwatch() as watch:
                warnings.simplefilter("ignore")
                filled = fill(gaps)
            row[way] = float(np.mean((np.clip(filled, 0, 1) - X)[gone] ** 2, dtype=np.float64))
            took[way] = watch.seconds
        errors.append(row)
        seconds.append(took)
    names = list(ways(np.zeros((1, 2))))
    for rows in (errors, seconds):
        rows[:] = [{key: row.get(key, "–") for key in ("", *names)} for row in rows]
    report("missing", "Mean squared error of missing cells, 30 % of all", errors)
    report("missing_seconds", "Seconds for that", seconds)


if __name__ == "__main__":
    main()
