"""Events per second of many runs on a GPU, with what they find checked against the CPU's runs.

python benchmarks/simulation_gpu.py        # needs a CUDA device and MNIST
"""

from time import perf_counter

import numpy as np

from common import Stopwatch, console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.spiking.on_gpu import Runs


class Kernel:
    """Seconds that kernels take, of all that `simulate` does."""

    def __init__(self):
        self.seconds = 0.0
        advance = Runs.advance

        def timed(runs, *arguments):
            began = perf_counter()
            advance(runs, *arguments)
            self.seconds += perf_counter() - began

        Runs.advance = timed


def main():
    kernel = Kernel()
    train, test = load_mnist("train"), load_mnist("test")
    model = LRNNAutoencoder((100,), random_state=0).fit(train)
    network = model.to_network()
    arrivals = model.arrivals(test)

    few = {"events": 20_000, "replicas": 40, "random_state": 1}
    gpu, cpu = (network.simulate(arrivals[:8], device=d, **few) for d in ("cuda", "cpu"))
    reached = np.asarray(cpu.steady).repeat(40, axis=0) > 0
    same = bool((gpu._sums * reached == cpu._sums * reached).all())
    console.print(f"8 images × 40 replicas × 20,000 events as on the CPU, bit for bit: {same}")

    rows = []
    for images, replicas, events, start in (
        (1_000, 32, 200_000, "empty"),
        (1_000, 64, 200_000, "empty"),
        (1_000, 96, 2_000_000, "empty"),
        (1_000, 128, 400_000, "empty"),
        (100, 96, 1_000_000, "stationary"),
        (10_000, 1, 1_000_000, "empty"),
    ):
        kernel.seconds = 0.0
        with Stopwatch() as watch:
            result = network.simulate(
                arrivals[:images],
                events=events,
                replicas=replicas,
                start=start,
                device="cuda",
                random_state=0,
            )
        found = result.compare(estimator="arrivals").errors[-1]
        total = images * replicas * events
        rows.append(
            {
                "images": images,
                "replicas": replicas,
                "events each": events,
                "start": start,
                "10⁹ events/s, kernel": total / kernel.seconds / 1e9,
                "whole call": total / watch.seconds / 1e9,
                "seconds": watch.seconds,
                "RMSE input": found[0],
                "hidden": found[1],
                "output": found[2],
            }
        )
    rows[0]["as on the CPU"] = same
    report("simulation_gpu", "Simulating MNIST 784→100 on a GPU", rows)


if __name__ == "__main__":
    main()
