"""Where a number stands in a table, as people count: rows and columns from 1."""

from typing import Any


def place(row: Any, column: Any, names: Any = None) -> str:
    """A cell, given by its indices, which begin with 0.

    >>> place(2, 1, ["ash", "alcohol"]), place(0, 0)
    ("row 3, column 2 ('alcohol')", 'row 1, column 1')
    """
    return f"row {row + 1}, {column_at(column, names)}"


def column_at(column: Any, names: Any = None) -> str:
    """A column, given by its index; with its name, if it is a text."""
    name = names[column] if names is not None and column < len(names) else None
    if not isinstance(name, str):
        return f"column {column + 1}"
    return f"column {column + 1} ({short(name)!r})"


def short(text: str) -> str:
    """A text, or its beginning."""
    return text if len(text) <= 40 else text[:37] + "…"
