"""Tables as text: cells between commas, semicolons or tabs, with or without a line of names."""

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.frame import Columns, Frame, as_number, is_text
from lrnn.tables.header import are_names
from lrnn.tables.messages import Place, TableError, TableWarning, Text, joined, warn
from lrnn.tables.reading import Reading

if TYPE_CHECKING:
    from tables.oracle.cells import Cells

__all__ = ["MISSING", "TextFile"]

DELIMITERS = ";\t|,"
MISSING = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
     "None")
)  # fmt: skip
LOOKED_AT = 200  # rows from which delimiter and names are known
ZIPPED = b"\x1f\x8b"  # before what gzip has written
SHOWN = 3  # columns that a remark names
CELLS = 1 << 17  # of a block
THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*")  # such as 1.778; or it has decimals
SMALL = 1 << 22  # characters that are read before the compiler would be loaded


class TextFile(Columns):
    """A .csv or .tsv file, which may be gzipped, read block by block.

    Names are as pandas gives them: the second column "x" is "x.1", one without a name
    "Unnamed: 3", counted from 0.
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self.name, self._path, self.reading = str(path), path, reading
        self._missing = MISSING | set(reading.na or ())
        marks = map(self._number_or_none, reading.na or ())
        self._missing_numbers = [mark for mark in marks if mark is not None]
        with self._open() as file:
            lines = _beginning(file)
        filled = [line for line in lines if line.strip()]
        self._delimiter = reading.delimiter or _delimiter(
            filled, reading.decimal, "\t" if self.suffix == ".tsv" else ","
        )
        rows = self._parsed(_Lines(lines))
        first, rest = next(rows, None), list(islice(rows, LOOKED_AT))
        if first is None:
            raise ValueError(f"{self.name!r} is empty")
        self.named = self._has_names(first, rest)
        self.columns = _unique(first) if self.named else _numbered(len(first))
        if self.named:
            self._tell_of_twins(first)
        if self.named and not rest:
            raise ValueError(f"{self.name!r} has a line of names, but no rows")

    @property
    def delimiter(self) -> str:
        """What stands between its cells."""
        return self._delimiter

    @property
    def suffix(self) -> str:
        """What kind of text its name says that it is: .csv or .tsv."""
        return ".tsv" if ".tsv" in self._path.suffixes else ".csv"

    def content(self) -> bytes:
        """All of it, as it is before it is decoded."""
        content = self._path.read_bytes()
        return gzip.decompress(content) if content.startswith(ZIPPED) else content

    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """Rows in order; a column is text where one of a block's cells is no number."""
        for frame in self._frames(text):
            behind = frame.first + frame.shape[0] - first
            if behind > 0:
                yield frame[max(0, first - frame.first) :] if frame.first < first else frame

    def _frames(self, text: Sequence[str]) -> Iterator[Frame]:
        first = 0
        for columns in self._blocks({self.columns.index(name) for name in text}):
            yield Frame(self.columns, tuple(columns), first)
            first += len(columns[0])
        if not first:
            raise ValueError(f"{self.name!r} has a line of names, but no rows")
        self.rows = first

    def _blocks(self, as_text: set[int]) -> Iterator[list[NDArray[Any]]]:
        """Columns of consecutive rows: by compiled code, where it pays, as far as it gets."""
        height, names, first = max(1, CELLS // len(self.columns)), self.named, 0
        with self._open() as file:
            rest, passed = file.read(SMALL), 0
            if len(rest) == SMALL and _may_be_compiled(self._delimiter):
                from tables.oracle.cells import Cells

                shape = height, len(self.columns)
                cells = Cells(rest, file, self._delimiter, self.reading.decimal, shape)
                names = names and not cells.read(1)
                while not names and (count := cells.read(height)):
                    yield self._columns(cells, as_text, first)
                    first += count
                rest, passed = cells.rest(), cells.lines
            lines = _Lines(chain(io.StringIO(rest + file.readline(), newline=""), file), passed)
            rows = self._parsed(lines)
            if names:
                next(rows, None)
            while block := list(islice(rows, height)):
                yield [
                    self._text(column) if i in as_text else self._checked(column, i, first)
                    for i, column in enumerate(zip(*block, strict=True))
                ]
                first += len(block)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with open(self._path, "rb") as file:
            zipped = file.read(2) == ZIPPED
        name = self.reading.encoding
        encoding = "utf-8-sig" if name.lower().replace("_", "-") in ("utf-8", "utf8") else name
        try:
            with (gzip.open if zipped else open)(
                self._path, "rt", encoding=encoding, newline=""
            ) as file:
                yield file
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self.name!r} is a damaged gzip file: {error}") from None
        except UnicodeError as error:
            raise TableError(self._undecoded(zipped, error)) from None

    def _tell_of_twins(self, first: list[str]) -> None:
        """Warn of columns that have the same name, and got another."""
        given = [re.sub(r"\s+", " ", cell).strip() for cell in first]
        renamed = [
            Text("{at} is {name}", at=Place(column=i), name=repr(name))
            for i, (cell, name) in enumerate(zip(given, self.columns, strict=True))
            if cell and cell != name
        ]
        if renamed:
            more = f" and {len(renamed) - SHOWN} more" if len(renamed) > SHOWN else ""
            warn(
                TableWarning(
                    f"columns have the same name, and get others: {{names}}{more}",
                    source=self.name,
                    names=joined(renamed[:SHOWN], ", "),
                )
            )

    def _undecoded(self, zipped: bool, error: UnicodeError) -> str:
        try:
            with (gzip.open if zipped else open)(self._path, "rb") as file:
                start = file.read(1 << 16)
        except (gzip.BadGzipFile, EOFError, zlib.error) as damage:
            return f"{self.name!r} is a damaged gzip file: {damage}"
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return f"{self.name!r} is UTF-16, not {self.reading.encoding}: give {{encoding=utf-16}}"
        if b"\0" in start:
            return f"{self.name!r} is not text: it holds zero bytes"
        byte, line = "a byte", ""
        if isinstance(error, UnicodeDecodeError):
            byte = f"byte {error.object[error.start]:#04x}"
            found = start.find(error.object[error.start : error.start + 1])
            lines = start[: max(found, 0)].count(b"\n") + 1
            line = f" in line {lines}" if found >= 0 else ""
        other = "cp1252" if self.reading.encoding.lower().startswith("utf") else "utf-8"
        return (
            f"{self.name!r}: {byte}{line} is no {self.reading.encoding}; try {{encoding={other}}}"
        )

    def _parsed(self, lines: "_Lines") -> Iterator[list[str]]:
        """Cells of one row after the other; empty lines are none."""
        reader = csv.reader(lines, delimiter=self._delimiter, skipinitialspace=True)
        width = len(getattr(self, "columns", ()))
        try:
            for cells in reader:
                if not any(map(str.strip, cells)) and len(cells) < 2:
                    continue
                width = width or len(cells)
                if len(cells) != width:
                    if len(cells) == width + 1 and not cells[-1].strip():
                        cells.pop()  # a delimiter at the end
                    else:
                        raise ValueError(
                            f"{self.name!r}, line {lines.count}: {len(cells)} cells, but {width} "
                            f"in the lines before. Cells with {_called(self._delimiter)} inside "
                            "need quotes"
                        )
                yield cells
        except csv.Error as error:
            raise ValueError(f"{self.name!r}, line {lines.count}: {error}") from None

    def _columns(self, cells: "Cells", as_text: set[int], first: int) -> list[NDArray[Any]]:
        """The columns of the rows at hand."""
        columns: list[NDArray[Any]] = list(cells.numbers())
        for i, numbers in enumerate(columns):
            if i not in as_text:
                rows = cells.others(i)
                if self._missing_numbers:
                    marked = np.isin(numbers, self._missing_numbers)
                    rows = np.union1d(rows, np.flatnonzero(marked))
                if not len(rows):
                    continue
                found = self._numbers(texts := cells.texts(i, rows))
                if found is not None:
                    self._check_thousands(texts, i, (first + rows).tolist())
                    numbers[rows] = found
                    continue
            columns[i] = self._text(cells.texts(i))
        return columns

    def _checked(self, cells: Sequence[str], column: int, first: int) -> NDArray[Any]:
        """As `_column`; numbers that may be others are refused."""
        found = self._column(cells)
        if not is_text(found):
            self._check_thousands(cells, column, range(first, first + len(cells)))
        return found

    def _check_thousands(self, cells: Sequence[str], column: int, rows: Iterable[int]) -> None:
        """Complain of 1.778 where the comma is the mark of decimals: nobody knows what that is."""
        if self.reading.decimal != ",":
            return
        for cell, row in zip(cells, rows, strict=True):
            if THOUSANDS.fullmatch(cell):
                number = cell.strip()
                raise TableError(
                    "{at} is {value}, and with {decimal=,} its point may stand between thousands",
                    remedy=f"write {number.replace('.', '')}, or {number.replace('.', ',')}; if "
                    "points are the marks of decimals, leave {decimal} out",
                    source=self.name,
                    at=Place.at(row, column, self.columns),
                    value=repr(number),
                )

    def _column(self, cells: Sequence[str]) -> NDArray[Any]:
        """Numbers, if all cells are such or missing; else text."""
        numbers = self._numbers(cells)
        return self._text(cells) if numbers is None else np.array(numbers)

    def _numbers(self, cells: Sequence[str]) -> list[float] | None:
        """The numbers of cells, NaN for missing ones; None if one is neither."""
        plain = self.reading.decimal == "." and not self._missing_numbers
        if plain and "_" not in "".join(cells):
            try:
                return list(map(float, cells))
            except ValueError:
                pass  # some are missing, or no numbers
        try:
            known = {cell: self._number_or_nan(cell) for cell in set(cells)}
        except ValueError:
            return None
        return [known[cell] for cell in cells]

    def _text(self, cells: Sequence[str]) -> NDArray[Any]:
        texts = {cell: self._text_or_none(cell.strip()) for cell in set(cells)}
        found = np.empty(len(cells), dtype=object)
        found[:] = [texts[cell] for cell in cells]
        return found

    def _text_or_none(self, text: str) -> str | None:
        return None if text in self._missing else text

    def _number_or_nan(self, cell: str) -> float:
        if cell.strip() in self._missing:
            return np.nan
        number = self._number(cell)
        return np.nan if number in self._missing_numbers else number  # -999 is -999.0, too

    def _number(self, cell: str) -> float:
        if self.reading.decimal == "," and "," in cell:
            if "." in cell:
                raise ValueError(cell)
            cell = cell.replace(",", ".")
        return as_number(cell)

    def _has_names(self, first: list[str], rest: list[list[str]]) -> bool:
        """Whether the first line holds names: as is said, or else as it looks."""
        if self.reading.header is not None:
            return self.reading.header
        cells = [cell.strip() for cell in first]
        numbers = [np.nan if c in self._missing else self._number_or_none(c) for c in cells]
        columns = [self._column(column) for column in zip(*rest, strict=True)]
        found, remark = are_names(cells, numbers, columns)
        if remark:
            warn(TableWarning("{remark}", source=self.name, remark=remark))
        return found

    def _number_or_none(self, cell: str) -> float | None:
        try:
            return self._number(cell)
        except ValueError:
            return None


class _Lines:
    """Lines of a text, counted from those that were passed by on."""

    def __init__(self, lines: Iterable[str], passed: int = 0) -> None:
        self._lines, self.count = iter(lines), passed

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.count += 1
        if "\0" in line:
            raise csv.Error("it is not text: it holds zero bytes")
        return line


def _beginning(file: Iterable[str]) -> list[str]:
    """As many lines as tell what a text is like."""
    found, filled = [], 0
    for line in file:
        found.append(line)
        filled += bool(line.strip())
        if filled == LOOKED_AT:
            break
    return found


def _delimiter(lines: list[str], decimal: str, usual: str) -> str:
    """What parts all rows into equally many cells, or else most of them; or what is usual."""
    best, chosen = (False, 0), usual
    for mark in DELIMITERS.replace(decimal, ""):
        try:
            counts = Counter(map(len, csv.reader(io.StringIO("".join(lines)), delimiter=mark)))
        except csv.Error:
            continue
        count, often = max(counts.items(), key=lambda found: found[1], default=(0, 0))
        found = (often == counts.total(), often if count > 1 else 0)
        if count > 1 and found > best:
            best, chosen = found, mark
    return chosen


def _unique(cells: list[str]) -> tuple[str, ...]:
    """Names of columns, each of which occurs once."""
    found: dict[str, None] = {}
    for i, cell in enumerate(cells):
        name = re.sub(r"\s+", " ", cell).strip() or f"Unnamed: {i}"
        known, count = name, 0
        while name in found:
            count += 1
            name = f"{known}.{count}"
        found[name] = None
    return tuple(found)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"column {i + 1}" for i in range(count))


def _called(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else repr(delimiter)


def _may_be_compiled(delimiter: str) -> bool:
    """Whether a delimiter is one byte, and none that is part of numbers."""
    return delimiter.isascii() and not delimiter.isalnum() and delimiter not in "+-."
