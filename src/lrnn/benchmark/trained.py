"""What a contender has trained, and how its error is taken: the same way for all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
"""Rows of data, codes of rows, or what they are decoded to."""


@dataclass(frozen=True)
class Trained:
    """A model, and what its training took.

    Attributes
    ----------
    seconds : float
        Of the whole training, with data in memory and nothing else counted.
    iterations : int
        Steps or passes over the data that it made.
    encode, decode : callable
        From rows to codes, and from codes to rows.
    codes : ndarray, optional
        Those of the training data, where training itself gives them.
    curve : tuple of (seconds, error), default=()
        The error on the way, where training tells it.
    """

    seconds: float
    iterations: int
    encode: Callable[[Matrix], Matrix]
    decode: Callable[[Matrix], Matrix]
    codes: Matrix | None = None
    curve: tuple[tuple[float, float], ...] = ()

    def error(self, X: Matrix) -> float:
        """Mean squared error per attribute on the rows that it was trained on."""
        codes = self.encode(X) if self.codes is None else self.codes
        return mean_squared_error(X, self.decode(codes))

    def facts(self, X: Matrix) -> dict[str, Any]:
        """What a table says of the training on X, and the curve, if there is one."""
        found = {
            "iterations": self.iterations,
            "seconds": self.seconds,
            "error": self.error(X),
        }
        end = [self.seconds, found["error"]]
        return {**found, "curve": [*map(list, self.curve), end]} if self.curve else found


def mean_squared_error(X: NDArray[Any], reconstruction: NDArray[Any]) -> float:
    """Mean squared error per attribute.

    >>> mean_squared_error(np.array([[0.0, 1.0]]), np.array([[0.5, 1.0]]))
    0.125
    """
    return float(((X - reconstruction) ** 2).mean(dtype=np.float64))
