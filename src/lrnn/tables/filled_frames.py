"""Data frames whose missing cells were filled: all else of them stays what it was."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.frame import as_text, column_of, is_missing, is_text
from lrnn.tables.recipe import Column
from lrnn.tables.scaling import Scaling
from lrnn.tables.survey import truth_of
from lrnn.tables.types import types_of

__all__ = ["filled_frame"]


def filled_frame(X: Any, scaling: Scaling, scaled: NDArray[Any], left_out: Any = ()) -> Any:
    """A data frame of pandas or Polars, with missing cells filled from complete attributes.

    These are ``scaled`` to [0, 1], one row for each of X but those that were ``left_out``, which
    are left out here, too. Columns that are no attributes, and those without gaps, stay what they
    are.
    """
    of_pandas = hasattr(X, "iloc")
    if len(left_out):
        kept = np.delete(np.arange(X.shape[0]), left_out)
        X = X.iloc[kept] if of_pandas else X[kept]
    found, kinds = (X.copy() if of_pandas else X), types_of(X)
    for column, new in _columns(X, scaling, scaled):
        at = column.position
        series = X.iloc[:, at] if of_pandas else X[:, at]
        cells = column_of(series, kinds[at])
        gone = is_missing(cells)
        if not gone.any():
            continue
        values = _meant(column, series, cells, gone, new[gone], kinds[at])
        if of_pandas:
            found.isetitem(at, _of_pandas(series, kinds[at], gone, values))
        else:
            found = found.with_columns(_of_polars(series, kinds[at], gone, values))
    return found


def _columns(X: Any, scaling: Scaling, scaled: NDArray[Any]) -> list[tuple[Column, Any]]:
    """The columns that are attributes, and all that they hold, complete."""
    names = tuple(map(str, X.columns))
    if scaling.recipe is None:  # all are numbers, and taken as they are
        values = scaling.revert(scaled)
        return [(Column(name, i), values[:, i]) for i, name in enumerate(names)]
    recipe = scaling.recipe.found_in(names, True, "X")
    whole = Scaling(scaling.kind, scaling.low, scaling.span, recipe).to_frame(scaled)
    assert whole is not None
    return list(zip(recipe.columns, whole.columns, strict=True))


def _meant(
    column: Column,
    series: Any,
    cells: NDArray[Any],
    gone: NDArray[np.bool_],
    values: NDArray[Any],
    kind: np.dtype[Any],
) -> list[Any]:
    """What is filled in, as the column writes it: categories and truth values as its own."""
    if kind.kind == "b":
        return [bool(value >= 0.5) for value in values]
    categories = column.values is not None
    if not (is_text(cells) or (categories and gone.all())) or not (categories or column.truth):
        return [float(value) for value in values]
    known = [cell for cell, lost in zip(series.to_list(), gone, strict=True) if not lost]
    if column.truth:
        texts = truth_of(cells[~gone]).tolist()
        return [
            dict(zip(texts, known, strict=True)).get(float(v >= 0.5), bool(v >= 0.5))
            for v in values
        ]
    own = {as_text(text): cell for text, cell in zip(cells[~gone], known, strict=True)}
    return [own.get(value, value) for value in values]


def _widened(series: Any, kind: np.dtype[Any]) -> bool:
    """Whether whole numbers have to become floats, and can: none loses digits."""
    if kind.kind not in "iu":
        return False
    known = [number for number in series.to_list() if isinstance(number, int)]
    return all(int(float(number)) == number for number in known)


def _of_pandas(series: Any, kind: np.dtype[Any], gone: NDArray[np.bool_], values: Any) -> Any:
    own = series.dtype
    if kind.kind == "f" and any(isinstance(value, str) for value in values):  # no cell was known
        series = series.astype(object)
    elif hasattr(own, "fill_value"):
        series = series.sparse.to_dense()
    elif _widened(series, kind):
        series = series.astype("double[pyarrow]" if "pyarrow" in str(own) else "Float64")
    elif kind.kind in "iu":
        values = [round(value) for value in values]
    elif hasattr(own, "categories"):
        series = series.cat.add_categories(
            [v for v in dict.fromkeys(values) if v not in own.categories]
        )
    found, where = series.copy(), np.flatnonzero(gone)
    found.iloc[where] = type(series)(values, index=series.index[where], dtype=series.dtype).array
    return found.astype(own) if hasattr(own, "fill_value") else found


def _of_polars(series: Any, kind: np.dtype[Any], gone: NDArray[np.bool_], values: Any) -> Any:
    widened = _widened(series, kind)
    if kind.kind in "iu" and not widened:
        values = [round(value) for value in values]
    cells, new = series.to_list(), iter(values)
    filled = [next(new) if lost else cell for cell, lost in zip(cells, gone, strict=True)]
    if widened:
        return type(series)(series.name, list(map(float, filled)))
    return type(series)(series.name, filled, dtype=series.dtype)
