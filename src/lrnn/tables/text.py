"""Tables as text: cells between commas, semicolons or tabs, with or without a line of names.

pyarrow parts rows into cells and converts these to numbers. What it refuses, or would part in
another way than Python's `csv`, is parted by `csv`, which counts lines: errors name them.
"""

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

from lrnn.arrays import Floats
from lrnn.tables.frame import Columns, Frame, as_number, is_text
from lrnn.tables.header import are_names
from lrnn.tables.messages import Place, Setting, TableError, TableWarning, Text, joined, warn
from lrnn.tables.reading import Reading
from lrnn.tables.sources import read_ahead

__all__ = ["TextFile"]

DELIMITERS = ";\t|,"
MISSING = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
    "None",
)  # fmt: skip
LOOKED_AT = 200  # lines from which delimiter and names are guessed
SHOWN = 3  # columns that a remark names
BLOCK = 1 << 22  # characters that are read at once; up to 4 times of a table with many columns
LONGEST = csv.field_size_limit()  # characters of a cell
THOUSANDS = r"^[+-]?[1-9]\p{Nd}{0,2}\.\p{Nd}{3}$"  # such as 1.778; or it has decimals


class TextFile(Columns):
    """A .csv or .tsv file, which may be gzipped, read block by block.

    Names are as pandas gives them: the second column "x" is "x.1", one without a name
    "Unnamed: 3", counted from 0.

    Attributes
    ----------
    delimiter : str
        The mark between cells.
    suffix : str
        The kind of text that its name says: ".csv" or ".tsv".
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self.name, self._path, self.reading = str(path), path, reading
        self.columns = ()
        self.suffix = ".tsv" if ".tsv" in path.suffixes else ".csv"
        self._missing, self._comma = set(MISSING), reading.decimal == ","
        marks = map(self._number, reading.na or ())
        self._marks = [mark for mark in marks if mark is not None]  # -999 is -999.0, too
        self._missing.update(reading.na or ())
        with self._open() as file:
            lines = _first_lines(file)
            filled = ((i, line.strip()) for i, line in enumerate(lines, 1) if line.strip())
            number, text = next(filled, (1, ""))
            if said := re.fullmatch(r'"?sep=(.)"?', text):
                raise TableError(
                    f"line {number}, {{value}}, is no row",
                    remedy="delete it, and give {delimiter}",
                    source=self.name,
                    value=repr(text),
                    delimiter=Setting("delimiter", said[1]),
                )
            usual = "\t" if self.suffix == ".tsv" else ","
            self.delimiter = reading.delimiter or _delimiter(lines, reading.decimal, usual)
            rows, _ = self._rows_by_csv(lines, file)
        if not rows:
            raise ValueError(f"{self.name!r} is empty")
        first, *rest = rows
        self.named = self._has_names(first, rest) if reading.header is None else reading.header
        if self.named and not rest:
            raise ValueError(f"{self.name!r} has a line of names, but no rows")
        numbered = tuple(f"column {i + 1}" for i in range(len(first)))
        self.columns = self._names(first) if self.named else numbered

    def content(self) -> bytes:
        """All of it, as it is before it is decoded."""
        with self._open("rb") as file:
            return bytes(file.read())

    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """Rows in order; a column is text where one of a block's cells is no number."""
        as_text, row = {self.columns.index(name) for name in text}, 0
        for block in read_ahead(self._blocks()):
            columns = [
                self._text(cells) if i in as_text else self._column(cells)
                for i, cells in enumerate(block)
            ]
            for i, cells in enumerate(block if self._comma else ()):
                if not is_text(columns[i]):
                    self._check_thousands(cells, i, row)
            frame = Frame(self.columns, tuple(columns), row)
            row += frame.shape[0]
            if row > first:
                yield frame[max(0, first - frame.first) :] if frame.first < first else frame
        if not row:
            raise ValueError(f"{self.name!r} has a line of names, but no rows")
        self.rows = row

    @contextmanager
    def _open(self, mode: str = "rt") -> Iterator[Any]:
        """The file as text, or as bytes; what is no text, or damaged, is refused."""
        encoding = self.reading.encoding
        if codecs.lookup(encoding).name == "utf-8":
            encoding = "utf-8-sig"
        how: Any = {"encoding": encoding, "newline": ""} if mode == "rt" else {}
        with open(self._path, "rb") as file:
            opened = gzip.open if file.read(2) == b"\x1f\x8b" else open
        try:
            with opened(self._path, mode, **how) as file:
                yield file
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self.name!r} is a damaged gzip file: {error}") from None
        except UnicodeError as error:
            with self._open("rb") as file:
                raise self._encoding_error(file.read(1 << 16), error) from None

    def _encoding_error(self, start: bytes, error: UnicodeError) -> TableError:
        """That this is no text in its encoding, and the one to try."""
        own, at = self.reading.encoding, ""
        other = "cp1252" if own.lower().startswith("utf") else "utf-8"
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            other = "utf-16"
        elif b"\0" in start:
            return TableError("it is not text: it holds zero bytes", source=self.name)
        elif isinstance(error, UnicodeDecodeError):
            byte = error.object[error.start : error.start + 1]
            line = start[: max(0, start.find(byte))].count(b"\n") + 1
            at = f": byte {byte[0]:#04x}" + f" in line {line}" * (byte in start)
        remedy = f"try {{encoding={other}}}"
        return TableError(f"it is no {own}{at}", remedy=remedy, source=self.name)

    def _has_names(self, first: list[str], rest: list[list[str]]) -> bool:
        """Whether the first line looks like names."""
        cells = [cell.strip() for cell in first]
        numbers = [self._number(cell) for cell in cells]
        names, remark = are_names(cells, numbers, [self._column(c) for c in _arrays(rest)])
        if remark:
            warn(TableWarning("{remark}", source=self.name, remark=remark))
        return names

    def _names(self, cells: list[str]) -> tuple[str, ...]:
        """Names of columns, each of which occurs once; a warning tells of those that are new."""
        names: dict[str, None] = {}
        renamed = []
        for i, cell in enumerate(cells):
            own = re.sub(r"\s+", " ", cell).strip()
            known = own or f"Unnamed: {i}"
            copies = (f"{known}.{number}" for number in count(1))
            name = next(name for name in chain([known], copies) if name not in names)
            names[name] = None
            if own and own != name:
                renamed.append(Text("{at} is {name}", at=Place(column=i), name=repr(name)))
        if renamed:
            more = f" and {len(renamed) - SHOWN} more" if len(renamed) > SHOWN else ""
            said = f"columns have the same name, and get others: {{names}}{more}"
            listed = joined(renamed[:SHOWN], ", ")
            warn(TableWarning(said, source=self.name, names=listed))
        return tuple(names)

    def _blocks(self) -> Iterator[list[Any]]:
        """The cells of consecutive rows, by column, as arrays of pyarrow."""
        names, passed = self.named, 0
        size = BLOCK * min(1 + len(self.columns) // 256, 4)
        with self._open() as file:
            while text := file.read(size) + file.readline():
                columns = self._cells_by_pyarrow(text)
                if columns is None:
                    lines = list(io.StringIO(text, newline=""))
                    rows, passed = self._rows_by_csv(lines, file, passed)
                    columns = _arrays(rows)
                else:
                    passed += text.count("\n")
                    passed += text.count("\r") - text.count("\r\n") if "\r" in text else 0
                if names and columns:
                    columns, names = [cells[1:] for cells in columns], not len(columns[0])
                if columns and len(columns[0]):
                    yield columns

    def _rows_by_csv(
        self, lines: list[str], file: Iterator[str], passed: int = 0
    ) -> tuple[list[list[str]], int]:
        """The cells of the rows that begin in these lines, and the number of lines until then.

        The last row may go on in the file. ``passed`` is the number of lines before these.
        """

        def text_lines() -> Iterator[str]:
            for number, line in enumerate(chain(lines, file), passed + 1):
                if "\0" in line:
                    where = f"{self.name!r}, line {number}"
                    raise ValueError(f"{where}: it is not text: it holds zero bytes")
                yield line

        reader = csv.reader(text_lines(), delimiter=self.delimiter, skipinitialspace=True)
        width, rows = len(self.columns), []
        try:
            while reader.line_num < len(lines) and (cells := next(reader, None)) is not None:
                if len(cells) < 2 and not "".join(cells).strip():
                    continue  # an empty line
                width = width or len(cells)
                if len(cells) == width + 1 and not cells[-1].strip():
                    cells.pop()  # a delimiter at the end
                if len(cells) != width:
                    called = "a tab" if self.delimiter == "\t" else repr(self.delimiter)
                    title = "; a title before the table should be deleted" * (width == 1)
                    raise csv.Error(
                        f"{len(cells)} cells, but {width} in the lines before. Cells with {called} "
                        f"inside need quotes{title}"
                    )
                rows.append(cells)
        except csv.Error as error:
            raise ValueError(f"{self.name!r}, line {passed + reader.line_num}: {error}") from None
        return rows, passed + reader.line_num

    def _cells_by_pyarrow(self, text: str) -> list[Any] | None:
        """The cells of a text by column; None where pyarrow would not part them as `csv` does."""
        if not self.delimiter.isascii() or "\0" in text:
            return None
        begins = rf'(^|[\r\n{re.escape(self.delimiter)}]) *"'  # a cell in quotes
        quoted = '"' in text and re.search(begins, text) is not None
        if self.delimiter == " ":  # several are one
            text = re.sub(r"(^|[ \r\n]) +", r"\1", text)
        data = _bare_quoted_cells(text.encode(), self.delimiter) if quoted else text.encode()
        if data is None or (quoted and self.delimiter == " "):
            return None
        for width in (len(self.columns), len(self.columns) + 1):
            names = [str(i) for i in range(width)]
            try:
                table = read_csv(
                    pa.BufferReader(data),
                    ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
                    ParseOptions(
                        delimiter=self.delimiter,
                        quote_char='"' if quoted else False,
                        newlines_in_values=quoted,
                    ),
                    ConvertOptions(
                        check_utf8=False, column_types=dict.fromkeys(names, pa.string())
                    ),
                )
            except pa.ArrowInvalid:
                continue  # some rows have another width
            columns: list[Any] = [cells for batch in table.to_batches() for cells in batch.columns]
            if not columns:
                return []
            if pc.max(pc.binary_length(pa.chunked_array(columns))).as_py() > LONGEST:
                return None
            if width > len(self.columns):  # there is a delimiter at the end of each line
                return None if any(map(str.strip, columns.pop().unique().to_pylist())) else columns
            if width == 1:
                columns = [columns[0].filter(pc.not_equal(pc.utf8_trim_whitespace(columns[0]), ""))]
            return columns
        return None

    def _column(self, cells: Any) -> NDArray[Any]:
        """Numbers, if all cells are numbers or missing; else text."""
        numbers = self._numbers(cells)
        return self._text(cells) if numbers is None else numbers

    def _numbers(self, cells: Any) -> Floats | None:
        """The numbers of cells, NaN for missing ones; None if one is neither."""
        if self._number(cells[0].as_py().strip()) is None:
            return None  # at once: each cell that pyarrow cannot convert takes it long
        numbers = None if self._comma or self._marks else _floats(cells)
        if numbers is None:
            texts = pc.utf8_trim_whitespace(cells)
            gone = pc.is_in(texts, value_set=pa.array(self._missing, pa.string()))
            points = pc.replace_substring(texts, ",", ".") if self._comma else texts
            numbers = _floats(pc.if_else(gone, None, points))
        if numbers is None:  # some are written in a way that only Python knows, or are none
            known = {}
            for text in texts.unique().to_pylist():
                known[text] = self._number(text)
                if known[text] is None:
                    return None
            numbers = np.array([known[text] for text in texts.to_pylist()])
        return np.where(np.isin(numbers, self._marks), np.nan, numbers) if self._marks else numbers

    def _number(self, text: str) -> float | None:
        """The number that a text is: NaN where it is missing, None if it is none."""
        if text in self._missing:
            return np.nan
        try:
            return as_number(text.replace(",", ".") if self._comma else text)
        except ValueError:
            return None

    def _text(self, cells: Any) -> NDArray[Any]:
        coded = cells.dictionary_encode()
        texts = (cell.strip() for cell in coded.dictionary.to_pylist())
        known = [None if text in self._missing else text for text in texts]
        found: NDArray[Any] = np.array(known, dtype=object)[coded.indices.to_numpy()]
        return found

    def _check_thousands(self, cells: Any, column: int, first: int) -> None:
        """Refuse 1.778 where the comma is the mark of decimals: it may be 1778."""
        texts = pc.utf8_trim_whitespace(cells)
        row = pc.index(pc.match_substring_regex(texts, THOUSANDS), True).as_py()
        if row >= 0:
            number = texts[row].as_py()
            raise TableError(
                "{at} is {value}, and with {decimal=,} its point may stand between thousands",
                remedy=f"write {number.replace('.', '')}, or {number.replace('.', ',')}; if points "
                "are the marks of decimals, leave {decimal} out",
                source=self.name,
                at=Place.at(first + row, column, self.columns),
                value=repr(number),
            )


def _first_lines(file: Iterable[str]) -> list[str]:
    """As many lines as tell what a text is like."""
    lines, filled = [], 0
    for line in file:
        lines.append(line)
        filled += bool(line.strip())
        if filled == LOOKED_AT:
            break
    return lines


def _delimiter(lines: list[str], decimal: str, usual: str) -> str:
    """What parts all rows into equally many cells, or else most of them; or what is usual."""
    text = "".join(line for line in lines if line.strip())
    best, chosen = (False, 0), usual
    for mark in DELIMITERS.replace(decimal, ""):
        try:
            counts = Counter(map(len, csv.reader(io.StringIO(text), delimiter=mark)))
        except csv.Error:
            continue
        width, often = counts.most_common(1)[0] if counts else (0, 0)
        if width > 1 and (often == counts.total(), often) > best:
            best, chosen = (often == counts.total(), often), mark
    return chosen


def _arrays(rows: list[list[str]]) -> list[Any]:
    """The columns of rows of cells, as arrays of pyarrow."""
    return [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]


def _floats(cells: Any) -> Floats | None:
    """The numbers that Python's ``float`` gives, NaN for what is null; None if a cell is none."""
    try:
        numbers: Floats = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    odd = np.isnan(numbers).any() and pc.any(pc.match_substring(cells, "(")).as_py()
    return None if odd else numbers  # pyarrow reads nan(x), too


def _bare_quoted_cells(data: bytes, delimiter: str) -> bytes | None:
    """The same without blanks before cells in quotes; None if quotes stand inside other cells."""
    text = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(text == ord('"'))
    doubled = np.zeros(len(places[::2]), dtype=bool)
    doubled[1:] = np.diff(places)[1::2] == 1
    while True:
        opening = np.flatnonzero(text == ord('"'))[::2]  # the others end a cell, or are doubled
        before = np.where(opening > 0, text[opening - 1], ord("\n"))
        blank = before == ord(" ")
        if not blank.any():
            break
        text = np.delete(text, opening[blank] - 1)
    right = doubled | np.isin(before, (ord(delimiter), ord("\n"), ord("\r")))
    return text.tobytes() if len(places) % 2 == 0 and right.all() else None
