"""How the contenders simulate one network: lrnn, Ciw and Brian2.

Each function is given the network, its external arrival rates, and about how many events (spikes
from outside, and firings) to make; it tells how many it made, and in how many seconds. What a
contender needs to build its model of the network does not count for Ciw and Brian2; for lrnn it
does.
"""

from time import perf_counter
from typing import Any

import numpy as np

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork

SEED = 0


def simulate_on_one_core(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """One run of lrnn's."""
    return _simulate(network, arrivals, events, 1)


def simulate_on_all_cores(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """A run of lrnn's on each core, each with so many events."""
    from lrnn.spiking.on_cpu import available_cores

    return _simulate(network, arrivals, events, available_cores())


def _simulate(
    network: RandomNeuralNetwork, arrivals: Floats, events: int, cores: int
) -> tuple[float, float]:
    began = perf_counter()
    result = network.simulate(
        arrivals, events=events, replicas=cores, threads=cores, progress=False, random_state=SEED
    )
    seconds = perf_counter() - began
    if result.interrupted:
        raise KeyboardInterrupt
    return float(result.events), seconds


def events_per_time(network: RandomNeuralNetwork, arrivals: Floats) -> float:
    """Events in a unit of simulated time, in the steady state."""
    firings = np.asarray(network.steady_state(arrivals)) @ network.rates
    return float(arrivals.sum() + firings)


def simulate_with_ciw(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """Ciw's queueing network: a neuron is a server, its potential the customers at it."""
    import ciw

    model = ciw.create_network(
        arrival_distributions=[
            ciw.dists.Exponential(rate=rate) if rate > 0 else None for rate in arrivals
        ],
        service_distributions=[ciw.dists.Exponential(rate=rate) for rate in network.rates],
        number_of_servers=[1] * network.n_neurons,
        routing=[(row * (1 - 1e-9)).tolist() for row in network.excitatory.toarray()],
    )
    ciw.seed(SEED)
    simulation = ciw.Simulation(model)
    began = perf_counter()
    simulation.simulate_until_max_time(events / events_per_time(network, arrivals))
    seconds = perf_counter() - began
    served = sum(len(individual.data_records) for individual in simulation.get_all_individuals())
    came = simulation.nodes[0].number_of_individuals
    return float(served + came), seconds


def simulate_with_brian2(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """Brian2, which goes through time in steps: a neuron fires at most once in each."""
    import brian2 as b2

    b2.prefs.codegen.target = "cython"
    b2.seed(SEED)
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
    synapses = _brian2_synapses(b2, network, neurons)
    fed = np.flatnonzero(arrivals)
    outside = b2.PoissonGroup(len(fed), arrivals[fed] * b2.Hz)
    inputs = b2.Synapses(outside, neurons, on_pre="k_post += 1")
    inputs.connect(i=np.arange(len(fed)), j=fed)
    counts = [b2.SpikeMonitor(group, record=False) for group in (neurons, outside)]
    simulation = b2.Network(neurons, synapses, outside, inputs, *counts)
    simulation.run(2 * step * b2.second)  # compiled
    before = sum(int(count.num_spikes) for count in counts)
    time = events / events_per_time(network, arrivals)
    began = perf_counter()
    simulation.run(time * b2.second)
    seconds = perf_counter() - began
    return float(sum(int(count.num_spikes) for count in counts) - before), seconds


def _brian2_synapses(b2: Any, network: RandomNeuralNetwork, neurons: Any) -> Any:
    """A spike takes the one synapse whose share of [0, 1] holds its random number."""
    routes = network.excitatory.tocoo()
    rows = [network.excitatory[[i]].data for i in range(network.n_neurons)]
    upper = np.concatenate([np.cumsum(row) for row in rows])
    synapses = b2.Synapses(
        neurons, neurons, "low : 1\nhigh : 1", on_pre="k_post += int(u_pre >= low and u_pre < high)"
    )
    synapses.connect(i=routes.row, j=routes.col)
    synapses.low, synapses.high = upper - network.excitatory.data, upper
    return synapses
