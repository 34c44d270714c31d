"""The paper's section 6: three networks, spike by spike, and what is said of them."""

import csv
import json
import re

import numpy as np
import pytest

import lrnn
from lrnn import RandomNeuralNetwork
from naming import naming
from reproduction import figure4
from reproduction import runner as runner_module
from reproduction.experiments import OBSERVED_AT, SIMULATED, Task, chosen_tasks
from reproduction.figures import figures
from reproduction.report import write_reproduction
from reproduction.runner import run_tasks
from reproduction.spiking import bias_after_events, correlation, interval, relative, rmse

TASK = Task("spiking", "mnist-100", quick=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, small_mnist):
    """The experiment on scikit-learn's digits, drawn as large as those of MNIST."""
    images, load = small_mnist
    folder = tmp_path_factory.mktemp("figure4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner_module, "load", load)
        (result,) = run_tasks([TASK], folder, lambda done, task: None)
    return folder, images[300:310], json.loads(json.dumps(result))


def test_it_runs_if_it_is_named_and_with_its_network():
    assert chosen_tasks(["figure4"], quick=True) == [TASK]
    assert TASK in chosen_tasks(["mnist-100"], quick=True)
    assert TASK not in chosen_tasks(["mnist-50"], quick=True)
    assert Task("spiking", "mnist-100", quick=False).images == 100


def test_it_trains_the_networks_that_were_not_kept(finished):
    folder, _, _ = finished
    kept = {path.stem for path in (folder / "models").iterdir()}
    assert kept == {
        "training_mnist-100_printed_free_0",
        "training_mnist-100_printed_unit_0",
        "training_mnist-100_lrnn_free_0",
    }


def test_the_networks_are_the_papers_and_ours(finished):
    folder, images, result = finished
    found = result["networks"]
    assert list(found) == list(SIMULATED) == list(figure4.NETWORKS)
    unit = lrnn.load(folder / "models" / "training_mnist-100_printed_unit_0.safetensors")
    network = unit.to_network()
    assert (network.rates == 1).all()  # w = p
    first, second = np.cumsum(network.layer_sizes)[:2]
    weights = network.excitatory[:first, first:second]
    weights = weights.toarray() if hasattr(weights, "toarray") else weights
    np.testing.assert_allclose(weights, np.asarray(unit.encoders_[0]), rtol=1e-6)
    assert found["unit"]["rows_above_one"] == [0, 0]
    assert found["unit"]["rates"] == [[1, 1, 1]] * 3
    assert found["printed"]["rows_above_one"][1] > 0
    assert all(network["valid"] for network in found.values())
    assert found["unit"]["error"] == pytest.approx(-unit.score(images))


def test_every_image_counts_and_the_first_is_shown(finished):
    folder, images, result = finished
    assert result["images"] == len(images) == 10
    model = lrnn.load(folder / "models" / "training_mnist-100_lrnn_free_0.safetensors")
    network = model.to_network()
    run = network.simulate(model.arrivals(images), events=1_000_000, at_events=True, random_state=0)
    ours = result["networks"]["lrnn"]
    for estimator in OBSERVED_AT:
        q = run.at(10_000).activation(estimator)
        np.testing.assert_allclose(
            np.concatenate(ours["shown"][estimator]["10000"]), q[0], atol=1e-5
        )
        output, exact = (network.split(np.asarray(v))[2] for v in (q, run.steady))
        errors = np.sqrt(((output - exact) ** 2).mean(axis=1))
        np.testing.assert_allclose(ours["rmse"][estimator]["10000"][2], errors, atol=1e-6)
        assert len(errors) == 10


def test_simulations_come_nearer(finished):
    _, _, result = finished
    rows = figure4.verdicts([result])
    assert len(rows) == len(SIMULATED) * len(OBSERVED_AT) * 2
    later = [row for row in rows if row["claim"] == figure4.CLAIMS["evolving"]]
    assert {row["verdict"] for row in later} == {"confirmed"}
    last = [row for row in figure4.errors([result]) if row["events"] == 1_000_000]
    assert max(row["input_rmse"] for row in last) < 0.05
    assert min(row["output_correlation"] for row in last) > 0.95


def test_verdicts_follow_the_differences():
    rng = np.random.default_rng(0)

    def course(*means):
        noise = 0.01 * rng.standard_normal((2, 3, 50))
        layers = np.array([means, [m / 3 for m in means]])[..., None] + noise
        both = {"10000": layers[0].tolist(), "100000": layers[1].tolist()}
        return {
            "layers": ["input", "hidden", "output"],
            "relative": {"events": both},
            "correlation": {"events": both},
            "begun_in_steady_state": {"events": means},
        }

    assert figure4._beginning(course(0.2, 0.4, 0.9), "events")[0] == "confirmed"
    verdict, why = figure4._beginning(course(0.2, 0.2, 0.9), "events")
    assert verdict == "corrected"
    assert re.search(naming("hidden layer", "10,000"), why)
    assert "output layer" not in why
    assert figure4._evolving(course(0.2, 0.4, 0.9), "events")[0] == "confirmed"
    assert figure4._evolving(course(0.2, 0.0, 0.9), "events")[0] == "corrected"


def test_measures():
    exact = np.array([[0.0, 0.3, 0.4], [0.5, 0.5, 0.5]])
    found = exact + np.array([[0.1, 0.1, 0.1], [0.0, 0.1, 0.0]])
    np.testing.assert_allclose(rmse(found, exact), [0.1, 0.1 / np.sqrt(3)])
    np.testing.assert_allclose(relative(found, exact)[0], 0.1 / np.sqrt(0.25 / 3))
    np.testing.assert_allclose(correlation(found, exact), [1, 0])
    mean, half = interval([1.0, 2.0, 3.0])
    assert (mean, half) == (2, pytest.approx(4.302653 / np.sqrt(3), rel=1e-6))


def test_the_bias_is_that_of_theory():
    """Where few neurons make all events it is large: measured to a few percent."""
    network = RandomNeuralNetwork.from_layers([np.array([[0.5, 0.2], [0.1, 0.6]])])
    arrivals = np.concatenate([[0.6, 0.4] * network.rates[:2], [0, 0]])
    for row in bias_after_events(network, arrivals, 200, 50_000, seed=0):
        assert row["bias"] > 0.02
        for name, expected in (("difference", 1), ("potential_multiple", 0)):
            mean, half = row[name]
            assert abs(mean - expected) < 2.5 * half  # of a 95 % interval: 1 in a million
            assert half < 0.1
        assert row["events_deviation"] == pytest.approx(row["potential_deviation"], rel=0.3)


@pytest.mark.slow
def test_the_report_has_it_all(finished, tmp_path):
    _, _, result = finished
    page = write_reproduction([result], tmp_path, "python -m reproduction mnist-100 --quick")
    assert {p.stem for p in (tmp_path / "figures").iterdir()} == {
        "figure4", "figure4-events", "figure4-errors",
    }  # fmt: skip
    assert all("Quick run" in f.get_suptitle() for f in figures([result]).values())
    text = page.read_text(encoding="utf-8")
    assert all(claim in text for claim in figure4.CLAIMS.values())
    assert all(title in text for title in figure4.NETWORKS.values())
    with (tmp_path / "figure4_errors.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(SIMULATED) * len(OBSERVED_AT) * 3
    assert float(rows[0]["hidden_relative_half"]) > 0
    for name, length in (("networks", 3), ("verdicts", 12), ("estimators", 9)):
        with (tmp_path / f"figure4_{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) == length


def test_results_of_other_images_are_not_taken_for_these(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(TASK.facts()))
    assert runner_module.read_result(path, TASK) == TASK.facts()
    path.write_text(json.dumps({**TASK.facts(), "images": 1}))
    assert runner_module.read_result(path, TASK) is None
