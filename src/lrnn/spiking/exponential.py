"""Exponential random numbers for compiled code, by the ziggurat of Marsaglia and Tsang (2000).

The area below exp(−x) is covered by 256 layers of equal area. One 64-bit number chooses a layer and
a place in it; in 99 of 100 cases that place is below the curve for certain, and the number is done.
"""

from typing import Any

import numpy as np
from numba import njit

from lrnn.spiking import draws

EDGE = 7.69711747013104972  # where the lowest layer ends and the tail begins
AREA = 0.0039496598225815571993  # of each layer
PLACES = 1 << 53

step = njit(draws.step)


def _layers() -> tuple[Any, Any, Any]:
    """For each layer: places that are below the curve, the width of one, heights of the curve."""
    inside = np.zeros(256, dtype=np.uint64)
    width, height = np.zeros(256), np.ones(256)
    edge = EDGE
    base = AREA / np.exp(-edge)
    inside[0] = int(edge / base * PLACES)
    width[0], width[255], height[255] = base / PLACES, edge / PLACES, np.exp(-edge)
    for i in range(254, 0, -1):
        before, edge = edge, -np.log(AREA / edge + np.exp(-edge))
        inside[i + 1] = int(edge / before * PLACES)
        width[i], height[i] = edge / PLACES, np.exp(-edge)
    return inside, width, height


INSIDE, WIDTH, HEIGHT = _layers()


def drawn_by(step: Any, log: Any, exp: Any) -> Any:
    """What draws a number from tables of layers, with these functions: for CPU and GPU."""

    def exponential(s0: Any, s1: Any, inside: Any, width: Any, height: Any) -> Any:
        """The generator's next state, and an exponential number with mean 1."""
        while True:
            s0, s1, drawn = step(s0, s1)
            layer = np.int32(drawn & np.uint64(255))
            place = drawn >> np.uint64(11)
            x = np.float64(place) * width[layer]
            if place < inside[layer]:
                return s0, s1, x
            s0, s1, drawn = step(s0, s1)
            uniform = (np.float64(drawn >> np.uint64(11)) + 0.5) / PLACES
            if layer == 0:
                return s0, s1, EDGE - log(uniform)
            if height[layer] + uniform * (height[layer - 1] - height[layer]) < exp(-x):
                return s0, s1, x

    return exponential


_exponential = njit(drawn_by(step, np.log, np.exp))


@njit
def exponential(s0: Any, s1: Any) -> Any:
    """The generator's next state, and an exponential number with mean 1."""
    return _exponential(s0, s1, INSIDE, WIDTH, HEIGHT)
