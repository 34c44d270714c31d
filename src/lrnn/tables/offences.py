"""The first value of some data that a model cannot take, and how many more there are."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.tables.messages import Place, Text, UnfitNumbersError

__all__ = ["Offence", "first_offending", "unfit"]

MEND = "mend or drop such cells"


@dataclass(frozen=True)
class Offence:
    """The first offending cell, row by row.

    Attributes
    ----------
    at : Place
        Where it is.
    value : object
        What stands there.
    in_column, in_others : int
        How many cells offend in the same column, and in all others.
    """

    at: Place
    value: Any
    in_column: int
    in_others: int

    @property
    def more(self) -> Text:
        """How many more there are, as an addition to a sentence; nothing, if there are none."""
        parts = [f"{self.in_column:,} such in this column"] if self.in_column > 1 else []
        parts += [f"{self.in_others:,} in other columns"] if self.in_others else []
        return Text(" ({parts})" if parts else "", parts=", ".join(parts))

    def numbered(self, numbers: Any) -> "Offence":
        """The same, where rows have other numbers: those of an array, or none that is known."""
        if numbers is None or self.at.row is None:
            return replace(self, at=replace(self.at, of=" of its block"))
        row = self.at.row
        number = int(numbers[row]) if np.ndim(numbers) else row + int(numbers)
        return replace(self, at=self.at.moved(number, self.at.column))


def first_offending(
    blocks: Iterable[Any], wrong: Callable[[Any], Any], names: Sequence[Any] | None = None
) -> Offence | None:
    """The first cell that is ``wrong``, of blocks of consecutive rows; None if there is none.

    Of sparse blocks, stored numbers alone can be.

    >>> X = np.array([[0.5, 2.0], [-1.0, 3.0]])
    >>> first_offending([X], lambda cells: cells > 1).value
    np.float64(2.0)
    """
    at, value, seen = None, None, 0
    counts: Any = 0
    for block in blocks:
        first = None
        if sparse.issparse(block):
            cells = sparse.coo_array(block)
            which = np.flatnonzero(wrong(cells.data))
            rows, columns = cells.coords
            counts = counts + np.bincount(columns[which], minlength=block.shape[1])
            first = (rows[which[0]], columns[which[0]]) if len(which) else None
        elif 0 not in block.shape:
            offends = wrong(block)
            counts = counts + np.count_nonzero(offends, axis=0)
            row, column = divmod(int(np.argmax(offends)), block.shape[1])
            first = (row, column) if offends[row, column] else None
        if at is None and first is not None:
            at = Place.at(seen + first[0], first[1], names)
            value = cells.data[which[0]] if sparse.issparse(block) else block[first]
        seen += block.shape[0]
    if at is None:
        return None
    own = int(counts[at.column])
    return Offence(at, value, own, int(counts.sum()) - own)


def unfit(
    found: Offence,
    remedy: str,
    limits: tuple[float, float] = (0.0, np.inf),
    source: str = "",
    user: str = "",
) -> UnfitNumbersError:
    """The error of a number that is missing, infinite, or beyond ``limits``.

    It is one of the ``source``; negative ones were passed to a ``user``.
    """
    (least, most), passed = limits, ""
    if np.isnan(found.value):
        kind, said = "missing", "{at} is missing (NaN){more}"
    elif np.isinf(found.value):
        kind, said, remedy = "infinite", "{at} is {value}, not a finite number{more}", MEND
    elif found.value < least:
        kind, said = "below", f"{{at}} is {{value:g}}, below {least:g}{{more}}"
        passed = user and f"Negative values in data passed to {user}: "
    else:
        kind, said = "above", f"{{at}} is {{value:g}}, above {most:g}{{more}}"
    return UnfitNumbersError(
        f"{{passed}}{said}{{takes}}",
        remedy=remedy,
        kind=kind,
        source=source,
        passed=passed,
        takes=f", and {user} takes finite numbers only" if user and not passed else "",
        at=found.at,
        value=float(found.value),
        more=found.more,
    )
