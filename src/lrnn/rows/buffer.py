"""Rows that come only from the first to the last, for training that wants them in any order.

A buffer is filled with as many of them as it holds; there they can be had in any order. When all
have been used, it is filled with the next ones. Where reading may begin at several places (row
groups of Parquet, partitions of Dask), what is between them is read in random order, anew in each
pass: then even rows that were sorted are mixed, as well as the parts in one buffer are.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from lrnn.arrays import Array, take_rows
from lrnn.rows.base import Rows
from lrnn.rows.device import held

PARTS = 32  # of those that a buffer holds, to be mixed: to begin anew takes time


def coarse_parts(rows: Rows) -> list[int]:
    """The bounds of the parts that are read in random order: not many more than help."""
    bounds = [0]
    for bound in rows.parts[1:]:
        if bound - bounds[-1] >= rows.buffered / PARTS or bound == rows.shape[0]:
            bounds.append(bound)
    return bounds


def whole(rows: Rows) -> Rows:
    """All rows, in memory."""
    return held(next(_filled(rows, rows.blocks(), [rows.shape[0]])))


def windows(rows: Rows, random: np.random.RandomState) -> Iterator[Rows]:
    """See `Rows.windows`."""
    blocks = _read(rows, random if len(rows.heights) > 1 else None)
    return map(held, _filled(rows, blocks, rows.heights))


def _read(rows: Rows, random: np.random.RandomState | None) -> Iterator[Array]:
    """Blocks of all rows; of one part after the other, in random order, where that can be."""
    bounds = coarse_parts(rows)
    if random is None or len(bounds) == 2:
        yield from rows.blocks()
        return
    for i in random.permutation(len(bounds) - 1):
        yield from rows.blocks(bounds[i], bounds[i + 1])


def _filled(rows: Rows, blocks: Iterator[Array], heights: Sequence[int]) -> Iterator[Array]:
    """Blocks put together to arrays of these heights; full ones share their memory."""
    space = rest = None
    last = len(heights) - 1
    for i, height in enumerate(heights):
        pieces: list[Array] = []
        count = 0
        while count < height:
            block = next(blocks) if rest is None else rest
            piece = take_rows(block, slice(0, height - count))
            end = count + piece.shape[0]
            rest = take_rows(block, slice(end - count, None)) if end == height else None
            if pieces or (sparse.issparse(piece) and space is None):
                pieces.append(sparse.csr_array(piece))
            else:
                if space is None:
                    shape = (max(heights), rows.shape[1])
                    backend = rows.backend
                    space = backend.xp.empty(shape, dtype=rows.dtype, device=backend.device)
                space[count:end, ...] = piece.toarray() if sparse.issparse(piece) else piece
            count = end
        if i == last:
            for _ in blocks:  # if there are more, it says so
                pass
        yield sparse.vstack(pieces, format="csr") if pieces else take_rows(space, slice(0, height))
