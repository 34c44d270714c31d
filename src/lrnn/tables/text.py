"""Numbers as text: comma- or tab-separated, with or without a line of names."""

import csv
import gzip
import io
import zlib
from pathlib import Path

import numpy as np

from lrnn.tables.table import Table

DELIMITERS = ",;\t"


def read_text(path: Path) -> Table:
    """The numbers of a .csv or .tsv file; it may be gzipped."""
    content = _decoded(path)
    lines = content.splitlines()
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        raise ValueError(f"{str(path)!r} is empty")
    delimiter = _delimiter(lines[filled[0]])
    first = _cells(lines[filled[0]], delimiter)
    names = None if all(map(_is_number, first)) else tuple(cell.strip() for cell in first)
    if names is not None and len(filled) == 1:
        raise ValueError(f"{str(path)!r} has a line of names, but no rows")
    skipped = filled[0] + (names is not None)
    try:
        data = np.loadtxt(
            io.StringIO("\n".join(lines[skipped:])),
            delimiter=delimiter,
            comments=None,
            quotechar='"',
            ndmin=2,
        )
    except (ValueError, csv.Error):
        _complain(path, lines, filled[names is not None :], delimiter, names or first)
        raise ValueError(f"{str(path)!r} cannot be read as a table of numbers") from None
    if names is not None and len(names) != data.shape[1]:
        raise ValueError(
            f"{str(path)!r} has {len(names)} names in line {filled[0] + 1}, but "
            f"{data.shape[1]} columns"
        )
    wrong = np.argwhere(~np.isfinite(data))
    if len(wrong):
        row, column = wrong[0]
        line = filled[names is not None :][row] + 1
        raise ValueError(
            f"{str(path)!r}, line {line}, {_column(names, column)}: {data[row, column]} is not a "
            "finite number"
        )
    return Table(data, names)


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{str(path)!r} is a damaged gzip file: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = content[: error.start].count(b"\n") + 1, content[error.start]
        raise ValueError(
            f"{str(path)!r} is not text: byte {byte:#04x} in line {line} is no UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{str(path)!r} is not text: it holds zero bytes")
    return text


def _delimiter(line: str) -> str:
    """The separator that occurs most in a line; a comma if none does."""
    return max(DELIMITERS, key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _complain(
    path: Path,
    lines: list[str],
    rows: list[int],
    delimiter: str,
    first: tuple[str, ...] | list[str],
) -> None:
    """Find the first cell that is no number, or the first line of another length."""
    names = None if all(map(_is_number, first)) else tuple(first)
    width = len(_cells(lines[rows[0]], delimiter))
    for i in rows:
        cells = _cells(lines[i], delimiter)
        for column, cell in enumerate(cells):
            if not _is_number(cell):
                said = f"{_short(cell)!r} is not a number" if cell.strip() else "the cell is empty"
                raise ValueError(f"{str(path)!r}, line {i + 1}, {_column(names, column)}: {said}")
        if len(cells) != width:
            raise ValueError(
                f"{str(path)!r}, line {i + 1}: {len(cells)} cells, but {width} in line "
                f"{rows[0] + 1}"
            )


def _column(names: tuple[str, ...] | None, column: int) -> str:
    if names is not None and column < len(names):
        return f"column {column + 1} ({_short(names[column])!r})"
    return f"column {column + 1}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"
