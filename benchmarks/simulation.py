"""Events per second on one image of MNIST 784→100, beside other ways to simulate the same network.

    pip install ciw brian2 cython 'numpy<2.4'    # the peers; those missing are left out
    python benchmarks/simulation.py

All take turns in one run, one core each, and the best of some rounds counts, since other work on
the machine only ever makes them slower.
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from common import available_cores, console, in_turns, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.spiking.plan import EVENTS, TICKS
from peers import SIMULATORS, simulate_on_one_core

ROUNDS = 7


@njit(cache=True)  # type: ignore[untyped-decorator]
def plain_uniformisation(
    chances: Any, aliases: Any, first: Any, route_chances: Any, route_aliases: Any, targets: Any,
    potentials: Any, n_arrivals: int, events: int, seed: int,
) -> None:  # fmt: skip
    """As one would write it down: float alias tables, a clock for every neuron, a branch."""
    np.random.seed(seed)
    done = 0
    while done < events:
        drawn = np.random.random() * len(chances)
        clock = int(drawn)
        if drawn - clock >= chances[clock]:
            clock = aliases[clock]
        if clock < n_arrivals:
            potentials[clock] += 1
            done += 1
            continue
        neuron = clock - n_arrivals
        if potentials[neuron] > 0:
            potentials[neuron] -= 1
            done += 1
            drawn = np.random.random() * (first[neuron + 1] - first[neuron])
            route = first[neuron] + int(drawn)
            if drawn - int(drawn) >= route_chances[route]:
                route = route_aliases[route]
            if targets[route] >= 0:
                potentials[targets[route]] += 1


def alias(weights: Any) -> tuple[Any, Any]:
    """Walker's table of one distribution, in floats."""
    share = weights / weights.sum() * len(weights)
    chances, aliases = np.ones(len(weights)), np.arange(len(weights))
    small, large = list(np.flatnonzero(share < 1)), list(np.flatnonzero(share >= 1))
    while small and large:
        low, high = small.pop(), large[-1]
        chances[low], aliases[low] = share[low], high
        share[high] -= 1 - share[low]
        if share[high] < 1:
            small.append(large.pop())
    return chances, aliases


def with_leaving(network: Any) -> tuple[Any, list[Any], Any]:
    """Routes of each neuron, −1 for leaving the network last."""
    first, chances, targets = [0], [], []
    for neuron in range(network.n_neurons):
        row = network.excitatory[[neuron]]
        chances.append(np.append(row.data, network.departures[neuron]))
        targets.append(np.append(row.indices, -1))
        first.append(first[-1] + len(chances[-1]))
    return np.array(first), chances, np.concatenate(targets)


def plain(network: Any, arrivals: Any) -> Callable[[int], None]:
    first, rows, targets = with_leaving(network)
    tables = [alias(row) for row in rows]
    route_chances = np.concatenate([t[0] for t in tables])
    shifted = [t[1] + begin for t, begin in zip(tables, first, strict=False)]
    route_aliases = np.concatenate(shifted)
    n = network.n_neurons
    # a clock for the arrivals at every neuron, and one for every neuron
    weights = np.concatenate([arrivals, network.rates])
    chances, aliases = alias(weights)

    def run(events: int) -> None:
        plain_uniformisation(
            chances, aliases, first, route_chances, route_aliases, targets,
            np.zeros(n, np.int64), n, events, 0,
        )  # fmt: skip

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000_000)
    events = parser.parse_args().events
    model = LRNNAutoencoder((100,), random_state=0).fit(load_mnist("train"))
    network = model.to_network()
    arrivals = model.arrivals(load_mnist("test")[:1])[0]

    lrnn = "lrnn, all statistics"
    ways: dict[str, Callable[[int], object]] = {
        lrnn: partial(simulate_on_one_core, network, arrivals),
        "plain uniformisation (numba), potentials only": plain(network, arrivals),
    }
    for run in ways.values():
        run(100_000)  # compiled
    least = in_turns({name: partial(run, events) for name, run in ways.items()}, ROUNDS)
    rates = {name: events / seconds for name, seconds in least.items()}
    for peer in SIMULATORS:
        if peer.missing is not None:
            console.print(f"{peer.title}: {peer.missing}")
            continue
        count, seconds = peer.run(network, arrivals, peer.budgets[-1])
        rates[peer.title] = count / seconds
    rows = [
        {"": name, "events/s": round(rate), "lrnn is faster by": rates[lrnn] / rate}
        for name, rate in rates.items()
    ]
    counts = network.simulate(arrivals, events=events, random_state=0)._counts[-1, :, 0]
    rows[0]["ticks per event"] = counts[TICKS] / counts[EVENTS]

    cores = available_cores()
    many = {"events": events // 4, "replicas": 4 * cores, "random_state": 0}
    threads = {str(n): partial(network.simulate, arrivals, threads=n, **many) for n in (1, cores)}
    best = in_turns(threads, ROUNDS)
    faster = best["1"] / best[str(cores)]
    rows.append({"": f"lrnn, {cores} threads against 1", "lrnn is faster by": faster})
    report("simulation", "Simulating MNIST 784→100, one image, one core", rows)


if __name__ == "__main__":
    main()
