"""From the columns of a table to attributes that are numbers: a recipe that can be saved."""

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.tables.frame import Columns, Frame, as_number, as_text, is_missing, is_text
from lrnn.tables.ledger import Ledger, passing
from lrnn.tables.messages import (
    FILLS,
    Place,
    Setting,
    TableError,
    TableWarning,
    Text,
    UnfitNumbersError,
    columns_listed,
    short,
    warn,
)  # fmt: skip
from lrnn.tables.sources import Source, block_height
from lrnn.tables.survey import MOST_VALUES, Facts, class_among, survey, truth_of

__all__ = ["Column", "MatrixColumns", "Missing", "Recipe", "TableSource", "check_names"]

Missing = Literal["refuse", "drop", "median", "allow"]
Categories = Literal["refuse", "onehot"]
Chosen = str | int | Sequence[str | int] | None
FEWEST_COUNTED = 5  # rows, such that a column that counts them is one


@dataclass(frozen=True)
class Column:
    """A column of a table that becomes one attribute, or several.

    Attributes
    ----------
    name : str
        Its name.
    position : int
        Its number in the table, from 0.
    values : tuple of str or None
        The texts that it holds, each of which becomes an attribute: 1 where it stands, else 0.
    truth : bool
        Whether it holds "true" and "false".
    fill : float, str or None
        What is taken where a cell is missing.
    """

    name: str
    position: int
    values: tuple[str, ...] | None = None
    truth: bool = False
    fill: float | str | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of what it becomes."""
        if self.values is None:
            return (self.name,)
        return tuple(f"{self.name}={value}" for value in self.values)


@dataclass(frozen=True)
class Recipe:
    """What of a table becomes attributes, and how.

    Attributes
    ----------
    columns : tuple of Column
        Those that are taken.
    width : int
        How many columns the table has.
    named : bool
        Whether its columns have names of their own, and are found by these.
    label, index : str or None
        Columns that are no attributes, but go along with the rows.
    missing : {"refuse", "drop", "median", "allow"}
        What to do with missing cells; with "allow" they stay missing (NaN).
    """

    columns: tuple[Column, ...]
    width: int
    named: bool = True
    label: str | None = None
    index: str | None = None
    missing: Missing = "refuse"

    @classmethod
    def fit(
        cls,
        table: Columns,
        *,
        columns: Chosen = None,
        drop: Chosen = None,
        label: str | int | None = None,
        index: str | int | None = None,
        categories: Categories = "refuse",
        missing: Missing = "refuse",
    ) -> tuple["Recipe", list[Facts]]:
        """The recipe for a table, and the facts of the columns that it takes.

        Columns that hold no numbers, and missing cells, are refused, unless it is said what to do
        with them.
        """
        if not table.columns:
            raise ValueError(f"{table.name!r} has no columns: there is nothing to train on")
        _check(categories, "categories", Categories)
        _check(missing, "missing", Missing)
        carried = [
            c if c is None or c in table.beside else _found(table, c) for c in (label, index)
        ]
        taken = _chosen(table, columns) or list(table.columns)
        left_out = {*_chosen(table, drop), *(name for name in carried if name is not None)}
        taken = [name for name in taken if name not in left_out]
        if not taken:
            raise TableError("no column is left", source=table.name)
        facts = survey(table, taken)
        if not facts[0].rows:
            raise ValueError(f"{table.name!r} has no rows: there is nothing to train on")
        empty = [found.name for found in facts if found.kind == "nothing"]
        facts = [found for found in facts if found.kind != "nothing"]
        if not facts:
            raise TableError("no column holds anything", source=table.name)
        for found in facts:
            _refuse(table, found, categories, missing, *carried)
        if missing == "drop" and any(found.missing for found in facts):
            facts = survey(table, [found.name for found in facts], complete=True)
            if not facts[0].rows:
                raise TableError(
                    "every row has a missing cell, and none is left",
                    remedy="give {missing=median}, or {drop=NAME} for the columns where most are "
                    "missing",
                    source=table.name,
                )
        fills = missing == "median"
        made = tuple(_column(table, found, fills) for found in facts)
        _tell(table, facts, empty, missing)
        if label is None:
            _tell_of_class(table, facts)
        width = len(table.columns)
        return cls(made, width, table.named, carried[0], carried[1], missing), facts

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(name for column in self.columns for name in column.attributes)

    @property
    def places(self) -> tuple[int, ...]:
        """The columns that the attributes are of, by their numbers in the table, from 0."""
        return tuple(column.position for column in self.columns for _ in column.attributes)

    @property
    def plain(self) -> bool:
        """Whether all columns are taken as they are."""
        return len(self.columns) == self.width and all(
            c.values is None and not c.truth and c.fill is None for c in self.columns
        )

    def found_in(self, names: Sequence[str], named: bool, where: str) -> "Recipe":
        """The same for a table with these columns; complains of those that it lacks.

        Those of a table without names count by their places.
        """
        if not (self.named and named):
            others = {self.label, self.index} - {None}
            if len(names) == self.width:
                return replace(self, label=_nth(self.label, names), index=_nth(self.index, names))
            if len(names) == self.width - len(others) and len(self.columns) == len(names):
                return replace(
                    self,
                    columns=tuple(replace(c, position=i) for i, c in enumerate(self.columns)),
                    label=None,
                    index=None,
                )
            raise ValueError(
                f"{where} has {len(names)} columns, but the model was trained on a table of "
                f"{self.width}"
            )
        check_names([column.name for column in self.columns], names, where)
        places = {name: i for i, name in enumerate(names)}
        return replace(
            self,
            columns=tuple(replace(c, position=places[c.name]) for c in self.columns),
            width=len(names),
            label=self.label if self.label in names else None,
            index=self.index if self.index in names else None,
        )

    def kept(self, frame: Frame, ledger: Ledger | None = None) -> Frame:
        """The rows that are taken: all, or those without missing cells."""
        if self.missing != "drop":
            return frame
        gone = np.logical_or.reduce([is_missing(frame.columns[c.position]) for c in self.columns])
        if not gone.any():
            return frame
        if ledger is not None:
            ledger.left_out.append(frame.first + np.flatnonzero(gone))
        return frame[~gone]

    def matrix(self, frame: Frame, where: str = "X", ledger: Ledger | None = None) -> Floats:
        """Attributes of some rows, in the units of the table."""
        found = np.empty((frame.shape[0], len(self.names)))
        at = 0
        for column in self.columns:
            cells = frame.columns[column.position]
            if column.values is None:
                found[:, at] = self._numbers(column, cells, frame, where, ledger)
            else:
                self._categories(column, cells, frame, where, ledger, found[:, at:])
            at += len(column.attributes)
        return found

    def carried(self, frame: Frame) -> list[tuple[str, NDArray[Any]]]:
        """Index and label of some rows, as far as there are any."""
        return [(name, frame.column(name)) for name in (self.index, self.label) if name is not None]

    @property
    def as_text(self) -> tuple[str, ...]:
        """Columns whose cells are needed as they are written."""
        texts = [c.name for c in self.columns if c.values is not None or c.truth]
        return tuple(
            dict.fromkeys([*texts, *(n for n in (self.index, self.label) if n is not None)])
        )

    def _numbers(
        self, column: Column, cells: NDArray[Any], frame: Frame, where: str, ledger: Ledger | None
    ) -> NDArray[Any]:
        if column.truth and is_text(cells):
            numbers = truth_of(cells)
            numbers[[cell is None for cell in cells]] = np.nan
            odd = np.isnan(numbers) & ~is_missing(cells)
        elif is_text(cells):
            numbers, odd = _parsed(cells)
        else:
            numbers, odd = cells, np.zeros(0, dtype=bool)
        if odd.any():
            row = int(np.argmax(odd))
            raise TableError(
                "{at} is {value:.100}, which is not a number",
                remedy="in training the column held numbers: mend such cells",
                source=where,
                at=self._cell(frame.number(row), column),
                value=repr(cells[row]),
            )
        gone = np.isnan(numbers) if numbers.dtype.kind == "f" else np.zeros(1, dtype=bool)
        if gone.any() and self.missing != "allow":
            if column.fill is None:
                raise self._missing_cell(column, gone, frame, where)
            if ledger is not None:
                ledger.filled += int(np.count_nonzero(gone))
            numbers = np.where(gone, column.fill, numbers)
        return numbers

    def _categories(
        self,
        column: Column,
        cells: NDArray[Any],
        frame: Frame,
        where: str,
        ledger: Ledger | None,
        found: NDArray[Any],
    ) -> None:
        values = column.values or ()
        gone = is_missing(cells)
        stay = self.missing == "allow"
        if gone.any() and column.fill is None and not stay:
            raise self._missing_cell(column, gone, frame, where)
        if ledger is not None and not stay:
            ledger.filled += int(np.count_nonzero(gone))
        codes = {value: i for i, value in enumerate(values)}
        texts = [column.fill if cell is None else as_text(cell) for cell in cells]
        numbers = np.array([codes.get(str(text), -1) for text in texts])
        found[:, : len(values)] = numbers[:, None] == np.arange(len(values))
        if stay:
            found[gone, : len(values)] = np.nan
        other = np.flatnonzero((numbers < 0) & ~(stay & gone))
        if len(other) and ledger is not None:
            ledger.add_unseen(column.name, len(other), str(texts[other[0]]))

    def _missing_cell(
        self, column: Column, gone: NDArray[Any], frame: Frame, where: str
    ) -> UnfitNumbersError:
        row, more = int(np.argmax(gone)), int(np.count_nonzero(gone)) - 1
        return UnfitNumbersError(
            "{at} is missing{more}, and the model was trained to refuse such",
            remedy="train with {missing=median}, which fills them, or an autoencoder with "
            "{missing=allow}, or fill them before",
            source=where,
            kind="missing",
            at=self._cell(frame.number(row), column),
            more=f" (and {more} more in this column)" if more else "",
        )

    def _cell(self, row: int, column: Column) -> Place:
        return Place(row, column.position, column.name if self.named else None)

    def to_json(self) -> dict[str, Any]:
        """As a model file holds it."""
        columns = [
            {k: v for k, v in vars(column).items() if v is not None and v is not False}
            for column in self.columns
        ]
        others = {"label": self.label, "index": self.index}
        return {
            "columns": columns,
            "width": self.width,
            "named": self.named,
            "missing": self.missing,
        } | {name: value for name, value in others.items() if value}

    @classmethod
    def from_json(cls, stored: Any) -> "Recipe":
        """What `to_json` gave."""
        columns = tuple(
            Column(
                str(c["name"]),
                int(c["position"]),
                tuple(map(str, c["values"])) if "values" in c else None,
                bool(c.get("truth", False)),
                c.get("fill"),
            )
            for c in stored["columns"]
        )
        width = int(stored["width"])
        if not columns or stored["missing"] not in get_args(Missing):
            raise ValueError("it has no columns")
        if not all(0 <= column.position < width for column in columns):
            raise ValueError("its columns are not those of its table")
        for column in columns:
            wanted = str if column.values is not None else (int, float)
            if column.fill is not None and not isinstance(column.fill, wanted):
                raise ValueError(f"the column {column.name!r} is filled with {column.fill!r}")
        return cls(
            columns,
            width,
            bool(stored["named"]),
            stored.get("label"),
            stored.get("index"),
            stored["missing"],
        )


class TableSource(Source):
    """The attributes of a table that is read block by block.

    If it ``carries``, the index and the label of each block that is read are put into the queue
    ``carried``.
    """

    def __init__(
        self,
        table: Columns,
        recipe: Recipe,
        ledger: Ledger | None = None,
        rows: int | None = None,
        carries: bool = False,
    ) -> None:
        self.name, self._table = table.name, table
        names = (*table.columns, *table.beside)
        self._recipe = recipe.found_in(names, table.named, repr(table.name))
        self._ledger = ledger
        if ledger is not None:
            ledger.places = self._recipe.places
        self.carried: deque[list[tuple[str, NDArray[Any]]]] = deque()
        carried = (self._recipe.index, self._recipe.label) if carries else ()
        self.carried_names = tuple(name for name in carried if name is not None)
        self.columns: tuple[str, ...] = self._recipe.names
        self.dtype = np.dtype(np.float64)
        self._rows = rows if rows is not None or self._drops else table.rows

    @cached_property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """How many rows, for which they may have to be read, and attributes there are."""
        rows = self._rows
        if rows is None:
            rows = sum(self._recipe.kept(frame).shape[0] for frame in self._frames())
        return rows, len(self.columns)

    def held(self, most: int | None = None) -> Floats | None:
        """All rows in memory; None if they have more than ``most`` cells."""
        most = sys.maxsize if most is None else most
        cells, width = 0, len(self.columns)
        if (self._rows or 0) * width > most:
            return None
        blocks = [np.empty((0, width))]
        for block in self.blocks(0, sys.maxsize):
            cells += block.size
            if cells > most:
                self.carried.clear()
                return None
            blocks.append(block)
        return blocks[1] if len(blocks) == 2 else np.concatenate(blocks)

    @property
    def parts(self) -> tuple[int, ...]:
        """Those of the table, unless rows of it are left out."""
        known = getattr(self._table, "parts", None)
        return (0, self.shape[0]) if known is None or self._drops else tuple(known)

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows, as long as those of the table are.

        The first pass over all of them that is complete counts what is left out, or filled.
        """
        with passing(self._ledger, "recipe", first) as ledger:
            for frame in self._frames(0 if self._drops else first):
                frame = self._recipe.kept(frame, ledger)
                rows, begin = frame.shape[0], first if self._drops else 0
                if begin < rows:
                    matrix = self._recipe.matrix(frame, self.name, ledger)
                    for start in range(begin, rows, height):
                        if self.carried_names:
                            part = frame[start : start + height]
                            self.carried.append(self._recipe.carried(part))
                        yield matrix[start : start + height]
                first = max(0, first - rows)

    @property
    def _drops(self) -> bool:
        return self._recipe.missing == "drop"

    def _frames(self, first: int = 0) -> Iterator[Frame]:
        known = (*self._table.columns, *self._table.beside)
        text = [name for name in self._recipe.as_text if name in known]
        return self._table.frames(text, first)


class MatrixColumns(Columns):
    """The columns of a matrix, or of a source of rows, under their numbers."""

    def __init__(self, matrix: Any, names: Sequence[str] | None = None) -> None:
        self._matrix = matrix
        self.name = getattr(matrix, "name", "X")
        names = names or getattr(matrix, "columns", None)
        self.named = names is not None
        self.columns = tuple(names or (f"column {i + 1}" for i in range(matrix.shape[1])))
        self.rows = matrix.shape[0]

    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """Rows in order."""
        if not isinstance(self._matrix, Source):
            yield Frame(self.columns, tuple(self._matrix[first:].T), first)
            return
        height = block_height(self._matrix.shape[1], self._matrix.dtype)
        for block in self._matrix.blocks(first, height):
            yield Frame(self.columns, tuple(np.asarray(block).T), first)
            first += block.shape[0]


def _at(table: Columns, name: str, row: int | None = None) -> Place:
    return Place.at(row, table.positions[name], table.columns if table.named else None)


def _column(table: Columns, facts: Facts, fills: bool) -> Column:
    position, kind = table.positions[facts.name], facts.kind
    if kind in ("text", "date"):
        values = tuple(sorted(facts.values or ()))
        return Column(facts.name, position, values, fill=facts.commonest if fills else None)
    if kind == "truth":
        fill = float(truth_of(np.array([facts.commonest], dtype=object))[0])
        return Column(facts.name, position, truth=True, fill=fill if fills else None)
    return Column(facts.name, position, fill=facts.middle if fills else None)


def _refuse(
    table: Columns,
    facts: Facts,
    categories: str,
    missing: str,
    label: str | None,
    index: str | None,
) -> None:
    """Complain of a column that is no attribute as it stands.

    It may become the label or the index, where there is none yet.
    """
    own: dict[str, Any] = {"source": table.name, "at": _at(table, facts.name)}
    if facts.infinite is not None and facts.kind == "number":
        row, value = facts.infinite
        own["at"] = _at(table, facts.name, row)
        raise UnfitNumbersError(
            "{at} is {value}, not a finite number",
            remedy="mend that cell, or {drop}",
            kind="infinite",
            value=value,
            drop=Setting("drop", facts.name),
            **own,
        )
    if facts.kind in ("text", "date"):
        error = _text_refused(table, facts, categories, missing, label, index)
        if error is not None:
            raise error
    if facts.missing and missing == "refuse":
        own["at"] = _at(table, facts.name, facts.first_missing)
        raise UnfitNumbersError(
            "{at} is missing{more}",
            remedy=FILLS,
            kind="missing",
            more=f" ({facts.missing:,} in this column)" if facts.missing > 1 else "",
            **own,
        )


def _text_refused(
    table: Columns,
    facts: Facts,
    categories: str,
    missing: str,
    label: str | None,
    index: str | None,
) -> TableError | None:
    """The error of a column of text, or of dates; None if it becomes one of categories."""
    assert facts.odd is not None
    row, text = facts.odd
    count, known = len(facts.values or ()), facts.rows - facts.missing
    own: dict[str, Any] = {
        "source": table.name,
        "at": _at(table, facts.name),
        "example": Text("{value} in {row}", value=repr(short(text)), row=Place(row)),
        "value": text,
        "leave": Text("{drop} leaves it out", drop=Setting("drop", facts.name)),
    }
    if facts.numbers > known / 2:
        hint = _number_hint(text, missing, of_file=hasattr(table, "reading"))
        return TableError(
            "{at} holds numbers, but {example}, which is none", remedy="{hint} ({leave})",
            hint=hint, **own,
        )  # fmt: skip
    if facts.decimal_commas:
        return TableError(
            "{at} holds {example}",
            remedy="if the comma is a decimal one, give {decimal=,}; thousands are written without "
            "a mark ({leave})",
            **own,
        )
    if facts.kind == "date" and categories != "onehot":
        return TableError("{at} holds dates, such as {example}", remedy="{leave}", **own)
    as_index = ", {index} carries it along with the rows" * (index is None)
    own["index"] = Setting("index", facts.name)
    if facts.values is None or (count > 10 and count > known / 2):
        many = f"{count}" if facts.values is not None else f"more than {MOST_VALUES:,}"
        return TableError(
            f"{{at}} holds text, such as {{example}}, and {many} different ones",
            remedy="{leave}" + as_index,
            **own,
        )
    if categories == "onehot":
        return None
    as_label = ", {label} keeps it as the class of the rows" * (label is None)
    each = count == known  # in each row another
    return TableError(
        "{at} holds text, such as {example}",
        remedy=f"{{categories=onehot}} makes a column of each of its {count} values"
        f"{as_index if each else as_label}, {{leave}}",
        label=Setting("label", facts.name),
        **own,
    )


def _tell(table: Columns, facts: list[Facts], empty: list[str], missing: str) -> None:
    """Warn of columns that hold nothing, marks of missing cells, or only count the rows."""
    if empty:
        warn(f"{table.name!r}: {', '.join(map(repr, empty))} holds nothing, and is left out")
    of_file = hasattr(table, "reading")
    nan = ("give {na}" if of_file else "put NaN in its place") + _median(missing)
    for found in facts:
        own: dict[str, Any] = {"source": table.name, "at": _at(table, found.name)}
        if found.mark is not None:
            low, high = found.others
            warn(
                TableWarning(
                    f"{{at}} holds {found.mark:g} {found.marks[found.mark]:,} times, far from all "
                    f"others ({low:g} to {high:g})",
                    remedy=f"if it stands for a missing number, {nan}",
                    na=Setting("na", f"{found.mark:g}"),
                    **own,
                )
            )
        if (far := found.far) is not None:
            warn(
                TableWarning(
                    f"{{at}} {far.told}, of which next to nothing is left in such a range",
                    remedy=f"mend such cells, or if it stands for a missing number, {nan}",
                    na=Setting("na", far.written),
                    **own,
                )
            )
        if found.counting and found.rows >= FEWEST_COUNTED:
            warn(
                TableWarning(
                    f"{{at}} only counts the rows, from {found.low:g} to {found.high:g}, and is "
                    "trained on like any other",
                    remedy="{index} carries it along with the rows instead, {drop} leaves it out",
                    index=Setting("index", found.name),
                    drop=Setting("drop", found.name),
                    **own,
                )
            )


def _tell_of_class(table: Columns, facts: list[Facts]) -> None:
    """Warn of a column of numbers that looks like the class of the rows, and is an attribute."""
    found = class_among(facts)
    if found is None or found.kind != "number" or not table.named:
        return
    warn(
        TableWarning(
            "{at} looks like a class, and is trained on like any other",
            remedy="{label} keeps it out, as the class of the rows, {drop} leaves it out",
            source=table.name,
            at=_at(table, found.name),
            label=Setting("label", found.name),
            drop=Setting("drop", found.name),
        )
    )


def _number_hint(text: str, missing: str, of_file: bool) -> Text:
    digits = any(map(str.isdigit, text))
    if digits and "," in text and "." not in text:
        return Text("if the comma is a decimal one, give {decimal=,}; thousands have no mark")
    if digits and "," in text:
        return Text("numbers are written without marks between thousands")
    if digits:
        return Text("numbers are written without units or other marks")
    stands = "if it stands for a missing one, "
    if not of_file:
        also = ", and give {missing=median}" if missing == "refuse" else ""
        return Text(f"{stands}put None in its place{also}")
    return Text(f"{stands}give {{na}}{_median(missing)}", na=Setting("na", text))


def _median(missing: str) -> str:
    """The rest of a remedy, for someone who has not said what to do with missing cells."""
    return " and {missing=median}" if missing == "refuse" else ""


def _chosen(table: Columns, wanted: Chosen) -> list[str]:
    """Names of the columns that are meant, in the order of the table."""
    if wanted is None:
        return []
    listed = [wanted] if isinstance(wanted, str | int) else list(wanted)
    names = {_found(table, one) for one in listed}
    return [name for name in table.columns if name in names]


def _found(table: Columns, wanted: str | int) -> str:
    """The column that is meant by a name, or in Python by a number from 0."""
    if isinstance(wanted, str) and wanted in table.columns:
        return wanted
    if isinstance(wanted, int | np.integer) and 0 <= wanted < len(table.columns):
        return table.columns[int(wanted)]
    raise ValueError(
        f"{table.name!r} has no column {wanted!r}; it has {columns_listed(table.columns, wanted)}"
    )


def check_names(wanted: Sequence[str], names: Sequence[str], where: str) -> None:
    """Complain of columns that a table lacks."""
    known = set(names)
    lacking = [name for name in wanted if name not in known]
    if lacking:
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise ValueError(
            f"{where} has no column {lacking[0]!r}{more}, which the model was trained on; it "
            f"has {columns_listed(names, lacking[0])}"
        )


def _nth(column: str | None, names: Sequence[str]) -> str | None:
    """The column of this name, or of the number that stands for one."""
    if column is None or column in names:
        return column
    number = column.removeprefix("column ")
    return names[int(number) - 1] if number.isdigit() and int(number) <= len(names) else None


def _check(value: Any, name: str, allowed: Any) -> None:
    if value not in get_args(allowed):
        choices = ", ".join(map(repr, get_args(allowed)))
        raise ValueError(f"{name} must be one of {choices}; got {value!r}")


def _parsed(cells: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Texts as numbers, and which of them are none."""
    numbers = np.full(len(cells), np.nan)
    odd = np.zeros(len(cells), dtype=bool)
    for i, cell in enumerate(cells):
        if cell is not None:
            try:
                numbers[i] = as_number(cell)
            except ValueError:
                odd[i] = True
    return numbers, odd
