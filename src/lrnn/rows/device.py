"""Rows of the host's memory on a GPU: all of them if they fit, or block by block."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import Array, Backend, host_dtype, is_array, to_numpy
from lrnn.rows.levels import ScaledRows
from lrnn.rows.passes import on_device

SHARE = 0.5  # of a device's free memory that the data may take


class DeviceRows:
    """Rows that are sent to a device whenever they are asked for; levels travel as levels."""

    def __init__(self, inputs: Any, backend: Backend) -> None:
        self.shape: tuple[int, int] = tuple(inputs.shape)
        self.dtype = getattr(backend.xp, host_dtype(inputs.dtype).name)
        self.backend = backend
        self._inputs = inputs

    def __getitem__(self, rows: Any) -> Array:
        rows = to_numpy(rows) if is_array(rows) else rows
        if isinstance(self._inputs, ScaledRows):
            return ScaledRows(self.backend.array(self._inputs.levels[rows]))[:]
        block = self._inputs[rows]
        return self.backend.array(block.toarray() if sparse.issparse(block) else block)

    def transmit(self, work: Callable[[Array], Array], width: int, dtype: Any) -> Array:
        """Activations of all rows, in the host's memory."""
        found = np.empty((self.shape[0], width), dtype=host_dtype(dtype))
        first = 0
        for rows, block in on_device(work, self, max(width, self.shape[1]), None, 0):
            found[first : first + rows] = to_numpy(block)
            first += rows
        return found


def on(backend: Backend, inputs: Any, again: bool) -> Any:
    """Rows of the host for work on a device.

    If they are read ``again`` and again they are sent at once, where the memory suffices.
    """
    if not again or sparse.issparse(inputs):
        return DeviceRows(inputs, backend)
    held = inputs.levels if isinstance(inputs, ScaledRows) else inputs
    free = backend.free_memory()
    if free is not None and held.nbytes > SHARE * free:
        return DeviceRows(inputs, backend)
    try:
        sent = backend.array(held)
    except Exception as error:
        if not backend.out_of_memory(error):
            raise
        return DeviceRows(inputs, backend)
    return ScaledRows(sent) if isinstance(inputs, ScaledRows) else sent
