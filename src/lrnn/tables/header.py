"""Whether the first line of a text holds names of its columns, or a row like the others."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.frame import is_missing, is_text
from lrnn.tables.messages import Text

__all__ = ["are_names"]

HEXADECIMAL = re.compile(r"[-+]?0[xX][0-9a-fA-F]+")
FEWEST_ROWS = 5  # with which numbers are compared
FAR = 4.0  # times what a column holds, or a part of it: a number that is none of its own


def are_names(
    cells: Sequence[str], numbers: Sequence[float | None], columns: Sequence[NDArray[Any]]
) -> tuple[bool, Text | str]:
    """Whether these cells are names, and a remark where that is a guess.

    Parameters
    ----------
    cells : sequence of str
        Those of the first line.
    numbers : sequence of float or None
        What they are as numbers: NaN where one is missing, None where one is no number.
    columns : sequence of ndarray
        What stands below them.
    """
    odd = [i for i, number in enumerate(numbers) if number is None and cells[i]]
    known = {i: n for i, n in enumerate(numbers) if n is not None and not np.isnan(n)}
    words = [i for i in odd if _is_word(cells[i])]
    if not columns:
        return bool(words), ""
    over_numbers = [i for i in words if not is_text(columns[i])]
    if not known:
        return (bool(over_numbers) or _differ(cells, words, columns)), ""
    values = list(known.values())
    rising = len(known) > 2 and all(a < b for a, b in pairwise(values))
    counting = rising and all(b - a == 1 for a, b in pairwise(values))
    apart = all(_is_apart(number, columns[i]) for i, number in known.items())
    over_numbers = [i for i in over_numbers if not cells[i][0].isdigit()]
    if over_numbers:
        names = apart or 2 * len(over_numbers) > len(odd) + len(known)
        guess = True
    else:
        corner = not cells[0] and is_text(columns[0]) and not is_missing(columns[0]).any()
        names = corner or (rising and apart) or (counting and values[0] == 0)
        guess = names or counting
    if not guess:
        return False, ""
    shown = ", ".join(map(repr, cells[:4])) + (", …" if len(cells) > 4 else "")
    taken, other = ("names", "a row") if names else ("a row", "names")
    return names, Text(
        f"line 1 ({{shown}}) is taken for {taken}; {{header={not names}}} makes it {other}",
        shown=shown,
    )


def _is_word(cell: str) -> bool:
    return any(map(str.isalnum, cell)) and not HEXADECIMAL.fullmatch(cell)


def _differ(cells: Sequence[str], words: Sequence[int], columns: Sequence[NDArray[Any]]) -> bool:
    """Whether words over text are names: all but one are there, and none occurs once more."""
    if len({cells[i] for i in words}) < max(1, len(cells) - 1):
        return False
    return not any(cells[i] in columns[i] for i in words)


def _is_apart(number: float, column: NDArray[Any]) -> bool:
    """Whether a number is far above, or far below, all that a column holds."""
    if is_text(column):
        return False
    sizes = np.abs(column[~is_missing(column)])
    if len(sizes) < FEWEST_ROWS:
        return False
    return bool(number > FAR * sizes.max() or 0 <= FAR * number < sizes.min())
