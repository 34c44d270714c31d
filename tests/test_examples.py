"""The examples: one run as a person would run it, the others in this process, which is quick."""

import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from naming import naming

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments, cwd):
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error"}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # other tests may run too
    environment.pop("LRNN_DATA_DIR", None)  # data that everyone has
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
    )


@pytest.fixture
def run_here(capsys, monkeypatch):
    """Run an example in this process; what it has printed, and its warnings."""
    monkeypatch.delenv("LRNN_DATA_DIR", raising=False)

    def run(name, *arguments, cwd):
        path = str(EXAMPLES / f"{name}.py")
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", [path, *arguments])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path(path, run_name="__main__")
        return capsys.readouterr()

    yield run
    plt.close("all")


PRINTED = {
    "from_nmf": ("transform(X)", "fit_transform(X)", "0e+00"),
    "steady_state_and_simulation": ("intervals", "95 %"),
    "spike_by_spike": ("100 digits", 6),
    "spiking_digits": ("valid", "RMSE"),
    "classifier_pipeline": ("accuracy", "code neurons"),
    "spike_budget": ("rank 12", "spikes"),
    "pooled_sums": ("sums", "rows"),
    "unmixing": ("lrnn", "codes", "0.23°"),
    "strange_patients": ("212",),
    "detector_on_a_stream": ("5 %", "normal rows"),
    "recurrent_learning": ("wine", "22 neurons", "484 excitatory", "484 inhibitory"),
}
ARGUMENTS = {
    "steady_state_and_simulation": ["mine.png"],
    "recurrent_learning": ["recurrent_learning.png", "2", "10"],  # folds and steps: soon done
}


LONG = ("classifier_pipeline", "spike_budget")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow if n in LONG else ())
        for n in PRINTED
        if n != "spiking_digits"
    ],
)
def test_the_example_runs_without_a_warning_and_draws(run_here, tmp_path, name):
    arguments = ARGUMENTS.get(name, [])
    printed, complaints = run_here(name, *arguments, cwd=tmp_path)
    assert complaints == ""
    assert_printed_and_drawn(name, printed, arguments[:1] or [f"{name}.png"], tmp_path)


def test_so_it_does_in_a_process_of_its_own(tmp_path):
    done = run("spiking_digits", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert_printed_and_drawn("spiking_digits", done.stdout, ["spiking_digits.png"], tmp_path)


def assert_printed_and_drawn(name, printed, figures, folder):
    assert re.search(naming(*PRINTED[name]), printed)
    if name == "spiking_digits":
        figures = [*figures, "spiking_digits_raster.png"]
    assert sorted(path.name for path in folder.iterdir()) == figures
    for figure in figures:
        assert (folder / figure).read_bytes().startswith(b"\x89PNG")


def test_every_example_is_tested_short_and_says_how_to_run_it():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PRINTED)
    for name in PRINTED:
        lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert f"    python examples/{name}.py [FIGURE]" in lines
        assert len(lines) < 100
