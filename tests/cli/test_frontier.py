"""``lrnn frontier``: the table, the plot and the models."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

import lrnn
from lrnn.datasets import DataSet, load
from lrnn.training.settings import LEAST_STEPS, PASSES

pytestmark = pytest.mark.usefixtures("unrendered")

QUICK = ("--penalties", "3", "--passes", "3", "--hidden", "6")


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    output = tmp_path_factory.mktemp("frontier") / "new" / "digits"
    done = call("frontier", "digits", "--scale", "max", *QUICK, "-o", output)
    assert done.returncode == 0, done.stderr
    assert done.shows("64 → 6")
    return output


def test_all_of_it_is_written(folder):
    found = json.loads((folder / "frontier.json").read_text())
    assert found["structures"] == [[64, 6]]
    lines = list(csv.DictReader((folder / "frontier.csv").read_text().splitlines()))
    assert [float(line["error"]) for line in lines] == [p["error"] for p in found["points"]]
    assert (folder / "frontier.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (folder / "frontier.svg").read_bytes()
    assert not (folder / "checkpoint").exists()
    for point in found["points"]:
        model = lrnn.load(folder / point["model"])
        assert model.reconstruction_err_ == point["error"]
        assert model.spike_cost_ == point["spikes"]
        assert model.scaling_ is not None


def test_how_many_passes_there_are_by_default_is_told(call):
    shown = call("frontier", "--help")
    assert shown.shows(PASSES // 2, f"{LEAST_STEPS // 2:,}")


def test_columns_are_chosen_of_test_rows_too(call, tmp_path, monkeypatch):
    """Here some digits are a data set that has others to test with."""

    def parts(name, split=None, scaled=True):
        found = load(name, scaled=scaled)
        rows = slice(200, 250) if split == "test" else slice(200)
        return Bunch(**{**found, "data": found.data[rows], "target": found.target[rows]})

    for place in ("lrnn.datasets.load", "lrnn.datasets.open.load"):
        monkeypatch.setattr(place, parts)
    monkeypatch.setattr(DataSet, "splits", ("all", "test"))
    done = call("frontier", "digits", *QUICK, "--drop", "1-8", "-o", "f", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.said
    rows = load("digits", scaled=False).data
    for point in json.loads(done.stdout)["points"]:
        model = lrnn.load(tmp_path / "f" / point["model"])
        assert point["test_error"] == pytest.approx(-model.score(rows[200:250]), rel=1e-9)
        assert point["error"] == pytest.approx(-model.score(rows[:200]), rel=1e-9)


def test_several_structures_in_one_table(call, tmp_path):
    folder = tmp_path / "f"
    quick = ("--penalties", "3", "--passes", "8")
    run = ("frontier", "digits", "--scale", "max", *quick, "--hidden", "6,40-6,6+40", "-o", folder)
    done = call(*run)
    assert done.returncode == 0, done.said
    assert done.shows("64 → 6", "64 → 40 → 6", "64 → 6 → 40 → 64")
    found = json.loads((folder / "frontier.json").read_text())
    assert found["structures"] == [[64, 6], [64, 40, 6], [64, 6, 40, 64]]
    lines = list(csv.DictReader((folder / "frontier.csv").read_text().splitlines()))
    assert {line["layers"] for line in lines} <= {"64-6", "64-40-6", "64-6-40-64"}
    assert len({line["layers"] for line in lines}) > 1
    for line in lines:
        model = lrnn.load(folder / line["model"])
        sizes = "-".join(map(str, model.weights_.sizes))
        assert sizes.startswith(line["layers"])


def test_its_models_are_used_like_others(call, folder, tmp_path):
    point = json.loads((folder / "frontier.json").read_text())["points"][-1]
    done = call("encode", folder / point["model"], "digits", "-o", tmp_path / "codes.npy")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "codes.npy").shape == (1797, 6)


def test_one_document_for_programs(call, tmp_path):
    done = call("frontier", "digits", "--scale", "max", *QUICK, "--json", "-o", tmp_path / "f")
    found = json.loads(done.stdout)
    assert found["structures"] == [[64, 6]]
    assert found["points"][0]["test_error"] is None
    assert done.stderr == ""


def test_a_budget_names_a_network_and_writes_it(call, tmp_path):
    folder = tmp_path / "f"
    run = ("frontier", "digits", "--scale", "max", *QUICK, "-o", folder)
    done = call(*run, "--budget", "60")
    assert done.returncode == 0, done.said
    found = json.loads((folder / "frontier.json").read_text())
    assert [p["model"] for p in found["points"]] == [
        f"models/{i + 1}.safetensors" for i in range(len(found["points"]))
    ]
    chosen = found["chosen"]
    assert chosen["error"] == min(p["error"] for p in found["points"] if p["spikes"] <= 60)
    assert done.shows("60 spikes", chosen["number"], f"{chosen['error']:.5f}")
    model = lrnn.load(folder / "budget.safetensors")
    assert model.spike_cost_ == chosen["spikes"] <= 60
    done = call(*run, "--budget", "1", "--force")
    assert done.returncode == 1
    assert done.names("1 spikes", "number 1")
    assert (folder / "frontier.json").exists()  # what was trained is not lost
    assert not (folder / "budget.safetensors").exists()


def test_errors_on_other_data(call, tmp_path, rng):
    X = rng.random((40, 5))
    for name, rows in (("a", X[:30]), ("b", X[30:]), ("narrow", X[:, :4])):
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",")
    arguments = (
        "frontier",
        "a.csv",
        "--hidden",
        "2",
        "--penalties",
        "2",
        "--passes",
        "2",
        "-o",
        "f",
    )
    done = call(*arguments, "--test", "b.csv", "--json", cwd=tmp_path)
    for point in json.loads(done.stdout)["points"]:
        model = lrnn.load(tmp_path / "f" / point["model"])
        assert point["test_error"] == pytest.approx(-model.score(X[30:]), rel=1e-9)
    done = call(*arguments, "--test", "narrow.csv", "--force", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("narrow.csv", 4, 5)


def test_what_is_left_is_not_thrown_away_unasked(call, tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "checkpoint").write_bytes(b"precious")
    arguments = ("frontier", "digits", "--scale", "max", *QUICK, "-o", folder)
    done = call(*arguments)
    assert done.returncode == 1
    assert done.names("checkpoint", "--resume", "--restart")
    assert (folder / "checkpoint").read_bytes() == b"precious"
    done = call(*arguments, "--resume")
    assert done.returncode == 1
    assert done.names("checkpoint")
    assert call(*arguments, "--restart").returncode == 0
    assert not (folder / "checkpoint").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("digits", "--scale", "none", "-o", "f"), "digits --scale"),
        (("no such thing", "-o", "f"), "no such thing"),
        (("digits", "--scale", "max", "--hidden", "x", "-o", "f"), "--hidden 'x'"),
        (("digits", "--scale", "max", "-o", "file"), "'file'"),
        (("digits", "--scale", "max", "--penalties", "1", "-o", "f"), "--penalties"),
        (("digits", "--penalties", "1e-3,1e-5"), "--penalties 24"),
        (("digits", "--scale", "max", "--device", "tpu", "-o", "f"), "device 'tpu'"),
    ],
)
def test_mistakes_are_one_line(call, tmp_path, arguments, named):
    (tmp_path / "file").touch()
    done = call("frontier", *arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert done.names(*named.split())
    assert "Traceback" not in done.stderr


def test_the_papers_figure_is_known():
    from lrnn.cli.frontier import _known

    assert _known("mnist", [(50,)]) == {"Yin & Gelenbe 2016": 0.0204}
    assert _known("mnist", [(51,)]) == {}


def test_the_report_shows_it(call, folder, tmp_path):
    model = folder / json.loads((folder / "frontier.json").read_text())["points"][0]["model"]
    done = call("report", model, "digits", "--frontier", folder, "-o", tmp_path / "page")
    assert done.returncode == 0, done.stderr
    assert 'id="frontier"' in (tmp_path / "page" / "index.html").read_text()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "lrnn frontier"),
        ("{", "frontier.json"),
        ("[]", "frontier.json"),
        ("{}", "frontier.json"),
    ],
)
def test_what_is_no_frontier_is_refused(call, folder, tmp_path, content, named):
    if content is not None:
        (tmp_path / "frontier.json").write_text(content)
    model = folder / "models" / "1.safetensors"
    done = call("report", model, "digits", "--frontier", tmp_path, "-o", tmp_path / "page")
    assert done.returncode == 1
    assert done.names(named)


def test_nor_one_of_other_data(call, folder, tmp_path):
    found = json.loads((folder / "frontier.json").read_text()) | {"structures": [[65, 6]]}
    (tmp_path / "frontier.json").write_text(json.dumps(found))
    model = folder / "models" / "1.safetensors"
    done = call("report", model, "digits", "--frontier", tmp_path, "-o", tmp_path / "page")
    assert done.names(65, 64)


def test_inspect_tells_of_inhibition(call, folder):
    points = json.loads((folder / "frontier.json").read_text())["points"]
    point = next(p for p in points if p["penalty"])
    told = json.loads(call("inspect", folder / point["model"], "--json").stdout)
    assert told["inhibition"]
    assert told["spike_penalty"] == point["penalty"]
    assert sum(told["layer_spike_costs"]) == pytest.approx(point["spikes"])
    assert call("inspect", folder / point["model"]).shows(f"{point['penalty']:g}")


def test_models_of_an_earlier_run_go_and_other_files_stay(call, tmp_path):
    folder = tmp_path / "f"
    run = ("frontier", "digits", "--scale", "max", "--passes", 3, "--hidden", 6, "-o", folder,
           "--force")  # fmt: skip
    assert call(*run, "--penalties", 8).returncode == 0
    before = json.loads((folder / "frontier.json").read_text())
    (folder / "models" / "mine.safetensors").touch()
    (folder / "models" / "77.safetensors").touch()  # of no table
    (tmp_path / "precious.safetensors").touch()
    before["points"][0]["model"] = "models/../../precious.safetensors"
    (folder / "frontier.json").write_text(json.dumps(before))
    assert call(*run, "--penalties", 2).returncode == 0
    after = json.loads((folder / "frontier.json").read_text())
    assert len(after["points"]) < len(before["points"])
    kept = {f"models/{path.name}" for path in (folder / "models").iterdir()}
    listed = {point["model"] for point in after["points"]}
    assert kept == listed | {"models/mine.safetensors", "models/77.safetensors"}
    assert (tmp_path / "precious.safetensors").exists()


def test_a_frontier_of_a_folder_of_parquet_files(call, tmp_path, rng):
    X = rng.random((40, 5))
    (tmp_path / "parts").mkdir()
    for i in (0, 1):
        part = pd.DataFrame(X[20 * i : 20 * i + 20], columns=list("abcde"))
        part.to_parquet(tmp_path / "parts" / f"{i}.parquet")
    np.save(tmp_path / "x.npy", X)
    settings = ("--hidden", 2, "--penalties", 2, "--passes", 1, "--json")
    found = [call("frontier", data, *settings, "-o", f"of {data}", cwd=tmp_path) for data in
             ("parts", "x.npy")]  # fmt: skip
    for done in found:
        assert done.returncode == 0, done.said
    one, other = (json.loads(done.stdout)["points"] for done in found)
    assert [p["error"] for p in one] == [p["error"] for p in other]


def test_faults_leave_no_folder(call, tmp_path, rng):
    h5py = pytest.importorskip("h5py", reason="pip install 'lrnn[files]'")
    X = rng.random((40, 5))
    X[7, 2] = np.nan
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["data"] = X
    done = call("frontier", "x.h5", "--hidden", 2, "-o", "f", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("x.h5", "row 8", "column 3")
    assert not (tmp_path / "f").exists()
