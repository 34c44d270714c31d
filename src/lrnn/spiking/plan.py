"""What is to be simulated: arguments checked, and when to look, observe, and take a snapshot."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork, SteadyState
from lrnn.network.checks import check_arrivals
from lrnn.spiking.tables import Clocks, Routes, clocks_of, routes_of

Start = Literal["empty", "stationary"]

MOST_EVENTS = 10**15  # a year, at 30 million a second
RINGS_BETWEEN_LOOKS = 4  # of each clock, about: denser looks hardly know more
BATCHES = 32  # equal parts of a lone run that end with a snapshot
FEW_BATCHES = 8  # of one of several replicas, or of a run with few observations
FOREVER = 1 << 62  # ticks or events: no limit
SATURATED = 1 << 20  # potential that a neuron without steady state begins with


@dataclass(frozen=True)
class Plan:
    """A simulation of ``n_rows`` rows of arrivals, ``replicas`` runs of each.

    Attributes
    ----------
    unit : "events" or "time"
        What the length, the warm-up and the snapshots are measured in.
    snapshots : ndarray of shape (n_snapshots,)
        After how many events, or how much time, a snapshot is taken; the last is the end.
    look, observe : ndarray of int64 of shape (n_rows,)
        Ticks between looks at who is excited, and between observations of all potentials.
    warm_up : ndarray of int64 of shape (n_rows,)
        Ticks that are left out at the beginning.
    """

    network: RandomNeuralNetwork
    arrivals: Floats
    inhibitory_arrivals: Floats | None
    steady: SteadyState
    routes: Routes
    clocks: Sequence[Clocks]
    replicas: int
    unit: str
    snapshots: NDArray[Any]
    look: NDArray[np.int64]
    observe: NDArray[np.int64]
    warm_up: NDArray[np.int64]
    start: Start
    seed: np.random.SeedSequence

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
        rate = self.clocks[run // self.replicas].total_rate
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


def make_plan(
    network: RandomNeuralNetwork,
    arrivals: ArrayLike,
    inhibitory_arrivals: ArrayLike | None,
    *,
    events: float | None,
    time: float | None,
    observe_every: int,
    replicas: int,
    warm_up: float,
    start: Start,
    snapshot_bytes: int,
    random_state: Any,
) -> Plan:
    """The plan that these arguments describe, or an error that names what is wrong with them."""
    plus, minus = check_arrivals(network.n_neurons, arrivals, inhibitory_arrivals)
    rows = np.atleast_2d(plus)
    minus = None if minus is None or not minus.any() else np.broadcast_to(minus, rows.shape)
    total = rows.sum(axis=1) + (0 if minus is None else minus.sum(axis=1))
    if not (total > 0).all():
        where = f" in row {int(np.flatnonzero(total == 0)[0])}" if plus.ndim > 1 else ""
        raise ValueError(
            f"arrivals are all 0{where}: no event would ever happen, and all activations are 0"
        )
    if start not in ("empty", "stationary"):
        raise ValueError(f"start must be 'empty' or 'stationary', got {start!r}")
    if events is not None and time is not None:
        raise ValueError(f"give events or time, not both (events={events!r}, time={time!r})")
    observe_every = whole(observe_every, "observe_every")
    replicas = whole(replicas, "replicas")

    steady = _steady_state(network, rows, minus)
    routes = routes_of(network)
    clocks = [
        clocks_of(routes, network.rates, rows[i], None if minus is None else minus[i])
        for i in range(len(rows))
    ]
    ticks = np.array([c.total_rate for c in clocks])  # per unit time
    happening = total + np.asarray(steady) @ network.rates  # events per unit time
    sizes = np.array([max(1, len(c.excitable)) for c in clocks])
    between = np.maximum(1, observe_every * ticks / happening)
    looks = np.ceil(between / (RINGS_BETWEEN_LOOKS * sizes)).astype(np.int64)
    look = np.maximum(1, np.round(between / looks)).astype(np.int64)
    if time is None:
        length: float = whole(1_000_000 if events is None else events, "events")
        skipped = _number(warm_up, "warm_up") * ticks / happening
        first: float = observe_every
    else:
        length = _number(time, "time", positive=True)
        skipped = _number(warm_up, "warm_up") * ticks
        if (ticks * length).max() > MOST_EVENTS:
            raise ValueError(f"time={time!r} would take more than {MOST_EVENTS:.0e} ticks")
        first = length / 10_000
    cells = len(rows) * replicas * network.n_neurons * 5
    parts = BATCHES if replicas == 1 else FEW_BATCHES
    if time is None:
        parts = min(parts, max(FEW_BATCHES, int(length) // observe_every))
    return Plan(
        network,
        rows,
        minus,
        steady,
        routes,
        clocks,
        replicas,
        "events" if time is None else "time",
        snapshot_grid(length, first, parts, max(1, snapshot_bytes // (4 * cells))),
        look,
        look * looks,
        np.round(skipped).astype(np.int64),
        start,
        seed_sequence(random_state),
    )


def snapshot_grid(length: float, first: float, parts: int, most: int) -> NDArray[Any]:
    """Where snapshots are taken: the ends of equal parts, and 1, 2 and 5 times powers of ten.

    If those are more than ``most``, only the ends of so many equal parts.
    """
    whole_numbers = isinstance(length, int)
    parts = min(parts, most, int(length) if whole_numbers else parts)
    ends = length * np.arange(1, parts + 1) / parts
    low = int(np.floor(np.log10(first)))
    high = ceil(np.log10(length))
    decades = np.array([m * 10.0**k for k in range(low, high + 1) for m in (1, 2, 5)])
    decades = decades[(decades >= first) & (decades < length)]
    if len(decades) + parts <= most:
        ends = np.concatenate([ends, decades])
    if whole_numbers:
        return np.unique(np.round(ends).astype(np.int64))
    return np.unique(ends)


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Where all randomness comes from."""
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(1 << 63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(1 << 31)))
    if random_state is None or (isinstance(random_state, int | np.integer) and random_state >= 0):
        return np.random.SeedSequence(None if random_state is None else int(random_state))
    raise ValueError(
        f"random_state must be None, a whole number ≥ 0 or one of NumPy's generators, "
        f"got {random_state!r}"
    )


def whole(value: Any, name: str) -> int:
    """A count: a whole number from 1 to 10¹⁵, also if written as 1e6."""
    number = _number(value, name, positive=True)
    if number != int(number) or number > MOST_EVENTS:
        raise ValueError(
            f"{name} must be a whole number from 1 to {MOST_EVENTS:.0e}, got {value!r}"
        )
    return int(value)


def _number(value: Any, name: str, positive: bool = False) -> float:
    if (
        not isinstance(value, Real)
        or isinstance(value, bool)
        or not isfinite(value)
        or value < 0
        or (positive and value == 0)
    ):
        above = "above 0" if positive else "0 or more"
        raise ValueError(f"{name} must be a finite number {above}, got {value!r}")
    return float(value)


def _steady_state(network: RandomNeuralNetwork, rows: Floats, minus: Floats | None) -> SteadyState:
    with warnings.catch_warnings():  # here it only tells how often things happen
        warnings.simplefilter("ignore")
        return network.steady_state(rows, minus)
