"""Rows of one type of numbers."""

from typing import Any

from lrnn.arrays import backend_of, is_array


def of_type(inputs: Any, dtype: Any) -> Any:
    """Rows in the type of the weights they meet.

    NumPy mixes types by itself, block by block; other arrays have to be converted.
    """
    backend = backend_of(inputs)
    if backend.is_numpy or inputs.dtype == dtype:
        return inputs
    if is_array(inputs):
        return backend.xp.astype(inputs, dtype)
    return ConvertedRows(inputs, dtype)


class ConvertedRows:
    """Rows that are converted as they are read."""

    def __init__(self, inputs: Any, dtype: Any) -> None:
        self.shape = inputs.shape
        self.dtype = dtype
        self.backend = inputs.backend
        self._inputs = inputs
        if hasattr(inputs, "transmit"):
            self.transmit = self._transmit

    def __getitem__(self, rows: Any) -> Any:
        return self.backend.xp.astype(self._inputs[rows], self.dtype)

    def _transmit(self, work: Any, width: int, dtype: Any) -> Any:
        xp = self.backend.xp
        return self._inputs.transmit(lambda rows: work(xp.astype(rows, self.dtype)), width, dtype)
