"""How a file is to be read: values that make sense, for formats that take them."""

import numpy as np
import pytest

from lrnn.datasets import Reading, open_table, read
from lrnn.tables.read import open_source
from naming import naming

FIELDS = "delimiter", "decimal", "encoding", "header", "na", "key", "resize", "grey"


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
    ("values", "told"),
    [
        ({"delimiter": ";;"}, ["delimiter", "';;'"]),
        ({"delimiter": ""}, ["delimiter", "''"]),
        ({"decimal": "·"}, ["decimal", "'·'", "'.'", "','"]),
        ({"decimal": ",", "delimiter": ","}, ["delimiter", "decimal", "','"]),
        ({"encoding": "utf-9"}, ["encoding", "'utf-9'", "latin-1"]),
        ({"encoding": "rot13"}, ["encoding", "'rot13'"]),
        ({"encoding": 8}, ["encoding", 8]),
        ({"na": "NA"}, ["na", "'NA'", "('NA', '?')"]),
        ({"na": [0]}, ["na", "(0,)"]),
        ({"key": ""}, ["key", "''"]),
        ({"resize": [28]}, ["resize", "(28,)"]),
        ({"resize": "28"}, ["resize", "'28'", "28x28"]),
        ({"resize": "0x28"}, ["resize", "(0, 28)"]),
        ({"resize": [0, 28]}, ["resize", "(0, 28)"]),
        ({"resize": [True, 28]}, ["resize", "(True, 28)"]),
        ({"grey": 1}, ["grey", 1, True, False]),
    ],
)
def test_values_that_make_no_sense(values, told):
    for make in (Reading.from_json, lambda v: Reading(**v)):
        with pytest.raises(ValueError, match=naming(*told)):
            make(values)


def test_what_is_stored_and_not_known():
    with pytest.raises(ValueError, match=naming("heading", *FIELDS)):
        Reading.from_json({"heading": 1})
    with pytest.raises(ValueError, match=naming("[1]")):
        Reading.from_json([1])


def test_an_option_of_another_format(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    np.save(tmp_path / "a.npy", np.eye(2))
    formats = ".npz", ".mat", ".zarr", ".h5", ".hdf5"
    with pytest.raises(ValueError, match=naming("key", *formats, "a.csv")):
        read(tmp_path / "a.csv", Reading(key="X"))
    for opened in (read, open_source, lambda p, r: open_table(p, True, r)):
        with pytest.raises(ValueError, match=naming("resize", "images", "a.npy")):
            opened(tmp_path / "a.npy", Reading(resize=(2, 2)))
    with pytest.raises(ValueError, match=naming("decimal", ".csv", ".tsv", tmp_path)):
        read(tmp_path, Reading(decimal=","))
    with pytest.raises(ValueError, match=naming("grey", "digits")):
        open_table("digits", reading=Reading(grey=True))
