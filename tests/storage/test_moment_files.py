"""Moment files: what is saved is found again, and nothing else is taken for a moment."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as to_bytes

import lrnn
from lrnn import LRNNAutoencoder, Moment, Scaling, load_moment
from lrnn.storage.model_files import ModelFileError
from lrnn.storage.moment_files import MomentFileError, is_moment
from lrnn.storage.schemas import FORMAT_OF_MOMENTS
from naming import naming
from storage.test_model_files import drop, forged, mutants, put, say

X = np.random.RandomState(0).uniform(size=(12, 4))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A moment file's bytes."""
    path = tmp_path_factory.mktemp("moment") / "moment.safetensors"
    Moment.of(pd.DataFrame(X, columns=list("abcd")), scale="minmax").save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "mutant.safetensors"


def load_bytes(content, path):
    path.write_bytes(content)
    return load_moment(path)


@pytest.mark.parametrize(
    "moment",
    [
        Moment.of(X),
        Moment.of(X.astype(np.float32), np.arange(12)),
        Moment.of(X) - Moment.of(X[:3]),
        Moment.of((X * 255).astype(np.uint8)),
        Moment.of(pd.DataFrame(X, columns=list("abcd")), scale=Scaling.fit(X, "max")) * 0.3,
        Moment.of(X) - Moment.of(X),
    ],
    ids=range(6),
)
def test_what_is_saved_is_found_again(tmp_path, moment):
    moment.save(tmp_path / "m.safetensors")
    found = load_moment(tmp_path / "m.safetensors")
    assert found == moment
    assert found.sums.rounding == moment.sums.rounding
    assert repr(found) == repr(moment)
    assert found + moment == moment + moment
    assert is_moment(tmp_path / "m.safetensors")
    assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]


@settings(max_examples=300)
@given(data=st.data())
def test_a_damaged_file_gives_one_clear_error_or_the_very_same_moment(data, original, scratch):
    mutant = data.draw(mutants(original))
    try:
        moment = load_bytes(mutant, scratch)
    except MomentFileError as error:
        assert str(scratch) in str(error)  # noqa: PT017
    else:
        assert moment == load_bytes(original, scratch)


SKEW = np.triu(np.full((4, 4), 0.5))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (put("gram", np.eye(4) - 0.1), ["gram"]),
        (put("gram", np.full((4, 4), np.nan)), ["gram"]),
        (put("gram", np.ones((4, 3))), ["gram", "(4, 3)"]),
        (put("gram", np.ones((0, 0))), ["gram", "(0, 0)"]),
        (put("gram", np.ones(4)), ["gram", "(4,)"]),
        (put("gram", np.array(1.0)), ["gram", "()"]),
        (put("gram", np.eye(4, dtype=np.float32)), ["gram", "float32"]),
        (put("gram", 100 * np.eye(4)), ["squares"]),
        (put("gram", SKEW), ["gram", "symmetric"]),
        (put("column_sums", np.full(4, 13.0)), ["sum", "weigh"]),
        (put("column_sums", np.ones(3)), ["column_sums", "(3,)"]),
        (put("low", np.full(4, 2.0)), ["low", 0, 1]),
        (lambda _, tensors: tensors.update(low=np.ones(4), high=np.zeros(4)), ["low", "high"]),
        (put("high", np.full(4, np.inf)), ["high"]),
        (drop("high"), ["low", "high"]),
        (drop("gram"), ["gram"]),
        (say("moment", FORMAT_OF_MOMENTS + 1), [FORMAT_OF_MOMENTS + 1, lrnn.__version__]),
        (say("moment", True), ["format", "True"]),
        (say("weight", -1), ["weight", -1]),
        (say("weight", float("nan")), ["weight", "nan"]),
        (say("weight", 1), ["sum", "weigh"]),
        (say("rows", -1), ["rows", -1]),
        (say("rows", 1.5), ["rows", 1.5]),
        (say("rows", 10**400), ["rows"]),
        (say("rounding", "x"), ["rounding", "'x'"]),
        (say("type", "object"), ["type", "'object'"]),
        (say("white", 7), ["white", 7]),
        (say("white", True), ["white", "True"]),
        (say("names", ["only one"]), ["names", 1, 4]),
        (say("names", "abcd"), ["names", "'abcd'"]),
        (say("scaling", "low", [0.0]), ["scaling"]),
        (say("scaling", 7), ["scaling", 7]),
        (lambda document, tensors: document.pop("white"), ["white"]),
    ],
)
def test_a_hostile_file_is_refused(original, scratch, change, named):
    with pytest.raises(MomentFileError, match=naming(scratch, *named)):
        load_bytes(forged(original, change), scratch)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"just some text, renamed",
        to_bytes({"gram": np.ones((3, 3))}),
        to_bytes({"gram": np.ones((3, 3))}, {"lrnn": "[" * 100_000, "sha256": ""}),
        to_bytes({"gram": np.ones((3, 3))}, {"lrnn": "{}", "sha256": ""}),
    ],
    ids=range(5),
)
def test_a_foreign_file_is_refused(scratch, content):
    with pytest.raises(MomentFileError, match=naming(scratch)):
        load_bytes(content, scratch)
    assert not is_moment(scratch)


def test_models_and_moments_are_not_mixed_up(tmp_path):
    model, moment = tmp_path / "model.safetensors", tmp_path / "moment.safetensors"
    LRNNAutoencoder(2, max_iter=1).fit(X).save(model)
    Moment.of(X).save(moment)
    with pytest.raises(MomentFileError, match=naming(model, "lrnn.load")):
        load_moment(model)
    with pytest.raises(ModelFileError, match=naming(moment, "lrnn.load_moment")):
        lrnn.load(moment)
    assert not is_moment(model)
    with pytest.raises(FileNotFoundError, match=naming(tmp_path / "missing")):
        load_moment(tmp_path / "missing")
    with pytest.raises(MomentFileError, match=naming(tmp_path, "folder")):
        load_moment(tmp_path)


def test_a_model_of_a_moment_remembers_that_its_error_is_a_bound(tmp_path):
    model = LRNNAutoencoder(2, max_iter=5).fit(Moment.of(X))
    model.save(tmp_path / "m.safetensors")
    assert lrnn.load(tmp_path / "m.safetensors").error_is_bound_
    model.fit(X).save(tmp_path / "m.safetensors")
    assert not lrnn.load(tmp_path / "m.safetensors").error_is_bound_
