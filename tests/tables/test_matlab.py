"""MATLAB files are read in a process of their own: a damaged one crashes no other."""

import json
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from scipy import sparse
from scipy.io import loadmat, savemat

from lrnn.datasets import Reading, read
from lrnn.tables.matlab import _hand_over, _load, read_variables
from naming import naming

EXAMPLES = sorted((Path(scipy.io.__file__).parent / "matlab/tests/data").glob("*.mat"))


def leaves(name, value):
    """Numbers and texts of a variable, by their path; of cells no more than how many there are."""
    if not sparse.issparse(value) and value.dtype.names and value.size == 1:
        for field in value.dtype.names:
            yield from leaves(f"{name}/{field}", np.asarray(value[field].flat[0]))
    else:
        yield name, np.full(value.shape, b"object") if value.dtype.hasobject else value


@pytest.mark.skipif(not EXAMPLES, reason="this SciPy comes without its test data")
def test_scipys_own_examples_are_handed_over_as_they_are(tmp_path):
    readable = 0
    for path in EXAMPLES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                content = loadmat(path, mat_dtype=True, spmatrix=False)
            except Exception:
                continue
            folder = tmp_path / path.stem
            folder.mkdir()
            _hand_over(path, folder)
        names = json.loads((folder / "names.json").read_text())
        arrays = {name: _load(folder / file) for name, file in names.items()}
        expected = dict(
            pair
            for name, value in content.items()
            if not name.startswith("__")
            for pair in leaves(name, value if sparse.issparse(value) else np.asarray(value))
        )
        assert list(arrays) == list(expected)
        for name, array in arrays.items():
            if sparse.issparse(array):
                assert array.dtype == np.float64
                assert (array != expected[name].real).nnz == 0
            else:
                assert array.dtype == expected[name].dtype
                np.testing.assert_array_equal(array, expected[name])
        readable += 1
    assert readable > 90


def example(path, compressed=False):
    variables = {
        "numbers": np.random.default_rng(0).random((300, 40)), "short": np.arange(4, dtype="u1"),
        "sparse": sparse.random(30, 40, 0.1, rng=0).tocsc(), "complex": np.ones(3) * 1j,
        "cells": np.array(["x", np.ones(3)], dtype=object), "none": np.zeros((0, 3)),
        "structure": {"field": 1, "inner": {"deep": np.ones((2, 2))}}, "text": "hello",
    }  # fmt: skip
    savemat(path, variables, do_compression=compressed)


@pytest.mark.parametrize("compressed", [False, True])
def test_all_that_a_file_can_hold(tmp_path, compressed):
    path = tmp_path / "x.mat"
    example(path, compressed)
    imaginary = pytest.warns(UserWarning, match=naming("x.mat", "imaginary"))
    with imaginary:
        arrays = read_variables(path)
    assert {name: array.shape for name, array in arrays.items()} == {
        "numbers": (300, 40), "short": (1, 4), "sparse": (30, 40), "complex": (1, 3),
        "cells": (1, 2), "none": (0, 3), "structure/field": (1, 1),
        "structure/inner/deep": (2, 2), "text": (1,),
    }  # fmt: skip
    assert sparse.issparse(arrays["sparse"])
    with imaginary:
        found = read(path, Reading(key="numbers")).data
    np.testing.assert_array_equal(found, np.random.default_rng(0).random((300, 40)))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.mat"]


def test_names_that_are_not_utf8_and_other_folders(tmp_path, monkeypatch):
    (tmp_path / "b\udcff").mkdir()
    savemat(tmp_path / "b\udcff" / "\udce4.mat", {"data": np.ones((2, 3))})
    monkeypatch.chdir(tmp_path)
    assert read(Path("b\udcff") / "\udce4.mat").data.shape == (2, 3)


def test_what_scipy_warns_of_is_warned_of(tmp_path):
    path = tmp_path / "x.mat"
    savemat(path, {"data": np.ones((2, 3))})
    once = path.read_bytes()
    path.write_bytes(once + once[128:])
    with pytest.warns(UserWarning, match=naming("x.mat", "Duplicate variable", "data")):
        assert read(path).data.shape == (2, 3)


def test_a_matrix_that_needs_too_much_memory(tmp_path):
    path = tmp_path / "x.mat"
    content = struct.pack("<5i", 0, 2**27, 2**27, 0, 2) + b"x\0"  # of version 4
    path.write_bytes(content)
    with pytest.raises((MemoryError, ValueError), match=naming("x.mat")):
        read(path)


def changed(content, at, number):
    return content[:at] + struct.pack("<I", number) + content[at + 4 :]


@pytest.mark.parametrize("kind", [0, 8, 14, 19, 1000, 2**31, 2**32 - 1])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_type_of_numbers_that_is_none(tmp_path, kind, compressed):
    # SciPy looks it up in a table, far beyond its end, and crashes
    path = tmp_path / "x.mat"
    savemat(path, {"data": np.ones((20, 10))})
    content = path.read_bytes()
    at = content.rindex(struct.pack("<II", 9, 1600))  # the tag of 200 doubles
    content = changed(content, at, kind)
    if compressed:
        inner = zlib.compress(content[128:])
        content = content[:128] + struct.pack("<II", 15, len(inner)) + inner
    path.write_bytes(content)
    with pytest.raises(ValueError, match=naming("x.mat", "damaged")):
        read(path)


@pytest.mark.filterwarnings("ignore:.*imaginary")
def test_damage_gives_numbers_or_one_error(tmp_path):
    path = tmp_path / "x.mat"
    example(path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for size in range(137, len(content), len(content) // 6):  # cut off
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=naming("x.mat", "damaged")):
            read(path, Reading(key="numbers"))
    refused = []
    for _ in range(12):  # a number of a tag, or of the content
        at = 128 + 4 * int(rng.integers((len(content) - 132) // 4))
        path.write_bytes(changed(content, at, int(rng.integers(2**32))))
        try:
            read(path, Reading(key="numbers"))
        except ValueError as error:
            refused.append(str(error))
    assert all("x.mat" in said for said in refused)
