"""What runs are made of: clocks and routes to draw from, when to look, what to count.

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

An alias table (Walker, 1977) of n entries is read with one 64-bit random number u: the high half of
u·n is the entry, the low half decides between the entry's own outcome and its alias. No probability
is off by more than 2⁻⁶⁴, or by the rounding of floating-point numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.compiled import compiled
from lrnn.network import RandomNeuralNetwork, SteadyState
from lrnn.spiking.alias import alias_rows
from lrnn.spiking.raster import Spikes
from lrnn.spiking.wiring import Wiring

Start = Literal["empty", "stationary"]

TICKS, EVENTS, LOOKS, OBSERVATIONS = range(4)  # what a run counts
OBSERVED, BUSY, ARRIVED, FIRED, INHIBITED, SEEN = range(6)  # what it adds up, neuron by neuron
FOREVER = 1 << 62  # ticks or events: no limit
SATURATED = 1 << 20  # potential that a neuron without steady state begins with
BITS = 64  # of a random number
NEGLIGIBLE = 2.0**-BITS  # a route that is taken less often only makes tables longer


@dataclass(frozen=True)
class Routes:
    """Where the spike of each node goes.

    Attributes
    ----------
    first : ndarray of int32
        Where the entries of each node begin, and the last ones end.
    limits : ndarray of uint64, targets : ndarray of int32 of shape (n_entries, 2)
        The target in the first column below the limit, else that in the second.
    """

    first: NDArray[np.int32]
    limits: NDArray[np.uint64]
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
    limits : ndarray of uint64, nodes : ndarray of int32 of shape (n_clocks, 2)
        The node in the first column below the limit, else that in the second.
    excitable : ndarray of int64
        Neurons that a spike from outside can ever lead to, in ascending order.
    """

    total_rate: float
    limits: NDArray[np.uint64]
    nodes: NDArray[np.int32]
    excitable: NDArray[np.int64]


@dataclass(frozen=True)
class ClockWork:
    """All that is drawn from clock by clock: routes, and the clocks of each row of arrivals."""

    routes: Routes
    clocks: Sequence[Clocks]


@dataclass(frozen=True)
class Plan:
    """A simulation of ``n_rows`` rows of arrivals, ``replicas`` runs of each.

    Attributes
    ----------
    happening : ndarray of shape (n_rows,)
        Events per unit time, in the steady state.
    tick_rates : ndarray of shape (n_rows,)
        Ticks per unit time: of all clocks together; or, neuron by neuron, so many that they tell
        the time.
    spikes_from : ClockWork or Wiring
        What spikes are drawn from, clock by clock or neuron by neuron.
    unit : "events" or "time"
        What the length, the warm-up and the snapshots are measured in.
    snapshots : ndarray of shape (n_snapshots,)
        After how many events, or how much time, a snapshot is taken; the last is the end.
    look, observe : ndarray of int64 of shape (n_rows,)
        Ticks between looks at who is excited, and between observations of all potentials.
    every : int or None
        Events after which all potentials are seen, as in the paper; None: they are not.
    warm_up : ndarray of int64 of shape (n_rows,)
        Ticks that are left out at the beginning.
    """

    network: RandomNeuralNetwork
    arrivals: Floats
    inhibitory_arrivals: Floats | None
    steady: SteadyState
    happening: Floats
    tick_rates: Floats
    spikes_from: ClockWork | Wiring
    replicas: int
    unit: str
    snapshots: NDArray[Any]
    look: NDArray[np.int64]
    observe: NDArray[np.int64]
    every: int | None
    warm_up: NDArray[np.int64]
    start: Start
    seed: np.random.SeedSequence

    @property
    def by_neuron(self) -> bool:
        """Whether runs are made neuron by neuron."""
        return isinstance(self.spikes_from, Wiring)

    @property
    def wiring(self) -> Wiring:
        """Of a plan neuron by neuron."""
        assert isinstance(self.spikes_from, Wiring)
        return self.spikes_from

    @property
    def routes(self) -> Routes:
        """Of a plan clock by clock."""
        assert isinstance(self.spikes_from, ClockWork)
        return self.spikes_from.routes

    @property
    def clocks(self) -> Sequence[Clocks]:
        """Of a plan clock by clock."""
        assert isinstance(self.spikes_from, ClockWork)
        return self.spikes_from.clocks

    @property
    def n_rows(self) -> int:
        """How many rows of arrivals there are."""
        return len(self.arrivals)

    @property
    def n_runs(self) -> int:
        """How many runs there are: the replicas of the first row, then those of the next."""
        return self.n_rows * self.replicas

    @property
    def inhibits(self) -> bool:
        """Whether there are inhibitory spikes."""
        return self.network.inhibitory is not None or self.inhibitory_arrivals is not None

    @property
    def kinds(self) -> int:
        """How many sums there are of each neuron."""
        if self.every is not None:
            return SEEN + 1
        return INHIBITED + 1 if self.inhibits else INHIBITED

    @cached_property
    def streams(self) -> NDArray[np.uint64]:
        """States of the random numbers that the runs begin with; a row's replicas share a seed."""
        seeds = (self._seed(row) for row in range(self.n_rows))
        states = [seed.generate_state(2 * self.replicas, np.uint64) for seed in seeds]
        return np.concatenate(states).astype(np.uint64).reshape(-1, 2)

    def generator(self, purpose: str, run: int = 0) -> np.random.Generator:
        """Random numbers for what is drawn beside the runs' own."""
        return np.random.default_rng(self._seed(run, *purpose.encode()))

    def _seed(self, *key: int) -> np.random.SeedSequence:
        spawn_key = (*self.seed.spawn_key, *key)
        return np.random.SeedSequence(self.seed.entropy, spawn_key=spawn_key)

    def tick_ends(self, run: int) -> NDArray[np.int64]:
        """How many ticks a run has made at each snapshot, if those are set by time."""
        rate = self.tick_rates[run // self.replicas]
        spans = np.diff(self.snapshots, prepend=0.0)
        return np.cumsum(self.generator("ticks", run).poisson(rate * spans))

    def first_potentials(self, run: int) -> NDArray[np.int64]:
        """The potentials that a run begins with.

        In steady state a potential is k with probability (1 − q) qᵏ. One that has no steady state
        begins so high that it is never seen at rest.
        """
        n = self.network.n_neurons
        if self.start == "empty":
            return np.zeros(n, dtype=np.int64)
        q = np.asarray(self.steady[run // self.replicas])
        stable = q < 1
        drawn = self.generator("start", run).geometric(np.where(stable, 1 - q, 1.0)) - 1
        return np.where(stable, drawn, SATURATED)


@dataclass
class Statistics:
    """What runs have counted and added up, from the end of the warm-up to each snapshot.

    Attributes
    ----------
    counts : ndarray of int64 of shape (n_snapshots, 4, n_runs)
        Ticks, events, looks and observations; 0 where a run did not get so far.
    sums : ndarray of float32 of shape (n_snapshots, 4 to 6, n_runs, n_neurons)
        Observed potentials, looks that found the neuron excited, excitatory spikes that arrived,
        spikes fired and, if there are any, inhibitory spikes that arrived and potentials that were
        seen after events.
    firings, arrivals : ndarray of int64 of shape (n_rows, n_neurons)
        Spikes fired and received (excitatory), of all replicas together.
    spikes : dict of (ndarray, ndarray of int32)
        Of each run, by its number: ticks of recorded spikes (or times, neuron by neuron) in order,
        and who fired them.
    trace : ndarray of int64 of shape (n, 2) or None
        Of the first run: tick, and sum of all potentials.
    """

    counts: NDArray[np.int64]
    sums: NDArray[np.float32]
    firings: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    spikes: dict[int, Spikes] = field(default_factory=dict)
    trace: NDArray[np.int64] | None = None
    interrupted: bool = False

    @classmethod
    def of(cls, plan: Plan) -> "Statistics":
        """All of them 0."""
        n, snapshots = plan.network.n_neurons, len(plan.snapshots)
        return cls(
            np.zeros((snapshots, 4, plan.n_runs), dtype=np.int64),
            np.zeros((snapshots, plan.kinds, plan.n_runs, n), dtype=np.float32),
            np.zeros((plan.n_rows, n), dtype=np.int64),
            np.zeros((plan.n_rows, n), dtype=np.int64),
        )

    def write(self, snapshot: int, run: int, counts: Any, *sums: Any) -> None:
        """Put down what a run has come to at a snapshot."""
        for kind, values in enumerate(sums):
            self.sums[snapshot, kind, run] = values
        self.counts[snapshot, :, run] = counts[:4]


def clockwork_of(
    network: RandomNeuralNetwork, arrivals: Floats, inhibitory_arrivals: Floats | None
) -> ClockWork:
    """The routes of a network, and the clocks of each row of arrivals."""
    routes = routes_of(network)
    rows = range(len(arrivals))
    minus = [None if inhibitory_arrivals is None else inhibitory_arrivals[i] for i in rows]
    return ClockWork(
        routes, [clocks_of(routes, network.rates, arrivals[i], minus[i]) for i in rows]
    )


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
        np.concatenate([in_bits(limits), np.zeros(len(single), np.uint64)]),
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
    return Clocks(float(weight.sum()), in_bits(limits), pairs, reached)


def in_bits(limits: Floats) -> NDArray[np.uint64]:
    """Numbers from 0 to below 1, as 64 bits have them."""
    return np.ldexp(limits, BITS).astype(np.uint64)


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
