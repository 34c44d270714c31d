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
    lines = [line for line in done.stdout.splitlines() if "│" in line]
    assert [line.split("│")[1].strip() for line in lines] == [
        "1,000", "10,000", "100,000", "1,000,000", "2,000,000",
    ]  # fmt: skip
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
        assert (json.loads(done.stdout)["short"] > 0) == short
        assert ("warning: the simulated time is too short for" in done.said) == short
        shown = " ".join(call(*command, "--no-figure").stdout.split())
        assert ("the time is too short for" in shown) == short


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
    assert "warning: the limit came first: an interval is 0." in done.said
    assert "--until" in call(*command, "--until", "2").said
    text = ["simulate", folder / "wine.safetensors", "wine", "--no-figure", "--events", "1e5"]
    said = call(*text, "--until", "0.3").stdout
    assert "no 95 % interval is wider than 0.3: ended before 100,000 events" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--partition", 2, "--engine", "clock"], "--partition"),
        (["--partition", 2, "--until", 0.1], "--until"),
        (["--partition", 2, "--estimator", "events"], "--estimator events"),
        (["--partition", 500], "at most the number of neurons, 31"),
        (["--engine", "neurons", "--estimator", "events"], "--engine clock"),
        (["--raster", "a.csv", "--record-bytes", "much"], "--record-bytes"),
    ],
)
def test_what_does_not_go_together_is_said_in_options(call, folder, tmp_path, options, said):
    done = call("simulate", folder / "wine.safetensors", "wine", "--no-figure", *options)
    assert done.returncode == 2
    assert said in " ".join(done.said.replace("│", " ").split())
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
    assert f"spikes.{suffix}' exists; --force replaces it" in done.said
    done = call(*command, "--force")
    assert done.returncode == 0, done.stderr
    assert f"spikes.{suffix}, {len(found):,} spikes" in done.stdout


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
    assert "simulating" in done.stderr
    assert "error 0.00" in done.stderr


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
    assert "2 of 5 parts" in done.stdout
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
    ("arguments", "status", "message"),
    [
        (["simulate", "wine.safetensors", "wine", "--row", "179"], 2, "'wine' has 178 rows"),
        (["simulate", "wine.safetensors", "wine", "--events", "many"], 2, "a whole number from"),
        (["simulate", "wine.safetensors", "wine", "--events", "1e16"], 2, "a whole number from"),
        (["simulate", "wine.safetensors", "wine", "--estimator", "all"], 2, "should be one of"),
        (["simulate", "wine.safetensors", "wine", "-o", "a.doc"], 2, "should end in .png"),
        (["simulate", "wine.safetensors", "wine", "-o", "no/a.png"], 1, "there is no folder 'no'"),
        (["simulate", "wine.safetensors", "wine", "--raster", "a.png"], 2, "end in .csv or .parq"),
        (["simulate", "wine.safetensors", "wine", "--raster", "no/a.csv"], 1, "there is no folder"),
        (["simulate", "wine.safetensors", "wine", "--record", "1"], 2, "give --raster FILE"),
        (
            ["simulate", "wine.safetensors", "wine", "--raster", "a.csv", "--record", "1-31"],
            2,
            "'1-31' should be a neuron from 0 to 30, a range such as 0-9, or a layer: input",
        ),
        (
            ["simulate", "wine.safetensors", "wine", "--raster", "a.csv", "--events", "1e12"],
            1,
            "record fewer neurons, make fewer or shorter runs",
        ),
        (["simulate", "wine.safetensors", "digits"], 1, "'digits' has 64 attributes, but"),
        (["simulate", "wine.safetensors", "zero.npy"], 1, "no event would ever happen"),
        (["simulate", "wine.safetensors", "vine"], 1, "did you mean 'wine'?"),
        (["fit", "Mnist", "-o", "a.safetensors"], 1, "did you mean 'mnist'?"),
        (["fit", "wine", "-o", "no/a.safetensors"], 1, "there is no folder 'no'"),
        (["export", "wine.safetensors", "-o", "a.pt"], 2, "should end in .onnx"),
        (["export", "wine.safetensors", "-o", "no/a.onnx"], 1, "there is no folder 'no'"),
        (["report", "wine.safetensors", "wine", "-o", "wine.safetensors"], 1, "is a file; give"),
        (["report", "wine.safetensors", "wine", "-o", "r", "--row", "999"], 2, "has 178 rows"),
        (
            ["report", "wine.safetensors", "wine", "-o", "r", "--against", "digits.safetensors"],
            1,
            "'digits.safetensors' cannot take these data: 'wine' has 13 attributes, but the model",
        ),
        (["data", "fetch", "vine"], 1, "did you mean 'wine'?"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(call, folder, arguments, status, message, monkeypatch):
    monkeypatch.chdir(folder)
    np.save("zero.npy", np.zeros((2, 13)))
    before = sorted(p.name for p in folder.iterdir())
    done = call(*arguments)
    assert done.returncode == status
    assert message in done.said
    assert sorted(p.name for p in folder.iterdir()) == before


def test_what_is_not_foreseen_is_no_traceback_either(call, folder, monkeypatch):
    def broken(path):
        raise KeyError("surprise")

    monkeypatch.setattr(lrnn.storage.model_files, "load", broken)
    done = call("inspect", folder / "wine.safetensors")
    assert done.returncode == 1
    assert "KeyError: 'surprise' (a bug in lrnn? --debug shows where)" in done.said
    with pytest.raises(KeyError):
        call("inspect", folder / "wine.safetensors", "--debug")


def test_memory_that_is_not_there(call, folder, monkeypatch):
    def full(path):
        raise MemoryError

    monkeypatch.setattr(lrnn.storage.model_files, "load", full)
    assert call("inspect", folder / "wine.safetensors").said == "error: not enough memory"


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


@pytest.mark.parametrize(
    "command", ["demo", "fit", "encode", "reconstruct", "inspect", "simulate", "report", "export"]
)
def test_help_teaches_by_example(call, command):
    done = call(command, "--help")
    assert done.returncode == 0
    assert f"lrnn {command} " in done.stdout.split("Examples")[1]
