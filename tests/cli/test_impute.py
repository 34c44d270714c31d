"""``lrnn impute``, and missing cells in the other commands."""

import json

import numpy as np
import pandas as pd
import pytest

import lrnn

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
    assert "7 missing cells filled, in 4 of 7 rows; written to o.csv" in done.stdout
    assert "1 of the rows has no known cell" in done.stderr
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
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    found = pd.read_parquet(folder / "o.parquet")
    assert found["weight"].dtype == np.float64
    assert not found[["size", "kind", "weight"]].isna().any().any()
    done = call("impute", "o.parquet", "-o", "p.parquet", *LEFT, cwd=folder)
    assert "0 missing cells filled, in 0 of 7 rows" in done.stdout
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


def test_what_it_does_not_take_is_refused(call, folder):
    done = call("impute", "t.csv", "-o", "o.csv", cwd=folder)
    assert done.returncode == 1
    assert "--categories onehot" in done.stderr
    done = call("impute", "t.csv", "-o", "o.csv", *LEFT, "--missing", "drop", cwd=folder)
    assert done.returncode == 2
    assert "another way to treat missing cells" in " ".join(done.stderr.split())
    done = call("impute", "t.csv", "-o", "t.csv", *LEFT, "--force", cwd=folder)
    assert done.returncode == 1
    assert (folder / "t.csv").read_text() == TABLE
    done = call("impute", "t.csv", "-o", "o.npy", *LEFT, cwd=folder)
    assert done.returncode == 1
    assert "holds text" in done.stderr


def test_models_remember_that_cells_may_be_missing(call, folder):
    done = call("fit", "t.csv", "-o", "m.safetensors", *LEFT, "--missing", "allow", cwd=folder)
    assert done.returncode == 0, done.stderr
    model = lrnn.load(folder / "m.safetensors")
    assert model.missing == "allow"
    assert call("encode", "m.safetensors", "t.csv", "-o", "c.csv", cwd=folder).returncode == 0
    codes = pd.read_csv(folder / "c.csv").filter(like="code").to_numpy()
    np.testing.assert_allclose(codes, model.transform(folder / "t.csv"), atol=1e-12)
    done = call("reconstruct", "m.safetensors", "t.csv", "-o", "b.csv", cwd=folder)
    assert f"mean squared error {model.reconstruction_err_:.5f}" in done.stdout
    assert not pd.read_csv(folder / "b.csv")[["size", "weight"]].isna().any().any()
    done = call(
        "frontier", "t.csv", "-o", "f", *LEFT, "--missing", "allow", "--penalties", 2,
        "--passes", 1, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_without_it_the_remedy_is_named(call, folder):
    done = call("fit", "t.csv", "-o", "m.safetensors", *LEFT, cwd=folder)
    assert done.returncode == 1
    assert "--missing allow fills such cells" in done.stderr
