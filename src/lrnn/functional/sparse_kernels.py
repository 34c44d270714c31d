r"""Products with sparse rows and descents that need no more than these, compiled.

Rows are given as those of a CSR array: row i has the numbers ``values[p]`` in the columns
``places[p]``, for p from ``starts[i]`` up to ``starts[i + 1]``. The columns of X, from a CSC array,
are rows of :math:`X^\mathsf{T}`. Each kernel works on some rows, from ``first`` up to ``last``, and
without Python's lock: several threads may share the rows, and the numbers that are found do not
depend on how they do. Sums over many terms are taken in parts of ``TERMS``, which are added up in
float64.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.functional.compiled import compiled

UNORDERED = {"reassoc", "contract", "nsz"}  # sums may be taken in any order
TERMS = 4_096  # of a sum in the precision of the data


@partial(compiled, fastmath=UNORDERED)
def add_up(
    places: NDArray[Any],
    values: NDArray[Any],
    begin: int,
    end: int,
    matrix: NDArray[Any],
    some: NDArray[Any],
    total: NDArray[Any],
) -> None:
    """``some`` becomes a row's product with a matrix; ``total`` is where long sums are taken."""
    width = matrix.shape[1]
    for h in range(width):
        total[h] = 0
    for part in range(begin, end, TERMS):
        last = min(part + TERMS, end)
        for h in range(width):
            some[h] = 0
        fours = part + (last - part) // 4 * 4
        for p in range(part, fours, 4):
            a, b, c, d = values[p], values[p + 1], values[p + 2], values[p + 3]
            i, j, k, l = places[p], places[p + 1], places[p + 2], places[p + 3]  # noqa: E741
            for h in range(width):
                some[h] += (a * matrix[i, h] + b * matrix[j, h]) + (
                    c * matrix[k, h] + d * matrix[l, h]
                )
        for p in range(fours, last):
            x, v = values[p], places[p]
            for h in range(width):
                some[h] += x * matrix[v, h]
        if end - begin > TERMS:
            for h in range(width):
                total[h] += some[h]
    if end == begin:
        for h in range(width):
            some[h] = 0
    elif end - begin > TERMS:
        for h in range(width):
            some[h] = total[h]


@compiled
def multiply_rows(
    starts: NDArray[Any],
    places: NDArray[Any],
    values: NDArray[Any],
    matrix: NDArray[Any],
    found: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """``found`` becomes the product of the rows with a matrix."""
    total = np.empty(matrix.shape[1], np.float64)
    for i in range(first, last):
        add_up(places, values, starts[i], starts[i + 1], matrix, found[i], total)


@compiled
def inverse_lengths(gram: NDArray[Any], least: float) -> NDArray[Any]:
    """One over each number on the diagonal; 0 where that is not above ``least``."""
    found = np.zeros(len(gram), gram.dtype)
    for h in range(len(gram)):
        if gram[h, h] > least:
            found[h] = 1 / gram[h, h]
    return found


@partial(compiled, fastmath=UNORDERED)
def descend_rows(
    starts: NDArray[Any],
    places: NDArray[Any],
    values: NDArray[Any],
    matrix: NDArray[Any],
    gram: NDArray[Any],
    factors: NDArray[Any],
    sweeps: int,
    least: float,
    linear: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """Lower ``‖x − f @ matrix.T‖²`` over the row's ``factors`` f ≥ 0, one after the other.

    ``gram`` is ``matrix.T @ matrix``; factors for which it is not above ``least`` stay as they are.
    ``linear`` becomes ``x @ matrix @ f``.
    """
    width = matrix.shape[1]
    total = np.empty(width, np.float64)
    wanted = np.empty(width, matrix.dtype)
    slope = np.empty(width, matrix.dtype)
    shorter = inverse_lengths(gram, least)
    for i in range(first, last):
        add_up(places, values, starts[i], starts[i + 1], matrix, wanted, total)
        own = factors[i]
        for h in range(width):
            slope[h] = wanted[h]
        for h in range(width):
            f = own[h]
            if f != 0:
                for k in range(width):
                    slope[k] -= f * gram[h, k]
        for _ in range(sweeps):
            moved = False
            for h in range(width):
                step = max(slope[h] * shorter[h], -own[h])
                if shorter[h] != 0 and step != 0:
                    moved = True
                    own[h] += step
                    for k in range(width):
                        slope[k] -= step * gram[h, k]
            if not moved:
                break
        product = 0.0
        for h in range(width):
            product += wanted[h] * own[h]
        linear[i] = product


@partial(compiled, fastmath=UNORDERED)
def make_slopes(
    starts: NDArray[Any],
    places: NDArray[Any],
    values: NDArray[Any],
    decoder: NDArray[Any],
    gram: NDArray[Any],
    codes: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """A row's ``codes`` q become ``q @ gram − x @ decoder``, where gram = decoder.T @ decoder."""
    width = decoder.shape[1]
    total = np.empty(width, np.float64)
    wanted = np.empty(width, decoder.dtype)
    for i in range(first, last):
        add_up(places, values, starts[i], starts[i + 1], decoder, wanted, total)
        own = codes[i]
        for h in range(width):
            wanted[h] = -wanted[h]
        for h in range(width):
            q = own[h]
            if q != 0:
                for k in range(width):
                    wanted[k] += q * gram[h, k]
        for h in range(width):
            own[h] = wanted[h]


@partial(compiled, fastmath=UNORDERED)
def sweep_encoder(
    starts: NDArray[Any],
    places: NDArray[Any],
    values: NDArray[Any],
    order: NDArray[Any],
    encoder: NDArray[Any],
    slopes: NDArray[Any],
    gram: NDArray[Any],
    lengths: NDArray[Any],
    least: float,
) -> None:
    """Each weight of the encoder in turn goes to its exact optimum; ``slopes`` follow.

    Rows here are the columns of X: an attribute after the other, in this ``order``, with the
    squares of their ``lengths``. ``slopes`` and ``gram`` are those of `make_slopes`.
    """
    width = encoder.shape[1]
    total = np.empty(width, np.float64)
    slope = np.empty(width, encoder.dtype)
    before = np.empty(width, encoder.dtype)
    shorter = inverse_lengths(gram, least)
    for v in order:
        if not lengths[v] > least:
            continue
        begin, end = starts[v], starts[v + 1]
        add_up(places, values, begin, end, slopes, slope, total)
        for h in range(width):
            slope[h] /= lengths[v]
            before[h] = slope[h]
        own = encoder[v]
        moved = False
        for h in range(width):
            step = max(-slope[h] * shorter[h], -own[h])
            if shorter[h] != 0 and step != 0:
                moved = True
                own[h] += step
                for k in range(width):
                    slope[k] += step * gram[h, k]
        if moved:
            for h in range(width):
                slope[h] -= before[h]
            for p in range(begin, end):
                x, i = values[p], places[p]
                for h in range(width):
                    slopes[i, h] += x * slope[h]


@compiled
def add_rows(
    starts: NDArray[Any],
    places: NDArray[Any],
    values: NDArray[Any],
    rows: NDArray[Any],
    factors: NDArray[Any],
    total: NDArray[Any],
) -> None:
    """Add some rows, each times its factor, to a ``total`` of float64."""
    for i, factor in zip(rows, factors):  # noqa: B905  (numba knows no strict)
        for p in range(starts[i], starts[i + 1]):
            total[places[p]] += np.float64(values[p]) * factor
