"""Attributes beside their complements on the command line: trained, and in all other commands."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Moment, Scaling
from lrnn.functional import complement_coded

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names"),
]
FIT = ("fit", "wine.csv", "--label", "kind", "--complement")


def table():
    wine = load_wine(as_frame=True)
    return wine.data.assign(kind=np.array(["barolo", "grignolino", "barbera"])[wine.target])


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    """A table, an autoencoder and a classifier of it."""
    folder = tmp_path_factory.mktemp("wine")
    table().to_csv(folder / "wine.csv", index=False)
    table()[:60].to_csv(folder / "monday.csv", index=False)
    table()[60:].to_csv(folder / "tuesday.csv", index=False)
    for line in (
        (*FIT, "--hidden", "5", "-o", "a.safetensors"),
        (*FIT, "--classify", "--hidden", "8", "--max-iter", "20", "-o", "c.safetensors"),
    ):
        done = call(*line, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["complemented"] is True
    return folder


def numbers():
    return table().drop(columns="kind").to_numpy()


def done_by(call, folder, *line, rc=0):
    done = call(*map(str, line), cwd=folder)
    assert done.returncode == rc, done.stderr
    return done


def test_it_is_the_library_bit_for_bit(folder):
    unit = Scaling.fit(numbers(), "minmax").apply(numbers())
    model, found = LRNNAutoencoder(5, random_state=0), lrnn.load(folder / "a.safetensors")
    model.fit(complement_coded(unit))
    for ours, theirs in zip(model.weights_.layers, found.weights_.layers, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert list(found.feature_names_in_) == list(table().columns[:-1])
    np.testing.assert_array_equal(found.transform(table()), model.transform(complement_coded(unit)))


def test_a_person_is_told(call, folder):
    line = (*FIT, "--hidden", 5, "-o", "b.safetensors", "--force")
    assert done_by(call, folder, *line).shows(178, "26 → 5")
    assert done_by(call, folder, "inspect", "a.safetensors").shows("minmax", "1 − x")
    document = json.loads(done_by(call, folder, "inspect", "a.safetensors", "--json").stdout)
    assert (document["scaling"], document["complemented"]) == ("minmax", True)
    names = {name for part in document["parts"] for name in part["strongest"]}
    assert any(name.startswith("1 − ") for name in names)
    assert all(name.removeprefix("1 − ") in table().columns for name in names)


def test_a_table_in_the_unit_interval_is_told_of_complements(call, folder):
    """Unless someone has decided, or nothing says that it is a table."""
    unit = pd.DataFrame(
        Scaling.fit(numbers(), "minmax").apply(numbers()), columns=table().columns[:-1]
    )
    unit.assign(kind=table().kind).to_csv(folder / "unit.csv", index=False)
    np.savez(folder / "unnamed.npz", X=unit.to_numpy(), y=load_wine().target)
    quick = ("--classify", "--hidden", 8, "--max-iter", 5, "-o", "h.safetensors", "--force")
    fit = ("fit", "unit.csv", "--label", "kind", *quick)
    assert done_by(call, folder, *fit).shows("--complement")
    for more in ("--complement", "--no-complement", "--quiet", "--json"):
        assert not done_by(call, folder, *fit, more).shows("--complement")
    for data in (("wine.csv", "--label", "kind"), ("unnamed.npz",), ("digits",)):
        assert not done_by(call, folder, "fit", *data, *quick).shows("--complement")


def test_a_classifier_may_do_without(call, folder):
    line = (*FIT[:-1], "--no-complement", "--classify", "--hidden", 8, "--max-iter", 2)
    done = done_by(call, folder, *line, "-o", "plain.safetensors", "--force", "--json")
    assert json.loads(done.stdout)["complemented"] is False
    assert lrnn.load(folder / "plain.safetensors").weights_.sizes == (13, 8, 3)


def test_rows_come_back_in_their_units(call, folder):
    done_by(call, folder, "reconstruct", "a.safetensors", "wine.csv", "-o", "back.csv", "--force")
    back, model = pd.read_csv(folder / "back.csv"), lrnn.load(folder / "a.safetensors")
    assert list(back.columns) == list(table().columns)
    np.testing.assert_allclose(back.iloc[:, :13], model.reconstruct(table()), rtol=1e-6)
    done_by(call, folder, "encode", "a.safetensors", "wine.csv", "-o", "codes.csv", "--force")
    codes = pd.read_csv(folder / "codes.csv").iloc[:, :5]
    np.testing.assert_allclose(codes, model.transform(table()), rtol=1e-6)


def test_classes_are_those_of_the_library(call, folder):
    done = done_by(
        call, folder, "classify", "c.safetensors", "wine.csv", "-o", "told.csv", "--force", "--json"
    )
    model = lrnn.load(folder / "c.safetensors")
    assert json.loads(done.stdout)["accuracy"] == model.score(table(), table().kind)
    codes = folder / "hidden.npy"
    done_by(call, folder, "encode", "c.safetensors", "wine.csv", "-o", codes.name, "--force")
    np.testing.assert_array_equal(np.load(codes), model.transform(table()))


@pytest.mark.parametrize("model", ["a.safetensors", "c.safetensors"])
def test_the_page_and_the_picture_of_a_row(call, folder, model):
    line = ("report", model, "wine.csv", "-o", f"{model}-page", "--row", 3, "--force")
    done_by(call, folder, *line)
    page = (folder / f"{model}-page" / "index.html").read_text()
    assert "1 − ash" in page
    figure = folder / "row.png"
    line = ("simulate", model, "wine.csv", "--row", 3, "--events", 20_000, "-o", figure.name)
    done_by(call, folder, *line, "--force")
    assert figure.stat().st_size > 1_000


@pytest.mark.usefixtures("unrendered")
def test_models_are_compared_that_code_in_their_own_ways(call, folder):
    line = ("fit", "wine.csv", "--label", "kind", "--hidden", 5, "-o", "other.safetensors")
    done_by(call, folder, *line, "--force")
    line = ("report", "a.safetensors", "wine.csv", "--against", "other.safetensors", "-o", "two")
    done_by(call, folder, *line, "--force")
    assert "other.safetensors" in (folder / "two" / "index.html").read_text()


def test_a_file_for_other_programs_takes_raw_rows(call, folder):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    done_by(call, folder, "export", "c.safetensors", "--scaling", "-o", "c.onnx", "--force")
    session = onnxruntime.InferenceSession(folder / "c.onnx", providers=["CPUExecutionProvider"])
    found = session.run(["probabilities"], {"data": numbers()})[0]
    expected = lrnn.load(folder / "c.safetensors").predict_proba(table())
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_moments_like_a_model_have_complements(call, folder):
    for day in ("monday", "tuesday"):
        line = ("moment", f"{day}.csv", "-o", f"{day}.safetensors", "--like", "a.safetensors")
        done_by(call, folder, *line, "--force")
    line = (
        "moment",
        "--add",
        "monday.safetensors",
        "tuesday.safetensors",
        "-o",
        "both.safetensors",
    )
    done_by(call, folder, *line, "--force")
    model = lrnn.load(folder / "a.safetensors")
    expected = Moment.of(table(), scale=model.scaling_)
    found = lrnn.load_moment(folder / "both.safetensors")
    np.testing.assert_allclose(found.gram, expected.gram, rtol=1e-12)
    line = ("moment", "monday.csv", "-o", "m2.safetensors", "--like", "monday.safetensors")
    done_by(call, folder, *line, "--force")
    assert lrnn.load_moment(folder / "m2.safetensors").shape == (60, 26)
    done_by(call, folder, "fit", "both.safetensors", "-o", "of.safetensors", "--force")
    assert lrnn.load(folder / "of.safetensors").weights_.sizes == (26, 7, 26)
    done = done_by(
        call, folder, "fit", "both.safetensors", "--complement", "-o", "x.safetensors", rc=2
    )
    assert done.names("--complement")


def test_an_encoder_decides_for_what_comes_behind_it(call, folder):
    line = ("fit", "wine.csv", "--classify", "--label", "kind", "--pretrain", "a.safetensors")
    line = (*line, "--hidden", 4, "--max-iter", 3, "-o", "behind.safetensors", "--force")
    done_by(call, folder, *line)
    model = lrnn.load(folder / "behind.safetensors")
    assert isinstance(model, LRNNClassifier)
    assert (model.weights_.sizes, model.scaling_.complemented) == ((26, 5, 4, 3), True)
    assert model.n_features_in_ == 13
    done = done_by(call, folder, *line, "--no-complement", rc=2)
    assert done.names("--pretrain")


@pytest.mark.usefixtures("unrendered")
def test_missing_cells_are_filled_and_told(call, folder):
    frame = table()
    frame.loc[3, "ash"] = frame.loc[5, "hue"] = np.nan
    frame.to_csv(folder / "gaps.csv", index=False)
    line = ("fit", "gaps.csv", "--label", "kind", "--complement", "--missing", "allow")
    done = done_by(call, folder, *line, "-o", "g.safetensors", "--force", "--json")
    model = lrnn.load(folder / "g.safetensors")
    assert json.loads(done.stdout)["error"] == model.reconstruction_err_
    line = ("reconstruct", "g.safetensors", "gaps.csv", "-o", "full.csv", "--force")
    done = done_by(call, folder, *line)
    assert done.names("2 missing cells")
    back = pd.read_csv(folder / "full.csv").iloc[:, :13]
    np.testing.assert_allclose(back, model.reconstruct(frame), rtol=1e-6)
    done_by(call, folder, "report", "g.safetensors", "gaps.csv", "-o", "g-page", "--force")
