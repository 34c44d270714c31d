"""The paper's section 6: networks of MNIST images, spike by spike."""

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from lrnn import LRNNAutoencoder, RandomNeuralNetwork
from reproduction.experiments import OBSERVED_AT


def compared(
    models: Mapping[str, LRNNAutoencoder],
    X: Any,
    moments: Sequence[int],
    replicas: int,
    seed: int,
) -> dict[str, Any]:
    """Several networks, each shown all rows of X: how near their layers are to the numbers.

    The pictures are of the first row, and so are the ``replicas`` of `bias_after_events`.
    """
    return {
        "moments": list(moments),
        "networks": {
            name: near(model, X, moments, replicas, seed) for name, model in models.items()
        },
    }


def near(
    model: LRNNAutoencoder, X: Any, moments: Sequence[int], replicas: int, seed: int
) -> dict[str, Any]:
    """How near each layer is to the numbers after so many events, image by image."""
    network, arrivals = model.to_network(), model.arrivals(X)
    result = network.simulate(arrivals, events=moments[-1], at_events=True, random_state=seed)
    exact = np.asarray(result.steady)
    audit = model.audit()
    found: dict[str, Any] = {
        "layers": list(result.layer_names),
        "rates": [list(layer.rates) for layer in audit.layers],
        "row_sums": [layer.row_sums for layer in audit.layers[:-1]],
        "rows_above_one": [layer.rows_above_one for layer in audit.layers[:-1]],
        "neurons": [layer.neurons for layer in audit.layers],
        "valid": audit.valid,
        "error": -float(model.score(X)),
        "activation": [float(layer.mean()) for layer in network.split(exact)],
        "saturated": [float(layer.sum(axis=1).mean()) for layer in network.split(result.saturated)],
        "events_per_time": float(np.mean(result.events / result.time)),
        "coverage": result.coverage(),
        "numeric": _layers(network, exact[0]),
        "shown": {},
        "rmse": {},
        "relative": {},
        "correlation": {},
    }
    for estimator in OBSERVED_AT:
        values = {str(m): result.at(m).activation(estimator) for m in moments}
        found["shown"][estimator] = {m: _layers(network, q[0]) for m, q in values.items()}
        for name, measure in MEASURES.items():
            found[name][estimator] = {
                m: [
                    np.round(measure(layer, numbers), 6).tolist()
                    for layer, numbers in zip(network.split(q), network.split(exact), strict=True)
                ]
                for m, q in values.items()
            }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the simulated time is too short")  # as it is to be
        begun = network.simulate(
            arrivals, events=moments[0], at_events=True, start="stationary", random_state=seed
        )
    found["begun_in_steady_state"] = {
        estimator: [
            float(relative(layer, numbers).mean())
            for layer, numbers in zip(
                network.split(begun.activation(estimator)), network.split(exact), strict=True
            )
        ]
        for estimator in OBSERVED_AT
    }
    found["bias"] = bias_after_events(network, arrivals[0], replicas, moments[-1], seed)
    return found


def rmse(layer: Any, exact: Any) -> Any:
    """Root mean square error of each row."""
    return np.asarray(np.sqrt(((layer - exact) ** 2).mean(axis=1)))


def relative(layer: Any, exact: Any) -> Any:
    """The error of each row, as a share of the root mean square of the numbers."""
    return np.asarray(rmse(layer, exact) / np.maximum(rmse(exact, 0 * exact), 1e-12))


def correlation(layer: Any, exact: Any) -> Any:
    """Between a row and the numbers: how alike two pictures are; 0 where one is uniform."""
    a, b = (rows - rows.mean(axis=1, keepdims=True) for rows in (layer, exact))
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.asarray((a * b).sum(axis=1) / np.where(scale > 0, scale, np.inf))


MEASURES = {"rmse": rmse, "relative": relative, "correlation": correlation}
"""How near a simulated layer is to the numbers, row by row."""


def bias_after_events(
    network: RandomNeuralNetwork, arrivals: Any, replicas: int, events: int, seed: int
) -> list[dict[str, Any]]:
    r"""What it does to an estimate to observe potentials after events: layer by layer.

    Theory says that the mean potential is then too high by :math:`\varphi_i`, the share of events
    that are firings of neuron i. Each of many runs, begun in steady state, tells which multiple of
    that it sees: :math:`\sum_i w_i\varphi_i(\bar k_i - m_i) / \sum_i w_i\varphi_i^2`, with weights
    that are small where potentials vary much, or slowly: :math:`(1-q_i)^4/q_i`. It should be 1
    after events, and 0 at ticks. For this potentials are observed more often than in the paper,
    since the bias does not depend on it; standard deviations are those of estimates at 1,000.
    """
    q = np.asarray(network.steady_state(arrivals))
    working = (q > 0) & (q < 1)
    mean = np.where(working, q / (1 - np.where(working, q, 0)), 1)
    firings = q * network.rates
    share = np.where(working, firings / (arrivals.sum() + firings.sum()), 0)
    weights = share / (mean * (1 + mean) ** 3)
    off = np.where(working, (mean + share) / (1 + mean + share) - q, 0)
    often, seldom = (
        _replicas(network, arrivals, replicas, events, every, seed) for every in (100, 1_000)
    )
    rows: list[dict[str, Any]] = []
    ends = np.cumsum([0, *(network.layer_sizes or (network.n_neurons,))])
    for begin, end in pairwise(ends):
        here = np.flatnonzero(working[begin:end]) + begin
        row: dict[str, Any] = {
            "neurons": len(here),
            "bias": float(np.sqrt((off[here] ** 2).mean())),
            "largest": float(off[here].max()),
        }
        seen = {}
        for estimator in OBSERVED_AT:
            potential = often[estimator][:, here] / (1 - often[estimator][:, here])
            found = (potential - mean[here]) @ weights[here] / (share[here] @ weights[here])
            seen[estimator] = found
            row[f"{estimator}_multiple"] = interval(found)
            variance = seldom[estimator][:, here].var(axis=0, ddof=1)
            row[f"{estimator}_deviation"] = float(np.sqrt(variance.mean()))
        row["difference"] = interval(seen["events"] - seen["potential"])
        rows.append(row)
    return rows


def _replicas(
    network: RandomNeuralNetwork,
    arrivals: Any,
    replicas: int,
    events: int,
    every: int,
    seed: int,
) -> dict[str, Any]:
    """Activations that many runs find, each for itself."""
    result = network.simulate(
        np.tile(arrivals, (replicas, 1)), events=events, observe_every=every, at_events=True,
        start="stationary", snapshot_bytes=0, random_state=seed + 1,
    )  # fmt: skip
    return {estimator: result.activation(estimator) for estimator in OBSERVED_AT}


def interval(values: Any, level: float = 0.95) -> tuple[float, float]:
    """The mean of independent numbers, and half the width of its confidence interval.

    >>> interval([1.0, 2.0, 3.0])[0]
    2.0
    """
    values = np.asarray(values, dtype=np.float64)
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * stats.sem(values)
    return float(values.mean()), float(half)


def simulated(model: LRNNAutoencoder, X: Any, moments: Sequence[int], seed: int) -> dict[str, Any]:
    """The only row of X: each layer as computed, and as simulated for so many events."""
    network = model.to_network()
    result = network.simulate(model.arrivals(X)[0], events=moments[-1], random_state=seed)
    numeric = network.split(np.asarray(result.steady))
    found = {str(m): network.split(result.at(m).activation()) for m in moments}
    return {
        "layers": list(result.layer_names),
        "numeric": [layer.tolist() for layer in numeric],
        "simulated": {m: [layer.tolist() for layer in layers] for m, layers in found.items()},
        "rmse": {
            m: [
                float(np.sqrt(np.mean((layer - exact) ** 2)))
                for layer, exact in zip(layers, numeric, strict=True)
            ]
            for m, layers in found.items()
        },
        "coverage": result.coverage(),
        "coverage_of_layers": {str(m): coverage_of_layers(result.at(m)) for m in moments},
        "time": float(result.time),
        "saturated": int(result.saturated.sum()),
        "valid": model.audit().valid,
    }


def coverage_of_layers(result: Any) -> list[dict[str, Any]]:
    """How many neurons of each layer are at work, and how many 95 % intervals hold the numbers.

    Those that are never excited would always be right, and those that saturate have no steady
    state: neither are counted.
    """
    low, high = result.confidence_interval(0.95, "arrivals")
    exact = np.asarray(result.steady)
    working = (exact > 0) & ~result.saturated
    held = working & (low <= exact) & (exact <= high)
    split = result.network.split
    return [
        {"neurons": int(all_.sum()), "held": int(inside.sum())}
        for all_, inside in zip(split(working), split(held), strict=True)
    ]


def _layers(network: RandomNeuralNetwork, q: Any) -> list[list[float]]:
    """To five digits: for pictures."""
    return [np.round(layer, 5).tolist() for layer in network.split(q)]
