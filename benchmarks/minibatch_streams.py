"""Training on minibatches of rows that are not in memory: how fast, and what a buffer costs.

    python benchmarks/minibatch_streams.py [--copies 6] [--passes 10] [--folder .]

Speed: one pass of the printed algorithm (784→100, batches of 100) and the evaluation after it over
MNIST, as often as it takes to be larger than the buffer, from files and a function, beside the
same from memory. Errors: MNIST sorted by its labels, the worst ordinary case, through a buffer
that holds a tenth of it.
"""

import argparse
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import dask.array as da
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from common import console, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import load
from lrnn.rows import base
from lrnn.tables import sources

warnings.filterwarnings("ignore", message=".* takes rows in random order")


def write_parquet(blocks: Iterator[np.ndarray], path: Path, row_group: int) -> Path:
    names = [f"pixel{i}" for i in range(784)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for block in blocks:
            table = pa.Table.from_arrays(list(np.ascontiguousarray(block.T)), schema=schema)
            writer.write_table(table, row_group_size=row_group)
    return path


def speed(copies: int, folder: Path) -> list[dict[str, Any]]:
    """Seconds of one pass, beside memory."""
    mnist = load_mnist(dtype=np.float32)
    X = np.concatenate([mnist] * copies)
    np.save(folder / "rows.npy", X)
    write_parquet(iter([mnist] * copies), folder / "rows.parquet", 5_000)
    kinds = {
        "an array in memory": X,
        "Parquet, row groups of 5,000": folder / "rows.parquet",
        "a function of blocks": lambda: iter([mnist] * copies),
        ".npy, in any order": folder / "rows.npy",
    }
    found: list[dict[str, Any]] = []
    for kind, data in kinds.items():
        began, worked = perf_counter(), process_time()
        LRNNAutoencoder(100, solver="minibatch", max_iter=1, random_state=0).fit(data)
        seconds, work = perf_counter() - began, process_time() - worked
        found.append({"rows from": kind, "seconds": seconds, "seconds of all cores": work})
        for name in ("seconds", "seconds of all cores"):
            found[-1][f"{name}, beside memory"] = found[-1][name] / found[0][name]
        console.print(found[-1])
    return found


def errors(passes: int, folder: Path) -> list[dict[str, Any]]:
    """The lowest error on sorted rows, through a buffer that holds a tenth of them."""
    X = load_mnist(dtype=np.float32)
    labels = np.asarray(load("mnist", split="train", scaled=False).target)
    ordered = X[np.argsort(labels, kind="stable")]
    base.BUFFER_BYTES = X.nbytes // 10
    sources.BLOCK_BYTES = X.nbytes // 100

    shuffled = X[np.random.default_rng(0).permutation(len(X))]
    kinds = {
        "all rows shuffled (memory, .npy)": ordered,
        "sorted, parts of 200 rows (Dask)": da.from_array(ordered, chunks=(200, 784)),
        "sorted, parts of 1,000 rows (Parquet)": write_parquet(
            iter([ordered]), folder / "sorted.parquet", 1_000
        ),
        "sorted, in order (a function)": lambda: iter(np.array_split(ordered, 100)),
        "shuffled before, in order (a function)": lambda: iter(np.array_split(shuffled, 100)),
    }
    ways: dict[str, dict[str, Any]] = {
        "as printed": {"solver": "minibatch", "max_iter": passes},
        "unit rates": {"rates": "unit", "max_iter": passes},
        "fine-tuned": {"fine_tune": passes // 2},
    }
    found = []
    for kind, data in kinds.items():
        row: dict[str, Any] = {"rows": kind}
        for way, settings in ways.items():
            model = LRNNAutoencoder(100, random_state=0, **settings).fit(data)
            row[way] = model.reconstruction_err_
        console.print(row)
        found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=Path())
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=wanted.folder) as name:
        found = speed(wanted.copies, Path(name))
        title = f"One pass of the printed algorithm over {60_000 * wanted.copies:,} rows of 784"
        report("minibatch_streams", title, found)
        found = errors(wanted.passes, Path(name))
        title = f"Error on sorted MNIST, 784→100, a buffer of a tenth, {wanted.passes} passes"
        report("minibatch_streams_sorted", title, found)


if __name__ == "__main__":
    main()
