"""Where the gram solver begins: separable mixtures, and the order of attributes.

    LRNN_DATA_DIR=... python benchmarks/starts.py

*Unmixing*: spectra of 6 materials from 1,500 mixed pixels of 180 bands, some of them pure, as bands
by pixels (see examples/unmixing.py); four scenes at two levels of noise, and one kind without pure
pixels. "profiles alone" is the solver without anchors themselves as a start. The error is that of
training, the angle that to the true spectra. *Order*: the spread of the error over six orders of
the attributes, as a share of it; and the error itself.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from common import Stopwatch, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import DATA_SETS, load
from lrnn.training import gram

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from unmixing import MATERIALS, angle, spectra

SCENES = {"pure pixels, 50 dB": (50, 1.0), "pure pixels, 30 dB": (30, 1.0), "none pure": (30, 0.8)}


def scene(seed: int, decibel: float, most: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    materials = spectra(random)
    shares = random.dirichlet([0.4] * MATERIALS, 1_500)
    while (over := shares.max(axis=1) > most).any():
        shares[over] = random.dirichlet([0.4] * MATERIALS, int(over.sum()))
    if most == 1:
        shares[:MATERIALS] = np.eye(MATERIALS)
    pixels = shares @ materials
    noise = np.sqrt((pixels**2).mean() / 10 ** (decibel / 10))
    pixels = np.clip(pixels + noise * random.randn(*pixels.shape), 0, None)
    return pixels / pixels.max(), materials


def profiles_alone(bands: np.ndarray) -> LRNNAutoencoder:
    lead, gram.LEAD = gram.LEAD, 0.0
    try:
        return LRNNAutoencoder(MATERIALS, tol=0).fit(bands)
    finally:
        gram.LEAD = lead


def unmixing() -> None:
    rows = []
    for name, (decibel, most) in SCENES.items():
        found: dict[str, list[tuple[float, float, float]]] = {}
        for seed in range(4):
            pixels, materials = scene(seed, decibel, most)
            bands = np.ascontiguousarray(pixels.T)
            ways: dict[str, Callable[[np.ndarray], LRNNAutoencoder]] = {
                "profiles alone": profiles_alone,
                "anchors themselves, too": lambda X: LRNNAutoencoder(MATERIALS, tol=0).fit(X),
            }
            for way, train in ways.items():
                with Stopwatch() as watch:
                    model = train(bands)
                parts = model.transform(bands).T
                figures = model.reconstruction_err_, angle(parts, materials), watch.seconds
                found.setdefault(way, []).append(figures)
            with Stopwatch() as watch:
                nmf = NMF(MATERIALS, init="nndsvda", max_iter=200, tol=0, random_state=0)
                left = pixels - nmf.fit_transform(pixels) @ nmf.components_
            figures = float((left**2).mean()), angle(nmf.components_, materials), watch.seconds
            found.setdefault("NMF (pixels × bands)", []).append(figures)
        for way, of_seeds in found.items():
            error, degrees, seconds = np.mean(of_seeds, axis=0)
            rows.append(
                {
                    "scene": name,
                    "start": way,
                    "error": f"{error * 1e5:.2f}e-5",
                    "angle": f"{degrees:.2f}°",
                    "seconds": f"{seconds:.2f}",
                }
            )
    report("starts_unmixing", "Unmixing", rows)


def order() -> None:
    rows = []
    for name in DATA_SETS:
        if name in ("cifar10", "yale"):
            continue
        X = load_mnist()[:2_000] if name == "mnist" else np.nan_to_num(load(name).data)
        hidden = {"mnist": 50, "digits": 16}.get(name, (X.shape[1] + 1) // 2)
        orders = [np.random.RandomState(seed).permutation(X.shape[1]) for seed in range(5)]
        orders.insert(0, np.arange(X.shape[1]))
        errors = [
            LRNNAutoencoder(hidden, tol=1e-3).fit(np.ascontiguousarray(X[:, o])).reconstruction_err_
            for o in orders
        ]
        spread = (max(errors) - min(errors)) / max(errors)
        rows.append({"data": name, "error": f"{errors[0]:.4e}", "spread": f"{spread:.4%}"})
    report("starts_order", "The order of attributes", rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    unmixing()
    order()
