"""Runs on a Dask cluster: each task makes some of them, and only what they wrote down travels."""

from collections.abc import Callable
from typing import Any

from lrnn.spiking.ledger import Ledger
from lrnn.spiking.on_cpu import Crew
from lrnn.spiking.plan import Plan

TASKS = 256  # at most: runs are shared out among them


def simulate_on_dask(plan: Plan, ledger: Ledger, report: Callable[[float], None]) -> None:
    """Make all runs of the plan on the cluster of the current client, or on Dask's default."""
    try:
        from dask import compute, delayed
    except ImportError:
        raise RuntimeError("device='dask' needs Dask: pip install 'lrnn[dask]'") from None
    from lrnn.rows.dask import explained

    size = -(-plan.n_runs // TASKS)
    parts = [range(i, min(i + size, plan.n_runs)) for i in range(0, plan.n_runs, size)]
    shared, make = delayed(plan, pure=False), delayed(made, pure=False)
    with explained():
        found = compute(*(make(shared, runs) for runs in parts))
    for runs, (counts, sums, rows, firings, arrivals) in zip(parts, found, strict=True):
        part = slice(runs.start, runs.stop)
        ledger.counts[:, :, part] = counts
        ledger.sums[:, :, part] = sums
        ledger.firings[rows] += firings
        ledger.arrivals[rows] += arrivals
    report(plan.n_runs)


def made(plan: Plan, runs: range) -> tuple[Any, ...]:
    """What some runs wrote down; those of a task are made one after the other."""
    ledger = Ledger.of(plan)
    Crew(plan, ledger, None, False, runs).work()
    part = slice(runs.start, runs.stop)
    rows = slice(runs.start // plan.replicas, (runs.stop - 1) // plan.replicas + 1)
    return (
        ledger.counts[:, :, part].copy(),
        ledger.sums[:, :, part].copy(),
        rows,
        ledger.firings[rows].copy(),
        ledger.arrivals[rows].copy(),
    )
