"""Events per second on one image of MNIST 784→100, beside other ways to simulate the same network.

    pip install ciw brian2 cython 'numpy<2.4'    # the peers; those missing are left out
    python benchmarks/simulation.py

All take turns in one run, one core each, and the best of some rounds counts, since other work on
the machine only ever makes them slower.
"""

import argparse
import sys
from time import perf_counter

import numpy as np
from numba import njit

from common import console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.spiking.on_cpu import available_cores
from lrnn.spiking.plan import EVENTS, TICKS

ROUNDS = 7


@njit(cache=True)
def plain_uniformisation(chances, aliases, first, route_chances, route_aliases, targets,
                         potentials, n_arrivals, events, seed):  # fmt: skip
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


def alias(weights):
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


def with_leaving(network):
    """Routes of each neuron, −1 for leaving the network last."""
    first, chances, targets = [0], [], []
    for neuron in range(network.n_neurons):
        row = network.excitatory[[neuron]]
        chances.append(np.append(row.data, network.departures[neuron]))
        targets.append(np.append(row.indices, -1))
        first.append(first[-1] + len(chances[-1]))
    return np.array(first), chances, np.concatenate(targets)


def ours(network, arrivals):
    def run(events):
        network.simulate(arrivals, events=events, threads=1, random_state=0)

    return run


def plain(network, arrivals):
    first, rows, targets = with_leaving(network)
    tables = [alias(row) for row in rows]
    route_chances = np.concatenate([t[0] for t in tables])
    shifted = [t[1] + begin for t, begin in zip(tables, first, strict=False)]
    route_aliases = np.concatenate(shifted)
    n = network.n_neurons
    # a clock for the arrivals at every neuron, and one for every neuron
    weights = np.concatenate([arrivals, network.rates])
    chances, aliases = alias(weights)

    def run(events):
        plain_uniformisation(
            chances, aliases, first, route_chances, route_aliases, targets,
            np.zeros(n, np.int64), n, events, 0,
        )  # fmt: skip

    return run


def ciw_events(network, arrivals, time):
    """Events and seconds of Ciw in so much simulated time."""
    import ciw

    n = network.n_neurons
    model = ciw.create_network(
        arrival_distributions=[
            ciw.dists.Exponential(rate=rate) if rate > 0 else None for rate in arrivals
        ],
        service_distributions=[ciw.dists.Exponential(rate=rate) for rate in network.rates],
        number_of_servers=[1] * n,
        routing=[(row * (1 - 1e-9)).tolist() for row in network.excitatory.toarray()],
    )
    ciw.seed(0)
    simulation = ciw.Simulation(model)
    began = perf_counter()
    simulation.simulate_until_max_time(time)
    seconds = perf_counter() - began
    served = sum(len(individual.data_records) for individual in simulation.get_all_individuals())
    came = simulation.nodes[0].number_of_individuals
    return served + came, seconds


def brian_events(network, arrivals, time):
    """Events and seconds of Brian2, which steps through time: at most one firing per step."""
    import brian2 as b2

    b2.prefs.codegen.target = "cython"
    b2.seed(0)
    step = 0.1 / network.rates.max()
    b2.defaultclock.dt = step * b2.second
    neurons = b2.NeuronGroup(
        network.n_neurons,
        "k : 1\nrate : Hz\nu : 1",
        threshold="k > 0.5 and rand() < rate * dt",
        reset="k -= 1\nu = rand()",
    )
    neurons.rate = network.rates * b2.Hz
    neurons.u = "rand()"
    routes = network.excitatory.tocoo()
    upper = np.concatenate([np.cumsum(network.excitatory[[i]].data) for i in range(len(arrivals))])
    lower = upper - network.excitatory.data
    synapses = b2.Synapses(
        neurons, neurons, "low : 1\nhigh : 1", on_pre="k_post += int(u_pre >= low and u_pre < high)"
    )
    synapses.connect(i=routes.row, j=routes.col)
    synapses.low, synapses.high = lower, upper
    fed = np.flatnonzero(arrivals)
    outside = b2.PoissonGroup(len(fed), arrivals[fed] * b2.Hz)
    inputs = b2.Synapses(outside, neurons, on_pre="k_post += 1")
    inputs.connect(i=np.arange(len(fed)), j=fed)
    counts = [b2.SpikeMonitor(group, record=False) for group in (neurons, outside)]
    simulation = b2.Network(neurons, synapses, outside, inputs, *counts)
    simulation.run(2 * step * b2.second)  # compiled
    before = sum(int(c.num_spikes) for c in counts)
    began = perf_counter()
    simulation.run(time * b2.second)
    seconds = perf_counter() - began
    return sum(int(c.num_spikes) for c in counts) - before, seconds


def rate_of(run, events):
    began = perf_counter()
    run(events)
    return events / (perf_counter() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000_000)
    events = parser.parse_args().events
    model = LRNNAutoencoder((100,), random_state=0).fit(load_mnist("train"))
    network = model.to_network()
    arrivals = model.arrivals(load_mnist("t10k")[:1])[0]

    ways = {
        "lrnn, all statistics": ours(network, arrivals),
        "plain uniformisation (numba), potentials only": plain(network, arrivals),
    }
    for run in ways.values():
        run(100_000)  # compiled
    rates = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):
        for name, run in ways.items():
            rates[name] = max(rates[name], rate_of(run, events))
    for name, peer, time in (
        ("Ciw", ciw_events, 2.0),
        ("Brian2 (steps of time)", brian_events, 20.0),
    ):
        try:
            count, seconds = peer(network, arrivals, time)
        except ImportError as error:
            console.print(f"{name} left out: {error}", file=sys.stderr)
            continue
        rates[name] = count / seconds
    fastest = rates["lrnn, all statistics"]
    rows = [
        {"": name, "events/s": round(rate), "lrnn is faster by": fastest / rate}
        for name, rate in rates.items()
    ]
    counts = network.simulate(arrivals, events=events, random_state=0)._counts[-1, :, 0]
    rows[0]["ticks per event"] = counts[TICKS] / counts[EVENTS]

    cores = available_cores()
    best = {1: np.inf, cores: np.inf}
    for _ in range(ROUNDS):
        for threads in best:
            began = perf_counter()
            network.simulate(
                arrivals, events=events // 4, replicas=4 * cores, threads=threads, random_state=0
            )
            best[threads] = min(best[threads], perf_counter() - began)
    rows.append(
        {"": f"lrnn, {cores} threads against 1", "lrnn is faster by": best[1] / best[cores]}
    )
    report("simulation", "Simulating MNIST 784→100, one image, one core", rows)


if __name__ == "__main__":
    main()
