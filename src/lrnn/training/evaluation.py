"""What a network does with all rows, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

from array_api_compat import array_namespace

from lrnn.functional import propagate, squared_error
from lrnn.moments import map_rows
from lrnn.training.result import Weights
from lrnn.typing import Array


@dataclass(frozen=True)
class Evaluation:
    """What one pass over the data tells of a network.

    Attributes
    ----------
    error : float
        Mean squared error per attribute.
    mean_activations : list of ndarray
        Of every neuron, layer by layer.
    """

    error: float
    mean_activations: list[Array]


def evaluate(inputs: Array, weights: Weights) -> Evaluation:
    """Evaluate the saturating network on ``inputs`` in [0, 1] (may be sparse)."""
    rows, columns = inputs.shape

    def of(part: slice) -> tuple[float, list[Array]]:
        block = inputs[part]
        layers = list(accumulate(weights.layers, propagate, initial=block))
        return squared_error(block, layers[-1]), [layer.sum(axis=0) for layer in layers]

    parts = map_rows(of, inputs, widest(weights.layers))
    total, sums = reduce(_added, parts)
    return Evaluation(total / (rows * columns), [s / rows for s in sums])


def transmit(inputs: Array, layers: Sequence[Array]) -> Array:
    """Activations behind ``layers`` for ``inputs`` in [0, 1] (may be sparse).

    No other large array arises on the way.
    """
    last = layers[-1]
    found = array_namespace(last).empty((inputs.shape[0], last.shape[1]), dtype=last.dtype)

    def through(part: slice) -> None:
        found[part, :] = reduce(propagate, layers, inputs[part])

    for _ in map_rows(through, inputs, widest(layers)):
        pass
    return found


def ever_saturated(inputs: Array, weights: Weights) -> list[int]:
    """How many neurons of each layer saturate for at least one row."""

    def of(part: slice) -> list[Array]:
        layers = accumulate(weights.layers, propagate, initial=inputs[part])
        return [(layer >= 1).sum(axis=0) > 0 for layer in layers]

    parts = map_rows(of, inputs, widest(weights.layers))
    ever = reduce(lambda a, b: [x | y for x, y in zip(a, b, strict=True)], parts)
    return [int(layer.sum()) for layer in ever]


def widest(layers: Sequence[Array]) -> int:
    """The most neurons of any layer."""
    return max(int(max(weight.shape)) for weight in layers)


def _added(a: tuple[float, list[Array]], b: tuple[float, list[Array]]) -> tuple[float, list[Array]]:
    return a[0] + b[0], [x + y for x, y in zip(a[1], b[1], strict=True)]
