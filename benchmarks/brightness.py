"""Events per second of one image of MNIST 784→50 at several brightnesses, by every engine.

    pip install 'lrnn[dask]' ciw brian2 cython 'numpy<2.4'    # peers that are missing are left out
    python benchmarks/brightness.py

One run of one network: clock by clock, neuron by neuron in one thread and in all, in processes
and on the workers of a Dask cluster; all take turns, and the best of some rounds counts. For a GPU
see simulation_gpu.py. "before" is the clock, which was the only engine.
"""

import warnings
from functools import partial
from typing import Any

from common import available_cores, console, in_turns, load_mnist, report
from lrnn import LRNNAutoencoder
from peers import SIMULATORS

EVENTS = 20_000_000
BRIGHTNESS = (1.0, 0.1, 0.01, 0.001)
ROUNDS = 3
PEERS_FROM = 0.01  # steps of time are as many for a dark image: below, they are not waited for


def ways(network: Any, arrivals: Any, brightness: float, client: Any) -> dict[str, Any]:
    """Names, functions, and how many events each makes."""
    cores = available_cores()
    simulate = partial(network.simulate, arrivals, random_state=0)
    fewer = max(200_000, int(EVENTS * brightness))  # the clock is so much slower
    found = {
        "clock, 1 thread": (partial(simulate, engine="clock", threads=1), fewer),
        "neurons, 1 thread": (partial(simulate, engine="neurons", threads=1), EVENTS),
        f"neurons, {cores} threads": (partial(simulate, engine="neurons", threads=cores), EVENTS),
        f"neurons, {cores} processes": (partial(simulate, partition=cores), EVENTS),
        "auto, 1 thread": (partial(simulate, threads=1), EVENTS),
    }
    if client is not None:
        found["neurons, 2 Dask workers"] = (partial(simulate, partition=client), EVENTS)
    return found


def client_of() -> Any:
    """Of two workers, if there is Dask."""
    try:
        from dask.distributed import Client
    except ImportError:
        return None
    return Client(n_workers=2, threads_per_worker=1, dashboard_address=None)


def main() -> None:
    warnings.simplefilter("ignore")
    model = LRNNAutoencoder((50,), random_state=0).fit(load_mnist("train"))
    network, image = model.to_network(), model.arrivals(load_mnist("test")[:1])[0]
    client = client_of()
    rates: dict[str, dict[float, float]] = {}
    for brightness in BRIGHTNESS:
        found = ways(network, image * brightness, brightness, client)
        for run, _ in found.values():
            run(events=20_000)  # compiled, started
        best = in_turns({n: partial(run, events=k) for n, (run, k) in found.items()}, ROUNDS)
        for name, seconds in best.items():
            rates.setdefault(name, {})[brightness] = found[name][1] / seconds / 1e6
        for peer in SIMULATORS:
            if peer.missing is not None:
                console.print(f"{peer.title}: {peer.missing}")
            elif brightness >= PEERS_FROM:
                count, seconds = peer.run(network, image * brightness, peer.budgets[0])
                rates.setdefault(peer.title, {})[brightness] = count / seconds / 1e6
    rows = [
        {"10⁶ events/s": name, **{f"brightness {b:g}": found.get(b) for b in BRIGHTNESS}}
        for name, found in rates.items()
    ]
    report("brightness", "One image of MNIST 784→50 at several brightnesses", rows)
    if client is not None:
        client.shutdown()


if __name__ == "__main__":
    main()
