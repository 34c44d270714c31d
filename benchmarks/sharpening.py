"""How far to sharpen the anchors' profiles: the solver's choice against every fixed power.

    LRNN_DATA_DIR=... python benchmarks/sharpening.py [--all]

For each data set the final error of the gram solver from each power alone, and the error from the
power that it chooses by itself after some steps of all. "regret" is how much the chosen power's
error is above the best power's. Text: counts of words in the documentation strings of NumPy, SciPy
and scikit-learn, scaled by their largest. (``--all`` adds CIFAR-10, some minutes.)
"""

import argparse
import os
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import MinMaxScaler

from common import load_cifar10, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load
from lrnn.training import gram

THEOREMS = "theorem_proving/first-order-theorem-proving"


def table(name: str, delimiter: str | None = ",", skip: int = 0) -> np.ndarray:
    """All columns of numbers of a file of the data folder, classes among them."""
    path = Path(os.environ["LRNN_DATA_DIR"]) / name
    cells = np.genfromtxt(path, delimiter=delimiter, skip_header=skip)
    numbers = cells[:, ~np.isnan(cells).any(axis=0)]
    return np.asarray(MinMaxScaler().fit_transform(numbers))


def words() -> Any:
    texts = []
    for package in ("numpy", "scipy", "sklearn"):
        for found in pkgutil.iter_modules(import_module(package).__path__):
            if found.name.startswith("_") or found.name in ("tests", "conftest", "f2py"):
                continue
            module = import_module(f"{package}.{found.name}")
            members = (getattr(module, name, None) for name in dir(module))
            texts += [m.__doc__ for m in members if callable(m) and isinstance(m.__doc__, str)]
    counts = CountVectorizer(min_df=20, stop_words="english").fit_transform(sorted(set(texts)))
    return (counts / counts.max()).astype(np.float64)


DATA: dict[str, tuple[Callable[[], Any], int]] = {
    "MNIST digits": (lambda: load_mnist(dtype=None), 100),
    "MNIST digits, narrow": (lambda: load_mnist(dtype=None), 50),
    "small digits": (lambda: load("digits").data, 16),
    "Yale faces": (lambda: load("yale", scaled=False).data / 255.0, 50),
    "seeds (table)": (lambda: table("seeds/seeds_dataset.txt", None), 4),
    "sonar (table)": (lambda: table("sonar/sonar.all-data"), 30),
    "robot (table)": (lambda: table("wall_following/sensor_readings_24.data"), 12),
    "ionosphere (table)": (lambda: table("ionosphere/ionosphere.data"), 17),
    "theorems (table)": (lambda: table(f"{THEOREMS}.csv", skip=1), 26),
    "word counts": (words, 50),
    "CIFAR-10 images": (load_cifar10, 150),
}  # fmt: skip


def error(X: np.ndarray, hidden: int, powers: tuple[float, ...]) -> float:
    gram.POWERS = powers  # type: ignore[assignment]
    return LRNNAutoencoder(hidden, random_state=0).fit(X).reconstruction_err_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="CIFAR-10, too")
    options = parser.parse_args()
    powers = gram.POWERS
    rows = []
    for name, (read, hidden) in DATA.items():
        if name.startswith("CIFAR") and not options.all:
            continue
        X = read()
        fixed = {p: error(X, hidden, (p,)) for p in powers}
        chosen = error(X, hidden, powers)
        rows.append(
            {
                "data": name,
                "rows × attributes → hidden": f"{X.shape[0]} × {X.shape[1]} → {hidden}",
                **{f"power {p:g}": e for p, e in fixed.items()},
                "chosen": chosen,
                "regret": f"{100 * (chosen / min(fixed.values()) - 1):.1f} %",
            }
        )
    report("sharpening", "Final error by the power that sharpens the anchors' profiles", rows)


if __name__ == "__main__":
    main()
