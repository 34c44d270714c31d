"""Gelenbe's random neural network: rates, routing probabilities, steady state."""

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lrnn.arrays import Floats, Rates
from lrnn.functional import firing_rates, routing
from lrnn.network.checks import (
    check_arrivals,
    check_layer_sizes,
    check_probabilities,
    check_rates,
    check_unit_rows,
    check_weights,
)
from lrnn.network.steady_state import (
    TOLERANCE,
    Stage,
    SteadyState,
    condense,
    excitation,
    flow,
    solve,
    violation,
)

if TYPE_CHECKING:
    from lrnn.spiking import Simulation

Routing = Any  # a dense or sparse matrix of probabilities

CELLS_AT_ONCE = 1 << 23  # rows × neurons that are solved at once: bounds the working memory


class RandomNeuralNetwork:
    r"""A network of neurons with integer potentials that exchange single spikes.

    Neuron *i* receives excitatory spikes from outside at Poisson rate :math:`\Lambda_i` and
    inhibitory ones at rate :math:`\lambda_i`. While its potential is positive it fires at rate
    :math:`r_i`; the potential drops by one, and the spike goes to neuron *j* as excitatory with
    probability :math:`p^+_{ij}`, as inhibitory with :math:`p^-_{ij}`, or leaves the network. An
    inhibitory spike removes one from a positive potential and does nothing at zero.

    Parameters
    ----------
    rates : array-like of shape (n_neurons,)
        Firing rates, 0 or more.
    excitatory : array-like or sparse array of shape (n_neurons, n_neurons)
        Probability that a spike of the row's neuron excites the column's neuron.
    inhibitory : array-like or sparse array of shape (n_neurons, n_neurons), optional
        Probability that it inhibits it. Each row of ``excitatory + inhibitory`` sums to at
        most 1; what is left is the probability that the spike leaves the network.
    layer_sizes : sequence of int, optional
        How many neurons each layer has, where the neurons stand in layers.

    Attributes
    ----------
    rates, excitatory, inhibitory, layer_sizes
        As given, checked, in float64, and read-only.

    Examples
    --------
    Two neurons that inhibit each other:

    >>> network = RandomNeuralNetwork([1, 1], np.zeros((2, 2)), [[0, 1], [1, 0]])
    >>> q = network.steady_state([0.75, 0.75])
    >>> q  # q = 0.75 / (1 + q)
    SteadyState([0.5, 0.5])
    >>> q.mean_potential
    array([1., 1.])

    A feed-forward network from effective weights:

    >>> network = RandomNeuralNetwork.from_layers([[[2.0], [1.0]], [[0.5, 0.25]]])
    >>> network
    RandomNeuralNetwork(5 neurons in layers 2 → 1 → 2, 4 excitatory and 0 inhibitory connections)
    >>> network.rates
    array([1.5 , 0.75, 0.75, 1.  , 1.  ])
    """

    def __init__(
        self,
        rates: ArrayLike,
        excitatory: Any,
        inhibitory: Any = None,
        *,
        layer_sizes: Sequence[int] | None = None,
    ) -> None:
        self.rates = check_rates(rates)
        self.excitatory, self.inhibitory = check_probabilities(
            len(self.rates), excitatory, inhibitory
        )
        self.layer_sizes = check_layer_sizes(self.n_neurons, layer_sizes)

    @classmethod
    def from_layers(
        cls,
        weights: Sequence[Any],
        inhibitory: Sequence[Any] | None = None,
        *,
        rates: Rates = "free",
        least_rate: float = 0.0,
    ) -> "RandomNeuralNetwork":
        r"""Realise nonnegative weights between consecutive layers as rates × probabilities.

        The network fed with ``min(x, 1) * rates`` at its first layer has exactly the activations
        :math:`q_l = \min(q_{l-1} A^+_l / (1 + q_{l-1} A^-_l), 1)`.

        Parameters
        ----------
        weights : sequence of array-like
            Excitatory weights A⁺, one matrix (neurons × next layer's neurons) per connection.
        inhibitory : sequence of array-like or None, optional
            Inhibitory weights A⁻ of the same shapes.
        rates : {"free", "unit"}, default="free"
            With "free", output neurons fire at rate 1 and every other at the rate that its
            weights need. With "unit" all fire at rate 1, and the weights are the probabilities:
            their rows must sum to at most 1.
        least_rate : float, default=0
            With free rates, no neuron fires more slowly than this; one that need not fire so fast
            loses the surplus of its spikes.
        """
        if not 0 <= least_rate < np.inf:
            raise ValueError(f"least_rate must be finite and 0 or more, got {least_rate!r}")
        plus, minus = check_weights(weights, inhibitory)
        sizes = (*(len(w) for w in plus), plus[-1].shape[1])
        if rates == "unit":
            check_unit_rows(plus, minus)
            layer_rates = [np.ones(n) for n in sizes]
        elif rates == "free":
            with np.errstate(over="ignore", invalid="ignore"):
                layer_rates = firing_rates(plus, minus, least_rate)
        else:
            raise ValueError(f"rates must be 'free' or 'unit', got {rates!r}")
        for layer, rate in enumerate(layer_rates):
            if not np.isfinite(rate).all():
                neuron = int(np.flatnonzero(~np.isfinite(rate))[0])
                raise ValueError(
                    f"the firing rate that neuron {neuron} of layer {layer} needs overflows; "
                    "scale the weights down"
                )
        routes = [
            None
            if matrices is None
            else _between_layers(
                [
                    None if a is None else routing(a, layer_rates[i], layer_rates[i + 1])
                    for i, a in enumerate(matrices)
                ],
                sizes,
            )
            for matrices in (plus, minus)
        ]
        return cls(np.concatenate(layer_rates), *routes, layer_sizes=sizes)

    @property
    def n_neurons(self) -> int:
        """How many neurons there are."""
        return len(self.rates)

    @property
    def routed(self) -> Floats:
        """Probability that a neuron's spike goes to another neuron (or to itself)."""
        sent = _row_sums(self.excitatory)
        return sent if self.inhibitory is None else sent + _row_sums(self.inhibitory)

    @property
    def departures(self) -> Floats:
        """Probability that a neuron's spike leaves the network."""
        return np.maximum(1 - self.routed, 0)

    def steady_state(
        self,
        arrivals: ArrayLike,
        inhibitory_arrivals: ArrayLike | None = None,
        *,
        tol: float = TOLERANCE,
    ) -> SteadyState:
        """Probability of each neuron to be excited, for one vector of arrivals or many rows.

        Parameters
        ----------
        arrivals : array-like of shape (n_neurons,) or (n_rows, n_neurons)
            External excitatory spikes per unit time.
        inhibitory_arrivals : array-like of the same shape or (n_neurons,), optional
            External inhibitory spikes per unit time.
        tol : float, default=1e-12
            By which share of a neuron's activation eq. 1 may be violated, in any neuron, however
            rarely it is excited. If that cannot be reached a ``ConvergenceWarning`` tells the
            violation. (In a network that loses hardly any spikes q itself is less certain, by up
            to the violation over the share lost.)

        Returns
        -------
        q : SteadyState
            An array of the shape of ``arrivals`` that also knows which neurons are
            ``saturated``, the ``mean_potential`` and the ``probability(k)`` of a potential.
        """
        plus, minus = check_arrivals(self.n_neurons, arrivals, inhibitory_arrivals)
        rows = np.atleast_2d(plus)
        rows_minus = None if minus is None else np.broadcast_to(minus, rows.shape)
        q = np.empty(rows.shape)
        residual = 0.0
        block = max(1, CELLS_AT_ONCE // self.n_neurons)
        for start in range(0, len(rows), block):
            part = slice(start, start + block)
            inhibition = None if rows_minus is None else rows_minus[part]
            q[part], left = solve(self.stages, self.rates, rows[part], inhibition, tol)
            residual = max(residual, left)
        if residual > tol:
            from sklearn.exceptions import ConvergenceWarning  # slow to import

            warnings.warn(
                f"the steady state violates its equation by {residual:.1e} of an activation, more "
                f"than tol={tol:.1e}; raise tol if that will do",
                ConvergenceWarning,
                stacklevel=2,
            )
        return q.reshape(plus.shape).view(SteadyState)

    def simulate(
        self,
        arrivals: ArrayLike,
        inhibitory_arrivals: ArrayLike | None = None,
        *,
        events: float | None = None,
        time: float | None = None,
        observe_every: int = 1_000,
        at_events: bool = False,
        replicas: int = 1,
        start: Literal["empty", "stationary"] = "empty",
        warm_up: float = 0,
        record: ArrayLike | None = None,
        trace: bool = False,
        snapshot_bytes: int = 1 << 28,
        engine: Literal["auto", "clock", "neurons"] = "auto",
        device: str = "cpu",
        threads: int | None = None,
        partition: Any = None,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> "Simulation":
        """Simulate the network exactly, spike by spike.

        An event is a spike that comes from outside, or a neuron that fires.

        Parameters
        ----------
        arrivals : array-like of shape (n_neurons,) or (n_rows, n_neurons)
            External excitatory spikes per unit time. Each row is a simulation of its own.
        inhibitory_arrivals : array-like of the same shape or (n_neurons,), optional
            External inhibitory spikes per unit time.
        events : int, default=1_000_000
            Events of each run.
        time : float, optional
            Simulated time of each run, instead of ``events``.
        observe_every : int, default=1_000
            Events between observations of all potentials, on average: they are made at moments
            that do not depend on the network's state (a fixed number of ticks of its clocks), for
            right after an event a busy network is seen more often than it occurs.
        at_events : bool, default=False
            Whether all potentials are also observed right after every ``observe_every``-th event,
            as in the paper: for the estimator "events".
        replicas : int, default=1
            Independent runs for each row of arrivals.
        start : {"empty", "stationary"}, default="empty"
            Begin with all neurons at rest, or in the steady state: potentials are then drawn from
            their geometric laws, and there is no transient at all. (Neurons that saturate begin
            with a large potential.)
        warm_up : float, default=0
            Events (or time, if the length is given as time) at the beginning that are left out
            of all estimates; about so many, for the reason given above.
        record : list of int, optional
            Neurons whose spikes are recorded, in the first run (``result.raster``).
        trace : bool, default=False
            Whether the sum of all potentials is recorded, in the first run (``result.trace``).
        snapshot_bytes : int, default=2**28
            Memory for snapshots: `Simulation.at` and the intervals of a single run need them. They
            are taken after 1, 2 and 5 times powers of ten events, and at the ends of up to 32
            equal parts of a run; if that would be too much, of fewer.
        engine : {"auto", "clock", "neurons"}, default="auto"
            "clock" draws whose clock rings next, one after the other, whether that neuron is
            excited or not: for any network, and fast where most are. "neurons" makes the events
            of one neuron after the other, for some time, and spends nothing on those at rest; it
            needs a network without cycles. Both are exact. "auto" takes the faster one.
        device : {"cpu", "cuda", "dask"}, default="cpu"
            Where to run. A GPU is for many runs, and so is a Dask cluster (that of the current
            client); they give the same results.
        threads : int, optional
            CPU threads, by default as many as there are cores. Each has runs of its own; where
            there are fewer runs than threads, several make one (neuron by neuron only).
        partition : int, "dask" or a Dask client, optional
            Partition the network (neuron by neuron, hence without cycles) over so many processes
            of this machine, or over the workers of a Dask cluster: of the current client, or of
            the one given. Each holds the connections of its own neurons alone, and they send each
            other spikes. Runs are made one after the other. The result is the same for any
            partition; if a process or a worker is killed, another takes its part.
        progress : bool, optional
            Whether to show a progress bar if it takes more than a second; by default if
            standard error is a terminal.
        random_state : int, SeedSequence, Generator or RandomState, optional
            The same seed gives the same result, whatever the number of threads.

        Returns
        -------
        result : Simulation
            Estimates with confidence intervals, counts, snapshots. After Ctrl-C it holds what was
            simulated so far, and ``result.interrupted`` is true.

        Examples
        --------
        >>> network = RandomNeuralNetwork([1, 1], np.zeros((2, 2)), [[0, 1], [1, 0]])
        >>> result = network.simulate([0.75, 0.75], events=100_000, random_state=0)
        >>> result
        Simulation(1 run of 2 neurons, 100,000 events)
        >>> result.activation("arrivals").round(1)
        array([0.5, 0.5])
        """
        from lrnn.spiking.simulate import simulate

        return simulate(
            self, arrivals, inhibitory_arrivals, events=events, time=time,
            observe_every=observe_every, at_events=at_events, replicas=replicas, start=start,
            warm_up=warm_up, record=record, trace=trace, snapshot_bytes=snapshot_bytes,
            engine=engine, device=device, threads=threads, partition=partition, progress=progress,
            random_state=random_state,
        )  # fmt: skip

    def residual(
        self, q: ArrayLike, arrivals: ArrayLike, inhibitory_arrivals: ArrayLike | None = None
    ) -> Floats:
        """By which share of its activation ``q`` violates eq. 1, neuron by neuron.

        It is |q − T(q)| / max(q, T(q)), T(q) being the right-hand side of eq. 1: 0 where a neuron
        meets it, 1 where it is at rest and should not be, or the reverse.

        Examples
        --------
        >>> network = RandomNeuralNetwork([1e6, 1.0], [[0, 0.5], [0, 0]])
        >>> network.residual([0, 0], [0.5, 0])  # the first neuron should be excited, if rarely
        array([1., 0.])
        """
        plus, minus = check_arrivals(self.n_neurons, arrivals, inhibitory_arrivals)
        state = np.asarray(q, dtype=np.float64)
        fired = state * self.rates
        total = self.rates + flow(fired, self.inhibitory) + (0.0 if minus is None else minus)
        return violation(state, excitation(plus + flow(fired, self.excitatory), total))

    def split(self, values: Any) -> list[Any]:
        """``values`` of all neurons (in the last axis), layer by layer."""
        if self.layer_sizes is None:
            raise ValueError("this network has no layers; give layer_sizes to define them")
        return np.split(np.asarray(values), np.cumsum(self.layer_sizes)[:-1], axis=-1)

    def __repr__(self) -> str:
        layers = ""
        if self.layer_sizes is not None:
            layers = " in layers " + " → ".join(map(str, self.layer_sizes))
        counts = [0 if p is None else _count(p) for p in (self.excitatory, self.inhibitory)]
        return (
            f"{type(self).__name__}({self.n_neurons} neurons{layers}, {counts[0]} excitatory "
            f"and {counts[1]} inhibitory connections)"
        )

    @cached_property
    def stages(self) -> list[Stage]:
        """Its neurons in the order in which their steady state can be found."""
        return condense(self.rates, self.excitatory, self.inhibitory)


def layer_names(count: int) -> tuple[str, ...]:
    """What ``count`` layers are called, in order, two or more.

    Examples
    --------
    >>> layer_names(3)
    ('input', 'hidden', 'output')
    >>> layer_names(4)
    ('input', 'hidden 1', 'hidden 2', 'output')
    """
    hidden = ["hidden"] if count == 3 else [f"hidden {i}" for i in range(1, count - 1)]
    return ("input", *hidden, "output")


def _between_layers(matrices: Sequence[Any], sizes: Sequence[int]) -> sparse.csr_array:
    """One matrix over all neurons from those between consecutive layers."""
    blocks: list[list[Any]] = [[None] * len(sizes) for _ in sizes]
    for layer, size in enumerate(sizes):
        blocks[layer][layer] = sparse.csr_array((size, size))
    for layer, matrix in enumerate(matrices):
        if matrix is not None:
            blocks[layer][layer + 1] = sparse.csr_array(matrix)
    return sparse.csr_array(sparse.block_array(blocks, format="csr"))


def _row_sums(probabilities: Routing) -> Floats:
    return np.asarray(probabilities.sum(axis=1), dtype=np.float64)


def _count(probabilities: Routing) -> int:
    if sparse.issparse(probabilities):
        return int(probabilities.nnz)
    return int(np.count_nonzero(probabilities))
