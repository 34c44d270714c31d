"""MATLAB files are walked through before SciPy reads them."""

import struct
import warnings
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from scipy import sparse
from scipy.io import loadmat, savemat

from lrnn.datasets import read
from lrnn.tables.matlab import check_matlab
from naming import naming

EXAMPLES = sorted((Path(scipy.io.__file__).parent / "matlab/tests/data").glob("*.mat"))


@pytest.mark.skipif(not EXAMPLES, reason="this SciPy comes without its test data")
def test_whatever_scipy_reads_of_its_own_examples_is_let_through():
    readable = 0
    for path in EXAMPLES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loadmat(path)
        except Exception:
            continue
        check_matlab(path)
        readable += 1
    assert readable > 90


def example(path, compressed):
    variables = {
        "numbers": np.random.default_rng(0).random((300, 40)), "short": np.arange(4, dtype="u1"),
        "sparse": sparse.random(30, 40, 0.1, rng=0).tocsc(), "complex": np.ones(3) * 1j,
        "cells": np.array(["x", np.ones(3)], dtype=object), "none": np.zeros((0, 3)),
        "structure": {"field": 1, "inner": {"deep": np.ones((2, 2))}}, "text": "hello",
    }  # fmt: skip
    savemat(path, variables, do_compression=compressed)


@pytest.mark.parametrize("compressed", [False, True])
def test_all_that_a_file_can_hold(tmp_path, compressed):
    example(tmp_path / "x.mat", compressed)
    check_matlab(tmp_path / "x.mat")


def changed(content, at, number):
    return content[:at] + struct.pack("<I", number) + content[at + 4 :]


@pytest.mark.parametrize("kind", [0, 8, 14, 19, 1000, 2**31, 2**32 - 1])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_type_of_numbers_that_is_none(tmp_path, kind, compressed):
    # SciPy would look it up in a table, far beyond its end, and crash
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


@pytest.mark.parametrize("compressed", [False, True])
def test_no_damage_gets_beyond_it(tmp_path, compressed):
    path = tmp_path / "x.mat"
    example(path, compressed)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for size in range(137, len(whole), len(whole) // 50 + 1):  # cut off
        path.write_bytes(whole[:size])
        with pytest.raises((ValueError, zlib.error)):
            check_matlab(path)
    for _ in range(100):  # a number of a tag, or of the content
        at = 128 + 4 * int(rng.integers((len(whole) - 132) // 4))
        path.write_bytes(changed(whole, at, int(rng.integers(2**32))))
        try:
            check_matlab(path)
        except (ValueError, zlib.error):
            continue
        with suppress(ValueError, TypeError, KeyError):  # it may complain, in its own words
            loadmat(path, spmatrix=False)
