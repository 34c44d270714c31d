"""Model files: what is saved is found again, and nothing else is taken for a model."""

import copy
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as to_bytes
from sklearn import config_context

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier
from lrnn.storage.codec import checksum
from lrnn.storage.model_files import ModelFileError
from lrnn.storage.schemas import FORMAT
from naming import naming


def small_model():
    data = np.random.RandomState(0).uniform(size=(12, 4))
    return LRNNAutoencoder((3, 2), max_iter=2, batch_size=4, random_state=1).fit(data)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A model file's bytes."""
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    small_model().save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "mutant.safetensors"


def assert_same(a, b):
    assert a.get_params() == b.get_params()
    for x, y in zip(a.encoders_ + a.decoders_, b.encoders_ + b.decoders_, strict=True):
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype
    assert (a.n_iter_, a.reconstruction_err_, a.spike_cost_) == (
        b.n_iter_,
        b.reconstruction_err_,
        b.spike_cost_,
    )
    for x, y in zip(a.history_, b.history_, strict=True):
        for name in ("batch_errors", "iterations", "errors", "seconds"):
            np.testing.assert_array_equal(getattr(x, name), getattr(y, name))
        assert (x.layer, x.passes, x.stopped) == (y.layer, y.passes, y.stopped)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("parameters", [{}, {"rates": "unit"}, {"hidden_layer_sizes": 3}])
def test_what_is_saved_is_found_again(tmp_path, digits, dtype, parameters):
    frame = pd.DataFrame(digits[:100].astype(dtype), columns=[f"pixel{i}" for i in range(64)])
    parameters = {"hidden_layer_sizes": (8, 4), "max_iter": 2, "random_state": 0, **parameters}
    model = LRNNAutoencoder(**parameters, scale="minmax").fit(frame)
    model.save(tmp_path / "a.safetensors")
    found = lrnn.load(tmp_path / "a.safetensors")
    assert_same(model, found)
    np.testing.assert_array_equal(found.transform(frame), model.transform(frame))
    assert list(found.feature_names_in_) == list(frame.columns)
    assert found.scaling_.to_json() == model.scaling_.to_json()
    found.save(tmp_path / "b.safetensors")
    again = lrnn.load(tmp_path / "b.safetensors").scaling_
    assert again.to_json() == model.scaling_.to_json()
    found.set_params(scale=again)
    free = parameters.get("rates") != "unit"
    with pytest.warns(UserWarning, match="second moment") if free else nullcontext():
        found.partial_fit(frame)  # it can go on learning
    assert found.n_iter_ == model.n_iter_ + 1


def test_the_file_speaks_for_itself(original, tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(original)
    with safe_open(path, "numpy") as file:
        document = json.loads(file.metadata()["lrnn"])
        assert document["format"] == 1
        assert document["lrnn_version"] == lrnn.__version__
        assert file.get_tensor("encoder.0").shape == (4, 3)
        assert file.get_tensor("firing_rates.0").shape == (4,)


def test_a_generator_as_random_state_is_left_out(tmp_path, digits):
    model = LRNNAutoencoder(2, max_iter=1, random_state=np.random.RandomState(0)).fit(digits[:50])
    model.save(tmp_path / "m.safetensors")
    assert lrnn.load(tmp_path / "m.safetensors").random_state is None


def test_numpy_parameters_are_saved_as_plain_numbers(tmp_path, digits):
    model = LRNNAutoencoder(np.array([3, 2]), max_iter=np.int64(1), tol=np.float32(0)).fit(
        digits[:50]
    )
    model.save(tmp_path / "m.safetensors")
    assert lrnn.load(tmp_path / "m.safetensors").hidden_layer_sizes == (3, 2)


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match=naming("fitted")):
        LRNNAutoencoder().save(tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_saving_obeys_the_umask_and_follows_links(tmp_path):
    target, link = tmp_path / "target.safetensors", tmp_path / "link.safetensors"
    link.symlink_to(target)
    small_model().save(link)
    assert link.is_symlink()
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask
    assert sorted(p.name for p in tmp_path.iterdir()) == [link.name, target.name]


def save_in_a_process(path, preparation):
    code = f"""
import os, resource, signal, sys
import numpy as np
from lrnn import LRNNAutoencoder, LRNNClassifier
data = np.random.RandomState(1).uniform(size=(50, 40))
model = LRNNAutoencoder(30, max_iter=1, random_state=0).fit(data)
{preparation}
model.save({str(path)!r})
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_a_full_disk_leaves_the_old_file(tmp_path, original):
    path = tmp_path / "model.safetensors"
    path.write_bytes(original)
    done = save_in_a_process(
        path,
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # the kernel refuses more",
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert path.read_bytes() == original
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_kill_while_writing_leaves_the_old_file(tmp_path, original):
    path = tmp_path / "model.safetensors"
    path.write_bytes(original)
    done = save_in_a_process(path, "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == original


def load_bytes(content, path):
    path.write_bytes(content)
    return lrnn.load(path)


@st.composite
def mutants(draw, content):
    """The bytes of a file, damaged in one to three places."""
    damaged = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(damaged) - 1, 0)))
        length = draw(st.integers(1, 64))
        kind = draw(st.sampled_from(["flip", "overwrite", "insert", "delete", "cut", "copy"]))
        if kind == "flip" and damaged:
            damaged[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "overwrite":
            damaged[at : at + length] = draw(st.binary(min_size=length, max_size=length))
        elif kind == "insert":
            damaged[at:at] = draw(st.binary(min_size=1, max_size=length))
        elif kind == "delete":
            del damaged[at : at + length]
        elif kind == "cut":
            del damaged[at:]
        else:
            damaged[at:at] = damaged[at : at + length]
    return bytes(damaged)


@settings(max_examples=1000)
@given(data=st.data())
def test_a_damaged_file_gives_one_clear_error_or_the_very_same_model(data, original, scratch):
    mutant = data.draw(mutants(original))
    try:
        model = load_bytes(mutant, scratch)
    except ModelFileError as error:
        assert str(scratch) in str(error)  # noqa: PT017
    else:
        assert_same(model, load_bytes(original, scratch))  # e.g. a space more in the header


def forged(original, change):
    """A file with a right checksum but other content."""
    tensors = {name: array.copy() for name, array in read_tensors(original).items()}
    header = json.loads(original[8 : 8 + int.from_bytes(original[:8], "little")])
    document = json.loads(header["__metadata__"]["lrnn"])
    change(document, tensors)
    text = json.dumps(document)
    return to_bytes(tensors, {"lrnn": text, "sha256": checksum(text, tensors)})


def put(name, value):
    def change(document, tensors):
        tensors[name] = value

    return change


def say(*path_and_value):
    *path, key, value = path_and_value

    def change(document, tensors):
        part = document
        for step in path:
            part = part[step]
        part[key] = value

    return change


def drop(name):
    return lambda document, tensors: tensors.pop(name)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (put("encoder.0", -np.ones((4, 3))), ["encoder.0"]),
        (put("encoder.0", np.full((4, 3), np.nan)), ["encoder.0"]),
        (put("encoder.0", np.ones((4, 5))), ["(4, 5)"]),
        (put("encoder.0", np.ones(4)), ["encoder.0", "(4,)"]),
        (put("encoder.0", np.ones((4, 3), dtype=np.int64)), ["encoder.0", "int64"]),
        (put("encoder.0", np.ones((4, 3), dtype=np.float32)), ["weights"]),
        (put("encoder.2", np.ones((2, 2))), [(4, 3, 2, 2, 3, 4)]),
        (put("encoder.3", np.ones((2, 2))), ["encoder"]),
        (put("encoder.0.x", np.ones((2, 2))), ["encoder.0.x"]),
        (put("n_iter", np.ones(2)), ["n_iter"]),
        (put("parameters.tol", np.ones(2)), ["parameters.tol"]),
        (put("parameters.evil", np.ones(2)), ["parameters"]),
        (put("firing_rates.0", np.ones(4)), ["firing_rates"]),
        (put("history.0.errors", np.ones((2, 2))), ["history.0.errors"]),
        (drop("decoder.0"), ["decoder"]),
        (drop("history.1.errors"), ["history.1.errors"]),
        (say("format", FORMAT + 1), ["format", FORMAT + 1, lrnn.__version__]),
        (say("format", "1"), ["format", "'1'"]),
        (say("format", 2), ["inhibitory_encoder"]),
        (say("format", 4), ["network"]),
        (say("parameters", "solver", "os.system"), ["solver"]),
        (say("parameters", "evil", 1), ["evil"]),
        (say("parameters", {"random_state": {"__reduce__": "x"}}), ["random_state"]),
        (say("parameters", "init", [[1]]), ["parameters.init"]),
        (say("history", 0, "stopped", "never"), ["history.0.stopped", "'never'"]),
        (say("feature_names", ["only one"]), ["names", 1, 4]),
        (say("feature_names", "abcd"), ["feature_names", "'abcd'"]),
        (say("reconstruction_err", float("nan")), ["reconstruction_err", "nan"]),
        (say("reconstruction_err", [1]), ["reconstruction_err", "[1]"]),
        (say("n_iter", "x"), ["n_iter", "'x'"]),
        (say("output", "os.system"), ["output", "'os.system'"]),
        (say("output", ["pandas"]), ["output", "['pandas']"]),
    ],
)
def test_a_hostile_file_is_refused(original, scratch, change, named):
    with pytest.raises(ModelFileError, match=naming(scratch, *named)):
        load_bytes(forged(original, change), scratch)


class Explosive:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 8,
        b"\xff" * 100,
        b"just some text, renamed",
        b"\x89PNG\r\n\x1a\n" + b"\x00" * 100,
        pickle.dumps(Explosive()),
        to_bytes({"weights": np.ones(3)}),
        to_bytes({"weights": np.ones(3)}, {"lrnn": "[" * 100_000, "sha256": ""}),
        to_bytes({"weights": np.ones(3)}, {"lrnn": "{}", "sha256": ""}),
        to_bytes({"weights": np.ones(3)}, {"lrnn": "1" * 10_000, "sha256": ""}),
    ],
    ids=range(10),
)
def test_a_foreign_file_is_refused_and_runs_no_code(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelFileError, match=naming(tmp_path / "model.safetensors")):
        load_bytes(content, tmp_path / "model.safetensors")
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


def test_no_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=naming(tmp_path / "missing")):
        lrnn.load(tmp_path / "missing")
    with pytest.raises(ModelFileError, match=naming(tmp_path, "folder")):
        lrnn.load(tmp_path)


def unit_rate_model(dtype):
    X = np.random.RandomState(0).uniform(size=(40, 5)).astype(dtype)
    return LRNNAutoencoder((4, 3), rates="unit", max_iter=3, random_state=0).fit(X), X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_sum_to_more_than_unit_rates_allow_are_refused(tmp_path, dtype):
    model, _ = unit_rate_model(dtype)
    path = tmp_path / "m.safetensors"
    model.save(path)
    content = path.read_bytes()
    for name in ("encoder.0", "decoder.1"):
        changed = forged(content, lambda _, tensors, name=name: tensors[name].__imul__(3))
        with pytest.raises(ModelFileError, match=naming("'unit'", 1)):
            load_bytes(changed, path)
    assert model.audit().valid


def test_the_audit_judges_what_transform_does():
    model, X = unit_rate_model(np.float64)
    model.weights_ = model.weights_.each(lambda weight: 3 * weight)
    report = model.audit(X)
    assert not report.valid
    assert report.largest_routed == report.largest_row_sum > 2.9
    with pytest.raises(ValueError, match=naming("unit", 1)):
        model.to_network()  # which would be another one


def test_a_moment_that_is_not_there_cannot_be_saved(digits, tmp_path):
    path, settings = tmp_path / "model.safetensors", {"max_iter": 3, "tol": 0, "random_state": 0}
    with pytest.raises(ValueError, match=naming("moment=True", "lrnn.Moment.of(X)")):
        LRNNAutoencoder(4, **settings).fit(digits).save(path, moment=True)
    kept = LRNNAutoencoder(4, moment="implicit", **settings).partial_fit(digits)
    with pytest.raises(ValueError, match=naming("moment=True", "moment='dense'")):
        kept.save(path, moment=True)
    assert not path.exists()
    dense = LRNNAutoencoder(4, moment="dense", **settings).partial_fit(digits)
    for model in (dense, LRNNAutoencoder(4, **settings).fit(lrnn.Moment.of(digits))):
        model.save(path, moment=True)
        assert lrnn.load(path).moment_.n_rows == len(digits)
    for moment in (None, False):
        LRNNAutoencoder(4, **settings).fit(digits).save(path, moment=moment)


def with_output(kind, output):
    X = pd.DataFrame(np.random.RandomState(0).uniform(size=(12, 4)), columns=list("abcd"))
    if kind == "autoencoder":
        return LRNNAutoencoder(2, max_iter=2, random_state=0).set_output(transform=output).fit(X), X
    model = LRNNClassifier(2, max_iter=20, random_state=0).set_output(transform=output)
    return model.fit(X, X["a"] > 0.5), X


@pytest.mark.parametrize("kind", ["autoencoder", "classifier"])
@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_codes_are_in_the_form_that_was_set_before_saving(kind, output, tmp_path):
    if output != "default":
        pytest.importorskip(output)
    model, X = with_output(kind, output)
    codes, path = model.transform(X), tmp_path / "m.safetensors"
    for again in (copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        again(model).save(path)
        found = lrnn.load(path).transform(X)
        assert type(found) is type(codes)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(codes))
    with config_context(transform_output="pandas"):
        assert type(lrnn.load(path).transform(X)) is type(codes)


def test_an_output_that_nobody_set_is_scikit_learns(tmp_path):
    path = tmp_path / "m.safetensors"
    with config_context(transform_output="pandas"):
        model, X = with_output("autoencoder", None)
        model.save(path)
        assert isinstance(lrnn.load(path).transform(X), pd.DataFrame)
    assert isinstance(lrnn.load(path).transform(X), np.ndarray)


@pytest.mark.parametrize("kind", ["autoencoder", "classifier"])
def test_codes_of_rows_on_workers_are_written_whatever_was_set(kind, tmp_path, dask_here):
    """Blocks go to the file as they come: a data frame is for `transform` alone."""
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    model, X = with_output(kind, "pandas")
    rows = da.from_array(X.to_numpy(), chunks=(6, 4))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        lrnn.streaming.encode(model, rows, tmp_path / "codes.npy")
    np.testing.assert_allclose(np.load(tmp_path / "codes.npy"), model.transform(X), rtol=1e-13)
