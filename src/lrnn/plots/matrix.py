"""Rows of numbers from whatever holds them."""

from typing import Any

import numpy as np

from lrnn.arrays import Floats
from lrnn.rows.checks import white_of


def matrix(data: Any, name: str) -> Floats:
    """Rows × columns in float64; one row may be a vector, and 8- or 16-bit levels become shares."""
    values = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
    white = white_of(values.dtype, lambda: [values.max(initial=0)])
    values = values if white is None else values / white
    try:
        values = np.atleast_2d(values).astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be rows of numbers, got {type(data).__name__}") from None
    if values.ndim > 2:
        raise ValueError(
            f"{name} has shape {values.shape}; give rows × attributes, for example "
            f"{name}.reshape({len(values)}, -1)"
        )
    if not values.size:
        raise ValueError(f"{name} is empty (shape {values.shape}); give at least one row to draw")
    return values


def column_names(data: Any) -> list[str] | None:
    """Names of the columns of a data frame."""
    columns = getattr(data, "columns", None)
    return None if columns is None else [str(column) for column in columns]
