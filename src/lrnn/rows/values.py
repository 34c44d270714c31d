"""Are rows what the model takes, numbers in [0, 1]? Errors name the value, place and remedy."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array, backend_of, host_dtype, to_numpy
from lrnn.functional import saturate
from lrnn.rows.levels import ScaledRows
from lrnn.rows.parallel import map_rows

LEVELS = (np.dtype(np.uint8), np.dtype(np.uint16))
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class SaturationWarning(UserWarning):
    """Data above 1 were given; the network saturates them to 1."""


class OutOfRangeError(ValueError):
    """Rows that were read have a value outside [0, 1]."""


class CheckedRows:
    """A matrix whose rows are checked as they are read: they then come from memory only once."""

    def __init__(self, X: NDArray[Any]) -> None:
        self._X = X
        self.shape = X.shape
        self.dtype = X.dtype

    def __getitem__(self, rows: Any) -> Array:
        block = self._X[rows]
        if not within_unit_interval(block):
            raise OutOfRangeError
        return block


def check_foreign(X: Array, user: str) -> Array:
    """An array of torch, CuPy or another namespace as rows in [0, 1], where it is."""
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape X to (rows, attributes)"
        )
    rows, attributes = X.shape
    if not rows or not attributes:
        raise ValueError(
            f"Found array with {rows} sample(s) and {attributes} feature(s) "
            f"(shape={tuple(X.shape)}) while a minimum of 1 is required by {user}"
        )
    backend = backend_of(X)
    xp, dtype = backend.xp, host_dtype(X.dtype)
    if dtype in LEVELS:
        warn_of_low_levels(int(xp.max(X)), dtype)
        return ScaledRows(X)
    if hasattr(X, "detach"):
        X = X.detach()
    if dtype not in FLOATS:
        if dtype.kind == "c":
            raise ValueError("Complex data not supported: give real numbers")
        X = xp.astype(X, xp.float64)
    lowest, highest = float(xp.min(X)), float(xp.max(X))
    if lowest >= 0 and highest <= 1:
        return X
    return backend.send(check_values(to_numpy(X), X, user))


def warn_of_low_levels(highest: int, dtype: np.dtype[Any]) -> None:
    """Zeros and ones as levels are hardly ever meant."""
    if highest == 1:
        warnings.warn(
            f"X is {dtype} with no value above 1; it is read as levels, and a level of 1 is "
            f"1/{np.iinfo(dtype).max}. If 1 is meant, give X.astype(float)",
            stacklevel=5,
        )


def check_values(X: Array, given: Any, user: str, first: int = 0) -> Array:
    """Finite numbers ≥ 0, or an error; those above 1 become 1, with a warning.

    The first row of X is row number ``first`` of what was ``given``.
    """
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    cells = X.data if sparse.issparse(X) else X
    widest = cells.shape[1] if cells.ndim == 2 else 1
    parts = map_rows(lambda part: within_unit_interval(cells[part]), cells, widest)
    if not cells.size or all(parts):
        return X
    names = getattr(given, "columns", None)
    lowest, highest = cells.min(), cells.max()
    for kind, is_so in (("NaN", np.isnan), ("infinity", np.isinf)):
        if is_so(lowest) or is_so(highest):
            raise ValueError(
                f"Input X contains {kind} at {_places(X, is_so(cells), names, first)}; {user} "
                "takes finite numbers only. Fill or drop such cells, for example with "
                "sklearn.impute.SimpleImputer"
            )
    if lowest < 0:
        raise ValueError(
            f"Negative values in data passed to {user}: {_value(cells, cells < 0)} at "
            f"{_places(X, cells < 0, names, first)}. Scale X to [0, 1], for example with "
            "sklearn.preprocessing.MinMaxScaler"
        )
    if highest > 1 + 16 * np.finfo(X.dtype).eps:  # more than rounding
        warnings.warn(
            f"X has values above 1: {_value(cells, cells > 1)} at "
            f"{_places(X, cells > 1, names, first)}. A neuron cannot be excited with a probability "
            "above 1, so they count as 1. If that is not meant, scale X to [0, 1], for example "
            "with sklearn.preprocessing.MinMaxScaler",
            SaturationWarning,
            stacklevel=5,
        )
    return saturate(X) if highest > 1 else X


def within_unit_interval(cells: Any) -> bool:
    """Whether all numbers are in [0, 1], in one look at each.

    Read as unsigned integers, the floats from 0 to 1 are those up to that of 1; negative numbers,
    infinities and NaNs are above it (and so is -0.0, which only costs a closer look).
    """
    bits = np.dtype(f"u{cells.dtype.itemsize}")
    return bool(cells.view(bits).max() <= np.ones((), cells.dtype).view(bits))


def _value(cells: Any, offends: Any) -> str:
    return f"{cells[offends][0]:.6g}"


def _places(X: Array, offends: Any, names: Any, first_row: int) -> str:
    """Where the first offending cell is, and how many more there are."""
    first = int(np.argmax(offends))
    if sparse.issparse(X):
        row, column = np.searchsorted(X.indptr, first, side="right") - 1, X.indices[first]
    else:
        row, column = np.unravel_index(first, X.shape)
    more = np.count_nonzero(offends) - 1
    return f"{place(row + first_row, column, names)}{f' (and {more} more)' if more else ''}"


def place(row: Any, column: Any, names: Any) -> str:
    """A cell, counted from 0."""
    name = None if names is None else names[column]
    return f"row {row}, column {column}{f' ({name!r})' if isinstance(name, str) else ''}"
