"""Rows that are left out, and cells that are filled: counted, named, and not renumbered."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import lrnn
from naming import naming

TABLE = "name,a,b\nann,1,2\nbob,,3\neve,4,1\nkim,2,5\nmax,3,\nzoe,0,4\n"


pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("unrendered")]


@pytest.fixture
def fitted(call, tmp_path):
    def fit(missing):
        (tmp_path / "t.csv").write_text(TABLE)
        options = ("--index", "name", "--missing", missing, "--hidden", 1, "--max-iter", 5)
        done = call("fit", "t.csv", *options, "-o", "m.safetensors", "--force", cwd=tmp_path)
        assert done.returncode == 0, done.said
        return done

    return fit


def test_rows_are_counted_as_in_the_file(call, tmp_path, fitted):
    fitted("drop")
    arguments = ("m.safetensors", "t.csv", "--no-figure", "--events", 20_000, "--json")
    found = {}
    for row in (1, 3, 4, 6):
        done = call("simulate", *arguments, "--row", row, cwd=tmp_path)
        assert done.returncode == 0, done.said
        found[row] = json.loads(done.stdout)["time"]
    (tmp_path / "t.csv").write_text(TABLE.replace("bob,,3\n", "").replace("max,3,\n", ""))
    for row, kept in zip((1, 3, 4, 6), (1, 2, 3, 4), strict=True):
        done = call("simulate", *arguments, "--row", kept, cwd=tmp_path)
        assert json.loads(done.stdout)["time"] == found[row]


def test_a_row_that_is_left_out_cannot_be_shown(call, tmp_path, fitted):
    fitted("drop")
    for command in ("simulate", "report"):
        done = call(command, "m.safetensors", "t.csv", "--row", 2, cwd=tmp_path)
        assert done.returncode == 2
        assert done.names("row 2", "t.csv")
        done = call(command, "m.safetensors", "t.csv", "--row", 7, cwd=tmp_path)
        assert done.names("t.csv", 6)


def test_the_report_names_the_row_of_the_file(call, tmp_path, fitted):
    fitted("drop")
    (tmp_path / "t.csv").write_text(TABLE)
    done = call("report", "m.safetensors", "t.csv", "--row", 4, "-o", "page", cwd=tmp_path)
    assert done.returncode == 0, done.said
    page = (tmp_path / "page" / "index.html").read_text()
    assert re.search(naming("2 rows", "2, 5"), page)
    assert "row 4" in page.lower()


def test_filled_cells_are_counted(call, tmp_path, fitted):
    fitted("median")
    done = call("encode", "m.safetensors", "t.csv", "-o", "c.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["cut_off"]["filled"] == 2
    assert done.names("2 missing cells")
    model = lrnn.load(tmp_path / "m.safetensors")
    codes = model.transform(pd.read_csv(tmp_path / "t.csv"))
    np.testing.assert_allclose(codes, pd.read_csv(tmp_path / "c.csv")[["code0"]], atol=1e-12)


def test_training_says_what_it_leaves_out_or_fills(fitted):
    assert fitted("median").names("2 missing cells")
    assert fitted("drop").names("2 rows", "2, 5")


@pytest.mark.parametrize("filters", ["ignore", "error", "once"])
def test_what_is_left_out_is_told_whatever_filter_python_was_given(tmp_path, filters):
    (tmp_path / "t.csv").write_text(TABLE)
    options = ["--index", "name", "--missing", "drop", "--hidden", "1", "--max-iter", "5"]
    done = subprocess.run(
        [sys.executable, "-m", "lrnn", "fit", "t.csv", *options],
        cwd=tmp_path,
        env=os.environ | {"PYTHONWARNINGS": filters},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("2 rows") == done.stderr.count("2, 5") == 1
    assert (tmp_path / "t.safetensors").exists()


def test_errors_behind_rows_that_are_left_out_name_the_right_row(call, tmp_path, fitted):
    fitted("drop")
    (tmp_path / "t.csv").write_text(TABLE.replace("kim,2,5", "kim,two,5"))
    done = call("encode", "m.safetensors", "t.csv", "-o", "c.csv", cwd=tmp_path)
    assert done.names("row 4", "column 2", "a", "two")


def test_the_index_of_a_parquet_file(call, tmp_path):
    names = pd.Index(["ann", "bob", "eve", "kim"], name="who")
    pd.DataFrame({"a": [1.0, 2, 0, 3], "b": [4.0, 1, 2, 0]}, names).to_parquet(
        tmp_path / "t.parquet"
    )
    done = call("data", "describe", "t.parquet", cwd=tmp_path)
    assert "lrnn fit t.parquet --index who -o t.safetensors" in done.stdout
    options = ("--index", "who", "--max-iter", 2, "-o", "m.safetensors")
    done = call("fit", "t.parquet", *options, cwd=tmp_path)
    assert done.returncode == 0, done.said
    call("encode", "m.safetensors", "t.parquet", "-o", "c.csv", cwd=tmp_path)
    found = pd.read_csv(tmp_path / "c.csv")
    assert found.columns.tolist() == ["who", "code0"]
    assert found["who"].tolist() == names.tolist()
