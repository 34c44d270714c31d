"""How commands read: on narrow terminals, in plain ASCII, and after slips of the keyboard."""

import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import typer

import lrnn
from lrnn import LRNNAutoencoder
from lrnn.cli.app import app
from lrnn.datasets import DATA_SETS
from lrnn.tables.messages import SettingWarning, TableError
from naming import naming


@pytest.fixture(scope="module")
def folder(digits, tmp_path_factory):
    """Some digits as a file, and a model of them."""
    folder = tmp_path_factory.mktemp("words")
    np.save(folder / "x.npy", digits[:50])
    model = lrnn.LRNNAutoencoder((3,), max_iter=2, random_state=0).fit(digits[:50])
    model.verbose = 1
    model.save(folder / "a.safetensors")
    return folder


def commands():
    """All of them, as words of a line."""
    root = typer.main.get_command(app)
    groups = {name: command for name, command in root.commands.items() if name == "data"}
    return [
        *((name,) for name in root.commands),
        *((group, name) for group, found in groups.items() for name in found.commands),
    ]


@pytest.mark.parametrize("command", [(), *commands()], ids=" ".join)
def test_help(call, command):
    """Flags take no value, and every command has an example."""
    told = call(*command, "--help", columns=200).stdout
    assert "<bool>" not in told
    assert "--help" in told
    if command not in ((), ("data",)):
        assert re.search(rf"(?m)^\s+lrnn {' '.join(command)}\b", told)


@pytest.mark.filterwarnings("default")
def test_quiet_is_nothing_but_warnings_and_errors(call, tmp_path):
    """Numbers that are cut off, or rows left out, are never silent; all else is."""
    rows = np.c_[np.linspace(0, 5, 30), np.linspace(5, 0, 30), np.arange(30) % 2]
    np.savetxt(tmp_path / "a.csv", rows, "%g", ",", header="x,y,kind", comments="")
    rows[0, 0] = 9
    np.savetxt(tmp_path / "b.csv", rows, "%g", ",", header="x,y,kind", comments="")
    fit = ("fit", "a.csv", "--classify", "--label", "kind", "--hidden", "3", "--max-iter", "3")
    done = call(*fit, "-o", "m.safetensors", "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = call("classify", "m.safetensors", "b.csv", "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert all(line.startswith("warning: ") for line in done.stderr.splitlines())
    assert done.names("x", 9)


def test_the_version_has_a_short_name(call):
    assert call("-V").stdout == call("--version").stdout


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_names_of_data_sets_are_never_cut(call, columns):
    lines = call("data", "list", columns=columns).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == list(DATA_SETS)
    assert max(len(line.rstrip()) for line in lines[:-1]) <= columns


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--scale", "foo", ["--scale", "foo", "minmax"]),
        ("--seed", "x", ["--seed", "x"]),
        ("--tol", "-1", ["--tol", -1]),
    ],
)
def test_values_that_are_refused_are_named(call, option, value, named):
    done = call("fit", "digits", "-o", "a.safetensors", option, value)
    assert done.returncode == 2
    assert done.names(*named)
    assert "Value error" not in done.said
    assert "Input should" not in done.said


def commands_of_models():
    """Those whose first argument is a model."""
    for words in commands():
        command = typer.main.get_command(app)
        for word in words:
            command = command.commands[word]
        arguments = [p.name for p in command.params if p.param_type_name == "argument"]
        if arguments[:1] == ["model"]:
            yield words, arguments[1:]


@pytest.mark.parametrize(("words", "others"), [*commands_of_models()])
def test_a_folder_is_no_model_wherever_the_output_would_go(call, folder, words, others):
    (folder / "models").mkdir(exist_ok=True)
    for output in ([], ["-o", "models/out.csv"], ["-o", "models"]):
        done = call(*words, "models", *["x.npy"] * len(others), *output, cwd=folder)
        if done.returncode == 2 and done.names("-o"):  # lrnn inspect writes nothing
            continue
        assert done.returncode == 1
        assert done.names("'models'", ".safetensors")


@pytest.mark.parametrize("command", ["encode", "reconstruct", "classify", "simulate", "report"])
def test_arguments_in_the_wrong_order(call, folder, command):
    output = () if command == "simulate" else ("-o", "out.csv")
    done = call(command, "x.npy", "a.safetensors", *output, cwd=folder)
    assert done.returncode == 1
    assert done.names("a.safetensors", "MODEL", "DATA")
    done = call(command, "a.safetensors", "a.safetensors", *output, cwd=folder)
    assert done.returncode == 1
    assert not done.names("MODEL")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("--hidden 8+40 --solver minibatch", ["--hidden", "--solver gram", "--rates free"]),
        ("--spike-penalty 0.1", ["--spike-penalty 0.1", "--inhibition"]),
        ("--early-stopping", ["--early-stopping", "--inhibition", "--tol"]),
        ("--inhibition --rates unit", ["--inhibition", "--rates free", "unit"]),
    ],
)
def test_settings_that_do_not_go_together_are_named_as_options(call, folder, options, named):
    done = call("fit", "x.npy", *options.split(), "-o", "never.safetensors", cwd=folder)
    assert done.returncode == 1
    assert done.names(*named)
    assert not (folder / "never.safetensors").exists()


def test_remedies_of_another_command_are_told_as_such(call, folder, monkeypatch):
    """What lrnn demo trains is warned of in words of lrnn fit, whose options it has not."""
    said = SettingWarning("nothing inhibits; give {fine_tune=5}, or a lower {spike_penalty}")
    told = "give --fine-tune 5, or a lower --spike-penalty"

    def warn(*_):
        warnings.warn(said, stacklevel=1)
        raise TableError("a cell is empty; give {missing=median}, or {drop=x}")

    def lines(*words):
        monkeypatch.setattr(LRNNAutoencoder, "fit", warn)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            return call(*words, cwd=folder).stderr.replace("\n", " ")

    found = lines("demo", "-o", "never")
    others = "--fine-tune and --spike-penalty: of lrnn fit; lrnn demo has no such options"
    assert f"{told} ({others})" in found
    assert "or --drop x (--missing and --drop: of lrnn fit; lrnn demo has no" in found


def test_options_that_a_command_has_are_told_as_they_are(call, folder):
    (folder / "t.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    for words in (["fit", "t.csv"], ["width", "t.csv"]):
        said = call(*words, cwd=folder).said
        assert re.search(naming("t.csv", "row 1", "--label b"), said)
        assert "lrnn fit" not in said


def test_models_load_silently(folder):
    assert lrnn.load(folder / "a.safetensors").verbose == 0


ALL = """
import json, sys
from lrnn.cli import main
for line in json.loads(sys.argv[1]):
    sys.argv = ["lrnn", *line.split()]
    try:
        main()
    except SystemExit as end:
        print("status", end.code or 0, flush=True)
"""


def test_an_encoding_without_our_letters_kills_nothing(folder):
    lines = [
        "--help",
        "fit --help",
        "inspect a.safetensors",
        "data list",
        "encode a.safetensors x.npy -o é.npy --json",
        "fit x.npy -o b.safetensors --hidden 2 --max-iter 2",
        "encode é→.safetensors x.npy -o codes.npy",
    ]
    done = subprocess.run(
        [sys.executable, "-c", ALL, json.dumps(lines)],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
    )
    said, complaints = done.stdout.decode("ascii"), done.stderr.decode("ascii")
    assert done.returncode == 0, complaints
    assert said.count("status 0") == len(lines) - 1
    assert "'?->.safetensors'" in complaints
    assert "64 -> 2" in said
    (document,) = (json.loads(line) for line in said.splitlines() if line.startswith("{"))
    assert document["output"] == "é.npy"


def test_long_names_of_columns_are_never_cut(call, digits, tmp_path):
    name = "od280/od315_of_diluted_wines_and_of_others"
    model = lrnn.LRNNAutoencoder((2,), max_iter=2, random_state=0).fit(digits[:20, 20:23])
    model.feature_names_in_ = np.array([name, "b", "c"], dtype=object)
    model.save(tmp_path / "a.safetensors")
    told = call("inspect", tmp_path / "a.safetensors", columns=60).stdout
    assert "…" not in told
    assert name in "".join(line.split("│")[-2].strip() for line in told.splitlines() if "│" in line)


def test_data_are_called_what_the_user_calls_them(call, tmp_path):
    """Also those that are an array in memory, for a model of a table."""
    call("data", "export", "wine", "wine.csv", cwd=tmp_path)
    fit = ("fit", "wine.csv", "--label", "label", "--max-iter", "2", "-o", "m.safetensors")
    assert call(*fit, cwd=tmp_path).returncode == 0
    done = call("encode", "m.safetensors", "digits", "-o", "c.csv", cwd=tmp_path)
    assert done.names("digits", 64, 14)
    assert "'X'" not in done.said


@pytest.mark.parametrize("command", ["inspect", "export"])
def test_a_table_is_no_model(call, tmp_path, command):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    done = call(command, "t.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("t.csv", "lrnn fit t.csv")


@pytest.mark.parametrize("command", ["width", "frontier"])
def test_a_moment_holds_no_rows(call, folder, command):
    assert call("moment", "x.npy", "-o", "k.safetensors", "--force", cwd=folder).returncode == 0
    done = call(command, "k.safetensors", cwd=folder)
    assert done.returncode == 1
    assert done.names("k.safetensors")
