"""Types that are used throughout."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""An array of any namespace of the array API; a SciPy sparse array where a docstring says so."""

Layer: TypeAlias = Any
"""Weights between two layers: a matrix, or a pair of an excitatory and an inhibitory one."""

Vector: TypeAlias = NDArray[np.float64]
"""A NumPy array of float64."""

Rates: TypeAlias = Literal["free", "unit"]
"""Whether firing rates follow from the weights, or are 1 and bind the weights' row sums."""
