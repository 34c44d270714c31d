"""Tables whose missing cells were filled; known cells keep their text, or their value and type."""

import codecs
import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import in_place
from lrnn.tables.sources import ParquetFiles
from lrnn.tables.text import TextFile

__all__ = ["Fill", "number_text", "write_filled"]

SEPARATORS = {".csv": ",", ".tsv": "\t"}


class Fill(NamedTuple):
    """What is filled into a column: which cells were missing, and what each of them gets."""

    gone: NDArray[np.bool_]
    values: Sequence[Any]


def write_filled(table: Any, output: Path, fills: Mapping[int, Fill]) -> bool:
    """Write a table of text as text, or one of Parquet as such, with ``fills`` by column.

    Known cells stay what they are. False if the formats are others; nothing is written then.
    """
    suffix, path = output.suffix.lower(), output.resolve()
    if isinstance(table, TextFile) and suffix in SEPARATORS:
        data = _filled_text(table, suffix, fills)
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


def _filled_text(table: TextFile, suffix: str, fills: Mapping[int, Fill]) -> bytes:
    """A text in which missing cells are filled, in its own encoding.

    The mark between cells is the file's own, unless the new name asks for another kind of text.
    Quotes stand where they are needed only.
    """
    content, codec = table.content(), table.reading.encoding
    if content.startswith(codecs.BOM_UTF8) and codecs.lookup(codec).name == "utf-8":
        codec = "utf-8-sig"  # reads and writes the mark before the text
    text = content.decode(codec)
    records = csv.reader(
        io.StringIO(text, newline=""), delimiter=table.delimiter, skipinitialspace=True
    )
    width = len(table.columns)
    lines = [cells[:width] for cells in records if len(cells) > 1 or "".join(cells).strip()]
    rows = lines[table.named :]
    for column, fill in fills.items():
        if len(fill.gone) != len(rows):
            raise RuntimeError(f"{table.name!r} has {len(rows)} rows now; it is changing")
        for row, value in zip(np.flatnonzero(fill.gone).tolist(), fill.values, strict=True):
            number = None if isinstance(value, str) else number_text(value, table.reading.decimal)
            rows[row][column] = number or value
    delimiter = table.delimiter if table.suffix == suffix else SEPARATORS[suffix]
    special = re.compile(f'[{re.escape(delimiter)}"\r\n]|^ ')
    end = "\r\n" if "\r\n" in text else "\n"
    joined = (
        delimiter.join(
            '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell for cell in cells
        )
        for cells in lines
    )
    return "".join(line + end for line in joined).encode(codec)


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
