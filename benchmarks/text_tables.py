"""Training from tables as text (.csv): seconds, seconds of all cores, and the most memory.

    python benchmarks/text_tables.py [--rounds 3] [--large 400] [--beside ../before/src]

Each line is ``lrnn fit FILE`` in a process of its own, from its start to its end: 62 MB of numbers
of 17 digits (160,000 × 20); 56 MB of levels (20,000 × 784); 200,000 × 10 columns of numbers, words
and texts in quotes, some of them missing; and hundreds of MB that are not held in memory.
With --beside another version of the sources is measured in turns with this one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import lrnn
from common import report

FIT = ("--hidden", "10", "--max-iter", "2", "--quiet", "--force", "-o", "m.safetensors")


def write_numbers(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write(",".join(f"x{i}" for i in range(20)) + "\n")
        for _ in range(0, rows, 10_000):
            block = rng.random((10_000, 20)).tolist()
            file.writelines(",".join(map(repr, row)) + "\n" for row in block)


def write_levels(path: Path) -> None:
    levels = np.random.default_rng(0).integers(0, 256, (20_000, 784)).tolist()
    with open(path, "w") as file:
        file.write(",".join(f"pixel{i}" for i in range(784)) + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in levels)


def write_mixed(path: Path, rows: int = 200_000) -> None:
    rng = np.random.default_rng(0)
    columns = [rng.random(rows).round(4).astype(str) for _ in range(5)]
    columns += [rng.normal(size=rows).round(6).astype(str), rng.integers(0, 1000, rows).astype(str)]
    columns[5][rng.random(rows) < 0.02] = "NA"
    columns[6][rng.random(rows) < 0.05] = ""
    for values in (["red", "green", "blue"], [f"city {i}" for i in range(200)],
                   [f'"a, {i}"' for i in range(20)]):  # fmt: skip
        columns.append(np.array(values)[rng.integers(0, len(values), rows)])
    with open(path, "w") as file:
        file.write(",".join(f"c{i}" for i in range(len(columns))) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def measured(sources: Path, folder: Path, *line: str) -> tuple[float, float, float]:
    """Seconds, seconds of all cores, and MB of memory of a command."""
    began = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "lrnn", *line],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(sources)}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"lrnn {' '.join(line)} fails with the sources in {sources}")
    return perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=400, help="MB of the largest table")
    parser.add_argument("--beside", type=Path, help="sources of another version")
    given = parser.parse_args()
    versions = {"lrnn": Path(lrnn.__file__).parents[1]}
    if given.beside is not None:
        versions["the other version"] = given.beside.resolve()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_numbers(folder / "numbers.csv", 160_000)
        write_levels(folder / "levels.csv")
        write_mixed(folder / "mixed.csv")
        write_numbers(folder / "large.csv", given.large * 2_600)
        for path in sorted(folder.glob("*.csv")):
            options = ("--categories", "onehot", "--missing", "median") * (path.stem == "mixed")
            least: dict[str, tuple[float, ...]] = {}
            for _ in range(given.rounds):
                for version, sources in versions.items():
                    found = measured(sources, folder, "fit", path.name, *FIT, *options)
                    least[version] = tuple(map(min, found, least.get(version, found)))
            results += [
                {"table": path.stem, "MB": path.stat().st_size / 1e6, "": version} |
                dict(zip(("seconds", "of all cores", "most memory, MB"), values, strict=True))
                for version, values in least.items()
            ]  # fmt: skip
            print(*results[-len(versions) :], sep="\n", flush=True)
    report("text_tables", "training from tables as text", results)


if __name__ == "__main__":
    main()
