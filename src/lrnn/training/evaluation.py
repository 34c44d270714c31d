"""What a network does with all rows, in one pass over them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, Floats, Layer, host_dtype, to_numpy
from lrnn.functional import column_sums, propagate, squared_error, weighed
from lrnn.moments import Corruption
from lrnn.network.weights import Weights, activations, through, widest
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.rows.memory import CELLS_AT_ONCE

Totals = tuple[Any, list[Array]]

CANCELLED = 64  # roots of the rounding error: share of the data below which an error is cancelled
ROWS_AT_ONCE = 1_024  # of sparse blocks
ROUNDING = 1e-4  # by which a bound of outputs may be wrong


@dataclass(frozen=True)
class Evaluation:
    """What one pass over the data tells of a network.

    Attributes
    ----------
    error : float
        Mean squared error per attribute.
    mean_activations : list of ndarray
        Of every neuron, layer by layer.
    corrupted_error : float or None
        The error of giving back the rows from corrupted ones, if that was asked for besides.
    """

    error: float
    mean_activations: list[Floats]
    corrupted_error: float | None = None

    @property
    def aim(self) -> float:
        """What training makes small."""
        return self.error if self.corrupted_error is None else self.corrupted_error


def evaluate(rows: Rows, weights: Weights, corruption: Corruption | None = None) -> Evaluation:
    """Evaluate the saturating network.

    With a ``corruption`` it is given a sample of corrupted rows, the same one each time; the error
    is that to the rows themselves.
    """
    count, attributes = rows.weight, rows.shape[1]
    work, widths = partial(_of_block, weights.layers, corruption), widest(weights.layers)
    total, sums = rows.fold(work, _added, widths, numbered=corruption is not None)
    return Evaluation(float(total) / (count * attributes), [to_numpy(s) / count for s in sums])


def known_error(
    gaps: Rows,
    filled: Rows,
    weights: Weights,
    of_rows: Floats | None = None,
    corruption: Corruption | None = None,
) -> float:
    """Mean squared error over the cells of ``gaps`` that are not missing; NaN if there is none.

    Rows may have weights, and be corrupted.
    """
    total, count, first = 0.0, 0.0, 0
    for block in filled.blocks():
        seen = block if corruption is None else corruption.of_rows(block, first)
        outputs = to_numpy(through(weights.layers, seen))
        missed = gaps.take(slice(first, first + len(outputs))) - outputs
        known = ~np.isnan(missed)
        squares = np.sum(missed**2, axis=1, where=known, dtype=np.float64)
        each = np.ones(len(known)) if of_rows is None else of_rows[first : first + len(known)]
        total += float(each @ squares)
        count += float(each @ np.count_nonzero(known, axis=1))
        first += len(outputs)
    return total / count if count else np.nan


def row_errors(rows: Rows, weights: Weights) -> Floats:
    """Mean squared error per attribute of each row; of known cells, NaN where there are none."""
    if rows.gaps is None:
        work = partial(_errors_of_rows, tuple(weights.layers))
        found = rows.transmit(work, 1, weights.dtype, widest(weights.layers))
        return to_numpy(found)[:, 0].astype(np.float64)
    errors, first = [], 0
    for block in rows.blocks():
        outputs = to_numpy(through(weights.layers, block)).astype(np.float64)
        missed = to_numpy(rows.gaps.take(slice(first, first + len(outputs)))) - outputs
        known = ~np.isnan(missed)
        count = np.count_nonzero(known, axis=1)
        sums = np.sum(missed**2, axis=1, where=known)
        errors.append(np.where(count > 0, sums / np.maximum(count, 1), np.nan))
        first += len(outputs)
    return np.concatenate(errors)


def _errors_of_rows(layers: Sequence[Layer], block: Array) -> Array:
    """A column."""
    outputs = through(layers, block)
    block = block.toarray() if sparse.issparse(block) else block
    xp = array_namespace(outputs)
    return xp.mean((outputs - block) ** 2, axis=1)[:, None]


def evaluate_both(rows: Rows, weights: Weights, corruption: Corruption | None) -> Evaluation:
    """Evaluate it on the rows themselves; and on corrupted ones, if there is such a thing."""
    found = evaluate(rows, weights)
    if corruption is None:
        return found
    return replace(found, corrupted_error=evaluate(rows, weights, corruption).error)


def evaluate_unsaturated(
    fold: Fold,
    rows: float,
    encoder: Array,
    decoder: Array,
    known: float | None = None,
    corruption: Corruption | None = None,
    sparsely: bool = False,
) -> tuple[Array, Evaluation]:
    """The largest drive of each code neuron, and what the network does when they are divided by it.

    Its code neurons then never saturate, neither on the rows nor, but for rare noise, on corrupted
    ones. All takes a single pass, which ``fold`` makes, over so many ``rows`` (what they weigh).
    The error that there would be if no output saturated may be ``known`` (see `not_cancelled`);
    then outputs are formed only where they may. If blocks of rows are sparse matrices,
    ``sparsely`` forms no full ones of their size.
    """
    columns, more = encoder.shape[0], {}
    work: Any = partial(_of_block_unsaturated, encoder, decoder, corruption)
    width = widest((encoder, decoder))
    if known is not None or (sparsely and corruption is None):
        work = SaturatingOutputs(encoder, decoder, known is None)
    if sparsely and corruption is None:
        width, more = encoder.shape[1], {"most": ROWS_AT_ONCE}
    elif corruption is not None:
        more = {"numbered": True}
    errors, sums, peak = fold(work, _added_with_peaks, width, **more)
    xp = array_namespace(peak)
    codes = sums[1] / xp.where(peak > 0, peak, xp.ones_like(peak))
    sums = [sums[0], codes, *sums[2:]]  # anew: a checkpoint may still hold the other list
    means = [float(error) / (rows * columns) for error in errors]
    if known is not None:
        means[0] = known - means[0]
    found = Evaluation(means[0], [to_numpy(s) / rows for s in sums], *means[1:])
    return peak, found


def not_cancelled(error: float, square: float, dtype: Any) -> float | None:
    """An error that is a difference of terms as large as ``square``, if it is accurate.

    None if they cancel so far that rounding in numbers of this type may show.
    """
    share = CANCELLED * sqrt(float(np.finfo(host_dtype(dtype)).eps))
    return error if error > share * square else None


def ever_saturated(rows: Rows, weights: Weights) -> list[int]:
    """How many neurons of each layer saturate for at least one row."""
    work = partial(_saturated, weights.layers)
    ever = rows.fold(work, _either, widest(weights.layers))
    return [int(layer.sum()) for layer in ever]


def largest_drives(rows: Rows, matrix: Array, corruption: Corruption | None = None) -> Array:
    """The largest entry of each column of ``rows @ matrix``, also of corrupted rows."""
    width = matrix.shape[1] if rows.sparse else max(matrix.shape)
    return rows.fold(partial(_highest, matrix, corruption), _larger, width)


def divisor(peak: Array) -> Array:
    """Largest drives to divide weights by; 1 for those so small that it might overflow."""
    xp = array_namespace(peak)
    enough = sqrt(float(xp.finfo(peak.dtype).smallest_normal))
    return xp.where(peak > enough, peak, xp.ones_like(peak))


def _of_block(
    layers: Sequence[Layer],
    corruption: Corruption | None,
    block: Array,
    weights: Array | None = None,
    first: int = 0,
) -> Totals:
    seen = block if corruption is None else corruption.of_rows(block, first)
    passed = activations(layers, seen)
    sums = [column_sums(layer, weights=weights) for layer in passed]
    return squared_error(block, passed[-1], weights), sums


def _of_block_unsaturated(
    encoder: Array,
    decoder: Array,
    corruption: Corruption | None,
    block: Array,
    weights: Array | None = None,
    first: int = 0,
) -> tuple[list[Any], list[Array], Array]:
    drive = block @ encoder
    outputs = propagate(drive, decoder)
    sums = [column_sums(layer, weights=weights) for layer in (block, drive, outputs)]
    errors = [squared_error(block, outputs, weights, spent=True)]
    peak = _largest(drive, weights)
    if corruption is not None:
        seen = corruption.of_rows(block, first) @ encoder
        errors.append(squared_error(block, propagate(seen, decoder), weights))
        peak = _highest(encoder, corruption, block, weights)
    return errors, sums, peak


class SaturatingOutputs:
    r"""What a network does with blocks of rows; outputs are formed only where they may saturate.

    What the error is without saturation is known from the second moment. An output y that would be
    above 1 lowers it by :math:`(y - x)^2 - (1 - x)^2 = (y - 1)^2 + 2\,(y - 1)(1 - x)`. No output
    is above what it would be if all codes had their largest values at once: most attributes never
    come near 1. With ``all_outputs`` the error itself is taken, from all outputs.
    """

    def __init__(self, encoder: Floats, decoder: Floats, all_outputs: bool = False) -> None:
        self._encoder, self._decoder, self._all = encoder, decoder, all_outputs

    def __call__(
        self, block: Any, weights: Floats | None = None
    ) -> tuple[list[Any], list[Array], Array]:
        """By how much the known error is lowered, sums of activations, and the largest drives."""
        drive = block @ self._encoder
        each = np.ones(len(drive)) if weights is None else weights
        peak = _largest(drive, weights)
        exact = np.float64 if sparse.issparse(block) else None
        total = column_sums(drive, exact, weights)
        if self._all:
            error, outputs = self._directly(block, drive, each)
        else:
            outputs = total @ self._decoder
            error = self._saturating(block, drive, peak, each, outputs)
        return [error], [column_sums(block, exact, weights), total, outputs], peak

    def _directly(self, block: Any, drive: Floats, each: Floats) -> tuple[float, Floats]:
        """The error and sums of outputs, from all of them, some rows at a time."""
        error, outputs = 0.0, np.zeros(block.shape[1])
        for some in _slices(len(drive), block.shape[1]):
            found = propagate(drive[some], self._decoder)
            error += float(squared_error(block[some], found, each[some]))
            outputs += each[some] @ found
        return error, outputs

    def _saturating(
        self, block: Any, drive: Floats, peak: Floats, each: Floats, outputs: Floats
    ) -> float:
        """By how much saturation lowers the error; sums of ``outputs`` are set right."""
        slack = 1 - ROUNDING
        columns = np.flatnonzero(peak @ self._decoder > slack)
        if not len(columns):
            return 0.0
        decoder = self._decoder[:, columns]
        less, rows = 0.0, np.arange(len(drive))
        if sparse.issparse(block):  # full rows of which would be large
            rows = np.flatnonzero(drive @ decoder.max(axis=1) > slack)
        for some in _slices(len(rows), len(columns)):
            own = rows[some]
            above = drive[own] @ decoder
            above -= 1
            np.maximum(above, 0, out=above)
            if sparse.issparse(block):
                given = block[own][:, columns].toarray()
            else:
                given = np.take(block[some], columns, axis=1)
            sums = column_sums(above, weights=each[own])
            of_rows = np.vecdot(above, above) - 2 * np.vecdot(above, given)
            less += float(each[own] @ of_rows) + 2 * float(sums.sum())
            outputs[columns] -= sums
        return less


def _slices(rows: int, width: int) -> list[slice]:
    """Of so many rows that full matrices of this width stay small."""
    height = max(1, CELLS_AT_ONCE // 16 // max(width, 1))
    return [slice(first, first + height) for first in range(0, rows, height)]


def _saturated(layers: Sequence[Layer], block: Array) -> list[np.ndarray[Any, Any]]:
    return [to_numpy(_ever(layer)) for layer in activations(layers, block)]


def _ever(layer: Array) -> Array:
    if sparse.issparse(layer):
        return (layer >= 1).sum(axis=0) > 0
    return array_namespace(layer).any(layer >= 1, axis=0)


def _added(a: Totals, b: Totals) -> Totals:
    return a[0] + b[0], [x + y for x, y in zip(a[1], b[1], strict=True)]


def _added_with_peaks(
    a: tuple[list[Any], list[Array], Array], b: tuple[list[Any], list[Array], Array]
) -> tuple[list[Any], list[Array], Array]:
    errors, sums = ([x + y for x, y in zip(a[i], b[i], strict=True)] for i in (0, 1))
    return errors, sums, _larger(a[2], b[2])


def _either(a: list[Any], b: list[Any]) -> list[Any]:
    return [x | y for x, y in zip(a, b, strict=True)]


def _highest(
    matrix: Array, corruption: Corruption | None, block: Array, weights: Array | None = None
) -> Array:
    drives = block @ matrix if corruption is None else corruption.highest(block, matrix)
    return _largest(drives, weights)


def _largest(drive: Array, weights: Array | None) -> Array:
    """The largest of each column; rows without weight count for nothing."""
    counted = None if weights is None else weights > 0
    return array_namespace(drive).max(weighed(drive, counted), axis=0)


def _larger(one: Array, other: Array) -> Array:
    return array_namespace(one).maximum(one, other)
