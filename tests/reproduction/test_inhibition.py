"""What inhibition is good for: damage, contenders, and what is said of them."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import lrnn
from lrnn.datasets import DATA_SETS
from naming import naming
from reproduction import inhibition as inhibition_module
from reproduction import runner as runner_module
from reproduction.experiments import CONTENDERS, FOR_DAMAGE, STRUCTURES, chosen_tasks, some
from reproduction.figures import of_inhibition
from reproduction.inhibition import PrincipalComponents, damaged, error, holed, inhibitory, noisy
from reproduction.report import write_reproduction
from reproduction.runner import run_tasks
from reproduction.spiking import coverage_of_layers, simulated
from reproduction.summary import coverage, hoyer, inhibition, robustness

QUICK = {"quick": True}
pytestmark = pytest.mark.slow  # all contenders are trained


@pytest.fixture(scope="module")
def finished(tmp_path_factory, small_mnist):
    """All contenders on scikit-learn's digits, drawn as large as those of MNIST."""
    images, load = small_mnist
    folder = tmp_path_factory.mktemp("inhibition")
    with pytest.MonkeyPatch.context() as patch:
        for module in (inhibition_module, runner_module):
            patch.setattr(module, "load", load)
        results = run_tasks(chosen_tasks(["inhibition"], **QUICK), folder, lambda done, task: None)
    contests, others = results[: len(CONTENDERS)], results[len(CONTENDERS) :]
    return folder, images, {result["method"]: result for result in contests}, others


def test_it_runs_if_it_is_named():
    tasks = chosen_tasks(["inhibition"], **QUICK)
    assert [t.method for t in tasks] == [*CONTENDERS, *FOR_DAMAGE]
    kinds = ("inhibition", "robustness")
    assert {(t.kind, t.subject, t.data) for t in tasks} == {(k, "mnist-50", "mnist") for k in kinds}
    both = chosen_tasks(["iris", "inhibition"], **QUICK)
    assert {t.subject for t in both} == {"iris-2", "iris", "mnist-50"}
    everything = chosen_tasks(["all", "inhibition"], **QUICK)
    assert {t.subject for t in everything} >= set(STRUCTURES)
    assert sum(t.kind == "inhibition" for t in everything) == len(CONTENDERS)
    with pytest.raises(ValueError, match=naming("inhibitions", "inhibition")):
        chosen_tasks(["inhibitions"], **QUICK)


def test_another_price_of_spikes_is_another_task(monkeypatch):
    task = next(t for t in chosen_tasks(["inhibition"], **QUICK) if t.method == "modest")
    before = task.facts()
    monkeypatch.setitem(CONTENDERS, "modest", CONTENDERS["ample"])
    assert task.facts() != before


def test_noise_and_missing_pixels(rng):
    clean = np.full((200, 784), 0.5, dtype=np.float32)
    found = noisy(clean, 0.1, rng)
    assert found.std() == pytest.approx(0.1, rel=0.02)
    strong = noisy(clean, 2.0, rng)
    assert (strong.min(), strong.max()) == (0, 1)
    holes = holed(clean, 0.3, rng)
    assert np.mean(holes == 0) == pytest.approx(0.3, abs=0.01)
    assert set(np.unique(holes)) == {0, 0.5}


def test_damage_is_the_same_for_all(digits):
    first, second = dict(damaged(digits)), dict(damaged(digits))
    assert list(first) == ["noise 0.1", "noise 0.2", "noise 0.4", "missing 10 %", "missing 30 %",
                           "missing 50 %"]  # fmt: skip
    for name, rows in first.items():
        np.testing.assert_array_equal(rows, second[name])
        assert error(rows, digits) > 0
    assert np.mean(first["missing 50 %"] == 0) > np.mean(first["missing 10 %"] == 0)


def test_a_spike_costs_a_share_of_the_error_per_spike(digits):
    plain = lrnn.LRNNAutoencoder(8, max_iter=20, random_state=0).fit(digits)
    model = inhibitory(plain, 0.5, 7)
    assert model.spike_penalty == 0.5 * plain.reconstruction_err_ / plain.spike_cost_
    assert (model.inhibition, model.fine_tune, model.hidden_layer_sizes) == (True, 7, 8)
    assert not plain.inhibition
    assert inhibitory(plain, 0.0, 7).spike_penalty == 0


def test_what_pca_gives_back(digits):
    plain, clipped = (PrincipalComponents(5, c).fit(digits).reconstruct(digits) for c in (0, 1))
    assert plain.min() < 0
    np.testing.assert_array_equal(clipped, np.clip(plain, 0, 1))
    assert error(clipped, digits) < error(plain, digits)


def test_contenders_tell_the_truth(finished):
    folder, images, results, _ = finished
    assert list(results) == list(CONTENDERS)
    learnt, new = some(images[:300], quick=True), images[300:400]
    for method in ("excitatory", "modest", "ample", "free"):
        model, result = (
            lrnn.load(folder / "models" / f"inhibition_mnist-50_{method}_0.safetensors"),
            results[method],
        )
        assert model.inhibition == (method != "excitatory")
        assert result["error"] == pytest.approx(-model.score(learnt), rel=1e-4)
        assert result["test_error"] == pytest.approx(-model.score(new), rel=1e-4)
        clean = new / np.float32(255)
        rows = dict(damaged(clean))["noise 0.2"]
        assert result["restored"]["noise 0.2"] == pytest.approx(
            error(model.reconstruct(rows), clean), rel=1e-4
        )
        assert result["damaged"]["noise 0.2"] == pytest.approx(error(rows, clean))
        assert result["valid"]
        assert result["spike_cost"] == pytest.approx(model.spike_cost_)
    costs = [results[m]["spike_cost"] for m in ("excitatory", "modest", "ample", "free")]
    assert costs == sorted(costs)
    assert results["pca-clipped"]["error"] < results["pca"]["error"]


def test_parts_are_those_of_the_model_the_most_used_first(finished):
    folder, images, results, _ = finished
    model = lrnn.load(folder / "models" / "inhibition_mnist-50_modest_0.safetensors")
    codes, components = (
        model.transform(some(images[:300], quick=True)),
        np.asarray(model.components_),
    )
    first = np.argmax(codes.mean(axis=0) * components.sum(axis=1))
    shown = np.array(results["modest"]["parts"])
    np.testing.assert_allclose(shown[0], components[first] / components[first].max(), atol=1e-4)
    alone = np.array(results["modest"]["alone"])[0]
    drawn = model.inverse_transform(np.eye(50)[first : first + 1])[0]
    np.testing.assert_allclose(alone, drawn / drawn.max(), atol=1e-4)


def test_a_simulation_meets_the_steady_state_of_every_layer(finished):
    _, _, results, _ = finished
    assert {method for method, r in results.items() if "spiking" in r} == {"modest", "ample"}
    for method in ("modest", "ample"):
        last = results[method]["spiking"]["coverage_of_layers"]["1000000"]
        assert len(last) == 3
        for layer in last:
            assert layer["held"] >= 0.85 * layer["neurons"] > 0


def test_neurons_that_cannot_be_wrong_are_not_counted(digits):
    model = lrnn.LRNNAutoencoder(8, max_iter=20, random_state=0).fit(digits)
    network = model.to_network()
    result = network.simulate(model.arrivals(digits[:1])[0], events=20_000, random_state=0)
    layers = coverage_of_layers(result)
    assert layers[0]["neurons"] == np.sum((digits[0] > 0) & (digits[0] < 1))
    assert sum(layer["held"] for layer in layers) <= sum(layer["neurons"] for layer in layers)
    found = simulated(model, digits[:1], (10_000, 20_000), seed=0)
    assert found["coverage_of_layers"]["20000"] == layers
    assert list(found["rmse"]) == ["10000", "20000"]


def test_tables(finished):
    _, _, results, others = finished
    rows = inhibition(results.values())
    assert [row["contender"] for row in rows] == [c.title for c in CONTENDERS.values()]
    assert rows[0]["spike_penalty"] is None
    assert rows[3]["spike_penalty"] == 0
    assert rows[4]["spikes"] is None
    robust = robustness([*results.values(), *others])
    assert robust[0]["contender"] == "the damaged image itself"
    assert robust[0]["noise 0.4"] > robust[0]["noise 0.1"] > robust[0]["none"] == 0
    assert [row["none"] for row in robust[1:]] == [*(row["test"] for row in rows), None, None]
    assert len(coverage(results.values())) == 2 * 3
    assert coverage([]) == inhibition([]) == robustness([]) == []


def test_the_report_and_its_files(finished, tmp_path):
    _, _, results, others = finished
    every = [*results.values(), *others]
    page = write_reproduction(every, tmp_path, "python -m reproduction inhibition --quick")
    text = page.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Inhibition", "## How this was made",
    ]  # fmt: skip
    assert sorted(p.name for p in tmp_path.glob("*.csv")) == [
        "inhibition.csv", "inhibition_coverage.csv", "inhibition_robustness.csv",
    ]  # fmt: skip
    with (tmp_path / "inhibition.csv").open() as file:
        rows = list(csv.DictReader(file))
    sparse = hoyer(np.array(results["free"]["alone"]))
    assert float(rows[3]["sparsity_alone"]) == pytest.approx(sparse)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["inhibition_robustness"][2]["missing 50 %"] > 0
    assert sorted(p.name for p in (tmp_path / "figures").glob("*.png")) == [
        "figure4-ample.png", "figure4-modest.png", "inhibition-parts.png",
        "inhibition-robustness.png",
    ]  # fmt: skip
    assert "| the damaged image itself | 0.0000 |" in text
    assert DATA_SETS["mnist"].image_shape == (28, 28)


@pytest.mark.parametrize("stopped", [1, 2])
def test_half_a_training_is_no_result(stopped, digits, monkeypatch):
    """Neither of the excitatory network, nor of the one with inhibition."""
    task = next(t for t in chosen_tasks(["inhibition"], **QUICK) if t.method == "free")
    fit, calls = lrnn.LRNNAutoencoder.fit, []

    def interrupted(model, X):
        calls.append(model.inhibition)
        fit(model, X)
        if len(calls) == stopped:
            model.history_[-1] = replace(model.history_[-1], stopped="interrupted")
        return model

    monkeypatch.setattr(lrnn.LRNNAutoencoder, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        inhibition_module.trained(CONTENDERS["free"], task, digits[:200], np.float32(1))
    assert calls == [False, True][:stopped]


def test_what_was_trained_for_it_is_drawn(finished):
    _, _, results, others = finished
    figure = of_inhibition([*results.values(), *others])["inhibition-robustness"]
    drawn = [line.get_label() for line in figure.axes[0].get_lines()]
    assert drawn[-2:] == [c.title for c in FOR_DAMAGE.values()]


def test_networks_that_were_trained_for_it_restore_more(finished):
    _, _, results, others = finished
    assert [(r["kind"], r["method"]) for r in others] == [("robustness", m) for m in FOR_DAMAGE]
    for result in others:
        plain = results[result["method"]]["restored"]
        assert list(result["restored"]) == list(plain) == list(result["undamaged"])
        for damage in ("noise 0.4", "missing 50 %"):
            assert result["restored"][damage] < plain[damage]
