"""Data as blocks of rows in [0, 1]."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lrnn.functional import propagate
from lrnn.typing import Array

CELLS_AT_ONCE = 1 << 22  # rows × the widest layer: bounds the working memory
ROWS_TO_SUM = 4_096  # rows over which sums are taken in the precision of the data

Read: TypeAlias = Callable[[int], None]  # is told whenever so many more rows have been read


def unheard(rows: int) -> None:
    """Nobody wants to know."""


class ScaledRows:
    """A matrix of unsigned integers whose rows are read as floats in [0, 1].

    Only the rows that are asked for are ever converted: 255 of uint8 becomes 1.

    Examples
    --------
    >>> ScaledRows(np.array([[0, 255], [51, 102]], dtype=np.uint8))[1:]
    array([[0.2, 0.4]], dtype=float32)
    """

    def __init__(self, levels: NDArray[Any], dtype: DTypeLike = np.float32) -> None:
        self.levels = levels
        self.shape = levels.shape
        self.dtype = np.dtype(dtype)
        self._highest = np.iinfo(levels.dtype).max

    def __getitem__(self, rows: Any) -> Array:
        block = self.levels[rows].astype(self.dtype)
        block /= self._highest
        return block


class EncodedRows:
    """Rows as a layer of the network sees them; computed whenever they are asked for."""

    def __init__(self, inputs: Array, encoders: Sequence[Array]) -> None:
        self.inputs = inputs
        self.encoders = tuple(encoders)
        self.shape = (inputs.shape[0], self.encoders[-1].shape[1])
        self.dtype = self.encoders[-1].dtype

    def __getitem__(self, rows: Any) -> Array:
        return reduce(propagate, self.encoders, self.inputs[rows])


def row_blocks(inputs: Array, widest: int, most: int | None = None) -> Iterator[Array]:
    """Consecutive rows, so many at once that ``widest`` numbers for each of them stay small.

    Never more than ``most``: a sum over so many float32 products is accurate enough, and sums of
    blocks can be added up in float64.
    """
    rows = max(1, CELLS_AT_ONCE // widest)
    if most is not None:
        rows = min(rows, most)
    for start in range(0, inputs.shape[0], rows):
        yield inputs[start : start + rows]
