"""The paper's experiments: what is run, what is kept, and what is said of it."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from lrnn import LRNNAutoencoder, bounds
from lrnn.datasets import DATA_SETS
from naming import naming
from reproduction import recognition as recognition_module
from reproduction import runner as runner_module
from reproduction.experiments import FEATURES, LAYERWISE, MODEST, STRUCTURES, Task, chosen_tasks
from reproduction.figures import QUICK as QUICK_RUN
from reproduction.figures import course, figures
from reproduction.recognition import OnSomeRows, recognise, structures
from reproduction.report import ROWS, TABLES, shown, write_reproduction
from reproduction.runner import run_tasks
from reproduction.summary import audits, lowest_errors, mean, recognition, remark, spread
from reproduction.training import make, train

QUICK = {"seeds": 2, "quick": True}


def nobody(done, task):
    """Does not look at the progress."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    tasks = chosen_tasks(["iris", "wine"], **QUICK)
    return folder, tasks, run_tasks(tasks, folder, nobody)


@pytest.fixture(scope="module")
def deep():
    """Both printed algorithms and ours on a deep structure, and on its data the networks' codes."""
    X = np.random.default_rng(0).random((60, 1024)).astype(np.float32)
    results = []
    for method in ("printed", LAYERWISE, "lrnn"):
        task = Task("training", "yale-500-100-50", True, method, "free")
        result, _ = train(task, X)
        results.append({**task.facts(), **result, "bound": 0.01, "took": 1.0})
    scores = [
        {"structure": name, "features": f, "classifier": "linear", "accuracy": 0.5, "spread": 0.1}
        for name, features in (("yale-50", FEATURES), ("yale-500-100-50", ("printed", "lrnn")))
        for f in features
    ]  # fmt: skip
    task = Task("recognition", "yale", True)
    results.append({**task.facts(), "width": 50, "how": "", "results": scores, "took": 1.0})
    return results


def test_the_structures_are_those_of_the_paper():
    names = {s.label for s in STRUCTURES.values() if s.figure != "3"}
    assert names == {
        "784→100", "784→50", "784→1000→500→250→50", "1024→50", "1024→500→100→50", "3072→150",
        "3072→1000→500→150",
    }  # fmt: skip
    uci = [s for s in STRUCTURES.values() if s.figure == "3"]
    assert len(uci) == 16
    halves = {DATA_SETS[s.data].attributes: s.hidden for s in uci}
    assert halves[5] == (3,)
    assert halves[7] == (4,)
    assert halves[279] == (140,)
    assert {s.batch_size for s in uci} == {50}
    assert STRUCTURES["yale-50"].batch_size == 5
    assert STRUCTURES["mnist-50"].paper == 0.0204
    assert STRUCTURES["cifar10-1000-500-150"].paper == 0.0082
    layerwise = {s.name: s.passes_layerwise for s in STRUCTURES.values() if s.deep}
    assert set(layerwise) == {
        "mnist-1000-500-250-50", "yale-500-100-50", "cifar10-1000-500-150",
    }  # fmt: skip
    assert all(layerwise.values())


def test_names_choose_experiments():
    everything = chosen_tasks(["all"], seeds=3)
    assert everything == chosen_tasks([], seeds=3)
    trained = {t.subject for t in everything if t.kind == "training"}
    assert trained == set(STRUCTURES)
    seeds = {t.subject: t.seed for t in everything if t.kind == "training"}
    assert seeds["mnist-100"] == 0
    assert seeds["wine-7"] == 2
    assert {(t.subject, t.rates) for t in everything if t.method == LAYERWISE} == {
        (s.name, "free") for s in STRUCTURES.values() if s.deep
    }
    recognised = {t.subject for t in everything if t.kind == "recognition"}
    assert {s.data for s in STRUCTURES.values()} - recognised == {"liver"}
    assert sum(t.kind == "spiking" for t in everything) == 1
    assert len({t.name for t in everything}) == len(everything)
    assert not any(t.kind == "inhibition" for t in everything)
    assert {t.data for t in chosen_tasks(["figure2c"], **QUICK)} == {"cifar10"}
    assert {t.subject for t in chosen_tasks(["mnist-50"], **QUICK)} == {"mnist-50", "mnist"}
    with pytest.raises(ValueError, match=naming("yalle", "yale")):
        chosen_tasks(["yalle"], **QUICK)


def test_what_is_finished_is_not_run_again(finished, monkeypatch):
    folder, tasks, results = finished

    def forbidden(*_):
        raise AssertionError("run again")

    monkeypatch.setattr(runner_module, "_run", forbidden)
    assert run_tasks(tasks, folder, nobody) == results


def test_a_result_that_is_damaged_or_of_other_settings_is_run_again(finished, monkeypatch):
    folder, tasks, results = finished
    task = tasks[0]
    path = folder / "results" / f"{task.name}.json"
    before = path.read_text()
    calls = []
    real = runner_module._run
    monkeypatch.setattr(
        runner_module, "_run", lambda *args: calls.append(args[0].name) or real(*args)
    )
    for content in (before[:50], "[]", json.dumps({**json.loads(before), "quick": False})):
        path.write_text(content)
        again = run_tasks([task], folder, nobody)
        assert again[0]["error"] == results[0]["error"]
    assert calls == [task.name] * 3


def test_a_run_that_is_stopped_loses_at_most_one_experiment(tmp_path, monkeypatch):
    tasks = chosen_tasks(["iris"], **QUICK)
    real, done = runner_module._run, []

    def stop(task, *rest):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(task.name)
        return real(task, *rest)

    monkeypatch.setattr(runner_module, "_run", stop)
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, tmp_path, nobody)
    assert sorted(p.stem for p in (tmp_path / "results").iterdir()) == sorted(done)
    monkeypatch.setattr(runner_module, "_run", real)
    assert len(run_tasks(tasks, tmp_path, nobody)) == len(tasks)


def test_training_tells_what_the_model_is(rng):
    X = rng.random((120, 4))
    task = Task("training", "iris-2", False, "printed", "free", 1)
    result, model = train(task, X)
    assert result["error"] == pytest.approx(-model.score(X))
    assert min(result["curves"][-1]["errors"]) == pytest.approx(result["error"])
    assert model.get_params() == make(task, STRUCTURES["iris-2"], 120).get_params()
    assert (model.batch_size, model.max_iter, model.tol) == (50, 200, 0)
    assert result["valid"]
    assert result["steady_state_gap"] < 1e-12
    assert result["iterations"] == 200 * 2
    unit, model = train(Task("training", "iris-2", True, "lrnn", "unit"), X)
    assert max(w.sum(axis=1).max() for w in model.encoders_ + model.decoders_) <= 1 + 1e-12
    assert bounds.unit_rate(X, 2) <= unit["error"]


def test_curves_of_algorithm_2_are_of_the_network_as_far_as_it_is_built(rng):
    X = rng.random((60, 1024)).astype(np.float32)
    structure = STRUCTURES["yale-500-100-50"]
    task = Task("training", structure.name, True, LAYERWISE, "free")
    result, _ = train(task, np.round(255 * X).astype(np.uint8))
    model = LRNNAutoencoder(
        structure.hidden, solver="minibatch", batch_size=5, max_iter=1, tol=0, random_state=0,
        evaluate_every=2,
    ).fit(np.round(255 * X).astype(np.uint8))  # fmt: skip
    first, second, last = result["curves"]
    assert first["errors"][-1] == pytest.approx(model.history_[0].lowest, rel=1e-4)
    assert first["iterations"] == [2, 4, 6, 8, 10, 12]
    assert second["iterations"] == last["iterations"] == [12]
    assert (
        last["errors"][-1] == result["error"] == pytest.approx(model.reconstruction_err_, rel=1e-4)
    )
    layer = np.round(255 * X) / 255
    for weights in (*model.encoders_[:2], *model.decoders_[-2:]):
        layer = np.minimum(layer @ weights, 1)
    assert second["errors"][-1] == pytest.approx(np.mean((X - layer) ** 2), rel=1e-3)
    audit = model.audit()
    assert result["largest_row_sum"] == pytest.approx(audit.largest_row_sum, rel=1e-3)
    assert result["largest_routed"] == pytest.approx(audit.largest_routed)
    assert result["spike_cost"] == pytest.approx(model.spike_cost_, rel=1e-3)
    assert result["steady_state_gap"] < 1e-6
    assert result["iterations"] == 3 * 12
    assert result["valid"]


def test_a_bound_is_taken_once_and_is_that_of_the_data(monkeypatch):
    data, task = runner_module.Data(), Task("training", "iris-2", False, "lrnn", "free")
    assert data.bound(task) == pytest.approx(bounds.svd(data.of(task), 2))
    assert data.bound(replace(task, rates="unit")) == bounds.unit_rate(data.of(task), 2)
    monkeypatch.setattr(bounds, "svd", None)
    assert data.bound(replace(task, seed=1)) > 0


def test_ours_is_not_worse_than_the_printed_algorithm():
    """On the data sets that are embedded, in full, over the seeds."""
    runs = {}
    for subject in ("iris-2", "wine-7"):
        X = runner_module.Data().of(Task("training", subject, False))
        for method in ("printed", "lrnn"):
            task = Task("training", subject, False, method, "free")
            runs[subject, method] = train(task, X)[0]["error"]
        assert runs[subject, "lrnn"] < runs[subject, "printed"]


def test_tables(finished):
    _, _, results = finished
    rows = lowest_errors(results, "free")
    assert [row["structure"] for row in rows] == ["4→2", "13→7"]
    iris = [r["error"] for r in results if r.get("method") == "lrnn" and r["subject"] == "iris-2"]
    assert rows[0]["lrnn"] == pytest.approx(iris[0])
    assert rows[0]["quick"] is True
    assert len(lowest_errors(results, "unit")) == 2
    table = recognition(results)
    assert {row["classifier"] for row in table} == {"linear", "5-NN"}
    assert min(row[name] for row in table for name in FEATURES) > 0.5
    three = [{"error": 1.0}, {"error": 2.0}, {"error": 3.0}]
    assert (mean(three, "error"), spread(three, "error")) == (2.0, 1.0)
    assert spread(three[:1], "error") is None


def test_differences_from_the_paper_are_explained():
    names = ("lrnn", "printed", LAYERWISE)

    def ways(*errors):
        return {m: [{"error": e}] for m, e in zip(names, errors, strict=False)}

    assert remark("mnist-100", ways(0.01, 0.01)) == ""
    assert remark("mnist-50", ways(0.0204, 0.0204)) == ""
    text = remark("mnist-50", ways(0.0175, 0.0239))
    assert re.match(r"ours \w+ lower.*Algorithm 1\S* \w+ higher", text)
    text = remark("mnist-1000-500-250-50", ways(0.0190, 0.0229, 0.0210))
    assert re.match(r".*Algorithm 3\S* \w+ higher.*Algorithm 2\S* \w+ higher", text)
    assert "ours" not in text.partition(":")[0]


def test_curves_of_stages_follow_one_another():
    curve = {"iterations": [0, 5], "seconds": [0.0, 0.5], "errors": [3.0, 1.0]}
    rising = {"iterations": [0, 2], "seconds": [0.0, 0.1], "errors": [2.0, 0.5]}
    result = {"method": "lrnn", "curves": [curve, rising]}
    x, errors = course(result, "iterations")
    np.testing.assert_array_equal(x, [1, 5, 5, 7])
    np.testing.assert_array_equal(errors, [3, 1, 1, 0.5])
    _, errors = course({**result, "method": "printed"}, "seconds")
    np.testing.assert_array_equal(errors, [3, 1, 2, 0.5])


def test_the_page_and_its_files(finished, tmp_path):
    _, _, results = finished
    page = write_reproduction(results, tmp_path, "python -m reproduction iris wine --quick")
    text = page.read_text(encoding="utf-8")
    assert QUICK_RUN in text
    assert "`python -m reproduction iris wine --quick`" in text
    assert "| Wine | 13→7 | " in text
    assert "| raw | PCA | NMF | printed | lrnn | inhibition | inhibition, modest |" in text
    assert "Algorithm 2 |" not in text
    for line in text.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.split("](")[1].rstrip(")")).exists()
    with (tmp_path / "lowest_errors.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[1]["lrnn"]) == lowest_errors(results, "free")[1]["lrnn"]
    assert rows[0]["quick"] == "True"
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["quick"] is True
    assert all(row["valid"] for row in summary["audits"])
    assert sorted(p.name for p in (tmp_path / "figures").iterdir()) == [
        "figure3-seconds.png", "figure3-seconds.svg", "figure3.png", "figure3.svg",
    ]  # fmt: skip
    titles = [figure.get_suptitle() for figure in figures(results).values()]
    assert all(title == QUICK_RUN for title in titles)


def test_numbers_of_tables_have_their_digits_and_their_spread():
    row = {"a": 0.12345, "a_spread": 0.011, "b": None, "c": True, "d": 3.5e19, "e": 1234.5, "f": 7}
    row |= {"g": 0.5, "g_half": 0.25}
    facts = ("a .3f", "a percent", "b .3f", "c", "d count", "e count", "f", "g .2f")
    assert [shown(row, *fact.split()) for fact in facts] == [
        "0.123 ± 0.011", "12.3 ± 1.1", "–", "yes", "3.5e+19", "1,234", "7", "0.50 ± 0.25",
    ]  # fmt: skip


def test_each_column_of_a_table_is_a_fact_of_its_rows():
    """Those of tables whose rows are made here."""
    assert set(TABLES) == set(ROWS)
    for table in TABLES.values():
        assert all(len(column) in (2, 3) for column in table["columns"])


def test_nmf_learns_from_some_rows_only(rng):
    class Counting:
        def fit(self, X):
            self.rows = len(X)
            return self

        def get_params(self, deep=False):
            return {}

    X = rng.random((1_000, 3))
    assert OnSomeRows(Counting(), 300).fit(X).transformer_.rows == 250
    assert OnSomeRows(Counting(), 2_000).fit(X).transformer_.rows == 1_000


@pytest.mark.slow
def test_recognition_is_cross_validated(monkeypatch):
    monkeypatch.setattr(recognition_module, "STEPS", 100)
    found = recognise(Task("recognition", "wine", False))
    assert found["how"] == "5-fold cross-validation"
    scores = {(r["features"], r["classifier"]): r["accuracy"] for r in found["results"]}
    assert {features for features, _ in scores} == set(FEATURES)
    assert len(scores) == 2 * len(FEATURES)
    assert scores["raw", "linear"] > 0.95
    for features in ("lrnn", "inhibition", "inhibition_modest"):
        assert scores[features, "linear"] > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_inhibition_pays_for_its_spikes_as_it_should(monkeypatch):
    monkeypatch.setattr(recognition_module, "STEPS", 300)
    X = runner_module.Data().of(Task("training", "wine-7", False))
    models = recognition_module.fitted(X, STRUCTURES["wine-7"], quick=False)
    assert list(models) == list(FEATURES)
    plain, free, modest = (models[n] for n in ("lrnn", "inhibition", "inhibition_modest"))
    assert free.spike_penalty == 0
    assert modest.spike_penalty == pytest.approx(
        MODEST * plain.reconstruction_err_ / plain.spike_cost_
    )
    assert free.reconstruction_err_ < plain.reconstruction_err_
    assert modest.reconstruction_err_ < plain.reconstruction_err_
    assert modest.spike_cost_ < free.spike_cost_
    assert (free.batch_size, free.fine_tune) == (50, 85)  # 300 steps and a few


def test_results_without_inhibition_are_not_taken_for_new_ones(tmp_path):
    task = Task("recognition", "iris", True)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(task.facts()))
    assert runner_module.read_result(path, task) == task.facts()
    old = {name: fact for name, fact in task.facts().items() if name != "settings"}
    path.write_text(json.dumps(old))
    assert runner_module.read_result(path, task) is None


def test_narrow_structures_and_deep_ones_are_those_that_recognise():
    for data, names in {
        "mnist": ["mnist-50", "mnist-1000-500-250-50"],
        "cifar10": ["cifar10-150", "cifar10-1000-500-150"],
        "yale": ["yale-50", "yale-500-100-50"],
        "iris": ["iris-2"],
    }.items():
        assert [s.name for s in structures(data)] == names
        assert len({s.hidden[-1] for s in structures(data)}) == 1


def test_deep_networks_recognise_by_codes_of_the_same_width(rng):
    X = rng.random((30, 1024)).astype(np.float32)
    models = recognition_module.fitted(X, STRUCTURES["yale-500-100-50"], quick=True)
    assert list(models) == ["printed", "lrnn"]
    assert {model.transform(X).shape for model in models.values()} == {(30, 50)}
    assert (models["printed"].solver, models["printed"].stacking) == ("minibatch", "layerwise")
    full = recognition_module.networks(STRUCTURES["yale-500-100-50"], 132, quick=False)
    assert (full["printed"].max_iter, full["lrnn"].fine_tune) == (20, 20)
    small = recognition_module.networks(STRUCTURES["wine-7"], 142, quick=False)
    assert small["printed"].max_iter == 200


def test_both_algorithms_are_shown(deep, tmp_path):
    page = write_reproduction(deep, tmp_path, "python -m reproduction yale --quick")
    (row,) = lowest_errors(deep, "free")
    assert row["printed_layerwise"] == deep[1]["error"] != row["printed"]
    assert [r["algorithm"] for r in audits(deep)] == ["Algorithm 3", "Algorithm 2", "lrnn"]
    text = page.read_text(encoding="utf-8")
    assert "| Algorithm 1 or 3 | Algorithm 2 | lrnn | bound |" in text
    assert "MNIST 4, Yale 30, CIFAR-10 3" in text
    assert "| Yale faces | 1024→500→100→50 | linear | – | – | – | 50.0 ± 10.0 |" in text
    with (tmp_path / "recognition.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["structure"], row["raw"]) for row in rows] == [
        ("1024→50", "0.5"), ("1024→500→100→50", ""),
    ]  # fmt: skip
    drawn = figures(deep)
    labels = drawn["figure2"].axes[0].get_legend_handles_labels()[1]
    assert labels == ["1024→500→100→50, Alg. 3", "1024→500→100→50, Alg. 2"]
    labels = drawn["figure2b-compared"].axes[0].get_legend_handles_labels()[1]
    assert labels[:3] == ["Algorithm 1 or 3", "Algorithm 2", "lrnn"]


def test_half_a_training_is_no_result(tmp_path, ctrl_c):
    task = Task("training", "arrhythmia-140", False, "printed", "free")
    X = np.random.default_rng(0).random((452, 279))
    ctrl_c(0.3)
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        train(task, X)
