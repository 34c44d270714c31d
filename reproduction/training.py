"""The paper's convergence experiments: a structure, trained as printed or by our solver."""

from typing import Any

import numpy as np

from lrnn import LRNNAutoencoder, RandomNeuralNetwork, bounds
from lrnn.datasets import DATA_SETS
from lrnn.functional import activations, firing_rates, firings
from reproduction.experiments import LAYERWISE, READINGS, STRUCTURES, Structure, Task
from reproduction.printed import Course, Rows, first_network, train_layerwise

POINTS = 400  # of a curve that are kept
AUDITED = 100  # rows whose steady states are compared with the forward pass
EVALUATIONS = (6, 60)  # of the printed algorithm on all rows, at least and at most
AFFORDED = 6e11  # multiplications for all of them


def train(task: Task, X: Any) -> tuple[dict[str, Any], LRNNAutoencoder | None]:
    """How the error fell, whether the network is valid, and the model if it is lrnn's."""
    structure = STRUCTURES[task.subject]
    if task.method == LAYERWISE:
        return by_algorithm_2(task, structure, X), None
    model = fully_trained(make(task, structure, X.shape[0]), X)
    audit = model.audit()
    rows = evenly(X)
    q = model.to_network().split(np.asarray(model.to_network().steady_state(model.arrivals(rows))))
    return {
        "error": model.reconstruction_err_,
        "curves": [_curve(curve) for curve in model.history_],
        "iterations": int(sum(len(c.batch_errors) for c in model.history_)),
        "seconds": float(sum(c.seconds[-1] for c in model.history_)),
        "largest_row_sum": audit.largest_row_sum,
        "largest_routed": audit.largest_routed,
        "valid": audit.valid,
        "steady_state_gap": float(np.abs(q[-1] - model.reconstruct(rows)).max()),
        "spike_cost": model.spike_cost_,
        "variance": bounds.variance(X),
        "rows": int(X.shape[0]),
    }, model


def by_algorithm_2(task: Task, structure: Structure, X: Any) -> dict[str, Any]:
    """The same of Algorithm 2, whose errors are those of the autoencoder as far as it is built.

    While pair m is trained that is the network of the first m pairs, on the data. All weights are
    the best so far, as the next pair is built on them. (The algorithm itself looks only at each
    pair on the pair's inputs.)
    """
    rows, random = Rows(X, DATA_SETS[task.data].white), np.random.RandomState(task.seed)
    network = first_network((X.shape[1], *structure.hidden), rows, random, READINGS[""])
    passes, every = _passes(task, structure, X.shape[0])
    network, courses = train_layerwise(
        rows, network, random,
        batch_size=structure.batch_size, passes=passes, every=every, of_whole=True,
    )  # fmt: skip
    courses[0].errors = np.minimum.accumulate(courses[0].errors).tolist()  # of pair 1, on the data
    for course in courses[1:]:
        ends = np.array(course.iterations) % (len(course.batch_errors) // passes) == 0  # of passes
        course.iterations = np.array(course.iterations)[ends].tolist()
        course.seconds = np.array(course.seconds)[ends].tolist()
        course.errors = course.of_whole
    realised = RandomNeuralNetwork.from_layers(network.layers, least_rate=1.0)
    some = evenly(X) / (rows.white or 1)
    first = realised.rates[: X.shape[1]]
    arrivals = np.zeros((len(some), realised.n_neurons))
    arrivals[:, : X.shape[1]] = some * first
    q = realised.split(np.asarray(realised.steady_state(arrivals)))
    layers = [np.asarray(layer, dtype=np.float64) for layer in network.layers]
    means = (
        sum(
            np.concatenate(
                [q.sum(axis=0, dtype=np.float64) for q in activations(b, network.layers)]
            )
            for b in rows.blocks()
        )
        / X.shape[0]
    )
    return {
        "error": courses[-1].errors[-1],
        "curves": [_curve(course) for course in courses],
        "iterations": sum(len(course.batch_errors) for course in courses),
        "seconds": sum(course.seconds[-1] for course in courses),
        "largest_row_sum": float(max(layer.sum(axis=1).max() for layer in layers)),
        "largest_routed": float(realised.routed.max()),
        "valid": bool(realised.routed.max() <= 1 + 1e-9),
        "steady_state_gap": float(np.abs(q[-1] - activations(some, layers)[-1]).max()),
        "spike_cost": float(firings(firing_rates(layers), realised.split(means), layers).sum()),
        "variance": bounds.variance(X),
        "rows": int(X.shape[0]),
    }


def evenly(X: Any) -> Any:
    """Some rows, from the first to the last."""
    return X[:: max(1, X.shape[0] // AUDITED)][:AUDITED]


def fully_trained(model: LRNNAutoencoder, X: Any) -> LRNNAutoencoder:
    """The model, trained on X; half a training is no result, and ends the experiment."""
    model.fit(X)
    if model.history_[-1].stopped == "interrupted":
        raise KeyboardInterrupt
    return model


def make(task: Task, structure: Structure, rows: int) -> LRNNAutoencoder:
    """The model that a task trains."""
    common: dict[str, Any] = {
        "hidden_layer_sizes": structure.hidden,
        "rates": task.rates,
        "stacking": "joint",
        "batch_size": structure.batch_size,
        "random_state": task.seed,
    }
    if task.method == "printed":
        passes, every = _passes(task, structure, rows)
        return LRNNAutoencoder(
            solver="minibatch", max_iter=passes, tol=0, evaluate_every=every, **common
        )
    if task.rates == "unit":
        return LRNNAutoencoder(max_iter=5 if task.quick else structure.passes_unit, **common)
    return LRNNAutoencoder(
        max_iter=30 if task.quick else 1_000,
        tol=1e-5,
        fine_tune=min(structure.fine_tune, 2) if task.quick else structure.fine_tune,
        **common,
    )


def _passes(task: Task, structure: Structure, rows: int) -> tuple[int, int]:
    """Passes of a printed algorithm, and iterations between evaluations on all rows."""
    passes = structure.passes_layerwise if task.method == LAYERWISE else structure.passes
    passes = 1 if task.quick else passes
    iterations = passes * max(1, round(rows / structure.batch_size))
    least, most = EVALUATIONS
    afforded = int(AFFORDED / (rows * structure.n_weights))
    evaluations = least if task.quick else min(max(afforded, least), most)
    return passes, max(1, iterations // evaluations)


def _curve(curve: Course | Any) -> dict[str, Any]:
    keep = np.unique(np.linspace(0, len(curve.errors) - 1, POINTS).astype(int))
    found = {n: np.asarray(getattr(curve, n))[keep] for n in ("iterations", "errors", "seconds")}
    return {name: values.tolist() for name, values in found.items()} | {"stopped": curve.stopped}
