"""What a steady state says of the neurons' potentials."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Probabilities = NDArray[np.float64]


class SteadyState(np.ndarray[Any, np.dtype[np.float64]]):
    """Excitation probabilities: an array that also knows the law of the potentials.

    A slice of it is a steady state again; arithmetic on it gives plain arrays.

    Examples
    --------
    >>> q = np.array([0.5, 1.0]).view(SteadyState)
    >>> q.saturated
    array([False,  True])
    >>> q.mean_potential
    array([ 1., inf])
    >>> q.probability(2)
    array([0.125, 0.   ])
    """

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Which neurons are excited all the time: their potential grows without bound."""
        return np.asarray(self) >= 1

    @property
    def mean_potential(self) -> Probabilities:
        """Mean potential q/(1−q); infinite where saturated."""
        q = np.asarray(self)
        with np.errstate(divide="ignore"):
            return np.asarray(q / (1 - q))

    def probability(self, potential: int) -> Probabilities:
        """Probability (1−q)·qᵏ that the potential is k; 0 where saturated."""
        if potential < 0 or potential != int(potential):
            raise ValueError(f"a potential is a whole number, 0 or more; got {potential!r}")
        q = np.asarray(self)
        return np.asarray((1 - q) * q**potential)
