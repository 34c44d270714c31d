"""Numbers kept within limits, by the cheapest function that a library has for it."""

from array_api_compat import array_namespace, is_cupy_array, is_numpy_array

from lrnn.typing import Array

LARGEST = 4e9
"""Of a weight that is learnt: four of them multiplied are still a number of 32 bits."""


def at_least(array: Array, low: float) -> Array:
    """``max(array, low)``, element by element."""
    xp = array_namespace(array)
    if is_numpy_array(array) or is_cupy_array(array):
        return xp.maximum(array, low)
    return xp.clip(array, min=low)


def at_most(array: Array, high: float) -> Array:
    """``min(array, high)``, element by element."""
    xp = array_namespace(array)
    if is_numpy_array(array) or is_cupy_array(array):
        return xp.minimum(array, high)
    return xp.clip(array, max=high)
