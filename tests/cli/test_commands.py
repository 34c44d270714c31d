"""The command line, run as a person would run it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lrnn


def run(*arguments, cwd=None, **environment):
    script = Path(sys.executable).with_name("lrnn")
    return subprocess.run(
        [script, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def test_the_demo_trains_audits_and_draws(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "random neural network: valid" in done.stdout
    assert "error 0." in done.stderr  # the progress bar
    folder = tmp_path / "lrnn-demo"
    assert (folder / "digits.png").read_bytes().startswith(b"\x89PNG")
    model = lrnn.load(folder / "digits.safetensors")
    assert model.reconstruction_err_ < 0.03
    assert f"{model.reconstruction_err_:.4f}" in done.stdout

    # what one would do next
    done = run("inspect", "lrnn-demo/digits.safetensors", cwd=tmp_path)
    assert "64 → 16 → 64" in done.stdout, done.stderr
    pixels = load_digits().data
    np.save(tmp_path / "pixels.npy", pixels)
    done = run("encode", "lrnn-demo/digits.safetensors", "pixels.npy", "-o", "c.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), model.transform(pixels / 16))


def test_a_model_with_a_note_of_its_own_can_be_inspected(tmp_path):
    X = load_digits().data / 16
    model = lrnn.LRNNAutoencoder((3,), max_iter=5).fit(X)
    model.save(tmp_path / "a.safetensors", scaling={"divide by": 16})
    done = run("inspect", "a.safetensors", cwd=tmp_path)
    assert "scaled by {'divide by': 16}" in done.stdout, done.stderr
    np.save(tmp_path / "x.npy", X)
    done = run("encode", "a.safetensors", "x.npy", "-o", "c.npy", cwd=tmp_path)
    assert done.returncode == 1
    assert "Scale the data in that way in Python" in " ".join(done.stderr.split())


def test_help_and_version():
    assert "demo" in run("--help").stdout
    assert "lrnn demo" in run("demo", "--help").stdout
    assert run("--version").stdout.strip() == f"lrnn {lrnn.__version__}"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["demo", "--output", "file"], 1, "error:"),
        (["demo", "--hidden", "0"], 2, "--hidden"),
        (["nothing"], 2, "No such command 'nothing'"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line_without_a_traceback(
    tmp_path, arguments, status, message
):
    (tmp_path / "file").write_text("in the way")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "file").read_text() == "in the way"


def test_debug_shows_the_traceback(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "Traceback" in run("--debug", "demo", "--output", "file", cwd=tmp_path).stderr
