"""What a network does with all rows, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, Floats, Layer, backend_of, take_rows, to_numpy
from lrnn.functional import propagate, squared_error
from lrnn.moments.reading import Reading
from lrnn.rows import fold_rows, map_rows
from lrnn.rows.passes import on_device
from lrnn.training.result import Weights


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
    mean_activations: list[Floats]


def evaluate(inputs: Any, weights: Weights) -> Evaluation:
    """Evaluate the saturating network on ``inputs`` in [0, 1] (may be sparse)."""
    rows, columns = inputs.shape
    work = partial(_of_block, weights.layers)
    total, sums = fold_rows(work, _added, inputs, widest(weights.layers))
    return Evaluation(float(total) / (rows * columns), [to_numpy(s) / rows for s in sums])


def evaluate_unsaturated(
    inputs: Any, encoder: Array, decoder: Array, reading: Reading
) -> tuple[Array, Evaluation]:
    """The largest drive of each code neuron, and what the network does when they are divided by it.

    Its code neurons then never saturate. Both take a single pass, which ``reading`` watches.
    """
    rows, columns = inputs.shape
    work = partial(_of_block_unsaturated, encoder, decoder)
    width = widest((encoder, decoder))
    total, sums, peak = reading.fold(work, _added_with_peaks, inputs, width)
    xp = array_namespace(peak)
    sums[1] = sums[1] / xp.where(peak > 0, peak, xp.ones_like(peak))
    found = Evaluation(float(total) / (rows * columns), [to_numpy(s) / rows for s in sums])
    return peak, found


def transmit(inputs: Any, layers: Sequence[Layer]) -> Array:
    """Activations behind ``layers`` for ``inputs`` in [0, 1] (may be sparse).

    No other large array arises on the way. Rows that are not in memory have their own way.
    """
    last = excitatory(layers[-1])
    if hasattr(inputs, "transmit"):
        return inputs.transmit(partial(_through, tuple(layers)), last.shape[1], last.dtype)
    backend = backend_of(inputs)
    shape = (inputs.shape[0], last.shape[1])
    found = backend.xp.empty(shape, dtype=last.dtype, device=backend.device)

    def through(part: slice) -> None:
        found[part, ...] = _through(layers, take_rows(inputs, part))

    if backend.is_numpy:
        for _ in map_rows(through, inputs, widest(layers)):
            pass
        return found
    first = 0
    for rows, block in on_device(partial(_through, layers), inputs, widest(layers), None, 0):
        found[first : first + rows, ...] = block
        first += rows
    return found


def ever_saturated(inputs: Any, weights: Weights) -> list[int]:
    """How many neurons of each layer saturate for at least one row."""
    work = partial(_saturated, weights.layers)
    ever = fold_rows(work, _either, inputs, widest(weights.layers))
    return [int(layer.sum()) for layer in ever]


def widest(layers: Sequence[Layer]) -> int:
    """The most neurons of any layer."""
    return max(int(max(excitatory(layer).shape)) for layer in layers)


def excitatory(layer: Layer) -> Array:
    """The excitatory matrix of a layer, which may be all there is."""
    return layer[0] if isinstance(layer, tuple) else layer


def _through(layers: Sequence[Array], block: Array) -> Array:
    return reduce(propagate, layers, block)


def _column_sums(layer: Array) -> Array:
    if sparse.issparse(layer):
        return layer.sum(axis=0)
    return array_namespace(layer).sum(layer, axis=0)


def _of_block(layers: Sequence[Array], block: Array) -> tuple[Any, list[Array]]:
    activations = list(accumulate(layers, propagate, initial=block))
    return squared_error(block, activations[-1]), [_column_sums(a) for a in activations]


def _of_block_unsaturated(
    encoder: Array, decoder: Array, block: Array
) -> tuple[Any, list[Array], Array]:
    drive = block @ encoder
    outputs = propagate(drive, decoder)
    sums = [_column_sums(layer) for layer in (block, drive, outputs)]
    return squared_error(block, outputs), sums, array_namespace(drive).max(drive, axis=0)


def _saturated(layers: Sequence[Array], block: Array) -> list[np.ndarray[Any, Any]]:
    activations = accumulate(layers, propagate, initial=block)
    return [to_numpy(_ever(a)) for a in activations]


def _ever(layer: Array) -> Array:
    if sparse.issparse(layer):
        return (layer >= 1).sum(axis=0) > 0
    return array_namespace(layer).any(layer >= 1, axis=0)


def _added(a: tuple[Any, list[Array]], b: tuple[Any, list[Array]]) -> tuple[Any, list[Array]]:
    return a[0] + b[0], [x + y for x, y in zip(a[1], b[1], strict=True)]


def _added_with_peaks(
    a: tuple[Any, list[Array], Array], b: tuple[Any, list[Array], Array]
) -> tuple[Any, list[Array], Array]:
    total, sums = _added((a[0], a[1]), (b[0], b[1]))
    return total, sums, array_namespace(a[2]).maximum(a[2], b[2])


def _either(a: list[Any], b: list[Any]) -> list[Any]:
    return [x | y for x, y in zip(a, b, strict=True)]
