"""Unmixing: the spectra of materials, from pixels that are mixtures of them
=========================================================================

    python examples/unmixing.py [FIGURE]

A pixel's spectrum is a sum of those of the materials in it, the *endmembers*. If each material has
a pixel of its own somewhere, the data are called separable, and the spectra can be recovered, but
for noise. It is a matter of orientation. Given pixels as rows, an autoencoder finds parts that are
good for reconstruction. Given *bands as rows and pixels as attributes* its codes are weighted sums
of pixels, as in Convex-NMF (Ding, Li & Jordan, 2010): they are the spectra, and pure pixels are
anchors, from which the gram solver may start.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF

from lrnn import LRNNAutoencoder

MATERIALS, BANDS, PIXELS = 6, 180, 800


def spectra(random: np.random.RandomState) -> np.ndarray:
    """A level and a slope, with four bumps or dips, for each material."""
    x = np.linspace(0, 1, BANDS)
    found = []
    for _ in range(MATERIALS):
        one = 0.2 + 0.5 * random.rand() + 0.3 * (random.rand() - 0.5) * x
        for _ in range(4):
            width = 0.03 + 0.1 * random.rand()
            one = one + (0.7 * random.rand() - 0.35) * np.exp(-(((x - random.rand()) / width) ** 2))
        found.append(np.clip(one, 0.02, 1))
    return np.array(found)


def scene(random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Mixed pixels by bands, with noise (50 dB), and the spectra in them."""
    materials = spectra(random)
    shares = random.dirichlet([0.4] * MATERIALS, PIXELS)
    shares[:MATERIALS] = np.eye(MATERIALS)  # pure pixels
    pixels = shares @ materials
    noise = np.sqrt((pixels**2).mean() / 10**5)
    pixels = np.clip(pixels + noise * random.randn(*pixels.shape), 0, None)
    return pixels / pixels.max(), materials


def matched(found: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both with length 1, in the same order."""
    found, known = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (found, known))
    return found[linear_sum_assignment(-known @ found.T)[1]], known


def angle(found: np.ndarray, known: np.ndarray) -> float:
    """Degrees between what was found and what is known, on average."""
    one, other = matched(found, known)
    return float(np.degrees(np.arccos(np.clip((one * other).sum(axis=1), -1, 1))).mean())


def draw(path: str, found: dict[str, np.ndarray], known: np.ndarray) -> None:
    """Spectra that were found, above the true ones in grey."""
    figure = Figure(figsize=(9, 2.8), dpi=120, layout="constrained")
    for ax, (name, parts) in zip(figure.subplots(1, len(found)), found.items(), strict=True):
        mine, true = matched(parts, known)
        ax.plot(true.T, color="0.8", linewidth=3)
        ax.plot(mine.T, linewidth=1)
        ax.set_title(name, fontsize=8)
        ax.set_xlabel("band", fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Unmix a scene in three ways."""
    pixels, materials = scene(np.random.RandomState(0))
    bands = np.ascontiguousarray(pixels.T)
    turned = LRNNAutoencoder(MATERIALS, random_state=0).fit(bands)
    upright = LRNNAutoencoder(MATERIALS, random_state=0, max_iter=500, tol=0).fit(pixels)
    nmf = NMF(MATERIALS, init="nndsvda", max_iter=500, tol=0, random_state=0).fit(pixels)
    found = {
        "lrnn, bands × pixels: codes": turned.transform(bands).T,
        "lrnn, pixels × bands: components": upright.components_,
        "NMF, pixels × bands: components": nmf.components_,
    }
    print(f"{PIXELS} pixels of {BANDS} bands, mixed of {MATERIALS} materials")
    for name, parts in found.items():
        print(f"{name:34s} {angle(parts, materials):5.2f}° from the true spectra")
    draw(sys.argv[1] if len(sys.argv) > 1 else "unmixing.png", found, materials)


if __name__ == "__main__":
    main()
