"""Columns under their names, of numbers or of text: tables before they are matrices."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.types import types_of

__all__ = [
    "Columns",
    "Frame",
    "FrameColumns",
    "as_number",
    "as_text",
    "column_of",
    "frame_of",
    "is_frame",
    "is_missing",
    "is_text",
    "repeated",
]


@dataclass(frozen=True)
class Frame:
    """Some rows of a table.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    columns : tuple of ndarray
        Numbers, NaN where one is missing; or objects: text, None where it is missing.
    first : int
        Number of the first row among all, from 0.
    rows : ndarray of int or None
        Numbers of the rows from the first one on, where some were left out.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    first: int = 0
    rows: NDArray[np.intp] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return (len(self.columns[0]) if self.columns else 0), len(self.columns)

    def __getitem__(self, rows: Any) -> "Frame":
        """Some rows: a slice, or a mask."""
        columns = tuple(column[rows] for column in self.columns)
        if isinstance(rows, slice) and self.rows is None:
            return Frame(self.names, columns, self.first + (rows.start or 0))
        numbers = np.arange(self.shape[0]) if self.rows is None else self.rows
        return Frame(self.names, columns, self.first, numbers[rows])

    def number(self, row: int) -> int:
        """The number, among all, of a row of these."""
        return self.first + (row if self.rows is None else int(self.rows[row]))

    def column(self, name: str) -> NDArray[Any]:
        """The column of this name."""
        return self.columns[self.names.index(name)]


class Columns(ABC):
    """Where columns of any kind come from, block by block.

    Attributes
    ----------
    name : str
        What messages call it.
    columns : tuple of str
        Names of the columns.
    beside : tuple of str
        Further columns, which are no attributes, but may be carried along: an index.
    named : bool
        Whether these names are the user's, and not made from the columns' numbers.
    rows : int or None
        How many rows there are, where that is known.
    """

    name: str
    columns: tuple[str, ...]
    beside: tuple[str, ...] = ()
    named: bool = True
    rows: int | None = None

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: i for i, name in enumerate(self.columns)}

    @abstractmethod
    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """Rows in order, from number ``first`` on; behind the columns those beside them.

        The columns ``text`` are given as text, also where all of it is numbers.
        """


class FrameColumns(Columns):
    """A data frame of pandas or Polars."""

    name = "X"

    def __init__(self, frame: Any) -> None:
        self._frame = frame if isinstance(frame, Frame) else frame_of(frame)
        self.columns = self._frame.names
        self.rows = self._frame.shape[0]

    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """All rows at once."""
        yield self._frame[first:] if first else self._frame


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of pandas or Polars, or a `Frame`."""
    return isinstance(X, Frame) or (
        hasattr(X, "columns") and hasattr(X, "dtypes") and not hasattr(X, "dask")
    )


def frame_of(X: Any) -> Frame:
    """A data frame of pandas or Polars as one of ours."""
    if isinstance(X, Frame):
        return X
    names = tuple(map(str, X.columns))
    twice = repeated(names)
    if twice is not None:
        raise ValueError(f"X has more than one column {twice!r}; give each a name of its own")
    columns = []
    for i, kind in enumerate(types_of(X)):
        series = X.iloc[:, i] if hasattr(X, "iloc") else X[:, i]
        columns.append(column_of(series, kind))
    return Frame(names, tuple(columns))


def repeated(names: Sequence[str]) -> str | None:
    """The first name that occurs more than once, if there is one."""
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), None)


def column_of(series: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    """Numbers with NaN for what is missing, or objects with None."""
    absent = np.asarray(series.isna() if hasattr(series, "isna") else series.is_null())
    if kind.kind in "biuf":
        if hasattr(series, "sparse"):
            series = series.sparse.to_dense()
        if not absent.any():
            return np.asarray(series.to_numpy(), dtype=kind)
        wide = np.result_type(kind, np.float32) if kind.kind != "b" else np.dtype(np.float64)
        values = np.full(len(absent), np.nan, dtype=wide)
        values[~absent] = np.asarray(
            series[~absent]
            if hasattr(series, "isna")
            else series.filter(series.is_not_null()).to_numpy()
        )
        return values
    found = np.empty(len(absent), dtype=object)
    for i, (cell, gone) in enumerate(zip(series.to_list(), absent, strict=True)):
        found[i] = None if gone else cell if isinstance(cell, str) else str(cell)
    return found


def as_number(text: str) -> float:
    """The number that a cell holds; no number has marks between its digits, as Python's may."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


def as_text(cell: Any) -> str:
    """A cell as it is written; whole numbers without a point."""
    if isinstance(cell, str):
        return cell
    return str(int(cell)) if float(cell).is_integer() else str(cell)


def is_text(column: NDArray[Any]) -> bool:
    """Whether a column of a `Frame` holds text."""
    return column.dtype.kind not in "biuf"


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells of a column of a `Frame` are missing."""
    if is_text(column):
        return np.fromiter((cell is None for cell in column), dtype=bool, count=len(column))
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
