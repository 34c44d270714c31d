"""Levels of 8 or 16 bits as numbers in [0, 1]."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Backend, backend_of, host_dtype, take_rows


class ScaledRows:
    """A matrix of unsigned integers whose rows are read as float32 in [0, 1].

    Only the rows that are asked for are ever converted: 255 of uint8 becomes 1.

    Examples
    --------
    >>> ScaledRows(np.array([[0, 255], [51, 102]], dtype=np.uint8))[1:]
    array([[0.2, 0.4]], dtype=float32)
    """

    def __init__(self, levels: Array) -> None:
        self.levels = levels
        self.shape: tuple[int, int] = tuple(levels.shape)
        self.backend: Backend = backend_of(levels)
        self.dtype: Any = np.dtype(np.float32)
        if not self.backend.is_numpy:
            self.dtype = self.backend.xp.float32
        self._highest = float(np.iinfo(host_dtype(levels.dtype)).max)

    def __getitem__(self, rows: Any) -> Array:
        block = array_namespace(self.levels).astype(take_rows(self.levels, rows), self.dtype)
        block /= self._highest
        return block
