"""What happened to data on their way to a model: values cut off, cells filled, rows left out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.messages import Message, Place, RowNumbers, Text, joined

__all__ = ["Ledger", "RangeWarning", "passing"]

SHOWN = 3  # columns that are named


class RangeWarning(Message, UserWarning):
    """Data have values beyond the range of training, which are cut off."""


@dataclass
class Ledger:
    """What was cut off, filled and left out of some data, so far as they have been read.

    Attributes
    ----------
    names : sequence of str or None
        Of the attributes.
    places : sequence of int or None
        The columns of the table, from 0, that the attributes are of; None if all are, in order.
    counts : ndarray of int
        How many numbers were beyond the range of the scaling, by attribute.
    rows : int
        How many rows were looked at.
    left_out : list of ndarray of int
        The numbers, from 0, of further rows that were left out, since cells of theirs are missing.
    filled : int
        How many missing cells were filled with the middle of their column.
    guessed : int
        How many were filled with what is probable, given the other cells of the row.
    unseen : dict of str to (int, str)
        By column of text, how many cells hold what training has not seen, and one of these.
    steps : set of str
        By which steps all rows have gone.
    """

    names: Sequence[str] | None = None
    places: Sequence[int] | None = None
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rows: int = 0
    left_out: list[NDArray[np.intp]] = field(default_factory=list)
    filled: int = 0
    guessed: int = 0
    unseen: dict[str, tuple[int, str]] = field(default_factory=dict)
    steps: set[str] = field(default_factory=set)
    _furthest: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.counts.any() or self.unseen or self.left_out)

    @property
    def dropped(self) -> NDArray[np.intp]:
        """The numbers, from 0, of all rows that were left out."""
        return np.concatenate([np.empty(0, dtype=np.intp), *self.left_out])

    def add(self, values: Any, low: Any, high: Any, slack: Any) -> None:
        """Count the numbers of further rows that are not from ``low`` to ``high``."""
        wrong = (values < low - slack) | (values > high + slack)
        found = np.asarray(wrong.sum(axis=0), dtype=np.int64)
        self.rows += int(values.shape[0])
        self.counts = found if not len(self.counts) else self.counts + found
        for column in np.flatnonzero(found):
            cells = values[:, column]
            lowest, highest = np.broadcast_to(low, found.shape), np.broadcast_to(high, found.shape)
            far = float(cells[int(np.nanargmax(np.abs(cells - (lowest + highest)[column] / 2)))])
            before = self._furthest.get(int(column))
            if before is None or abs(far - lowest[column]) > abs(before[0] - lowest[column]):
                limits = float(lowest[column]), float(highest[column])
                self._furthest[int(column)] = (far, *limits)

    def add_sparse(self, values: Any, wrong: Any, high: Any) -> None:
        """Count those of the stored numbers of a sparse matrix that are ``wrong``."""
        found = np.bincount(values.indices[wrong], minlength=values.shape[1]).astype(np.int64)
        self.rows += int(values.shape[0])
        self.counts = found if not len(self.counts) else self.counts + found
        for column in np.flatnonzero(found):
            here = wrong & (values.indices == column)
            far = float(values.data[here].max())
            self._furthest.setdefault(int(column), (far, 0.0, float(high[here][0])))

    def include(self, other: "Ledger") -> None:
        """Count what was counted elsewhere, too."""
        self.rows += other.rows
        if len(other.counts):
            self.counts = other.counts if not len(self.counts) else self.counts + other.counts
        self.filled += other.filled
        self.guessed += other.guessed
        self.left_out += other.left_out
        for name, (count, example) in other.unseen.items():
            self.add_unseen(name, count, example)
        for column, far in other._furthest.items():
            self._furthest.setdefault(column, far)

    def add_unseen(self, name: str, count: int, example: str) -> None:
        """Count further cells whose text training has not seen."""
        before, first = self.unseen.get(name, (0, example))
        self.unseen[name] = before + count, first

    def add_gaps(self, gaps: NDArray[np.bool_], recipe: Any = None) -> None:
        """Count cells that are missing, and will be guessed; text has several attributes."""
        if recipe is not None:
            ends = np.cumsum([len(column.attributes) for column in recipe.columns])
            gaps = gaps[:, ends - 1]
        self.guessed += int(np.count_nonzero(gaps))

    def origin(self, at: Place) -> Place:
        """Where a cell of the attributes stood in the table that they were made of."""
        row, column = at.row, at.column
        if row is not None:
            for dropped in np.sort(self.dropped):
                row += int(dropped <= row)
        if column is not None and self.places is not None:
            column = int(self.places[column])
        known = self.names is not None and at.column is not None
        name = self.names[at.column] if known else None  # type: ignore[index]
        return replace(Place.at(row, column), name=at.name or (name and str(name)), of=at.of)

    def warning(self, source: str = "") -> RangeWarning:
        """What users must know of it."""
        return RangeWarning("{entries}", source=source, entries=joined(self._entries, ". "))

    @property
    def _entries(self) -> list[Text]:
        entries = []
        if self.counts.any():
            total, cells = int(self.counts.sum()), self.rows * len(self.counts)
            worst = np.argsort(-self.counts, kind="stable")[:SHOWN]
            more = int(np.count_nonzero(self.counts)) - SHOWN
            others = f"; and {more} more columns" if more > 0 else ""
            units = ". Are they in other units?" if 2 * total > cells else ""
            entries.append(
                Text(
                    f"{total:,} of {cells:,} values are beyond the range of training, and cut off: "
                    f"{{columns}}{others}{units}",
                    columns=joined([self._column(int(i)) for i in worst if self.counts[i]]),
                )
            )
        for name, (count, example) in self.unseen.items():
            entries.append(
                Text(
                    f"{count:,} cells of column {{name}} hold what training has not seen, such as "
                    "{example}; they count as none of its values",
                    name=repr(name),
                    example=repr(example),
                )
            )
        if self.left_out:
            rows = self.dropped
            counted = f"{len(rows):,} rows" if len(rows) > 1 else "1 row"
            are = "are" if len(rows) > 1 else "is"
            entries.append(
                Text(
                    f"{counted} with missing cells {are} left out: {{rows}}",
                    rows=RowNumbers(rows.tolist()),
                )
            )
        return entries

    @property
    def filling(self) -> str:
        """What is said of cells that were filled, as was asked for."""
        ways = (
            (self.filled, "the middle of the column in training (text: what occurs most)"),
            (self.guessed, "what is probable, given the other cells of the row"),
        )
        return "; ".join(
            f"{count:,} missing {'cell is' if count == 1 else 'cells are'} filled with {how}"
            for count, how in ways
            if count
        )

    def to_json(self) -> dict[str, Any]:
        """For a document; columns without names are counted from 1."""
        found = np.flatnonzero(self.counts)
        return {
            "values": int(self.counts.sum()),
            "columns": {self._name(int(i)): int(self.counts[i]) for i in found},
            "unseen": {name: count for name, (count, _) in self.unseen.items()},
            "rows_left_out": len(self.dropped),
            "filled": self.filled,
            "guessed": self.guessed,
        }

    def _column(self, column: int) -> Text:
        far, low, high = self._furthest[column]
        place = Place.at(None, column, self.names)
        number = column if self.places is None else self.places[column]
        return Text(
            f"{self.counts[column]:,} in {{at}}, as far as {far:g}, where training had {low:g} to "
            f"{high:g}",
            at=place.moved(None, number),
        )

    def _name(self, column: int) -> str:
        if self.names is not None:
            return str(self.names[column])
        return f"column {(column if self.places is None else self.places[column]) + 1}"


@contextmanager
def passing(ledger: Ledger | None, step: str, first: int) -> Iterator[Ledger | None]:
    """The ledger of one pass by this step over rows from ``first`` on; None if nothing is counted.

    However often rows are read, they count once: in the first pass from row 0 that is complete.
    """
    if ledger is None or first or step in ledger.steps:
        yield None
        return
    own = Ledger()
    yield own
    if step not in ledger.steps:
        ledger.steps.add(step)
        ledger.include(own)
