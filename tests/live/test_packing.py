"""What a page is given: weights as text, rows, names; and how handwriting lies in images."""

import base64
import json
import re
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_wine

import lrnn
from lrnn import LRNNAutoencoder
from lrnn.live import LivePage, Scene, live_page, rows_of
from lrnn.live.drawing import frame_of
from lrnn.live.packing import as_packed, packed
from lrnn.live.page import SCRIPTS, script
from lrnn.network.weights import Weights
from naming import naming


def content_of(html):
    found = re.search('<script type="application/json" id="content">(.*?)</script>', html)
    return json.loads(found[1])


def numbers(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), dtype="<" + packed["type"])


@given(st.lists(st.floats(0, 1e300), min_size=4, max_size=4))
def test_weights_lose_bits_but_never_grow(values):
    """Rows that sum to at most 1 still do, and so do probabilities that are made of them."""
    weights = Weights.of([np.reshape(values, (2, 2)), np.eye(2)])
    assert as_packed(weights).encoders[0] is weights.encoders[0]  # of a small network all bits stay
    with mock.patch("lrnn.live.packing.SMALL", 0):
        short = as_packed(weights)
    assert (short.encoders[0] <= weights.encoders[0]).all()
    np.testing.assert_allclose(short.encoders[0], weights.encoders[0], rtol=2e-7)
    text = packed(short.encoders[0])
    np.testing.assert_array_equal(numbers(text), short.encoders[0].ravel())


def test_routing_probabilities_of_the_page_sum_to_at_most_1(digits):
    for settings in ({}, {"rates": "unit"}, {"inhibition": True, "fine_tune": 2}):
        model = LRNNAutoencoder(8, random_state=0, **settings).fit(digits[:200])
        found = content_of(live_page(Scene({"a": model}, digits[:1])))["models"][0]
        rates, leaves = numbers(found["rates"]), numbers(found["leaves"])
        first = 0
        for layer, (height, width) in enumerate(
            zip(found["sizes"], found["sizes"][1:], strict=False)
        ):
            own = rates[first : first + height]
            behind = rates[first + height : first + height + width]
            sent = np.zeros(height)
            for kind in ("plus", "minus"):
                if found[kind]:
                    weight = numbers(found[kind][layer]).astype(float).reshape(height, width)
                    sent += (weight * behind / own[:, None]).sum(axis=1)
            assert sent.max() <= 1 + 1e-12
            np.testing.assert_allclose(sent + leaves[first : first + height], 1, atol=1e-12)
            first += height


def test_a_page_of_mnist_s_size_is_below_3_mb(rng):
    X = rng.random((50, 784))
    model = LRNNAutoencoder(100, inhibition=True, fine_tune=1, max_iter=2, random_state=0).fit(X)
    assert len(live_page(Scene({"a": model}, X[:20], image_shape=(28, 28))).encode()) < 3e6


@pytest.mark.parametrize(
    "kind",
    [np.asarray, sparse.csr_array, lambda X: (255 * X).round().astype(np.uint8), pd.DataFrame],
)
def test_rows_of_any_kind(digits, kind):
    X = kind(digits[:60])
    if isinstance(X, pd.DataFrame):
        X.columns = [f"p{i}" for i in range(64)]
    model = LRNNAutoencoder(4, random_state=0).fit(X)
    np.testing.assert_allclose(rows_of(model, X, 7), digits[:7], atol=1 / 255)
    assert rows_of(model, X, 1000).shape == (60, 64)
    assert rows_of(model, None, 5).shape == (0, 64)


def test_missing_cells_are_filled_as_the_model_does(rng):
    X = rng.random((60, 6))
    X[::3, 2] = np.nan
    model = LRNNAutoencoder(3, missing="allow", random_state=0).fit(X)
    assert np.isfinite(rows_of(model, X, 10)).all()
    found = content_of(live_page(Scene({"a": model}, rows_of(model, X, 10))))
    assert np.isfinite(numbers(found["rows"])).all()


def test_no_row_is_in_it_unasked(digits):
    model = LRNNAutoencoder(4, random_state=0).fit(digits[:60])
    found = content_of(model.live().html)
    assert found["row_names"] == []
    assert found["rows"]["data"] == ""
    assert len(content_of(model.live(digits, rows=3).html)["row_names"]) == 3


def test_attributes_have_names_and_units():
    frame = load_wine(as_frame=True).data
    model = LRNNAutoencoder(5, scale="minmax", random_state=0).fit(frame)
    found = content_of(model.live(frame).html)
    assert [a["name"] for a in found["attributes"]] == list(frame.columns)
    np.testing.assert_allclose([a["low"] for a in found["attributes"]], frame.min())
    np.testing.assert_allclose([a["high"] for a in found["attributes"]], frame.max())


@pytest.mark.parametrize("planes", [True, False])
def test_images_in_colour(rng, planes):
    X = rng.random((20, 48))
    model = LRNNAutoencoder(3, random_state=0).fit(X)
    shape = (3, 4, 4) if planes else (4, 4, 3)
    found = content_of(model.live(X, shape=shape).html)
    assert found["shape"] == {"height": 4, "width": 4, "colours": 3, "planes": planes}
    assert found["frame"] is None


def test_models_for_other_attributes_are_refused(digits):
    model = LRNNAutoencoder(4, random_state=0).fit(digits[:60])
    other = LRNNAutoencoder(4, random_state=0).fit(digits[:60, :30])
    with pytest.raises(ValueError, match=naming("b", 30, "LRNNAutoencoder", 64)):
        model.live(digits, against={"b": other})
    other = LRNNAutoencoder(4, scale="max", random_state=0).fit(5 * digits[:60])
    with pytest.raises(ValueError, match=naming("b", "LRNNAutoencoder")):
        model.live(digits, against={"b": other})
    frame = pd.DataFrame(digits[:60, :3], columns=["one", "two", "three"])
    model = LRNNAutoencoder(1, random_state=0).fit(frame)
    other = LRNNAutoencoder(1, random_state=0).fit(frame[["one", "three", "two"]])
    with pytest.raises(ValueError, match=naming(2, "three", "two")):
        model.live(against={"b": other})


def test_rows_that_are_not_there_are_refused(digits):
    model = LRNNAutoencoder(4, random_state=0).fit(digits[:60])
    with pytest.raises(ValueError, match=naming("rows", -1)):
        model.live(digits, rows=-1)
    with pytest.raises(ValueError, match="shape"):
        model.live(digits, shape=(8, 9))


def test_a_page_is_written_whole_and_says_who_made_it(digits, tmp_path):
    page = LRNNAutoencoder(4, random_state=0).fit(digits[:60]).live()
    assert isinstance(page, LivePage)
    path = page.save(tmp_path / "live.html")
    assert path.read_text(encoding="utf-8") == page.html
    assert f'content="lrnn {lrnn.__version__}' in page.html
    assert repr(page) == "LivePage()"


def test_scripts_need_only_those_before_them():
    """They become one script, in which no name may stand for two things."""
    text = script()
    assert "import " not in re.sub(r"//.*", "", text)
    assert "</script" not in text
    names = re.findall(r"^(?:class|function\*?|const|let) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert len(SCRIPTS) == len(set(SCRIPTS))


def strokes(rng, size, box, count=30):
    """Crosses of strokes two pixels wide, anywhere, with their centres of mass in the middle."""
    images = np.zeros((count, size, size))
    half, middle = int(box * size) // 2, size // 2
    images[:, middle - half : middle + half, middle - 1 : middle + 1] = 0.8
    images[:, middle - 1 : middle + 1, middle - half // 2 : middle + half // 2] = 0.8
    return images.reshape(count, -1)


def test_how_handwriting_lies_in_images(rng):
    frame = frame_of(strokes(rng, 40, 0.7), (40, 40))
    assert frame["box"] == pytest.approx(0.7, abs=0.01)
    assert frame["width"] == pytest.approx(2, rel=0.15)
    assert frame["white"] == 0.8
    moved = np.roll(strokes(rng, 40, 0.4).reshape(-1, 40, 40), 7, axis=1).reshape(30, -1)
    assert frame_of(moved, (40, 40))["box"] == pytest.approx(0.4, abs=0.01)
    assert frame_of(np.zeros((3, 16)), (4, 4)) is None
    for brightness in (1, 1e-3):  # a photograph, of whatever brightness
        assert frame_of(brightness * rng.random((3, 16)), (4, 4)) is None
    assert frame_of(np.empty((0, 784)), (28, 28))["box"] == pytest.approx(20 / 28)


def test_what_lies_in_the_middle(rng):
    """Of an L the centre of mass is not that of its box."""
    image = np.zeros((20, 20))
    image[4:16, 4:6] = image[14:16, 4:16] = 1.0
    by_box = np.stack([image] * 5).reshape(5, -1)
    assert frame_of(by_box, (20, 20))["centre"] == "box"
    rows, columns = np.nonzero(image)
    off = [10 - round(rows.mean() + 0.5), 10 - round(columns.mean() + 0.5)]
    assert max(map(abs, off)) >= 2
    by_mass = np.roll(image, off, axis=(0, 1))
    assert frame_of(by_mass.reshape(1, -1), (20, 20))["centre"] == "mass"
