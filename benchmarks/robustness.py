"""Networks that were trained for corrupted inputs, beside PCA, NMF and the best linear map.

    LRNN_DATA_DIR=... python benchmarks/robustness.py
    LRNN_DATA_DIR=... python benchmarks/robustness.py --case "noise 0.1" --inhibition 40
    python benchmarks/robustness.py --small

All learn from clean training images of MNIST (784 → 50), or from what is known of the corruption,
and give back clean test images from corrupted ones, the same for all; figures are mean squared
errors to the clean images, outputs clipped to [0, 1]. *For it* is `LRNNAutoencoder(50,
corruption=...)`: the gram solver, no samples. PCA projects the corrupted image; NMF (of
scikit-learn, from 20,000 rows) finds its codes by nonnegative least squares. The best linear map of
that rank knows the corruption exactly (reduced-rank regression), has a constant and weights of any
sign: no excitatory network can be better without saturation. *Tuned* and *inhibition* go on with
samples, for so many passes, with one corruption at a time; what was measured before stays in the
table.

--small: ordinary small and sparse data instead, on test rows that were held out.
"""

import argparse
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtr
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF, PCA
from sklearn.model_selection import train_test_split

from common import RESULTS, Stopwatch, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load

CASES = (("mask", 0.5), ("mask", 0.75), ("noise", 0.1))
NMF_ROWS = 20_000


def corrupted(X: np.ndarray, case: tuple[str, float]) -> np.ndarray:
    """A sample, by random numbers that are not lrnn's."""
    kind, level = case
    random = np.random.default_rng(2016)
    if kind == "mask":
        masked = np.where(random.random(X.shape, dtype=np.float32) < level, 0, X)
        return masked.astype(X.dtype, copy=False)
    noise = random.standard_normal(X.shape, dtype=np.float32)
    return np.asarray(np.clip(X + np.float32(level) * noise, 0, 1), dtype=X.dtype)


def error(found: Any, wanted: np.ndarray) -> float:
    return float(np.mean((np.clip(found, 0, 1) - wanted) ** 2, dtype=np.float64))


def clipped_noise(X: np.ndarray, deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of rows with Gaussian noise, clipped to [0, 1]."""

    def lost(distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What clipping takes from the noise, and from its square, at a distance to the bound."""
        z = distance / np.float32(deviation)
        tail, density = ndtr(-z), np.exp(-z * z / 2) / np.float32(np.sqrt(2 * np.pi))
        return density - z * tail, (1 - z * z) * tail + z * density

    (low, low_square), (high, high_square) = lost(X), lost(1 - X)
    shift = low - high
    square = np.maximum(1 - low_square - high_square - shift * shift, 0)
    return X + np.float32(deviation) * shift, np.float32(deviation**2) * square


def best_linear(X: np.ndarray, case: tuple[str, float], rank: int) -> Any:
    """The affine map of this rank with the lowest expected error: reduced-rank regression."""
    kind, level = case
    if kind == "mask":
        means, variances = (1 - level) * X, level * (1 - level) * X * X
    else:
        means, variances = clipped_noise(X, level)
    before, after = means.mean(axis=0), X.mean(axis=0)
    centred = (means - before).astype(np.float64)
    S = centred.T @ centred / len(X) + np.diag(variances.mean(axis=0, dtype=np.float64))
    C = centred.T @ (X - after) / len(X)
    S[np.diag_indices_from(S)] += 1e-9
    full = np.linalg.solve(S, C)
    directions = np.linalg.eigh(full.T @ S @ full)[1][:, -rank:]
    low = full @ directions @ directions.T
    return lambda inputs: (inputs - before) @ low + after


def full_size(rows: int) -> Iterator[dict[str, Any]]:
    """All that takes seconds."""
    X, test = load_mnist("train", np.float32)[:rows], load_mnist("test", np.float32)
    pca = PCA(50, svd_solver="covariance_eigh").fit(X)
    nmf = NMF(50, init="nndsvda", max_iter=100, tol=1e-3).fit(X[:NMF_ROWS])
    plain = LRNNAutoencoder(50, random_state=0)
    with Stopwatch() as plainly:
        plain.fit(X)
    for case in CASES:
        seen = corrupted(test, case)
        model = LRNNAutoencoder(50, corruption=case, random_state=0)
        with Stopwatch() as watch:
            model.fit(X)
        yield {
            "corruption": named(case),
            "rows": len(X),
            "lrnn": error(plain.reconstruct(seen), test),
            "for it": error(model.reconstruct(seen), test),
            "PCA": error(pca.inverse_transform(pca.transform(seen)), test),
            "NMF": error(nmf.inverse_transform(nmf.transform(seen)), test),
            "best linear": error(best_linear(X, case, 50)(seen), test),
            "clean, for it": -model.score(test),
            "s, lrnn": plainly.seconds,
            "s, for it": watch.seconds,
        }


def with_samples(rows: int, case: tuple[str, float], tuned: int, inhibition: int) -> dict[str, Any]:
    """What takes minutes: training end to end, for so many passes."""
    X, test = load_mnist("train", np.float32)[:rows], load_mnist("test", np.float32)
    found: dict[str, Any] = {"corruption": named(case)}
    for name, passes in (("tuned", tuned), ("inhibition", inhibition)):
        if not passes:
            continue
        model = LRNNAutoencoder(
            50, corruption=case, inhibition=name == "inhibition", fine_tune=passes, random_state=0
        )
        with Stopwatch() as watch:
            model.fit(X)
        found |= {
            name: error(model.reconstruct(corrupted(test, case)), test),
            f"passes, {name}": passes,
            f"clean, {name}": -model.score(test),
            f"s, {name}": watch.seconds,
        }
    return found


def named(case: tuple[str, float]) -> str:
    return f"{case[0]} {case[1]:g}"


def texts(rows: int = 3_000, words: int = 2_000, topics: int = 10) -> sparse.csr_array:
    """Sparse rows like those of texts: some words of a few topics each, rows of length 1."""
    random = np.random.default_rng(0)
    topic = random.dirichlet(np.full(words, 0.02), size=topics)
    shares = random.dirichlet(np.full(topics, 0.2), size=rows)
    counts = np.array([random.multinomial(60, share @ topic) for share in shares])
    weights = np.log1p(counts)
    return sparse.csr_array(weights / np.linalg.norm(weights, axis=1, keepdims=True))


def small() -> None:
    tables = {
        "digits 64→16": (load_digits().data / 16, 16),
        "wine 13→7": (load("wine").data, 7),
        "wall-following 24→12": (load("wall_following").data, 12),
        "sparse, text-like 2000→10": (texts(), 10),
        "20 rows of digits 64→16": (load_digits().data[:40] / 16, 16),
    }
    found = []
    for name, (X, width) in tables.items():
        train, test = train_test_split(
            X, random_state=0, test_size=0.5 if X.shape[0] < 50 else 0.25
        )
        full = test.toarray() if sparse.issparse(test) else test
        for case in (("mask", 0.5), ("noise", 0.1)):
            seen = corrupted(full, case)
            errors = [
                error(
                    LRNNAutoencoder(width, corruption=c, random_state=0)
                    .fit(train)
                    .reconstruct(seen),
                    full,
                )
                for c in (None, case)
            ]
            dense = train.toarray() if sparse.issparse(train) else train
            pca = PCA(min(width, len(dense) - 1)).fit(dense)
            nmf = NMF(width, init="nndsvda", max_iter=500).fit(train)
            found.append(
                {
                    "data": name,
                    "corruption": f"{case[0]} {case[1]:g}",
                    "lrnn": errors[0],
                    "for it": errors[1],
                    "PCA": error(pca.inverse_transform(pca.transform(seen)), full),
                    "NMF": error(nmf.inverse_transform(nmf.transform(seen)), full),
                    "best linear": error(best_linear(dense, case, width)(seen), full),
                }
            )
    report("robustness_small", "Test rows from corrupted ones", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--case", choices=[named(case) for case in CASES])
    parser.add_argument("--tuned", type=int, default=0, help="passes of training end to end")
    parser.add_argument("--inhibition", type=int, default=0, help="passes with inhibition")
    given = parser.parse_args()
    if given.small:
        return small()
    path = RESULTS / "robustness.json"
    before = json.loads(path.read_text())["results"] if path.exists() else []
    found = {row["corruption"]: row for row in before}
    if given.case is None:
        new = list(full_size(given.rows))
    else:
        case = next(case for case in CASES if named(case) == given.case)
        new = [with_samples(given.rows, case, given.tuned, given.inhibition)]
    for row in new:
        found[row["corruption"]] = found.get(row["corruption"], {}) | row
    report(
        "robustness", "MNIST 784→50: clean test images from corrupted ones", list(found.values())
    )
    return None


if __name__ == "__main__":
    main()
