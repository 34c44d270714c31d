"""The demo, help, and what all commands have in common."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lrnn

LRNN = Path(sys.executable).with_name("lrnn")


def run(*arguments, cwd):
    """As a person would: in a process of its own."""
    return subprocess.run(
        [LRNN, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
    )


def test_the_demo_trains_audits_simulates_and_reports(call, tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr  # the progress bars
    folder = tmp_path / "lrnn-demo"
    assert sorted(p.name for p in folder.iterdir()) == [
        "digits.png", "digits.safetensors", "index.html", "live.html", "printed.safetensors",
    ]  # fmt: skip
    assert (folder / "digits.png").read_bytes().startswith(b"\x89PNG")
    model, printed = (lrnn.load(folder / f"{n}.safetensors") for n in ("digits", "printed"))
    assert model.reconstruction_err_ < 0.018 < printed.reconstruction_err_ < 0.03
    assert printed.audit().largest_row_sum > 2
    assert all(name in done.stdout for name in ("index.html", "live.html", "digits.png"))
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f"{printed.audit().largest_row_sum:.2f}" in page
    assert "<code>lrnn demo</code>" in page

    # what one would do next
    assert "lrnn simulate lrnn-demo/digits.safetensors digits --row 7" in done.stdout
    done = call("simulate", "lrnn-demo/digits.safetensors", "digits", "--row", "7", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = call("inspect", "lrnn-demo/digits.safetensors", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["layers"], document["valid"]) == ([64, 16, 64], True)
    done = call("encode", "lrnn-demo/digits.safetensors", "digits", "-o", "c.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pixels = load_digits().data
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), model.transform(pixels))


def test_the_demo_for_programs(call, tmp_path):
    done = call("demo", "--hidden", 4, "--json", "-o", "a/b", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["error"] < document["error_of_printed_algorithm"]
    assert document["report"] == "a/b/index.html"
    assert document["largest_routed"] == pytest.approx(1)
    assert document["simulation_rmse"] < 0.03


def test_help_and_version(call):
    done = call("--help")
    for command in ("demo", "fit", "simulate", "report", "export", "data"):
        assert done.shows(command)
    assert "lrnn fit wine --hidden 7" in done.stdout
    assert "lrnn demo" in call("demo", "-h").stdout
    assert call("--version").stdout.strip() == f"lrnn {lrnn.__version__}"
    assert "fit" in call().stdout + call().stderr


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        (["demo", "--output", "file"], 1, "'file'"),
        (["demo", "--output", "file/demo"], 1, "'file'"),
        (["demo", "--hidden", "0"], 2, "--hidden"),
        (["nothing"], 2, "'nothing'"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line_without_a_traceback(
    call, tmp_path, arguments, status, named
):
    (tmp_path / "file").write_text("in the way")
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == status
    assert done.names(named)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.slow
def test_debug_shows_the_traceback(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "Traceback" not in run("demo", "--output", "file", cwd=tmp_path).stderr
    assert "Traceback" in run("demo", "--output", "file", "--debug", cwd=tmp_path).stderr
