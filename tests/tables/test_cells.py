"""Cells of a text, found by compiled code: the same as by csv.reader and float, to the last bit."""

import gzip
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lrnn.tables.cells import Cells
from lrnn.tables.frame import is_text
from lrnn.tables.reading import Reading
from lrnn.tables.text import TextFile
from naming import naming

ALWAYS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ALL = object()


def columns_of(path, reading, text=(), first=0):
    """All rows of a text as columns, block by block, or what was said of it."""
    try:
        table = TextFile(path, reading)
        frames = list(table.frames(table.columns if text is ALL else text, first))
    except ValueError as error:
        return str(error)
    assert [f.first for f in frames] == list(np.cumsum([first, *(f.shape[0] for f in frames)])[:-1])
    if text is ALL:  # blocks do not matter
        return [[cell for f in frames for cell in f.columns[i]] for i in range(len(table.columns))]
    return [[list(column) for column in frame.columns] for frame in frames]


def same(path, monkeypatch, reading, height=1 << 17, chunk=1 << 20, **more):
    """What compiled code gives, after a look that csv.reader gives the same."""
    found = []
    for small in (1 << 22, 1):
        with monkeypatch.context() as patch:
            patch.setattr("lrnn.tables.text.SMALL", small)
            patch.setattr("lrnn.tables.text.CELLS", height)
            patch.setattr("lrnn.tables.cells.CHUNK", chunk)
            found.append(columns_of(path, reading, **more))
    expected, compiled = found
    if isinstance(expected, str) or isinstance(compiled, str):
        assert compiled == expected
    else:
        np.testing.assert_equal(compiled, expected)
    return compiled


def numbers_of(texts, decimal="."):
    """The numbers of some texts as compiled code reads them, and those that it leaves to float."""
    cells = Cells("\n".join(texts) + "\n", io.StringIO(), ";", decimal, (len(texts), 1))
    assert cells.read(len(texts)) == len(texts)
    return cells.numbers()[0], cells.others(0)


def agree_with_float(texts, decimal="."):
    """Share of numbers that are read by compiled code; each of them is that of float."""
    found, left = numbers_of(texts, decimal)
    expected = np.array([float(text.replace(",", ".")) for text in texts])
    found[left] = expected[left]
    np.testing.assert_array_equal(found.view(np.uint64), expected.view(np.uint64))
    return 1 - len(left) / len(texts)


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


def test_numbers_are_those_of_float():
    shares = {
        k: agree_with_float(v) for k, v in hard_numbers(np.random.default_rng(0), 2_000).items()
    }
    assert shares["of a table"] == shares["in [0, 1]"] == 1
    assert shares["shortest"] > 0.99


@pytest.mark.slow
def test_millions_of_numbers_are_those_of_float():
    for seed in range(20):
        for texts in hard_numbers(np.random.default_rng(seed), 50_000).values():
            agree_with_float(texts)


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
def test_numbers_as_they_may_be_written(texts):
    for point in (".", ","):
        are = [is_number(text.replace(",", ".") if point == "," else text) for text in texts]
        if any(are):
            agree_with_float(
                [text for text, is_one in zip(texts, are, strict=True) if is_one], point
            )
        others = [text for text, is_one in zip(texts, are, strict=True) if text and not is_one]
        if others:
            assert list(numbers_of(others, point)[1]) == list(range(len(others)))


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


PIECES = ["1", "-2.5", "3e2", "0,5", "x", "NA", "-999", "é", "\xa0", "\u2028", "\x0c", "\x1c", "_",
          " ", "\t", '"', '""', '"a"', '"1"', ",", ",", ",", ";", "\n", "\n", "\r\n", "\r",
          "inf"]  # fmt: skip


@ALWAYS
@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.sampled_from(
        [
            Reading(),
            Reading(delimiter=",", header=False),
            Reading(delimiter=";", decimal=",", header=True),
            Reading(delimiter=",", header=False, na=("-999", "x")),
            Reading(delimiter=" ", header=False),
            Reading(delimiter="\t", header=False, encoding="utf-16"),
            Reading(delimiter="|", header=False),
        ]
    ),
)
@example('1,"a\r\nb",2\r\n3,"c""d",4\r\n', Reading(delimiter=",", header=False))
@example('1,2\n3,"x', Reading(delimiter=",", header=False))
@example('1,2,\n3,4,\n5," "x\n', Reading(delimiter=",", header=False))
@pytest.mark.filterwarnings("ignore")
def test_any_text_is_read_as_by_csv(tmp_path, monkeypatch, text, reading):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(reading.encoding))
    same(path, monkeypatch, reading, text=ALL)
    same(path, monkeypatch, reading, height=1, chunk=3)


@given(st.lists(st.lists(st.sampled_from(["1", "0.25", "x", '"a\n"', '"1"', "", "NA"]), min_size=3,
                         max_size=3), min_size=1, max_size=12))  # fmt: skip
@settings(ALWAYS, max_examples=20)
@pytest.mark.filterwarnings("ignore")
def test_tables_in_blocks_from_any_row_on(tmp_path, monkeypatch, rows):
    path = tmp_path / "a.csv.gz"
    text = "".join(",".join(row) + "\n" for row in [["a", "b", "c"], *rows])
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    for height, first in ((3, 0), (6, 2), (15, 1)):
        same(
            path,
            monkeypatch,
            Reading(header=True),
            height=height,
            chunk=2,
            text=("b",),
            first=first,
        )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,2\n3,4\n5\n", ["line 3", 1, 2]),
        ('1,2\n"3\n",4\n\n5,6,7\n', ["line 5", 3, 2]),
        ("1,2\r3,4\r\n5,6,7\n", ["line 3", 3, 2]),
        ("1,2\n3,\0\n", ["line 2", "zero bytes"]),
        ('1,2\n3,"4\n' + "5,6\n" * 40_000, ["line 32770", 131072]),
        ("1,2\n3," + "4" * 131_073 + "\n", ["line 2", 131072]),
    ],
)
def test_complaints_are_those_of_csv(tmp_path, monkeypatch, text, told):
    path = tmp_path / "a.csv"
    path.write_text(text, newline="")
    for chunk in (1 << 20, 1_000):
        said = same(path, monkeypatch, Reading(delimiter=",", header=False), chunk=chunk)
        assert re.search(naming(path, *told), said)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "|", "§", "e", "-", "."])
def test_delimiters(tmp_path, monkeypatch, delimiter):
    path = tmp_path / "a.csv"
    path.write_text(f"1{delimiter}x\n2{delimiter}\n")
    found = same(
        path,
        monkeypatch,
        Reading(delimiter=delimiter, decimal="," if delimiter == "." else ".", header=False),
    )
    assert found == [[[1, 2], ["x", None]]]


def test_a_small_text_loads_no_compiler(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,x\n")
    asked = "import sys; from lrnn.tables.read import open_columns as o; list(o('a.csv').frames());"
    subprocess.run(
        [sys.executable, "-c", asked + "assert 'numba' not in sys.modules"],
        cwd=tmp_path, check=True,
    )  # fmt: skip


def test_cells_of_text_are_shared(tmp_path, monkeypatch):
    monkeypatch.setattr("lrnn.tables.text.SMALL", 1)
    (tmp_path / "a.csv").write_text("a,b\n" + "1,red\n2,blue\n" * 50)
    (frame,) = TextFile(tmp_path / "a.csv", Reading()).frames()
    assert is_text(frame.columns[1])
    assert len(set(map(id, frame.columns[1]))) == 2
