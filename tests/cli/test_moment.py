"""``lrnn moment``: sums of files, added and subtracted, and models of them."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import lrnn
from lrnn import LRNNAutoencoder, Moment, Scaling, load_moment
from lrnn.tables.writers import write

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
    assert "Moment(178 rows, 13 attributes, scaled by minmax)" in said
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
    assert "178 rows, 13 → 5 neurons: mean squared error at most 0.0" in said
    assert "--scale" not in said  # which it would refuse
    found, data = lrnn.load(folder / "model.safetensors"), read_all(folder)
    expected = LRNNAutoencoder(5, scale="minmax", random_state=0).fit(data)
    np.testing.assert_allclose(found.reconstruct(data), expected.reconstruct(data), rtol=1e-6)
    assert list(found.feature_names_in_) == WINE.feature_names
    assert "mean squared error at most 0.0" in ok_inspect(call, "model.safetensors", folder)
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
    assert "Moment(100 rows, 13 attributes, scaled by minmax)" in said
    assert "columns alcohol, malic_acid" in said
    assert "and 3 more" in said
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
    assert "beyond the range" in done.stderr
    assert json.loads(done.stdout)["cut_off"]["a.csv"]["values"]


NAMES = ("a", "max", "z")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--add", "a", "-o", "z"], 2, "give two moments at least"),
        (["--add", "--subtract", "a", "-o", "z"], 2, "not both"),
        (["--add", "a", "a.csv", "-o", "z"], 2, "is data, not a moment; run lrnn moment on it"),
        (["--add", "a", "missing", "-o", "z"], 1, "there is no file"),
        (["--add", "a", "a", "--drop", "2", "-o", "z"], 2, "--drop"),
        (["a.csv", "--like", "a", "--scale", "minmax", "-o", "z"], 2, "--scale"),
        (["--add", "a", "a", "-o", "a"], 1, "is the input"),
        (["a", "-o", "z"], 2, "is no data; give --add or --subtract"),
        (["a.csv", "-o", "a"], 1, "exists; --force replaces it"),
        (["a.csv", "-o", "a.npy"], 2, "should end in .safetensors"),
        (["--add", "a", "max", "-o", "z"], 1, "sum up the data again, all with --like a.safe"),
        (["a.csv", "--missing", "allow", "-o", "z"], 2, "not one of 'refuse', 'drop', 'median'"),
        (["--subtract", "a", "a", "a", "-o", "z"], 1,
         "these rows were not in it"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(call, folder, arguments, code, said):
    if "max" in arguments and "--scale" not in arguments:
        ok(call, "moment", "a.csv", "-o", "max.safetensors", "--scale", "max", cwd=folder)
    done = call(
        "moment", *(f"{a}.safetensors" if a in NAMES else a for a in arguments), cwd=folder,
        columns=200,
    )  # fmt: skip
    assert done.returncode == code
    assert said in " ".join(done.stderr.split())
    assert not (folder / "z.safetensors").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scale", "max"], "is for tables"),
        (["--workers", "2"], "is for data, not for a moment"),
        (["--resume"], "is for data, not for a moment"),
        (["--inhibition"], "--inhibition: trains on rows, and this is a moment"),
        (["--fine-tune", "3"], "--fine-tune: trains on rows, and this is a moment"),
        (["--solver", "minibatch"], "--solver: trains on rows, and this is a moment"),
        (["--rates", "unit"], "--rates: trains on rows, and this is a moment"),
    ],
)
def test_fit_refuses_what_needs_rows(call, folder, arguments, said):
    done = call("fit", "a.safetensors", "-o", "z.safetensors", *arguments, cwd=folder, columns=200)
    assert done.returncode in (1, 2)
    assert said in " ".join(done.stderr.split())
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
    assert "'wrong.npy' has values above 1" in done.stderr


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
        assert "--missing median fills such cells" in done.stderr
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
        assert "a moment takes no such cells; lrnn impute fills them" in done.stderr
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
    assert "--missing median fills such cells" in done.stderr
    assert "allow" not in done.stderr
    assert call("width", "gaps.csv", "--missing", "allow", cwd=gaps).returncode == 2


def test_moments_are_neither_models_nor_data(call, folder):
    ok(call, "fit", "a.csv", "-o", "of-rows.safetensors", cwd=folder)
    for arguments, said in (
        (("encode", "a.safetensors", "a.csv", "-o", "z.npy"), "is a moment, not a model; lrnn fit"),
        (("export", "a.safetensors", "-o", "z.onnx"), "is a moment, not a model; lrnn fit"),
        (("encode", "of-rows.safetensors", "a.safetensors", "-o", "z.npy"), "holds no rows"),
        (("moment", "--add", "a.safetensors", "of-rows.safetensors", "-o", "z.safetensors"),
         "as a moment: it holds a model"),
    ):  # fmt: skip
        done = call(*arguments, cwd=folder)
        assert done.returncode == 1
        assert said in done.stderr
        assert "lrnn.load" not in done.stderr
