"""Tables of text: how fast they are read beside pandas and NumPy, and how much memory a fit needs.

    python benchmarks/raw_tables.py [ROWS]

writes a table of ROWS × 100 (by default 100,000), once of numbers alone and once with a column of
text and missing cells, reads it by each library, and trains on it from its file.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from lrnn.tables.read import open_columns

COLUMNS = 100
FIT = """
import resource, sys, time
import lrnn
begin = time.perf_counter()
how = dict(categories="onehot", missing="median")
scaling = lrnn.Scaling.fit(lrnn.tables.read.open_columns(sys.argv[1]), "minmax", **how)
model = lrnn.LRNNAutoencoder(20, scale=scaling, random_state=0).fit(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{time.perf_counter() - begin:.1f} {peak:.0f} {model.reconstruction_err_:.5f}")
"""


def main() -> None:
    """Measure, and print a table."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        print(f"{rows:,} rows × {COLUMNS} columns, million cells a second")
        for name, mixed in (("numbers", False), ("mixed", True)):
            path = Path(folder) / f"{name}.csv"
            write(path, rows, mixed)
            cells = rows * COLUMNS / 1e6
            found = {
                "lrnn": cells / timed(lambda path: [0 for _ in open_columns(path).frames()], path)
            }
            found["pandas"] = cells / timed(pd.read_csv, path)
            if not mixed:
                found["numpy.loadtxt"] = cells / timed(
                    lambda path: np.loadtxt(path, delimiter=",", skiprows=1), path
                )
            said = ", ".join(f"{library} {speed:.1f}" for library, speed in found.items())
            print(f"{name} ({path.stat().st_size / 1e6:.0f} MB): {said}")
            done = subprocess.run(
                [sys.executable, "-c", "import lrnn.tables.read\n" + FIT, str(path)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            seconds, peak, error = done.stdout.split()
            print(f"  fit from the file: {seconds} s, peak {peak} MB, error {error}")
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(this process: {own:.0f} MB)")


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
