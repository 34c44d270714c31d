"""``lrnn moment``: sums of files, added and subtracted, and models of them."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_wine

import lrnn
from lrnn import LRNNAutoencoder, Moment, Scaling, load_moment
from lrnn.tables.writers import write
from naming import naming

WINE = load_wine()


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    """Wine in two parts; a moment of the first one, which has the range of all."""
    folder = tmp_path_factory.mktemp("wine")
    extreme = ((WINE.data == WINE.data.min(0)) | (WINE.data == WINE.data.max(0))).any(1)
    order = np.argsort(~extreme, kind="stable")
    data = WINE.data[order]
    write(folder / "all.csv", data, WINE.feature_names)
    write(folder / "a.csv", data[:100], WINE.feature_names)
    write(folder / "b.csv", data[100:], WINE.feature_names)
    done = call("moment", "a.csv", "-o", "a.safetensors", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document.pop("cut_off")["a.csv"]["values"] == 0
    assert document == {
        "moment": "a.safetensors", "rows": 100, "weight": 100.0, "attributes": 13,
        "scale": "minmax", "white": None, "ranges": True,
    }  # fmt: skip
    return folder


def assert_same(one, other):
    assert one.shape == other.shape
    np.testing.assert_allclose(one.gram, other.gram, atol=1e-9)
    assert one.names == other.names


def ok(call, *arguments, cwd):
    done = call(*arguments, "--force", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return done.stdout


def test_files_are_summed_apart_and_added(call, folder):
    ok(call, "moment", "b.csv", "-o", "b.safetensors", "--like", "a.safetensors", cwd=folder)
    said = ok(
        call, "moment", "--add", "a.safetensors", "b.safetensors", "-o", "c.safetensors", cwd=folder
    )
    assert "178 rows, 13 attributes" in said
    both, data = load_moment(folder / "c.safetensors"), read_all(folder)
    assert_same(both, Moment.of(data, scale=Scaling.fit(data, "minmax")))
    ok(call, "moment", "a.csv", "b.csv", "-o", "d.safetensors", cwd=folder)  # in one go
    assert_same(load_moment(folder / "d.safetensors"), both)
    ok(
        call,
        "moment",
        "--subtract",
        "c.safetensors",
        "b.safetensors",
        "-o",
        "e.safetensors",
        cwd=folder,
    )
    assert_same(load_moment(folder / "e.safetensors"), load_moment(folder / "a.safetensors"))


def read_all(folder):
    import pandas as pd

    return pd.read_csv(folder / "all.csv")


def test_fit_takes_a_moment_and_says_that_its_error_is_a_bound(call, folder):
    ok(call, "moment", "all.csv", "-o", "all.safetensors", cwd=folder)
    said = ok(call, "fit", "all.safetensors", "-o", "model.safetensors", "--hidden", 5, cwd=folder)
    assert "at most 0.0" in said
    assert "--scale" not in said  # which it would refuse
    found, data = lrnn.load(folder / "model.safetensors"), read_all(folder)
    expected = LRNNAutoencoder(5, scale="minmax", random_state=0).fit(data)
    np.testing.assert_allclose(found.reconstruct(data), expected.reconstruct(data), rtol=1e-6)
    assert list(found.feature_names_in_) == WINE.feature_names
    assert "at most 0.0" in ok_inspect(call, "model.safetensors", folder)
    ok(call, "encode", "model.safetensors", "all.csv", "-o", "codes.npy", cwd=folder)
    np.testing.assert_allclose(np.load(folder / "codes.npy"), found.transform(data), rtol=1e-9)
    # a model knows the scaling, too
    ok(call, "moment", "b.csv", "-o", "x.safetensors", "--like", "model.safetensors", cwd=folder)
    assert load_moment(folder / "x.safetensors").n_rows == 78


def ok_inspect(call, name, folder):
    done = call("inspect", name, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_inspect_tells_what_a_moment_is_of(call, folder):
    said = ok_inspect(call, "a.safetensors", folder)
    assert re.search(naming("100 rows", "13 attributes", "minmax", "alcohol", "malic_acid"), said)
    done = call("inspect", "a.safetensors", "--json", cwd=folder)
    document = json.loads(done.stdout)
    moment = load_moment(folder / "a.safetensors")
    assert document["mean_square"] == pytest.approx(np.trace(moment.gram) / 1300)
    assert document["variance"] < document["mean_square"]


@pytest.mark.filterwarnings("default")
def test_what_lies_beyond_the_scaling_is_cut_off_and_counted(call, folder):
    done = call("moment", "b.csv", "-o", "narrow.safetensors", "--force", cwd=folder)
    assert done.returncode == 0
    done = call(
        "moment",
        "a.csv",
        "-o",
        "y.safetensors",
        "--like",
        "narrow.safetensors",
        "--json",
        cwd=folder,
    )
    assert done.returncode == 0
    assert done.names("alcohol", 14.83, 14.16)
    assert json.loads(done.stdout)["cut_off"]["a.csv"]["values"]


NAMES = ("a", "max", "z")


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        ("--add a -o z", 2, "--add"),
        ("--add --subtract a -o z", 2, "--add --subtract"),
        ("--add a a.csv -o z", 2, "a.csv lrnn moment"),
        ("--add a missing -o z", 1, "missing"),
        ("--add a a --drop 2 -o z", 2, "--drop"),
        ("a.csv --like a --scale minmax -o z", 2, "--scale"),
        ("--add a a -o a", 1, "a.safetensors"),
        ("a -o z", 2, "a.safetensors --add --subtract"),
        ("a.csv -o a", 1, "a.safetensors --force"),
        ("a.csv -o a.npy", 2, "a.npy .safetensors"),
        ("--add a max -o z", 1, "--like a.safetensors"),
        ("a.csv --missing allow -o z", 2, "--missing allow refuse drop median"),
        ("--subtract a a a -o z", 1, "-100"),
    ],
)
def test_what_cannot_be_done_is_refused(call, folder, arguments, code, named):
    arguments = arguments.split()
    if "max" in arguments and "--scale" not in arguments:
        ok(call, "moment", "a.csv", "-o", "max.safetensors", "--scale", "max", cwd=folder)
    done = call(
        "moment", *(f"{a}.safetensors" if a in NAMES else a for a in arguments), cwd=folder,
        columns=200,
    )  # fmt: skip
    assert done.returncode == code
    assert done.names(*named.split())
    assert not (folder / "z.safetensors").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        "--scale max",
        "--workers 2",
        "--resume",
        "--inhibition",
        "--fine-tune 3",
        "--solver minibatch",
        "--rates unit",
    ],
)
def test_fit_refuses_what_needs_rows(call, folder, arguments):
    words = arguments.split()
    done = call("fit", "a.safetensors", "-o", "z.safetensors", *words, cwd=folder)
    assert done.returncode in (1, 2)
    assert done.names(words[0])
    assert not (folder / "z.safetensors").exists()


def test_levels_of_images_are_summed_as_they_are(call, tmp_path, rng):
    levels = rng.integers(0, 256, (30, 6), dtype=np.uint8)
    np.save(tmp_path / "one.npy", levels[:10])
    np.save(tmp_path / "two.npy", levels[10:])
    ok(call, "moment", "one.npy", "two.npy", cwd=tmp_path)
    assert_same(load_moment(tmp_path / "one-moment.safetensors"), Moment.of(levels))
    np.save(tmp_path / "wrong.npy", np.full((2, 6), 1.5))
    done = call("moment", "wrong.npy", "--scale", "none", "-o", "w.safetensors", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("wrong.npy", 1.5)


@pytest.fixture(scope="module")
def gaps(call, tmp_path_factory):
    """Rows with gaps as text and as a matrix, models that allow these, and complete rows."""
    folder = tmp_path_factory.mktemp("gaps")
    X = np.random.default_rng(0).random((20, 4)) * 9
    write(folder / "full.csv", X, list("abcd"))
    X[3, 2] = np.nan
    write(folder / "gaps.csv", X, list("abcd"))
    np.save(folder / "gaps.npy", X)
    for name in ("gaps.csv", "gaps.npy"):
        ok(call, "fit", name, "-o", f"{name}.safetensors", "--missing", "allow", cwd=folder)
    return folder


@pytest.mark.filterwarnings("default")
def test_gaps_are_refused_with_remedies_that_hold(call, gaps):
    assert "allow" not in call("moment", "--help", cwd=gaps).stdout
    for name in ("gaps.csv", "gaps.npy"):
        done = call("moment", name, "-o", "z.safetensors", cwd=gaps)
        assert done.returncode == 1
        assert done.names("--missing median")
        assert "allow" not in done.stderr
        for way in ("median", "drop"):
            done = call(
                "moment", name, "-o", f"{way}.safetensors", "--missing", way, "--force", cwd=gaps
            )
            assert done.returncode == 0
        done = call(
            "moment", name, "-o", "z.safetensors", "--like", f"{name}.safetensors", cwd=gaps
        )
        assert done.returncode == 1
        assert done.names("lrnn impute")
        assert "allow" not in done.stderr
    ok(
        call,
        "moment",
        "full.csv",
        "-o",
        "y.safetensors",
        "--like",
        "gaps.csv.safetensors",
        cwd=gaps,
    )


def test_width_offers_no_remedy_that_it_lacks(call, gaps):
    done = call("width", "gaps.csv", cwd=gaps)
    assert done.returncode == 1
    assert done.names("--missing median")
    assert "allow" not in done.stderr
    assert call("width", "gaps.csv", "--missing", "allow", cwd=gaps).returncode == 2


def test_moments_are_neither_models_nor_data(call, folder):
    ok(call, "fit", "a.csv", "-o", "of-rows.safetensors", cwd=folder)
    for arguments, named in (
        ("encode a.safetensors a.csv -o z.npy", "a.safetensors lrnn fit"),
        ("export a.safetensors -o z.onnx", "a.safetensors lrnn fit"),
        ("encode of-rows.safetensors a.safetensors -o z.npy", "a.safetensors"),
        ("moment --add a.safetensors of-rows.safetensors -o z.safetensors", "of-rows.safetensors"),
    ):
        done = call(*arguments.split(), cwd=folder)
        assert done.returncode == 1
        assert done.names(*named.split())
        assert "lrnn.load" not in done.stderr
