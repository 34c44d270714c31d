"""What a reader gives: rows of numbers, and what is known of their columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Table:
    """Data as rows of attributes.

    Attributes
    ----------
    data : ndarray of shape (n_rows, n_attributes), or Source
        The numbers, of the type that the file has; or where they can be read block by block.
    names : tuple of str or None
        The attributes' names.
    image_shape : tuple of int or None
        Height and width (and channels), if rows are images.
    """

    data: Any
    names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None


def table_of(array: NDArray[Any], where: str) -> Table:
    """An array of numbers as a table: a vector is one row, further axes are those of images."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {array.dtype}, not numbers")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"{where} holds no rows of numbers; its shape is {array.shape}")
    if array.ndim == 1:
        return Table(array[None, :])
    shape = array.shape[1:] if array.ndim > 2 else None
    return Table(array.reshape(len(array), -1), image_shape=shape)
