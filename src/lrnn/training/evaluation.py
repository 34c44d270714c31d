"""What a network does with all rows, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

from array_api_compat import array_namespace

from lrnn.functional import propagate, squared_error
from lrnn.moments import row_blocks
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
    total = 0.0
    sums: list[Array] = [0.0] * (len(weights.layers) + 1)
    for block in row_blocks(inputs, max(w.shape[0] for w in weights.layers)):
        layers = list(accumulate(weights.layers, propagate, initial=block))
        total += squared_error(block, layers[-1])
        sums = [s + layer.sum(axis=0) for s, layer in zip(sums, layers, strict=True)]
    return Evaluation(total / (rows * columns), [s / rows for s in sums])


def transmit(inputs: Array, layers: Sequence[Array]) -> Array:
    """Activations behind ``layers`` for ``inputs`` in [0, 1] (may be sparse).

    No other large array arises on the way.
    """
    blocks = row_blocks(inputs, max(w.shape[1] for w in layers))
    parts = [reduce(propagate, layers, block) for block in blocks]
    return parts[0] if len(parts) == 1 else array_namespace(parts[0]).concat(parts)


def ever_saturated(inputs: Array, weights: Weights) -> list[int]:
    """How many neurons of each layer saturate for at least one row."""
    ever: list[Array] = [False] * (len(weights.layers) + 1)
    for block in row_blocks(inputs, max(w.shape[0] for w in weights.layers)):
        layers = accumulate(weights.layers, propagate, initial=block)
        ever = [e | ((q >= 1).sum(axis=0) > 0) for e, q in zip(ever, layers, strict=True)]
    return [int(e.sum()) for e in ever]
