"""Corruption of NumPy's arrays in machine code (see `lrnn.functional.corruption`)."""

from math import erfc, exp, pi, sqrt, tau
from typing import Any

import numpy as np

from lrnn.functional.compiled import compiled
from lrnn.functional.corruption import FINE, FIRST, GOLDEN, SECOND

KNOWN = 1_024  # values, as many as images have levels and more
NEAR = 9.0  # standard deviations, beyond which there is less than 1e-18


@compiled
def clip_noise(values: Any, deviation: float, means: Any, variances: Any) -> None:
    """Means and variances of cells with noise; values that come again are looked up."""
    known = np.full(KNOWN, -1, dtype=values.dtype)
    where = np.zeros(KNOWN, dtype=np.int64)
    for i in range(values.size):
        place = min(max(int(values[i] * (KNOWN - 1)), 0), KNOWN - 1)
        if known[place] == values[i]:
            means[i], variances[i] = means[where[place]], variances[where[place]]
            continue
        known[place], where[place] = values[i], i
        shift, square = 0.0, 1.0
        for side in range(2):
            z = (1 - values[i] if side else values[i]) / deviation
            if z < NEAR:
                tail, density = 0.5 * erfc(z / sqrt(2.0)) if z else 0.5, exp(-z * z / 2) / sqrt(tau)
                lost = density - z * tail
                shift += -lost if side else lost
                square -= (1 - z * z) * tail + z * density
        means[i] = values[i] + deviation * shift
        variances[i] = deviation**2 * max(square - shift * shift, 0.0)


@compiled
def _bits(key: Any, number: Any) -> Any:
    found = number * np.uint64(GOLDEN) + key
    found = (found ^ (found >> np.uint64(30))) * np.uint64(FIRST)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(SECOND)
    return found ^ (found >> np.uint64(31))


@compiled
def mask(cells: Any, least: Any, key: Any, start: Any, found: Any) -> None:
    """Cells, some of them 0."""
    for i in range(cells.size):
        kept = _bits(key, start + np.uint64(i)) >> np.uint64(64 - FINE) >= least
        found[i] = cells[i] if kept else 0


@compiled
def add_noise(cells: Any, deviation: Any, key: Any, start: Any, found: Any) -> None:
    """Cells with noise, clipped to [0, 1]."""
    number = cells.dtype.type
    for i in range(cells.size):
        bits = _bits(key, start + np.uint64(i))
        one = (number(bits >> np.uint64(32)) + number(0.5)) / number(2.0**32)
        other = number(bits & np.uint64(0xFFFFFFFF)) / number(2.0**32)
        normal = np.sqrt(number(-2) * np.log(one)) * np.cos(number(2 * pi) * other)
        found[i] = min(max(cells[i] + deviation * normal, number(0)), number(1))
