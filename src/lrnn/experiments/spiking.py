"""The paper's section 5: its MNIST network, spike by spike."""

from typing import Any

import numpy as np

from lrnn.autoencoder import LRNNAutoencoder
from lrnn.experiments.tasks import Task

MOMENTS = (10_000, 100_000, 1_000_000)


def simulate(task: Task, model: LRNNAutoencoder, X: Any) -> dict[str, Any]:
    """One image, as in the paper's Figure 4: each layer as computed and as simulated."""
    network = model.to_network()
    result = network.simulate(model.arrivals(X[:1])[0], events=MOMENTS[-1], random_state=task.seed)
    exact = np.asarray(result.steady)
    return {
        "layers": list(result.layer_names),
        "numeric": [layer.tolist() for layer in network.split(exact)],
        "simulated": {
            str(moment): [v.tolist() for v in network.split(result.at(moment).activation())]
            for moment in MOMENTS
        },
        "rmse": {
            str(moment): [
                float(np.sqrt(np.mean((found - numeric) ** 2)))
                for found, numeric in zip(
                    network.split(result.at(moment).activation()),
                    network.split(exact),
                    strict=True,
                )
            ]
            for moment in MOMENTS
        },
        "coverage": result.coverage(),
        "saturated": int(result.saturated.sum()),
        "valid": model.audit().valid,
    }
