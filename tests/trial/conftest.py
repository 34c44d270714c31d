"""Trials get their cases here."""

import os

import pytest

from trial.harness import SEEDS, Trial


def pytest_generate_tests(metafunc):
    if "trial" not in metafunc.fixturenames:
        return
    short, full = metafunc.function.cases
    each = range(-(-full // SEEDS))
    runs = [(0, range(short)), *((seed, each) for seed in range(1, SEEDS + 1))]
    one = os.environ.get("CASE")
    if one is not None:
        seed, number = map(int, one.split(":"))
        runs = [(seed, [number])]
    runs = [
        pytest.param(run, id=f"seed{run[0]}", marks=[pytest.mark.trial] if run[0] or one else [])
        for run in runs
        if run[1]
    ]
    metafunc.parametrize("trial", runs, indirect=True)


@pytest.fixture
def trial(request, tmp_path, monkeypatch, dask_here, call, record_property):
    """A trial of the kind that the test is named after."""
    test, file = request.node.originalname, request.path.name
    kind = f"{file[5:-3]}.{test[5:]}".replace("_", " ")
    command = f"python -m pytest -m trial tests/trial/{file} -k {test}"
    monkeypatch.chdir(tmp_path)
    return Trial(kind, *request.param, tmp_path, command, call, record_property)
