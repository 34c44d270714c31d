"""How simulated activations of MNIST 784→100 converge; figures in docs/images.

python benchmarks/spiking_convergence.py
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from common import Stopwatch, load_mnist, report
from lrnn import LRNNAutoencoder, RandomNeuralNetwork, plots

IMAGES = 20
EVENTS = (10_000, 100_000, 1_000_000, 10_000_000)
ESTIMATORS: tuple[Any, ...] = ("potential", "busy", "arrivals", "events")
PICTURES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    train, test = load_mnist("train"), load_mnist("test")[:IMAGES]
    model = LRNNAutoencoder((100,), random_state=0).fit(train)
    rows = []
    runs: list[tuple[Any, int]] = [("empty", 1), ("stationary", 1), ("empty", 0)]
    for start, least_rate in runs:
        network = model.to_network(least_rate)
        arrivals = model.arrivals(test, network)
        with Stopwatch() as watch:
            result = network.simulate(
                arrivals, events=EVENTS[-1], at_events=True, start=start, random_state=0
            )
        exact = np.asarray(result.steady)
        for estimator in ESTIMATORS:
            for moment in EVENTS:
                wrong = (result.at(moment).activation(estimator) - exact) ** 2
                errors = np.array([np.sqrt(layer.mean(axis=1)) for layer in network.split(wrong)])
                pooled = np.sqrt((errors**2).mean(axis=1))
                rows.append(
                    {
                        "start": start,
                        "least rate": least_rate,
                        "estimator": estimator,
                        "events": moment,
                        **dict(zip(result.layer_names, pooled.tolist(), strict=True)),
                        "worst image, any layer": float(errors.max()),
                        "events per unit time": float((result.events / result.time).mean()),
                        "seconds, all images": watch.seconds,
                    }
                )
    report(
        "spiking_convergence",
        f"RMSE to the numeric activations, MNIST 784→100, {IMAGES} test images",
        rows,
    )
    draw(model.to_network(), model.arrivals(test)[0])


def draw(network: RandomNeuralNetwork, arrivals: Any) -> None:
    long = network.simulate(arrivals, events=EVENTS[-1], random_state=0)
    plots.simulated_layers(long, shape=(28, 28)).savefig(PICTURES / "spiking-layers.png")
    figure = Figure(figsize=(11, 3.2), layout="constrained", dpi=150)
    left, middle, right = figure.subplots(1, 3)
    plots.convergence(long, layer="hidden", ax=left)
    plots.convergence(long, layer="output", ax=middle)
    busiest = np.argsort(-np.asarray(long.steady)[784:884])[:40] + 784
    short = network.simulate(arrivals, time=20, record=np.sort(busiest), random_state=0)
    plots.raster(short, ax=right)
    right.set_title("the 40 busiest hidden neurons", fontsize=9, loc="left")
    figure.savefig(PICTURES / "spiking-convergence.png")


if __name__ == "__main__":
    main()
