"""Gelenbe's random neural network: rates, routing probabilities, steady state."""

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lrnn.arrays import Floats, Rates, beyond_floats
from lrnn.functional import firing_rates, routing
from lrnn.network.checks import (
    check_arrivals,
    check_layer_names,
    check_layer_sizes,
    check_of_rows,
    check_probabilities,
    check_rates,
    check_unit_rows,
    check_weights,
)
from lrnn.network.gradient import Gradient, Sums, drive, sensitivities
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
    from lrnn.spiking.until import Until

Routing = Any  # a dense or sparse matrix of probabilities

CELLS_AT_ONCE = 1 << 23  # rows × neurons that are solved at once: bounds the working memory
STEADY = 1e-6  # violation of eq. 1 up to which a state is taken for the steady one
ADJOINT = 1e-9  # share of a derivative's equation that may be left over in silence


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
    layer_names : sequence of str, optional
        What these layers are called; by default "input", "hidden" (or "hidden 1", …) and "output".

    Attributes
    ----------
    rates, excitatory, inhibitory, layer_sizes, layer_names
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
        layer_names: Sequence[str] | None = None,
    ) -> None:
        self.rates = check_rates(rates)
        self.excitatory, self.inhibitory = check_probabilities(
            len(self.rates), excitatory, inhibitory
        )
        self.layer_sizes = check_layer_sizes(self.n_neurons, layer_sizes)
        self._layer_names = check_layer_names(self.layer_sizes, layer_names)

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

        Examples
        --------
        >>> network = RandomNeuralNetwork.from_layers([[[0.5], [2.0]], [[1.0, 3.0]]])
        >>> network.rates
        array([2., 8., 4., 1., 1.])
        >>> network.steady_state([1.0, 0.8, 0, 0, 0])  # rates times inputs of 0.5 and 0.1
        SteadyState([0.5 , 0.1 , 0.45, 0.45, 1.  ])
        """
        if beyond_floats(least_rate) or not 0 <= least_rate < np.inf:
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
    def layer_names(self) -> tuple[str, ...]:
        """What its layers are called; ("all",) if there are not two or more."""
        count = len(self.layer_sizes or ())
        return self._layer_names or (("all",) if count < 2 else layer_names(count))

    @property
    def routed(self) -> Floats:
        """Probability that a neuron's spike goes to some neuron (also itself), excitatory or not.

        One number for each neuron, at most 1: the sums of the rows of both matrices.
        """
        sent = _row_sums(self.excitatory)
        return sent if self.inhibitory is None else sent + _row_sums(self.inhibitory)

    @property
    def departures(self) -> Floats:
        """Probability that a neuron's spike leaves the network, one for each: what is left of 1."""
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

        Examples
        --------
        >>> network = RandomNeuralNetwork([1, 1], np.zeros((2, 2)), [[0, 1], [1, 0]])
        >>> network.steady_state([0.75, 0.75])
        SteadyState([0.5, 0.5])
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
            _warn(
                f"the steady state violates its equation by {residual:.1e} of an activation, more "
                f"than tol={tol:.1e}; raise tol if that will do",
            )
        return q.reshape(plus.shape).view(SteadyState)

    def gradient(
        self,
        arrivals: ArrayLike,
        inhibitory_arrivals: ArrayLike | None = None,
        *,
        of: ArrayLike,
        q: ArrayLike | None = None,
    ) -> Gradient:
        r"""Derivatives of any function of the steady state, of networks with feedback too.

        For a function L of the activations q, by implicit differentiation of eq. 1: one linear
        system for each row of arrivals, and none where neurons do not feed back.

        Parameters
        ----------
        arrivals : array-like of shape (n_neurons,) or (n_rows, n_neurons)
            External excitatory spikes per unit time.
        inhibitory_arrivals : array-like of the same shape or (n_neurons,), optional
            External inhibitory spikes per unit time.
        of : array-like of the shape of ``arrivals`` or (n_neurons,)
            :math:`\partial L/\partial q`, row by row or the same for all: what is differentiated.
        q : array-like of the shape of ``arrivals``, optional
            The steady state, where it is known; else it is computed.

        Returns
        -------
        gradient : Gradient
            ``rates``, ``excitatory`` and ``inhibitory``, derivatives of the sum of L over rows;
            ``arrivals`` and ``inhibitory_arrivals``, row by row.

        Notes
        -----
        Each is a partial derivative, everything else that makes the network held fixed: rates at
        fixed probabilities (so that all weights rate × probability of the neuron change with its
        rate), probabilities at fixed rates. The probability that a spike leaves the network is
        what the others leave, and follows them.

        A saturated neuron (q = 1) stays so whatever a little more or less arrives: derivatives by
        its arrivals and by connections to it are 0, while its own rate and routes still matter to
        others. If it is just about to saturate, that is so to one side. They are 0, too, where q
        jumps from 0 to 1 at the first spike: at neurons that none reaches and none would leave. At
        parameters that are 0, such as most arrivals, derivatives are one-sided.

        Of a sparse matrix only connections that exist have a derivative here; a dense one has all.
        Any other is to be had from those by arrivals, as :math:`\partial L/\partial p^\pm_{ij}`
        is the sum over rows of :math:`r_i q_i` times the derivative by the (inhibitory) arrivals
        of *j*.

        Examples
        --------
        Two neurons that inhibit each other, each with q = Λ / (1 + the other's q); what the first
        one's q changes with:

        >>> network = RandomNeuralNetwork([1, 1], np.zeros((2, 2)), [[0, 1], [1, 0]])
        >>> gradient = network.gradient([0.75, 0.75], of=[1, 0])
        >>> gradient.arrivals
        array([ 0.75, -0.25])
        >>> gradient.inhibitory
        array([[-0.1875,  0.0625],
               [-0.1875,  0.0625]])
        """
        plus, minus = check_arrivals(self.n_neurons, arrivals, inhibitory_arrivals)
        wanted = check_of_rows(self.n_neurons, of, plus.shape, "of")
        if q is None:
            q = self.steady_state(plus, minus)
        state = check_of_rows(self.n_neurons, q, plus.shape, "q")
        rows = np.atleast_2d(plus)
        state, wanted = (np.broadcast_to(values, rows.shape) for values in (state, wanted))
        rows_minus = np.broadcast_to(0.0 if minus is None else minus, rows.shape)
        nu = np.empty(rows.shape)
        sums = Sums(self.rates, self.excitatory, self.inhibitory)
        off = residual = 0.0
        block = max(1, CELLS_AT_ONCE // self.n_neurons)
        for start in range(0, len(rows), block):
            part = slice(start, start + block)
            here = state[part]
            above, below = drive(self.stages, self.rates, rows[part], rows_minus[part], here)
            off = max(off, float(violation(here, excitation(above, below)).max()))
            nu[part], onwards, left = sensitivities(
                self.stages, self.rates, here, below, wanted[part]
            )
            sums.add(here, nu[part], onwards)
            residual = max(residual, left)
        if off > STEADY:
            _warn(
                f"q violates the equation of the steady state by {off:.1e} of an activation, and "
                "derivatives hold there only; take q from steady_state for these arrivals"
            )
        if residual > ADJOINT:
            _warn(
                f"derivatives violate their linear equations by a share of {residual:.1e}; the "
                "network loses too few of its spikes for them to be found exactly"
            )
        by_plus, by_minus = sums.matrices()
        return Gradient(
            rates=sums.rates,
            excitatory=by_plus,
            inhibitory=by_minus,
            arrivals=nu.reshape(plus.shape),
            inhibitory_arrivals=(-state * nu).reshape(plus.shape),
        )

    def simulate(
        self,
        arrivals: ArrayLike,
        inhibitory_arrivals: ArrayLike | None = None,
        *,
        events: float | None = None,
        time: float | None = None,
        frames: ArrayLike | None = None,
        until: "float | Until | None" = None,
        snapshots: ArrayLike | None = None,
        observe_every: int = 1_000,
        at_events: bool = False,
        replicas: int = 1,
        start: Literal["empty", "stationary"] = "empty",
        warm_up: float = 0,
        record: ArrayLike | None = None,
        record_bytes: float = 1 << 30,
        watch: ArrayLike | None = None,
        watch_at: ArrayLike | None = None,
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
            External excitatory spikes per unit time. Each row is a simulation of its own. A film
            has shape (n_frames, n_neurons) or (n_rows, n_frames, n_neurons); see ``frames``.
        inhibitory_arrivals : array-like of the same shape or (n_neurons,), optional
            External inhibitory spikes per unit time.
        events : int, default=1_000_000
            Events of each run.
        time : float, optional
            Simulated time of each run, instead of ``events``.
        frames : float or array-like of shape (n_frames,), optional
            Makes a film of the arrivals: for how long each frame is shown, or the times at which
            frames end. Arrivals change then, exactly, and all potentials stay. There is a snapshot
            at the end of each frame; ``result.frame(i)`` is what happened in it. (On a GPU only
            for networks without cycles.)
        until : float, Precision, Decision or SpikeCount, optional
            End as soon as it is known well enough: the widest interval is at most so wide
            (:class:`lrnn.spiking.Precision`), or it is known which neuron leads
            (:class:`lrnn.spiking.Decision`; :class:`lrnn.spiking.SpikeCount`, by the spikes that
            it has fired). ``events`` or ``time`` is then the most, after which a
            warning tells how long would do. Each row of arrivals ends for itself, at a snapshot;
            ``result.reached`` tells which did before their limit.
        snapshots : array-like, optional
            After how many events (or how much time) snapshots are taken, in ascending order,
            instead of the usual moments; there is always one at the end.
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
            with a large potential; a film begins in the steady state of its first frame.)
        warm_up : float, default=0
            Time at the beginning that is left out of all estimates; if the length is given as
            events, the time in which so many happen in the steady state.
        record : list of int, optional
            Neurons whose spikes are recorded, in all runs (``result.raster``); on a GPU only of
            networks without cycles.
        record_bytes : float, default=2**30
            Memory for these, 12 bytes for a spike. If more spikes are to be expected, by the
            steady state, that is an error, before anything is simulated; none is ever left out.
            (Up to three times as much is used for a moment, when they are put together.)
        watch : list of int, optional
            Neurons whose potentials are written down in every run (``result.potentials``,
            ``result.transient()``).
        watch_at : array-like, optional
            After how many events (or how much time) that is done, in ascending order; by default
            at 1,001 moments from the beginning to the end.
        trace : bool, default=False
            Whether the sum of all potentials is recorded at these moments, in the first run
            (``result.trace``).
        snapshot_bytes : int, default=2**28
            Memory for snapshots: `Simulation.at` and the intervals of a single run need them. They
            are taken after 1, 2 and 5 times powers of ten events, and at the ends of up to 32
            equal parts of a run; if that would be too much, of fewer.
        engine : {"auto", "clock", "neurons"}, default="auto"
            "clock" draws whose clock rings next, one after the other, whether that neuron is
            excited or not: fast where most are. "neurons" makes the events of one neuron after
            the other, for some time (where there are cycles, one event after the other from a
            queue), and spends nothing on those at rest. Both are exact. "auto" takes the one that
            is expected to be faster, which may be another one on a GPU.
        device : {"cpu", "cuda", "dask"}, default="cpu"
            Where to run. A GPU is for many runs, and so is a Dask cluster (that of the current
            client); with the same engine they give the same results.
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
            self, arrivals, inhibitory_arrivals, events=events, time=time, frames=frames,
            until=until, snapshots=snapshots, observe_every=observe_every, at_events=at_events,
            replicas=replicas, start=start, warm_up=warm_up, record=record,
            record_bytes=record_bytes, watch=watch, watch_at=watch_at, trace=trace,
            snapshot_bytes=snapshot_bytes, engine=engine, device=device, threads=threads,
            partition=partition, progress=progress, random_state=random_state,
        )  # fmt: skip

    def residual(
        self, q: ArrayLike, arrivals: ArrayLike, inhibitory_arrivals: ArrayLike | None = None
    ) -> Floats:
        """By which share of its activation ``q`` violates eq. 1, neuron by neuron.

        It is ``|q − T(q)| / max(q, T(q))``, T(q) being the right-hand side of eq. 1: 0 where a
        neuron meets it, 1 where it is at rest and should not be, or the reverse.

        Parameters
        ----------
        q : array-like of shape (n_neurons,) or (n_rows, n_neurons)
            Activations.
        arrivals : array-like of the same shape
            External excitatory spikes per unit time.
        inhibitory_arrivals : array-like of the same shape or (n_neurons,), optional
            External inhibitory spikes per unit time.

        Returns
        -------
        residual : ndarray of the shape of ``q``
            From 0 to 1.

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
        """``values`` of all neurons (in the last axis), layer by layer.

        Parameters
        ----------
        values : array-like of shape (..., n_neurons)
            Activations, rates or whatever else each neuron has one of.

        Returns
        -------
        layers : list of ndarray
            One for each layer.

        Examples
        --------
        >>> network = RandomNeuralNetwork.from_layers([[[0.5], [0.5]], [[1.0, 0.2]]])
        >>> [layer.shape for layer in network.split(network.steady_state([0.5, 0.5, 0, 0, 0]))]
        [(2,), (1,), (2,)]
        """
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


def _warn(message: str) -> None:
    """Of what has not converged, to whoever called the network."""
    from sklearn.exceptions import ConvergenceWarning  # slow to import

    warnings.warn(message, ConvergenceWarning, stacklevel=3)


def layer_names(count: int) -> tuple[str, ...]:
    """What ``count`` layers are called, in order, two or more.

    Parameters
    ----------
    count : int
        How many there are.

    Returns
    -------
    names : tuple of str
        "input" first, "output" last.

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
