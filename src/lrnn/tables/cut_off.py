"""What is beyond the range that a model was trained on, counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.places import column_at

__all__ = ["CutOff", "RangeWarning"]

SHOWN = 3  # columns that are named


class RangeWarning(UserWarning):
    """Data have values beyond the range of training, which are cut off."""


@dataclass
class CutOff:
    """What a scaling has cut off: numbers beyond the range that it was made for.

    Attributes
    ----------
    names : sequence of str or None
        Of the attributes.
    places : sequence of int or None
        The columns of the table, from 0, that the attributes are of; None if all are, in order.
    counts : ndarray of int
        How many numbers, by attribute.
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
    """

    names: Sequence[str] | None = None
    places: Sequence[int] | None = None
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rows: int = 0
    left_out: list[NDArray[np.intp]] = field(default_factory=list)
    filled: int = 0
    guessed: int = 0
    unseen: dict[str, tuple[int, str]] = field(default_factory=dict)
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

    def include(self, other: "CutOff") -> None:
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

    def __str__(self) -> str:
        said = []
        if self.counts.any():
            total, cells = int(self.counts.sum()), self.rows * len(self.counts)
            worst = np.argsort(-self.counts, kind="stable")[:SHOWN]
            named = "; ".join(self._of(int(i)) for i in worst if self.counts[i])
            more = int(np.count_nonzero(self.counts)) - SHOWN
            others = f"; and {more} more columns" if more > 0 else ""
            units = ". Are they in other units?" if 2 * total > cells else ""
            said.append(
                f"{total:,} of {cells:,} values are beyond the range of training, and cut off: "
                f"{named}{others}{units}"
            )
        for name, (count, example) in self.unseen.items():
            said.append(
                f"{count:,} cells of column {name!r} hold what training has not seen, such as "
                f"{example!r}; they count as none of its values"
            )
        if self.left_out:
            rows = self.dropped
            shown = ", ".join(f"{row + 1:,}" for row in rows[:SHOWN]) + ", …" * (len(rows) > SHOWN)
            one = len(rows) == 1
            said.append(
                f"{len(rows):,} row{'s' * (not one)} with missing cells {'is' if one else 'are'} "
                f"left out: {shown}"
            )
        return ". ".join(said)

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
        """For a document."""
        found = {self._name(int(i)): int(self.counts[i]) for i in np.flatnonzero(self.counts)}
        texts = {name: count for name, (count, _) in self.unseen.items()}
        return {
            "values": int(self.counts.sum()),
            "columns": found,
            "unseen": texts,
            "rows_left_out": len(self.dropped),
            "filled": self.filled,
            "guessed": self.guessed,
        }

    def _of(self, column: int) -> str:
        far, low, high = self._furthest[column]
        return (
            f"{self.counts[column]:,} in {column_at(column, self.names, self.places)}, as far as "
            f"{far:g}, where training had {low:g} to {high:g}"
        )

    def _name(self, column: int) -> str:
        if self.names is None:
            return column_at(column, places=self.places)
        return str(self.names[column])
