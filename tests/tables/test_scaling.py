"""Scaling to [0, 1], remembered and undone."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lrnn import LRNNAutoencoder
from lrnn.tables.reading import Reading
from lrnn.tables.scaling import KINDS, Scaling
from lrnn.tables.sources import ArraySource, Blocks, Source
from naming import naming

pytestmark = pytest.mark.filterwarnings("ignore::lrnn.tables.messages.TableWarning")

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.floats(0, 1e6, width=32),
)


@given(tables, st.sampled_from(["max", "minmax"]))
def test_scaled_data_are_in_range_and_come_back(data, kind):
    scaling = Scaling.fit(data, kind)
    scaled = scaling.apply(data)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    np.testing.assert_allclose(scaling.revert(scaled), data, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*255")  # which leaves nearly nothing of low numbers
@given(tables, st.sampled_from(KINDS))
def test_a_file_remembers_it_exactly(data, kind):
    data = data.clip(max=255) if kind == "levels" else data
    scaling = Scaling.fit(data, kind)
    again = Scaling.from_json(json.loads(json.dumps(scaling.to_json())))
    assert again.kind == scaling.kind
    np.testing.assert_array_equal(again.apply(data), scaling.apply(data))


def test_what_each_kind_does():
    data = np.array([[2.0, 7.0, 0.0], [4.0, 7.0, 0.0]])
    assert Scaling.fit(data, "minmax").apply(data).tolist() == [[0, 0, 0], [1, 0, 0]]
    assert Scaling.fit(data, "max").apply(data).tolist() == [[0.5, 1, 0], [1, 1, 0]]
    assert Scaling.fit(data, "levels").apply(np.array([[0, 255]])).tolist() == [[0, 1]]
    levels = np.array([[3, 255]], dtype=np.uint8)
    assert Scaling.fit(data, "none").apply(levels) is levels
    new = np.array([[1.0, 8.0, -3.0]])  # beyond what was seen
    assert Scaling.fit(data, "minmax").apply(new).tolist() == [[0, 0, 0]]


@pytest.mark.filterwarnings("ignore:.*255")  # which leaves nearly nothing of low numbers
@given(tables, st.sampled_from(KINDS))
def test_a_source_is_scaled_as_it_is_read(data, kind):
    data = data.clip(max=255)
    source = ArraySource(data)
    scaling = Scaling.fit(source, kind)
    scaled, expected = scaling.apply(source), Scaling.fit(data, kind).apply(data)
    assert isinstance(scaled, Source)
    assert (scaled.shape, scaled.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(np.concatenate(list(scaled.blocks(0, 2))), expected)
    np.testing.assert_array_equal(scaled.take(np.array([-1, 0])), expected[[-1, 0]])


@pytest.mark.parametrize(
    "stored",
    [
        {"kind": "magic"},
        {"kind": "minmax"},
        {"kind": "minmax", "low": [0], "span": [-1]},
        {"kind": "minmax", "low": [0, 1], "span": [1]},
        {"kind": "max", "low": ["a"], "span": [1]},
        {"kind": "max", "low": [0], "span": [float("nan")]},
        {"divide by": 16},
        7,
    ],
)
def test_a_foreign_scaling_is_refused(stored):
    with pytest.raises(ValueError, match=naming("scaling", stored)):
        Scaling.from_json(stored)


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match=naming("auto", *KINDS, "'log'")):
        Scaling.fit(np.ones((2, 2)), "log")
    with pytest.raises(ValueError, match=naming("scaling", 2, 3)):
        Scaling.fit(np.ones((2, 2)), "max").apply(np.ones((2, 3)))


def test_equal_scalings_are_equal_and_have_one_hash():
    frame = pd.DataFrame({"a": [1.0, 2.0, 5.0], "kind": ["x", "y", "x"]})
    data = frame[["a"]].to_numpy()
    made = [
        lambda: Scaling.fit(data, "minmax"),
        lambda: Scaling.fit(data, "max"),
        lambda: Scaling.fit(2 * data, "max"),
        lambda: Scaling.fit(frame, "minmax", categories="onehot"),
        lambda: Scaling.fit(frame, "minmax", categories="onehot", missing="allow"),
        lambda: Scaling.fit(frame[["a"]], "minmax"),
        lambda: Scaling("levels", 0.0, 255.0),
        lambda: Scaling("levels", 0.0, 16.0),
        lambda: Scaling("none"),
        lambda: Scaling("none", reading=Reading(decimal=",")),
        lambda: Scaling("max", np.zeros(2), np.ones(2)),
        lambda: Scaling("max", np.zeros(3), np.ones(3)),
    ]
    for i, one in enumerate(made):
        for j, other in enumerate(made):
            assert (one() == other()) is (i == j)
        assert hash(one()) == hash(one())
        again = Scaling.from_json(json.loads(json.dumps(one().to_json())))
        assert again == one()
        assert hash(again) == hash(one())
    assert Scaling("none") != "none"
    assert Scaling("max", -0.0) == Scaling("max", 0.0)
    assert hash(Scaling("max", -0.0)) == hash(Scaling("max", 0.0))
    assert len({one() for one in made + made}) == len(made)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, "UInt8"])
def test_levels_in_a_frame_are_taken_as_they_are(kind):
    """As those in an array; where columns are chosen, divided by the level that is 1."""
    white = 65_535 if kind is np.uint16 else 255
    frame = pd.DataFrame({"a": [0, white, 7], "b": [3, 2, 1], "y": [1, 0, 1]}).astype(kind)
    assert Scaling.fit(frame, "auto").kind == "none"
    chosen = Scaling.fit(frame, "auto", label="y")
    assert (chosen.kind, chosen.span) == ("levels", white)
    np.testing.assert_allclose(chosen.apply(frame)[:, 0], [0, 1, 7 / white])
    assert Scaling.fit(frame[["y", "b"]].clip(upper=1), "auto", label="y").kind == "none"
    assert Scaling.fit(frame.assign(b=[0.5, 20.0, 3.0]), "auto").kind == "minmax"


@pytest.mark.parametrize("names", ["xyz", "abz"])
def test_frames_of_other_columns_are_refused(rng, names):
    """By position they would be scaled by the ranges of others; numbers are no names."""
    cells = rng.random((20, 3)) * [1, 10, 100]
    frame = pd.DataFrame(cells, columns=list("abc"))
    scaling = Scaling.fit(frame, "max")
    other = frame.set_axis(list(names), axis=1)
    lacking = min(set("abc") - set(names))
    for apply in (scaling.apply, LRNNAutoencoder(2, scale=scaling, max_iter=2).fit):
        with pytest.raises(ValueError, match=naming("X", f"'{lacking}'")):
            apply(other)
    blocks = scaling.apply(Blocks(lambda: iter([frame]))).blocks(0, 20)
    for same in (scaling.apply(frame), scaling.apply(pd.DataFrame(cells)), next(blocks)):
        np.testing.assert_array_equal(same, scaling.apply(cells))
    with pytest.raises(ValueError, match=naming("X", f"'{lacking}'")):
        scaling.apply(Blocks(lambda: iter([other])))
    numbered = Scaling.fit(pd.DataFrame(cells), "max")
    np.testing.assert_array_equal(numbered.apply(frame), scaling.apply(cells))


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 4.0], [3.0, 7.0]],
        np.array([[1, 4], [3, 7]], dtype=object),
        lambda: iter([np.array([[1.0, 4.0]]), np.array([[3.0, 7.0]])]),
        "k.csv",
        "k.npy",
    ],
    ids=["list", "objects", "blocks", "text file", "array on disk"],
)
def test_a_scaling_takes_what_a_model_takes(X, tmp_path, monkeypatch):
    rows = np.array([[1.0, 4.0], [3.0, 7.0]])
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("k.csv", index=False)
    np.save("k.npy", rows)
    found, expected = Scaling.fit(X, "minmax"), Scaling.fit(rows, "minmax")
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.span, expected.span)
    scaled = found.apply(X)
    if hasattr(scaled, "blocks"):
        scaled = np.concatenate(list(scaled.blocks(0, 1)))
    np.testing.assert_array_equal(scaled, [[0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("X", "named"),
    [
        (np.array([1.0, 2.0]), ("2D", "1D")),
        ([1.0, 2.0], ("2D", "1D")),
        (None, ("2D", "scalar")),
        (5, ("2D", "scalar")),
        (np.zeros((2, 2, 2)), ("3", "2")),
        ([["a", "b"]], ("row 0", "column 0", "'a'")),
        (np.array([["1", "b"]]), ("row 0", "column 1", "'b'")),
        ("none.csv", ("'none.csv'",)),
    ],
)
def test_a_scaling_refuses_what_is_no_table(X, named):
    how = Scaling.fit(np.array([[1.0, 4.0], [3.0, 7.0]]), "minmax")
    for work in (lambda: Scaling.fit(X, "minmax"), lambda: how.apply(X)):
        with pytest.raises((ValueError, FileNotFoundError), match=naming(*named)):
            work()
