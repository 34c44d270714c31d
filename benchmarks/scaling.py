"""What training costs at any size: a model, checked against runs on this machine.

    python benchmarks/scaling.py

Four rates are measured first: a matrix product, reading rows from memory, one step's overhead, and
what a Dask cluster of processes moves between its workers. From these the model tells the seconds,
the bytes moved and the memory of a fit; then fits are run, and both stand side by side. At the
end stand its predictions for sizes that are out of reach here.
"""

import math
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from common import Stopwatch, fastest, report
from lrnn import LRNNAutoencoder
from lrnn.moments.sketched import CHEAPER, rank_for
from lrnn.training.gram import CHEAP, EXACT, POWERS, RANDOM_STARTS, SOON, TRIAL

HIDDEN, STEPS = 50, 20
ENOUGH = 1 << 28  # cells of G up to which it is formed
BLOCK = 1 << 26  # bytes of a block of rows
SCALE_TOUCHES = 7  # times that the second pass touches a block: outputs, differences, sums


@dataclass(frozen=True)
class Machine:
    """Rates of one worker, all in a second.

    Attributes
    ----------
    operations : float
        Multiplications and additions of a product in float32.
    reading, memory : float
        Bytes of rows from where they are, and of what is in memory already.
    network : float
        Bytes between two workers.
    overhead : float
        Seconds of a step of the solver that do not depend on the sizes.
    latency, startup : float
        Seconds that a task and a pass take by themselves, on a cluster.
    """

    operations: float
    reading: float
    memory: float
    network: float = math.inf
    overhead: float = 0.002
    latency: float = 0.0
    startup: float = 0.0


@dataclass(frozen=True)
class Cost:
    """What a fit takes."""

    seconds: float
    moved: float  # bytes over the network
    memory: float  # bytes of each worker
    implicit: bool


def gram_steps(width: float, hidden: float, steps: int = STEPS) -> float:
    """Steps of all starts: the best one makes all, half of them an eighth of those that are cheap.

    To build a start counts as a step.
    """
    trial = max(TRIAL, CHEAP / (width**2 * hidden))
    if trial > steps:
        return (len(POWERS) + RANDOM_STARTS + 1) * (steps + 1)
    starts = len(POWERS)
    half = -(-starts // 2)
    return starts + (starts - half) * (trial // SOON) + (half - 1) * trial + steps


def cost(rows: float, width: float, hidden: float, workers: float, at: Machine) -> Cost:
    """A fit of float32 data with ``STEPS`` steps, the rows shared out among workers."""
    share = rows / workers
    held = share * width * 4
    read = held / at.reading
    touched = held / at.memory
    tasks: float = math.ceil(rows * width * 4 / BLOCK) if workers > 1 else 0
    waiting = at.latency * tasks / workers
    rounds = math.ceil(math.log(max(tasks, 1), 4))
    codes = 2 * share * width * hidden / at.operations
    scale_pass = read + SCALE_TOUCHES * touched + 2 * codes + waiting + at.startup
    sweeps = 2 * 2 * hidden**2 * width / at.operations
    rank = rank_for(int(hidden))
    sketched = STEPS - max(1, STEPS // EXACT)
    on_sketch = gram_steps(width, hidden, sketched) * (
        3 * 4 * width * rank * hidden / at.operations + 2 * sweeps + at.overhead
    )
    if width**2 <= ENOUGH:
        total = 8 * width**2
        forming = read + touched + 2 * share * width**2 / at.operations + waiting + at.startup
        tasks = min(tasks, max(math.ceil(rows * width * 4 / total), 4 * workers))  # share a result
        moved = total * tasks if workers > 1 else 0.0
        rounds = math.ceil(math.log(max(tasks, 1), 4))
        reduction = rounds * (total / at.network + at.latency) + moved / workers / at.network
        step = 3 * 2 * width**2 * hidden / at.operations + 2 * sweeps + at.overhead
        training = gram_steps(width, hidden) * step
        if width >= CHEAPER * 2 * rank:
            sketch = 2 * 2 * width**2 * rank / at.operations
            training = sketch + on_sketch + (STEPS - sketched + 1) * step
        seconds = forming + reduction + training + scale_pass
        return Cost(seconds, moved, max(BLOCK, min(total, held)) + 3 * total, False)
    products = [rank] * 2 + [hidden] * (1 + 2 * (STEPS - sketched))  # a pass each
    results = 8 * width * sum(products)
    seconds = on_sketch + scale_pass
    seconds += len(products) * (read + waiting + at.startup) + 2 * codes * sum(products) / hidden
    seconds += rounds * (results / at.network + len(products) * at.latency)
    seconds += results * tasks / workers / at.network
    moved = results * tasks if workers > 1 else 0.0
    return Cost(seconds, moved, BLOCK + 6 * 8 * width * rank, True)


def this_machine() -> Machine:
    """Rates of all cores together."""
    random = np.random.default_rng(0)
    a = random.random((2_048, 2_048), dtype=np.float32)
    operations = 2 * 2_048**3 / fastest(lambda: a @ a)
    large = random.random((2_000_000, 50), dtype=np.float32)
    reading = large.nbytes / fastest(lambda: large.sum())
    small = random.random((500, HIDDEN + 10), dtype=np.float32)
    model = LRNNAutoencoder(HIDDEN, max_iter=STEPS, tol=0)
    overhead = fastest(lambda: model.fit(small)) / gram_steps(HIDDEN + 10, HIDDEN)
    return Machine(operations, reading, reading, overhead=overhead)


def data(rows: int, width: int) -> np.ndarray:
    random = np.random.default_rng(0)
    parts = random.random((HIDDEN, width), dtype=np.float32) ** 8
    codes = random.random((rows, HIDDEN), dtype=np.float32) ** 4 / HIDDEN
    return np.minimum(codes @ parts, 1)


def measured(X: object) -> float:
    """Seconds of a fit with as many steps as the model reckons with."""
    model = LRNNAutoencoder(HIDDEN, max_iter=STEPS, tol=0)
    with Stopwatch() as watch:
        model.fit(X)
    return watch.seconds


def in_memory(at: Machine) -> list[dict[str, object]]:
    found = []
    for rows, width in (
        (10_000, 100), (100_000, 100), (1_000_000, 100), (10_000, 1_000), (100_000, 1_000),
        (300_000, 1_000), (20_000, 4_000),
    ):  # fmt: skip
        seconds = measured(data(rows, width))
        found.append(_compared("this machine", rows, width, 1, at, seconds))
    return found


def on_workers(at: Machine) -> list[dict[str, object]]:
    """Fits on clusters of processes with one thread each."""
    try:
        import dask.array as da
        from distributed import Client, LocalCluster, wait
    except ImportError:
        return []
    found = []
    rows, width = 400_000, 500
    for workers in (1, 2):
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster, Client(cluster) as client:  # fmt: skip
            X = da.from_array(data(rows, width), chunks=(BLOCK // (4 * width), width)).persist()
            wait(X)
            began = perf_counter()
            client.gather([client.submit(int, i) for i in range(200)])
            latency = (perf_counter() - began) / 200
            square = client.submit(np.zeros, (1_000, 1_000))
            wait(square)
            began = perf_counter()
            square.result()
            network = 8e6 / (perf_counter() - began)

            def one_pass(X: Any = X) -> None:
                X[:, :1].sum().compute()

            startup = fastest(one_pass)
            one = Machine(
                at.operations / 2, at.memory / 2, at.memory / 2, network, at.overhead, latency,
                startup,
            )  # fmt: skip
            found.append(_compared(f"{workers} workers", rows, width, workers, one, measured(X)))
    return found


def _compared(
    what: str, rows: int, width: int, workers: int, at: Machine, seconds: float
) -> dict[str, object]:
    expected = cost(rows, width, HIDDEN, workers, at).seconds
    return {
        "where": what, "rows": f"{rows:,}", "attributes": width, "predicted, s": expected,
        "measured, s": seconds, "measured / predicted": seconds / expected,
    }  # fmt: skip


def predictions(at: Machine) -> list[dict[str, object]]:
    """Workers like this machine, rows from a disk of 1 GB/s, a network of 1 GB/s."""
    worker = Machine(at.operations, 1e9, at.memory, 1e9, at.overhead, 0.001, 0.1)
    found = []
    for rows in (1e4, 1e6, 1e8, 1e10):
        for width in (1e2, 1e3, 1e4, 1e5):
            for workers in (1, 1e1, 1e2, 1e3):
                if rows * width / workers > 1e12 or rows * width < 1e6 * workers:
                    continue
                it = cost(rows, width, HIDDEN, workers, worker)
                found.append(
                    {
                        "rows": f"{rows:.0e}",
                        "attributes": f"{width:.0e}",
                        "workers": int(workers),
                        "seconds": it.seconds,
                        "GB moved": it.moved / 1e9,
                        "GB of memory each": it.memory / 1e9,
                        "moment": "implicit" if it.implicit else "dense",
                    }
                )
    return found


def main() -> None:
    at = this_machine()
    rates = {
        "where": f"{at.operations / 1e9:.0f} GFLOP/s, reads {at.reading / 1e9:.1f} GB/s, "
        f"{at.overhead * 1e3:.1f} ms a step"
    }
    compared = in_memory(at) + on_workers(at)
    report("scaling", "Predicted and measured", [rates, *compared])
    report("scaling_predictions", "Out of reach here", predictions(at))


if __name__ == "__main__":
    main()
