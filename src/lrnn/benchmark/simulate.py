"""Events a second on the network of a trained autoencoder, with one row of its data as input."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from lrnn.arrays import Floats
from lrnn.benchmark.course import Row, Step, fastest
from lrnn.benchmark.peers import ALL_CORES, ONE_CORE, Simulator
from lrnn.benchmark.trained import Matrix
from lrnn.network import RandomNeuralNetwork

COMPILE = 1_000  # events before the clock runs


def simulate_steps(
    X: Matrix, hidden: int, peers: Sequence[Simulator], quick: bool = False
) -> list[Step]:
    """All contenders simulate the same network, for more and more events."""
    network, arrivals = trained_network(X, hidden)
    steps = []
    for contender in (ONE_CORE, ALL_CORES, *peers):
        for events in contender.budgets[: 1 if quick else None]:
            measure = partial(_measure, contender, network, arrivals, events)
            steps.append(Step(contender, f"{events:,} events", measure))
    return steps


def trained_network(X: Matrix, hidden: int) -> tuple[RandomNeuralNetwork, Floats]:
    """The network of an autoencoder, and arrivals that present the first row that is not 0."""
    from lrnn.autoencoder import LRNNAutoencoder

    model = LRNNAutoencoder(hidden, random_state=0).fit(X)
    rows = np.flatnonzero(X.any(axis=1))
    if not len(rows):
        raise ValueError("all rows are 0: no spike would ever come to the network")
    return model.to_network(), model.arrivals(X[rows[:1]])[0]


def _measure(
    contender: Simulator, network: RandomNeuralNetwork, arrivals: Floats, budget: int
) -> list[Row]:
    if contender.ours:
        contender.run(network, arrivals, COMPILE)
    events, seconds = fastest(lambda: contender.run(network, arrivals, budget))
    return [{"events": round(events), "seconds": seconds, "events_per_second": events / seconds}]
