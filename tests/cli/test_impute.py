"""``lrnn impute``, and missing cells in the other commands."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lrnn

pytestmark = pytest.mark.usefixtures("unrendered")

TABLE = """id,size,kind,smokes,weight,note
a,10,red,true,1.50,
b,20,blue,false,,x
c,,blue,false,3.0,y
d,40,red,,6,z
e,50,red,true,7.5,"p, q"
f,,,,,
g,30,blue,true,4.5,x
"""
LEFT = ("--index", "id", "--drop", "note", "--categories", "onehot")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


def test_only_missing_cells_change_and_they_are_counted(call, folder):
    done = call("impute", "t.csv", "-o", "o.csv", *LEFT, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.shows("7 missing", "4 of 7", "o.csv")
    assert done.names("1 of")
    before, after = TABLE.splitlines(), (folder / "o.csv").read_text().splitlines()
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        cells = list(zip(old.split(","), new.split(","), strict=True))
        assert all(now == was for was, now in cells if was)  # as they were written
        assert all(now for _, now in cells[:5])  # no gap is left
        assert cells[5:] == [(was, was) for was, _ in cells[5:]]  # but where it was left out
    filled = pd.read_csv(folder / "o.csv")
    assert 10 <= filled["size"].min() <= filled["size"].max() <= 50
    assert set(filled["kind"]) == {"red", "blue"}
    assert set(filled["smokes"]) == {True, False}


def test_json_and_other_formats(call, folder):
    done = call("impute", "t.csv", "-o", "o.parquet", *LEFT, "--json", cwd=folder)
    assert json.loads(done.stdout) == {
        "output": "o.parquet", "rows": 7, "cells_filled": 7, "rows_filled": 4, "rows_unknown": 1,
    }  # fmt: skip
    found = pd.read_parquet(folder / "o.parquet")
    assert found["weight"].dtype == np.float64
    assert not found[["size", "kind", "weight"]].isna().any().any()
    done = call("impute", "o.parquet", "-o", "p.parquet", *LEFT, cwd=folder)
    assert done.shows("0 missing", "0 of 7")
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "p.parquet"), found)


def test_a_matrix_is_filled_as_the_library_does(call, folder):
    rng = np.random.default_rng(0)
    X = 5 * rng.random((50, 2)) @ rng.random((2, 6))
    X[rng.random(X.shape) < 0.2] = np.nan
    np.save(folder / "x.npy", X)
    assert call("impute", "x.npy", cwd=folder).returncode == 0
    model = lrnn.LRNNAutoencoder(2, scale="minmax", missing="allow", max_iter=2).fit(X)
    np.testing.assert_array_equal(np.load(folder / "x-filled.npy"), model.impute(X))


def test_other_marks_of_decimals_and_of_gaps(call, folder):
    text = "a;b\n1,5;3\n2,5;5\n?;4\n3,5;?\n0,5;1\n"
    (folder / "d.csv").write_text(text)
    done = call("impute", "d.csv", "-o", "o.tsv", "--decimal", ",", "--na", "?", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = (folder / "o.tsv").read_text().splitlines()
    assert [line.split("\t")[0].strip('"') for line in lines[:3]] == ["a", "1,5", "2,5"]
    assert "." not in lines[3] + lines[4]


def filled_cells(before, after):
    """Pairs of cells that differ, of two texts without quotes."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=True)
    return [
        (was, now)
        for old, new in pairs
        for was, now in zip(old.split(","), new.split(","), strict=True)
        if was != now
    ]


def test_no_digit_of_a_filled_number_is_lost(call, folder):
    start = 1_700_000_000
    rows = [f"{start + i if i % 5 else ''},{1.5 * i}" for i in range(30)]
    text = "\n".join(["t,v", *rows, ""])
    (folder / "time.csv").write_text(text)
    np.save(folder / "time.npy", pd.read_csv(folder / "time.csv").to_numpy())
    assert call("impute", "time.csv", "-o", "o.csv", cwd=folder).returncode == 0
    assert call("impute", "time.npy", "-o", "o.npy", cwd=folder).returncode == 0
    expected = np.load(folder / "o.npy")[::5, 0]
    changed = filled_cells(text, (folder / "o.csv").read_text())
    assert [float(now) for _, now in changed] == expected.tolist()
    assert len({now for _, now in changed}) == 6


GERMAN = (
    'näme;a;b\r\n"ö;1";1,50;3\r\nx; "2,5";5\r\n\r\ny;{};4\r\n?;3,5; {} \r\nz;0,5;"{}"\r\nw;4,5;9;'
)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig", "utf-16"])
def test_known_cells_keep_their_text_and_a_text_its_marks_and_encoding(call, folder, encoding):
    (folder / "d.csv").write_bytes(GERMAN.format("?", "?", "?").encode(encoding))
    done = call(
        "impute", "d.csv", "-o", "o.csv", "--decimal", ",", "--na", "?", "--index", "1",
        "--encoding", encoding.removesuffix("-sig"), cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = (folder / "o.csv").read_bytes().decode(encoding)
    expected = (
        'näme;a;b\r\n"ö;1";1,50;3\r\nx;2,5;5\r\ny;{};4\r\n?;3,5;{}\r\nz;0,5;{}\r\nw;4,5;9\r\n'
    )
    parts = re.fullmatch(re.escape(expected).replace(r"\{\}", r"(\d+(?:,\d+)?)"), found)
    assert parts is not None, found


def test_numbers_and_dates_that_are_known_are_not_rewritten(call, folder):
    rows = ["007,1e3,2024-01-02,+5", "010,,2024-1-3,05.50", "012,1.0E+3,3/1/24,"]
    (folder / "n.csv").write_text("\n".join(["code,a,day,b", *rows, ""]))
    left = ("--drop", "day", "--label", "code")
    assert call("impute", "n.csv", "-o", "o.csv", *left, cwd=folder).returncode == 0
    lines = [line.split(",") for line in (folder / "o.csv").read_text().splitlines()]
    assert lines[0] == ["code", "a", "day", "b"]
    for old, new in zip(rows, lines[1:], strict=True):
        assert all(now == was for was, now in zip(old.split(","), new, strict=True) if was)
        assert all(new)


def test_marks_of_gaps_in_other_columns_stay_and_texts_are_quoted_where_they_must(call, folder):
    text = "kind,size,note\n" + '"red, dark",1,?\n' * 6 + "blue,9,NA\nblue,8,?\n,1,\n,,?\n"
    (folder / "q.csv").write_text(text)
    options = ("--categories", "onehot", "--drop", "note", "--na", "?")
    assert call("impute", "q.csv", "-o", "o.csv", *options, cwd=folder).returncode == 0
    found = (folder / "o.csv").read_text()
    start = text.index("\n,1,") + 1
    assert found[:start] == text[:start]
    assert re.fullmatch(r'"red, dark",1,\n("red, dark"|blue),\d[\d.]*,\?\n', found[start:])


def test_gzipped_and_other_texts(call, folder):
    (folder / "z.csv.gz").write_bytes(gzip.compress(b"a,b\r\n1,2\r\n2,\r\n3,4\r\n"))
    assert call("impute", "z.csv.gz", cwd=folder).returncode == 0
    assert (folder / "z-filled.csv").read_bytes() == b"a,b\r\n1,2\r\n2,3\r\n3,4\r\n"
    (folder / "y.csv").write_text('a;b;c\n1;2;"x;y"\n2;;u\tv\n3;4;w\n')
    assert call("impute", "y.csv", "-o", "y.tsv", "--drop", "c", cwd=folder).returncode == 0
    assert (folder / "y.tsv").read_text() == 'a\tb\tc\n1\t2\tx;y\n2\t3\t"u\tv"\n3\t4\tw\n'


def test_parquet_keeps_its_types_and_its_index(call, folder):
    count = 12
    gap = np.arange(count) % 4 == 1
    size = np.arange(count) * 1.5
    frame = pd.DataFrame(
        {
            "size": pd.Series(size, dtype="float32").mask(gap),
            "count": pd.Series(np.arange(count) ** 2, dtype="Int64"),
            "other": pd.Series(np.arange(count) % 5, dtype="Int64").mask(gap),
            "large": pd.Series(2**60 + 2**58 * (np.arange(count) % 2) + 1, dtype="Int64").mask(gap),
            "yes": pd.Series(np.arange(count) > 5),
            "text": pd.Series([str(i % 3) for i in range(count)]).mask(gap),
            "no": pd.Series(np.arange(count) < 5, dtype="boolean").mask(gap),
            "kind": pd.Categorical(
                np.where(gap, None, np.where(size > 7, "low", "high")),
                categories=["low", "high", "never"],
                ordered=True,
            ),
            "day": pd.date_range("2024-01-01", periods=count),
        }
    ).set_index(pd.Index([f"r{i}" for i in range(count)], name="name"))
    frame.to_parquet(folder / "p.parquet")
    options = ("--drop", "day", "--categories", "onehot")
    done = call("impute", "p.parquet", "-o", "o.parquet", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = pd.read_parquet(folder / "o.parquet")
    assert not found.isna().any().any()
    assert found["other"].dtype == np.float64  # what is filled in is not whole
    pd.testing.assert_series_equal(
        found["other"][~gap], frame["other"][~gap].astype("float64"), check_names=False
    )
    same = frame.columns.drop("other")
    pd.testing.assert_frame_equal(found.loc[~gap, same], frame.loc[~gap, same])
    done = call("impute", "p.parquet", "-o", "o.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(folder / "o.csv")["name"].tolist() == list(frame.index)


def test_gaps_of_columns_that_were_left_out_are_empty_cells_of_a_text(call, folder):
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [2.0, 4.5, 6.0], "out": [1.5, np.nan, 2.0]})
    frame.to_parquet(folder / "y.parquet")
    for name, mark in (("y.csv", ","), ("y.tsv", "\t")):
        done = call("impute", "y.parquet", "-o", name, "--drop", "out", cwd=folder)
        assert done.returncode == 0, done.stderr
        lines = (folder / name).read_text().splitlines()
        assert [line.split(mark)[2] for line in lines] == ["out", "1.5", "", "2.0"]


def test_parquet_of_numbers_in_several_files(call, folder):
    X = np.random.default_rng(0).random((40, 3)).round(3)
    frame = pd.DataFrame(X, columns=list("abc")).mask(X < 0.2)
    frame["n"] = np.arange(40) % 7
    (folder / "p").mkdir()
    frame[:20].to_parquet(folder / "p" / "1.parquet")
    frame[20:].to_parquet(folder / "p" / "2.parquet")
    for name in ("o.parquet", "o.npy"):
        done = call("impute", "p", "-o", name, cwd=folder)
        assert done.returncode == 0, done.stderr
    found = pd.read_parquet(folder / "o.parquet")
    assert not found.isna().any().any()
    assert found["n"].dtype == np.int64
    pd.testing.assert_frame_equal(found.where(frame.notna()), frame, check_dtype=False)
    np.testing.assert_array_equal(np.load(folder / "o.npy"), found)


def test_the_remedy_for_another_mark_of_gaps_is_one_that_holds(call, folder):
    (folder / "m.csv").write_text("a,b\n1,2\n?,5\n3,4\n5,8\n")
    done = call("impute", "m.csv", cwd=folder)
    assert done.returncode == 1
    assert done.names("--na '?'")
    assert "--missing" not in done.stderr
    assert call("impute", "m.csv", "--na", "?", cwd=folder).returncode == 0
    assert "median" not in call("impute", "--help", cwd=folder).stdout


def test_what_it_does_not_take_is_refused(call, folder):
    done = call("impute", "t.csv", "-o", "o.csv", cwd=folder)
    assert done.returncode == 1
    assert done.names("--categories onehot")
    done = call("impute", "t.csv", "-o", "o.csv", *LEFT, "--missing", "drop", cwd=folder)
    assert done.returncode == 2
    assert done.names("--missing", "drop", "allow", "unstored")
    done = call("impute", "t.csv", "-o", "t.csv", *LEFT, "--force", cwd=folder)
    assert done.returncode == 1
    assert (folder / "t.csv").read_text() == TABLE
    done = call("impute", "t.csv", "-o", "o.npy", *LEFT, cwd=folder)
    assert done.returncode == 1
    assert done.names("id", ".npy", ".csv")


def test_models_remember_that_cells_may_be_missing(call, folder):
    done = call("fit", "t.csv", "-o", "m.safetensors", *LEFT, "--missing", "allow", cwd=folder)
    assert done.returncode == 0, done.stderr
    model = lrnn.load(folder / "m.safetensors")
    assert model.missing == "allow"
    assert call("encode", "m.safetensors", "t.csv", "-o", "c.csv", cwd=folder).returncode == 0
    codes = pd.read_csv(folder / "c.csv").filter(like="code").to_numpy()
    np.testing.assert_allclose(codes, model.transform(folder / "t.csv"), atol=1e-12)
    line = ("reconstruct", "m.safetensors", "t.csv", "-o", "b.csv", "--json")
    document = json.loads(call(*line, cwd=folder).stdout)
    assert document["error"] == pytest.approx(model.reconstruction_err_)
    assert not pd.read_csv(folder / "b.csv")[["size", "weight"]].isna().any().any()
    done = call(
        "frontier", "t.csv", "-o", "f", *LEFT, "--missing", "allow", "--penalties", 2,
        "--passes", 1, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_without_it_the_remedy_is_named(call, folder):
    done = call("fit", "t.csv", "-o", "m.safetensors", *LEFT, cwd=folder)
    assert done.returncode == 1
    assert done.names("--missing allow")


def test_every_command_tells_how_many_cells_it_fills(call, folder):
    """As those do that fill in medians; a cell of text is one, however many its values."""
    told = "7 missing cells"
    fitted = ("t.csv", *LEFT, "--missing", "allow")
    done = call("fit", *fitted, "-o", "m.safetensors", cwd=folder)
    assert done.stderr.count(told) == 1
    done = call("frontier", *fitted, "-o", "f", "--penalties", 2, "--passes", 1, cwd=folder)
    assert done.stderr.count(told) == 1
    for command, output in (("encode", "c.csv"), ("reconstruct", "r.csv"), ("report", "page")):
        done = call(command, "m.safetensors", "t.csv", "-o", output, cwd=folder)
        assert done.stderr.count(told) == 1, command
        done = call(command, "m.safetensors", "t.csv", "-o", f"2{output}", "--json", cwd=folder)
        assert json.loads(done.stdout)["cut_off"]["guessed"] == 7, command
    assert told in (folder / "page/index.html").read_text()
    done = call("simulate", "m.safetensors", "t.csv", "--row", 2, "--events", 1000, cwd=folder)
    assert done.names("1 missing cell")


def test_cells_that_a_sparse_matrix_does_not_store(call, tmp_path):
    rng = np.random.default_rng(0)
    X = 1 + 4 * rng.random((60, 2)) @ rng.random((2, 8)) / 2
    i, j = np.nonzero(rng.random(X.shape) < 0.6)
    ratings = sparse.csr_array((X[i, j], (i, j)), shape=X.shape)
    sparse.save_npz(tmp_path / "r.npz", ratings)
    missing = ("--missing", "unstored")
    done = call("impute", "r.npz", "-o", "o.npy", *missing, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cells_filled"] == X.size - ratings.nnz
    filled = np.load(tmp_path / "o.npy")
    np.testing.assert_array_equal(filled[i, j], X[i, j])
    assert filled.min() >= 1
    done = call("impute", "r.npz", "-o", "p.npy", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("r.npz", "--missing unstored")
    quick = ("--hidden", "3", "--max-iter", "5", "--tol", "0")
    done = call("fit", "r.npz", "-o", "m.safetensors", *missing, *quick, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    model = lrnn.load(tmp_path / "m.safetensors")
    assert model.missing == "unstored"
    expected = lrnn.LRNNAutoencoder(
        3, scale="auto", missing="unstored", max_iter=5, tol=0, random_state=0
    ).fit(ratings)
    np.testing.assert_allclose(model.impute(ratings), expected.impute(ratings))
    done = call("encode", "m.safetensors", "r.npz", "-o", "c.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "c.npy"), expected.transform(ratings))
    np.save(tmp_path / "full.npy", X)
    done = call("fit", "full.npy", *missing, cwd=tmp_path)
    assert done.returncode == 2
    assert done.names("--missing", "full.npy")
    ratings.data[3] = np.nan
    sparse.save_npz(tmp_path / "n.npz", ratings)
    done = call("impute", "n.npz", "-o", "n.npy", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["cells_filled"] == 1, done.stderr
