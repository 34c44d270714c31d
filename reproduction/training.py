"""The paper's convergence experiments: a structure, trained as printed or by our solver."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lrnn import bounds
from lrnn.autoencoder import LRNNAutoencoder
from lrnn.training import LearningCurve, Observer, State, evaluate
from lrnn.weights import Weights
from reproduction.experiments import LAYERWISE, STRUCTURES, Structure, Task

POINTS = 400  # of a curve that are kept
AUDITED = 100  # rows whose steady states are compared with the forward pass
EVALUATIONS = (6, 60)  # of the printed algorithm on all rows, at least and at most
AFFORDED = 6e11  # multiplications for all of them


def train(task: Task, X: Any) -> tuple[dict[str, Any], LRNNAutoencoder]:
    """Train, and tell how the error fell and whether the network is valid."""
    structure = STRUCTURES[task.subject]
    model = make(task, structure, X.shape[0])
    if task.method == LAYERWISE:
        curves = layerwise_curves(model, X)
    else:
        curves = [_curve(curve) for curve in fully_trained(model, X).history_]
    audit = model.audit()
    rows = X[:: max(1, X.shape[0] // AUDITED)][:AUDITED]
    network = model.to_network()
    q = network.steady_state(model.arrivals(rows))
    gap = np.abs(network.split(np.asarray(q))[-1] - model.reconstruct(rows)).max()
    return {
        "error": model.reconstruction_err_,
        "curves": curves,
        "iterations": int(sum(len(c.batch_errors) for c in model.history_)),
        "seconds": float(sum(c.seconds[-1] for c in model.history_)),
        "largest_row_sum": audit.largest_row_sum,
        "largest_routed": audit.largest_routed,
        "valid": audit.valid,
        "steady_state_gap": float(gap),
        "spike_cost": model.spike_cost_,
        "variance": bounds.variance(X),
        "rows": int(X.shape[0]),
    }, model


def fully_trained(model: LRNNAutoencoder, X: Any) -> LRNNAutoencoder:
    """The model, trained on X; half a training is no result, and ends the experiment."""
    model.fit(X)
    _check_whole(model)
    return model


class Pairs(Observer):
    """Keeps what Algorithm 2 makes of each layer pair: its best weights after every pass."""

    def __init__(self) -> None:
        self.after_passes: list[list[Weights]] = []

    def stage(self, task: str, iterations: int) -> None:
        """The next pair."""
        self.after_passes.append([])

    def checkpoint(self, state: Callable[[], State], finished: bool = False) -> None:
        """A pass has ended."""
        self.after_passes[-1].append(Weights(**state()["record"]["best"]))


def layerwise_curves(model: LRNNAutoencoder, X: Any) -> list[dict[str, Any]]:
    """Train by Algorithm 2; errors are those of the autoencoder as far as it is built.

    While pair m is trained that is the network of the first m pairs, on the data; with the last
    pair, the whole one. All weights are the best so far, as the next pair is built on them.
    (The algorithm itself looks only at each pair on the pair's inputs.)
    """
    pairs = Pairs()
    rows = model._fit(X, pairs)
    _check_whole(model)
    encoders, decoders = model.weights_.encoders, model.weights_.decoders
    first = model.history_[0]  # its inputs are the data
    curves = [_curve(replace(first, errors=np.minimum.accumulate(first.errors)))]
    for m in range(1, len(encoders)):
        networks = [
            Weights((*encoders[:m], *pair.encoders), (*pair.decoders, *decoders[-m:]))
            for pair in pairs.after_passes[m]
        ]
        curve = model.history_[m]
        ends = curve.iterations % (len(curve.batch_errors) // curve.passes) == 0  # of passes
        errors = np.array([evaluate(rows, network).error for network in networks])
        iterations, seconds = curve.iterations[ends], curve.seconds[ends]
        curves.append(_curve(replace(curve, iterations=iterations, errors=errors, seconds=seconds)))
    return curves


def _check_whole(model: LRNNAutoencoder) -> None:
    if model.history_[-1].stopped == "interrupted":
        raise KeyboardInterrupt


def make(task: Task, structure: Structure, rows: int) -> LRNNAutoencoder:
    """The model that a task trains."""
    layerwise = task.method == LAYERWISE
    common: dict[str, Any] = {
        "hidden_layer_sizes": structure.hidden,
        "rates": task.rates,
        "stacking": "layerwise" if layerwise else "joint",
        "batch_size": structure.batch_size,
        "random_state": task.seed,
    }
    if task.method != "lrnn":
        passes = structure.passes_layerwise if layerwise else structure.passes
        passes = min(passes, 3) if task.quick else passes
        iterations = passes * max(1, round(rows / structure.batch_size))
        evaluations = int(np.clip(AFFORDED / (rows * structure.n_weights), *EVALUATIONS))
        return LRNNAutoencoder(
            solver="minibatch",
            max_iter=passes,
            tol=0,
            evaluate_every=max(1, iterations // evaluations),
            **common,
        )
    if task.rates == "unit":
        return LRNNAutoencoder(max_iter=5 if task.quick else structure.passes_unit, **common)
    return LRNNAutoencoder(
        max_iter=30 if task.quick else 1_000,
        tol=1e-5,
        fine_tune=min(structure.fine_tune, 2) if task.quick else structure.fine_tune,
        **common,
    )


def _curve(curve: LearningCurve) -> dict[str, Any]:
    keep = np.unique(np.linspace(0, len(curve.errors) - 1, POINTS).astype(int))
    return {
        "iterations": curve.iterations[keep].tolist(),
        "errors": curve.errors[keep].tolist(),
        "seconds": curve.seconds[keep].tolist(),
        "stopped": curve.stopped,
    }
