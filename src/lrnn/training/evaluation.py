"""What a network does with all rows, in one pass over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, Floats, Layer, to_numpy
from lrnn.functional import column_sums, propagate, squared_error
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.weights import Weights, activations, through, widest

Sums = tuple[Any, list[Array]]


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


def evaluate(rows: Rows, weights: Weights) -> Evaluation:
    """Evaluate the saturating network."""
    count, attributes = rows.shape
    work = partial(_of_block, weights.layers)
    total, sums = rows.fold(work, _added, widest(weights.layers))
    return Evaluation(float(total) / (count * attributes), [to_numpy(s) / count for s in sums])


def known_error(gaps: Rows, filled: Rows, weights: Weights) -> float:
    """Mean squared error over the cells of ``gaps`` that are not missing (NaN)."""
    total, count, first = 0.0, 0, 0
    for block in filled.blocks():
        outputs = to_numpy(through(weights.layers, block))
        missed = gaps.take(slice(first, first + len(outputs))) - outputs
        known = ~np.isnan(missed)
        total += float(np.sum(missed**2, where=known, dtype=np.float64))
        count += int(np.count_nonzero(known))
        first += len(outputs)
    return total / max(count, 1)


def evaluate_unsaturated(
    fold: Fold, shape: tuple[int, int], encoder: Array, decoder: Array
) -> tuple[Array, Evaluation]:
    """The largest drive of each code neuron, and what the network does when they are divided by it.

    Its code neurons then never saturate. Both take a single pass, which ``fold`` makes.
    """
    rows, columns = shape
    work = partial(_of_block_unsaturated, encoder, decoder)
    total, sums, peak = fold(work, _added_with_peaks, widest((encoder, decoder)))
    xp = array_namespace(peak)
    sums[1] = sums[1] / xp.where(peak > 0, peak, xp.ones_like(peak))
    found = Evaluation(float(total) / (rows * columns), [to_numpy(s) / rows for s in sums])
    return peak, found


def ever_saturated(rows: Rows, weights: Weights) -> list[int]:
    """How many neurons of each layer saturate for at least one row."""
    work = partial(_saturated, weights.layers)
    ever = rows.fold(work, _either, widest(weights.layers))
    return [int(layer.sum()) for layer in ever]


def largest_drives(rows: Rows, matrix: Array) -> Array:
    """The largest entry of each column of ``rows @ matrix``."""
    width = matrix.shape[1] if rows.sparse else max(matrix.shape)
    return rows.fold(partial(_highest, matrix), _larger, width)


def divisor(peak: Array) -> Array:
    """Largest drives to divide weights by; 1 for those so small that it might overflow."""
    xp = array_namespace(peak)
    enough = sqrt(float(xp.finfo(peak.dtype).smallest_normal))
    return xp.where(peak > enough, peak, xp.ones_like(peak))


def _of_block(layers: Sequence[Layer], block: Array) -> Sums:
    passed = activations(layers, block)
    return squared_error(block, passed[-1]), [column_sums(layer) for layer in passed]


def _of_block_unsaturated(
    encoder: Array, decoder: Array, block: Array
) -> tuple[Any, list[Array], Array]:
    drive = block @ encoder
    outputs = propagate(drive, decoder)
    sums = [column_sums(layer) for layer in (block, drive, outputs)]
    return squared_error(block, outputs), sums, array_namespace(drive).max(drive, axis=0)


def _saturated(layers: Sequence[Layer], block: Array) -> list[np.ndarray[Any, Any]]:
    return [to_numpy(_ever(layer)) for layer in activations(layers, block)]


def _ever(layer: Array) -> Array:
    if sparse.issparse(layer):
        return (layer >= 1).sum(axis=0) > 0
    return array_namespace(layer).any(layer >= 1, axis=0)


def _added(a: Sums, b: Sums) -> Sums:
    return a[0] + b[0], [x + y for x, y in zip(a[1], b[1], strict=True)]


def _added_with_peaks(
    a: tuple[Any, list[Array], Array], b: tuple[Any, list[Array], Array]
) -> tuple[Any, list[Array], Array]:
    total, sums = _added((a[0], a[1]), (b[0], b[1]))
    return total, sums, _larger(a[2], b[2])


def _either(a: list[Any], b: list[Any]) -> list[Any]:
    return [x | y for x, y in zip(a, b, strict=True)]


def _highest(matrix: Array, block: Array) -> Array:
    return array_namespace(matrix).max(block @ matrix, axis=0)


def _larger(one: Array, other: Array) -> Array:
    return array_namespace(one).maximum(one, other)
