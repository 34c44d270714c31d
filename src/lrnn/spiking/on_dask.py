"""Runs on a Dask cluster: each task makes some of them, and only what they wrote down travels."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking.on_cpu import RunQueue
from lrnn.spiking.plan import Plan, Statistics

TASKS = 256  # at most: runs are shared out among them


def simulate_on_dask(
    plan: Plan,
    statistics: Statistics,
    recorded: NDArray[np.bool_] | None,
    report: Callable[[float], None],
) -> None:
    """Make all runs of the plan on the cluster of the current client, or on Dask's default."""
    try:
        from dask import compute, delayed
    except ImportError:
        raise RuntimeError("device='dask' needs Dask: pip install 'lrnn[dask]'") from None
    from lrnn.rows.dask import explained

    size = -(-plan.n_runs // TASKS)
    if plan.until is not None:  # a row ends with all of its replicas
        size = -(-plan.n_rows // TASKS) * plan.replicas
    parts = [range(i, min(i + size, plan.n_runs)) for i in range(0, plan.n_runs, size)]
    shared, make = delayed(plan, pure=False), delayed(made, pure=False)
    with explained():
        found = compute(*(make(shared, runs, recorded) for runs in parts))
    for runs, (counts, sums, rows, firings, arrivals, watched, stopped, spikes) in zip(
        parts, found, strict=True
    ):
        part = slice(runs.start, runs.stop)
        statistics.potentials[:, part] = watched
        statistics.stopped[rows] = np.maximum(statistics.stopped[rows], stopped)
        statistics.counts[:, :, part] = counts
        statistics.sums[:, :, part] = sums
        statistics.firings[rows] += firings
        statistics.arrivals[rows] += arrivals
        statistics.spikes |= spikes
    report(plan.n_runs)


def made(plan: Plan, runs: range, recorded: NDArray[np.bool_] | None) -> tuple[Any, ...]:
    """What some runs wrote down; those of a task are made one after the other."""
    statistics = Statistics.of(plan)
    queue = RunQueue(plan, statistics, recorded, False, runs)
    part = slice(runs.start, runs.stop)
    rows = slice(runs.start // plan.replicas, (runs.stop - 1) // plan.replicas + 1)
    if plan.until is None:
        queue.work()
    else:
        queue.work_until(range(rows.start, rows.stop), one_after_the_other, 1)
    return (
        statistics.counts[:, :, part].copy(),
        statistics.sums[:, :, part].copy(),
        rows,
        statistics.firings[rows].copy(),
        statistics.arrivals[rows].copy(),
        statistics.potentials[:, part].copy(),
        statistics.stopped[rows].copy(),
        statistics.spikes,
    )


def one_after_the_other(function: Callable[..., Any], items: Iterable[Any]) -> None:
    """Call a function with each of these."""
    for item in items:
        function(item)
