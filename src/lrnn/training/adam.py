"""Adam on a logarithmic scale: every weight goes its own pace, and stays positive."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

from array_api_compat import array_namespace, is_numpy_array

from lrnn.arrays import Array, Rates, backend_of
from lrnn.functional import free_gradient, reroute, reweight, route_gradient
from lrnn.training.observer import State

MEAN, SQUARE = 0.9, 0.999  # how much of their past the running means keep
CELLS_IN_CACHE = 1 << 15
TINY = 1e-30  # keeps running means off subnormal numbers, on which processors are slow

Step = tuple[Callable[[Array, Array], Array], Callable[[Array, Array], Array]]
STEPS: dict[Rates, Step] = {
    "free": (free_gradient, reweight),
    "unit": (route_gradient, reroute),
}


class LogAdam:
    """Steps of relative size on ``weights``, which are changed in place.

    Under unit rates each row of weights sums to at most 1 after every step.
    """

    def __init__(self, weights: Sequence[Array], rates: Rates) -> None:
        self.weights = weights
        self._gradient, self._move = STEPS[rates]
        self._means = [0 * w for w in weights]
        self._squares = [0 * w for w in weights]
        self._steps = 0

    def state(self) -> State:
        """All that the next step depends on."""
        return {
            "weights": list(self.weights),
            "means": self._means,
            "squares": self._squares,
            "steps": self._steps,
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        own = [*self.weights, *self._means, *self._squares]
        kept = [*state["weights"], *state["means"], *state["squares"]]
        for matrix, value in zip(own, kept, strict=True):
            matrix[...] = backend_of(matrix).send(value)
        self._steps = state["steps"]

    def scale(self, size: float) -> float:
        """What the next `step` is told, such that no logarithm changes by much more than this."""
        self._steps += 1
        return size / (1 - MEAN**self._steps) * sqrt(1 - SQUARE**self._steps)

    def step(self, gradients: Sequence[Array], scale: Any) -> None:
        """Move against the gradients."""
        for matrices in zip(self.weights, gradients, self._means, self._squares, strict=True):
            rows, columns = matrices[0].shape
            height = max(1, CELLS_IN_CACHE // columns) if is_numpy_array(matrices[0]) else rows
            for first in range(0, rows, height):
                weight, gradient, mean, square = (m[first : first + height, :] for m in matrices)
                self._step(weight, gradient, mean, square, scale)

    def _step(self, weight: Array, gradient: Array, mean: Array, square: Array, scale: Any) -> None:
        xp = array_namespace(weight)
        gradient = self._gradient(weight, gradient)
        mean *= MEAN
        mean += (1 - MEAN) * gradient + TINY
        square *= SQUARE
        square += (1 - SQUARE) * gradient * gradient + TINY
        weight[...] = self._move(weight, -scale * mean / xp.sqrt(square))
