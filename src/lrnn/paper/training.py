"""The paper's convergence experiments: a structure, trained as printed or by our solver."""

from typing import Any

import numpy as np

from lrnn import bounds
from lrnn.autoencoder import LRNNAutoencoder
from lrnn.paper.experiments import STRUCTURES, Structure, Task

POINTS = 400  # of a curve that are kept
AUDITED = 100  # rows whose steady states are compared with the forward pass
EVALUATIONS = (6, 60)  # of the printed algorithm on all rows, at least and at most
AFFORDED = 6e11  # multiplications for all of them


def train(task: Task, X: Any) -> tuple[dict[str, Any], LRNNAutoencoder]:
    """Train, and tell how the error fell and whether the network is valid."""
    structure = STRUCTURES[task.subject]
    model = fully_trained(make(task, structure, X.shape[0]), X)
    audit = model.audit()
    rows = X[:: max(1, X.shape[0] // AUDITED)][:AUDITED]
    network = model.to_network()
    q = network.steady_state(model.arrivals(rows))
    gap = np.abs(network.split(np.asarray(q))[-1] - model.reconstruct(rows)).max()
    return {
        "error": model.reconstruction_err_,
        "curves": [_curve(curve) for curve in model.history_],
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
        passes = min(structure.passes, 3) if task.quick else structure.passes
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


def _curve(curve: Any) -> dict[str, Any]:
    keep = np.unique(np.linspace(0, len(curve.errors) - 1, POINTS).astype(int))
    return {
        "iterations": curve.iterations[keep].tolist(),
        "errors": curve.errors[keep].tolist(),
        "seconds": curve.seconds[keep].tolist(),
        "stopped": curve.stopped,
    }
