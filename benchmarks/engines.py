"""CPU time of a run clock by clock and neuron by neuron, and which of them "auto" takes.

    python benchmarks/engines.py

Networks of 2, 1,618 (MNIST 784→50) and 100,000 neurons (five layers, 10 connections of each), at
several brightnesses and lengths; what would take the clock more than some seconds is left out.
"""

import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from common import console, load_mnist, report
from lrnn import LRNNAutoencoder, RandomNeuralNetwork
from lrnn.spiking.on_cpu import RunQueue
from lrnn.spiking.plan import Statistics
from lrnn.spiking.simulate import make_plan

LENGTHS = {1_000: 20, 30_000: 10, 1_000_000: 1}  # events, and runs of which the mean is taken
MOST_RINGS = 2e8
ROUNDS = 3


def networks() -> Iterator[tuple[str, RandomNeuralNetwork, Any]]:
    """Names, networks and arrivals."""
    yield "2 neurons", RandomNeuralNetwork([1.0, 1.0], np.eye(2, k=1)), np.array([0.5, 0.0])
    images = load_mnist()[:5_000]
    model = LRNNAutoencoder(50, max_iter=60, random_state=0).fit(images)
    yield "MNIST 784→50", model.to_network(), model.arrivals(images[:1])[0]
    rng, width = np.random.default_rng(0), 20_000
    goals = rng.integers(width, size=(4 * width, 10)) + width * (
        1 + np.arange(4 * width)[:, None] // width
    )
    first = np.append(10 * np.arange(4 * width + 1), np.full(width, 40 * width))
    routes = sparse.csr_array(
        (np.full(40 * width, 0.09), goals.ravel(), first), shape=(5 * width,) * 2
    )
    routes.sum_duplicates()
    network = RandomNeuralNetwork(rng.uniform(0.5, 2, 5 * width), routes)
    yield "100,000 neurons", network, np.append(rng.uniform(0.1, 0.6, width), np.zeros(4 * width))


def plan_of(
    network: RandomNeuralNetwork, arrivals: Any, events: int, replicas: int, engine: Any
) -> Any:
    return make_plan(
        network, arrivals, None, events=events, time=None, observe_every=1_000, replicas=replicas,
        warm_up=0, start="empty", snapshot_bytes=1 << 28, random_state=0, engine=engine,
    )  # fmt: skip


def milliseconds(
    network: RandomNeuralNetwork, arrivals: Any, events: int, replicas: int, engine: str
) -> float:
    """CPU time of one of a plan's runs."""
    plan = plan_of(network, arrivals, events, replicas, engine)
    began = process_time()
    RunQueue(plan, Statistics.of(plan), None, False).work()
    return 1e3 * (process_time() - began) / int(plan.replicas)


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, network, bright in networks():
        for brightness in (1, 0.1, 0.01, 0.001):
            arrivals = bright * brightness
            q = np.asarray(network.steady_state(arrivals))
            rings = (q > 0) @ network.rates + arrivals.sum()
            rings /= q @ network.rates + arrivals.sum()
            for events, runs in LENGTHS.items():
                if rings * events * runs > MOST_RINGS:
                    continue
                found = {"clock": np.inf, "neurons": np.inf}
                for engine in found:
                    milliseconds(network, arrivals, 1_000, 1, engine)
                for _ in range(ROUNDS):
                    for engine, before in found.items():
                        now = milliseconds(network, arrivals, events, runs, engine)
                        found[engine] = min(before, now)
                by_neuron = plan_of(network, arrivals, events, 1, "auto").by_neuron
                rows.append(
                    {
                        "network": name,
                        "brightness": brightness,
                        "rings/event": round(float(rings), 1),
                        "events": events,
                        "clock, ms": round(found["clock"], 2),
                        "neurons, ms": round(found["neurons"], 2),
                        "auto": "neurons" if by_neuron else "clock",
                    }
                )
                console.print(rows[-1])
    report("engines", "clock by clock and neuron by neuron", rows)


if __name__ == "__main__":
    main()
