"""Tables as text: the reader on pyarrow gives what the reader before it gave, to the last bit.

The one before (tests/tables/oracle) parts rows by `csv.reader` and takes numbers from ``float``.
"""

import gzip
import re
import warnings
from unittest.mock import patch

import numpy as np

from lrnn.tables import text as by_pyarrow
from lrnn.tables.frame import is_text
from lrnn.tables.reading import Reading
from tables.oracle import text as by_csv
from trial.harness import cases

NUMBERS = ["0", "1", "-2", "+3", "00701", ".5", "5.", "1e5", "-1E-05", "1e400", "1e-400", "-0",
           "inf", "-Infinity", "NAN", "+nan", "nan(1)", "1_000", "0x1F", "12:30", "1d5", "1e",
           "--1", "١٢", "12345678901234567890", "9007199254740993", "4.9e-324",
           "0.1000000000000000055511151231257827", "2.4703e-324", "1.7976931348623159e308", "-999",
           "-999.0", "1 2"]  # fmt: skip
COMMAS = ["1,5", "-0,25", "1.778", "12.000", "1.778,5", "1,2,3", "0.125", "3", ",5", "5,", "1,5e3"]
MISSING = ["", " ", "NA", "n/a", "nan", "-NaN", "NULL", "None", "<NA>", " NA ", "na", "?", "-"]
TEXTS = ["red", "blue", "é", "日本", "a b", "True", "2024-01-01", "x\u2028y", "\xa0z", "\x1c",
         "=1+1", "v1", "12kg", "5' 3", "😀", "a.b", "#", "\x0c", "sep"]  # fmt: skip
ODD = ['5" pipe', '"', '""', '"a', 'a"b"', '"a"b', '"a""b"', '"a\nb"', '"a\r\nb"', '"\n"', ' "a"',
       '"a" ', '" 1 "', '"1"', '","', '"a;b\tc"', '"NA"', '" "', "\t", "  1", "1  "]  # fmt: skip
PIECES = ["1", "-2.5", "3e2", "0,5", "x", "NA", "-999", "é", "\xa0", "\u2028", "\x0c", "_",
          " ", "\t", '"', '""', '"a"', '"1"', ",", ",", ",", ";", "\n", "\n", "\r\n", "\r", "inf",
          "\0"]  # fmt: skip


def number(case):
    """A number as programs write it."""
    value = case.rng.standard_normal() * 10.0 ** case.rng.integers(-8, 9)
    bits = np.frombuffer(case.rng.bytes(8), np.float64)[0]
    write = case.any_of(
        [repr, "{:.3f}".format, "{:.17g}".format, "{:.20e}".format, "{:.0f}".format]
    )
    return write(float(bits if case.chance(0.2) and np.isfinite(bits) else value))


def column(case, count, decimal):
    """Cells of one kind, some of them of another."""
    kinds = {
        "number": lambda: number(case).replace(".", decimal),
        "odd number": lambda: case.any_of(NUMBERS),
        "comma": lambda: case.any_of(COMMAS),
        "missing": lambda: case.any_of(MISSING),
        "text": lambda: case.any_of(TEXTS),
        "odd": lambda: case.any_of(ODD),
    }
    usual = kinds[case.any_of(["number"] * 4 + ["text"] * 2 + list(kinds))]
    other, share = kinds[case.any_of(list(kinds))], case.any_of([0, 0, 0.1, 0.5])
    return [other() if case.chance(share) else usual() for _ in range(count)]


def quoted(cell, always, delimiter):
    needed = set(cell) & {delimiter, "\n", "\r"}
    if cell.startswith('"') or not (always or needed):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def a_table(case):
    """A table as text, and how it is to be read."""
    delimiter = case.any_of([",", ",", ";", "\t", "|", " ", "§", "e", "-"])
    decimal = "," if case.chance(0.3) and delimiter != "," else "."
    width, height = case.any_of([1, 2, 3, 5]), case.any_of([0, 1, 3, 8, 8, 20, 20, 260])
    columns = [column(case, height, decimal) for _ in range(width)]
    header = case.any_of([[], ["a", "b", "c", "d", "e"], ["x", "x", " y  z ", "", "x.1"],
                          ["2019", "2020", "2021", "2022", "2023"], ["0", "1", "2", "3", "4"],
                          ["", "0", "1", "2", "3"], ["id", "2019", "2020", "3", "9"]])  # fmt: skip
    rows = [header[:width]] * bool(header) + [list(row) for row in zip(*columns, strict=True)]
    always, blanks = case.chance(0.2), case.chance(0.15)
    lines = []
    for row in rows:
        cells = [quoted(cell, always, delimiter) for cell in row]
        if blanks:
            cells = [case.any_of(["", " ", "  "]) + cell + case.any_of(["", " "]) for cell in cells]
        lines.append(delimiter.join(cells))
    if case.chance(0.1):
        lines = [line + delimiter for line in lines]
    elif case.chance(0.1):
        lines = lines[:1] + [line + delimiter for line in lines[1:]]
    if lines and case.chance(0.2):
        at = int(case.rng.integers(len(lines)))
        change = case.any_of(
            ["empty", "blanks", "short", "long", "delimiter", "zero", "quotes", "twice"]
        )
        lines[at : at + 1] = {
            "empty": ["", lines[at]], "blanks": [lines[at], " \t "], "short": [lines[at][:-2]],
            "long": [lines[at] + delimiter + "7"], "delimiter": [lines[at] + delimiter],
            "zero": [lines[at] + "\0"], "quotes": ['""', lines[at]], "twice": ["", "", lines[at]],
        }[change]  # fmt: skip
    end = case.any_of(["\n", "\n", "\r\n", "\r"])
    text = end.join(lines) + end * case.any_of([0, 1, 1, 3])
    if height > by_csv.LOOKED_AT:  # of quotes that are open there, the one before sees no end
        text = text.replace('"', "")
    given = {"delimiter": delimiter, "decimal": decimal}
    if case.chance(0.5) and delimiter in by_csv.DELIMITERS:
        del given["delimiter"]
    if case.chance(0.4):
        given["header"] = bool(header) if case.chance(0.8) else not header
    if case.chance(0.3):
        given["na"] = case.any_of(
            [("?",), ("-999",), ("-", "x"), ("red", "3"), (" NA ",), ("1,5",)]
        )
    return text, given


def soup(case):
    """Any text at all."""
    text = "".join(case.any_of(PIECES) for _ in range(case.rng.integers(1, 41)))
    return text, case.any_of([
        {}, {"delimiter": ",", "header": False}, {"delimiter": ";", "decimal": ",", "header": True},
        {"delimiter": ",", "header": False, "na": ("-999", "x")},
        {"delimiter": " ", "header": False}, {"delimiter": "\t", "header": False},
        {"delimiter": "|", "header": False},
    ])  # fmt: skip


def what_is_read(module, path, reading, first):
    """Names, texts and numbers of a table, number of remarks; or kind and place of an error."""
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        try:
            table = module.TextFile(path, reading)
            texts = list(table.frames(table.columns, first))
            frames = list(table.frames())
        except ValueError as error:
            if "gzip" in str(error):
                return "damaged"
            places = re.findall(r"\b(?:line|row|column) \d+", str(error).replace(str(path), ""))
            return type(error), tuple(places)
    for start, blocks in ((first, texts), (0, frames)):
        rows = np.cumsum([start, *(frame.shape[0] for frame in blocks)])
        assert [frame.first for frame in blocks] == rows[:-1].tolist()
    columns = []
    for i in range(len(table.columns)):
        blocks = [frame.columns[i] for frame in frames]
        assert not any(is_text(b) and b.dtype != object for b in blocks)
        known = [] if any(map(is_text, blocks)) else np.concatenate([np.zeros(0), *blocks])
        bits = [float(value).hex() for value in known]
        columns.append((bits, [cell for frame in texts for cell in frame.columns[i]]))
    return table.columns, table.named, table.delimiter, table.rows, columns, len(remarks)


@cases(short=300, full=100_000)
def test_same_as_before(case):
    """The same names, numbers, texts and remarks; or an error of the same kind and line."""
    text, given = soup(case) if case.chance(0.25) else a_table(case)
    encoding = case.any_of(["utf-8"] * 4 + ["utf-8-sig", "latin-1", "cp1252", "utf-16", "ascii"])
    said = "utf-8" if encoding == "utf-8-sig" and case.chance(0.5) else encoding
    content = text.encode(encoding, "replace")
    if case.chance(0.03):
        content += b"\xff\n"
    zipped = case.chance(0.1)
    if zipped:
        content = gzip.compress(content, mtime=0)[: -3 if case.chance(0.1) else None]
    path = case.folder / f"t{case.any_of(['.csv', '.csv', '.tsv'])}{'.gz' * zipped}"
    path.write_bytes(content)
    reading = Reading(**given, encoding=said)
    case.about += [repr(text[:300]), repr(reading.to_json())]
    first = case.any_of([0, 0, 0, 2])
    whole = reading.decimal == ","  # what may be thousands is refused in blocks of numbers
    with patch.object(by_pyarrow, "BLOCK", (1 << 20) if whole else case.any_of([1, 20, 1 << 20])):
        found = what_is_read(by_pyarrow, path, reading, first)
    assert found == what_is_read(by_csv, path, reading, first)
