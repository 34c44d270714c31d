"""Runs of one network that is partitioned over processes, or over the workers of a Dask cluster."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.network import RandomNeuralNetwork
from lrnn.spiking.by_neuron import window_for
from lrnn.spiking.on_cpu import RunQueue, make_runs
from lrnn.spiking.parts import Division, Parts
from lrnn.spiking.plan import Plan, Statistics
from lrnn.spiking.wiring import wiring_of

PROCESS_WINDOW = 1 << 18  # events of a part in a window: a level takes some 0.1 ms to ask for
WORKER_WINDOW = 1 << 20  # some ms


def check_partition(
    partition: Any,
    network: RandomNeuralNetwork,
    device: str,
    threads: int | None,
    arguments: dict[str, Any],
) -> None:
    """An error that names what is wrong with a partition, given the other arguments."""
    if device != "cpu":
        raise ValueError(
            f"partition needs device='cpu', got device={device!r}; partition='dask' takes the "
            "workers of a Dask cluster"
        )
    if arguments["engine"] == "clock":
        raise ValueError("partition needs engine='neurons' or 'auto', got engine='clock'")
    if threads is not None:
        raise ValueError(f"give partition or threads, not both ({partition=!r}, {threads=!r})")
    if isinstance(partition, int | np.integer) and not isinstance(partition, bool):
        if not 1 <= partition <= network.n_neurons:
            raise ValueError(
                f"partition must be from 1 to the number of neurons, {network.n_neurons}, got "
                f"{partition!r}"
            )
    elif partition != "dask" and not _is_client(partition):
        raise ValueError(
            "partition must be None, a number of processes, 'dask' or a Dask client, got "
            f"{partition!r}"
        )
    if arguments.get("until") is not None:
        raise ValueError(
            "until is not for a partitioned network; give events= or time=, or leave partition out"
        )
    at_events = arguments["at_events"]
    if at_events or wiring_of(network).cyclic:
        why = "at_events=True" if at_events else "cycles"
        raise ValueError(f"partition is not for {why}; leave it out")


def simulate_in_parts(
    plan: Plan,
    statistics: Statistics,
    partition: Any,
    recorded: NDArray[np.bool_] | None,
    trace: bool,
    report: Callable[[float], None],
) -> None:
    """Make all runs of the plan, one after the other; on Ctrl-C, keep what they have counted."""
    queue = RunQueue(plan, statistics, recorded, trace, parts=partial(parts_in, plan, partition))
    make_runs(queue, 1, statistics, report)


def parts_in(plan: Plan, partition: Any) -> Parts:
    """Parts of the network where they are wanted."""
    if isinstance(partition, int | np.integer):
        from lrnn.spiking.on_processes import ProcessParts

        division = Division.of(plan, int(partition))
        return ProcessParts(division, window_for(plan, PROCESS_WINDOW))
    from lrnn.spiking.on_workers import WorkerParts

    client = _current_client() if isinstance(partition, str) else partition
    workers = len(client.nthreads())
    if not workers:
        raise ValueError("partition: the Dask cluster has no workers")
    division = Division.of(plan, min(workers, plan.network.n_neurons))
    return WorkerParts(division, window_for(plan, WORKER_WINDOW), client)


def _is_client(partition: Any) -> bool:
    return hasattr(type(partition), "scheduler_info")


def _current_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise RuntimeError("partition='dask' needs Dask: pip install 'lrnn[dask]'") from None
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "partition='dask' needs a client of the cluster: client = dask.distributed.Client(...)"
        ) from None
