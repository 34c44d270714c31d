"""Checks of data and settings whose messages name the value, the place and the remedy."""

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_array,
    validate_data,
)

from lrnn.arrays import Array, backend_named, backend_of, is_array
from lrnn.rows import ScaledRows
from lrnn.rows.device import DeviceRows, on
from lrnn.rows.elsewhere import rows_elsewhere
from lrnn.rows.passes import is_resident
from lrnn.rows.types import ConvertedRows
from lrnn.rows.values import (
    LEVELS,
    CheckedRows,
    OutOfRangeError,
    check_foreign,
    check_values,
    place,
    warn_of_low_levels,
)
from lrnn.training import held_out_rows


def check_data(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Data for ``estimator`` as rows of floats in [0, 1] (CSR if sparse).

    Values above 1 become 1, with a warning; only then is X copied. Unsigned 8- and 16-bit
    integers are not converted as a whole, but as rows of them are used. Rows that are not in
    memory are checked as they are read.
    """
    return _for(estimator, X, reset=reset, later=False)


def read_once(estimator: Any, X: Any, work: Callable[[Any], Array]) -> Array:
    """``work`` on data for a fitted ``estimator``, of which it reads every row once.

    Data are checked on the way. Where that finds anything, they are looked at closely (which may
    warn, or end in an error that says what is wrong), and the work is done again.
    """
    try:
        return work(_for(estimator, X, reset=False, later=True))
    except OutOfRangeError:
        pass
    return work(check_data(estimator, X, reset=False))


def _for(estimator: Any, X: Any, *, reset: bool, later: bool) -> Any:
    user = type(estimator).__name__
    device = backend_named(estimator.device) if estimator.device is not None else None
    rows = rows_elsewhere(X, user, device)
    if rows is None and is_array(X) and not isinstance(X, np.ndarray):
        rows = check_foreign(X, user)
        if device is not None and backend_of(rows) != device:
            raise ValueError(
                f"X is on device {str(backend_of(rows).device)!r}, but device="
                f"{estimator.device!r}; move X there, or leave device=None to work where X is"
            )
    if rows is not None:
        _check_n_features(estimator, rows, reset=reset)
        _check_names(estimator, X, rows, reset)
        return rows
    validate = partial(validate_data, estimator, reset=reset)
    held = _check(X, user, validate, later=later and device is None)
    return held if device is None or device.is_numpy else on(device, held, again=reset)


def _check_names(estimator: Any, X: Any, rows: Any, reset: bool) -> None:
    """Names of columns are remembered, or compared with those that are."""
    names = getattr(getattr(rows, "source", None), "columns", None)
    if names is None:
        _check_feature_names(estimator, X, reset=reset)
    elif reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif list(getattr(estimator, "feature_names_in_", names)) != list(names):
        pairs = zip(names, estimator.feature_names_in_, strict=True)
        found, known = next((a, b) for a, b in pairs if a != b)
        raise ValueError(
            f"{rows.source.name} has a column {found!r} where the model was trained with {known!r}"
        )


def check_matrix(X: Any, user: str) -> Any:
    """Data for a function named ``user``, as rows of floats in [0, 1] (CSR if sparse)."""
    if isinstance(X, ScaledRows | DeviceRows | ConvertedRows):
        return X
    rows = rows_elsewhere(X, user)
    if rows is not None:
        return rows
    if is_array(X) and not isinstance(X, np.ndarray):
        return check_foreign(X, user)
    return _check(X, user, check_array)


def _check(X: Any, user: str, validate: Callable[..., Any], later: bool = False) -> Array:
    """Data as a matrix; the values of full matrices may also be checked ``later``."""
    if isinstance(X, np.ndarray) and X.dtype in LEVELS:
        levels = validate(X, dtype=None)
        warn_of_low_levels(int(levels.max()), levels.dtype)
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
    user = type(estimator).__name__
    foreign = is_array(codes) and not isinstance(codes, np.ndarray)
    checked = rows_elsewhere(codes, user)
    if checked is None and foreign:
        checked = check_foreign(codes, user)
    found = checked is not None
    if not found:
        checked = check_array(
            codes, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
        )
    if checked.shape[1] != width:
        raise ValueError(
            f"the codes have {checked.shape[1]} columns, but this {user} has "
            f"{width} code neurons; give what transform returned"
        )
    return checked if found else check_values(checked, codes, user)


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


def check_inhibition(estimator: Any, rows: int) -> None:
    """Inhibition goes with free rates and our own solver; prices and held-out rows go with it."""
    if estimator.spike_penalty and not estimator.inhibition:
        raise ValueError(
            f"spike_penalty={estimator.spike_penalty!r} needs inhibition=True: an excitatory "
            "network already is the cheapest"
        )
    if estimator.early_stopping and not estimator.inhibition:
        raise ValueError("early_stopping=True needs inhibition=True; otherwise see tol")
    for name, needed in (("rates", "free"), ("solver", "gram")):
        value = getattr(estimator, name)
        if estimator.inhibition and value != needed:
            raise ValueError(f"inhibition=True needs {name}={needed!r}, got {value!r}")
    share = estimator.validation_fraction
    if estimator.early_stopping and held_out_rows(rows, share) >= rows:
        raise ValueError(
            f"validation_fraction={share!r} of n_samples={rows} leaves no row to train on; give "
            "more rows, or early_stopping=False"
        )


def check_order(
    inputs: Any, solver: str, rates: str, fine_tune: int, inhibition: bool = False
) -> None:
    """Training on minibatches takes rows in any order, which not all data can give."""
    wanted = {
        "solver='minibatch'": solver == "minibatch",
        "rates='unit'": rates == "unit",
        "fine_tune": fine_tune > 0,
        "inhibition": inhibition,
    }
    asked = [name for name, so in wanted.items() if so]
    if asked and not is_resident(inputs):
        raise ValueError(
            f"{asked[0]} needs rows in any order, and X gives them only from the first to the "
            "last; train with solver='gram', rates='free' and fine_tune=0, or on an array, a "
            ".npy, .zarr or .h5 file"
        )


def _not_a_number(X: Any) -> str:
    cells = np.atleast_2d(np.asarray(X, dtype=object))
    for (row, column), value in np.ndenumerate(cells):
        try:
            float(value)
        except (TypeError, ValueError):
            where = place(row, column, getattr(X, "columns", None))
            return (
                f"X has {value!r} at {where}, which is not a number; drop that column or encode "
                "it, for example with sklearn.preprocessing.OneHotEncoder"
            )
    return "X has values that are not numbers"
