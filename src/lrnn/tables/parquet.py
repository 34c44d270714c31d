"""Parquet files, through pandas and pyarrow where these are installed."""

from pathlib import Path
from typing import Any

from lrnn.tables.table import Table, table_of


def read_parquet(path: Path) -> Table:
    """Read a parquet file whose columns are all numbers."""
    frame = _frame(path)
    numbers = frame.select_dtypes("number")
    if len(numbers.columns) != len(frame.columns):
        words = next(c for c in frame.columns if c not in numbers.columns)
        raise ValueError(f"{str(path)!r}: column {words!r} holds {frame[words].dtype}, not numbers")
    table = table_of(numbers.to_numpy(), f"{str(path)!r}")
    return Table(table.data, tuple(map(str, frame.columns)))


def _frame(path: Path) -> Any:
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise ValueError("reading .parquet needs pandas: pip install pandas pyarrow") from None
    try:
        return pandas.read_parquet(path)
    except Exception as error:  # pyarrow's own errors, of many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        line = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} is not a parquet file, or damaged: {line}") from None
