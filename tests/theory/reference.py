"""The simulation in plain Python: slow, readable, and the definition of what the kernels do."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork


def events(
    network: RandomNeuralNetwork,
    arrivals: Floats,
    inhibitory_arrivals: Floats,
    random: np.random.Generator,
    start: NDArray[np.int64] | None = None,
) -> Iterator[tuple[float, NDArray[np.int64]]]:
    """When events happen to a network that starts at rest, and all potentials after each.

    An event is a spike that comes from outside or a neuron that fires. Waiting times are
    exponential; what happens next is drawn in proportion to its rate. There is no end, unless
    nothing can happen any more. ``start`` is what potentials begin with, if not at rest.
    """
    excitatory, inhibitory = _dense(network.excitatory), _dense(network.inhibitory)
    n = network.n_neurons
    potentials = np.zeros(n, dtype=np.int64) if start is None else start.copy()
    time = 0.0
    while True:
        firing = network.rates * (potentials > 0)
        rates = np.concatenate([arrivals, inhibitory_arrivals, firing])
        if not rates.any():
            return
        time += random.exponential(1 / rates.sum())
        kind, neuron = divmod(int(random.choice(3 * n, p=rates / rates.sum())), n)
        if kind == 0:
            potentials[neuron] += 1
        elif kind == 1:
            potentials[neuron] = max(potentials[neuron] - 1, 0)
        else:
            potentials[neuron] -= 1
            routes = np.concatenate([excitatory[neuron], inhibitory[neuron]])
            leaves = max(1 - routes.sum(), 0)
            route = np.append(routes, leaves)
            target = int(random.choice(2 * n + 1, p=route / route.sum()))
            if target < n:
                potentials[target] += 1
            elif target < 2 * n:
                potentials[target - n] = max(potentials[target - n] - 1, 0)
        yield time, potentials.copy()


def after_film(
    network: RandomNeuralNetwork,
    arrivals: Floats,
    inhibitory_arrivals: Floats,
    frames: Floats,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """All potentials at the end of a film: one row of arrivals after the other, until its time."""
    potentials = np.zeros(network.n_neurons, dtype=np.int64)
    for plus, minus, lasts in zip(
        arrivals, inhibitory_arrivals, np.diff(frames, prepend=0.0), strict=True
    ):
        for time, later in events(network, plus, minus, random, potentials):
            if time >= lasts:
                break
            potentials = later
    return potentials


def mean_potentials(
    network: RandomNeuralNetwork,
    arrivals: Floats,
    inhibitory_arrivals: Floats,
    random: np.random.Generator,
    observations: int,
    every: int = 1_000,
) -> Floats:
    """Potentials after ``every`` so many events, averaged: the paper's estimate, to the letter."""
    happening = events(network, arrivals, inhibitory_arrivals, random)
    seen = islice(happening, every - 1, every * observations, every)
    return np.asarray(np.mean([potentials for _, potentials in seen], axis=0))


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
