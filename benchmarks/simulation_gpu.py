"""Events per second of many runs on a GPU, with what they find checked against the CPU's runs.

python benchmarks/simulation_gpu.py            # needs a CUDA device and MNIST
python benchmarks/simulation_gpu.py --quick    # a fifth of it
python benchmarks/simulation_gpu.py --alone    # only one run of one network
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from common import Stopwatch, console, layered, load_mnist, report
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
ALONE = (50, 1_000, 10_000, 100_000)  # neurons of a level, of one network; the first is MNIST's


class Kernel:
    """Seconds that kernels take, of all that `simulate` does."""

    def __init__(self) -> None:
        self.seconds = 0.0
        for kind in (Runs, NeuronRuns):
            kind.advance = self.timed(kind.advance)  # type: ignore[method-assign]

    def timed(self, advance: Callable[..., object]) -> Callable[..., None]:
        """It, with its seconds counted."""

        def made(runs: Any, *arguments: Any) -> None:
            began = perf_counter()
            advance(runs, *arguments)
            self.seconds += perf_counter() - began

        return made


def warm_up(run: Callable[..., object], events: int) -> None:
    """A short run, after which all is compiled; it is too short to know much, and would say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(events=events)


def same_as_on_the_cpu(network: Any, arrivals: Any) -> dict[str, bool]:
    """Whether both devices count the same, by either engine."""
    found = {}
    for engine in ("clock", "neurons"):
        few = {"events": 20_000, "replicas": 40, "random_state": 1, "engine": engine}
        gpu, cpu = (network.simulate(arrivals[:8], device=d, **few) for d in ("cuda", "cpu"))
        found[engine] = bool((gpu.firing_counts == cpu.firing_counts).all())
    return found


def alone(network: Any, arrivals: Any, quick: bool) -> None:
    """One run of one network: on the whole device, and on a thread of the CPU."""
    rows = []
    for width in ALONE:
        for inhibition in (0.0, 0.3):
            if width == ALONE[0]:
                if inhibition:
                    continue
                tried, coming, title = network, arrivals[0], "MNIST, 1,618 neurons"
            else:
                tried, coming = layered(width, inhibition)
                title = f"3 levels of {width:,}" + (", a third inhibitory" if inhibition else "")
            row: dict[str, Any] = {"network": title}
            length = 20_000_000 if quick or width == ALONE[0] else 100_000_000
            for name, device, events in (
                ("GPU", "cuda", length),
                ("1 thread", "cpu", length // 10),
            ):
                run = partial(
                    tried.simulate, coming, engine="neurons", random_state=0, device=device,
                    threads=1, snapshot_bytes=0,
                )  # fmt: skip
                warm_up(run, events // 100)
                with Stopwatch() as watch:
                    run(events=events)
                row[f"{name}, 10⁶ events/s"] = events / watch.seconds / 1e6
            rows.append(row)
            console.print(row)
    report("one_run_gpu", "One run of one network", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--hidden", type=int, default=50)
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    kernel = Kernel()
    train, test = load_mnist("train"), load_mnist("test")
    model = LRNNAutoencoder((asked.hidden,), random_state=0).fit(train)
    network = model.to_network()
    arrivals = model.arrivals(test)
    same = same_as_on_the_cpu(network, arrivals)
    console.print(f"spikes of 8 images × 40 replicas × 20,000 events as on the CPU: {same}")

    rows: list[dict[str, Any]] = []
    for images, replicas, events, brightness in () if asked.alone else CASES:
        shown = arrivals[:images] * brightness
        for engine in ("clock", "neurons"):
            if engine == "clock" and brightness < 1 and images == 10_000:
                continue  # minutes
            length = events // (5 if asked.quick or engine == "clock" else 1)
            run = partial(
                network.simulate, shown, replicas=replicas, device="cuda", engine=engine,
                random_state=0, snapshot_bytes=1 << 20,
            )  # fmt: skip
            warm_up(run, length // 100)
            kernel.seconds = 0.0
            with Stopwatch() as watch:
                result = run(events=length)
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
    if rows:
        rows[0]["as on the CPU"] = same
        report("simulation_gpu", f"Simulating MNIST 784→{asked.hidden} on a GPU", rows)
    alone(network, arrivals, asked.quick)


if __name__ == "__main__":
    main()
