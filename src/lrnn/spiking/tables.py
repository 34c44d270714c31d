"""What a simulation draws from: clocks and routes, as alias tables.

By uniformisation one clock for every node that may ever fire rings at that node's rate; where it
finds a neuron at rest nothing happens. Which clock rings next does not depend on the state, so it
is drawn from a static table in constant time, and so is the route of the spike. Nodes are

=================  =====================================================================
0 … N − 1          the neurons
N                  where spikes go that leave the network; it never fires
N + 1 + i          excitatory spikes from outside to neuron i, as the firings of a node
2N + 1 + i         inhibitory spikes from outside to neuron i, likewise
=================  =====================================================================

so that an event is always the same thing: a node fires, and its spike goes to a node. An inhibitory
spike to neuron *j* is written as target ``~j``. Routes belong to the network, clocks to one vector
of arrivals.

An alias table (Walker, 1977) of n entries is read with one 32-bit random number u: the high half of
u·n is the entry, the low half decides between the entry's own outcome and its alias. No probability
is off by more than 2⁻³²; routes of less than 2⁻³³ are left out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.spiking.compiled import compiled

UNIT = 1 << 32
NEGLIGIBLE = 1 / (2 * UNIT)  # a route that is taken less often only makes tables longer


@dataclass(frozen=True)
class Routes:
    """Where the spike of each node goes.

    Attributes
    ----------
    first : ndarray of int32
        Where the entries of each node begin, and the last ones end.
    limits : ndarray of uint32, targets : ndarray of int32 of shape (n_entries, 2)
        The target in the first column below the limit, else that in the second.
    """

    first: NDArray[np.int32]
    limits: NDArray[np.uint32]
    targets: NDArray[np.int32]

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.first) - 1


@dataclass(frozen=True)
class Clocks:
    """Whose clock rings next, under one vector of arrivals.

    Attributes
    ----------
    total_rate : float
        Rings of all clocks per unit time.
    limits : ndarray of uint32, nodes : ndarray of int32 of shape (n_clocks, 2)
        The node in the first column below the limit, else that in the second.
    excitable : ndarray of int64
        Neurons that a spike from outside can ever lead to, in ascending order.
    """

    total_rate: float
    limits: NDArray[np.uint32]
    nodes: NDArray[np.int32]
    excitable: NDArray[np.int64]


def routes_of(network: RandomNeuralNetwork) -> Routes:
    """The routes of all nodes of ``network``."""
    n = network.n_neurons
    plus = sparse.csr_array(network.excitatory)
    minus = sparse.csr_array((n, n))
    if network.inhibitory is not None:
        minus = sparse.csr_array(network.inhibitory)
    leave = sparse.csr_array(network.departures[:, None])
    sent = sparse.csr_array(sparse.hstack([plus, minus, leave]))
    sent.data[sent.data < NEGLIGIBLE] = 0
    sent.eliminate_zeros()
    kind, neuron = np.divmod(sent.indices, n)
    target = np.choose(kind, [neuron, ~neuron, n])
    limits, alias = alias_rows(sent.indptr.astype(np.int64), sent.data)
    neurons = np.arange(n)
    single = np.concatenate([[n], neurons, ~neurons])
    return Routes(
        np.concatenate([sent.indptr, sent.nnz + 1 + np.arange(len(single))]).astype(np.int32),
        np.concatenate([limits, np.zeros(len(single), np.uint32)]),
        np.stack(
            [np.concatenate([target, single]), np.concatenate([target[alias], single])], axis=1
        ).astype(np.int32),
    )


def clocks_of(
    routes: Routes, rates: Floats, arrivals: Floats, inhibitory_arrivals: Floats | None
) -> Clocks:
    """The clocks under these firing rates and arrivals: none for neurons that are never excited."""
    n = len(rates)
    reached = np.flatnonzero(reach(routes.first, routes.targets, rates, arrivals))
    ringing = reached[rates[reached] > 0]
    comes = np.flatnonzero(arrivals)
    nodes = [ringing, n + 1 + comes]
    weights = [rates[ringing], arrivals[comes]]
    if inhibitory_arrivals is not None:
        # an inhibitory spike to a neuron that is never excited is an event, too
        comes = np.flatnonzero(inhibitory_arrivals)
        nodes.append(2 * n + 1 + comes)
        weights.append(inhibitory_arrivals[comes])
    node, weight = np.concatenate(nodes), np.concatenate(weights)
    limits, alias = alias_rows(np.array([0, len(node)]), weight)
    pairs = np.stack([node, node[alias]], axis=1).astype(np.int32)
    return Clocks(float(weight.sum()), limits, pairs, reached)


@compiled
def reach(
    first: NDArray[np.int32], targets: NDArray[np.int32], rates: Floats, arrivals: Floats
) -> NDArray[np.bool_]:
    """Neurons that a spike from outside can ever lead to."""
    n = len(rates)
    reached = arrivals > 0
    waiting = np.empty(n, dtype=np.int64)
    waits = 0
    for i in range(n):
        if reached[i]:
            waiting[waits] = i
            waits += 1
    while waits:
        waits -= 1
        neuron = waiting[waits]
        if rates[neuron] > 0:
            for route in range(first[neuron], first[neuron + 1]):
                target = targets[route, 0]  # every outcome is some entry's own
                if 0 <= target < n and not reached[target]:
                    reached[target] = True
                    waiting[waits] = target
                    waits += 1
    return reached


@compiled
def alias_rows(
    first: NDArray[np.int64], weights: Floats
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
