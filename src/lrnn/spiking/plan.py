"""What runs are made of: clocks and routes to draw from, when to look, what to count.

By uniformisation one clock for every node that may ever fire rings at that node's rate; where it
finds a neuron at rest nothing happens. Which clock rings next does not depend on the state, so it
is drawn from a static table in constant time, and so is the route of the spike. Nodes are

=================  =====================================================================
0 … N − 1          the neurons
N                  where spikes go that leave the network; it never fires, also if its clock rings
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
from lrnn.functional.compiled import compiled
from lrnn.network import RandomNeuralNetwork, SteadyState
from lrnn.spiking.alias import alias_rows
from lrnn.spiking.raster import Spikes
from lrnn.spiking.uncertainty import Late, Uncertainty
from lrnn.spiking.until import Until
from lrnn.spiking.wiring import Wiring

Start = Literal["empty", "stationary"]

TICKS, EVENTS, LOOKS, OBSERVATIONS = range(4)  # what a run counts
OBSERVED, BUSY, ARRIVED, FIRED, INHIBITED, SEEN = range(6)  # what it adds up, neuron by neuron
FOREVER = 1 << 62  # ticks or events: no limit
SATURATED = 1 << 20  # potential that a neuron without steady state begins with
BITS = 64  # of a random number
NOTHING = np.empty(0, dtype=np.intp)
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
    """All that is drawn from clock by clock: routes, and the clocks of each vector of arrivals."""

    routes: Routes
    clocks: Sequence[Clocks]


@dataclass(frozen=True)
class Plan:
    """A simulation of ``n_rows`` rows of arrivals, ``replicas`` runs of each.

    A row is one vector of arrivals or, in a film, one after the other: `scene` tells which vector.

    Attributes
    ----------
    arrivals, inhibitory_arrivals, steady : ndarray of shape (n_rows * n_frames, n_neurons)
        Spikes from outside, and what they lead to in the long run.
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
    frames : ndarray or None
        Which snapshots are ends of a film's frames.
    watched, moments : ndarray
        Neurons whose potentials are written down, and after how many events or how much time.
    until, reviews : Precision, Decision, SpikeCount or None; tuple of int
        When a row has come far enough, and at which snapshots that is asked.
    look, observe : ndarray of int64 of shape (n_rows,)
        Ticks between looks at who is excited, and between observations of all potentials.
    every : int or None
        Events after which all potentials are seen, as in the paper; None: they are not.
    warm_up : ndarray of shape (n_rows,)
        Time that is left out at the beginning.
    duration : ndarray of shape (n_rows,)
        How long a run is, about.
    late : Late or None
        What runs lack because they begin empty, where it has been worked out.
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
    warm_up: Floats
    start: Start
    seed: np.random.SeedSequence
    frames: NDArray[np.intp] | None
    watched: NDArray[np.intp]
    moments: NDArray[Any]
    until: Until | None
    reviews: tuple[int, ...]
    duration: Floats
    late: Late | None

    @cached_property
    def uncertainty(self) -> Uncertainty | None:
        """How far estimates may be off, by theory; None for a film, which need not come near."""
        if self.frames is not None:
            return None
        tick = np.zeros(self.n_rows) if self.by_neuron else 1 / self.tick_rates
        seen = (0 if self.every is None else self.every) / self.happening
        between = np.stack([self.observe * tick, self.look * tick, tick, seen])
        columns = (self.duration, self.happening, self.warm_up, tick, between)
        found = Uncertainty(
            self.network,
            self.arrivals,
            self.inhibitory_arrivals,
            np.asarray(self.steady),
            self.start == "empty",
            self.unit == "events",
            *(column[..., None] for column in columns),
        )
        if self.late is not None:
            found.__dict__["late"] = self.late
        if self.until is not None:  # asked for again and again, of fewer and fewer rows
            _ = found.own, found.ending
        return found

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
        return len(self.arrivals) // self.n_frames

    @property
    def n_frames(self) -> int:
        """How many vectors of arrivals each row has, one after the other."""
        return 1 if self.frames is None else len(self.frames)

    def scene(self, row: int, frame: int = 0) -> int:
        """Which vector of arrivals a row has in a frame."""
        return row * self.n_frames + frame

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

    @cached_property
    def shifts(self) -> NDArray[np.int64]:
        """By how many ticks the first observation of each run comes sooner: any of `observe`."""
        first, second = self.streams.T
        mixed = (first ^ (second >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        drawn = (mixed >> np.uint64(16)).astype(np.int64)
        return np.asarray(drawn % np.repeat(self.observe, self.replicas))

    @cached_property
    def dense(self) -> NDArray[np.bool_]:
        """Rows whose runs have so few ticks that each counts: they look at snapshots, too."""
        by_time = self.unit == "time" and not self.by_neuron
        return np.asarray((self.observe == 1) & by_time)

    @cached_property
    def stops(self) -> NDArray[Any]:
        """Where runs stop for a snapshot, or to have a look at those that are watched."""
        return np.union1d(self.snapshots, self.moments.astype(self.snapshots.dtype))

    @cached_property
    def snapshot_of(self) -> NDArray[np.intp]:
        """Which snapshot is taken at each stop; −1: none."""
        return _places(self.snapshots, self.stops)

    @cached_property
    def moment_of(self) -> NDArray[np.intp]:
        """Which moment each stop is for those who are watched; −1: none."""
        return _places(self.moments, self.stops)

    def tick_ends(self, run: int) -> NDArray[np.int64]:
        """How many ticks a run has made at each stop, if those are set by time.

        What is watched does not change the run: ticks are drawn from snapshot to snapshot, and are
        anywhere in between.
        """
        rate = self.tick_rates[run // self.replicas]
        spans = np.diff(self.snapshots, prepend=0.0)
        ticks = self.generator("ticks", run).poisson(rate * spans)
        if len(self.stops) == len(self.snapshots):
            return np.cumsum(ticks)
        random = self.generator("watch", run)
        gaps = np.diff(self.stops, prepend=0.0)
        ends = np.flatnonzero(self.snapshot_of >= 0) + 1
        parts = np.split(gaps, ends[:-1])
        each = [random.multinomial(n, gap / gap.sum()) for n, gap in zip(ticks, parts, strict=True)]
        return np.cumsum(np.concatenate(each))

    def warm_up_ticks(self, run: int) -> int:
        """How many ticks a run makes in the time that is left out."""
        row = run // self.replicas
        if not self.warm_up[row]:
            return 0
        return int(self.generator("warm_up", run).poisson(self.warm_up[row] * self.tick_rates[row]))

    def first_potentials(self, run: int) -> NDArray[np.int64]:
        """The potentials that a run begins with.

        In steady state a potential is k with probability (1 − q) qᵏ. One that has no steady state
        begins so high that it is never seen at rest.
        """
        n = self.network.n_neurons
        if self.start == "empty":
            return np.zeros(n, dtype=np.int64)
        q = np.asarray(self.steady[self.scene(run // self.replicas)])
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
    trace : ndarray of int64 of shape (n_moments, 2) or None
        Of the first run: tick, and sum of all potentials.
    potentials : ndarray of int64 of shape (n_moments, n_runs, n_watched)
        Of those that are watched; −1 where a run did not get so far.
    stopped : ndarray of shape (n_rows,)
        The snapshot at which each row of arrivals had come far enough; −1: at none.
    """

    counts: NDArray[np.int64]
    sums: NDArray[np.float32]
    firings: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    potentials: NDArray[np.int64]
    stopped: NDArray[np.intp]
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
            np.full((len(plan.moments), plan.n_runs, len(plan.watched)), -1, dtype=np.int64),
            np.full(plan.n_rows, -1, dtype=np.intp),
        )

    def write(self, snapshot: int, run: int, counts: Any, *sums: Any) -> None:
        """Put down what a run has come to at a snapshot."""
        for kind, values in enumerate(sums):
            self.sums[snapshot, kind, run] = values
        self.counts[snapshot, :, run] = counts[:4]


def clockwork_of(
    network: RandomNeuralNetwork,
    arrivals: Floats,
    inhibitory_arrivals: Floats | None,
    n_frames: int = 1,
) -> ClockWork:
    """The routes of a network, and the clocks of each vector of arrivals.

    All frames of a film have the same number of rings per unit time, so that ticks tell the time.
    """
    routes, minus = routes_of(network), inhibitory_arrivals
    comes = arrivals.sum(axis=1) + (0 if minus is None else minus.sum(axis=1))
    found = []
    for i, plus in enumerate(arrivals):
        film = slice(i - i % n_frames, i - i % n_frames + n_frames)
        blocked = None if minus is None else minus[i]
        ever, null = arrivals[film].sum(axis=0), float(comes[film].max() - comes[i])
        found.append(clocks_of(routes, network.rates, plus, blocked, ever, null))
    return ClockWork(routes, found)


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
    routes: Routes,
    rates: Floats,
    arrivals: Floats,
    inhibitory_arrivals: Floats | None,
    ever: Floats | None = None,
    null: float = 0.0,
) -> Clocks:
    """The clocks under these firing rates and arrivals: none for neurons that are never excited.

    ``ever`` is what arrives at other times, too, and ``null`` the rate of a clock for nothing.
    """
    n = len(rates)
    ever = arrivals if ever is None else ever
    reached = np.flatnonzero(reach(routes.first, routes.targets, rates, ever))
    ringing = reached[rates[reached] > 0]
    comes = np.flatnonzero(arrivals)
    nodes = [ringing, n + 1 + comes]
    weights = [rates[ringing], arrivals[comes]]
    if inhibitory_arrivals is not None:
        # an inhibitory spike to a neuron that is never excited is an event, too
        comes = np.flatnonzero(inhibitory_arrivals)
        nodes.append(2 * n + 1 + comes)
        weights.append(inhibitory_arrivals[comes])
    if null > 0:
        nodes.append(np.array([n]))
        weights.append(np.array([null]))
    node, weight = np.concatenate(nodes), np.concatenate(weights)
    limits, alias = alias_rows(np.array([0, len(node)]), weight)
    pairs = np.stack([node, node[alias]], axis=1).astype(np.int32)
    return Clocks(float(weight.sum()), in_bits(limits), pairs, reached)


def in_bits(limits: Floats) -> NDArray[np.uint64]:
    """Numbers from 0 to below 1, as 64 bits have them."""
    return np.ldexp(limits, BITS).astype(np.uint64)


def _places(some: NDArray[Any], all_: NDArray[Any]) -> NDArray[np.intp]:
    """Which one of ``some`` each of all is, −1 if none; both ascend."""
    found = np.full(len(all_), -1, dtype=np.intp)
    found[np.searchsorted(all_, some)] = np.arange(len(some))
    return found


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
