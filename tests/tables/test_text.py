"""Cells of a text: the same as by csv.reader and float, to the last bit, in blocks of any size."""

import csv
import gzip
import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lrnn.tables.frame import is_text
from lrnn.tables.messages import TableError
from lrnn.tables.reading import Reading
from lrnn.tables.text import TextFile
from naming import naming

ALWAYS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=[1 << 20, 7])
def block(request, monkeypatch):
    """The characters that are read at once."""
    monkeypatch.setattr("lrnn.tables.text.BLOCK", request.param)


def cells_of(path, **reading):
    """All cells of a text, by column, as they are written."""
    table = TextFile(path, Reading(**reading))
    frames = list(table.frames(table.columns))
    return [
        [cell for frame in frames for cell in frame.columns[i]] for i in range(len(frames[0].names))
    ]


def numbers_of(folder, texts, decimal="."):
    """The numbers of texts; an error if one of them is none."""
    path = folder / "a.csv"
    path.write_text("\n".join(texts) + "\n")
    reading = Reading(delimiter=";", header=False, decimal=decimal)
    return np.concatenate([frame.columns[0] for frame in TextFile(path, reading).frames()])


def agree_with_float(folder, texts, decimal="."):
    found = numbers_of(folder, texts, decimal)
    expected = np.array([float(text.replace(",", ".")) for text in texts])
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.view(np.uint64), expected.view(np.uint64))


def hard_numbers(rng, count):
    """Texts of numbers of many kinds."""
    bits = np.frombuffer(rng.bytes(8 * count), dtype=np.float64)
    bits = bits[np.isfinite(bits)].tolist()
    tied = [(2 * int(m) + 1) << int(k) for m, k in rng.integers(1 << 52, 1 << 53, (count, 2)) % 10]
    tied += [(2 * int(m) + 1) for m in rng.integers(1 << 52, 1 << 53, count)]
    near = [n + int(d) for n, d in zip(tied, rng.integers(-1, 2, len(tied)), strict=True)]
    powers = [f"{m}e{e}" for m, e in zip(near, rng.integers(-380, 330, len(near)), strict=True)]
    return {
        "shortest": [repr(x) for x in bits],
        "17 digits": [f"{x:.17g}" for x in bits],
        "19 digits": [f"{x:.18e}" for x in bits],
        "20 digits": [f"{x:.19E}" for x in bits],
        "of a table": [repr(x) for x in (rng.random(count).round(6) * 100).tolist()],
        "in [0, 1]": [repr(x) for x in rng.random(count).tolist()],
        "float32": [repr(float(x)) for x in rng.random(count, dtype=np.float32)],
        "halfway": [str(n) for n in near],
        "with exponents": powers,
        "subnormal": [repr(x * 5e-324) for x in rng.integers(1, 1 << 52, count).tolist()],
    }


def test_numbers_are_those_of_float(tmp_path):
    for texts in hard_numbers(np.random.default_rng(0), 2_000).values():
        agree_with_float(tmp_path, texts)


@pytest.mark.slow
def test_millions_of_numbers_are_those_of_float(tmp_path):
    for seed in range(20):
        for texts in hard_numbers(np.random.default_rng(seed), 50_000).values():
            agree_with_float(tmp_path, texts)


digits = st.text("0123456789", max_size=22)


@ALWAYS
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "", "-", "+"]),
            digits,
            st.sampled_from(["", ".", ","]),
            digits,
            st.one_of(
                st.just(""),
                st.builds(
                    "{}{}{}".format,
                    st.sampled_from("eE"),
                    st.sampled_from(["", "-", "+", "0", "-00"]),
                    st.one_of(st.integers(0, 30), st.integers(0, 400), st.integers(0)),
                ),
            ),
        ).map("".join),
        min_size=1,
        max_size=30,
    )
)
@example(["+1.", ".5", "1e5", "1E+05", "-0", "0e999999", "00000000000000000000001.5", "1e-400"])
@example(["9007199254740993", "9007199254740992.5", "1e23", "8.98846567431158e307", "1e309"])
@example(["0." + "0" * 100_000 + "15e100001", "15" + "0" * 100_001 + "e-100001"])
@example(["179769313486231580793e289", "2.2250738585072011e-308", "4.9e-324", "2.4703e-324"])
@example(["nan(1)", "0x1F", "1_000", "1e", "12:30", "1 2", "١٢", "inf", "-Infinity", "+nan"])
def test_numbers_as_they_may_be_written(tmp_path, texts):
    for point in (".", ","):
        written = [text.replace(",", ".") if point == "," else text for text in texts]
        are = [text for text, plain in zip(texts, written, strict=True) if is_number(plain)]
        if point == ",":  # 1.778 may be 1778
            are = [text for text in are if "." not in text]
        if are:
            np.testing.assert_array_equal(
                numbers_of(tmp_path, are, point), [float(t.replace(",", ".")) for t in are]
            )
        for text, plain in zip(texts, written, strict=True):
            if text and not is_number(plain):
                path = tmp_path / "b.csv"
                path.write_text(text + "\n")
                reading = Reading(delimiter=";", header=False, decimal=point)
                (frame,) = TextFile(path, reading).frames()
                assert frame.columns[0].tolist() == [text]


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


@given(
    st.lists(
        st.lists(
            st.sampled_from(["1", "0.25", "x", '"a\n"', '"1"', "", "NA"]), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(ALWAYS, max_examples=20)
@pytest.mark.filterwarnings("ignore")
def test_tables_in_blocks_from_any_row_on(tmp_path, monkeypatch, rows):
    path = tmp_path / "a.csv.gz"
    text = "".join(",".join(row) + "\n" for row in [["a", "b", "c"], *rows])
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    said = list(csv.reader(io.StringIO(text)))[1:]
    expected = [None if cell in ("", "NA") else cell.strip() for _, cell, _ in said]
    for size, first in ((3, 0), (6, 2), (1 << 20, 1)):
        monkeypatch.setattr("lrnn.tables.text.BLOCK", size)
        frames = list(TextFile(path, Reading(header=True)).frames(("b",), first))
        heights = [frame.shape[0] for frame in frames]
        assert [frame.first for frame in frames] == [
            first + sum(heights[:i]) for i in range(len(heights))
        ]
        assert [cell for frame in frames for cell in frame.columns[1]] == expected[first:]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,2\n3,4\n5\n", ["line 3", 1, 2]),
        ('1,2\n"3\n",4\n\n5,6,7\n', ["line 5", 3, 2]),
        ("1,2\r3,4\r\n5,6,7\n", ["line 3", 3, 2]),
        ("1,2\n3,\0\n", ["line 2", "zero bytes"]),
        ('1,2\n3,"4\n' + "5,6\n" * 40_000, ["line 32770", 131072]),
        ("1,2\n3," + "4" * 131_073 + "\n", ["line 2", 131072]),
        ("1,2\n" * 300 + "5\n", ["line 301", 1, 2]),
        ("1,2\n" * 300 + '3,"a\nb\n"\n' + "4,5,6\n", ["line 304", 3, 2]),
    ],
)
def test_complaints_name_the_line(tmp_path, text, told):
    path = tmp_path / "a.csv"
    path.write_text(text, newline="")
    with pytest.raises(ValueError, match=naming(path, *told)):
        list(TextFile(path, Reading(delimiter=",", header=False)).frames())


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "|", "§", "e", "-", "."])
def test_delimiters(tmp_path, delimiter):
    path = tmp_path / "a.csv"
    path.write_text(f"1{delimiter}x\n2{delimiter}\n")
    decimal = "," if delimiter == "." else "."
    (frame,) = TextFile(path, Reading(delimiter=delimiter, decimal=decimal, header=False)).frames()
    assert [list(column) for column in frame.columns] == [[1, 2], ["x", None]]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quoted_cells_over_several_lines(tmp_path, end):
    """Also where they begin before the 200th line, and end behind it."""
    path = tmp_path / "a.csv"
    long = end.join(["a", "b", *["c"] * 50])
    rows = [f'{i},"{long if i == 190 else f"x{end}y"}",{i}' for i in range(250)]
    path.write_text(end.join(rows) + end, newline="")
    expected = [long if i == 190 else f"x{end}y" for i in range(250)]
    assert cells_of(path)[1] == expected


@pytest.mark.usefixtures("block")
def test_quotes_inside_texts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('1,5" pipe\n2, "a, b"\n3,"c ""d"""\n4,"e"f\n5,"g\nh"\n')
    assert cells_of(path)[1] == ['5" pipe', "a, b", 'c "d"', "ef", "g\nh"]
    path.write_text('1, "a"\n2,"b" "\n3,"c"\n4,"d" ""e\n5,"f\n" "\n')
    assert cells_of(path)[1] == ["a", 'b "', "c", 'd ""e', 'f\n "']


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sep=;\na;b\n1;2\n", ["line 1", "sep=;", "delimiter=';'"]),
        ("Sales of 2020\n\na,b,c\n1,2,3\n4,5,6\n", ["line 3", 3, 1, "title"]),
    ],
)
def test_lines_before_the_table_are_named(tmp_path, text, told):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=naming(path, *told)):
        TextFile(path, Reading())


def test_a_delimiter_at_the_end_of_each_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,x,\n2,y, \n")
    assert cells_of(path) == [["1", "2"], ["x", "y"]]


def test_an_encoding_is_refused_with_one_to_try(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 300 + b"\xe9,3\n")
    with pytest.raises(TableError, match=naming(path, "0xe9", "line 302", "encoding='cp1252'")):
        list(TextFile(path, Reading()).frames())


def test_a_wide_table(tmp_path):
    """A row has more characters than a block."""
    values = np.random.default_rng(0).random((3, 60_000))
    path = tmp_path / "a.csv"
    np.savetxt(path, values, delimiter=",", fmt="%.17g")
    frames = list(TextFile(path, Reading(header=False)).frames())
    found = np.concatenate([np.stack(frame.columns, axis=1) for frame in frames])
    np.testing.assert_array_equal(found, values)


def test_a_text_loads_no_compiler(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * (1 << 20))
    asked = "import sys; from lrnn.tables.read import open_columns as o; list(o('a.csv').frames());"
    subprocess.run(
        [sys.executable, "-c", asked + "assert 'numba' not in sys.modules"],
        cwd=tmp_path, check=True,
    )  # fmt: skip


def test_cells_of_text_are_shared(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,red\n2,blue\n" * 50)
    (frame,) = TextFile(tmp_path / "a.csv", Reading()).frames()
    assert is_text(frame.columns[1])
    assert len(set(map(id, frame.columns[1]))) == 2
