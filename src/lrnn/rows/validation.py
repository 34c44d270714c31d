"""What X is, as rows of numbers in [0, 1]; messages name the value, the place and the remedy.

What scikit-learn keeps private is imported here and nowhere else (tried with 1.6 to 1.9).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval as AnyInterval
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from lrnn.arrays import (
    HOST,
    Array,
    Backend,
    are_levels,
    backend_named,
    backend_of,
    beyond_floats,
    detached,
    host_dtype,
    is_array,
    is_dask,
    to_numpy,
    unmasked,
)  # fmt: skip
from lrnn.rows import ComplementedRows, HostRows, Rows, WeightedRows, attributes_of
from lrnn.rows.base import BUFFER_BYTES
from lrnn.rows.checks import (
    FILL_BEFORE,
    Origin,
    User,
    check_foreign,
    check_values,
    summed,
    white_of,
)
from lrnn.rows.dask import dask_rows, gathered
from lrnn.rows.device import DeviceRows, on_device
from lrnn.rows.gaps import check_size, full, has_gaps, sparse_gaps
from lrnn.rows.stream import stream
from lrnn.tables import kinds
from lrnn.tables.frame import Columns, is_frame
from lrnn.tables.kinds import opened
from lrnn.tables.ledger import Ledger
from lrnn.tables.messages import Place, TableError, UnfitNumbersError, in_bytes, warn
from lrnn.tables.offences import first_offending
from lrnn.tables.recipe import TableSource
from lrnn.tables.scaling import IN_MEMORY, ScaledSource, Scaling
from lrnn.tables.sources import ArraySource, Source
from lrnn.tables.table import Along, Table
from lrnn.tables.types import matrix_of, not_a_number, type_of_columns, types_of

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn knows no callbacks yet."""


__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "StrOptions",
    "backend_for",
    "brought",
    "check_codes",
    "check_count",
    "check_data",
    "check_labels",
    "check_matrix",
    "counted",
    "fit_context",
    "for_frames",
    "labels_of",
    "num_samples",
    "raw_matrix",
    "weighted",
]

MOST = 10**15  # of whatever is counted
ROWS_LOOKED_AT = 1000  # at once, for a level above 1


class Interval(AnyInterval):  # type: ignore[misc]
    """What a parameter may be: a number that a float holds, or a count, which True is not."""

    @property
    def _counts(self) -> bool:
        return self.type is Integral and self.left is not None

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether it may be this."""
        if beyond_floats(val) or not super().is_satisfied_by(val):
            return False
        return not self._counts or not (isinstance(val, bool) or val > MOST)

    def __str__(self) -> str:
        if self._counts:
            return f"a whole number from {self.left} to {MOST:,}"
        return str(super().__str__())


def check_count(value: Any, name: str, least: int = 1, most: int = MOST) -> int:
    """A whole number within limits, that is no truth value.

    >>> check_count(np.int8(3), "sweeps")
    3
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {value!r:.100}")
    if not least <= int(value) <= most:
        raise ValueError(f"{name} must be from {least} to {most:,}, got {value!r:.100}")
    return int(value)


def backend_for(estimator: Any) -> Backend:
    """Whose arrays an estimator works with, if it is given no rows."""
    return HOST if estimator.device is None else backend_named(estimator.device)


def check_data(
    estimator: Any, X: Any, *, reset: bool, user: str | None = None, sample_weight: Any = None
) -> Rows:
    """Data for ``estimator``, or a ``user`` that fills no gaps, as rows of floats in [0, 1].

    Values above 1 become 1, with a warning; only then is X copied. Unsigned 8- and 16-bit
    integers are not converted as a whole, but as rows of them are used. Rows are checked as they
    are first read. By ``sample_weight`` they count in what fills gaps. Where the scaling says so,
    complements stand beside the attributes then.
    """
    return _rows_for(estimator, X, reset=reset, user=user, sample_weight=sample_weight)


def raw_matrix(X: Any, scaling: Scaling | None, unstored: bool) -> NDArray[Any] | None:
    """The numbers of data in memory, in their own units; None if X is elsewhere, or sparse."""
    table = opened(X, None if scaling is None else scaling.reading)
    if table.recipe is not None:
        scaling = replace(scaling or Scaling("none"), recipe=table.recipe)
    X = _bare(table.data, gaps=True)
    if is_dask(X):
        X = gathered(X, BUFFER_BYTES, unstored)
    if is_dask(X):
        return None
    X = brought(X, unstored)
    if scaling is not None and scaling.recipe is not None:
        X = scaling.selected(X)
    if isinstance(X, Source | Columns) or sparse.issparse(X):
        return None
    return matrix_of(X) if is_frame(X) else to_numpy(X) if is_array(X) else np.asarray(X, float)


def brought(X: Any, unstored: bool = False) -> Any:
    """X with cells that may be missing as a matrix of the host, if it can be one.

    Such are tensors and sparse matrices that hold NaN, and floats in files, and whatever else is
    read block by block, if they fit into a buffer; a data frame, if their columns have names. All
    else stays what it is. Cells of sparse matrices that are ``unstored`` may be missing, too.
    """
    if sparse.issparse(X):
        gone = X.ndim == 2 and (unstored or sparse_gaps(X, unstored))
        return full(X, unstored, BUFFER_BYTES) if gone else X
    if is_frame(X) and hasattr(X, "sparse") and all(hasattr(k, "fill_value") for k in X.dtypes):
        return X.sparse.to_dense() if X.isna().to_numpy().any() else X  # 0 is 0 in frames
    if _is_foreign(X):
        floats = X.ndim == 2 and host_dtype(X.dtype).kind == "f"
        return to_numpy(X) if floats and np.isnan(to_numpy(X)).any() else X
    if not isinstance(X, Source):
        return X
    if isinstance(X, Columns) and not getattr(X, "holds_numbers", False):
        return X
    unstored = unstored and sparse.issparse(next(iter(X.blocks(0, X.shape[0]))))
    if unstored:
        check_size(X.shape, np.result_type(X.dtype, np.float32), BUFFER_BYTES)
    elif X.dtype.kind != "f" or X.shape[0] * X.shape[1] * X.dtype.itemsize > BUFFER_BYTES:
        return X
    blocks = list(X.blocks(0, X.shape[0]))
    thin = [block for block in blocks if sparse.issparse(block)]
    if thin and not unstored and not any(sparse_gaps(block, unstored) for block in thin):
        return X
    blocks = [full(b, unstored, BUFFER_BYTES) if sparse.issparse(b) else b for b in blocks]
    matrix = np.concatenate(blocks)
    if X.columns is None:
        return matrix
    try:
        import pandas as pd
    except ImportError:
        return X
    return pd.DataFrame(matrix, columns=list(X.columns))


def check_matrix(X: Any, user: str) -> Rows:
    """Data for a function named ``user``, as rows of floats in [0, 1]."""
    X = _bare(X if isinstance(X, Rows) else opened(X).data)
    rows = _rows_elsewhere(X, user)
    if rows is None and _is_foreign(X):
        return check_foreign(X, user)
    return rows or _rows_in_memory(X, user, check_array)


def _rows_for(estimator: Any, X: Any, *, reset: bool, user: str | None, sample_weight: Any) -> Rows:
    if isinstance(X, Rows):
        _check_columns(estimator, attributes_of(X), reset)
        return X
    device = backend_named(estimator.device) if estimator.device is not None else None
    before = None if reset else getattr(estimator, "white_", None)
    scaling = None if reset else estimator.scaling_
    remembered = estimator.scale if isinstance(estimator.scale, Scaling) else scaling
    gaps = takes_gaps(estimator, reset)
    table = opened(X, None if remembered is None else remembered.reading)
    X = table.data
    user = User(user) if user else User(type(estimator).__name__, _for_gaps(estimator, X))
    X = _bare(X, remembered, gaps, user, levelled=not gaps or estimator.scale is not None)
    home = None
    unstored = getattr(estimator, "missing", "refuse") == "unstored"
    if unstored and isinstance(X, np.ndarray) and X.ndim == 2:
        _warn_of_zeros(X)
    if gaps and is_dask(X):
        X = gathered(X, BUFFER_BYTES, unstored)
    elif gaps:
        home, X = backend_of(X), brought(X, unstored)
        home = None if _is_foreign(X) or home.is_numpy else home  # of a tensor that has gaps
    elif unstored and sparse.issparse(X) and (count := sparse_gaps(X, unstored)):
        raise ValueError(
            f"{count:,} cells of X are not stored: missing ones (missing='unstored'). In training "
            "there were none, so that nothing was learnt to fill them with; train on rows that "
            "have some, or give X.toarray(), if they are 0"
        )
    scale = estimator.scale
    filling = None
    made_before = isinstance(scale, Scaling) if reset else scaling is not None
    # a scaling that is made of X itself cuts nothing off
    ledger = Ledger() if made_before and table.ledger is None else table.ledger
    elsewhere = isinstance(X, Source | Columns) or is_dask(X) or _is_foreign(X)
    if reset and (elsewhere or isinstance(scale, Scaling) or (scale is not None and is_frame(X))):
        scaling = _scaling(estimator, X, user)
    beside = {"label": table.label, "index": table.index}
    if table.recipe is not None:
        scaling = replace(scaling or Scaling("none"), recipe=table.recipe)
    if (isinstance(X, Columns) or any(beside.values())) and not (scaling and scaling.recipe):
        # a file, for a model of something else: its columns are found by their names
        known = () if reset else getattr(estimator, "feature_names_in_", ())
        how = scaling or Scaling("none")
        recipe = how.columns_of(X, table.names, list(map(str, known)), **beside)[1]
        scaling = scaling if recipe is None else replace(how, recipe=recipe)
    along = Along(table.names, table.image_shape, labels=table.labels)
    if scaling is not None:
        scaling.check_order(X)
    if scaling is not None and scaling.recipe is not None:
        if len(getattr(X, "shape", (0, 0))) == 1:
            check_array(X)  # says that rows make a matrix
        X, along = _selected(X, table, scaling, ledger, stays=reset)
    if table.ledger is not None and not reset:
        _check_attributes(estimator, X, along.names, table.source)
    if scaling is not None and (isinstance(X, Source) or is_dask(X) or _is_foreign(X)):
        X = scaling.scaled(X, ledger)
    rows = _rows_elsewhere(X, user, device, before)
    if rows is None and _is_foreign(X):
        rows = check_foreign(X, user, before)
        if device is not None and rows.backend != device:
            raise ValueError(
                f"X is on device {str(rows.backend.device)!r}, but device={estimator.device!r}; "
                "move X there, or leave device=None to work where X is"
            )
    if rows is not None:
        rows.columns = rows.columns or along.names or (scaling and scaling.names)
        _check_columns(estimator, rows, reset)
    else:
        held, scaling = _rows_of_matrix(estimator, X, scaling, ledger, user, reset=reset)
        rows = held
        if along.names is not None and not (scaling and scaling.recipe):
            held.columns = along.names
            _check_columns(estimator, held, reset)
        if takes_gaps(estimator, reset) and has_gaps(held):
            heavy = weighted(held, sample_weight) if reset else held
            filling = estimator._learnt_filling(heavy) if reset else estimator.filling_
            if ledger is not None:
                ledger.add_gaps(np.isnan(cast(HostRows, held).X), scaling and scaling.recipe)
            rows = held = filling.filled(held)
        if home is not None and isinstance(held, HostRows):
            rows = DeviceRows(home.array(held.X))
            rows.gaps = held.gaps
        elif device is not None and isinstance(held, HostRows) and not device.is_numpy:
            rows = on_device(held, device, again=reset)
            rows.gaps = held.gaps
    if reset:
        if estimator._complements(scaling):
            scaling = replace(scaling or Scaling("none"), complemented=True)
        estimator.white_, estimator.scaling_, estimator.filling_ = rows.white, scaling, filling
        rows.columns = getattr(estimator, "feature_names_in_", None)
    rows.ledger, rows.along = ledger, along
    if ledger is not None:
        ledger.names = getattr(estimator, "feature_names_in_", None)
    if ledger and table.ledger is None and (rows.resident or rows.on_workers):
        warn(ledger.warning())  # a stream warns when it has been read
    complemented = scaling is not None and scaling.complemented
    return ComplementedRows(rows) if complemented else rows


def _check_attributes(estimator: Any, X: Any, names: Sequence[str] | None, source: str) -> None:
    """Complain of other attributes than those that a model was trained on."""
    width, expected = X.shape[1], getattr(estimator, "feature_names_in_", None)
    if width != estimator.n_features_in_:
        raise TableError(
            f"{width} attributes, but the model is for {estimator.n_features_in_}", source=source
        )
    for i, (name, known) in enumerate(
        zip(names or (), () if expected is None else expected, strict=False)
    ):
        if name != known:
            raise TableError(
                "{at} is not {known}, with which the model was trained",
                source=source,
                at=Place.at(None, i, names),
                known=repr(known),
            )


def _warn_of_zeros(X: NDArray[Any]) -> None:
    """All cells of a full matrix are stored; to take its zeros for missing is a mistake."""
    zeros = np.count_nonzero(X == 0) if X.dtype.kind in "biuf" else 0
    if zeros and not (X.dtype.kind == "f" and np.isnan(X).any()):
        warn(
            f"X is a full matrix, all of whose cells are stored, so that its {zeros:,} zeros count "
            "as known, although missing='unstored' was given. Give a sparse one that stores what "
            "is known, or NaN for what is not"
        )


def _rows_of_matrix(
    estimator: Any,
    X: Any,
    scaling: Scaling | None,
    ledger: Ledger | None,
    user: User,
    *,
    reset: bool,
) -> tuple[Rows, Scaling | None]:
    """Rows of a matrix in memory, and the scaling that they have undergone."""
    origin = None if ledger is None else ledger.origin
    gaps = takes_gaps(estimator, reset)
    if scaling is not None and scaling.recipe is not None:
        scaled = scaling.scaled(X, ledger)
        rows = HostRows(check_values(scaled, scaling.names, user, gaps=gaps, origin=origin))
        rows.columns = scaling.names if scaling.recipe.named else None
        _check_columns(estimator, rows, reset)
        return rows, scaling
    validate = partial(validate_data, estimator, reset=reset)
    if reset and scaling is None and estimator.scale is not None:
        raw = X if sparse.issparse(X) else np.asarray(X)
        if raw.dtype.kind not in "biuf":  # objects that are numbers, or an error
            raw = X = _floats(raw, validate)
        if raw.ndim == 2 and raw.size:
            scaling = _scaling(estimator, raw, user)
    if scaling is None or scaling.kind == "none":
        before = None if reset else getattr(estimator, "white_", None)
        return _rows_in_memory(X, user, validate, before, gaps, origin), scaling
    matrix = _floats(X, validate)
    large = isinstance(matrix, np.ndarray) and matrix.nbytes > kinds.SMALL_MAP
    if large and not (gaps and np.isnan(matrix).any()):  # no second one beside it
        source = ScaledSource(ArraySource(matrix), scaling, ledger)
        return stream(source, user, backend_for(estimator), None), scaling
    names = getattr(X, "columns", None)
    scaled = scaling.scaled(matrix, ledger)
    return HostRows(check_values(scaled, names, user, gaps=gaps, origin=origin)), scaling


def _scaling(estimator: Any, X: Any, user: User) -> Scaling | None:
    """The scaling to train with: what ``scale`` is, or makes of X."""
    scale = estimator.scale
    if isinstance(scale, Scaling):
        return scale
    if scale is None and not isinstance(X, Columns):
        return None
    if scale is None and getattr(X, "holds_numbers", False):
        return None
    refused = getattr(estimator, "missing", "refuse") == "refuse"
    kind = scale or "none"
    try:
        return Scaling.fit(X, kind, missing="refuse" if refused else "allow")
    except TableError as error:
        if isinstance(error, UnfitNumbersError) and error.kind == "missing":
            never = user.for_gaps == FILL_BEFORE  # are they filled
            remedy = f"{user} takes no NaN: {FILL_BEFORE}" if never else user.for_gaps
        elif any(setting.name != "scale" for setting in error.settings):  # those of Scaling.fit
            how = f"Give scale=lrnn.Scaling.fit(X, {kind!r}, ...) with such a parameter"
            remedy = f"{error.remedy}. {how}"
        else:
            raise
        raise error.but(remedy=remedy) from None


TRAIN = (
    "train with missing='allow', which fills such cells (NaN) with what is probable; or fill or "
    "drop them before, for example with sklearn.impute.SimpleImputer"
)


def _for_gaps(estimator: Any, X: Any) -> str:
    """What helps someone whose data have missing cells, which this estimator refuses."""
    missing = getattr(estimator, "missing", None)
    if missing is None:  # it fills none
        return FILL_BEFORE
    counted = sparse.issparse(X) or (is_dask(X) and not hasattr(X, "columns"))
    counted = counted or (isinstance(X, Source) and getattr(X, "holds_numbers", True))
    if counted and np.prod(X.shape, dtype=float) * X.dtype.itemsize > BUFFER_BYTES:
        return (
            "fill or drop such cells before, for example with sklearn.impute.SimpleImputer: "
            f"missing='allow' fills them in no more than {in_bytes(BUFFER_BYTES)} of such data"
        )
    if missing == "refuse":
        return TRAIN
    return (
        "in training no cell was missing, and nothing was learnt to fill such with; train on rows "
        "that have some, or fill or drop them before"
    )


def takes_gaps(estimator: Any, reset: bool) -> bool:
    """Whether cells may be missing: in training, or if it was seen there what fills them."""
    allowed = getattr(estimator, "missing", "refuse") != "refuse"
    return allowed and (reset or getattr(estimator, "filling_", None) is not None)


def _bare(
    X: Any,
    scaling: Scaling | None = None,
    gaps: bool = False,
    user: User | None = None,
    levelled: bool = True,
) -> Any:
    """X as its numbers alone: tensors without gradients, masked arrays without masks.

    Masked cells are missing ones; they are refused, unless a scaling knows what to do with such.
    So are masked levels, unless they get ``levelled``.
    """
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.stack(X)
    if not isinstance(X, np.ma.MaskedArray):
        return detached(X)
    recipe = None if scaling is None else scaling.recipe
    refused = not gaps and (recipe is None or recipe.missing == "refuse")
    if np.ma.is_masked(X) and X.ndim == 2 and refused:
        offence = first_offending([np.ma.getmaskarray(X)], np.asarray)
        assert offence is not None
        remedy = "fill such cells before, as X.filled(0) does"
        if user is not None and user.for_gaps == TRAIN:
            remedy = (
                "train with {missing=allow}, which fills such cells with what is probable; or with "
                "scale=Scaling.fit(X, missing='median'), or 'drop', which leaves their rows out; "
                "or fill them before, as X.filled(0) does"
            )
        raise UnfitNumbersError(
            "X is a masked array: {at} is masked{more}",
            remedy=remedy,
            kind="missing",
            at=offence.at,
            more=offence.more,
        )
    if np.ma.is_masked(X) and are_levels(X.dtype) and scaling is None and not levelled:
        raise ValueError(
            f"X is a masked array of {X.dtype}: whole numbers with missing ones are no levels by "
            "themselves; scale='levels' divides them by the one that is white"
        )
    return unmasked(X)


def _selected(
    X: Any, table: Table, scaling: Scaling, ledger: Ledger | None, stays: bool
) -> tuple[Any, Along]:
    """The attributes of a table that a scaling chooses, and what goes along with them.

    If there are too many to be held in memory they are read from the table; where the table
    ``stays``, they are read several times, and nothing goes along.
    """
    columns, recipe = scaling.columns_of(X, table.names, label=table.label, index=table.index)
    assert recipe is not None
    if table.source != "X" and not isinstance(X, Columns | Source):
        columns.name = table.source
    source = TableSource(columns, recipe, ledger, carries=True)
    held = source.held(IN_MEMORY if isinstance(X, Columns | Source) else None)
    carried = () if held is None and stays else source.carried_names
    source.carried_names = carried
    own = {name: name for name in carried}
    labels = table.labels
    if labels is not None and ledger is not None and len(ledger.dropped):
        labels = tuple(np.delete(np.array(labels, dtype=object), ledger.dropped).tolist())
    along = Along(
        recipe.names if recipe.named else None,
        table.image_shape,
        own.get(recipe.label or ""),
        own.get(recipe.index or ""),
        source.carried,
        labels,
        recipe,
    )
    return (source if held is None else held), along


def _rows_elsewhere(
    X: Any, user: str, device: Backend | None = None, before: float | None = None
) -> Rows | None:
    """Rows that are not in memory, or are rows already; None if X is something else."""
    if isinstance(X, Rows):
        return X
    if is_dask(X):
        return dask_rows(X, user, device, before)
    return stream(X, user, device or HOST, before) if isinstance(X, Source) else None


def _is_foreign(X: Any) -> bool:
    """Whether this is an array of torch, CuPy or another namespace."""
    return is_array(X) and not isinstance(X, np.ndarray)


def _rows_in_memory(
    X: Any,
    user: str,
    validate: Callable[..., Any],
    before: float | None = None,
    gaps: bool = False,
    origin: Origin | None = None,
) -> HostRows:
    """Data as a matrix; the values of full ones are checked when they are first read."""
    if isinstance(X, list | tuple) and X and isinstance(X[0], np.ndarray):
        X = np.asarray(X)
    X = _numbers(X)
    if _holds_levels(X):
        if any(hasattr(kind, "numpy_dtype") for kind in getattr(X, "dtypes", ())):
            X = X.astype(types_of(X)[0])  # pandas' own whole numbers
        levels = validate(X, accept_sparse="csr", dtype=None)
        if sparse.issparse(levels):
            levels = summed(sparse.csr_array(levels))
        if are_levels(levels.dtype):  # and not those of a frame that became something else
            return HostRows(levels, white_of(levels.dtype, lambda: _highest(levels), before))
    checked = _floats(X, validate)
    names = getattr(X, "columns", None)
    look = partial(check_values, names=names, user=user, gaps=gaps, origin=origin)
    if gaps or not isinstance(checked, np.ndarray):
        return HostRows(look(checked))
    return HostRows(checked, look=look)


def _highest(levels: Any) -> Iterator[Any]:
    """The highest levels of some rows after the other."""
    for first in range(0, levels.shape[0], ROWS_LOOKED_AT):
        yield levels[first : first + ROWS_LOOKED_AT].max()


def _floats(X: Any, validate: Callable[..., Any]) -> Any:
    """A matrix of floats, full or sparse."""
    floats = [np.float64, np.float32]
    try:
        checked = validate(X, accept_sparse="csr", dtype=floats, ensure_all_finite=False)
    except (ValueError, OverflowError):
        error = not_a_number(X) if _may_hold_text(X) else None
        if error is None:
            raise
        raise error from None
    # a sparse frame of truth values is not converted by scikit-learn
    return checked if checked.dtype in floats else checked.astype(np.float64)


def _may_hold_text(X: Any) -> bool:
    """Whether cells may be something else than numbers."""
    kinds = types_of(X) if hasattr(X, "dtypes") else [getattr(X, "dtype", np.dtype(object))]
    return not sparse.issparse(X) and any(kind.kind in "OSU" for kind in kinds)


def _numbers(X: Any) -> Any:
    """X, if it may hold numbers; full, if it is a sparse frame whose gaps are not 0."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"X holds {X.dtype}, not numbers; give durations or years, for example")
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return X
    if not len(X.columns):
        raise ValueError(f"X has no columns: its shape is {tuple(X.shape)}")
    for name, kind in zip(X.columns, types_of(X), strict=True):
        if kind.kind in "mM":
            raise ValueError(
                f"column {name!r} of X holds {kind}, not numbers; drop that column, or give "
                "durations or years, for example"
            )
    fills = [getattr(kind, "fill_value", 0) for kind in X.dtypes]
    halves = {
        name: type(kind)(np.float32, kind.fill_value)
        for name, kind in zip(X.columns, X.dtypes, strict=True)
        if getattr(kind, "subtype", None) == np.float16
    }
    if halves:  # which no sparse matrix can be of
        X = X.astype(halves)
    return X.sparse.to_dense() if any(fill != 0 for fill in fills) else X


def _holds_levels(X: Any) -> bool:
    """Whether all are levels: of an array, full or sparse, or of a frame where none is missing."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return are_levels(X.dtype)
    if not hasattr(X, "columns") or not len(X.columns):
        return False
    if not are_levels(type_of_columns(types_of(X), list(X.columns))):
        return False
    whole = all(isinstance(kind, np.dtype) for kind in X.dtypes) or not hasattr(X, "isna")
    return whole or not X.isna().to_numpy().any()


def _check_columns(estimator: Any, rows: Rows, reset: bool) -> None:
    """How many columns there are, and their names, are remembered, or compared."""
    names = rows.columns
    if names is None:
        validate_data(estimator, rows, reset=reset, skip_check_array=True)
        return
    if reset:
        estimator.n_features_in_ = rows.shape[1]
        estimator.feature_names_in_ = np.array(names, dtype=object)
        return
    if rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    known = list(getattr(estimator, "feature_names_in_", names))
    if known != list(names):
        found, expected = next((a, b) for a, b in zip(names, known, strict=True) if a != b)
        raise ValueError(f"X has a column {found!r} where the model was trained with {expected!r}")


def check_codes(estimator: Any, codes: Any, width: int) -> Rows:
    """Codes as rows of floats in [0, 1] with one column per code neuron."""
    user = User(type(estimator).__name__, "give what transform returned", codes=True)
    codes = _bare(codes if isinstance(codes, Rows) else opened(codes).data)
    rows = _rows_elsewhere(codes, user)
    if rows is None and _is_foreign(codes):
        rows = check_foreign(codes, user)
    if rows is None:
        rows = HostRows(_floats(codes, check_array))
    if rows.shape[1] != width:
        raise ValueError(
            f"the codes have {rows.shape[1]} columns, but this {user} has "
            f"{width} code neurons; give what transform returned"
        )
    if isinstance(rows, HostRows):
        return HostRows(check_values(rows.X, getattr(codes, "columns", None), user))
    return rows


def check_labels(estimator: Any, y: Any) -> NDArray[Any]:
    """Labels as an array of the host."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None; give a label for each row"
        )
    y = detached(y, "y")
    y = to_numpy(y) if is_array(y) else y
    found = check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    found = column_or_1d(found, warn=True)
    check_classification_targets(found)
    return np.asarray(found)


def counted(X: Any, y: NDArray[Any], sample_weight: Any) -> tuple[Any, NDArray[Any], Any]:
    """Rows, labels and weights without those that weigh nothing, where X is a matrix in memory.

    So they count for nothing either in a scaling that is made of X. Weights that make no sense are
    left to `weighted`.
    """
    in_memory = isinstance(X, np.ndarray | list) or sparse.issparse(X) or is_frame(X)
    if sample_weight is None or not in_memory:
        return X, y, sample_weight
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return X, y, sample_weight
    kept = np.flatnonzero(weights)
    if weights.shape != y.shape or len(kept) in (0, len(y)) or len(y) != num_samples(X):
        return X, y, sample_weight
    return safe_indexing(X, kept), y[kept], weights[kept]


def labels_of(
    rows: Rows,
    y: NDArray[Any],
    classes: NDArray[Any],
    remedy: str = "name all of them in the first call to partial_fit",
) -> NDArray[np.int64]:
    """The number of each row's class; there must be one label for each, of these classes."""
    found, dropped = y, () if rows.ledger is None else rows.ledger.dropped
    if len(dropped) and len(found) == rows.shape[0] + len(dropped):
        found = np.delete(found, dropped)  # of rows that a scaling leaves out
    if len(found) != rows.shape[0]:
        raise ValueError(
            f"y has {len(found)} labels, and X has {rows.shape[0]} rows (inconsistent numbers of "
            "samples); give one label for each row"
        )
    strange = np.setdiff1d(found, classes).tolist()
    if strange:
        row = int(np.argmax(found == strange[0]))
        raise TableError(
            "y has {value} at {at}, which is none of the classes {classes:.200}",
            remedy=remedy,
            at=Place(row),
            value=repr(strange[0]),
            classes=repr(classes.tolist()),
        )
    return np.searchsorted(classes, found)


def weighted(rows: Rows, sample_weight: Any, *, relative: bool = True, scale: Any = None) -> Rows:
    """Rows with weights, if there are any: finite numbers, 0 or more, one for each row.

    Where only their ratios matter (``relative``), all are divided by some power of two such that
    sums of them do not overflow. A ``scale`` that was made of the rows knows no weights.
    """
    if sample_weight is None:
        return rows
    found = detached(sample_weight, "sample_weight")
    try:
        weights = np.asarray(to_numpy(found) if is_array(found) else found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"sample_weight must hold numbers, got {sample_weight!r:.100}") from None
    dropped = () if rows.ledger is None else rows.ledger.dropped
    if weights.ndim == 0:
        weights = np.full(rows.shape[0], weights)
    elif weights.shape == (rows.shape[0] + len(dropped),):
        weights = np.delete(weights, dropped)  # of rows that a scaling leaves out
    if weights.shape != rows.shape[:1]:
        raise ValueError(
            f"sample_weight has the shape {weights.shape}, and X has {rows.shape[0]} rows; give "
            "one weight for each row"
        )
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        more = f" (and {wrong.sum() - 1} more)" if wrong.sum() > 1 else ""
        raise TableError(
            f"sample_weight is {{value:g}} at {{at}}{more}",
            remedy="a weight is a finite number, 0 or more",
            at=Place(row),
            value=weights[row],
        )
    if not weights.any():
        raise ValueError("all of sample_weight is zero: no row has any weight; leave it out")
    if isinstance(scale, str) and scale not in ("none", "levels") and not weights.all():
        raise ValueError(
            f"{np.count_nonzero(weights == 0)} rows have no weight (sample_weight is 0), but "
            f"scale={scale!r} is made of them, too; leave these rows out, or give "
            "scale=lrnn.Scaling.fit(...) of the others"
        )
    if relative:
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight sums to infinity; divide all weights by some large number")
    return WeightedRows(rows, weights)


def for_frames(estimator: Any, codes: Array) -> Array:
    """Codes; in the memory of the host, if they become data frames (``set_output``)."""
    framed = _get_output_config("transform", estimator)["dense"] != "default"
    return to_numpy(codes) if framed and is_array(codes) else codes
