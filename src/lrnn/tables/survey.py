"""What the columns of a table hold: kinds, ranges, missing cells. One pass over all rows."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.tables.frame import Columns, Frame, as_number, is_missing, is_text

__all__ = [
    "MOST_VALUES",
    "TRUTH",
    "Facts",
    "FarOff",
    "class_among",
    "far_off",
    "survey",
    "survey_sparse",
    "truth_of",
]

CLASSES = {"class", "label", "target", "species", "category", "outcome", "y", "diagnosis"}
FEW = 20  # different values of a class
MOST_VALUES = 1_000  # different ones of a column of text that are kept in mind
SAMPLE = 1 << 22  # cells that medians are taken of, where there are more
TRUTH = {"true": 1.0, "false": 0.0}
MARKS = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0)  # often, of missing numbers
FAR = 100  # times the range of all others: such a number leaves next to nothing of them
FAR_FROM_FEW = 1e6  # where most cells are alike, and what differs may well be spread
FEWEST = 5  # numbers, one of which may be far from the others
NUMBER_WITH_COMMA = re.compile(r"[-+]?\d+(,\d+)?")


@dataclass(frozen=True)
class FarOff:
    """Numbers of a column that are far from all others.

    Attributes
    ----------
    value : float
        The farthest of them.
    count : int
        How many there are, among the numbers that were looked at.
    others : (float, float)
        The range of all others.
    """

    value: float
    count: int
    others: tuple[float, float]

    @property
    def written(self) -> str:
        """The farthest one with all its digits, as ``na`` takes it."""
        return repr(self.value).removesuffix(".0")

    @property
    def told(self) -> str:
        """What is said of them."""
        more = f" (and {self.count - 1:,} more such)" if self.count > 1 else ""
        low, high = self.others
        return f"holds {self.value:g}{more}, far from all others ({low:g} to {high:g})"


def far_off(numbers: NDArray[Any]) -> FarOff | None:
    """What is farther from all others than 100 times their range, whatever its size.

    It is one number, or are up to a twentieth of them.

    >>> far_off(np.array([1.4, 2.3, 3.2, 2.2, 2.7, 1e300])).others
    (1.4, 3.2)
    >>> far_off(np.array([1.4, 2.3, 3.2, 2.2, 2.7, 100.0])) is None
    True
    """
    count = len(numbers)
    peak = float(np.max(np.abs(numbers), initial=0))
    if count < FEWEST or peak == 0:
        return None
    numbers = np.asarray(numbers, dtype=np.float64)
    shares = numbers / peak  # differences of these cannot overflow
    middle = np.median(shares)
    distances = np.abs(shares - middle)
    most_far = max(1, count // 20)
    radius = np.partition(distances, count - most_far - 1)[count - most_far - 1]
    if radius > 0 and np.ptp(shares) <= FAR * radius:
        return None  # the others spread over this radius at least: sorting is not needed
    order = np.argsort(distances, kind="stable")
    outwards = shares[order]
    low, high = np.minimum.accumulate(outwards), np.maximum.accumulate(outwards)
    nearest = np.arange(count - most_far, count)  # the first that may be far off
    least, most, next_one = low[nearest - 1], high[nearest - 1], outwards[nearest]
    away = np.maximum(least - next_one, next_one - most)
    varied = 2 * np.count_nonzero(shares != middle) > count
    far = (most > least) & (away > (FAR if varied else FAR_FROM_FEW) * (most - least))
    if not far.any():
        return None
    first = int(nearest[np.argmax(far)])
    others = numbers[order[:first]]
    return FarOff(
        float(numbers[order[-1]]), count - first, (float(others.min()), float(others.max()))
    )


@dataclass
class Facts:
    """What is known of a column.

    Attributes
    ----------
    rows, missing : int
        How many cells there are, and how many of them are missing.
    low, high : float
        The lowest and the highest number.
    infinite : (int, float) or None
        Row and value of the first number that is not finite.
    counting : bool
        Whether each number is the one before plus 1: they count the rows.
    values : dict of str to int, or None
        How often each text occurs; None if there are too many.
    odd : (int, str) or None
        Row and text of the first cell that is no number.
    numbers : int
        Cells that are numbers.
    marks : dict of float to int
        How often numbers occur that often stand for missing ones.
    others : (float, float)
        The range of the numbers that are none of these.
    """

    name: str
    rows: int = 0
    missing: int = 0
    first_missing: int | None = None
    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    infinite: tuple[int, float] | None = None
    counting: bool = True
    values: dict[str, int] | None = field(default_factory=dict)
    odd: tuple[int, str] | None = None
    numbers: int = 0
    marks: dict[float, int] = field(default_factory=dict)
    others: tuple[float, float] = (np.inf, -np.inf)
    most: int = SAMPLE
    _last: float | None = None
    _step: int = 1
    _sample: list[NDArray[Any]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What it holds: "number", "truth" (true and false), "date", "text", or "nothing"."""
        if self.odd is None:
            return "number" if self.numbers else "nothing"
        found = list(self.values or ())
        if found and not self.numbers and all(value.lower() in TRUTH for value in found):
            return "truth"
        if found and all(map(_is_date, found[:100])):
            return "date"
        return "text"

    @property
    def decimal_commas(self) -> bool:
        """Whether its texts are numbers with commas."""
        found = list(self.values or ())
        return self.odd is not None and all(map(NUMBER_WITH_COMMA.fullmatch, found))

    @property
    def middle(self) -> float:
        """The median of the numbers, or of some of them (see `sampled`)."""
        numbers = np.concatenate(self._sample)
        return float(np.median(numbers[~np.isnan(numbers)]))

    @property
    def mark(self) -> float | None:
        """The number that seems to stand for missing ones: it is far from all others."""
        low, high = self.others
        if low > high:
            return None
        for value in sorted(self.marks, key=abs, reverse=True):
            if value < low - 2 * (high - low) or value > high + 2 * (high - low):
                return value
        return None

    @property
    def far(self) -> FarOff | None:
        """Numbers that are far from all others, and are no `mark`."""
        if self.kind != "number" or self.mark is not None or self.infinite is not None:
            return None
        numbers = np.concatenate(self._sample)
        numbers = numbers[~np.isnan(numbers)]
        if self._step > 1:  # the farthest ones may be in none of these rows
            numbers = np.concatenate([numbers, [self.low, self.high]])
        return far_off(numbers)

    @property
    def sampled(self) -> int:
        """One row out of how many is taken for the median."""
        return self._step

    @property
    def commonest(self) -> str:
        """The text that occurs most."""
        assert self.values
        return max(self.values, key=lambda text: self.values[text])  # type: ignore[index]

    def see(self, column: NDArray[Any], first: int) -> None:
        """Take further cells into account."""
        gone = is_missing(column)
        count = int(np.count_nonzero(gone))
        if count and self.first_missing is None:
            self.first_missing = first + int(np.argmax(gone))
        self.rows += len(column)
        self.missing += count
        if is_text(column):
            self._see_text(column, first)
            return
        self._keep(column, first)
        here = column[~gone] if count else column
        if not len(here):
            self.counting = False
            return
        self.numbers += len(here)
        low, high = float(here.min()), float(here.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            if self.infinite is None:
                row = int(np.argmax(np.isinf(column)))
                self.infinite = first + row, float(column[row])
            return
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._see_marks(here, low, high)
        if self.whole and column.dtype.kind == "f":
            self.whole = bool((here == np.floor(here)).all())
        if self.counting:
            begun = self._last is None or float(here[0]) == self._last + 1
            with np.errstate(over="ignore"):  # a difference may be beyond all numbers
                steps = np.diff(here.astype(np.float64))
            self.counting = bool(begun and not count and self.whole and (steps == 1).all())
            self._last = float(here[-1])

    def _see_marks(self, numbers: NDArray[Any], low: float, high: float) -> None:
        if low in MARKS or high in MARKS:
            for value in MARKS:
                count = int(np.count_nonzero(numbers == value))
                if count:
                    self.marks[value] = self.marks.get(value, 0) + count
            numbers = numbers[~np.isin(numbers, MARKS)]
            if not len(numbers):
                return
            low, high = float(numbers.min()), float(numbers.max())
        self.others = min(self.others[0], low), max(self.others[1], high)

    def _keep(self, column: NDArray[Any], first: int) -> None:
        """Rows whose numbers are multiples of a step, which doubles when there are too many."""
        self._sample.append(np.array(column[-first % self._step :: self._step], dtype=np.float64))
        while sum(map(len, self._sample)) > self.most:
            self._sample = [np.concatenate(self._sample)[::2]]
            self._step *= 2

    def _see_text(self, column: NDArray[Any], first: int) -> None:
        self.counting = False
        numbers = []
        for i, cell in enumerate(column):
            if cell is None:
                continue
            try:
                numbers.append(as_number(cell))
            except ValueError:
                if self.odd is None:
                    self.odd = first + i, cell
            else:
                if np.isinf(numbers[-1]) and self.infinite is None:
                    self.infinite = first + i, numbers[-1]
            if self.values is not None:
                self.values[cell] = self.values.get(cell, 0) + 1
                if len(self.values) > MOST_VALUES:
                    self.values = None
        if numbers and self.odd is None:  # text, and yet numbers alone
            self.low, self.high = min(self.low, *numbers), max(self.high, *numbers)
            self._keep(np.array(numbers), 0)
        self.numbers += len(numbers)


def class_among(facts: Sequence[Facts]) -> Facts | None:
    """The column that looks like the class of the rows: by its name, and as it has few values."""
    named = [found for found in facts if found.name.lower() in CLASSES][:1]
    for found in named if len(facts) > 1 else []:
        if found.kind == "text" or (found.whole and found.high - found.low < FEW):
            return found
    return None


def survey(table: Columns, wanted: Collection[str], *, complete: bool = False) -> list[Facts]:
    """Facts of the wanted columns.

    With ``complete``, rows count only if none of these is missing.
    """
    text: set[str] = set()
    chosen = set(wanted)
    while True:
        most = max(1_024, SAMPLE // max(1, len(wanted)))
        found = {name: Facts(name, most=most) for name in table.columns if name in chosen}
        as_numbers: set[str] = set()
        for frame in table.frames(text=sorted(text)):
            seen = _complete(frame, found) if complete else frame
            for name, column in zip(frame.names, seen.columns, strict=True):
                if name not in found:
                    continue
                found[name].see(column, frame.first)
                if not is_text(column):
                    as_numbers.add(name)
        mixed = {n for n, facts in found.items() if facts.odd is not None} & as_numbers
        if not mixed:
            return list(found.values())
        text |= mixed  # some blocks have numbers alone: as text they are needed, too


def survey_sparse(matrix: Any, names: Sequence[str]) -> list[Facts]:
    """Facts of all columns of a sparse matrix; cells that are not stored are 0.

    One full column is held at a time.
    """
    by_column = sparse.csc_array(matrix, copy=True)
    by_column.sum_duplicates()
    most = max(1, SAMPLE // len(names))
    found = [Facts(name, most=most) for name in names]
    for facts, begin, end in zip(found, by_column.indptr, by_column.indptr[1:], strict=False):
        column = np.zeros(by_column.shape[0], dtype=by_column.dtype)
        column[by_column.indices[begin:end]] = by_column.data[begin:end]
        facts.see(column, 0)
    return found


def _complete(frame: Frame, wanted: Collection[str]) -> Frame:
    columns = [c for n, c in zip(frame.names, frame.columns, strict=True) if n in wanted]
    return frame[~np.logical_or.reduce([is_missing(column) for column in columns])]


def truth_of(column: NDArray[Any]) -> NDArray[np.float64]:
    """Texts "true" and "false" as 1 and 0; NaN for what is neither."""
    cells = (TRUTH.get(str(cell).lower(), np.nan) for cell in column)
    return np.fromiter(cells, dtype=np.float64, count=len(column))


def _is_date(text: str) -> bool:
    for kind in (date, datetime):
        try:
            kind.fromisoformat(text)
        except ValueError:
            continue
        return not text.isdigit()
    parts: Sequence[str] = text.replace("/", ".").replace("-", ".").split(".")
    return len(parts) == 3 and all(p.isdigit() and len(p) <= 4 for p in parts)
