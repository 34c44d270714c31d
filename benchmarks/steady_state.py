"""Steady states against the plain fixed-point iteration, and their gradients: time, memory.

    python benchmarks/steady_state.py [--only NAME …] [--peer-seconds 20]

Setup is what a network's first steady state costs more than its next one (finding the order in
which neurons can be solved). Memory is the peak of what NumPy allocates during a first
steady state, above the network itself; LAPACK's own work arrays are not in it. Gradients are those
of a random function of the steady state, which is known, by all parameters. The peer iterates
q ← T(q) of eq. 1 from rest, with the weights multiplied out and stored so that its products are
fast, until it violates eq. 1 by no more than 1e-12 of any activation, or its time is up.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

from common import RESULTS, Stopwatch, fastest, write
from lrnn import RandomNeuralNetwork
from lrnn.functional import activations

TOLERANCE = 1e-12
SMALLEST = float(np.finfo(float).tiny / np.finfo(float).eps)  # the smallest with all its digits


@dataclass(frozen=True)
class Problem:
    """A network and the arrivals to solve it for."""

    rates: Any
    excitatory: Any
    inhibitory: Any
    arrivals: Any
    forward: Callable[[], Any] | None = None  # a feed-forward network's closed form

    def network(self) -> RandomNeuralNetwork:
        """A network that has not been solved yet."""
        return RandomNeuralNetwork(self.rates, self.excitatory, self.inhibitory)


def dense(n: int = 2_000) -> Problem:
    rng = np.random.default_rng(0)
    sent = rng.exponential(size=(n, n))
    sent *= 0.99 / sent.sum(axis=1, keepdims=True)
    inhibits = rng.random((n, n))
    rates = np.exp(rng.normal(size=n))
    return Problem(rates, sent * (1 - inhibits), sent * inhibits, rates * rng.random(n) * 0.3)


def largest_change(q: np.ndarray, image: np.ndarray) -> float:
    """By which share of itself an activation changes in a step, at most."""
    return float((np.abs(image - q) / np.maximum(np.maximum(image, q), SMALLEST)).max())


def small(n: int = 16, rows: int = 200) -> Problem:
    """A network of few neurons that loses few spikes, for many rows."""
    rng = np.random.default_rng(0)
    sent = rng.exponential(size=(n, n))
    sent *= 0.99 / sent.sum(axis=1, keepdims=True)
    arrivals = 0.01 * rng.random((rows, n)) * (rng.random((rows, n)) < 0.4)
    return Problem(np.exp(rng.normal(size=n)), 0.98 * sent, 0.02 * sent, arrivals)


def scattered(inhibits: float, leak: float, n: int = 100_000, fan_out: int = 10) -> Problem:
    rng = np.random.default_rng(0)
    ends = np.repeat(np.arange(n), fan_out), rng.integers(0, n, n * fan_out)
    sent = sparse.csr_array((rng.exponential(size=n * fan_out), ends), shape=(n, n))
    sent = sparse.csr_array(sparse.diags_array((1 - leak) / sent.sum(axis=1)) @ sent)
    chosen = rng.random(sent.nnz) < inhibits
    plus, minus = sent.copy(), sent.copy()
    plus.data = sent.data * ~chosen
    minus.data = sent.data * chosen
    plus.eliminate_zeros()
    minus.eliminate_zeros()
    rates = np.exp(rng.normal(size=n))
    return Problem(rates, plus, minus, rates * rng.random(n) * 0.1 * (rng.random(n) < 0.1))


def ring(n: int = 1_000, leak: float = 1e-6) -> Problem:
    """Steps of 1 and 2 round a ring, of uneven odds; arrivals at one neuron fill half of it."""
    rng = np.random.default_rng(0)
    i = np.arange(n)
    odds = 10.0 ** (-9 * rng.random(n))
    steps = (odds, (i, (i + 1) % n)), (np.ones(n), (i, (i + 2) % n))
    sent = sum(sparse.csr_array(step, shape=(n, n)) for step in steps)
    sent = sparse.csr_array(sparse.diags_array((1 - leak) / sent.sum(axis=1)) @ sent)
    return Problem(np.ones(n), sent, None, 5e-4 * (i == 0))


def layered(rows: int = 10_000) -> Problem:
    rng = np.random.default_rng(0)
    sizes = 784, 100, 784
    weights = [
        rng.exponential(size=(784, 100)) / 784,
        rng.exponential(size=(100, 784)) / 100,
    ]
    inputs = rng.random((rows, 784)) * (rng.random((rows, 784)) < 0.2)
    network = RandomNeuralNetwork.from_layers(weights)
    arrivals = np.zeros((rows, sum(sizes)))
    arrivals[:, :784] = inputs * network.rates[:784]
    return Problem(
        network.rates, network.excitatory, None, arrivals, lambda: activations(inputs, weights)
    )


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "dense": dense,
    "small, 200 rows": small,
    "dense of 150, 50 rows": lambda: small(150, 50),
    "sparse, 50 % inhibitory, leak 1e-2": lambda: scattered(0.5, 1e-2),
    "sparse, 2 % inhibitory, leak 1e-6": lambda: scattered(0.02, 1e-6),
    "sparse, excitatory, leak 1e-4": lambda: scattered(0.0, 1e-4),
    "sparse, 90 % inhibitory, no leak": lambda: scattered(0.9, 0.0),
    "ring with shortcuts, leak 1e-6": ring,
    "784 → 100 → 784, 10,000 rows": layered,
}


def peak_memory(work: Callable[[], Any]) -> float:
    """MB that it takes at its peak, above what there was."""
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def plain_iteration(problem: Problem, limit: float) -> dict[str, Any]:
    """Iterate q ← T(q) from rest: time and steps to the tolerance, or to the limit."""

    def stored(probabilities: Any) -> Any:
        """Weights such that ``weights @ q`` is what arrives; None where there are none."""
        if probabilities is None or not probabilities.size:
            return None
        if sparse.issparse(probabilities):
            return sparse.csr_array((sparse.diags_array(problem.rates) @ probabilities).T)
        return np.ascontiguousarray((problem.rates[:, None] * probabilities).T)

    plus, minus = stored(problem.excitatory), stored(problem.inhibitory)
    arrivals, rates = (
        problem.arrivals.T,
        problem.rates.reshape(-1, *[1] * (problem.arrivals.ndim - 1)),
    )
    q = np.zeros(arrivals.shape)
    start = time.perf_counter()
    steps = 0
    while True:
        excite = arrivals if plus is None else arrivals + plus @ q
        total = rates if minus is None else rates + minus @ q
        image = np.minimum(excite / total, 1)
        residual = largest_change(q, image)
        elapsed = time.perf_counter() - start
        if residual <= TOLERANCE or elapsed > limit:
            return {
                "peer_reached": residual <= TOLERANCE,
                "peer_steps": steps,
                "peer_s": elapsed,
                "peer_residual": residual,
            }
        q = image
        steps += 1


def measure(name: str, problem: Problem, peer_seconds: float) -> dict[str, Any]:
    network = problem.network()
    with Stopwatch() as first:
        q = network.steady_state(problem.arrivals)
    solve = fastest(lambda: network.steady_state(problem.arrivals))
    of = np.random.default_rng(1).normal(size=network.n_neurons)

    def gradient() -> Any:
        return network.gradient(problem.arrivals, of=of, q=q)

    unsolved = problem.network()
    forward = None if problem.forward is None else fastest(problem.forward)
    matrices = [m for m in (network.excitatory, network.inhibitory) if m is not None]
    return {
        "network": name,
        "neurons": network.n_neurons,
        "connections": int(sum((m != 0).sum() for m in matrices)),
        "setup_s": max(first.seconds - solve, 0.0),
        "solve_s": solve,
        "residual": float(network.residual(q, problem.arrivals).max()),
        "saturated_share": float(q.saturated.mean()),
        "peak_memory_MB": peak_memory(lambda: unsolved.steady_state(problem.arrivals)),
        "gradient_s": fastest(gradient),
        "gradient_peak_memory_MB": peak_memory(gradient),
        "forward_pass_s": forward,
        **plain_iteration(problem, peer_seconds),
    }


def table(results: list[dict[str, Any]]) -> Table:
    shown = Table()
    shown.add_column("network", no_wrap=True)
    figures = "N", "connections", "setup s", "solve s", "residual", "saturated", "MB"
    for heading in (*figures, "gradient s", "MB", "plain iteration"):
        shown.add_column(heading, justify="right")
    for r in results:
        peer = f"{r['peer_steps']:,} steps, {r['peer_s']:.2f} s"
        if not r["peer_reached"]:
            peer = f"not reached: {r['peer_residual']:.0e} after {peer}"
        shown.add_row(
            r["network"],
            f"{r['neurons']:,}",
            f"{r['connections']:,}",
            f"{r['setup_s']:.3f}",
            f"{r['solve_s']:.3f}",
            f"{r['residual']:.0e}",
            f"{r['saturated_share']:.2%}",
            f"{r['peak_memory_MB']:,.0f}",
            f"{r['gradient_s']:.3f}",
            f"{r['gradient_peak_memory_MB']:,.0f}",
            peer,
        )
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(PROBLEMS), metavar="NAME",
                        help="networks whose names contain one of these words")  # fmt: skip
    parser.add_argument("--peer-seconds", type=float, default=20, help="time the peer may take")
    options = parser.parse_args()
    console = Console(width=max(160, Console().width))
    results = []
    for name, build in PROBLEMS.items():
        if any(word in name for word in options.only):
            results.append(measure(name, build(), options.peer_seconds))
    console.print(table(results))
    for r in results:
        if r["forward_pass_s"] is not None:
            ratio = r["solve_s"] / r["forward_pass_s"]
            console.print(
                f"{r['network']}: the forward pass takes {r['forward_pass_s']:.3f} s, "
                f"the steady state {ratio:.2f} times that"
            )
    if len(results) == len(PROBLEMS):
        write(RESULTS / "steady_state.json", "Steady states", results)


if __name__ == "__main__":
    main()
