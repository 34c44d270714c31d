"""Keys of what commands print with ``--json`` are those that are written down.

What is written down is a promise (docs/stability.md). After a deliberate change write it anew:
``python tests/test_json_keys.py``.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from lrnn.cli.app import app

WRITTEN = Path(__file__).parent / "data" / "json_keys.txt"
TABLE = ("t.csv", "--label", "kind", "--hidden", "2", "--max-iter", "20")
BENCHMARK = ("--quick", "--data", "iris", "--hidden", "2", "--against", "nmf-cd", "-o", "b")
LINES = {  # each kind of document that a command prints: how it is called, what it is given
    "fit": ("fit", *TABLE, "-o", "a.safetensors"),
    "fit --classify": ("fit", *TABLE, "--classify", "--spike-penalty", "0.1",
                       "-o", "c.safetensors"),
    "moment": ("moment", *TABLE[:3], "-o", "m.safetensors"),
    "fit of a moment": ("fit", "m.safetensors", "--hidden", "2", "-o", "f.safetensors"),
    "inspect": ("inspect", "a.safetensors"),
    "inspect of a classifier": ("inspect", "c.safetensors"),
    "inspect of a moment": ("inspect", "m.safetensors"),
    "encode": ("encode", "a.safetensors", "t.csv", "-o", "codes.csv"),
    "reconstruct": ("reconstruct", "a.safetensors", "t.csv", "-o", "rows.csv"),
    "classify": ("classify", "c.safetensors", "t.csv", "-o", "classes.csv"),
    "classify --events": ("classify", "c.safetensors", "t.csv", "-o", "e.csv", "--events", "1e6",
                          "--confidence", "0.6", "--ratio", "4", "--plot", "e.png"),
    "detect": ("detect", *TABLE[:3], "-o", "scores.csv", "--save", "d.safetensors"),
    "inspect of a detector": ("inspect", "d.safetensors"),
    "report of a detector": ("report", "d.safetensors", "t.csv", "-o", "page-d"),
    "impute": ("impute", "gaps.csv", "--drop", "kind", "-o", "full.csv"),
    "simulate": ("simulate", "a.safetensors", "t.csv", "--events", "1e4"),
    "simulate of a classifier": ("simulate", "c.safetensors", "t.csv", "--events", "1e4"),
    "frontier": ("frontier", *TABLE[:5], "--penalties", "2", "--passes", "1", "-o", "front"),
    "width": ("width", *TABLE[:3], "--widths", "1,2"),
    "report": ("report", "a.safetensors", "t.csv", "-o", "page"),
    "report of a classifier": ("report", "c.safetensors", "t.csv", "-o", "page-c"),
    "live": ("live", "a.safetensors", "t.csv", "--rows", "2", "-o", "live.html"),
    "export": ("export", "a.safetensors", "-o", "a.onnx"),
    "demo": ("demo", "-o", "demo"),
    "data list": ("data", "list"),
    "data fetch": ("data", "fetch", "digits"),
    "data verify": ("data", "verify", "zoo"),  # which is not there
    "data describe": ("data", "describe", "t.csv"),
    "data export": ("data", "export", "iris", "iris.csv"),
    "reproduce": ("reproduce", "iris", "--quick", "-o", "r"),
    "benchmark fit": ("benchmark", "fit", *BENCHMARK, "--force"),
    "benchmark encode": ("benchmark", "encode", *BENCHMARK, "--force"),
}  # fmt: skip
BY_NAME = (" versions", " strongest")  # whose keys are names of other things, as are those of
OF_FILES = "moment: cut_off"


def lines():
    """Those of `LINES` that can be run with what is installed."""
    return {n: words for n, words in LINES.items() if n != "export" or find_spec("onnx")}


def write_tables(folder):
    """A small table with classes, and one with a missing cell."""
    numbers = 10 * np.random.default_rng(0).random((60, 4)).round(3)
    table = pd.DataFrame(numbers, columns=list("abcd"))
    table["kind"] = np.where(numbers[:, 0] > 5, "high", "low")
    table.to_csv(folder / "t.csv", index=False)
    table.loc[3, "b"] = np.nan
    table.to_csv(folder / "gaps.csv", index=False)


def _strictly(text):
    """The document in a text; NaN and infinities are no JSON."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def keys_of(value, path):
    """Paths to all keys of a document; entries of a list are all alike."""
    if isinstance(value, dict):
        by_name = path.endswith(BY_NAME) or path == OF_FILES
        for key, inner in value.items():
            key = "NAME" if by_name else key
            yield f"{path} {key}"
            yield from keys_of(inner, f"{path} {key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, f"{path} []")


def found(run, folder):
    """All keys, one line each, in order; ``run`` runs a command in a folder."""
    write_tables(folder)
    keys = set()
    for name, words in lines().items():
        done = run(*words, "--json", cwd=folder)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        keys |= set(keys_of(_strictly(done.stdout), f"{name}:"))
    return sorted(keys)


def written():
    text = WRITTEN.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.partition(":")[0] in lines()]


@pytest.fixture(scope="module")
def keys(call, tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRNN_DATA_DIR", str(folder / "data"))
        for name in ("PAUSE", "PATIENCE"):
            patch.setattr(f"lrnn.benchmark.measurements.{name}", 0)
        return found(call, folder)


@pytest.mark.filterwarnings("default")
def test_no_key_has_gone(keys):
    gone = sorted(set(written()) - set(keys))
    assert not gone, (
        "these were promised, and are no longer printed with --json:\n  "
        + "\n  ".join(gone)
        + "\nKeep them, or deprecate them first (docs/stability.md). Only then write the list "
        "anew:\n  python tests/test_json_keys.py"
    )


@pytest.mark.filterwarnings("default")
def test_no_key_has_come_by_chance(keys):
    new = sorted(set(keys) - set(written()))
    assert not new, (
        "these are printed with --json, and not written down:\n  "
        + "\n  ".join(new)
        + "\nA key is a promise (docs/stability.md). If it is meant, write the list anew, and "
        "tell of it in CHANGELOG.md:\n  python tests/test_json_keys.py"
    )


def commands(group, before=()):
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, word))
        elif any("--json" in parameter.opts for parameter in command.params):
            yield (*before, word)


def test_every_command_that_prints_a_document_is_among_them():
    called = {words[:2] for words in LINES.values()}
    for command in commands(typer.main.get_command(app)):
        assert any(words[: len(command)] == command for words in called), command


def _run(*words, cwd):
    line = [sys.executable, "-m", "lrnn", *words]
    data = {"LRNN_DATA_DIR": str(cwd / "data")}
    return subprocess.run(line, cwd=cwd, env=os.environ | data, capture_output=True, text=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        keys = found(_run, Path(folder))
    WRITTEN.write_text("".join(f"{key}\n" for key in keys), encoding="utf-8")
