"""Types of numbers: what columns, blocks and files of several types are together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import are_levels
from lrnn.tables.messages import Place, TableError

__all__ = ["check_kind", "matrix_of", "not_a_number", "numbers_of", "type_of_columns", "types_of"]

TEXT = np.dtype(object)


def matrix_of(frame: Any) -> NDArray[Any]:
    """The numbers of a frame. Missing ones are NaN, so that whole numbers become floats."""
    kind = type_of_columns(types_of(frame), list(frame.columns))
    if kind == TEXT or not hasattr(frame, "isna"):  # of Polars
        return np.asarray(frame.to_numpy())
    if all(isinstance(known, np.dtype) for known in frame.dtypes):
        return np.asarray(frame.to_numpy(dtype=kind))
    if kind.kind == "f" or frame.isna().to_numpy().any():
        kind = np.result_type(kind, np.float32)
        return np.asarray(frame.to_numpy(dtype=kind, na_value=np.nan))
    return np.asarray(frame.to_numpy(dtype=kind))


def numbers_of(X: Any) -> Any:
    """An array of objects, or of texts, as one of floats; anything else stays what it is."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "OSU":
        return X
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise not_a_number(X) or ValueError("X has values that are not numbers") from None


def not_a_number(X: Any) -> TableError | None:
    """The error of the first cell that is no number, or too large for one, if there is one."""
    cells = np.atleast_2d(np.asarray(X, dtype=object))
    for (row, column), value in np.ndenumerate(cells):
        try:
            float(value)
        except OverflowError:
            said, remedy = "{at} is too large for a float", "divide that column by a large number"
        except (TypeError, ValueError):
            said = "{at} is {value:.100}, which is not a number"
            remedy = (
                "drop that column or encode it, for example with "
                "sklearn.preprocessing.OneHotEncoder"
            )
        else:
            continue
        at = Place.at(row, column, getattr(X, "columns", None))
        return TableError(said, remedy=remedy, source="X", at=at, value=repr(value))
    return None


def types_of(frame: Any) -> list[np.dtype[Any]]:
    """NumPy's types of a frame's columns, those that may have missing numbers too."""
    return [_numpy_type(kind) for kind in frame.dtypes]


def type_of_columns(
    kinds: Sequence[np.dtype[Any]], names: Sequence[Any], where: str = "X"
) -> np.dtype[Any]:
    """The type of a matrix of such columns; that of objects, if some hold no numbers.

    Levels beside other numbers are numbers as well. Levels of 8 and of 16 bits are refused: what
    is 1 in one column would not be 1 in the other.
    """
    if not kinds or any(kind.kind not in "biuf" for kind in kinds):
        return TEXT
    if not all(map(are_levels, kinds)):
        found = np.result_type(*kinds)
        return np.dtype(np.float64) if are_levels(found) else found  # beside truth values
    first, *others = kinds
    for name, kind in zip(names[1:], others, strict=True):
        if kind.itemsize != first.itemsize:
            raise ValueError(
                f"{where} has levels of several types: {first.name} in column {names[0]!r}, "
                f"{kind.name} in column {name!r}. Give all columns one type, or numbers in [0, 1]"
            )
    return first


def check_kind(found: np.dtype[Any], expected: np.dtype[Any], where: str) -> None:
    """Complain of numbers that are levels where others are none, or other levels."""
    levels = are_levels(found), are_levels(expected)
    if any(levels) and (not all(levels) or found.itemsize != expected.itemsize):
        raise ValueError(
            f"{where} holds {found.name}, but what came before {expected.name}: levels, of which "
            "the highest is 1, and other numbers do not go together. Give all of them one type"
        )


def _numpy_type(kind: Any) -> np.dtype[Any]:
    if isinstance(kind, np.dtype):
        return kind
    known = getattr(kind, "numpy_dtype", getattr(kind, "subtype", None))  # of pandas
    try:
        return np.dtype(str(kind).lower() if known is None else known)  # Polars names them so
    except TypeError:
        return TEXT
