"""Texts of which some cells are filled: the known ones say what they said."""

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrnn.datasets import Reading
from lrnn.tables.filled import Fill, number_text, write_filled
from lrnn.tables.text import TextFile

CELLS = st.text(alphabet="ab,;\t \"'\r\n|ä", max_size=5).map(lambda cell: f"x{cell}")
ROWS = st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=6)


def cells_of(content, delimiter):
    return list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter))


@given(
    ROWS,
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    st.sampled_from([".csv", ".tsv"]),
    st.sampled_from(["\n", "\r\n"]),
    st.data(),
)
def test_only_missing_cells_change(rows, delimiter, encoding, suffix, end, data):
    gone = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), dtype=bool
    )
    for row in np.flatnonzero(gone):
        rows[row][1] = ""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    with TemporaryDirectory() as folder:
        path, output = Path(folder, "a.csv"), Path(folder, f"b{suffix}")
        path.write_bytes(text.getvalue().encode(encoding))
        reading = Reading(delimiter=delimiter, encoding=encoding.removesuffix("-sig"), header=False)
        values = ["a\n;b", *np.arange(1.0, gone.sum())][: gone.sum()]
        assert write_filled(TextFile(path, reading), output, {1: Fill(gone, values)})
        found = output.read_bytes().decode(encoding)
    for row, value in zip(np.flatnonzero(gone), values, strict=True):
        rows[row][1] = value if isinstance(value, str) else number_text(value)
    assert cells_of(found, delimiter if suffix == ".csv" else "\t") == rows
    assert found.endswith(end)


def test_empty_lines_and_delimiters_at_the_end_of_lines_go(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2,\n\n  \n3,,\n")
    table = TextFile(tmp_path / "a.csv", Reading())
    fills = {1: Fill(np.array([False, True]), [7.5])}
    assert write_filled(table, tmp_path / "b.csv", fills)
    assert (tmp_path / "b.csv").read_text() == "a,b\n1,2\n3,7.5\n"
    assert not write_filled(table, tmp_path / "b.npy", fills)


def test_a_file_that_has_other_rows_by_now(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    table = TextFile(tmp_path / "a.csv", Reading())
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RuntimeError, match=r"a\.csv"):
        write_filled(table, tmp_path / "b.csv", {1: Fill(np.array([False, True]), [7.5])})
    assert not (tmp_path / "b.csv").exists()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(value):
    assert float(number_text(value)) == value
    assert float(number_text(value, ",").replace(",", ".")) == value
