"""Commands that run in a process of their own and are killed in their midst.

They are forked from a process that has imported everything. A death comes after so many seconds,
or right before the n-th step that a command makes on files in its folder: so each of them is tried.
"""

import multiprocessing
import os
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from math import inf
from pathlib import Path

IMPORTED = ["lrnn.cli.app", "lrnn.storage.checkpoints", "lrnn.storage.streaming", "scipy.io",
            "matplotlib.pyplot", "numba", "zarr", "h5py", "pyarrow.parquet"]  # fmt: skip
STEPS = {
    "open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link",
    "fcntl.flock", "shutil.rmtree", "os.listdir", "os.scandir",
}  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a command ended: its status (−9 if it was killed), and what it took."""

    status: int
    steps: int
    seconds: float
    said: str


NURSERY = multiprocessing.get_context("forkserver")
NURSERY.set_forkserver_preload(IMPORTED)


def run(words, folder: Path, *, step: float = inf, seconds: float = inf) -> Ended:
    """Run a command (or ``save``) there, and kill it before a step, or after some time."""
    log = folder.with_name(f"{folder.name}.log")
    child = NURSERY.Process(target=_live, args=(list(map(str, words)), folder, log, step))
    began = time.monotonic()
    child.start()
    child.join(None if seconds == inf else seconds)
    child.kill()
    child.join()
    status = child.exitcode
    child.close()
    said = log.read_text(errors="replace") if log.exists() else ""
    steps = int(said.rpartition("steps: ")[2]) if status == 0 else 0
    return Ended(status, steps, time.monotonic() - began, said)


def _live(words, folder, log, last):
    import lrnn.cli

    os.chdir(folder)
    steps = 0

    def watch(event, arguments):
        nonlocal steps
        if event in STEPS and _is_inside(arguments, folder):
            steps += 1
            if steps >= last:
                os.kill(os.getpid(), signal.SIGKILL)

    with open(log, "w") as file, redirect_stdout(file), redirect_stderr(file):
        sys.addaudithook(watch)
        try:
            if words[0] == "save":  # one model under another's name
                lrnn.load(words[1]).save(words[2])
            else:
                sys.argv = ["lrnn", *words]
                lrnn.cli.main()
        finally:
            print("steps:", steps)


def _is_inside(arguments, folder):
    """Whether a step is made in the folder; what is imported meanwhile is elsewhere."""
    if not arguments or not isinstance(arguments[0], str | bytes | os.PathLike):
        return bool(arguments) and isinstance(arguments[0], int)  # of a file that is open
    path = os.fsdecode(arguments[0])
    return not os.path.isabs(path) or path.startswith(str(folder))
