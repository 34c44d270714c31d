"""The examples: one run as a person would run it, the others in this process, which is quick."""

import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

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
    """Run an example in this process; what it has said and complained of."""
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


SAID = {
    "from_nmf": "differs from fit_transform(X) by 0e+00",
    "steady_state_and_simulation": "intervals of 95 % contain the exact value",
    "spike_by_spike": "sure: it is a ",
    "spiking_digits": "random neural network: valid",
    "classifier_pipeline": "the best has",
    "spike_budget": "no linear map of rank 12 is below",
    "pooled_sums": "sums and rows give the same network",
    "unmixing": "lrnn, bands × pixels: codes         0.23°",
    "strange_patients": "of 212 malignant ones",
    "detector_on_a_stream": "5 % are expected of normal rows",
    "recurrent_learning": "wine: RandomNeuralNetwork(22 neurons, 484 excitatory and 484 inhibitory",
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
        for n in SAID
        if n != "spiking_digits"
    ],
)
def test_the_example_runs_without_a_warning_and_draws(run_here, tmp_path, name):
    arguments = ARGUMENTS.get(name, [])
    said, complaints = run_here(name, *arguments, cwd=tmp_path)
    assert complaints == ""
    assert_said_and_drawn(name, said, arguments[:1] or [f"{name}.png"], tmp_path)


def test_so_it_does_in_a_process_of_its_own(tmp_path):
    done = run("spiking_digits", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert_said_and_drawn("spiking_digits", done.stdout, ["spiking_digits.png"], tmp_path)


def assert_said_and_drawn(name, said, figures, folder):
    assert SAID[name] in said
    if name == "spiking_digits":
        figures = [*figures, "spiking_digits_raster.png"]
    assert sorted(path.name for path in folder.iterdir()) == figures
    for figure in figures:
        assert (folder / figure).read_bytes().startswith(b"\x89PNG")


def test_every_example_is_tested_short_and_says_how_to_run_it():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)
    for name in SAID:
        lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert f"    python examples/{name}.py [FIGURE]" in lines
        assert len(lines) < 100
