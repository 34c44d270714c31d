"""benchmarks/detection.py: how it divides rows, and what it tells of detectors."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module("detection")
    for name in set(sys.modules) - before:
        if name in ("detection", "common"):
            del sys.modules[name]


@pytest.fixture
def task(script):
    """Rows near a line, and a few that are far from it."""
    rng = np.random.default_rng(0)
    normal = rng.random((60, 1)) * [1.0, 20.0, 300.0] + rng.normal(size=(60, 3)) * 0.01
    strange = np.array([[0.1, 19.0, 150.0], [0.9, 1.0, 20.0], [3.0, 60.0, 10.0]])
    return script.Task("line", np.concatenate([strange, normal]), np.arange(63) < 3)


def test_half_of_the_normal_rows_are_learnt_and_all_others_judged(task):
    learnt, judged = task.halved(1)
    assert len(learnt) == 30
    assert not task.strange[learnt].any()
    assert np.array_equal(np.sort(np.concatenate([learnt, judged])), np.arange(63))
    assert not np.array_equal(learnt, task.halved(2)[0])


def test_a_tenth_of_mixed_rows_is_strange_at_most(task):
    numbers = task.mixed(0)
    assert task.strange[numbers].sum() == 3  # there are no more
    assert len(set(numbers)) == len(numbers) == 63
    task.strange[:20] = True
    assert task.strange[task.mixed(0)].sum() == round(43 / 9)


@pytest.mark.parametrize("unsupervised", [False, True])
def test_detectors_are_told_by_what_they_find(script, task, monkeypatch, unsupervised):
    monkeypatch.setattr(script, "find_spec", lambda name: None)  # those of scikit-learn are enough
    detectors = script.OURS | script.contenders()
    found = script.measured(task, 2, detectors, unsupervised=unsupervised)
    assert list(found) == list(detectors)
    for name, values in found.items():
        assert values.shape == (2, 2), name
        assert 0 <= values.min() <= values.max() <= 1, name
    assert min(found[name].min() for name in ("lrnn", "kNN")) > 0.95


def test_means_are_over_data_sets_and_deviations_over_divisions(script):
    row = script.told("mean", "kNN", np.array([[0.5, 0.25], [0.75, 0.25]]))
    assert (row["ROC-AUC"], row["average precision"], row["± of it"]) == (0.625, 0.25, 0)
    assert row["±"] == pytest.approx(0.125 * 2**0.5)
    assert script.told("mean", "kNN", np.array([[0.5, 0.25]]))["±"] is None


def test_ratios_are_to_lrnn_on_the_same_data(script):
    seconds = {"lrnn": 2.0, "kNN": 6.0}
    rows = [{"data": "a", "detector": name, "seconds": took} for name, took in seconds.items()]
    rows.append({"data": "b", "detector": "kNN", "seconds": 1.0, "note": "some"})
    found = script.with_ratios(rows)
    assert [row["times lrnn"] for row in found] == [1, 3, None]
    assert [row["note"] for row in found] == [None, None, "some"]
