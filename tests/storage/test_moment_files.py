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
from lrnn.storage.moment_files import FORMAT, MomentFileError, is_moment
from storage.test_model_files import forged, mutants, put, say

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
    ("change", "message"),
    [
        (put("gram", np.eye(4) - 0.1), "gram has numbers below 0"),
        (put("gram", np.full((4, 4), np.nan)), "gram has numbers that are not finite"),
        (put("gram", np.ones((4, 3))), r"have the shape \(4, 3\)"),
        (put("gram", np.ones((0, 0))), r"have the shape \(0, 0\)"),
        (put("gram", np.ones(4)), r"have the shape \(4,\)"),
        (put("gram", np.array(1.0)), "cannot read"),
        (put("gram", np.eye(4, dtype=np.float32)), "gram is no float64"),
        (put("gram", 100 * np.eye(4)), "squares would sum to more than the numbers"),
        (put("gram", SKEW), "not symmetric"),
        (put("column_sums", np.full(4, 13.0)), "numbers would sum to more than the rows weigh"),
        (put("column_sums", np.ones(3)), "column_sums is no float64"),
        (put("low", np.full(4, 2.0)), r"ranges are not within \[0, 1\]"),
        (put("high", np.full(4, np.inf)), "high has numbers that are not finite"),
        (lambda document, tensors: tensors.pop("high"), "only one end of its ranges"),
        (lambda document, tensors: tensors.pop("gram"), "'gram'"),
        (say("moment", FORMAT + 1), f"format {FORMAT + 1}.*Update lrnn"),
        (say("moment", True), "format version is True"),
        (say("weight", -1), "its rows weigh -1"),
        (say("weight", float("nan")), "its rows weigh nan"),
        (say("weight", 1), "numbers would sum to more than the rows weigh"),
        (say("rows", -1), "it has -1 rows"),
        (say("rows", 1.5), r"it has 1\.5 rows"),
        (say("rows", 10**400), "it has 1000"),
        (say("rounding", "x"), "its rounding is 'x'"),
        (say("type", "object"), "data of the type 'object'"),
        (say("white", 7), "the level 7 is 1"),
        (say("white", True), "the level True is 1"),
        (say("names", ["only one"]), "feature names do not fit"),
        (say("names", "abcd"), "no list of names"),
        (say("scaling", "low", [0.0]), "scaling that makes no sense"),
        (say("scaling", 7), "scaling that makes no sense"),
        (lambda document, tensors: document.pop("white"), "'white'"),
    ],
)
def test_a_hostile_file_is_refused(original, scratch, change, message):
    with pytest.raises(MomentFileError, match=message):
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
    with pytest.raises(MomentFileError, match="as a moment"):
        load_bytes(content, scratch)
    assert not is_moment(scratch)


def test_models_and_moments_are_not_mixed_up(tmp_path):
    model, moment = tmp_path / "model.safetensors", tmp_path / "moment.safetensors"
    LRNNAutoencoder(2, max_iter=1).fit(X).save(model)
    Moment.of(X).save(moment)
    with pytest.raises(MomentFileError, match=r"it holds a model, which lrnn.load reads"):
        load_moment(model)
    with pytest.raises(ModelFileError, match=r"it holds a moment, which lrnn.load_moment reads"):
        lrnn.load(moment)
    assert not is_moment(model)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*missing"):
        load_moment(tmp_path / "missing")
    with pytest.raises(MomentFileError, match="is a folder, not a moment file"):
        load_moment(tmp_path)


def test_a_model_of_a_moment_remembers_that_its_error_is_a_bound(tmp_path):
    model = LRNNAutoencoder(2, max_iter=5).fit(Moment.of(X))
    model.save(tmp_path / "m.safetensors")
    assert lrnn.load(tmp_path / "m.safetensors").error_is_bound_
    model.fit(X).save(tmp_path / "m.safetensors")
    assert not lrnn.load(tmp_path / "m.safetensors").error_is_bound_
