"""What a simulation draws from: clocks and routes, as alias tables.

The outside world is one more node, number N: spikes that come in are its firings, and spikes that
leave the network go there. So an event is always the same thing: a node fires, and the spike goes
to a node. An inhibitory spike to neuron *j* is written as target ``~j``.

By uniformisation one clock for every node that may ever fire rings at that node's rate; where it
finds a neuron at rest nothing happens. Which clock rings next does not depend on the state, so it
is drawn from a static table in constant time. An alias table (Walker, 1977) of n entries is read
with one 32-bit random number u: the high half of u·n is the entry, the low half decides between
the entry's own node and its alias. No probability is off by more than n/2³².
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from lrnn.network import RandomNeuralNetwork
from lrnn.typing import Vector

UNIT = 1 << 32


@dataclass(frozen=True)
class Tables:
    """Alias tables of one network under one vector of arrivals.

    Attributes
    ----------
    total_rate : float
        Rings of all clocks per unit time.
    clock_limits : ndarray of uint32, clock_nodes : ndarray of int32 of shape (n_clocks, 2)
        Whose clock rings: the node in the first column below the limit, else that in the second.
    first : ndarray of int32
        Where the routes of each node begin, and the last ones end.
    route_limits : ndarray of uint32, targets : ndarray of int32 of shape (n_routes, 2)
        Where a node's spike goes, likewise.
    """

    total_rate: float
    clock_limits: NDArray[np.uint32]
    clock_nodes: NDArray[np.int32]
    first: NDArray[np.int32]
    route_limits: NDArray[np.uint32]
    targets: NDArray[np.int32]

    @property
    def n_neurons(self) -> int:
        """How many neurons there are; it is also the number of the outside world's node."""
        return len(self.first) - 2


def tables(network: RandomNeuralNetwork, arrivals: Vector, inhibitory_arrivals: Vector) -> Tables:
    """The tables of ``network`` under these external arrival rates."""
    n = network.n_neurons
    plus, minus = sparse.csr_array(network.excitatory), sparse.csr_array((n, n))
    if network.inhibitory is not None:
        minus = sparse.csr_array(network.inhibitory)
    leave = sparse.csr_array(network.departures[:, None])
    outside = sparse.csr_array(np.concatenate([arrivals, inhibitory_arrivals, [0.0]])[None, :])
    routes = sparse.vstack([sparse.hstack([plus, minus, leave]), outside], format="csr")
    routes.eliminate_zeros()
    kind, neuron = np.divmod(routes.indices, n)
    target = np.choose(kind, [neuron, ~neuron, n]).astype(np.int32)
    limits, alias = alias_rows(routes.indptr.astype(np.int64), routes.data)

    nodes = np.append(np.flatnonzero(_excitable(plus, arrivals) & (network.rates > 0)), n)
    rates = np.append(network.rates, arrivals.sum() + inhibitory_arrivals.sum())[nodes]
    clock_limits, clock_alias = alias_rows(np.array([0, len(nodes)]), rates)
    return Tables(
        float(rates.sum()),
        clock_limits,
        np.stack([nodes, nodes[clock_alias]], axis=1).astype(np.int32),
        routes.indptr.astype(np.int32),
        limits,
        np.stack([target, target[alias]], axis=1),
    )


def _excitable(excitatory: Any, arrivals: Vector) -> NDArray[np.bool_]:
    """Neurons that a spike from outside can ever lead to."""
    reached = arrivals > 0
    while True:
        further = reached | ((reached @ excitatory) > 0)
        if (further == reached).all():
            return reached
        reached = further


@njit(cache=True)
def alias_rows(
    first: NDArray[np.int64], weights: Vector
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Alias tables of several distributions: limits, and the alias of each entry.

    Row *i* is in proportion to ``weights[first[i]:first[i + 1]]``.
    """
    limits = np.zeros(len(weights), dtype=np.uint32)
    alias = np.arange(len(weights))
    share = np.empty(len(weights))
    stack = np.empty(len(weights), dtype=np.int64)
    for row in range(len(first) - 1):
        begin, end = first[row], first[row + 1]
        total = weights[begin:end].sum()
        low, high = begin, end  # entries below an even share are stacked up from here, others down
        for i in range(begin, end):
            share[i] = weights[i] * (end - begin) / total
            if share[i] < 1:
                stack[low] = i
                low += 1
            else:
                high -= 1
                stack[high] = i
        while low > begin and high < end:
            small, large = stack[low - 1], stack[high]
            low -= 1
            limits[small] = np.uint32(share[small] * UNIT)
            alias[small] = large
            share[large] -= 1 - share[small]
            if share[large] < 1:
                high += 1
                stack[low] = large
                low += 1
        # whatever is left has, to rounding, just its even share: its alias is itself
    return limits, alias
