"""Classifiers on the command line: trained, and in the hands of other commands."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_wine

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Scaling, checkpoints
from lrnn.functional import complement_coded
from naming import naming
from storage.test_checkpoints import kill_after

pytestmark = [
    pytest.mark.filterwarnings("default"),  # what is told by a warning is read
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names"),
]
QUICK = ("--hidden", "8", "--max-iter", "10")
FIT = ("fit", "wine.csv", "--classify", "--label", "kind")
KINDS = np.array(["barolo", "grignolino", "barbera"])


def table():
    """Wine with the names of its kinds."""
    wine = load_wine(as_frame=True)
    return wine.data.assign(kind=KINDS[wine.target])


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    """Wine in several formats, and a model of it."""
    folder = tmp_path_factory.mktemp("wine")
    frame = table()
    frame.to_csv(folder / "wine.csv", index=False)
    frame.assign(kind=load_wine().target).to_csv(folder / "numbers.csv", index=False)
    np.save(folder / "numbers.npy", np.c_[load_wine().data, load_wine().target])
    sparse.save_npz(folder / "sparse.npz", sparse.csr_array(np.load(folder / "numbers.npy")))
    frame[:5].assign(kind=list("abcde")).to_csv(folder / "five.csv", index=False)
    frame.assign(town=["Alba", "Asti"] * 89).to_csv(folder / "town.csv", index=False)
    frame.assign(one="x", none=None).to_csv(folder / "odd.csv", index=False)
    done = call(*FIT, *QUICK, "-o", "m.safetensors", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (folder / "fit.json").write_text(done.stdout)
    return folder


def fitted(call, folder, *arguments, rc=0):
    """A model that the command line has trained."""
    path = folder / "other.safetensors"
    path.unlink(missing_ok=True)
    done = call("fit", *arguments, "-o", path.name, cwd=folder)
    assert done.returncode == rc, done.stderr
    return lrnn.load(path) if rc == 0 else done


# Training


def test_the_command_line_is_the_library_bit_for_bit(folder):
    frame = table()
    X, y = frame.drop(columns="kind"), frame.kind.to_numpy()
    scaled = complement_coded(Scaling.fit(X.to_numpy(), "minmax").apply(X.to_numpy()))
    model = LRNNClassifier((8,), max_iter=10, scale=None, random_state=0).fit(scaled, y)
    found = lrnn.load(folder / "m.safetensors")
    assert isinstance(found, LRNNClassifier)
    for ours, theirs in zip(model.weights_.layers, found.weights_.layers, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(found.classes_, np.unique(KINDS))
    assert list(found.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(found.predict(frame), model.predict(scaled))
    document = json.loads((folder / "fit.json").read_text())
    assert document["classes"] == sorted(KINDS)
    assert document["accuracy"] == model.score(scaled, y)
    assert document["spikes_per_decision"] == model.spikes_per_decision(scaled)
    assert (document["rows"], document["attributes"], document["hidden"]) == (178, 13, [8])
    assert document["loss"] == model.loss_
    assert (document["scale"], document["complemented"]) == ("minmax", True)


@pytest.mark.parametrize(
    "given", [("numbers.csv", "--label", "kind"), ("numbers.npy", "--label", "14"), ("wine",)]
)
def test_classes_that_are_whole_numbers_are_numbers(call, folder, given):
    """However a file holds them; and the classes of a data set are its own."""
    model = fitted(call, folder, *given, "--classify", *QUICK)
    X, y = load_wine(return_X_y=True)
    first = 1 if given == ("wine",) else 0  # as the data set counts them
    np.testing.assert_array_equal(model.classes_, np.arange(first, first + 3))
    rows = pd.read_csv(folder / "numbers.csv") if "csv" in given[0] else X
    rows = np.c_[X, y] if "npy" in given[0] else rows
    assert model.score(rows, y + first) > 0.8


def test_classes_of_a_text_of_floats_are_whole_numbers(call, folder):
    """As NumPy writes them, and pandas if one was missing; new rows may be written otherwise."""
    X, y = load_wine(return_X_y=True)
    floats = np.c_[X, y + 1]
    np.savetxt(folder / "floats.csv", floats, delimiter=",")
    frame = pd.DataFrame(floats.astype(object), columns=[*map(str, range(13)), "kind"])
    model = fitted(call, folder, "floats.csv", "--classify", "--label", "14", *QUICK)
    assert model.classes_.tolist() == [1, 2, 3]
    right = model.score(floats, y + 1)
    for spelling in ("1", "1.0", "01"):
        frame.kind = [spelling.replace("1", str(kind)) for kind in y + 1]
        frame.to_csv(folder / "spelled.csv", index=False, header=False)
        done = call(
            "classify", "other.safetensors", "spelled.csv", "--json", "-o", "told.csv", "--force",
            cwd=folder,
        )  # fmt: skip
        if spelling == "01":  # a code, and no number
            assert (done.returncode, done.names("spelled.csv", "01", "row 1")) == (1, True)
            continue
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["accuracy"] == right
        written = pd.read_csv(folder / "told.csv")
        assert (written["column 14"] == y + 1).all()


def test_one_number_in_several_spellings(call, folder):
    frame = table().assign(kind=load_wine().target.astype(object))
    for spelling, classes in (("2.0", [0, 1, 2]), ("02", ["0", "02", "1", "2"])):
        frame.loc[frame.index[-9:], "kind"] = spelling
        frame.to_csv(folder / "several.csv", index=False)
        path = folder / "several.safetensors"
        line = ("--classify", "--label", "kind", *QUICK, "-o", path, "--force")
        assert call("fit", "several.csv", *line, cwd=folder).returncode == 0
        assert lrnn.load(path).classes_.tolist() == classes


def test_rows_to_test_with_may_write_classes_otherwise(call, folder):
    frame = table().assign(kind=load_wine().target)
    frame.to_csv(folder / "whole.csv", index=False)
    frame.assign(kind=frame.kind.map("{:.3e}".format)).to_csv(folder / "points.csv", index=False)
    done = call(
        "fit", "whole.csv", "--classify", "--label", "kind", "--test", "points.csv", *QUICK,
        "-o", "whole.safetensors", "--force", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["test_accuracy"] == document["accuracy"]
    frame.assign(kind="other").to_csv(folder / "points.csv", index=False)
    done = call(
        "fit", "whole.csv", "--classify", "--label", "kind", "--test", "points.csv", *QUICK,
        "-o", "never.safetensors", cwd=folder,
    )  # fmt: skip
    assert done.names("points.csv", "other", "row 1")
    assert not (folder / "never.safetensors").exists()


def test_settings_are_those_of_the_library(call, folder):
    options = (
        "--spike-penalty", "0.02", "--label-smoothing", "0.1", "--class-weight", "balanced",
        "--early-stopping", "--corruption", "mask", "0.1", "--batch-size", "30", "--seed", "3",
        "--hidden", "9-7", "--dropout", "0.1", "--max-iter", "10", "--tol", "0",
    )  # fmt: skip
    found = fitted(call, folder, "wine.csv", "--classify", "--label", "kind", *options)
    frame = table()
    X, y = frame.drop(columns="kind").to_numpy(), frame.kind.to_numpy()
    model = LRNNClassifier(
        (9, 7), spike_penalty=0.02, label_smoothing=0.1, class_weight="balanced",
        early_stopping=True, corruption=("mask", 0.1), batch_size=30, random_state=3, max_iter=10,
        tol=0, scale=None, dropout=0.1,
    ).fit(complement_coded(Scaling.fit(X, "minmax").apply(X)), y)  # fmt: skip
    for ours, theirs in zip(model.weights_.layers, found.weights_.layers, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_person_is_told_how_well_it_recognises(call, folder):
    done = call(*FIT, "--max-iter", "3", "-o", "told.safetensors", cwd=folder)
    model, frame = lrnn.load(folder / "told.safetensors"), table()
    accuracy = model.score(frame.drop(columns="kind"), frame.kind)
    assert done.shows(178, 3, "26 → 300 → 3", f"{accuracy:.4f}", f"{model.loss_:.5f}")
    assert done.shows("--no-complement", "--hidden", "--scale", "lrnn classify told.safetensors")


@pytest.mark.parametrize("spikes", [1.4e5, 3e8])
def test_only_spikes_that_no_simulation_can_count_are_warned_of(call, folder, monkeypatch, spikes):
    monkeypatch.setattr(LRNNClassifier, "spikes_per_decision", lambda self, X: spikes)
    done = call(*FIT, *QUICK, "-o", "dear.safetensors", "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.names("3.0e+08", "--spike-penalty 0.01") == (spikes > 1e7)


def test_rows_that_are_not_trained_on_are_tested(call, folder):
    frame = table().sample(frac=1, random_state=0)
    frame[:120].to_csv(folder / "train.csv", index=False)
    rest = frame[120:].assign(kind=lambda rows: rows.kind.replace("barbera", "moscato"))
    rest.to_csv(folder / "rest.csv", index=False)
    done = call(
        "fit", "train.csv", "--classify", "--label", "kind", "--test", "rest.csv", *QUICK,
        "-o", "part.safetensors", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    model = lrnn.load(folder / "part.safetensors")
    with pytest.warns(UserWarning, match=naming("alcohol", 11.03)):
        right = model.predict(rest) == rest.kind
    assert document["test_rows"] == 58
    assert document["test_accuracy"] == pytest.approx(right.mean())
    lost = (rest.kind == "moscato").sum()
    assert done.names("rest.csv", lost, 58, "moscato")


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_rows_of_arrays_may_lack_a_label(call, folder, kind):
    """What is not a number, or empty, is no class of its own."""
    X, y = load_wine(return_X_y=True)
    labels = y.astype(float) if kind == "numbers" else KINDS[y]
    labels[[3, 60]] = np.nan if kind == "numbers" else ""
    np.savez(folder / "lacking.npz", X=X, y=labels)
    path = folder / "lacking.safetensors"
    done = call("fit", "lacking.npz", "--classify", *QUICK, "-o", path, "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.names("lacking.npz", 2, 178, "4, 61")
    assert len(lrnn.load(path).classes_) == 3
    done = call("encode", path, "lacking.npz", "-o", "lacking.csv", "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(folder / "lacking.csv").label.isna().sum() == 2


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_rows_without_a_label_are_left_out(call, folder, missing):
    frame = table()
    frame.loc[[3, 60], "kind"] = None
    frame.loc[1, "ash"] = np.nan
    frame.to_csv(folder / "gaps.csv", index=False)
    path = folder / "gaps.safetensors"
    path.unlink(missing_ok=True)
    line = ("fit", "gaps.csv", "--classify", "--label", "kind", "--missing", missing, *QUICK)
    done = call(*line, "-o", path.name, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    total = 178 if missing == "median" else 177
    assert (document["rows"], document["rows_without_label"]) == (total - 2, 2)
    assert done.names("gaps.csv", 2, total, "4, 61")
    known = frame.dropna(subset=["kind"])
    X = known.drop(columns="kind")
    X = X.dropna() if missing == "drop" else X.fillna(frame.ash.median())
    ranges = frame.drop(columns="kind")
    ranges = ranges.dropna() if missing == "drop" else ranges.fillna(frame.ash.median())
    scaled = complement_coded(Scaling.fit(ranges.to_numpy(), "minmax").apply(X.to_numpy()))
    model = LRNNClassifier((8,), max_iter=10, scale=None, random_state=0)
    model.fit(scaled, known.kind[X.index].to_numpy().astype(str))
    for ours, theirs in zip(model.weights_.layers, lrnn.load(path).weights_.layers, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        (["wine.csv"], 1, "wine.csv kind row 1 --label kind"),
        (["town.csv", "--label", "kind"], 1, "town.csv town row 1 --categories onehot --drop 2"),
        (["numbers.csv"], 2, "--classify numbers.csv --label alcohol kind"),
        (["numbers.npy"], 2, "--classify numbers.npy --label"),
        (["wine.csv", "--label", "kin"], 2, "--label wine.csv 'kin' 'kind' 'alcohol'"),
        (["wine.csv", "--label", "Kinds"], 2, "--label wine.csv 'Kinds' 'kind' 'alcohol'"),
        (["wine.csv", "--label", "class"], 2, "--label wine.csv 'class' 5 'kind'"),
        (["odd.csv", "--label", "one", "--drop", "kind"], 1, "odd.csv 'one' 'x' 178 --label"),
        (["odd.csv", "--label", "none", "--drop", "kind,one"], 1, "odd.csv 'none'"),
        (["numbers.csv", "--label", "alcohol"], 1, "numbers.csv 'alcohol' 126 14.23 --label"),
        (["numbers.csv", "--label", "proline"], 1, "numbers.csv 'proline' 121 178 --label"),
        (["five.csv", "--label", "kind"], 1, "five.csv 'kind' 5 'a' --label"),
        (["wine.csv", "--label", "kind", "--missing", "allow"], 2, "--missing 'allow' drop median"),
        (["wine.csv", "--label", "kind", "--solver", "minibatch"], 2, "--solver --classify"),
        (["wine.csv", "--label", "kind", "--fine-tune", "3"], 2, "--fine-tune --classify"),
        (["wine.csv", "--label", "kind", "--workers", "2"], 2, "--workers --classify"),
        (["wine.csv", "--label", "kind", "--freeze"], 2, "--freeze --pretrain"),
        (["wine.csv", "--label", "kind", "--hidden", "0"], 2, "--hidden 0 --pretrain"),
        (["wine.csv", "--label", "kind", "--hidden", "8+40"], 2, "--hidden 8+40"),
        (["wine.csv", "--label", "kind", "--hidden", "8-"], 2, "--hidden '8-'"),
        (["sparse.npz", "--label", "14"], 2, "--label sparse.npz"),
        (["sparse.npz", "--categories", "onehot"], 2, "--categories sparse.npz"),
        (["sparse.npz", "--missing", "median"], 2, "--missing sparse.npz"),
        (["sparse.npz"], 2, "--classify sparse.npz --label"),
        (["wine.csv", "--label", "kind", "--pretrain", "m.safetensors"], 1, "m.safetensors"),
        (["wine.csv", "--label", "kind", "--test", "none.csv"], 1, "none.csv"),
        (["m.safetensors"], 1, "m.safetensors inspect"),
        (["sum.safetensors"], 1, "sum.safetensors"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(call, folder, arguments, status, named):
    if "sum.safetensors" in arguments:
        call("moment", "digits", "-o", "sum.safetensors", "--force", cwd=folder)
    path = folder / "never.safetensors"
    done = call("fit", *arguments, "--classify", *QUICK[2:], "-o", path.name, cwd=folder)
    assert done.returncode == status, done.stderr
    assert done.names(*named.split())
    assert "Traceback" not in done.stderr
    assert not path.exists()


@pytest.mark.parametrize(
    "option",
    [("--label-smoothing", "0.1"), ("--dropout", "0.1"), ("--class-weight", "balanced"),
     ("--test", "wine.csv"), ("--pretrain", "m.safetensors"), ("--freeze",)],
    ids=lambda option: option[0],
)  # fmt: skip
def test_options_of_classifiers_are_not_for_autoencoders(call, folder, option):
    done = fitted(call, folder, "wine.csv", "--label", "kind", *option, rc=2)
    assert done.names(option[0], "--classify")


def test_many_whole_numbers_are_warned_of(call, folder):
    done = call(
        "fit", "numbers.csv", "--classify", "--label", "magnesium", *QUICK, "-o", "w.safetensors",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.names("magnesium", 53, 70, 162)


# Few labels


@pytest.mark.parametrize("of", ["wine.csv", "unlabelled.csv", "wine"])
def test_an_autoencoder_comes_first(call, folder, of):
    """Of a table with the label or without it, or of a data set without names."""
    frame = table()
    frame.drop(columns="kind").to_csv(folder / "unlabelled.csv", index=False)
    few = pd.concat([frame[frame.kind == kind][:8] for kind in KINDS])
    few.to_csv(folder / "few.csv", index=False)
    label = ("--label", "kind") if of == "wine.csv" else ()
    line = ("fit", of, *label, "--hidden", "6", "--max-iter", "30", "--force", "-q")
    assert call(*line, "-o", "encoder.safetensors", cwd=folder).returncode == 0
    encoder = lrnn.load(folder / "encoder.safetensors")
    more = ("--classify", "--label", "kind", "--pretrain", "encoder.safetensors")
    model = fitted(call, folder, "few.csv", *more, "--freeze", "--hidden", "0")
    assert model.weights_.sizes == (13, 6, 3)
    np.testing.assert_array_equal(model.weights_.excitatory[0], encoder.encoders_[0])
    assert model.scaling_.kind == encoder.scaling_.kind
    X = load_wine().data
    given = frame if of != "wine" else frame.drop(columns="kind").assign(kind=frame.kind)
    np.testing.assert_allclose(model.transform(given), encoder.transform(X), rtol=1e-6)
    assert (model.predict(given) == frame.kind).mean() > 0.6
    behind = fitted(call, folder, "few.csv", *more, *QUICK)
    assert behind.weights_.sizes == (13, 6, 8, 3)
    done = fitted(call, folder, "few.csv", *more, "--scale", "max", rc=2)
    assert done.names("--scale")


# Checkpoints


def test_a_training_that_was_killed_goes_on(call, folder, monkeypatch):
    line = (*FIT, *QUICK, "-o", "killed.safetensors")
    with monkeypatch.context() as patch:
        kill_after(patch, 3)
        assert call(*line, "--checkpoint", "0", cwd=folder).returncode == 1
    checkpoint = folder / "killed.safetensors.checkpoint"
    assert checkpoint.exists()
    done = call(*line, cwd=folder)
    assert done.names("killed.safetensors.checkpoint", "--resume")
    frame = table()
    frame.loc[0, "kind"] = "barbera"
    frame.to_csv(folder / "relabelled.csv", index=False)
    other = call("fit", "relabelled.csv", *line[2:], "--resume", cwd=folder)
    assert (other.returncode, other.names(checkpoint.name, "labels")) == (1, True)
    assert call(*line, "--resume", cwd=folder).returncode == 0
    assert not checkpoint.exists()
    again, whole = (lrnn.load(folder / f"{n}.safetensors") for n in ("killed", "m"))
    for ours, theirs in zip(again.weights_.layers, whole.weights_.layers, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(again.history_[0].errors, whole.history_[0].errors)


def test_ctrl_c_keeps_the_best_weights_and_says_how_to_go_on(call, folder, monkeypatch):
    real, left = checkpoints.Labels.targets, iter(range(15))

    def pressed(self, rows):
        if next(left, None) is None and not isinstance(rows, slice):
            raise KeyboardInterrupt
        return real(self, rows)

    line = (*FIT, *QUICK, "-o", "stopped.safetensors")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Labels, "targets", pressed)
        done = call(*line, cwd=folder)
    assert done.names("--resume")
    assert lrnn.load(folder / "stopped.safetensors").history_[-1].stopped == "interrupted"
    assert call(*line, "--resume", cwd=folder).returncode == 0
    again, whole = (lrnn.load(folder / f"{n}.safetensors") for n in ("stopped", "m"))
    np.testing.assert_array_equal(again.weights_.excitatory[0], whole.weights_.excitatory[0])


# Other commands


def test_codes_are_the_last_hidden_layer(call, folder):
    done = call("encode", "m.safetensors", "wine.csv", "-o", "codes.csv", "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    codes = pd.read_csv(folder / "codes.csv")
    assert (codes.kind == table().kind).all()
    expected = lrnn.load(folder / "m.safetensors").transform(table())
    np.testing.assert_allclose(codes.drop(columns="kind"), expected, rtol=1e-12)


def test_what_needs_an_autoencoder_says_so(call, folder):
    done = call("reconstruct", "m.safetensors", "wine.csv", "-o", "back.csv", cwd=folder)
    assert done.returncode == 1
    assert done.names("m.safetensors", "lrnn classify m.safetensors")
    done = call("encode", "m.safetensors", "wine.csv", "--refine", "1", cwd=folder)
    assert done.returncode == 2
    assert done.names("--refine", "m.safetensors")


def test_inspect(call, folder):
    model = lrnn.load(folder / "m.safetensors")
    done = call("inspect", "m.safetensors", cwd=folder)
    assert done.shows("m.safetensors", "26 → 8 → 3", "minmax", "1 − x", *KINDS)
    document = json.loads(call("inspect", "m.safetensors", "--json", cwd=folder).stdout)
    assert (document["layers"], document["classes"]) == ([26, 8, 3], sorted(KINDS))
    assert (document["valid"], document["loss"]) == (True, model.loss_)


def test_spikes_tell_the_class(call, tmp_path):
    X, y = load_digits(return_X_y=True)
    model = LRNNClassifier(12, max_iter=15, spike_penalty=0.2, scale="levels", random_state=0)
    model.fit(X, y).save(tmp_path / "m.safetensors")
    line = ("simulate", "m.safetensors", "digits", "--row", "4", "--events", "3e5")
    done = call(*line, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    p = model.predict_proba(X[3:4])[0]
    assert found["class_by_numbers"] == p.argmax() == found["class_by_spikes"]
    assert found["share_by_numbers"] == pytest.approx(p.max())
    assert found["share_by_spikes"] == pytest.approx(p.max(), abs=0.1)
    assert found["layers"] == ["input", "hidden", "output"]
    assert (tmp_path / "m-row4.png").exists()
    done = call(*line, "--no-figure", cwd=tmp_path)
    assert done.shows(f"class {p.argmax()}", f"{p.max():.3f}", f"{found['output_spikes']:,}")
    arrivals = model.arrivals(X[3:4])[0]
    run = model.to_network().simulate(arrivals, events=300_000, random_state=0)
    count = int(run.firing_counts[..., -10:].sum())
    assert found["output_spikes"] == count
    done = call(*line, "--part", "encoder", "--no-figure", cwd=tmp_path)
    assert done.names("--part", "m.safetensors")


def test_a_sparse_matrix_has_no_column_of_labels(call, folder):
    done = call("classify", "m.safetensors", "sparse.npz", "--label", "14", cwd=folder)
    assert done.returncode == 2
    assert done.names("--label", "sparse.npz")


def test_export(call, folder):
    pytest.importorskip("onnx", reason="onnx is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    done = call("export", "m.safetensors", "--scaling", "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not done.shows("scaled")
    remembered = lrnn.load(folder / "m.safetensors")
    with pytest.raises(ValueError, match="2D"):
        remembered.predict(load_wine().data[0])
    with pytest.raises(ValueError, match=r"\bX\b"):
        remembered.decide(table().iloc[:0])
    session = onnxruntime.InferenceSession(folder / "m.onnx", providers=["CPUExecutionProvider"])
    label, found = session.run(["label", "probabilities"], {"data": load_wine().data})
    model = lrnn.load(folder / "m.safetensors")
    np.testing.assert_allclose(found, model.predict_proba(table()), atol=1e-9)
    np.testing.assert_array_equal(label, model.predict(table()))
    done = call("export", "m.safetensors", "-o", "scaled.onnx", "--force", cwd=folder)
    assert done.shows("scaled")


def test_a_moment_may_be_scaled_as_a_classifier_remembers(call, folder):
    line = ("moment", "wine.csv", "--like", "m.safetensors", "-o", "like.safetensors", "--force")
    done = call(*line, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert lrnn.load_moment(folder / "like.safetensors").scaling.kind == "minmax"


def test_a_model_of_an_encoder_is_left_as_it_was(call, folder):
    encoder = LRNNAutoencoder(5, random_state=0, scale="minmax").fit(load_wine().data)
    encoder.save(folder / "python.safetensors")
    before = (folder / "python.safetensors").read_bytes()
    more = ("--classify", "--label", "14", "--pretrain", "python.safetensors")
    model = fitted(call, folder, "numbers.npy", *more, *QUICK)
    assert model.weights_.sizes == (13, 5, 8, 3)
    rows = np.c_[load_wine().data, load_wine().target]
    assert model.score(rows, load_wine().target) > 0.5
    assert (folder / "python.safetensors").read_bytes() == before


def test_the_report_of_a_classifier(call, folder):
    done = call("report", "m.safetensors", "wine.csv", "-o", "page", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "page" / "index.html").read_text(encoding="utf-8")
    accuracy = json.loads((folder / "fit.json").read_text())["accuracy"]
    assert f"<dd>{accuracy:.4f}</dd>" in page
    assert json.loads(done.stdout)["valid"] is True
    LRNNAutoencoder(5, random_state=0).fit(load_wine().data / 2000).save(folder / "a.safetensors")
    line = ("report", "m.safetensors", "wine.csv", "-o", "page")
    done = call(*line, "--against", "a.safetensors", cwd=folder)
    assert done.names("a.safetensors")
    done = call(*line, "--frontier", "none", cwd=folder)
    assert (done.returncode, done.names("--frontier")) == (2, True)


def test_a_report_counts_labels_as_other_commands_do(call, folder):
    """Unknown ones are wrong, rows without one are left out, and both are told of."""
    frame = table()
    frame.loc[[3, 60], "kind"] = "moscato"
    frame.loc[8, "kind"] = None
    frame.to_csv(folder / "other.csv", index=False)
    line = ("m.safetensors", "other.csv", "--force")
    done = call("report", *line, "-o", "page", cwd=folder)
    assert done.returncode == 0, done.stderr
    other = call("classify", *line, "--json", cwd=folder)
    for found in (done, other):
        assert found.names("other.csv", 2, 177, "moscato", "row 4")
        assert found.names("other.csv", 1, 178, 9)
    accuracy = json.loads(other.stdout)["accuracy"]
    page = (folder / "page" / "index.html").read_text(encoding="utf-8")
    assert f"<dd>{accuracy:.4f}</dd>" in page
    frame.assign(kind="moscato").to_csv(folder / "other.csv", index=False)
    done = call("report", *line, "-o", "none", cwd=folder)
    assert done.returncode == 1
    assert done.names("other.csv", "moscato", "row 1")
    assert not (folder / "none").exists()
