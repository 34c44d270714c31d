"""Checks of data and settings whose messages name the value, the place and the remedy."""

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from lrnn.functional import saturate
from lrnn.moments import ScaledRows, map_rows
from lrnn.typing import Array

LEVELS = (np.dtype(np.uint8), np.dtype(np.uint16))


class SaturationWarning(UserWarning):
    """Data above 1 were given; the network saturates them to 1."""


def check_data(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Data for ``estimator`` as a matrix of floats in [0, 1] (CSR if sparse).

    Values above 1 become 1, with a warning; only then is X copied. Unsigned 8- and 16-bit
    integers are not converted as a whole, but as rows of them are used.
    """
    validate = partial(validate_data, estimator, reset=reset)
    return _check(X, type(estimator).__name__, validate)


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
        if not _within_unit_interval(block):
            raise OutOfRangeError
        return block


def read_once(estimator: Any, X: Any, work: Callable[[Array], Array]) -> Array:
    """``work`` on data for a fitted ``estimator``, of which it reads every row once.

    Data are checked on the way. Where that finds anything, they are looked at closely (which may
    warn, or end in an error that says what is wrong), and the work is done again.
    """
    validate = partial(validate_data, estimator, reset=False)
    try:
        return work(_check(X, type(estimator).__name__, validate, later=True))
    except OutOfRangeError:
        pass
    return work(check_data(estimator, X, reset=False))


def check_matrix(X: Any, user: str) -> Array:
    """Data for a function named ``user``, as a matrix of floats in [0, 1] (CSR if sparse)."""
    return X if isinstance(X, ScaledRows) else _check(X, user, check_array)


def _check(X: Any, user: str, validate: Callable[..., Any], later: bool = False) -> Array:
    """Data as a matrix; the values of full matrices may also be checked ``later``."""
    if isinstance(X, np.ndarray) and X.dtype in LEVELS:
        levels = validate(X, dtype=None)
        if levels.max() == 1:
            warnings.warn(
                f"X is {X.dtype} with no value above 1; it is read as levels, and a level of 1 is "
                f"1/{np.iinfo(X.dtype).max}. If 1 is meant, give X.astype(float)",
                stacklevel=4,
            )
        return ScaledRows(levels)
    try:
        floats = [np.float64, np.float32]
        checked = validate(X, accept_sparse="csr", dtype=floats, ensure_all_finite=False)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(_not_a_number(X)) from None
    if later and isinstance(checked, np.ndarray):
        return CheckedRows(checked)
    return check_values(checked, X, user)


def check_codes(estimator: Any, codes: Any, width: int) -> Array:
    """Codes as a matrix of floats in [0, 1] with one column per code neuron."""
    checked = check_array(
        codes, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    if checked.shape[1] != width:
        raise ValueError(
            f"the codes have {checked.shape[1]} columns, but this {type(estimator).__name__} has "
            f"{width} code neurons; give what transform returned"
        )
    return check_values(checked, codes, type(estimator).__name__)


def check_values(X: Array, given: Any, user: str) -> Array:
    """Finite numbers ≥ 0, or an error; those above 1 become 1, with a warning."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    cells = X.data if sparse.issparse(X) else X
    widest = cells.shape[1] if cells.ndim == 2 else 1
    parts = map_rows(lambda part: _within_unit_interval(cells[part]), cells, widest)
    if not cells.size or all(parts):
        return X
    names = getattr(given, "columns", None)
    lowest, highest = cells.min(), cells.max()
    for kind, is_so in (("NaN", np.isnan), ("infinity", np.isinf)):
        if is_so(lowest) or is_so(highest):
            raise ValueError(
                f"Input X contains {kind} at {_places(X, is_so(cells), names)}; {user} takes "
                "finite numbers only. Fill or drop such cells, for example with "
                "sklearn.impute.SimpleImputer"
            )
    if lowest < 0:
        raise ValueError(
            f"Negative values in data passed to {user}: {_value(cells, cells < 0)} at "
            f"{_places(X, cells < 0, names)}. Scale X to [0, 1], for example with "
            "sklearn.preprocessing.MinMaxScaler"
        )
    if highest > 1 + 16 * np.finfo(X.dtype).eps:  # more than rounding
        warnings.warn(
            f"X has values above 1: {_value(cells, cells > 1)} at {_places(X, cells > 1, names)}. "
            "A neuron cannot be excited with a probability above 1, so they count as 1. If that "
            "is not meant, scale X to [0, 1], for example with sklearn.preprocessing.MinMaxScaler",
            SaturationWarning,
            stacklevel=5,
        )
    return saturate(X) if highest > 1 else X


def _within_unit_interval(cells: Any) -> bool:
    """Whether all numbers are in [0, 1], in one look at each.

    Read as unsigned integers, the floats from 0 to 1 are those up to that of 1; negative numbers,
    infinities and NaNs are above it (and so is -0.0, which only costs a closer look).
    """
    bits = np.dtype(f"u{cells.dtype.itemsize}")
    return bool(cells.view(bits).max() <= np.ones((), cells.dtype).view(bits))


def check_layer_sizes(sizes: Any) -> tuple[int, ...]:
    """Hidden layer sizes as a tuple of positive integers; a single number is one layer."""
    listed = (sizes,) if isinstance(sizes, Real) else sizes
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise TypeError(
            f"hidden_layer_sizes must be whole numbers such as (100,) or (500, 50), got {sizes!r}"
        )
    widths = tuple(listed)
    if not widths:
        raise ValueError(
            "hidden_layer_sizes is empty; an autoencoder needs at least one hidden layer, "
            "for example (100,)"
        )
    for position, width in enumerate(widths):
        if not isinstance(width, Integral) or isinstance(width, bool):
            raise TypeError(
                f"hidden_layer_sizes[{position}] is {width!r}; a layer's width is a whole number"
            )
        if width < 1:
            raise ValueError(f"hidden_layer_sizes[{position}] is {width}; a layer's width is ≥ 1")
    return tuple(int(width) for width in widths)


def check_solver(solver: str, init: str | None) -> None:
    """Settings that do not go together are refused."""
    if solver == "minibatch" and init == "anchors":
        raise ValueError("init='anchors' needs solver='gram'; use init='random' or None")


def _value(cells: Any, offends: Any) -> str:
    return f"{cells[offends][0]:.6g}"


def _places(X: Array, offends: Any, names: Any) -> str:
    """Where the first offending cell is, and how many more there are."""
    first = int(np.argmax(offends))
    if sparse.issparse(X):
        row, column = np.searchsorted(X.indptr, first, side="right") - 1, X.indices[first]
    else:
        row, column = np.unravel_index(first, X.shape)
    more = np.count_nonzero(offends) - 1
    return f"{_place(row, column, names)}{f' (and {more} more)' if more else ''}"


def _place(row: Any, column: Any, names: Any) -> str:
    name = None if names is None else names[column]
    return f"row {row}, column {column}{f' ({name!r})' if isinstance(name, str) else ''}"


def _not_a_number(X: Any) -> str:
    cells = np.atleast_2d(np.asarray(X, dtype=object))
    for (row, column), value in np.ndenumerate(cells):
        try:
            float(value)
        except (TypeError, ValueError):
            place = _place(row, column, getattr(X, "columns", None))
            return (
                f"X has {value!r} at {place}, which is not a number; drop that column or encode "
                "it, for example with sklearn.preprocessing.OneHotEncoder"
            )
    return "X has values that are not numbers"
