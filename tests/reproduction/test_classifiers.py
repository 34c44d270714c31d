"""Classifiers made of spikes beside others: what is compared, on which rows, and what is said."""

import csv

import numpy as np
import pytest
from sklearn.utils import Bunch

from naming import naming
from reproduction import classifiers as module
from reproduction import recognition as recognition_module
from reproduction.experiments import CLASSIFIERS, RECIPES, Task, chosen_tasks, recipe_for
from reproduction.report import write_reproduction
from reproduction.runner import run_tasks
from reproduction.summary import classifiers


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    tasks = chosen_tasks(["classifiers-iris"], quick=True)
    return run_tasks(tasks, tmp_path_factory.mktemp("classifiers"), lambda done, task: None)


def row(data, **scores):
    """A row of the table, with 0.5 where nothing is given."""
    found = {"data": data, "features": "attributes"}
    return found | {name: scores.get(name, 0.5) for name in CLASSIFIERS}


def test_all_data_with_labels_are_compared_small_ones_first():
    tasks = chosen_tasks(["classifiers"])
    assert {t.kind for t in tasks} == {"classifiers"}
    assert [t.subject for t in tasks][-2:] == ["mnist", "cifar10"]
    labelled = {t.subject for t in chosen_tasks(["all"]) if t.kind == "recognition"}
    assert len(tasks) == 18
    assert {t.subject for t in tasks} == labelled
    assert {t.data for t in tasks} == labelled
    assert not any(t.kind == "classifiers" for t in chosen_tasks(["all"]))
    one = chosen_tasks(["classifiers-wine"])
    assert [(t.kind, t.subject) for t in one] == [("classifiers", "wine")]
    with pytest.raises(ValueError, match=naming("classifiers-liver", "classifiers")):
        chosen_tasks(["classifiers-liver"])


def test_tables_have_one_recipe_and_images_another():
    assert recipe_for("wine") == RECIPES["tables"]
    assert recipe_for("yale") == recipe_for("cifar10") == RECIPES["images"]
    facts = Task("classifiers", "wine", False).facts()
    assert repr(RECIPES["tables"]) in facts["settings"]  # with another, it is run again
    made = {n: make() for n, make in module.contenders(Task("classifiers", "mnist", False)).items()}
    assert set(made) == set(CLASSIFIERS)
    assert made["perceptron"][-1].hidden_layer_sizes == (made["spikes"].hidden_layer_sizes,)
    free, priced = made["spikes"], made["spikes_priced"]
    assert (free.spike_penalty, priced.spike_penalty) == (0, RECIPES["images"].price)
    tables = module.contenders(Task("classifiers", "wine", False), "cpu")["spikes"]()
    assert (free.complement, tables.complement) == (False, True)
    assert (tables.device, tables.max_iter) == ("cpu", None)


def test_rows_are_scaled_by_those_that_are_learnt_from(monkeypatch):
    X = np.arange(50.0).reshape(25, 2) - 7
    y = np.arange(25) % 5
    bunch = Bunch(data=X, target=y)
    monkeypatch.setattr(recognition_module, "load", lambda name, scaled: bunch)
    parts = list(module._parts(Task("classifiers", "wine", False)))
    assert len(parts) == 5
    for X_seen, y_seen, X_new, y_new in parts:
        np.testing.assert_array_equal(X_seen.min(axis=0), 0)
        np.testing.assert_array_equal(X_seen.max(axis=0), 1)
        assert X_new.min() >= 0
        assert X_new.max() <= 1
        assert (len(y_seen), len(y_new)) == (20, 5)


def test_images_for_testing_are_those_that_come_last(monkeypatch, small_mnist):
    images, _ = small_mnist
    target = np.arange(len(images)) % 10
    monkeypatch.setattr(
        recognition_module, "load", lambda *_, **__: Bunch(data=images, target=target)
    )
    monkeypatch.setitem(recognition_module.TEST_ROWS, "mnist", 100)
    (found,) = module._parts(Task("classifiers", "mnist", False))
    np.testing.assert_array_equal(found.X_new, images[-100:] / np.float32(255))
    np.testing.assert_array_equal(found.y, target[:-100])


def test_every_classifier_is_scored_on_attributes_and_codes(finished, tmp_path):
    table = classifiers(finished)
    assert [r["features"] for r in table] == ["attributes", "codes"]
    for found in table:
        assert all(0.5 < found[name] <= 1 for name in ("linear", "5-NN", "spikes"))
        firings = [found[f"{name}_firings"] for name in ("spikes", "spikes_priced")]
        assert all(2 <= count < np.inf for count in firings)  # layers before the output: two
        assert "linear_firings" not in found
    page = write_reproduction(finished, tmp_path, "python -m reproduction classifiers-iris --quick")
    text = page.read_text(encoding="utf-8")
    assert "| Iris | attributes | " in text
    assert all(line in text for line in module.in_words(table))
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Classifiers", "## How this was made",
    ]  # fmt: skip
    with (tmp_path / "classifiers.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["spikes"]) == table[0]["spikes"]


def test_firings_and_accuracies_are_means_over_folds():
    found = module._score("raw", "spikes", [(0.5, 10.0), (0.7, 1000.0)])
    assert found["accuracy"] == pytest.approx(0.6)
    assert found["spread"] == pytest.approx(0.1)
    assert found["firings"] == pytest.approx(100)
    assert module._score("raw", "linear", [(0.5, None)])["firings"] is None
    assert module._score("raw", "linear", [(0.5, None)])["spread"] is None


def test_where_spikes_are_behind_is_said():
    rows = [row("A", spikes=0.6), row("B", spikes=0.49), row("C", perceptron=0.53)]
    *_, linear, perceptron = module.in_words(rows)
    assert "A (+10.0)" in linear
    assert "(−" not in linear  # B is behind by less than 2 points
    assert "C (−3.0)" in perceptron
