"""Other libraries that do the same work, and lrnn beside them: how each is called and run.

A factorisation trains on rows of data, with a code of some width, for a number of iterations (or
passes over the data). A simulator is given a network, its external arrival rates, and about how
many events (spikes from outside, and firings) to make; it returns how many it made, and in how
many seconds. The clock runs only while they work: the time that Ciw and Brian2 need to build their
model of a network does not count, for lrnn it does.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from common import available_cores
from lrnn import LRNNAutoencoder, RandomNeuralNetwork

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float32]
"""Rows of data (which may also be a CSR array), codes of rows, or what they are decoded to."""

SEED = 0
CELLS_AT_ONCE = 1 << 22  # of sparse rows and what they are decoded to
ADAM_STEPS, ADAM_ROWS = 120, (20, 500)  # in a pass; and rows in a minibatch, least and most


@dataclass(frozen=True)
class FittedModel:
    """A model, and what its training took.

    Attributes
    ----------
    seconds : float
        Of the whole training, with data in memory and nothing else counted.
    iterations : int
        Steps or passes over the data that it made.
    encode, decode : callable
        From rows to codes, and from codes to rows.
    codes : ndarray, optional
        Those of the training data, where training itself gives them.
    curve : tuple of (seconds, error), default=()
        The error during training, where it is known.
    """

    seconds: float
    iterations: int
    encode: Callable[[Matrix], Matrix]
    decode: Callable[[Matrix], Matrix]
    codes: Matrix | None = None
    curve: tuple[tuple[float, float], ...] = ()

    def error(self, X: Matrix) -> float:
        """Mean squared error per attribute on the rows that it was trained on."""
        codes = self.encode(X) if self.codes is None else self.codes
        return self.error_of(X, codes)

    def error_of(self, X: Any, codes: Matrix) -> float:
        """Mean squared error per attribute of some codes of X; sparse rows a block at a time."""
        if not sparse.issparse(X):
            return mean_squared_error(X, self.decode(codes))
        rows = int(X.shape[0])
        height = max(1, CELLS_AT_ONCE // int(X.shape[1]))
        total = 0.0
        for some in (slice(i, i + height) for i in range(0, rows, height)):
            block = X[some].toarray()
            total += mean_squared_error(block, self.decode(codes[some])) * len(block)
        return total / rows

    def facts(self, X: Matrix) -> dict[str, Any]:
        """The results of the training on X, and its curve, if there is one."""
        found = {
            "iterations": self.iterations,
            "seconds": self.seconds,
            "error": self.error(X),
        }
        end = [self.seconds, found["error"]]
        return {**found, "curve": [*map(list, self.curve), end]} if self.curve else found


def mean_squared_error(X: NDArray[Any], reconstruction: NDArray[Any]) -> float:
    """Mean squared error per attribute."""
    return float(((X - reconstruction) ** 2).mean(dtype=np.float64))


@dataclass(frozen=True)
class Competitor:
    """One of those that are compared.

    Attributes
    ----------
    name : str
        As `side_by_side.py --against` takes it.
    title : str
        As tables and figures show it.
    needs : tuple of str
        Modules that must be installed besides lrnn; their packages have the same names.
    """

    name: str
    title: str
    needs: tuple[str, ...]

    @property
    def missing(self) -> str | None:
        """What to say if it is not installed."""
        absent = [module for module in self.needs if find_spec(module) is None]
        return f"not installed: pip install {' '.join(absent)}" if absent else None

    @property
    def ours(self) -> bool:
        """Whether it is lrnn itself."""
        return self.name.startswith("lrnn")


@dataclass(frozen=True)
class Factorisation(Competitor):
    """Trains on rows of data for a number of iterations (or passes over the data).

    The longer ones of its ``budgets`` are for small data (see `side_by_side.fit_steps`).
    """

    train: Callable[[Matrix, int, int], FittedModel]
    unit: str
    budgets: tuple[int, ...]
    sparse: bool = True
    """Whether it takes sparse matrices."""

    def budget(self, quick: bool) -> int:
        """Its second budget (the only one, if it has no more), or the first to be quick."""
        return self.budgets[0 if quick else min(1, len(self.budgets) - 1)]


@dataclass(frozen=True)
class Simulator(Competitor):
    """Simulates a network for about a number of events."""

    run: Callable[[RandomNeuralNetwork, Floats, int], tuple[float, float]]
    budgets: tuple[int, ...]


def train_lrnn(X: Matrix, hidden: int, iterations: int, fine_tune: int = 0) -> FittedModel:
    """`LRNNAutoencoder` with its defaults, and its learning curve."""
    model = LRNNAutoencoder(hidden, max_iter=iterations, fine_tune=fine_tune, random_state=SEED)
    began = perf_counter()
    model.fit(X)
    seconds = perf_counter() - began
    if model.history_[-1].stopped == "interrupted":
        raise KeyboardInterrupt  # half a training is no result
    return FittedModel(
        seconds,
        sum(curve.passes for curve in model.history_),
        model.transform,
        model.inverse_transform,
        curve=learning_curve(model.history_, seconds),
    )


def train_fine_tuned(X: Matrix, hidden: int, iterations: int) -> FittedModel:
    """`LRNNAutoencoder` with three passes of training end to end."""
    return train_lrnn(X, hidden, iterations, fine_tune=3)


def learning_curve(stages: Sequence[Any], seconds: float) -> tuple[tuple[float, float], ...]:
    """Errors against wall-clock time.

    Learning curves leave out some of the work: reading the data, evaluations, the last passes. All
    of it counts here, as if it were done before the first iteration.
    """
    begin = seconds - sum(float(stage.seconds[-1]) for stage in stages)
    points: list[tuple[float, float]] = []
    for stage in stages:
        points += zip((begin + stage.seconds).tolist(), stage.errors.tolist(), strict=True)
        begin += float(stage.seconds[-1])
    return tuple(points)


def reached(curve: Sequence[Sequence[float]], error: float) -> float | None:
    """When a curve of (seconds, error) was first as low as an error."""
    return next((seconds for seconds, found in curve if found <= error), None)


def train_nmf_cd(X: Matrix, hidden: int, iterations: int) -> FittedModel:
    """scikit-learn's `NMF` by coordinate descent, its default."""
    from sklearn.decomposition import NMF

    return _train_sklearn(NMF(hidden, max_iter=iterations, tol=0, random_state=SEED), X)


def train_nmf_mu(X: Matrix, hidden: int, iterations: int) -> FittedModel:
    """scikit-learn's `NMF` by multiplicative updates, from a start without zeros."""
    from sklearn.decomposition import NMF

    init = "nndsvda" if hidden <= min(X.shape) else "random"
    model = NMF(hidden, solver="mu", init=init, max_iter=iterations, tol=0, random_state=SEED)
    return _train_sklearn(model, X)


def train_minibatch_nmf(X: Matrix, hidden: int, passes: int) -> FittedModel:
    """scikit-learn's `MiniBatchNMF`."""
    from sklearn.decomposition import MiniBatchNMF

    model = MiniBatchNMF(
        hidden,
        max_iter=passes,
        tol=0,
        max_no_improvement=None,
        transform_max_iter=200,
        random_state=SEED,
    )
    return _train_sklearn(model, X)


def _train_sklearn(model: Any, X: Matrix) -> FittedModel:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = perf_counter()
        codes = model.fit_transform(X)
        seconds = perf_counter() - began
    made = model.n_iter_
    model.set_params(max_iter=200, tol=1e-4)  # scikit-learn's own, for the codes of new rows

    def encode(rows: Matrix) -> Matrix:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found: Matrix = model.transform(rows)
        return found

    return FittedModel(seconds, made, encode, lambda c: c @ model.components_, codes=codes)


def train_torchnmf(X: Matrix, hidden: int, iterations: int) -> FittedModel:
    """The `NMF` of torchnmf, with the squared error (beta = 2)."""
    import torch
    from torchnmf.nmf import NMF

    torch.manual_seed(SEED)
    with _flushed_denormals():
        began = perf_counter()
        model = NMF(X.shape, hidden)
        made = model.fit(torch.from_numpy(X), beta=2, tol=0, max_iter=iterations)
        seconds = perf_counter() - began
    parts = model.W.detach()  # attributes × code

    def encode(rows: Matrix) -> Matrix:
        torch.manual_seed(SEED)
        coder = NMF(W=parts, H=(len(rows), hidden), trainable_W=False)
        with _flushed_denormals():
            coder.fit(torch.from_numpy(rows), beta=2)  # until torchnmf's own tolerance
        return _numpy(coder.H)

    return FittedModel(seconds, made, encode, lambda c: c @ _numpy(parts).T, codes=_numpy(model.H))


@contextmanager
def _flushed_denormals() -> Iterator[None]:
    """Tiny numbers become 0, which torchnmf's authors advise for speed."""
    import torch

    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def train_adam(X: Matrix, hidden: int, passes: int) -> FittedModel:
    """A saturating autoencoder with softplus weights, by Adam, written by hand."""
    import torch
    from torch.nn.functional import softplus

    torch.manual_seed(SEED)
    data = torch.from_numpy(X)
    began = perf_counter()
    shapes = (X.shape[1], hidden), (hidden, X.shape[1])
    weights = [(torch.randn(shape) - math.log(shape[0])).requires_grad_() for shape in shapes]
    adam = torch.optim.Adam(weights, lr=0.02)

    def layer(rows: Any, i: int) -> Any:
        return (rows @ softplus(weights[i])).clamp(max=1)

    count = min(max(len(X) // ADAM_STEPS, ADAM_ROWS[0]), ADAM_ROWS[1])
    for _ in range(passes):
        for rows in torch.split(data[torch.randperm(len(data))], count):
            adam.zero_grad()
            ((rows - layer(layer(rows, 0), 1)) ** 2).mean().backward()
            adam.step()
    seconds = perf_counter() - began

    def through(i: int, rows: Matrix) -> Matrix:
        with torch.no_grad():
            return _numpy(layer(torch.from_numpy(rows), i))

    return FittedModel(seconds, passes, lambda r: through(0, r), lambda c: through(1, c))


def _numpy(tensor: Any) -> Matrix:
    array: Matrix = tensor.detach().numpy()
    return array


def simulate_on_one_core(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """One run of lrnn."""
    return _simulate(network, arrivals, events, 1)


def simulate_on_all_cores(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """A run of lrnn on each core, each of ``events``."""
    return _simulate(network, arrivals, events, available_cores())


def _simulate(
    network: RandomNeuralNetwork, arrivals: Floats, events: int, runs: int
) -> tuple[float, float]:
    began = perf_counter()
    result = network.simulate(
        arrivals, events=events, replicas=runs, threads=runs, progress=False, random_state=SEED
    )
    seconds = perf_counter() - began
    if result.interrupted:
        raise KeyboardInterrupt
    return float(result.events), seconds


def events_per_time(network: RandomNeuralNetwork, arrivals: Floats) -> float:
    """Events in a unit of simulated time, in the steady state."""
    firings = np.asarray(network.steady_state(arrivals)) @ network.rates
    return float(arrivals.sum() + firings)


def simulate_with_ciw(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """Ciw's queueing network: a neuron is a server, and its potential the customers there."""
    import ciw

    model = ciw.create_network(
        arrival_distributions=[
            ciw.dists.Exponential(rate=rate) if rate > 0 else None for rate in arrivals
        ],
        service_distributions=[ciw.dists.Exponential(rate=rate) for rate in network.rates],
        number_of_servers=[1] * network.n_neurons,
        routing=[(row * (1 - 1e-9)).tolist() for row in network.excitatory.toarray()],
    )
    ciw.seed(SEED)
    simulation = ciw.Simulation(model)
    began = perf_counter()
    simulation.simulate_until_max_time(events / events_per_time(network, arrivals))
    seconds = perf_counter() - began
    served = sum(len(individual.data_records) for individual in simulation.get_all_individuals())
    came = simulation.nodes[0].number_of_individuals
    return float(served + came), seconds


def simulate_with_brian2(
    network: RandomNeuralNetwork, arrivals: Floats, events: int
) -> tuple[float, float]:
    """Brian2, which simulates in steps of time: a neuron fires at most once in each."""
    import brian2 as b2

    b2.prefs.codegen.target = "cython"
    b2.seed(SEED)
    step = 0.1 / network.rates.max()
    b2.defaultclock.dt = step * b2.second
    neurons = b2.NeuronGroup(
        network.n_neurons,
        "k : 1\nrate : Hz\nu : 1",
        threshold="k > 0.5 and rand() < rate * dt",
        reset="k -= 1\nu = rand()",
    )
    neurons.rate = network.rates * b2.Hz
    neurons.u = "rand()"
    synapses = _brian2_synapses(b2, network, neurons)
    fed = np.flatnonzero(arrivals)
    outside = b2.PoissonGroup(len(fed), arrivals[fed] * b2.Hz)
    inputs = b2.Synapses(outside, neurons, on_pre="k_post += 1")
    inputs.connect(i=np.arange(len(fed)), j=fed)
    counts = [b2.SpikeMonitor(group, record=False) for group in (neurons, outside)]
    simulation = b2.Network(neurons, synapses, outside, inputs, *counts)
    simulation.run(2 * step * b2.second)  # compiled
    before = sum(int(count.num_spikes) for count in counts)
    time = events / events_per_time(network, arrivals)
    began = perf_counter()
    simulation.run(time * b2.second)
    seconds = perf_counter() - began
    return float(sum(int(count.num_spikes) for count in counts) - before), seconds


def _brian2_synapses(b2: Any, network: RandomNeuralNetwork, neurons: Any) -> Any:
    """A spike takes the one synapse whose part of [0, 1] contains its random number."""
    routes = network.excitatory.tocoo()
    rows = [network.excitatory[[i]].data for i in range(network.n_neurons)]
    upper = np.concatenate([np.cumsum(row) for row in rows])
    synapses = b2.Synapses(
        neurons, neurons, "low : 1\nhigh : 1", on_pre="k_post += int(u_pre >= low and u_pre < high)"
    )
    synapses.connect(i=routes.row, j=routes.col)
    synapses.low, synapses.high = upper - network.excitatory.data, upper
    return synapses


LRNN = Factorisation("lrnn", "lrnn", (), train_lrnn, "iterations", (200,))
FINE_TUNED = Factorisation(
    "lrnn-fine-tuned",
    "lrnn, fine_tune=3",
    (),
    train_fine_tuned,
    "iterations",
    (200,),
    sparse=False,  # its minibatches are reconstructed in full
)
FACTORISATIONS = (
    Factorisation("nmf-cd", "NMF (cd)", (), train_nmf_cd, "iterations", (5, 20, 80, 320, 1_280)),
    Factorisation("nmf-mu", "NMF (mu)", (), train_nmf_mu, "iterations", (20, 80, 320, 1_280)),
    Factorisation(
        "minibatch-nmf",
        "MiniBatchNMF",
        (),
        train_minibatch_nmf,
        "passes",
        (1, 4, 16, 64, 256),
    ),
    Factorisation(
        "torchnmf",
        "torchnmf",
        ("torch", "torchnmf"),
        train_torchnmf,
        "iterations",
        (20, 80, 320, 1_280),
        sparse=False,
    ),
    Factorisation(
        "adam", "torch, Adam", ("torch",), train_adam, "passes", (2, 8, 32, 128), sparse=False
    ),
)

ONE_CORE = Simulator("lrnn", "lrnn, one core", (), simulate_on_one_core, (10**6, 10**7, 10**8))
ALL_CORES = Simulator(
    "lrnn-all-cores", "lrnn, all cores", (), simulate_on_all_cores, ONE_CORE.budgets
)
SIMULATORS = (
    Simulator("ciw", "Ciw", ("ciw",), simulate_with_ciw, (300, 1_000, 3_000)),
    Simulator(
        "brian2",
        "Brian2 (steps of time)",
        ("brian2",),
        simulate_with_brian2,
        (3_000, 10_000, 100_000),
    ),
)
