"""``lrnn live``: what goes into the page, and what is said of it."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from lrnn import LRNNAutoencoder


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    frame = load_wine(as_frame=True).frame
    frame.to_csv(folder / "wine.csv", index=False)
    for name, more in (("wine", ()), ("other", ("--seed", "1")), ("max", ("--scale", "max"))):
        done = call(
            "fit", "wine.csv", "-o", f"{name}.safetensors", "--hidden", "4", "--label", "target",
            *more, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    (folder / "broken.safetensors").write_bytes((folder / "wine.safetensors").read_bytes()[:900])
    done = call("fit", "digits", "-o", "digits.safetensors", "--hidden", "8", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def content_of(path):
    text = path.read_text(encoding="utf-8")
    found = re.search('<script type="application/json" id="content">(.*?)</script>', text)
    return json.loads(found[1])


def test_rows_are_put_in_only_when_asked_for(call, folder):
    done = call("live", "wine.safetensors", "wine.csv", "-o", "none.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.shows("--rows 20")
    assert content_of(folder / "none.html")["row_names"] == []
    done = call(
        "live", "wine.safetensors", "wine.csv", "--rows", "3", "-o", "three.html", "--json",
        cwd=folder,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["rows"] == 3
    assert told["bytes"] == (folder / "three.html").stat().st_size
    found = content_of(folder / "three.html")
    assert found["row_names"] == ["row 1: 0", "row 2: 0", "row 3: 0"]
    assert found["attributes"][0]["name"] == "alcohol"
    assert found["attributes"][0]["low"] == pytest.approx(load_wine().data[:, 0].min())


@pytest.mark.filterwarnings("default")
def test_rows_that_are_left_out_keep_their_numbers(call, folder):
    frame = pd.read_csv(folder / "wine.csv")
    frame.loc[1, "ash"] = np.nan
    frame.to_csv(folder / "gaps.csv", index=False)
    done = call(
        "fit", "gaps.csv", "-o", "gaps.safetensors", "--hidden", "4", "--label", "target",
        "--missing", "drop", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = call("live", "gaps.safetensors", "gaps.csv", "--rows", "2", "-o", "g.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.names("1 row", 2)
    assert content_of(folder / "g.html")["row_names"] == ["row 1: 0", "row 3: 0"]


def test_images_are_drawn_on(call, folder):
    done = call("live", "digits.safetensors", "digits", "-o", "d.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = content_of(folder / "d.html")
    assert found["shape"]["width"] == 8
    assert found["frame"]["box"] > 0.8  # of the data, though none of their rows is in it
    done = call("live", "digits.safetensors", "-o", "e.html", cwd=folder)
    assert done.names("--shape 8x8")
    done = call("live", "digits.safetensors", "--shape", "8x8", "-o", "f.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert content_of(folder / "f.html")["shape"]["height"] == 8


def test_models_side_by_side(call, folder):
    done = call(
        "live", "wine.safetensors", "wine.csv", "--against", "other.safetensors", "--rows", "1",
        "-o", "two.html", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [m["name"] for m in content_of(folder / "two.html")["models"]] == ["wine", "other"]
    done = call(
        "live", "wine.safetensors", "--against", "max.safetensors", "-o", "no.html", cwd=folder
    )
    assert done.returncode == 1
    assert done.names("max.safetensors", "wine.safetensors")
    done = call(
        "live", "wine.safetensors", "--against", "digits.safetensors", "-o", "no.html", cwd=folder
    )
    assert done.names("digits.safetensors", 64)


def test_models_of_other_columns_are_refused(call, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((30, 4)))
    for name, columns in (("a", "1-3"), ("b", "2-4")):
        done = call("fit", "x.npy", "--columns", columns, "-o", f"{name}.safetensors", cwd=tmp_path)
        assert done.returncode == 0, done.said
    line = ("live", "a.safetensors", "x.npy", "--against", "b.safetensors", "-o", "two.html")
    done = call(*line, cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("a.safetensors", "b.safetensors")
    assert not (tmp_path / "two.html").exists()


def test_cells_that_were_guessed_are_said_to_be(call, folder):
    frame = pd.read_csv(folder / "wine.csv").drop(columns="target")
    frame.loc[1, ["ash", "hue"]] = np.nan
    frame.to_csv(folder / "holes.csv", index=False)
    settings = ("--hidden", "4", "--missing", "allow", "-o", "holes.safetensors")
    done = call("fit", "holes.csv", *settings, cwd=folder)
    assert done.returncode == 0, done.stderr
    done = call("live", "holes.safetensors", "holes.csv", "--rows", "2", "-o", "h.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = content_of(folder / "h.html")
    assert found["row_names"] == ["row 1", "row 2 (2 missing, filled)"]


def test_nothing_is_replaced_unasked(call, folder):
    (folder / "mine.html").write_text("my own page")
    done = call("live", "wine.safetensors", "-o", "mine.html", cwd=folder)
    assert done.returncode == 1
    assert done.names("mine.html", "--force")
    assert (folder / "mine.html").read_text() == "my own page"
    for _ in range(2):  # its own pages are made again without a question
        assert call("live", "wine.safetensors", "-o", "again.html", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("wine.safetensors --rows 3 -o a.html", "--rows"),
        ("wine.safetensors digits -o a.html", "digits 64"),
        ("wine.csv wine.safetensors -o a.html", "wine.safetensors MODEL DATA"),
        ("digits.safetensors --shape 9x9 -o a.html", "81"),
        ("digits.safetensors --shape eight -o a.html", "--shape eight 28x28"),
        ("wine.safetensors -o a.png", "a.png .html"),
        ("nothing.safetensors -o a.html", "nothing.safetensors"),
        ("broken.safetensors -o a.html", "broken.safetensors"),
    ],
)
def test_what_cannot_be_is_said(call, folder, words, named):
    done = call("live", *words.split(), cwd=folder)
    assert done.returncode in (1, 2)
    assert done.names(*named.split())
    assert "Traceback" not in done.stderr
    assert not (folder / "a.html").exists()


def test_without_a_file_a_browser_opens_it(call, folder, monkeypatch):
    """The standard library's way: whatever browser the user has."""
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    done = call("live", "wine.safetensors", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    path = Path(json.loads(done.stdout)["page"])
    assert opened == [path.resolve().as_uri()]
    assert content_of(path)["models"][0]["name"] == "wine"


def test_where_there_is_no_browser_it_is_said(digits, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    page = LRNNAutoencoder(4, random_state=0).fit(digits[:60]).live()
    with pytest.warns(UserWarning, match="live.html"):
        assert page.show().exists()


def test_without_a_model_it_is_the_demo_s(call, tmp_path):
    done = call("live", "-o", "demo.html", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 20
    found = content_of(tmp_path / "demo.html")
    assert [m["name"] for m in found["models"]] == ["lrnn", "the paper's algorithm"]
    assert found["row_names"][:2] == ["a 0", "a 1"]
    assert found["tour"] is True
