"""Who sends spikes to whom in a network without cycles, level by level."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.spiking.alias import alias_rows

GONE = -(1 << 31)  # where spikes go that leave the network


@dataclass(frozen=True)
class Wiring:
    """Who sends spikes to whom, level by level: neurons only send to later levels.

    Attributes
    ----------
    order : ndarray of int
        The neurons, as they are worked on.
    levels : ndarray of int
        Where levels begin in that order, and the last ends.
    first, limits, targets : ndarray
        Alias tables of their routes; an inhibitory spike to j is written as ``~j``.
    """

    order: NDArray[np.int64]
    levels: NDArray[np.int64]
    first: NDArray[np.int64]
    limits: Floats
    targets: NDArray[np.int32]


def wiring_of(network: RandomNeuralNetwork) -> Wiring | None:
    """That of a network without cycles, or None."""
    stages = network.stages
    if any(stage.feedback for stage in stages):
        return None
    n = network.n_neurons
    every = np.arange(n)
    parts = [every[stage.neurons] for stage in stages]
    order = np.concatenate(parts)
    place = np.empty(n, dtype=np.int64)
    place[order] = every
    kinds = [sparse.csr_array(network.excitatory)[order]]
    if network.inhibitory is not None:
        kinds.append(sparse.csr_array(network.inhibitory)[order])
    kinds.append(sparse.csr_array(network.departures[order][:, None]))
    sent = sparse.csr_array(sparse.hstack(kinds))
    sent.eliminate_zeros()
    kind, neuron = np.divmod(sent.indices, n)
    goal = place[neuron]
    last = sent.indices == sent.shape[1] - 1
    target = np.where(last, GONE, np.where(kind == 0, goal, ~goal))
    limits, alias = alias_rows(sent.indptr.astype(np.int64), sent.data)
    return Wiring(
        order,
        np.cumsum([0, *map(len, parts)]),
        sent.indptr.astype(np.int64),
        limits,
        np.stack([target, target[alias]], axis=1).astype(np.int32),
    )
