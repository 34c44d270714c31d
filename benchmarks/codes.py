"""Refined codes, and factors W and H, against scikit-learn's NMF, in one run.

    LRNN_DATA_DIR=... python benchmarks/codes.py [--quick]

The first table has squared errors as shares of NMF's (coordinate descent, nndsvda, up to 200
iterations): of the network, of its codes refined by one sweep and three, all through the saturating
decoder, and of factors after 3 and 20 alternations. The second has errors and seconds on 20,000
rows of MNIST with 100 parts.
"""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from common import Stopwatch, load_mnist, report
from lrnn import LRNNAutoencoder, factorize
from lrnn.datasets import load

TABLES = {"wine": 7, "sonar": 30, "wall_following": 12, "parkinsons": 11, "glass": 5,
          "ionosphere": 17}  # fmt: skip


def data() -> dict[str, tuple[np.ndarray, int]]:
    found = {"digits": (load_digits().data / 16, 16)}
    if "--quick" not in sys.argv:
        few = load_mnist(dtype=np.float32)[:8_000]
        found |= {"MNIST, 8,000 rows": (few, 50), "MNIST, 8,000 rows, more": (few, 100)}
        found["Yale"] = (load("yale").data, 50)
    return found | {name: (load(name).data, width) for name, width in TABLES.items()}


def squared(X: np.ndarray, Y: np.ndarray) -> float:
    return float(np.mean((X - Y) ** 2, dtype=np.float64))


def refined() -> None:
    rows = []
    for name, (X, width) in data().items():
        nmf = NMF(width, init="nndsvda", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one = squared(X, nmf.fit_transform(X) @ nmf.components_)
        model = LRNNAutoencoder(width, random_state=0).fit(X)

        def share(sweeps: int, model: Any = model, X: Any = X, one: float = one) -> float:
            return squared(X, model.inverse_transform(model.transform(X, refine=sweeps))) / one

        def factors(alternations: int, X: Any = X, width: int = width, one: float = one) -> float:
            W, H = factorize(X, width, alternations=alternations, random_state=0)
            return squared(X, W @ H) / one

        rows.append(
            {
                "": f"{name.removesuffix(', more')} → {width}",
                "NMF's error": one,
                "network": share(0),
                "refine=1": share(1),
                "refine=3": share(3),
                "3 alternations": factors(3),
                "20 alternations": factors(20),
            }
        )
    report("codes", "Squared errors, as shares of NMF's", rows)


def against_time() -> None:
    X = load_mnist(dtype=np.float32)[: 2_000 if "--quick" in sys.argv else 20_000]
    factorize(X[:200], 5, alternations=1)  # compiles
    rows = []
    with Stopwatch() as watch:
        model = LRNNAutoencoder(100, random_state=0).fit(X)
    rows.append({"": "network", "error": model.reconstruction_err_, "seconds": watch.seconds})
    with Stopwatch() as watch:
        codes = model.transform(X, refine=1)
    error = squared(X, model.inverse_transform(codes))
    rows.append({"": "its codes, refine=1", "error": error, "seconds": watch.seconds})
    for count in (1, 3, 10):
        with Stopwatch() as watch:
            W, H = factorize(X, 100, alternations=count, random_state=0)
        error = squared(X, W @ H)
        rows.append(
            {"": f"factorize, {count} alternations", "error": error, "seconds": watch.seconds}
        )
    for count in (20, 80):
        nmf = NMF(100, init="nndsvda", random_state=0, max_iter=count, tol=0)
        with Stopwatch() as watch:
            W = nmf.fit_transform(X)
        error = squared(X, W @ nmf.components_)
        rows.append({"": f"NMF, {count} iterations", "error": error, "seconds": watch.seconds})
    report("factors", f"{len(X):,} rows of MNIST, 784 → 100", rows)


if __name__ == "__main__":
    refined()
    against_time()
