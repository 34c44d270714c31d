"""Images with noise, and with pixels that are missing."""

from collections.abc import Iterator

import numpy as np

from lrnn.arrays import Floats

NOISE = (0.1, 0.2, 0.4)  # standard deviations
MISSING = (0.1, 0.3, 0.5)  # shares of the pixels
SEED = 20161


def damaged(clean: Floats) -> Iterator[tuple[str, Floats]]:
    """All kinds of damage, by name: the same at every call.

    >>> [name for name, _ in damaged(np.ones((1, 2)))][::5]
    ['noise 0.1', 'missing 50 %']
    """
    for deviation in NOISE:
        yield f"noise {deviation:g}", noisy(clean, deviation, _random())
    for share in MISSING:
        yield f"missing {100 * share:g} %", holed(clean, share, _random())


def noisy(clean: Floats, deviation: float, random: np.random.Generator) -> Floats:
    """With Gaussian noise, clipped to [0, 1]."""
    noise = random.standard_normal(clean.shape, dtype=np.float32)
    return np.clip(clean + np.float32(deviation) * noise, 0, 1)


def holed(clean: Floats, share: float, random: np.random.Generator) -> Floats:
    """With a share of the pixels set to 0."""
    return np.where(random.random(clean.shape, dtype=np.float32) < share, 0, clean)


def _random() -> np.random.Generator:
    return np.random.default_rng(SEED)
