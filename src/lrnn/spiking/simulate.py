"""The simulation as a whole: plan, run, sum up."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.progress import work_bar
from lrnn.spiking.estimators import probability
from lrnn.spiking.ledger import OBSERVATIONS, OBSERVED, TICKS, Ledger
from lrnn.spiking.on_cpu import simulate_on_cpu
from lrnn.spiking.on_dask import simulate_on_dask
from lrnn.spiking.plan import Plan, Start, make_plan, whole
from lrnn.spiking.recording import Raster, Trace, tick_times
from lrnn.spiking.simulation import Simulation

WATCHED = 16  # runs whose error the progress bar shows


def simulate(
    network: RandomNeuralNetwork,
    arrivals: ArrayLike,
    inhibitory_arrivals: ArrayLike | None = None,
    *,
    events: float | None,
    time: float | None,
    observe_every: int,
    replicas: int,
    start: Start,
    warm_up: float,
    record: ArrayLike | None,
    trace: bool,
    snapshot_bytes: int,
    device: str,
    threads: int | None,
    progress: bool | None,
    random_state: Any,
) -> Simulation:
    """Simulate; see :meth:`lrnn.RandomNeuralNetwork.simulate`."""
    if device not in ("cpu", "cuda", "dask"):
        raise ValueError(f"device must be 'cpu', 'cuda' or 'dask', got {device!r}")
    if device != "cpu" and (record is not None or trace):
        raise ValueError("record and trace need device='cpu'")
    if threads is not None:
        threads = whole(threads, "threads")
    plan = make_plan(
        network, arrivals, inhibitory_arrivals, events=events, time=time,
        observe_every=observe_every, replicas=replicas, warm_up=warm_up, start=start,
        snapshot_bytes=snapshot_bytes, random_state=random_state,
    )  # fmt: skip
    recorded = _recorded(network, record)
    ledger = Ledger.of(plan)

    def error() -> str:
        now = error_so_far(plan, ledger)
        return "" if np.isnan(now) else f"error {now:.4f}"

    with work_bar("simulating", plan.n_runs, progress, error) as report:
        if device == "cpu":
            simulate_on_cpu(plan, ledger, threads, recorded, trace, report)
        elif device == "dask":
            simulate_on_dask(plan, ledger, report)
        else:
            _gpu()(plan, ledger, report)
    if ledger.interrupted and not ledger.counts.any():
        raise KeyboardInterrupt
    return _result(plan, ledger, np.ndim(arrivals) == 1, recorded)


def error_so_far(plan: Plan, ledger: Ledger) -> float:
    """Root mean square error of the first runs to the numeric solution, while they go on."""
    squares = []
    for run in range(min(plan.n_runs, WATCHED)):
        observed = ledger.counts[:, OBSERVATIONS, run]
        if observed.any():
            last = int(observed.argmax())
            mean = ledger.sums[last, OBSERVED, run] / float(observed[last])
            exact = np.asarray(plan.steady)[run // plan.replicas]
            squares.append((probability(mean, "potential") - exact) ** 2)
    return float(np.sqrt(np.mean(squares))) if squares else np.nan


def _gpu() -> Any:
    try:
        from lrnn.spiking.on_gpu import simulate_on_gpu
    except ImportError as error:
        raise RuntimeError(
            f"device='cuda' needs numba-cuda (pip install 'lrnn[cuda]'): {error}; device='cpu' "
            "gives the same results"
        ) from error
    return simulate_on_gpu


def _recorded(network: RandomNeuralNetwork, record: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Which nodes' spikes are to be recorded."""
    if record is None:
        return None
    chosen = np.asarray(record)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise ValueError(f"record must be a list of neurons' numbers, got {record!r}")
    n = network.n_neurons
    wrong = chosen[(chosen < 0) | (chosen >= n)]
    if len(wrong):
        raise ValueError(f"record names neuron {wrong[0]}, but they are numbered 0 to {n - 1}")
    recorded = np.zeros(3 * n + 1, dtype=np.bool_)
    recorded[chosen] = True
    return recorded


def _result(
    plan: Plan, ledger: Ledger, one: bool, recorded: NDArray[np.bool_] | None
) -> Simulation:
    rates = np.array([c.total_rate for c in plan.clocks])
    times = _times(plan, ledger, np.repeat(rates, plan.replicas))
    of_row: Any = 0 if one else slice(None)
    raster = trace = None
    if ledger.spikes is not None and recorded is not None:
        when = _when(plan, ledger, times, ledger.spikes[:, 0])
        raster = Raster(when, ledger.spikes[:, 1], np.flatnonzero(recorded))
    if ledger.trace is not None:
        trace = Trace(_when(plan, ledger, times, ledger.trace[:, 0]), ledger.trace[:, 1])
    return Simulation(
        network=plan.network,
        replicas=plan.replicas,
        unit=plan.unit,
        snapshots=plan.snapshots,
        interrupted=ledger.interrupted,
        arrival_counts=ledger.arrivals[of_row],
        firing_counts=ledger.firings[of_row],
        raster=raster,
        trace=trace,
        _steady=plan.steady,
        _counts=ledger.counts,
        _sums=ledger.sums,
        _times=times,
        _total_rates=rates,
        _one=one,
    )


def _times(plan: Plan, ledger: Ledger, rates: Floats) -> Floats:
    """Simulated time at every snapshot of every run."""
    ticks = ledger.counts[:, TICKS]
    if plan.unit == "events":
        gaps = np.diff(ticks, axis=0, prepend=0)
        return np.cumsum(plan.generator("time").standard_gamma(gaps), axis=0) / rates
    times = np.broadcast_to(plan.snapshots[:, None], ticks.shape)
    if not ledger.interrupted:
        return times
    due = np.stack([plan.tick_ends(run) for run in range(plan.n_runs)], axis=1)
    return np.where(ticks < due, ticks / rates, times)


def _when(plan: Plan, ledger: Ledger, times: Floats, ticks: NDArray[np.int64]) -> Floats:
    """Times of ticks of the first run."""
    ends = ledger.counts[:, TICKS, 0]
    return tick_times(ticks, ends, times[:, 0], plan.unit == "events", plan.generator("when"))
