"""How a file is to be read: values that make sense, for formats that take them."""

import numpy as np
import pytest

from lrnn.datasets import Reading, open_table, read
from lrnn.tables.read import open_source


def test_only_what_was_given_is_stored():
    assert Reading().to_json() == {}
    given = Reading(decimal=",", na=("NA", "?"), resize=(4, 5), grey=True)
    stored = given.to_json()
    assert stored == {"decimal": ",", "na": ["NA", "?"], "resize": [4, 5], "grey": True}
    assert Reading.from_json(stored) == given
    assert Reading.from_json(None) == Reading()
    assert Reading(delimiter="tab").to_json() == {"delimiter": "\t"}
    assert Reading(resize="28x30") == Reading(resize=(28, 30))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"delimiter": ";;"}, "delimiter is ';;', but should be one character"),
        ({"delimiter": ""}, "delimiter is '', but should be one character"),
        ({"decimal": "·"}, r"decimal is '·', but should be '\.' or ','"),
        ({"decimal": ",", "delimiter": ","}, "delimiter and decimal are both ','"),
        ({"encoding": "utf-9"}, "encoding is 'utf-9', but Python knows no .* latin-1"),
        ({"encoding": "rot13"}, "encoding is 'rot13'"),
        ({"encoding": 8}, "encoding is 8"),
        ({"na": "NA"}, r"na is 'NA', but should be several texts, such as \('NA', '\?'\)"),
        ({"na": [0]}, r"na is \(0,\)"),
        ({"key": ""}, "key is '', but should be the name of an array"),
        ({"resize": [28]}, r"resize is \(28,\), but should be a width and a height"),
        ({"resize": "28"}, "resize is '28', but should be .* such as 28x28"),
        ({"resize": "0x28"}, r"resize is \(0, 28\)"),
        ({"resize": [0, 28]}, r"resize is \(0, 28\)"),
        ({"resize": [True, 28]}, r"resize is \(True, 28\)"),
        ({"grey": 1}, "grey is 1, but should be True or False"),
    ],
)
def test_values_that_make_no_sense(values, words):
    for make in (Reading.from_json, lambda v: Reading(**v)):
        with pytest.raises(ValueError, match=words):
            make(values)


def test_what_is_stored_and_not_known():
    with pytest.raises(ValueError, match="has 'heading', which is not one of delimiter, decimal"):
        Reading.from_json({"heading": 1})
    with pytest.raises(ValueError, match="should be named values"):
        Reading.from_json([1])


def test_an_option_of_another_format(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    np.save(tmp_path / "a.npy", np.eye(2))
    with pytest.raises(
        ValueError, match=r"'key' is for \.npz, \.mat, \.zarr, \.h5, \.hdf5, not for .*a\.csv"
    ):
        read(tmp_path / "a.csv", Reading(key="X"))
    for opened in (read, open_source, lambda p, r: open_table(p, True, r)):
        with pytest.raises(ValueError, match=r"'resize' is for folders of images, not .*a\.npy"):
            opened(tmp_path / "a.npy", Reading(resize=(2, 2)))
    with pytest.raises(ValueError, match=r"'decimal' is for \.csv, \.tsv, not for"):
        read(tmp_path, Reading(decimal=","))
    with pytest.raises(ValueError, match="'grey' is for files, and 'digits' is a data set"):
        open_table("digits", reading=Reading(grey=True))
