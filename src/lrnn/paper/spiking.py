"""The paper's section 5: a network of MNIST images, spike by spike."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lrnn.autoencoder import LRNNAutoencoder
from lrnn.spiking.simulation import Simulation


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


def coverage_of_layers(result: Simulation) -> list[dict[str, Any]]:
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
