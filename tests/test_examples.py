"""The examples, run as a person would run them."""

import os
import subprocess
import sys
from pathlib import Path

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


SAID = {
    "from_nmf": "differs from fit_transform(X) by 0e+00",
    "steady_state_and_simulation": "intervals of 95 % contain the exact value",
    "spike_by_spike": "sure: it is a ",
    "spiking_digits": "random neural network: valid",
    "classifier_pipeline": "the best has",
    "spike_budget": "no linear map of rank 12 is below",
    "pooled_sums": "sums and rows give the same network",
    "unmixing": "lrnn, bands × pixels: codes         0.23°",
    "recurrent_learning": "wine: RandomNeuralNetwork(22 neurons, 484 excitatory and 484 inhibitory",
}
ARGUMENTS = {
    "steady_state_and_simulation": ["mine.png"],
    "recurrent_learning": ["recurrent_learning.png", "2", "10"],  # folds and steps: soon done
}


LONG = ("classifier_pipeline", "spike_budget")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in SAID]
)
def test_the_example_runs_without_a_warning_and_draws(tmp_path, name):
    arguments = ARGUMENTS.get(name, [])
    done = run(name, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert SAID[name] in done.stdout
    figures = arguments[:1] or [f"{name}.png"]
    if name == "spiking_digits":
        figures.append("spiking_digits_raster.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == figures
    for figure in figures:
        assert (tmp_path / figure).read_bytes().startswith(b"\x89PNG")


def test_every_example_is_tested_short_and_says_how_to_run_it():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)
    for name in SAID:
        lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert f"    python examples/{name}.py [FIGURE]" in lines
        assert len(lines) < 100
