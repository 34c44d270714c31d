"""What the benchmarks share: data, the machine, tables, results in ``benchmarks/results/``."""

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from threadpoolctl import threadpool_info

from lrnn import RandomNeuralNetwork, __version__
from lrnn.datasets import DATA_SETS, load

CONNECTIONS = 20  # of each neuron of `layered`
MODEST = 0.014  # of the excitatory network's error per spike: a low penalty of a spike
WIDTHS = {name: (entry.attributes + 1) // 2 for name, entry in DATA_SETS.items()}
WIDTHS |= {"mnist": 100, "yale": 50, "cifar10": 150}
del WIDTHS["digits"]  # not the paper's; code neurons of its networks with one hidden layer
RESULTS = Path(__file__).parent / "results"
PACKAGES = (  # whose versions results tell, where they are installed
    "numpy", "scipy", "scikit-learn", "numba", "matplotlib", "torch", "torchnmf", "ciw", "brian2",
)  # fmt: skip
console = Console(width=140)


def load_mnist(split: str = "train", dtype: type | None = np.float64) -> np.ndarray:
    """Images of MNIST ("train" or "test") as rows in [0, 1], or as uint8 (dtype None)."""
    rows = load("mnist", split=split, scaled=False).data
    return np.asarray(rows if dtype is None else rows / dtype(255))


def load_cifar10() -> np.ndarray:
    """All 60,000 images of CIFAR-10 as rows of uint8, those for testing last."""
    return np.asarray(load("cifar10", scaled=False).data)


class Stopwatch:
    """Seconds of a ``with`` block."""

    def __enter__(self) -> "Stopwatch":
        self._began = perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = perf_counter() - self._began


def in_turns(
    works: Mapping[str, Callable[[], object]], rounds: int, pause: float = 0.0
) -> dict[str, float]:
    """The least seconds of each of several works, run in turns, with a pause before each."""
    least = dict.fromkeys(works, np.inf)
    for _ in range(rounds):
        for name, work in works.items():
            sleep(pause)
            with Stopwatch() as watch:
                work()
            least[name] = min(least[name], watch.seconds)
    return least


def fastest(work: Callable[[], object], rounds: int = 3) -> float:
    """The least seconds of some work."""
    return in_turns({"": work}, rounds)[""]


def report(name: str, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print results as a table, and write them to ``results/NAME.json``."""
    show(title, rows)
    RESULTS.mkdir(exist_ok=True)
    write(RESULTS / f"{name}.json", title, rows)


def show(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print results as a table."""
    table = Table(title=title, title_justify="left")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        table.add_row(*(_shown(row.get(column)) for column in columns))
    console.print(table)


def write(path: Path, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write results, with where and with what they were measured."""
    facts = {"machine": machine(), "versions": versions()}
    document = {"title": title, **facts, "results": list(rows)}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    console.print(f"written to {path}")


def machine() -> dict[str, Any]:
    """The processor and the system, and how many threads linear algebra may use."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
    }


def _processor() -> str:
    """Its name, which Linux has only in a file."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of lrnn, of what it uses, and of other libraries that are installed."""
    found = {"lrnn": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def known(name: str) -> list[dict[str, Any]]:
    """What was measured before."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text())["results"] if path.exists() else []


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def layered(width: int, inhibition: float = 0.0) -> tuple[Any, Any]:
    """Three levels of neurons, 20 connections of each, and what comes to the first."""
    rng = np.random.default_rng(0)
    n = 3 * width
    sender = np.repeat(np.arange(2 * width), CONNECTIONS)
    level = sender // width + 1
    target = rng.integers(0, width, len(sender)) + level * width
    chance = rng.uniform(0.5, 1.4, len(sender)) / CONNECTIONS / 1.5
    minus = rng.random(len(sender)) < inhibition
    parts = [
        sparse.csr_array((np.where(kind, chance, 0), (sender, target)), shape=(n, n))
        for kind in (~minus, minus)
    ]
    for part in parts:
        part.sum_duplicates()
        part.eliminate_zeros()
    network = RandomNeuralNetwork(np.ones(n), parts[0], parts[1] if inhibition else None)
    return network, np.concatenate([rng.uniform(0.2, 0.8, width), np.zeros(2 * width)])
