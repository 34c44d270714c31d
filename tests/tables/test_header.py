"""Whether the first line of a text holds names: what is decided, said, and settled by an option."""

import gzip
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from lrnn.cli.commands import OPTIONS
from lrnn.tables.messages import TableWarning
from lrnn.tables.reading import Reading
from lrnn.tables.text import TextFile
from naming import naming

NUMBERS = "".join(f"{i % 5 / 10},{i % 3},{i % 7 * 1.5},{i % 2}\n" for i in range(1, 30))

# the first line, what is below it, whether it holds names, and whether that is said
FILES = {
    "names": ("a,b,c,d", NUMBERS, True, False),
    "numbers": ("0.1,1,2,0", NUMBERS, False, False),
    "an empty cell": ("0.1,,2,0", NUMBERS, False, False),
    "an empty corner": (",1,2,0", NUMBERS, False, False),
    "an empty name": ("a,,c,d", NUMBERS, True, False),
    "NA": ("0.1,NA,2,0", NUMBERS, False, False),
    "only NA": ("NA,NA,NA,NA", NUMBERS, False, False),
    "hexadecimal": ("0x1F,1,2,0", NUMBERS, False, False),
    "hexadecimal alone": ("0x1F,0x2A,0x01,0x02", NUMBERS, False, False),
    "a mark": ("0.1,?,2,0", NUMBERS, False, False),
    "marks": ("?,?,-,?", NUMBERS, False, False),
    "a word among numbers": ("0.1,unknown,2,0", NUMBERS, False, True),
    "a word beside a number": ("x,0.3", "0.1,0.2\n0.4,0.5\n0.3,0.1\n", False, True),
    "words, and a number": ("a,b,3,d", NUMBERS, True, True),
    "a formula": ("0.3,=1+1", "0.1,0.2\n0.4,0.5\n0.3,0.1\n", False, True),
    "a unit": ("0.1,5kg,2,0", NUMBERS, False, False),
    "groups of age": ("0-9,10-19,20-29,30+", NUMBERS, True, False),
    "pandas' default": ("0,1,2,3", NUMBERS, True, True),
    "pandas' default, with an index": (",0,1,2", NUMBERS, True, True),
    "years": ("2019,2020,2021,2022", NUMBERS, True, True),
    "a word and years": ("id,2019,2020,2021", NUMBERS, True, True),
    "wavelengths": ("400.5,410,420.25,431", NUMBERS, True, True),
    "a row that counts": ("1,2,3,4", NUMBERS, False, True),
    "a sorted table": ("1,2,3,4", "2,4,6,8\n3,6,9,12\n4,8,12,16\n5,10,15,20\n6,12,18,24\n",
                       False, True),
    "a corner above names of rows": (",2019,2020", "ann,1,2\nbob,3,1\n", True, True),
    "text, and names": ("name,kind", "ann,cat\nbob,dog\n", True, False),
    "text alone": ("ann,cat", "bob,dog\nann,bird\n", False, False),
    "names of rows": ("ann,1,2", "bob,3,4\neve,5,6\n", False, False),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_what_the_first_line_is(tmp_path, case):
    first, rest, named, said = FILES[case]
    path = tmp_path / "t.csv"
    path.write_text(f"{first}\n{rest}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = TextFile(path, Reading())
    assert table.named is named
    assert len(caught) == said
    rows = sum(frame.shape[0] for frame in table.frames())
    assert rows == rest.count("\n") + (not named)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*columns")
        other = TextFile(path, Reading(header=not named))
    assert other.named is not named
    assert sum(frame.shape[0] for frame in other.frames()) == rest.count("\n") + named


def test_what_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("2019,2020,2021,2022\n" + NUMBERS)
    told = "line 1", *range(2019, 2023)
    with pytest.warns(TableWarning, match=naming(*told, "header=False")) as found:
        TextFile(path, Reading())
    assert re.search(naming(*told, "--no-header"), found[0].message.worded(OPTIONS))


@pytest.mark.parametrize("header", [True, False])
def test_the_option_settles_it_and_is_remembered(call, tmp_path, header):
    rows = np.random.default_rng(0).random((12, 3)).round(3) * 9
    pd.DataFrame(rows, columns=[1, 2, 3]).to_csv(tmp_path / "t.csv", index=False)
    option = "--header" if header else "--no-header"
    done = call("fit", "t.csv", option, "--max-iter", 2, "-o", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert "line 1" not in done.said
    done = call("encode", "m.safetensors", "t.csv", "-o", "codes.csv", cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert len(pd.read_csv(tmp_path / "codes.csv")) == 12 + (not header)


@pytest.mark.filterwarnings("default")
def test_it_reads_what_it_writes(call, tmp_path):
    """`reconstruct` of an array names its columns 0, 1, 2, …: no row is gained by reading them."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((9, 4)))
    assert (
        call("fit", "x.npy", "--max-iter", 2, "-o", "m.safetensors", cwd=tmp_path).returncode == 0
    )
    call("reconstruct", "m.safetensors", "x.npy", "-o", "back.csv", cwd=tmp_path)
    call("encode", "m.safetensors", "back.csv", "-o", "codes.csv", cwd=tmp_path)
    assert len(pd.read_csv(tmp_path / "codes.csv")) == 9


def test_columns_of_one_name_get_others_and_that_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,x,y,x,,x.1\n1,2,3,4,5,6\n")
    told = "column 1", "'x.1'", "column 3", "'x.2'", "column 5", "'x.1.1'"
    with pytest.warns(TableWarning, match=naming(*told)):
        table = TextFile(path, Reading())
    assert table.columns == ("x", "x.1", "y", "x.2", "Unnamed: 4", "x.1.1")


@pytest.mark.parametrize("content", [b'""\n', b"\n \n", b'"'])
def test_next_to_nothing(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=naming("t.csv", "empty")):
        list(TextFile(path, Reading()).frames())


def test_a_damaged_gzip_file_that_is_no_utf8_either(tmp_path):
    damaged = bytearray(gzip.compress(b"1;2\n\xff\xfe3;4\n"))
    damaged[-8] ^= 1
    path = tmp_path / "t.csv.gz"
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=naming("t.csv.gz", "damaged")):
        list(TextFile(path, Reading()).frames())
