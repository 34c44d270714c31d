"""``python -m reproduction``, as a person would run it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from naming import naming
from reproduction import __main__ as command
from reproduction.report import FILES

ROOT = Path(__file__).parents[2]


def test_it_runs_and_goes_on(tmp_path, capsys):
    words = ["iris", "--quick", "-o", str(tmp_path / "r")]
    assert command.main(words) == 0
    results = sorted((tmp_path / "r" / "results").iterdir())
    assert len(results) == 5  # two ways, two kinds of rates; and recognition
    assert capsys.readouterr().err.count(f"/{len(results)} ") == len(results)
    before = [path.stat().st_mtime_ns for path in results]
    assert command.main(words) == 0
    assert [path.stat().st_mtime_ns for path in results] == before
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert summary["quick"] is True
    assert summary["command"] == f"python -m reproduction iris --quick -o {tmp_path / 'r'}"
    assert summary["lowest_errors"][0]["structure"] == "4→2"


def test_without_a_name_nothing_runs_and_what_can_is_listed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "reproduction"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in ("all", "figure4", "mnist", "wine", "inhibition", "classifiers", "stalled"):
        assert name in done.stdout.replace(",", " ").split()


@pytest.mark.parametrize(
    ("words", "status", "named"),
    [
        ("iriss", 1, ["iriss", "iris"]),
        ("iris -o file", 1, ["file"]),
        ("iris --device cuda", 2, ["--device", "stalled", "classifiers"]),
        ("iris --seeds 0", 2, ["--seeds", 0]),
    ],
)
def test_what_goes_wrong_is_named(words, status, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    try:
        found = command.main(words.split())
    except SystemExit as end:
        found = end.code
    assert found == status
    assert re.search(naming(*named), capsys.readouterr().err)
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_not_replaced(name, tmp_path, capsys, monkeypatch):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("precious")
    monkeypatch.setattr(command, "run_tasks", None)
    if name != "summary.json":
        assert command.main(["iris", "-o", str(tmp_path)]) == 1
        assert str(path) in capsys.readouterr().err
    assert path.read_text() == "precious"


def test_after_ctrl_c_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_tasks", stop)
    assert command.main(["iris", "-o", str(tmp_path)]) == 130
    assert str(tmp_path) in capsys.readouterr().err
