"""Terminals and environments: hostile names, how commands end, closed streams, no home."""

import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from time import sleep

import numpy as np
import pandas as pd
import pytest

import lrnn
from lrnn import progress
from lrnn.cli.data import verify
from lrnn.cli.voice import Voice
from lrnn.datasets import DATA_SETS

HOSTILE = [
    "\x1b]0;owned\x07a",
    "\x1b[2J\x1b[31mb",
    "c\x9b31m\x7f",
    "[red]d[/red]",
    ":smile:",
    "[/]",
]
TABLES = ["[red]x.csv", "\x1b[31mf.csv", "a[/b].csv", ":smile:.csv"]
STATUSES = (0, 1, 2, 130, 143)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, call):
    """Tables with hostile names of columns, labels and files, and a model of each."""
    folder = tmp_path_factory.mktemp("hostile")
    table = pd.DataFrame(np.random.default_rng(0).random((40, 6)), columns=HOSTILE)
    table["class"] = ["\x1b[31mx", "[bold]y"] * 20
    (folder / "a[").mkdir()
    for name in TABLES:
        table.to_csv(folder / name, index=False)
        model = ("--label", "class", "--hidden", 2, "--max-iter", 3, "-o", f"{name}.safetensors")
        assert call("fit", name, *model, "-q", cwd=folder).returncode == 0
    return folder


def orders(text):
    """Control characters, which a terminal obeys."""
    return [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]


def test_names_of_files_need_not_be_utf8(call, tmp_path, unrendered):
    byte = os.fsdecode(b"\xff")
    table, model, page = (tmp_path / f"{byte}{name}" for name in ("t.csv", "m.safetensors", "page"))
    frame = pd.DataFrame(np.random.default_rng(0).random((40, 3)), columns=list("abc"))
    try:
        frame.to_csv(table, index=False)
    except OSError:
        pytest.skip("this file system takes no other names")
    assert call("fit", table, "--hidden", 2, "-o", model).returncode == 0
    for command in (
        ("report", model, table, "--against", model, "-o", page),
        ("live", model, table, "--rows", 2, "-o", f"{page}.html"),
        ("detect", table, "-o", f"{page}.csv", "--report", page),
    ):
        done = call(*command, "--json")
        assert done.returncode == 0, done.said
        written = json.loads(done.stdout.encode())  # it can be written, and leads to the file
        written = Path(written.get("report") or written["page"])
        assert "\\udcfft.csv" in written.read_text(encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    done = call("encode", model, table, "-o", f"{page}.parquet")
    assert done.returncode == 1
    assert "page.parquet" in done.said
    assert sorted(tmp_path.iterdir()) == before
    frame.to_parquet(tmp_path / "u.parquet")
    (tmp_path / "u.parquet").rename(f"{page}.parquet")
    done = call("fit", f"{page}.parquet", "-o", tmp_path / "p.safetensors")
    assert "page.parquet" in done.said


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("default")
def test_names_are_neither_orders_nor_markup(call, folder, name, tmp_path):
    model, shown = f"{name}.safetensors", progress.printable(name)
    for command, status in (
        (("data", "describe", name), 0),
        (("data", "describe", name, "--json"), 0),
        (("fit", name, "--label", "class", "--hidden", 1, "-o", tmp_path / "m.safetensors"), 0),
        (("inspect", model), 0),
        (("inspect", model, "--json"), 0),
        (("simulate", model, name, "--events", 1_000, "-o", tmp_path / "a.svg"), 0),
        (("encode", model, name, "-o", tmp_path / "c.csv"), 0),
        (("encode", model, f"no{name}", "-o", tmp_path / "d.csv"), 1),
        (("encode", model, name, name, "-o", tmp_path / "d.csv"), 2),
        (("fit", name, "--label", HOSTILE[0] + "!", "-o", tmp_path / "d.safetensors"), 2),
    ):
        done = call(*command, cwd=folder, columns=200)
        assert done.returncode == status, done.stderr
        assert not orders(done.stdout + done.stderr), command
        assert "Glyph" not in done.stderr
        if command[0] != "fit" and "-o" not in command and "--json" not in command:
            assert shown in done.stdout
            assert "[red]d[/red]" in done.stdout
            assert r"\x1b[2J\x1b[31mb" in done.stdout
    assert json.loads(call("inspect", model, "--json", cwd=folder).stdout)["model"] == model


def test_bars_show_names_as_they_are(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("a[/b].npy", "[red]x", "\x1b[2Jx"):
        with progress.work_bar(f"encoding {name}", 2, True, lambda: "[/note]") as report:
            report(1)
            report(2)
        with progress.StageBars() as bars:
            bars.begin(f"reading {name}", 1)
            bars.note("[/]")
        said = capsys.readouterr().err
        assert f"encoding {progress.printable(name)}" in said
        assert f"reading {progress.printable(name)}" in said
        assert "[/note]" in said
        assert not orders(said)


def test_the_help_and_the_docs_name_every_exit_status(call):
    docs = Path(__file__).parents[2] / "docs" / "command-line.md"
    for text in (call("--help", columns=200).stdout, docs.read_text(encoding="utf-8")):
        told = " ".join(text.split()).split("Exit status")[1]
        places = [told.index(f"{status} ") for status in STATUSES]
        assert places == sorted(places)


def test_exit_statuses(call, folder, monkeypatch):
    model = f"{TABLES[0]}.safetensors"
    assert call("inspect", model, cwd=folder).returncode == 0
    assert call("inspect", "nothing.safetensors", cwd=folder).returncode == 1
    assert call("inspect", model, "--part", cwd=folder).returncode == 2
    assert call("inspekt", cwd=folder).returncode == 2
    for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with monkeypatch.context() as patch:
                kill = lambda path, sent=sent: os.kill(os.getpid(), sent)  # noqa: E731
                patch.setattr(lrnn.storage.model_files, "load", kill)
                done = call("inspect", model, cwd=folder)
        finally:
            signal.signal(signal.SIGINT, before)
        assert done.returncode == status
        assert len(done.stderr.splitlines()) == 1


AMID_IMPORT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    @staticmethod
    def find_spec(name, *more):
        if name == sys.argv[0]:
            os.kill(os.getpid(), signal.SIGINT)
sys.argv = sys.argv[1:]
sys.meta_path.insert(0, Finder)
from lrnn.cli import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "rich.console", "numpy", "scipy.sparse"])
def test_ctrl_c_amid_an_import(module, tmp_path):
    command = [module, "fit", "iris", "-o", "a.safetensors"]
    done = subprocess.run(
        [sys.executable, "-c", AMID_IMPORT, *command], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (130, 1)
    assert not list(tmp_path.glob("*.safetensors"))


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&- <&-"])
def test_closed_streams(folder, closed, tmp_path):
    codes = tmp_path / "codes.csv"
    command = f"-m lrnn encode ':smile:.csv.safetensors' ':smile:.csv' -o '{codes}' --json {closed}"
    done = subprocess.run(
        f"'{sys.executable}' {command}", shell=True, capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert bool(done.stdout) == (closed == "2>&-")
    assert pd.read_csv(codes).shape == (40, 3)  # and nothing else was written into it


LINES = """
import sys
from lrnn.cli import main
for line in sys.argv[1:]:
    sys.argv = ["lrnn", *line.split()]
    try:
        main()
    except SystemExit as end:
        print("status", end.code or 0, flush=True)
"""


@pytest.mark.slow
def test_a_barren_environment(tmp_path):
    """No home, no cache, no letters but ASCII, no asserts, and every warning an error."""
    kept = {k: v for k, v in os.environ.items() if k not in ("HOME", "LANG", "PYTHONWARNINGS")}
    barren = dict.fromkeys(("HOME", "MPLCONFIGDIR", "XDG_CACHE_HOME"), "/proc/x")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "64"}
    lines = [
        "data list",
        "fit iris --hidden 2 --max-iter 5 -o a.safetensors",
        "inspect a.safetensors",
        "encode a.safetensors iris -o codes.csv",
        "simulate a.safetensors iris --events 1e4 --no-figure",
    ]
    done = subprocess.run(
        [sys.executable, "-O", "-W", "error", "-c", LINES, *lines],
        capture_output=True,
        cwd=tmp_path,
        env={**kept, **barren, **plain},
    )
    said = done.stdout.decode("ascii")
    assert said.count("status 0") == len(lines), done.stderr.decode("ascii")
    assert "arning" not in done.stderr.decode("ascii")


def test_a_bar_appears_where_the_first_part_of_the_work_takes_long(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with progress.work_bar("writing much", 2, True):
        sleep(0.5)
    assert "writing much" in capsys.readouterr().err
    with progress.work_bar("writing little", 2, True) as report:
        report(2)
    sleep(0.2)
    assert "writing" not in capsys.readouterr().err


def test_files_that_are_checked_are_named_meanwhile(monkeypatch, tmp_path):
    named = []
    monkeypatch.setattr(Voice, "working", lambda self, task: named.append(task) or nullcontext())
    monkeypatch.setattr("lrnn.datasets.fetch.located", lambda file: tmp_path / file.path)
    monkeypatch.setattr("lrnn.datasets.fetch.data_folder", lambda: tmp_path)
    monkeypatch.setattr("lrnn.datasets.fetch.check", lambda path, file: None)
    verify(["mnist"])
    assert [task.split()[0] for task in named] == ["checking"] * len(DATA_SETS["mnist"].files)
