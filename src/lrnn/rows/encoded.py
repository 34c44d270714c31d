"""Rows as a layer of the network sees them."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from lrnn.arrays import Array, backend_of, take_rows
from lrnn.functional import propagate


class EncodedRows:
    """Activations of a layer, computed whenever rows are asked for."""

    def __init__(self, inputs: Array, encoders: Sequence[Array]) -> None:
        self.inputs = inputs
        self.encoders = tuple(encoders)
        self.shape = (inputs.shape[0], self.encoders[-1].shape[1])
        self.dtype = self.encoders[-1].dtype
        self.backend = backend_of(inputs)

    def __getitem__(self, rows: Any) -> Array:
        return encode(take_rows(self.inputs, rows), self.encoders)

    def behind(self, work: Callable[[Array], Any]) -> Callable[[Array], Any]:
        """``work`` on activations as work on the rows themselves."""
        return partial(_encoded_first, work, self.encoders)


def encode(block: Array, encoders: Sequence[Array]) -> Array:
    """Activations behind ``encoders``."""
    return reduce(propagate, encoders, block)


def _encoded_first(work: Callable[[Array], Any], encoders: Sequence[Array], block: Array) -> Any:
    return work(encode(block, encoders))
