"""One network over processes and Dask workers: speed, bytes that travel, memory of each.

    pip install 'lrnn[dask]'
    python benchmarks/partitioned.py

The network has three layers of neurons, each of which sends to --fan-out neurons of the next one.
Its tables do not fit into one worker with the --memory-limit, which is shown: Dask kills a worker
that needs more. With two or four workers, each of which holds its own neurons' tables, it runs, and
all spikes are the same. Peaks are VmHWM of Linux, of whole processes.
"""

import argparse
import hashlib
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from common import Stopwatch, console, report
from lrnn import RandomNeuralNetwork
from lrnn.spiking.by_neuron import NeuronRun
from lrnn.spiking.on_processes import ProcessParts
from lrnn.spiking.on_workers import WorkerParts
from lrnn.spiking.partitioned import PROCESS_WINDOW, WORKER_WINDOW
from lrnn.spiking.parts import Division
from lrnn.spiking.simulate import make_plan

LAYERS = 3


def network_of(width: int, fan_out: int) -> tuple[RandomNeuralNetwork, np.ndarray]:
    """A network, and arrivals at its first layer."""
    rng = np.random.default_rng(0)
    n, senders = LAYERS * width, (LAYERS - 1) * width
    steps = rng.integers(1, width // fan_out, (senders, fan_out), dtype=np.int32)
    goals = np.cumsum(steps, axis=1, dtype=np.int32)  # in order, and below the width
    goals += ((np.arange(senders) // width + 1) * width).astype(np.int32)[:, None]
    shares = rng.random((senders, fan_out))
    shares *= 0.95 / shares.sum(axis=1, keepdims=True)
    first = np.append(fan_out * np.arange(senders + 1), np.full(width, fan_out * senders))
    routes = sparse.csr_array((shares.ravel(), goals.ravel(), first), shape=(n, n))
    network = RandomNeuralNetwork(rng.uniform(1, 2, n), routes)
    return network, np.append(rng.uniform(0.2, 0.8, width), np.zeros(senders))


def peak(pid: int | str = "self") -> float:
    """The most memory that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def measure(plan: Any, parts: Any, events: int) -> dict[str, Any]:
    """Events per second of a run, bytes per event that went from part to part, its spikes."""
    run = NeuronRun.of(plan, 0, parts)
    for _ in run.go_on(events // 10, None, []):
        pass
    before, sent = run.events, parts.sent
    with Stopwatch() as watch:
        for _ in run.go_on(events, None, []):
            pass
    made = run.events - before
    times = run._in_order(parts.state[0])  # of all neurons: when they fire next, integrals
    return {
        "million events/s": round(made / watch.seconds / 1e6, 1),
        "bytes/event": round((parts.sent - sent) / made, 1),
        "state (SHA-256)": hashlib.sha256(times.tobytes()).hexdigest()[:8],
    }


def on_processes(plan: Any, count: int, events: int) -> dict[str, Any]:
    with ProcessParts(Division.of(plan, count), PROCESS_WINDOW) as parts:
        row = measure(plan, parts, events)
        peaks = [peak(process.pid) for process in parts._processes]
    return row | {"peak MB": round(max(peaks))}


def on_workers(plan: Any, count: int, events: int, limit: int | str) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, memory_limit=limit, dashboard_address=None,
            silence_logs=60,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        try:
            with WorkerParts(Division.of(plan, count), WORKER_WINDOW, client) as parts:
                row = measure(plan, parts, events)
                return row | {"peak MB": round(max(client.run(peak).values()))}
        except RuntimeError as error:
            return {"peak MB": f"does not fit: {error}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=20_000, help="neurons of a layer")
    parser.add_argument("--fan-out", type=int, default=800)
    parser.add_argument("--events", type=float, default=2e7)
    parser.add_argument("--memory-limit", default="800MB")
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    network, arrivals = network_of(settings.width, settings.fan_out)
    events = int(settings.events)
    plan = make_plan(
        network, arrivals, None, events=events, time=None, observe_every=1_000, replicas=1,
        warm_up=0, start="stationary", snapshot_bytes=1, random_state=0, engine="neurons",
    )  # fmt: skip
    entries = network.excitatory.nnz + network.n_neurons
    console.print(
        f"{network.n_neurons:,} neurons, {network.excitatory.nnz:,} connections: tables of "
        f"{16 * entries / 1e6:,.0f} MB; {os.cpu_count()} cores"
    )
    rows = []
    for count in (1, 2, 4):
        rows.append(
            {"parts": f"{count} process{'es' * (count > 1)}", **on_processes(plan, count, events)}
        )
        console.print(rows[-1])
    for count, limit in ((1, 0), (1, settings.memory_limit), (2, settings.memory_limit),
                         (4, settings.memory_limit)):  # fmt: skip
        name = f"{count} Dask worker{'s' * (count > 1)}, "
        name += f"at most {limit} each" if limit else "no limit"
        rows.append({"parts": name, **on_workers(plan, count, events, limit)})
        console.print(rows[-1])
    report("partitioned", "one network in parts", rows)


if __name__ == "__main__":
    main()
