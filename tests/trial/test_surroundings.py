"""Commands in odd environments, several oddities at a time; threads and forks."""

import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import lrnn
from lrnn import LRNNAutoencoder
from trial.harness import cases

GONE = "/proc/none"  # not even root can make it
WITHOUT = dict.fromkeys(("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "TERM", "LANG"))
VARIABLES = {
    "no HOME": WITHOUT,
    "HOME that is not there": {"HOME": GONE},
    "no caches": {"NUMBA_CACHE_DIR": GONE, "MPLCONFIGDIR": GONE, "XDG_CACHE_HOME": GONE},
    "no data folder": {"LRNN_DATA_DIR": GONE},
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "64 columns": {"COLUMNS": "64"},
    "8 columns": {"COLUMNS": "8"},
    "colours": {"FORCE_COLOR": "1"},
    "dumb terminal": {"TERM": "dumb"},
    "two threads": {"OMP_NUM_THREADS": "2"},
}
FLAGS = {
    "plain": [],
    "-O": ["-O"],
    "-OO": ["-OO"],
    "-W error": ["-W", "error"],
    "-X dev": ["-X", "dev"],
}
CLOSED = {"open": (), "no stdin": (0,), "no stdout": (1,), "no stderr": (2,), "nothing": (0, 1, 2)}
COMMANDS = {  # and what they write
    "fit": (["fit", "x.csv", "-o", "new.safetensors", "--max-iter", "3"], "new.safetensors"),
    "fit, json": (["fit", "x.csv", "-o", "n.safetensors", "--json"], "n.safetensors"),
    "encode": (["encode", "m.safetensors", "x.csv", "-o", "codes.npy"], "codes.npy"),
    "encode, non-ASCII": (["encode", "m.safetensors", "x.csv", "-o", "códes.csv"], "códes.csv"),
    "reconstruct": (["reconstruct", "m.safetensors", "x.csv", "-o", "b.parquet"], "b.parquet"),
    "inspect": (["inspect", "m.safetensors"], None),
    "inspect, json": (["inspect", "m.safetensors", "--json"], None),
    "simulate": (["simulate", "m.safetensors", "x.csv", "--events", "2e4", "-o", "s.png"], "s.png"),
    "describe": (["data", "describe", "x.csv"], None),
    "list": (["data", "list"], None),
    "help": (["fit", "--help"], None),
    "version": (["--version"], None),
    "report": (["report", "m.safetensors", "x.csv", "-o", "r"], "r/index.html"),
}  # fmt: skip
QUICK = ["fit", "encode", "inspect"]
WRONG = {
    "no file": ["fit", "nö.csv", "-o", "never.safetensors"],
    "no model": ["inspect", "x.csv"],
    "no folder": ["encode", "m.safetensors", "x.csv", "-o", "nowhere/codes.npy"],
    "hostile name": ["encode", "m.safetensors", "x.csv", "-o", "[/b].xyz"],
}
NOBODY = 65_534


@cache
def nobody_can():
    """Whether another user than root can run Python and lrnn."""
    if os.name != "posix" or os.getuid() != 0:
        return False
    try:
        tried = subprocess.run(
            [sys.executable, "-c", "import lrnn"], user=NOBODY, capture_output=True
        )
    except OSError:
        return False
    return tried.returncode == 0


@contextmanager
def place():
    """A folder that anybody may write to, with data and a model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        X = np.random.default_rng(0).random((20, 4))
        names = "größe,weight,[red],x→y"
        np.savetxt(folder / "x.csv", X, delimiter=",", header=names, comments="", encoding="utf-8")
        LRNNAutoencoder(2, max_iter=3, random_state=0).fit(X).save(folder / "m.safetensors")
        yield folder


def started(case, words, folder):
    """A command in a process whose surroundings are odd in several ways."""
    changed = {}
    for _ in range(case.rng.integers(1, 4)):
        changed |= case.pick(VARIABLES)
    surroundings = {k: v for k, v in (os.environ | changed).items() if v is not None}
    closed = case.pick(CLOSED)
    user = NOBODY if nobody_can() and case.chance(0.4) else None
    case.about.append("root" if user is None else "nobody")

    def close():
        for number in closed:
            os.close(number)

    flags = ["plain", "-W error"] if case.short else list(FLAGS)  # nothing is compiled anew
    done = subprocess.run(
        [sys.executable, *FLAGS[case.pick(flags)], "-m", "lrnn", *words], cwd=folder, user=user,
        env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=close,
    )  # fmt: skip
    said = done.stderr.decode(errors="replace")
    assert "Traceback" not in said, said[-600:]
    assert "Exception ignored" not in said, said[-600:]
    if "PYTHONIOENCODING" in changed and changed["PYTHONIOENCODING"] == "ascii":
        assert (done.stdout + done.stderr).isascii()
    return done.returncode, done.stdout.decode(errors="replace"), said, closed


@cases(short=2, full=200)
def test_environments(case):
    """Commands do their work, and end with 0."""
    names = QUICK if case.short else list(COMMANDS)
    words, output = COMMANDS[case.pick(names)]
    with place() as folder:
        status, out, said, closed = started(case, words, folder)
        assert status == 0, f"status {status}: {said[-400:]}"
        assert out or 1 in closed or words[0] in ("encode", "reconstruct"), "says nothing"
        assert output is None or (folder / output).stat().st_size, f"{output} is not there"
        assert not [name for name in os.listdir(folder) if name.startswith(".")]


@cases(short=0, full=80)
def test_errors_in_environments(case):
    with place() as folder:
        before = sorted(os.listdir(folder))
        status, _, said, closed = started(case, case.pick(WRONG), folder)
        assert status == 1, f"status {status}: {said[-400:]}"
        assert "error:" in said or 2 in closed, said
        assert sorted(os.listdir(folder)) == before


# Threads


@cache
def shared():
    """Rows, a model of them, and its network."""
    X = np.random.default_rng(1).random((20_000, 40))
    model = LRNNAutoencoder(8, max_iter=3, random_state=0).fit(X)
    return X, model, model.to_network()


def new(**settings):
    return LRNNAutoencoder(3, max_iter=3, random_state=0, **settings)


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


WORK = {  # functions of a folder
    "transform": lambda folder: shared()[1].transform(shared()[0]),
    "reconstruct": lambda folder: shared()[1].reconstruct(shared()[0][:3_000]),
    "score": lambda folder: shared()[1].score(shared()[0]),
    "fit": lambda folder: new().fit(shared()[0][:2_000]).components_,
    "fit, fine-tuned": lambda folder: new(fine_tune=1).fit(shared()[0][:500]).components_,
    "simulate": lambda folder: (
        shared()[2].simulate(shared()[1].arrivals(shared()[0][:1])[0], events=5_000, random_state=1)
    ).activation(),
    "save and load": saved_and_loaded,
    "write": written,
    "new file": mode_of_a_new_file,
}  # fmt: skip


@cases(short=2, full=400)
def test_threads(case):
    """Work in several threads gives what it gives in one, and leaves the process as it was."""
    names = [case.any_of(list(WORK)) for _ in range(12)]
    case.about += sorted(set(names))
    expected = {name: WORK[name](case.folder) for name in set(names)}
    with threadpool_limits(2), ThreadPoolExecutor(4) as pool:
        before = [library["num_threads"] for library in threadpool_info()]
        found = list(pool.map(lambda name: WORK[name](case.folder), names))
        after = [library["num_threads"] for library in threadpool_info()]
    assert after == before, f"threads of BLAS are {after}, not {before}"
    for name, value in zip(names, found, strict=True):
        np.testing.assert_allclose(value, expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
    assert not [name for name in os.listdir(case.folder) if name.startswith(".")]


FORKS = """
    import os, sys, threading
    import numpy as np
    from pathlib import Path
    sys.path[:0] = {path!r}
    from trial.test_surroundings import WORK
    folder, names = Path({folder!r}), {names!r}
    expected = [WORK[name](folder) for name in names]
    ended = threading.Event()
    def busy():
        while not ended.is_set():
            WORK[{busy!r}](folder)
    thread = threading.Thread(target=busy)
    if {busy!r}:
        thread.start()
    child = os.fork()
    if child == 0:
        same = [np.allclose(WORK[n](folder), e, rtol=1e-9) for n, e in zip(names, expected)]
        os._exit(0 if all(same) else 3)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended.set()
    sys.exit(status)
"""


@cases(short=0, full=60)
def test_forks(case):
    """A fork works as its parent did, which may be at work in another thread."""
    quick = ["transform", "reconstruct", "score", "fit", "simulate", "save and load", "write"]
    names = [case.pick(quick) for _ in range(2)]
    busy = case.pick(["", "transform", "fit"])
    code = "\n".join(line[4:] for line in FORKS.splitlines())
    code = code.format(path=sys.path, folder=str(case.folder), names=names, busy=busy)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-400:]}"
