"""Tables whose missing cells were filled, written such that nothing else changes."""

import codecs
import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import in_place
from lrnn.tables.sources import ParquetFiles
from lrnn.tables.text import TextFile

__all__ = ["Fill", "number_text", "write_filled"]

SEPARATORS = {".csv": ",", ".tsv": "\t"}
LINE_END = re.compile(r"\r\n|\r|\n|\Z")
QUOTED = re.compile(r'( *)"[^"]*(?:""[^"]*)*"( *)')
MARKS = (  # before a text, by its encoding
    ("utf-8", codecs.BOM_UTF8),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
)
PADDED = re.compile(r"(\s*)\S?.*?(\s*)", re.DOTALL)


class Fill(NamedTuple):
    """What is filled into a column: which cells were missing, and what each of them gets."""

    gone: NDArray[np.bool_]
    values: Sequence[Any]


def write_filled(table: Any, output: Path, fills: Mapping[int, Fill]) -> bool:
    """Write a table of text as text, or one of Parquet as such, with ``fills`` by column.

    All that is not filled stays as it is. False if the formats are others; nothing is written then.
    """
    suffix, path = output.suffix.lower(), output.resolve()
    if isinstance(table, TextFile) and suffix in SEPARATORS:
        data = _rewritten(table, suffix, fills)
        with in_place(path) as unfinished:
            unfinished.write_bytes(data)
        return True
    if isinstance(table, ParquetFiles) and suffix == ".parquet":
        from pyarrow import parquet

        found = _replaced(table, fills)
        with in_place(path) as unfinished:
            parquet.write_table(found, unfinished)
        return True
    return False


def number_text(value: float, mark: str = ".") -> str:
    """The shortest text that reads back as the same number.

    >>> number_text(1700000002.25), number_text(20.0, ",")
    ('1700000002.25', '20')
    """
    return repr(float(value)).removesuffix(".0").replace(".", mark)


def _rewritten(table: TextFile, suffix: str, fills: Mapping[int, Fill]) -> bytes:
    """The bytes of a text, with other cells where they were missing.

    The mark between cells is the file's own, unless the new name asks for another kind of text.
    """
    own, mark = table.delimiter, table.reading.decimal
    delimiter = own if table.suffix == suffix else SEPARATORS[suffix]
    text, codec, start = _decoded(table.content(), table.reading.encoding)
    new = {
        column: dict(zip(np.flatnonzero(fill.gone).tolist(), fill.values, strict=True))
        for column, fill in fills.items()
    }
    parts, row = [], -1 if table.named else 0
    for cells, end in _records(text, own):
        if len(cells) < 2 and not _content(cells[0], own).strip():
            parts += [*cells, end]  # an empty line
            continue
        if delimiter != own:
            cells = [_requoted(cell, own, delimiter) for cell in cells]
        for column in new if row >= 0 else ():
            if row in new[column]:
                value = new[column][row]
                said = value if isinstance(value, str) else number_text(value, mark)
                cells[column] = _put(said, cells[column], delimiter)
        parts += [delimiter.join(cells), end]
        row += 1
    if any(len(fill.gone) != row for fill in fills.values()):
        raise RuntimeError(f"{table.name!r} has {row} rows now; it is changing")
    return start + "".join(parts).encode(codec)


def _decoded(content: bytes, encoding: str) -> tuple[str, str, bytes]:
    """A text; the encoding that gives its bytes back, and what these begin with."""
    name = codecs.lookup(encoding).name.removesuffix("-sig")
    for plain, start in MARKS:
        if plain.startswith(name) and content.startswith(start):
            return content.removeprefix(start).decode(plain), plain, start
    plain = f"{name}-{sys.byteorder[0]}e" if name in ("utf-16", "utf-32") else name
    return content.decode(plain), plain, b""


def _records(text: str, delimiter: str) -> Iterator[tuple[list[str], str]]:
    """The cells of each line as they are written, and its end; parted as `csv.reader` does."""
    mark = re.escape(delimiter)
    cell = re.compile(rf' *(?:"[^"]*(?:""[^"]*)*(?:"[^{mark}\r\n]*|\Z)|[^{mark}\r\n]*)')
    at, cells = 0, []
    while at < len(text):
        found = cell.match(text, at)
        assert found is not None
        cells.append(found[0])
        at = found.end()
        if text.startswith(delimiter, at):
            at += 1
            if at < len(text):
                continue
            cells.append("")
        end = LINE_END.match(text, at)
        assert end is not None
        yield cells, end[0]
        at, cells = end.end(), []


def _content(cell: str, delimiter: str) -> str:
    """What a cell says."""
    lines = csv.reader(io.StringIO(cell, newline=""), delimiter=delimiter, skipinitialspace=True)
    return "".join(next(lines, []))


def _requoted(cell: str, own: str, delimiter: str) -> str:
    """A cell as it is written between other marks."""
    if delimiter not in cell or QUOTED.fullmatch(cell):
        return cell
    return _quoted(_content(cell, own))


def _put(said: str, cell: str, delimiter: str) -> str:
    """A text in the place of a cell, with the quotes and the blanks that this one had."""
    quoted = QUOTED.fullmatch(cell)
    around = quoted or PADDED.fullmatch(cell)
    assert around is not None
    if quoted or set(said) & {delimiter, '"', "\r", "\n"}:
        said = _quoted(said)
    return f"{around[1]}{said}{around[2]}"


def _quoted(said: str) -> str:
    return '"' + said.replace('"', '""') + '"'


def _replaced(files: ParquetFiles, fills: Mapping[int, Fill]) -> Any:
    """The table of pyarrow in these files, with other columns where cells were missing."""
    table = files.table()
    changed = []
    for column, fill in fills.items():
        name = files.columns[column]
        at = table.schema.get_field_index(name)
        field = table.schema.field(at)
        found = _filled(table.column(at).combine_chunks(), fill)
        if found.type != field.type:
            changed.append(name)
        table = table.set_column(at, field.with_type(found.type), found)
    metadata = dict(table.schema.metadata or {})
    if changed and b"pandas" in metadata:
        told = json.loads(metadata[b"pandas"])
        for known in told["columns"]:
            if known["name"] in changed:
                known |= {"pandas_type": "float64", "numpy_type": "float64", "metadata": None}
        metadata[b"pandas"] = json.dumps(told).encode()
        table = table.replace_schema_metadata(metadata)
    return table


def _filled(column: Any, fill: Fill) -> Any:
    """A column of pyarrow without gaps, of its own type if that can hold what is filled in."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if isinstance(column, pyarrow.ChunkedArray):  # of several dictionaries
        column = column.unify_dictionaries().combine_chunks()
    if types.is_floating(kind):
        numbers = column.to_numpy(zero_copy_only=False).copy()
        numbers[fill.gone] = fill.values
        return pyarrow.array(numbers, type=kind)
    cells = column.to_pylist()
    if not all(isinstance(value, str) for value in fill.values):
        if types.is_boolean(kind):
            return pyarrow.array(_with(cells, fill.gone, [v >= 0.5 for v in fill.values]), kind)
        known = [cell for cell in cells if cell is not None]
        if types.is_integer(kind) and any(int(float(cell)) != cell for cell in known):
            whole = [round(value) for value in fill.values]  # as floats they would lose digits
            return pyarrow.array(_with(cells, fill.gone, whole), kind)
        return pyarrow.array(np.array(_with(cells, fill.gone, fill.values), dtype=np.float64))
    if types.is_dictionary(kind):
        values = {str(value): i for i, value in enumerate(column.dictionary.to_pylist())}
        codes = _with(column.indices.to_pylist(), fill.gone, [values[v] for v in fill.values])
        return pyarrow.DictionaryArray.from_arrays(
            pyarrow.array(codes, kind.index_type), column.dictionary, ordered=kind.ordered
        )
    meant = {str(cell): cell for cell in cells}
    return pyarrow.array(_with(cells, fill.gone, [meant.get(v, v) for v in fill.values]), kind)


def _with(cells: list[Any], gone: NDArray[np.bool_], values: Sequence[Any]) -> list[Any]:
    for row, value in zip(np.flatnonzero(gone).tolist(), values, strict=True):
        cells[row] = value
    return cells
