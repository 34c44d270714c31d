"""One run of one network by several threads, against one.

python benchmarks/threads.py    # needs MNIST

What it finds is kept by the number of cores.
"""

import os
from collections.abc import Iterator
from typing import Any

from common import console, in_turns, layered, load_mnist, report
from lrnn import LRNNAutoencoder

EVENTS = 20_000_000
ROUNDS = 3


def networks() -> Iterator[tuple[str, Any, Any]]:
    """Their names, the networks, and what comes to them."""
    images = load_mnist("train")
    model = LRNNAutoencoder((50,), random_state=0).fit(images)
    network, arrivals = model.to_network(), model.arrivals(images[:1])[0]
    for brightness in (1.0, 0.01):
        yield f"MNIST 784→50, brightness {brightness:g}", network, arrivals * brightness
    for width in (1_000, 10_000):
        yield f"3 levels of {width:,}", *layered(width)


def main() -> None:
    counts = [n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)]
    rows = []
    for title, network, arrivals in networks():
        fired: dict[int, Any] = {}

        def run(
            threads: int, network: Any = network, arrivals: Any = arrivals, fired: Any = fired
        ) -> None:
            result = network.simulate(
                arrivals, events=EVENTS, engine="neurons", threads=threads, random_state=0,
                snapshot_bytes=0,
            )  # fmt: skip
            fired[threads] = result.firing_counts

        works = {str(n): (lambda n=n: run(n)) for n in counts}
        seconds = in_turns(works, ROUNDS)
        best = {n: seconds[str(n)] for n in counts}
        assert all((fired[n] == fired[1]).all() for n in counts)
        row = {"network": title, "1 thread, 10⁶ events/s": EVENTS / best[1] / 1e6}
        row |= {f"{n} threads": best[1] / best[n] for n in counts[1:]}
        rows.append(row)
        console.print(row)
    report(
        f"threads_{os.cpu_count()}",
        "One run by several threads: how many times as fast as by one",
        rows,
    )


if __name__ == "__main__":
    main()
