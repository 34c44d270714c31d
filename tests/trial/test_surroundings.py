"""Commands in odd environments, several oddities at a time; threads and forks."""

import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

import lrnn
from lrnn import LRNNAutoencoder
from trial.harness import cases, left_in

GONE = "/proc/none"  # not even root can make it
VARIABLES = {
    "no HOME": dict.fromkeys(("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "TERM", "LANG")),
    "HOME that is not there": {"HOME": GONE},
    "no caches": {"NUMBA_CACHE_DIR": GONE, "MPLCONFIGDIR": GONE, "XDG_CACHE_HOME": GONE},
    "no data folder": {"LRNN_DATA_DIR": GONE},
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII": {"PYTHONIOENCODING": "ascii"}, "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "64 columns": {"COLUMNS": "64"}, "8 columns": {"COLUMNS": "8"}, "colours": {"FORCE_COLOR": "1"},
    "dumb terminal": {"TERM": "dumb"}, "two threads": {"OMP_NUM_THREADS": "2"},
}  # fmt: skip
FLAGS = {"plain": "", "warnings": "-W error", "dev": "-X dev", "-O": "-O", "-OO": "-OO"}
CLOSED = {"open": (), "no stdin": (0,), "no stdout": (1,), "no stderr": (2,), "nothing": (0, 1, 2)}
QUICK = {  # commands, and what they write
    "fit x.csv -o new.safetensors --max-iter 3": "new.safetensors",
    "encode m.safetensors x.csv -o codes.npy": "codes.npy",
    "inspect m.safetensors": None,
}
COMMANDS = QUICK | {
    "fit x.csv -o new.safetensors --json": "new.safetensors",
    "encode m.safetensors x.csv -o códes.csv": "códes.csv",
    "reconstruct m.safetensors x.csv -o back.parquet": "back.parquet",
    "inspect m.safetensors --json": None,
    "simulate m.safetensors x.csv --events 2e4 -o s.png": "s.png",
    "report m.safetensors x.csv -o r": "r/index.html", "data describe x.csv": None,
    "data list": None, "fit --help": None, "--version": None,
}  # fmt: skip
WRONG = ["fit nö.csv -o new.safetensors", "inspect x.csv", "encode m.safetensors x.csv -o no/c.npy",
         "encode m.safetensors x.csv -o [/b].xyz"]  # fmt: skip
NOBODY = 65_534


@cache
def nobody_can():
    """Whether another user than root can run Python and lrnn."""
    if os.getuid() != 0:
        return False
    words = [sys.executable, "-c", "import lrnn"]
    try:
        return subprocess.run(words, user=NOBODY, capture_output=True).returncode == 0
    except OSError:
        return False


@cases(short=2, full=160)
def test_environments(case):
    """Commands do their work and end with 0, or tell in a line why not and end with 1."""
    wrong = not case.short and case.chance(0.3)
    command = case.pick(WRONG if wrong else list(QUICK if case.short else COMMANDS))
    changed = case.pick(VARIABLES) | case.pick(VARIABLES) | case.pick(VARIABLES)
    surroundings = {k: v for k, v in (os.environ | changed).items() if v is not None}
    closed = case.pick(CLOSED)
    flags = case.pick({"plain": ""} if case.short else FLAGS).split()  # others are compiled anew
    user = NOBODY if nobody_can() and case.chance(0.4) else None
    case.about.append("as nobody" if user else "as this user")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        X, names = np.random.default_rng(0).random((20, 4)), "größe,weight,[red],x→y"
        np.savetxt(folder / "x.csv", X, delimiter=",", header=names, comments="", encoding="utf-8")
        new().fit(X).save(folder / "m.safetensors")
        before = left_in(folder)
        done = subprocess.run(
            [sys.executable, *flags, "-m", "lrnn", *command.split()], cwd=folder, user=user,
            env=surroundings, stdin=subprocess.DEVNULL, capture_output=True,
            preexec_fn=lambda: [os.close(number) for number in closed],
        )  # fmt: skip
        made = {name.split("/")[0] for name in left_in(folder) - before}
    said = done.stderr.decode(errors="replace")
    assert "Traceback" not in said, said[-600:]
    assert "Exception ignored" not in said, said[-600:]
    assert done.returncode == wrong, f"status {done.returncode}: {said[-400:]}"
    assert changed.get("PYTHONIOENCODING") != "ascii" or (done.stdout + done.stderr).isascii()
    assert ("error:" in said) == wrong or 2 in closed, said[-400:]
    output = None if wrong else COMMANDS[command]
    assert made == ({output.split("/")[0]} if output else set()), made
    assert output or wrong or 1 in closed or done.stdout, "says nothing"


# Threads and forks: functions of a folder whose answers are known


@cache
def shared():
    """Rows, a model of them, and its network."""
    X = np.random.default_rng(1).random((60_000, 60))
    model = new(hidden_layer_sizes=16).fit(X)
    return X, model, model.to_network()


def new(**settings):
    return LRNNAutoencoder(**{"hidden_layer_sizes": 3, "max_iter": 3, "random_state": 0} | settings)


def simulated(folder):
    X, model, network = shared()
    return network.simulate(model.arrivals(X[:1])[0], events=5_000, random_state=1).activation()


def saved_and_loaded(folder):
    X, model, _ = shared()
    model.save(folder / "model")
    return lrnn.load(folder / "model").transform(X[:50])


def written(folder):
    X, model, _ = shared()
    path = folder / f"{threading.get_ident()}.csv"
    lrnn.streaming.encode(model, X[:50], path)
    return np.loadtxt(path, delimiter=",", skiprows=1)


def mode_of_a_new_file(folder):
    path = folder / f"{threading.get_ident()}.txt"
    path.unlink(missing_ok=True)
    path.touch()
    return path.stat().st_mode


WORK = {
    "transform": lambda folder: shared()[1].transform(shared()[0]),
    "reconstruct": lambda folder: shared()[1].reconstruct(shared()[0][:5_000]),
    "score": lambda folder: shared()[1].score(shared()[0][:5_000]),
    "fit": lambda folder: new().fit(shared()[0][:5_000]).reconstruction_err_,
    "fit, fine-tuned": lambda folder: new(fine_tune=1).fit(shared()[0][:500]).reconstruction_err_,
    "simulate": simulated,
    "save and load": saved_and_loaded,
    "write": written,
    "new file": mode_of_a_new_file,
}


@cases(short=3, full=600)
def test_threads(case):
    """Work in several threads gives what it gives in one."""
    names = [case.any_of(list(WORK)) for _ in range(12)]
    case.about += sorted(set(names))
    expected = {name: WORK[name](case.folder) for name in names}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda name: WORK[name](case.folder), names))
    for name, value in zip(names, found, strict=True):
        np.testing.assert_allclose(value, expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
    assert not [name for name in left_in(case.folder) if name.startswith(".")]


IN_A_PROCESS = """
    import os, sys, threading
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path
    sys.path[:] = {path}
    import numpy as np
    from threadpoolctl import threadpool_info
    from trial.test_surroundings import WORK

    folder, ended, gate = Path("."), threading.Event(), threading.Barrier(6)
    expected = [WORK[name](folder) for name in {names}]
    threads = [library["num_threads"] for library in threadpool_info()]
    def together(name):
        gate.wait()
        return WORK[name](folder)
    def work():
        while not ended.is_set():
            WORK[{busy!r}](folder)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(together, {names} * 6))
    if not all(map(np.allclose, found, expected * 6)):
        sys.exit("threads give another answer")
    if threads != [library["num_threads"] for library in threadpool_info()]:
        sys.exit(f"threads of BLAS were {{threads}}, and are {{threadpool_info()}}")
    if {busy!r}:
        threading.Thread(target=work).start()
    if (child := os.fork()) == 0:
        found = [WORK[name](folder) for name in {names}]
        os._exit(0 if all(map(np.allclose, found, expected)) else 3)
    _, status = os.waitpid(child, 0)
    ended.set()
    sys.exit(os.waitstatus_to_exitcode(status))
"""


@cases(short=0, full=60)
def test_processes(case):
    """Threads leave BLAS as it was; a fork works as its parent did, which may be at work.

    (Not if BLAS is at work in several threads: NumPy alone then waits for ever in the child.)
    """
    names = ["transform", case.pick(list(WORK))]
    busy = case.pick(["", "transform", "fit"])
    code = textwrap.dedent(IN_A_PROCESS).format(path=sys.path, names=names, busy=busy)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=case.folder, capture_output=True, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1" if busy else "2"},
    )  # fmt: skip
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-400:]}"
