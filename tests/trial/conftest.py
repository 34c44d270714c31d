"""Trials get their cases here, and the table of what was tried at the end."""

import os
from collections import defaultdict

import pytest

from trial.harness import SEEDS, Trial, command_of


def pytest_generate_tests(metafunc):
    if "trial" not in metafunc.fixturenames:
        return
    short, full = metafunc.function.cases
    if "CASE" in os.environ:
        seed, number = map(int, os.environ["CASE"].split(":"))
        runs = [(seed, [number])]
    else:
        each = -(-full // SEEDS)
        runs = [(0, range(short))] if short else []
        runs += [(seed, range(each)) for seed in range(1, SEEDS + 1)]
    metafunc.parametrize(
        "trial",
        [
            pytest.param(
                run,
                id=f"seed{run[0]}",
                marks=[pytest.mark.trial] if run[0] or "CASE" in os.environ else [],
            )
            for run in runs
        ],
        indirect=True,
    )


@pytest.fixture
def trial(request, tmp_path, monkeypatch, dask_here, record_property):
    """A trial of the kind that the test is named after."""
    test = request.node.originalname
    kind = f"{request.path.stem}.{test}".replace("test_", "").replace("_", " ")
    monkeypatch.chdir(tmp_path)
    seed, numbers = request.param
    command = command_of(request.path, test)
    return Trial(kind, seed, numbers, tmp_path, command, record_property)


def pytest_terminal_summary(terminalreporter):
    counts = defaultdict(lambda: [0, 0])
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == "trial" and report.when == "call":
                    counts[value[0]][0] += value[1]
                    counts[value[0]][1] += value[2]
    if not counts:
        return
    terminalreporter.section("trial: tried and failed")
    counts["all"] = [sum(numbers) for numbers in zip(*counts.values(), strict=True)]
    width = max(map(len, counts))
    for kind in sorted(counts, key=lambda kind: (kind == "all", kind)):
        tried, failed = counts[kind]
        terminalreporter.write_line(f"{kind:<{width}} {tried:>8,} {failed:>6,}")
