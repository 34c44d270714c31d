"""Every command with ``--json`` prints one document, strictly JSON, and nothing else."""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import typer

from lrnn.cli.app import app

TABLE = ("t.csv", "--label", "kind", "--hidden", "2", "--max-iter", "20")
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
}  # fmt: skip


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


@pytest.mark.filterwarnings("default")
def test_every_document_is_json_and_nothing_else(call, tmp_path, monkeypatch):
    monkeypatch.setenv("LRNN_DATA_DIR", str(tmp_path / "data"))
    write_tables(tmp_path)
    for name, words in lines().items():
        done = call(*words, "--json", cwd=tmp_path)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        assert _strictly(done.stdout), name


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
