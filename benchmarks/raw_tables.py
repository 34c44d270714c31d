"""Tables in files: how fast they are read beside pandas and NumPy, and how much memory a fit needs.

    python benchmarks/raw_tables.py [ROWS]

writes a table of ROWS × 100 (by default 100,000), once of numbers alone and once with a column of
text and missing cells, reads it by each library, and trains on it from its file. The same as
Parquet files, in row groups of 100,000 and of 1,000 rows. Speeds are the
best of three, without imports and the loading of compiled code; the fit is a process of its own,
with all it needs.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lrnn.tables.read import open_columns

COLUMNS = 100
GROUPS = (100_000, 1_000)  # rows of a row group
FIT = """
import sys, time
import lrnn
begin = time.perf_counter()
how = dict(categories="onehot", missing="median")
scaling = lrnn.Scaling.fit(lrnn.tables.read.open_columns(sys.argv[1]), "minmax", **how)
model = lrnn.LRNNAutoencoder(20, scale=scaling, random_state=0).fit(sys.argv[1])
status = open("/proc/self/status").read()  # getrusage would tell of the parent, too
peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
print(f"{time.perf_counter() - begin:.1f} {peak:.0f} {model.reconstruction_err_:.5f}")
"""


def main() -> None:
    """Measure, and print a table."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        warm_up(Path(folder) / "few.csv")
        print(f"{rows:,} rows × {COLUMNS} columns, million cells a second")
        for name, mixed in (("numbers", False), ("mixed", True)):
            path = Path(folder) / f"{name}.csv"
            write(path, rows, mixed)
            report(path, rows, pd.read_csv, numpy=not mixed)
            for height in GROUPS:
                table = path.with_name(f"{name}, row groups of {height}.parquet")
                write_parquet(path, table, height)
                report(table, rows, pd.read_parquet)
                table.unlink()
            path.unlink()
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(this process: {own:.0f} MB)")


def report(path: Path, rows: int, by_pandas: Callable[[Path], object], numpy: bool = False) -> None:
    """Read a file, and train from it."""
    cells = rows * COLUMNS / 1e6
    turns = [(timed(read, path), timed(by_pandas, path)) for _ in range(3)]
    own, others = (min(seconds) for seconds in zip(*turns, strict=True))
    found, ratio = {"lrnn": cells / own, "pandas": cells / others}, others / own
    if numpy:
        found["numpy.loadtxt"] = cells / timed(
            lambda path: np.loadtxt(path, delimiter=",", skiprows=1), path
        )
    said = ", ".join(f"{library} {speed:.1f}" for library, speed in found.items())
    print(f"{path.name} ({path.stat().st_size / 1e6:.0f} MB): {said}; {ratio:.2f} × pandas")
    done = subprocess.run(
        [sys.executable, "-c", "import lrnn.tables.read\n" + FIT, str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, peak, error = done.stdout.split()
    print(f"  fit from the file: {seconds} s, peak {peak} MB, error {error}", flush=True)


def read(path: Path) -> None:
    """All rows, block by block."""
    table = open_columns(path)
    assert table is not None
    for _ in table.frames():
        pass


def warm_up(path: Path) -> None:
    """Load what is loaded once."""
    write(path, 5_000, mixed=True)
    read(path)
    pd.read_csv(path)
    write_parquet(path, path.with_suffix(".parquet"), 1_000)
    read(path.with_suffix(".parquet"))
    pd.read_parquet(path.with_suffix(".parquet"))


def write_parquet(path: Path, table: Path, height: int) -> None:
    """The same table as a Parquet file, in parts."""
    from pyarrow import csv, parquet

    with csv.open_csv(path) as parts, parquet.ParquetWriter(table, parts.schema) as file:
        for block in blocks_of(parts, max(height, 10_000)):
            file.write_table(block, row_group_size=height)


def blocks_of(parts: Iterable[Any], height: int) -> Iterator[Any]:
    """Batches of pyarrow as tables of as many rows."""
    import pyarrow as pa

    waiting: list[Any] = []
    for part in parts:
        waiting.append(part)
        if sum(batch.num_rows for batch in waiting) >= height:
            table = pa.Table.from_batches(waiting)
            full = table.num_rows // height * height
            yield from (table.slice(first, height) for first in range(0, full, height))
            waiting = table.slice(full).to_batches()
    if waiting:
        yield pa.Table.from_batches(waiting)


def write(path: Path, rows: int, mixed: bool) -> None:
    """A table, written in parts."""
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        for first in range(0, rows, 10_000):
            block = rng.random((min(10_000, rows - first), COLUMNS)).round(6) * 100
            frame = pd.DataFrame(block, columns=[f"a{i}" for i in range(COLUMNS)])
            if mixed:
                frame["a0"] = rng.choice(["red", "green", "blue"], len(frame))
                frame.loc[frame.index % 97 == 0, "a1"] = np.nan
            frame.to_csv(file, index=False, header=first == 0)


def timed(work: Callable[[Path], object], path: Path) -> float:
    """Seconds that it takes."""
    begin = time.perf_counter()
    work(path)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
