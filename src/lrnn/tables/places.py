"""Where a number stands in a table, as people count: rows and columns from 1."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

SHOWN = 10  # names in a message


def place(row: Any, column: Any, names: Any = None, places: Any = None) -> str:
    """A cell, given by its indices, which begin with 0.

    >>> place(2, 1, ["ash", "alcohol"]), place(0, 0)
    ("row 3, column 2 ('alcohol')", 'row 1, column 1')
    """
    return f"row {row + 1}, {column_at(column, names, places)}"


def column_at(column: Any, names: Any = None, places: Any = None) -> str:
    """A column, given by its index; with its name, if it is a text.

    Columns that were taken from a table have ``places`` there, by which people count.

    >>> column_at(1, ["ash", "alcohol"]), column_at(1, ["ash", "alcohol"], places=[2, 5])
    ("column 2 ('alcohol')", "column 6 ('alcohol')")
    """
    name = names[column] if names is not None and column < len(names) else None
    number = (column if places is None else places[column]) + 1
    return f"column {number} ({short(name)!r})" if isinstance(name, str) else f"column {number}"


def short(text: str) -> str:
    """A text, or its beginning."""
    return text if len(text) <= 40 else text[:37] + "…"


def columns_listed(names: Sequence[str], wanted: object = "") -> str:
    """Columns of a table, for a message: those near to what was wanted first, then others.

    Of many only some are named, and the last, which often is the class.


    >>> columns_listed(["ash", "alcohol", "kind"], "Kin")
    "'kind', 'ash', 'alcohol'"
    >>> columns_listed([f"x{i}" for i in range(12)])
    "'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7', 'x8' and 3 more, the last of them 'x11'"
    """
    alike = get_close_matches(str(wanted).lower(), dict.fromkeys(map(str.lower, names)))
    near = [name for name in names if name.lower() in alike]
    near.sort(key=lambda name: alike.index(name.lower()))
    found = [*near[:SHOWN], *(name for name in names if name not in near[:SHOWN])]
    if len(found) <= SHOWN:
        return ", ".join(map(repr, found))
    first, left = found[: SHOWN - 1], len(found) - SHOWN + 1
    return f"{', '.join(map(repr, first))} and {left:,} more, the last of them {found[-1]!r}"
