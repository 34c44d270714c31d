"""Tables as people have them: each with the command that works for it, or the error it must get."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import lrnn
from lrnn.tables.messages import TableWarning
from naming import naming

FIT = ("--max-iter", 2, "--hidden", 1, "--json")

PLAIN = b"a,b,c\n1,2.5,3\n4,5.5,1\n2,0.5,9\n"
INDEXED = b",a,b\n0,1,2\n1,3,1\n2,2,7\n3,4,2\n4,0,3\n"
LABELLED = b"w,h,species\n1,2,cat\n3,1,dog\n2,2,cat\n"
MISSING = b"a,b\n1,2\n,3\n4,1\n2,5\n"
QUESTION = b"a,b\n1,2\n?,3\n4,1\n2,5\n"
COLOURS = b"size,colour\n1,red\n2,blue\n4,red\n3,green\n"
DATES = b"day,x,y\n2024-01-01,1,2\n2024-01-02,3,1\n2024-01-05,2,2\n"
TEXTS = "".join(f"word{i},{i % 7},{i % 3}\n" for i in range(40)).encode()

# content, options, what is trained on
WORKS = {
    "plain": (PLAIN, (), ["a", "b", "c"]),
    "no names": (b"1,2,3\n4,5,6\n2,0,1\n", (), None),
    "crlf": (PLAIN.replace(b"\n", b"\r\n"), (), ["a", "b", "c"]),
    "old mac": (PLAIN.replace(b"\n", b"\r"), (), ["a", "b", "c"]),
    "bom": (b"\xef\xbb\xbf" + PLAIN, (), ["a", "b", "c"]),
    "no newline at the end": (PLAIN.rstrip(), (), ["a", "b", "c"]),
    "empty lines": (PLAIN.replace(b"\n", b"\n\n") + b"\n\n", (), ["a", "b", "c"]),
    "spaces": (b"a, b ,c\n 1, 2 ,3\n4 ,5, 6\n", (), ["a", "b", "c"]),
    "quoted numbers": (b'a,b\n"1","2"\n"3","0"\n', (), ["a", "b"]),
    "quoted names": (b'"a, all","b ""x"""\n1,2\n3,0\n', (), ["a, all", 'b "x"']),
    "newline in a name": (b'"a\nall",b\n1,2\n3,0\n', (), ["a all", "b"]),
    "semicolons": (PLAIN.replace(b",", b";"), (), ["a", "b", "c"]),
    "tabs": (PLAIN.replace(b",", b"\t"), (), ["a", "b", "c"]),
    "bars": (PLAIN.replace(b",", b"|"), (), ["a", "b", "c"]),
    "spaces between": (PLAIN.replace(b",", b" "), ("--delimiter", " "), ["a", "b", "c"]),
    "decimal commas": (b"a;b\n1,5;2\n0,25;3\n", ("--decimal", ","), ["a", "b"]),
    "latin-1": ("größe,b\n1,2\n3,4\n".encode("latin-1"), ("--encoding", "latin-1"), ["größe", "b"]),
    "utf-16": (PLAIN.decode().encode("utf-16"), ("--encoding", "utf-16"), ["a", "b", "c"]),
    "greek": ("α,β\n1,2\n3,4\n".encode(), (), ["α", "β"]),
    "exponents": (b"a,b\n1e3,2.5E-2\n-3e2,+4\n", (), ["a", "b"]),
    "negative": (b"a,b\n-1,2\n3,-4\n0,0\n", (), ["a", "b"]),
    "truth": (b"a,b\nTrue,2\nfalse,4\nTRUE,1\n", (), ["a", "b"]),
    "constant column": (b"a,b\n7,2\n7,4\n7,0\n", (), ["a", "b"]),
    "one column": (b"a\n1\n2\n5\n", (), ["a"]),
    "one row": (b"a,b\n0.5,0.25\n", (), ["a", "b"]),
    "within [0, 1]": (b"a,b\n0.5,0.25\n1,0\n", (), ["a", "b"]),
    "index dropped": (INDEXED, ("--drop", "1"), ["a", "b"]),
    "index carried": (INDEXED, ("--index", "Unnamed: 0"), ["a", "b"]),
    "index by number": (INDEXED, ("--index", "1"), ["a", "b"]),
    "label": (LABELLED, ("--label", "species"), ["w", "h"]),
    "label dropped": (LABELLED, ("--drop", "species"), ["w", "h"]),
    "label as categories": (LABELLED, ("--categories", "onehot"),
                            ["w", "h", "species=cat", "species=dog"]),
    "label without names": (b"1,2,cat\n3,1,dog\n2,2,cat\n", ("--label", "3"), None),
    "some columns": (PLAIN, ("--columns", "c,a"), ["a", "c"]),
    "a range of columns": (PLAIN, ("--columns", "2-3"), ["b", "c"]),
    "columns, one by one": (PLAIN, ("--columns", "a", "--columns", "c"), ["a", "c"]),
    "a name with a comma": (b'"a,b",c\n1,2\n2,3\n', ("--columns", "a,b"), ["a,b"]),
    "missing, filled": (MISSING, ("--missing", "median"), ["a", "b"]),
    "missing, dropped": (MISSING, ("--missing", "drop"), ["a", "b"]),
    "NA": (MISSING.replace(b"\n,", b"\nNA,"), ("--missing", "median"), ["a", "b"]),
    "nan": (MISSING.replace(b"\n,", b"\nnan,"), ("--missing", "median"), ["a", "b"]),
    "question mark": (QUESTION, ("--na", "?", "--missing", "median"), ["a", "b"]),
    "two marks": (QUESTION.replace(b"5", b"-"),
                  ("--na", "?", "--na", "-", "--missing", "drop"), ["a", "b"]),
    "two marks at once": (QUESTION.replace(b"5", b"-"),
                          ("--na", "?,-", "--missing", "drop"), ["a", "b"]),
    "years as names": (b"2019,2020\n1,2\n3,4\n", ("--header",), ["2019", "2020"]),
    "-999": (MISSING.replace(b"\n,", b"\n-999,"), ("--na", "-999", "--missing", "median"), 2),
    "colours": (COLOURS, ("--categories", "onehot"),
                ["size", "colour=blue", "colour=green", "colour=red"]),
    "colours, one missing": (COLOURS.replace(b"blue", b""),
                             ("--categories", "onehot", "--missing", "median"), 3),
    "dates dropped": (DATES, ("--drop", "day"), ["x", "y"]),
    "dates as index": (DATES, ("--index", "day"), ["x", "y"]),
    "names of rows": (TEXTS, ("--index", "1"), None),
    "trailing delimiters": (b"a,b,\n1,2,\n3,4,\n0,1,\n", (), ["a", "b"]),
    "duplicate names": (b"x,x,y\n1,2,3\n2,3,1\n", (), ["x", "x.1", "y"]),
    "counted names": (b"0,1,2\n0.5,0.1,0.2\n0.3,0.2,0.9\n", (), ["0", "1", "2"]),
    "zeros before": (b"id,x\n007,1\n012,3\n", ("--index", "id"), ["x"]),
    "gzip": (gzip.compress(PLAIN, mtime=0), (), ["a", "b", "c"]),
}  # fmt: skip

# content, options, what the error names
REFUSED = {
    "label": (LABELLED, (), ["column 3", "species", "cat", "row 1", "--categories onehot", 2,
                             "--label species", "--drop species"]),
    "missing": (MISSING, (), ["row 2", "column 1", "'a'", "--missing allow", "--missing drop"]),
    "question mark": (QUESTION, (), ["column 1", "'a'", "row 2", "--na '?'", "--missing median"]),
    "decimal commas": (b'a;b\n1,5;2\n0,25;3\n4;5\n5;6\n6;7\n', (), ["'1,5'", "--decimal ,"]),
    "thousands": (b'a,b\n"1,234.5",2\n"22.5",3\n1,1\n', (), ["'1,234.5'", "row 1", "--drop a"]),
    "marks between digits": (b"a,b\n1_000,2\n2,3\n3,1\n", (), ["'1_000'", "row 1", "--drop a"]),
    "units": (b"a,b\n1kg,2\n2,3\n3,1\n", (), ["'1kg'", "row 1", "--drop a"]),
    "dates": (DATES, (), ["column 1", "day", "2024-01-01", "row 1", "--drop day"]),
    "texts": (TEXTS, (), ["word0", 40, "--drop 'column 1'", "--index 'column 1'"]),
    "inf": (b"a,b\n1,inf\n2,3\n", (), ["row 1", "column 2", "'b'", "inf", "--drop b"]),
    "ragged": (b"a,b\n1,2\n1,2,3\n", (), ["line 3", 3, 2]),
    "latin-1": ("größe,b\n1,2\n".encode("latin-1"), (), ["0xf6", "line 1", "--encoding cp1252"]),
    "utf-16": (PLAIN.decode().encode("utf-16"), (), ["--encoding utf-16"]),
    "no such column": (PLAIN, ("--drop", "z"), ["--drop", "'z'", "'a'", "'b'", "'c'"]),
    "no such number": (PLAIN, ("--drop", "4"), ["--drop", "'4'", "'a'", "'b'", "'c'"]),
    "no such range": (PLAIN, ("--columns", "2-40"), ["--columns", 1, 3, "2-40"]),
    "backwards": (PLAIN, ("--columns", "3-2"), ["--columns", "3-2", "2-3"]),
    "all dropped": (PLAIN, ("--drop", "1-3"), ["no column"]),
    "all rows dropped": (b"a,b\n1,\n,2\n", ("--missing", "drop"), ["--missing median", "--drop"]),
    "key": (PLAIN, ("--key", "x"), ["key", ".npz", ".hdf5"]),
    "decimal": (PLAIN, ("--decimal", ";"), ["decimal", "';'", "'.'", "','"]),
    "encoding": (PLAIN, ("--encoding", "klingon"), ["encoding", "klingon", "latin-1"]),
    "empty": (b"", (), ["empty"]),
    "names alone": (b"a,b\n", (), ["names", "no rows"]),
    "zero bytes": (b"a,b\n1,\x002\n", (), ["line 2", "zero bytes"]),
}  # fmt: skip


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("case", WORKS)
def test_the_command_that_works(call, tmp_path, case):
    content, options, expected = WORKS[case]
    path = tmp_path / ("t.csv.gz" if case == "gzip" else "t.csv")
    path.write_bytes(content)
    done = call("fit", path.name, "-o", "m.safetensors", *FIT, *options, cwd=tmp_path)
    assert done.returncode == 0, done.said
    model = lrnn.load(tmp_path / "m.safetensors")
    if isinstance(expected, list):
        assert list(model.feature_names_in_) == expected
    elif expected is None:
        assert not hasattr(model, "feature_names_in_")
    # the model remembers all of it
    done = call("encode", "m.safetensors", path.name, "-o", "codes.csv", cwd=tmp_path)
    assert done.returncode == 0, done.said
    # and Python answers the same for the same table
    codes = pd.read_csv(tmp_path / "codes.csv")
    recipe = model.scaling_.recipe
    carried = [name for name in (recipe.index, recipe.label) if name is not None]
    assert list(codes.columns) == [*carried[: bool(recipe.index)], "code0",
                                   *carried[bool(recipe.index) :]]  # fmt: skip
    np.testing.assert_allclose(codes[["code0"]], model.transform(str(path)), atol=1e-12)


@pytest.mark.parametrize("case", REFUSED)
def test_the_error_that_it_gets(call, tmp_path, case):
    content, options, told = REFUSED[case]
    (tmp_path / "t.csv").write_bytes(content)
    done = call("fit", "t.csv", "-o", "m.safetensors", *FIT, *options, cwd=tmp_path)
    assert done.returncode == (2 if told[0] in ("--drop", "--columns") else 1)
    assert done.names(*told), done.said
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.filterwarnings("default")
def test_numbers_that_stand_for_missing_ones_are_remarked_on(call, tmp_path):
    rows = "".join(f"{i % 7},{-999 if i in (3, 8) else i % 5 / 10}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("a,b\n" + rows)
    done = call("fit", "t.csv", "-o", "m.safetensors", *FIT, cwd=tmp_path)
    assert done.returncode == 0
    assert done.names("column 2", "'b'", "2 times", 0, 0.4, "--na -999", "--missing median")
    done = call("data", "describe", "t.csv", "--json", cwd=tmp_path)
    command = "lrnn fit t.csv --na -999 --missing allow -o t.safetensors"
    assert json.loads(done.stdout)["command"] == command
    frame = pd.read_csv(tmp_path / "t.csv")
    with pytest.warns(UserWarning, match=naming("column 'b'", "NaN", "missing='median'")):
        lrnn.Scaling.fit(frame, "minmax")


def test_far_numbers_that_are_none(tmp_path):
    frame = pd.DataFrame({"a": [-999.0, -500, 0, 400, 900], "b": [1.0, 2, 3, 4, 999], "c": 9999.0})
    with pytest.warns(TableWarning, match=naming("column 'b'", 999)) as caught:
        lrnn.Scaling.fit(frame, "minmax")
    assert len(caught) == 1


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("ending", [".npz", ".mat"])
def test_labels_beside_an_array(call, tmp_path, ending):
    """They are carried along to the codes, also where rows are left out."""
    from scipy.io import savemat

    data = np.random.default_rng(0).random((6, 3))
    data[2, 1] = np.nan
    arrays = {"data": data, "labels": np.array([0, 1, 2, 0, 1, 2])}
    path = tmp_path / f"t{ending}"
    np.savez(path, **arrays) if ending == ".npz" else savemat(path, arrays)
    options = ("--missing", "drop")
    done = call("fit", path.name, "-o", "m.safetensors", *FIT, *options, cwd=tmp_path)
    assert done.returncode == 0, done.said
    done = call("encode", "m.safetensors", path.name, "-o", "codes.csv", "--json", cwd=tmp_path)
    assert done.names("1 row", 3)
    assert json.loads(done.stdout)["cut_off"]["rows_left_out"] == 1
    assert pd.read_csv(tmp_path / "codes.csv")["label"].tolist() == [0, 1, 0, 1, 2]


@pytest.mark.filterwarnings("default")
def test_a_class_among_the_attributes_is_told(call, tmp_path):
    """As `lrnn data describe` does; the option that is named keeps it out."""
    rows = "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("a,b,target\n" + rows)
    done = call("fit", "t.csv", *FIT, cwd=tmp_path)
    assert done.names("column 3", "--label target", "--drop target")
    done = call("fit", "t.csv", "--label", "target", "--force", *FIT, cwd=tmp_path)
    assert done.returncode == 0
    assert not done.names("target")
    with pytest.warns(
        TableWarning, match=naming("column 'target'", "label='target'", "drop='target'")
    ):
        lrnn.Scaling.fit(pd.read_csv(tmp_path / "t.csv"), "minmax")
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows.replace("\n", "0\n"))  # 0, 10, 20
    assert not call("fit", "t.csv", "--force", *FIT, cwd=tmp_path).names("column 3")
