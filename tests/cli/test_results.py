"""Simulate, export, report and inspect, run as a person would run them."""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lrnn
from lrnn.datasets import load
from lrnn.progress import decimal
from lrnn.tables.writers import write

LRNN = Path(sys.executable).with_name("lrnn")


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    """A model of wine, and one of digits."""
    folder = tmp_path_factory.mktemp("models")
    for name, scale in (("wine", "minmax"), ("digits", "max")):
        model = folder / f"{name}.safetensors"
        done = call("fit", name, "-o", model, "--hidden", 5, "--scale", scale, "-q")
        assert done.returncode == 0, done.stderr
    return folder


def test_simulate_shows_how_the_error_falls(call, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = call("simulate", "wine.safetensors", "wine", "--row", 7, "--events", "2e6")
    assert done.returncode == 0
    assert done.shows("1,000", "10,000", "100,000", "1,000,000", "2,000,000")
    assert (folder / "wine-row7.png").read_bytes().startswith(b"\x89PNG")

    done = call(
        "simulate", "wine.safetensors", "wine", "--row", 7, "--events", "2_000_000", "--json",
        "--no-figure",
    )  # fmt: skip
    document = json.loads(done.stdout)
    model = lrnn.load(folder / "wine.safetensors")
    x = load("wine", scaled=False).data[6:7]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # feature names
        arrivals = model.arrivals(x)[0]
    result = model.to_network().simulate(arrivals, events=2_000_000, random_state=0)
    assert [events for events, _ in document["rmse"]] == [10**3, 10**4, 10**5, 10**6, 2 * 10**6]
    assert document["rmse"][-1][1] == result.compare().errors[-1].tolist()
    assert document["covered"] == result.coverage() > 0.6
    assert document["figure"] is None
    assert document["events"] == 2_000_000


@pytest.mark.filterwarnings("default")
def test_simulate_tells_of_a_time_that_is_too_short(call, folder):
    for events, short in (("1000", True), ("1e5", False)):
        command = ["simulate", folder / "digits.safetensors", "digits", "--events", events]
        done = call(*command, "--no-figure", "--json")
        assert done.returncode == 0
        count = json.loads(done.stdout)["short"]
        assert (count > 0) == short
        assert done.names(f"{count} neurons") == short
        assert call(*command, "--no-figure").shows(f"{count} neurons") == short


def test_where_all_neurons_are_saturated_no_share_of_intervals_is_told(call, tmp_path, unrendered):
    (tmp_path / "t.csv").write_text("a,b\n1,1\n0.5,0.5\n0,0\n0.2,0.2\n")
    assert call("fit", "t.csv", "--hidden", 1, cwd=tmp_path).returncode == 0
    command = ["simulate", "t.safetensors", "t.csv", "--events", "1000", "--no-figure"]
    done = call(*command, "--json", cwd=tmp_path)
    document = json.loads(done.stdout, parse_constant=pytest.fail)  # NaN is no JSON
    assert document["saturated"] == 5
    assert document["covered"] is None
    assert "nan" not in call(*command, cwd=tmp_path).stdout
    assert call("report", "t.safetensors", "t.csv", "-o", ".", cwd=tmp_path).returncode == 0
    assert "nan %" not in (tmp_path / "index.html").read_text()


def test_the_fewest_events_will_do_with_any_seed(call, folder):
    command = ["simulate", folder / "wine.safetensors", "wine", "--events", "1000", "--no-figure"]
    for seed in range(12):
        done = call(*command, "--seed", seed, "--json")
        assert done.returncode == 0, done.stderr


def test_simulate_takes_any_estimator(call, folder):
    errors = {}
    for estimator in ("potential", "busy", "arrivals", "events"):
        done = call(
            "simulate", folder / "wine.safetensors", "wine", "--events", "1e5", "--json",
            "--no-figure", "--estimator", estimator,
        )  # fmt: skip
        document = json.loads(done.stdout)
        assert document["estimator"] == estimator
        errors[estimator] = tuple(document["rmse"][-1][1])
    assert len(set(errors.values())) == 4


@pytest.mark.filterwarnings("default")
def test_simulate_ends_when_enough_is_known(call, folder, tmp_path):
    command = ["simulate", folder / "wine.safetensors", "wine", "--events", "1e6", "--json"]
    done = call(*command, "--until", "0.2", "-o", tmp_path / "layers.png")
    found = json.loads(done.stdout)
    assert (found["until"], found["reached"]) == (0.2, True)
    assert found["events"] < 1e6
    assert found["rmse"][-1][0] == found["events"]
    done = call(*command, "--no-figure", "--until", "0.001")
    assert json.loads(done.stdout)["reached"] is False
    assert done.names("0.001", "neuron")
    assert call(*command, "--until", "2").names("--until")
    text = ["simulate", folder / "wine.safetensors", "wine", "--no-figure", "--events", "1e5"]
    assert call(*text, "--until", "0.3").shows("95 %", 0.3, "100,000")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--partition", 2, "--engine", "clock"], ["--partition"]),
        (["--partition", 2, "--until", 0.1], ["--until"]),
        (["--partition", 2, "--estimator", "events"], ["--estimator events"]),
        (["--partition", 500], ["--partition", 31]),
        (["--engine", "neurons", "--estimator", "events"], ["--engine clock"]),
        (["--raster", "a.csv", "--record-bytes", "much"], ["--record-bytes"]),
    ],
)
def test_what_does_not_go_together_is_said_in_options(call, folder, tmp_path, options, named):
    done = call("simulate", folder / "wine.safetensors", "wine", "--no-figure", *options)
    assert done.returncode == 2
    assert done.names(*named)
    assert "='" not in done.said


def test_simulate_draws_what_it_is_asked_to(call, folder, tmp_path):
    for suffix in ("svg", "pdf"):
        picture = tmp_path / f"a.{suffix}"
        done = call(
            "simulate", folder / "digits.safetensors", "digits", "--events", "1e4", "-o", picture,
            "--replicas", 3,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert picture.stat().st_size > 1_000


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_simulate_writes_single_spikes(call, folder, tmp_path, suffix):
    spikes = tmp_path / f"spikes.{suffix}"
    command = [
        "simulate", folder / "wine.safetensors", "wine", "--row", 7, "--events", "1e4",
        "--replicas", 2, "--no-figure", "--raster", spikes, "--record", "hidden,0-2, 20",
    ]  # fmt: skip
    done = call(*command, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    model = lrnn.load(folder / "wine.safetensors")
    network = model.to_network()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # feature names
        arrivals = model.arrivals(load("wine", scaled=False).data[6:7])[0]
    chosen = [0, 1, 2, *range(13, 18), 20]
    expected = network.simulate(
        arrivals, events=10_000, replicas=2, record=chosen, random_state=0
    ).raster
    found = pd.read_csv(spikes) if suffix == "csv" else pd.read_parquet(spikes)
    assert (document["raster"], document["spikes"]) == (str(spikes), len(found))
    np.testing.assert_array_equal(found["neuron"], expected.neurons)
    np.testing.assert_array_equal(found["replica"], expected.replicas)
    np.testing.assert_allclose(found["time"], expected.times, rtol=1e-12)

    done = call(*command)
    assert done.returncode == 1
    assert done.names(f"spikes.{suffix}", "--force")
    done = call(*command, "--force")
    assert done.returncode == 0, done.stderr
    assert done.shows(f"spikes.{suffix}", f"{len(found):,}")


@pytest.mark.parametrize(("part", "layers"), [("encoder", ["input", "code"]),
                                              ("decoder", ["code", "output"])])  # fmt: skip
def test_simulate_takes_a_part_of_the_network(call, folder, tmp_path, part, layers):
    done = call(
        "simulate", folder / "digits.safetensors", "digits", "--part", part, "--row", 3,
        "--events", "1e5", "-o", tmp_path / "a.png", "--json",
        "--raster", tmp_path / "a.csv", "--record", "code",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["part"], document["layers"]) == (part, layers)
    assert document["rmse"][-1][1][-1] < 0.05
    found = pd.read_csv(tmp_path / "a.csv")
    first = 64 if part == "encoder" else 0
    assert found["neuron"].between(first, first + 4).all()


@pytest.mark.slow
def test_the_bar_of_a_long_simulation_shows_its_error(folder):
    done = subprocess.run(
        [LRNN, "simulate", "wine.safetensors", "wine", "--events", "3e8", "--no-figure"],
        capture_output=True, text=True, cwd=folder, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    assert done.returncode == 0
    assert re.search(r"0\.00\d+", done.stderr)


def test_export(call, folder, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    model = lrnn.load(folder / "wine.safetensors")
    out = tmp_path / "wine.onnx"
    assert call("export", folder / "wine.safetensors", "-o", out).returncode == 0
    session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
    X, raw = load("wine").data, load("wine", scaled=False).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # feature names
        codes = model.transform(raw)
    np.testing.assert_allclose(session.run(["codes"], {"data": X})[0], codes, rtol=0, atol=1e-6)

    raw = raw.astype(np.float32)
    done = call(
        "export", folder / "wine.safetensors", "-o", out, "--scaling", "--dtype", "float32",
        "--json", "--force",
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["bytes"] == out.stat().st_size
    session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
    found = session.run(["codes"], {"data": raw})[0]
    np.testing.assert_allclose(found, codes, rtol=0, atol=1e-6)


def test_report(call, folder, tmp_path):
    done = call(
        "report", folder / "digits.safetensors", "digits", "-o", tmp_path / "r", "--row", 3,
        "--against", folder / "digits.safetensors", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    page = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert document["report"] == str(tmp_path / "r" / "index.html")
    assert document["valid"] is True
    assert document["cut_off"]["values"] == 0
    assert "Row 3 of the data" in page
    assert "--row 3 --against" in page  # the command that makes it again


def test_models_that_are_compared_each_take_the_data_their_own_way(call, tmp_path, unrendered):
    """Scaled by their own ranges, of their own columns, by known cells of rows they do not drop."""
    rows = np.random.default_rng(0).random((40, 4)).round(3) * [1, 10, 100, 1]
    table = pd.DataFrame(rows, columns=list("abcd"))
    table.loc[[3, 20], "d"] = np.nan
    table["kind"] = np.where(rows[:, 0] > 0.5, "high", "low")
    table.to_csv(tmp_path / "t.csv", index=False)
    errors = {}
    for name, options in {
        "minmax": ("--drop", "d", "--scale", "minmax"),
        "max": ("--drop", "a", "--scale", "max", "--missing", "drop"),
        "filled": ("--scale", "minmax", "--missing", "allow"),
    }.items():
        line = ("fit", "t.csv", "--hidden", 2, "--label", "kind", *options, "--json")
        done = call(*line, "-o", f"{name}.safetensors", cwd=tmp_path)
        assert done.returncode == 0, done.said
        errors[name] = json.loads(done.stdout)["error"]
    for one, other in (("minmax", "max"), ("max", "filled"), ("filled", "minmax")):
        line = ("report", f"{one}.safetensors", "t.csv", "--against", f"{other}.safetensors")
        done = call(*line, "-o", "page", cwd=tmp_path)
        assert done.returncode == 0, done.said
        page = (tmp_path / "page" / "index.html").read_text()
        for name, error in (("this model", errors[one]), (f"{other}.safetensors", errors[other])):
            line = re.search(rf"<t[dh][^>]*>{name}</t[dh]>\s*<td[^>]*>([\d.]+)</td>", page)
            assert line[1] == decimal(error), name


def test_report_of_a_file_with_hostile_names(call, tmp_path):
    name = "<script>x</script>"
    write(tmp_path / "a<b>.csv", np.random.default_rng(0).random((20, 3)), [name, "$b", "_c"])
    data, model = tmp_path / "a<b>.csv", tmp_path / "a.safetensors"
    assert call("fit", data, "-o", model, "--hidden", 2).returncode == 0
    done = call("report", model, data, "-o", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert name not in page
    assert "&lt;script&gt;x&lt;/script&gt;" in page
    assert "<h1>a&lt;b&gt;.csv</h1>" in page


def test_inspect_names_the_parts(call, folder):
    done = call("inspect", folder / "wine.safetensors", "--parts", 2)
    assert done.returncode == 0
    assert done.shows(2, 5)
    document = json.loads(call("inspect", folder / "wine.safetensors", "--json").stdout)
    model = lrnn.load(folder / "wine.safetensors")
    strongest = [max(part["strongest"], key=part["strongest"].get) for part in document["parts"]]
    names = model.feature_names_in_[model.components_.argmax(axis=1)]
    assert strongest == names.tolist()
    assert document["training"][0]["error"] == model.history_[0].lowest
    assert document["firing_rates"][2] == [1, 1, 1]


def test_data_sets_have_names(call, folder, tmp_path):
    model = lrnn.load(folder / "digits.safetensors")
    done = call("encode", folder / "digits.safetensors", "digits", "-o", tmp_path / "c.npy")
    assert done.returncode == 0, done.stderr
    raw = load("digits", scaled=False).data
    np.testing.assert_allclose(np.load(tmp_path / "c.npy"), model.transform(raw), atol=1e-12)
    done = call("data", "list", "--json")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["datasets"]) == 20


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        ("simulate wine.safetensors wine --row 179", 2, "--row wine 178"),
        ("simulate wine.safetensors wine --events many", 2, "--events many"),
        ("simulate wine.safetensors wine --events 1e16", 2, "--events 1e16"),
        ("simulate wine.safetensors wine --estimator all", 2, "--estimator all potential"),
        ("simulate wine.safetensors wine -o a.doc", 2, "a.doc .png"),
        ("simulate wine.safetensors wine -o no/a.png", 1, "'no'"),
        ("simulate wine.safetensors wine --raster a.png", 2, "a.png .csv .parquet"),
        ("simulate wine.safetensors wine --raster no/a.csv", 1, "'no'"),
        ("simulate wine.safetensors wine --record 1", 2, "--record --raster"),
        ("simulate wine.safetensors wine --raster a.csv --record 1-31", 2, "'1-31' 0 30 input"),
        ("simulate wine.safetensors wine --raster a.csv --events 1e12", 1, "953.7 MiB"),
        ("simulate wine.safetensors digits", 1, "'digits' 64 13"),
        ("simulate wine.safetensors zero.npy", 1, "event"),
        ("simulate wine.safetensors vine", 1, "'vine' 'wine'?"),
        ("fit Mnist -o a.safetensors", 1, "'Mnist' 'mnist'?"),
        ("fit wine -o no/a.safetensors", 1, "'no'"),
        ("export wine.safetensors -o a.pt", 2, "a.pt .onnx"),
        ("export wine.safetensors -o no/a.onnx", 1, "'no'"),
        ("report wine.safetensors wine -o wine.safetensors", 1, "'wine.safetensors'"),
        ("report wine.safetensors wine -o r --row 999", 2, "--row 178"),
        ("report wine.safetensors wine -o r --against digits.safetensors", 1,
         "'digits.safetensors' 13 64"),
        ("data fetch vine", 1, "'vine' 'wine'?"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_said_in_a_line(call, folder, arguments, status, named, monkeypatch):
    monkeypatch.chdir(folder)
    np.save("zero.npy", np.zeros((2, 13)))
    before = sorted(p.name for p in folder.iterdir())
    done = call(*arguments.split())
    assert done.returncode == status
    assert done.names(*named.split())
    assert sorted(p.name for p in folder.iterdir()) == before


def test_what_is_not_foreseen_is_no_traceback_either(call, folder, monkeypatch):
    def broken(path):
        raise KeyError("surprise")

    monkeypatch.setattr(lrnn.storage.model_files, "load", broken)
    done = call("inspect", folder / "wine.safetensors")
    assert done.returncode == 1
    assert done.names("KeyError", "surprise", "--debug")
    with pytest.raises(KeyError):
        call("inspect", folder / "wine.safetensors", "--debug")


def test_memory_that_is_not_there(call, folder, monkeypatch):
    def full(path):
        raise MemoryError

    monkeypatch.setattr(lrnn.storage.model_files, "load", full)
    done = call("inspect", folder / "wine.safetensors")
    assert (done.returncode, done.names("memory")) == (1, True)
    assert not done.names("--debug")


def test_a_reader_that_leaves_early_is_no_error(folder):
    done = subprocess.run(
        f"'{LRNN}' inspect wine.safetensors --parts 100 | head -c 10",
        shell=True, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    assert done.stdout.startswith("wine.safet")
    assert done.stderr == ""


@pytest.mark.slow
def test_colours_are_for_terminals_only(folder):
    done = subprocess.run(
        [LRNN, "inspect", "none.safetensors"], capture_output=True, text=True, cwd=folder
    )
    assert "\x1b" not in done.stdout + done.stderr
    environment = {**os.environ, "FORCE_COLOR": "1"}
    for colour in (False, True):
        environment |= {} if colour else {"NO_COLOR": "1"}
        done = subprocess.run(
            [LRNN, "inspect", "none.safetensors"], capture_output=True, text=True, cwd=folder,
            env=environment,
        )  # fmt: skip
        assert ("\x1b[1;31m" in done.stderr) == colour
        environment.pop("NO_COLOR", None)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("lrnn si", {"simulate"}),
        ("lrnn fit mni", {"mnist"}),
        ("lrnn data f", {"fetch"}),
        ("lrnn fit digits --sol", {"--solver"}),
    ],
)
def test_the_shell_completes(typed, offered):
    environment = {
        **os.environ,
        "_LRNN_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = subprocess.run([LRNN], capture_output=True, text=True, env=environment)
    assert set(done.stdout.split()) == offered
