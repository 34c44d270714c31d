"""Runs on a GPU: all at once, or as many as its memory holds."""

import warnings
from collections.abc import Callable

import numpy as np

from lrnn.spiking.cuda_kernel import NOWHERE, cuda
from lrnn.spiking.gpu_layout import Indices, groups
from lrnn.spiking.gpu_runs import Runs, bytes_per_row, free_memory, shared_memory
from lrnn.spiking.ledger import Ledger
from lrnn.spiking.plan import FOREVER, Plan

AT_ONCE = 16_000_000_000  # events (or ticks) of all runs in one launch: two seconds or so
MOST_EVENTS = 1 << 32  # of a run: its counts have 32 bits


def simulate_on_gpu(plan: Plan, ledger: Ledger, report: Callable[[float], None]) -> None:
    """Make all runs of the plan; on Ctrl-C, leave what there is in the ledger."""
    check_device(plan)
    at_once = max(1, int(free_memory() * 0.8 / bytes_per_row(plan)))
    done = 0
    try:
        for rows in groups(plan, shared_memory()):
            for first in range(0, len(rows), at_once):
                part = rows[first : first + at_once]
                with warnings.catch_warnings():  # numba's, that a few runs keep no GPU busy
                    warnings.filterwarnings("ignore", ".*under-utilization")
                    _make(plan, ledger, part, done, report)
                done += len(part) * plan.replicas
    except KeyboardInterrupt:
        ledger.interrupted = True


def check_device(plan: Plan) -> None:
    """Complain of what cannot be done on a GPU, or here."""
    if not cuda.is_available():
        raise RuntimeError(
            "device='cuda' needs an NVIDIA GPU and numba-cuda (pip install 'lrnn[cuda]'), and none "
            "was found; device='cpu' gives the same results"
        )
    if plan.network.n_neurons >= NOWHERE:
        raise ValueError(
            f"device='cuda' is for networks of up to {int(NOWHERE) - 1:,} neurons, this one has "
            f"{plan.network.n_neurons:,}; use device='cpu'"
        )
    length = plan.snapshots[-1] * (1 if plan.unit == "events" else _fastest(plan))
    if length >= MOST_EVENTS:
        raise ValueError(
            f"device='cuda' is for up to {MOST_EVENTS:,} events of each run, and this would be "
            f"{length:,.0f}; use more replicas, or device='cpu'"
        )


def _make(
    plan: Plan, ledger: Ledger, rows: Indices, done: int, report: Callable[[float], None]
) -> None:
    """Make the runs of some rows of arrivals."""
    runs = Runs.of(plan, rows)
    count = len(runs.numbers)
    piece = max(20_000, AT_ONCE // count)
    by_time = plan.unit == "time"
    reached = 0
    try:
        for snapshot, stop in enumerate(plan.snapshots):
            goal = int(runs.tick_ends[:, snapshot].max()) if by_time else int(stop)
            while reached < goal:
                reached = min(goal, reached + piece)
                if by_time:
                    runs.advance(np.minimum(runs.tick_ends[:, snapshot], reached), FOREVER)
                else:
                    runs.advance(FOREVER, reached)
                report(done + count * stop / plan.snapshots[-1] * reached / goal)
            runs.write(ledger, snapshot)
    except KeyboardInterrupt:
        cuda.synchronize()
        for late in range(snapshot, len(plan.snapshots)):
            runs.write(ledger, late)
        raise


def _fastest(plan: Plan) -> float:
    """Ticks per unit time, of the row that has the most."""
    return max(clocks.total_rate for clocks in plan.clocks)
