"""A file larger than memory: training and encoding under a limit of 1.5 GB.

    python benchmarks/streaming.py [--gigabytes 10.7] [--folder .]

Writes a .npy file of float32 (256 attributes) and then, in processes whose address space is limited
to 1.5 GB, trains 256→32 on it and encodes it. Beside that, in the same kind of process, it reads
the same blocks and does the same products with them, one after the other and by hand: what a pass
could cost at best without overlapping anything. A pass before that brings the file, as far as it
fits, into the system's cache, for all contenders alike.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from common import console, report

WIDTH, HIDDEN, STEPS = 256, 32, 20
LIMIT = 1_500_000_000
BLOCK = 1 << 26


def make_file(path: Path, gigabytes: float) -> None:
    """Rows with some structure: mixtures of nonnegative profiles."""
    random = np.random.default_rng(0)
    height = BLOCK // (4 * WIDTH)
    count = round(gigabytes * 1e9 / BLOCK)
    profiles = random.random((HIDDEN, WIDTH)) ** 8
    block = random.dirichlet(np.full(HIDDEN, 0.2), height) @ profiles
    block = np.minimum(block + 0.01 * random.random(block.shape), 1).astype(np.float32)
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (count * height, WIDTH)}
        np.lib.format.write_array_header_2_0(file, header)
        for i in range(count):
            file.write(np.roll(block, i, axis=0).data)


def by_hand(path: Path, task: str) -> dict[str, float]:
    """Read blocks and multiply them."""
    matrix = np.random.default_rng(0).random((WIDTH, HIDDEN), dtype=np.float32)
    total = np.zeros((WIDTH, WIDTH))
    rows = path.stat().st_size // (4 * WIDTH)
    offset = path.stat().st_size - rows * 4 * WIDTH
    block = np.empty((BLOCK // (4 * WIDTH), WIDTH), np.float32)
    began = perf_counter()
    with open(path, "rb", buffering=0) as file, open(f"{path}.codes", "wb") as codes:
        file.seek(offset)
        for _ in range(0, rows, len(block)):
            file.readinto(block.data)
            if task == "moment":
                total += block.T @ block
            elif task == "scale":
                drive = block @ matrix
                outputs = np.minimum(drive @ matrix.T, 1)
                np.maximum.reduce(drive, axis=0)
                ((block - outputs) ** 2).sum()
            elif task == "encode":
                codes.write(np.minimum(block @ matrix, 1).data)
    os.unlink(f"{path}.codes")
    return {"seconds": perf_counter() - began}


def ours(path: Path, task: str) -> dict[str, float]:
    """The same by the library, whole fits and encodings."""
    from lrnn import LRNNAutoencoder, load, streaming
    from lrnn.moments import DenseMoment
    from lrnn.rows.validation import check_matrix

    model_path = path.with_suffix(".safetensors")
    began = perf_counter()
    if task == "moment":
        DenseMoment(check_matrix(path, "benchmark"))
        return {"seconds": perf_counter() - began}
    if task == "fit":
        model = LRNNAutoencoder(HIDDEN, max_iter=STEPS).fit(path)
        found = {"seconds": perf_counter() - began, "error": model.reconstruction_err_}
        model.save(model_path)
        return found
    streaming.encode(load(model_path), path, path.with_suffix(".codes.npy"))
    return {"seconds": perf_counter() - began}


def limited(path: Path, who: str, task: str) -> dict[str, float]:
    """Run one contender in a process with little memory."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", who, task, str(path)],
        capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    return dict(json.loads(done.stdout))


def main() -> None:
    if "--child" in sys.argv:
        who, task, name = sys.argv[-3:]
        found = (ours if who == "ours" else by_hand)(Path(name), task)
        found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(json.dumps(found))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=10.7)
    parser.add_argument("--folder", type=Path, default=Path())
    wanted = parser.parse_args()
    path = wanted.folder / "larger-than-memory.npy"
    console.print(f"writing {wanted.gigabytes} GB …")
    make_file(path, wanted.gigabytes)
    try:
        size = path.stat().st_size / 1e9
        limited(path, "hand", "read")
        hand = {task: limited(path, "hand", task) for task in ("moment", "scale", "encode")}
        mine = {task: limited(path, "ours", task) for task in ("moment", "fit", "encode")}
    finally:
        for leftover in wanted.folder.glob("larger-than-memory*"):
            leftover.unlink()
    fit = mine["fit"]
    floors = {
        "second moment: one pass": (mine["moment"], hand["moment"]["seconds"]),
        f"fit, {STEPS} steps: two passes": (
            fit, hand["moment"]["seconds"] + hand["scale"]["seconds"],
        ),
        "encode to .npy": (mine["encode"], hand["encode"]["seconds"]),
    }  # fmt: skip
    report(
        "streaming",
        f"A file of {size:.1f} GB under a limit of {LIMIT / 1e9} GB",
        [
            {
                "what": what,
                "seconds": found["seconds"],
                "by hand": floor,
                "share of its speed": floor / found["seconds"],
                "GB/s read": size * (2 if "fit" in what else 1) / found["seconds"],
                "peak MB": found["peak MB"],
                "error": found.get("error"),
            }
            for what, (found, floor) in floors.items()
        ],
    )


if __name__ == "__main__":
    main()
