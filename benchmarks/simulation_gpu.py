"""Events per second of many runs on a GPU, with what they find checked against the CPU's runs.

python benchmarks/simulation_gpu.py            # needs a CUDA device and MNIST
python benchmarks/simulation_gpu.py --quick    # a fifth of it
"""

import argparse
from time import perf_counter

import numpy as np

from common import Stopwatch, console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.spiking.neurons_on_gpu import NeuronRuns
from lrnn.spiking.on_gpu import Runs

CASES = (  # images, replicas, events, brightness
    (10_000, 1, 1_000_000, 1.0),
    (10_000, 1, 1_000_000, 0.1),
    (10_000, 1, 1_000_000, 0.01),
    (10_000, 1, 1_000_000, 0.001),
    (1_000, 32, 200_000, 1.0),
    (1_000, 96, 500_000, 1.0),
    (1_000, 96, 100_000, 0.1),
    (1, 1_000, 1_000_000, 1.0),
    (1, 1, 10_000_000, 1.0),
)
SLOW = 30.0  # rings per event: clock by clock they are not waited for


class Kernel:
    """Seconds that kernels take, of all that `simulate` does."""

    def __init__(self):
        self.seconds = 0.0
        for kind in (Runs, NeuronRuns):
            kind.advance = self.timed(kind.advance)

    def timed(self, advance):
        """It, with its seconds counted."""

        def made(runs, *arguments):
            began = perf_counter()
            advance(runs, *arguments)
            self.seconds += perf_counter() - began

        return made


def same_as_on_the_cpu(network, arrivals):
    """Whether both devices count the same, by either engine."""
    found = {}
    for engine in ("clock", "neurons"):
        few = {"events": 20_000, "replicas": 40, "random_state": 1, "engine": engine}
        gpu, cpu = (network.simulate(arrivals[:8], device=d, **few) for d in ("cuda", "cpu"))
        found[engine] = bool((gpu.firing_counts == cpu.firing_counts).all())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--hidden", type=int, default=50)
    asked = parser.parse_args()
    kernel = Kernel()
    train, test = load_mnist("train"), load_mnist("test")
    model = LRNNAutoencoder((asked.hidden,), random_state=0).fit(train)
    network = model.to_network()
    arrivals = model.arrivals(test)
    same = same_as_on_the_cpu(network, arrivals)
    console.print(f"spikes of 8 images × 40 replicas × 20,000 events as on the CPU: {same}")

    rows = []
    for images, replicas, events, brightness in CASES:
        shown = arrivals[:images] * brightness
        for engine in ("clock", "neurons"):
            if engine == "clock" and brightness < 1 and images == 10_000:
                continue  # minutes
            length = events // (5 if asked.quick or engine == "clock" else 1)
            kernel.seconds = 0.0
            with Stopwatch() as watch:
                result = network.simulate(
                    shown, events=length, replicas=replicas, device="cuda", engine=engine,
                    random_state=0, snapshot_bytes=1 << 20,
                )  # fmt: skip
            total = images * replicas * length
            exact = np.asarray(result.steady)
            rows.append(
                {
                    "images": images,
                    "replicas": replicas,
                    "brightness": brightness,
                    "events each": length,
                    "engine": engine,
                    "10⁹ events/s, kernel": total / kernel.seconds / 1e9,
                    "whole call": total / watch.seconds / 1e9,
                    "seconds": watch.seconds,
                    "RMSE": float(np.sqrt(((result.activation("arrivals") - exact) ** 2).mean())),
                }
            )
            console.print(rows[-1])
    rows[0]["as on the CPU"] = same
    report("simulation_gpu", f"Simulating MNIST 784→{asked.hidden} on a GPU", rows)


if __name__ == "__main__":
    main()
