"""Data as rows of attributes, as they come from a file."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from lrnn.tables.sources import Source, check_memory, lacking_memory

__all__ = ["Table", "table_of", "whole"]


@dataclass(frozen=True)
class Table:
    """Data as rows of attributes.

    Attributes
    ----------
    data : ndarray or csr_array of shape (n_rows, n_attributes), Source or Columns
        The numbers, of the type that the file has; or where they, or columns of any kind, can be
        read block by block.
    names : tuple of str or None
        The attributes' names.
    image_shape : tuple of int or None
        Height and width (and channels), if rows are images.
    labels : tuple of str or None
        The class of each row, if the file tells it; None where it has none.
    white : float or None
        The level that is 1, if that is known.
    """

    data: Any
    names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None
    labels: tuple[str | None, ...] | None = None
    white: float | None = None


def table_of(array: Any, where: str) -> Table:
    """An array of numbers as a table; axes beyond the second are those of images."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {array.dtype}, not numbers")
    if array.dtype.kind == "b":
        array = array.astype(np.float64)  # 0 and 1; 8 bits would be levels
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"{where} holds no rows of numbers; its shape is {array.shape}")
    if array.ndim == 1:
        raise ValueError(
            f"{where} holds a vector of {len(array):,} numbers, not rows × attributes; store it "
            "as one row, x.reshape(1, -1), or as one column, x.reshape(-1, 1)"
        )
    if array.ndim == 2:
        return Table(array)
    return Table(array.reshape(len(array), -1), image_shape=array.shape[1:])


def whole(source: Source) -> Table:
    """All rows of a source."""
    needed = prod(source.shape) * source.dtype.itemsize
    check_memory(source.name, needed)
    try:
        blocks = list(source.blocks(0, source.shape[0]))
        data = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    except MemoryError as error:
        raise lacking_memory(source.name, error, needed) from None
    data = table_of(data, f"{source.name!r}").data
    return Table(data, source.columns, source.image_shape)
