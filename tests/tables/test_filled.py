"""Texts of which some cells are replaced: parted as `csv.reader` does, and else as they were."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrnn.tables.filled import _content, _decoded, _put, _records, _requoted, number_text


@given(st.text(alphabet='ab,; \t"\r\n'), st.sampled_from(",;\t "))
def test_cells_are_those_of_the_csv_module(text, delimiter):
    records = list(_records(text, delimiter))
    assert "".join(delimiter.join(cells) + end for cells, end in records) == text
    said = [[_content(cell, delimiter) for cell in cells] for cells, _ in records]
    lines = io.StringIO(text, newline="")
    expected = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    assert [cells for cells in said if cells != [""]] == [
        cells for cells in expected if cells not in ([], [""])
    ]


@given(st.text(alphabet='ab,; \t"\r\n'))
def test_cells_say_the_same_between_other_marks(text):
    for cells, _ in _records(text, ","):
        for cell in cells:
            assert _content(_requoted(cell, ",", "\t"), "\t") == _content(cell, ",")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(value):
    assert float(number_text(value)) == value
    assert float(number_text(value, ",").replace(",", ".")) == value


@pytest.mark.parametrize(
    ("cell", "said", "expected"),
    [
        ("", "1", "1"),
        (" ? ", "1", " 1 "),
        ('"?"', "1", '"1"'),
        (' "" ', "a,b", ' "a,b" '),
        ("?", 'a "b"', '"a ""b"""'),
        ("  ", "1", "  1"),
    ],
)
def test_what_is_put_in_has_the_blanks_and_quotes_of_the_gap(cell, said, expected):
    assert _put(said, cell, ",") == expected


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_marks_before_a_text_stay(mark):
    content = mark + "ä,1".encode()
    for name in ("utf-8", "UTF8", "utf-8-sig"):
        text, codec, start = _decoded(content, name)
        assert text == "ä,1"
        assert start + text.encode(codec) == content
