"""Who sends spikes to whom: level by level, where there are no cycles."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.spiking.alias import alias_rows

GONE = -(1 << 31)  # where spikes go that leave the network
ENTRIES_AT_ONCE = 1 << 20  # of tables, while they are made


@dataclass(frozen=True)
class Wiring:
    """Who sends spikes to whom, level by level: neurons only send to later levels.

    Attributes
    ----------
    order : ndarray of int
        The neurons, as they are worked on.
    levels : ndarray of int
        Where levels begin in that order, and the last ends.
    cyclic : bool
        Whether neurons feed back on each other; all are then in one level, and send to that.
    tables : Tables
        Where the spikes of each go, in that order; made when they are asked for.
    """

    network: RandomNeuralNetwork
    order: NDArray[np.int64]
    levels: NDArray[np.int64]
    cyclic: bool = False

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return len(self.levels) - 1

    @cached_property
    def tables(self) -> "Tables":
        """Of all neurons."""
        return Outgoing.of(self.network, self.order, numbers_of(self.order)).tables()

    @property
    def first(self) -> NDArray[np.int64]:
        """Where the entries of each neuron begin, and the last ones end."""
        return self.tables.first

    @property
    def limits(self) -> Floats:
        """Of alias tables, from 0 to 1."""
        return self.tables.limits

    @property
    def targets(self) -> NDArray[np.int32]:
        """Below the limit, and from there on; an inhibitory spike to j is written as ``~j``."""
        return self.tables.targets


@dataclass(frozen=True)
class Tables:
    """Alias tables of the routes of some neurons."""

    first: NDArray[np.int64]
    limits: Floats
    targets: NDArray[np.int32]


@dataclass(frozen=True)
class Outgoing:
    """Where spikes of some neurons may go, and how often: what their tables are made from."""

    first: NDArray[np.int64]
    weights: Floats
    goals: NDArray[np.int32]

    @classmethod
    def of(
        cls, network: RandomNeuralNetwork, neurons: NDArray[np.int64], number: NDArray[np.int64]
    ) -> "Outgoing":
        """Those of ``neurons``; goals are written by their ``number``."""
        n = network.n_neurons
        matrices = [network.excitatory]
        if network.inhibitory is not None:
            matrices.append(network.inhibitory)
        kinds = [sparse.csr_array(matrix[neurons]) for matrix in matrices]
        kinds.append(sparse.csr_array(network.departures[neurons][:, None]))
        sent: Any = sparse.csr_array(sparse.hstack(kinds))
        sent.eliminate_zeros()
        kind, neuron = np.divmod(sent.indices, n)
        goal = number[neuron]
        last = sent.indices == sent.shape[1] - 1
        goals = np.where(last, GONE, np.where(kind == 0, goal, ~goal)).astype(np.int32)
        return cls(sent.indptr.astype(np.int64), sent.data, goals)

    def tables(self) -> Tables:
        """Alias tables, made from some rows after the other: most memory is for the result."""
        first, rows = self.first, len(self.first) - 1
        limits = np.empty(len(self.weights))
        targets = np.empty((len(self.weights), 2), np.int32)
        low = 0
        while low < rows:
            behind = int(np.searchsorted(first, first[low] + ENTRIES_AT_ONCE, side="right")) - 1
            high = min(max(behind, low + 1), rows)
            here = slice(first[low], first[high])
            own = self.goals[here]
            weights = np.array(self.weights[here])  # which may be written to, for compiled code
            limits[here], alias = alias_rows(first[low : high + 1] - first[low], weights)
            targets[here, 0], targets[here, 1] = own, own[alias]
            low = high
        return Tables(first, limits, targets)


def numbers_of(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each neuron in an order of them."""
    found = np.empty_like(order)
    found[order] = np.arange(len(order))
    return found


def wiring_of(network: RandomNeuralNetwork) -> Wiring:
    """That of a network."""
    stages = network.stages
    every = np.arange(network.n_neurons)
    if any(stage.feedback for stage in stages):
        return Wiring(network, every, np.array([0, len(every)]), cyclic=True)
    parts = [every[stage.neurons] for stage in stages]
    return Wiring(network, np.concatenate(parts), np.cumsum([0, *map(len, parts)]))
