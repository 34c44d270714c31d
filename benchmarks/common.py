"""What the benchmarks share: data, the machine, tables, results in ``benchmarks/results/``."""

import json
import os
import platform
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy
import sklearn
from rich.console import Console
from rich.table import Table

from lrnn import __version__
from lrnn.datasets import read_idx

RESULTS = Path(__file__).parent / "results"
console = Console(width=140)


def data_file(name: str) -> Path:
    """A file of the folder LRNN_DATA_DIR."""
    folder = os.environ.get("LRNN_DATA_DIR")
    if not folder or not (Path(folder) / name).exists():
        sys.exit(f"set LRNN_DATA_DIR to the folder that holds {name}")
    return Path(folder) / name


def load_mnist(part: str = "train", dtype: type | None = np.float64) -> np.ndarray:
    """Images of MNIST ("train" or "t10k") as rows in [0, 1], or as uint8 (dtype None)."""
    images = read_idx(data_file(f"mnist/{part}-images-idx3-ubyte.gz"))
    rows = images.reshape(len(images), -1)
    return rows if dtype is None else rows / dtype(255)


def load_cifar10() -> np.ndarray:
    """All 60,000 images of CIFAR-10 as rows of uint8."""
    with tarfile.open(data_file("cifar10/cifar-10-binary.tar.xz")) as archive:
        batches = {
            member.name: np.frombuffer(archive.extractfile(member).read(), np.uint8)
            for member in archive
            if member.name.endswith(".bin")
        }
    rows = np.empty((60_000, 3_072), np.uint8)
    for i, name in enumerate(sorted(batches)):
        rows[10_000 * i : 10_000 * (i + 1)] = batches[name].reshape(-1, 3_073)[:, 1:]
    return rows


class Stopwatch:
    """Seconds of a ``with`` block."""

    def __enter__(self) -> "Stopwatch":
        self._began = perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = perf_counter() - self._began


def machine() -> dict[str, Any]:
    """Where and with what figures were measured."""
    return {
        "lrnn": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }


def report(name: str, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print results as a table, and write them to ``results/NAME.json``."""
    table = Table(title=title, title_justify="left")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        table.add_row(*(_shown(row.get(column)) for column in columns))
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    document = {"title": title, "machine": machine(), "results": list(rows)}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    console.print(f"written to {path}")


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
