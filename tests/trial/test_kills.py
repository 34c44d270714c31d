"""Killed at any moment, a command leaves nothing half-written, and its next run ends the same.

(`tests/cli/test_faults.py` kills one training many times; this kills all that write, at each step.)
"""

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from safetensors.numpy import load as tensors_of

from lrnn import LRNNAutoencoder
from lrnn.datasets import read
from test_grid import hdf5_path, npy_path, parquet_folder
from trial.deaths import run
from trial.harness import cases, left_in

TABLES = [".npy", ".npz", ".csv", ".tsv", ".mat", ".parquet", ".zarr"]
FIT = "-o out.safetensors --checkpoint 0 --resume --force --tol 0 -q"
COMMANDS = [
    "save model.safetensors out.safetensors",
    f"fit rows.npy --max-iter 8 {FIT}",
    f"fit rows.npy --hidden 4-2 --max-iter 3 --fine-tune 3 {FIT}",
    f"fit rows.csv --rates unit --max-iter 5 {FIT}",
    f"fit rows.npy --solver minibatch --max-iter 5 {FIT}",
    f"fit rows.npy --inhibition --fine-tune 4 --max-iter 3 {FIT}",
    f"fit rows.h5 --max-iter 5 {FIT}",  # its moment is that of a stream
    f"fit parts --max-iter 5 --fine-tune 1 {FIT}",
    f"fit classes.csv --classify --label 7 --hidden 3 --max-iter 6 {FIT}",
    "frontier rows.npy -o out --hidden 2 --penalties 2 --passes 1 --resume --force -q",
    *(f"encode model.safetensors rows.csv -o out{ending} --force -q" for ending in TABLES),
]


def inputs(folder):
    """What commands read."""
    X = np.random.default_rng(0).random((60, 6))
    npy_path(X, folder)
    np.savetxt(folder / "rows.csv", X, delimiter=",")
    np.savetxt(folder / "classes.csv", np.c_[X, X[:, 0] > 0.5], delimiter=",")
    hdf5_path(X, folder)
    parquet_folder(X, folder)
    LRNNAutoencoder(3, max_iter=2, random_state=0).fit(X).save(folder / "model.safetensors")
    LRNNAutoencoder(2, max_iter=1, random_state=1).fit(X).save(folder / "old.safetensors")


@cache
def undisturbed(command):
    """What a command leaves that is not killed, the steps it makes, and the seconds it takes."""
    with TemporaryDirectory() as name:
        folder = Path(name, "run")
        folder.mkdir()
        inputs(folder)
        ended = run(command.split(), folder)
        assert ended.status == 0, ended.said
        return contents(folder), ended


def contents(folder):
    """All that is there, by name; of hidden files, that they are there."""
    found = {name: content(folder / name, hidden=name.startswith(".") or "/." in name)
             for name in left_in(folder)}  # fmt: skip
    return {name: said for name, said in found.items() if said is not None}


def content(path, hidden=False):
    """What a file says that is whole, whenever it was written; None for a folder's own."""
    if hidden:
        return "hidden"
    if path.suffix == ".zarr":
        return read(path).data.tobytes()
    if path.is_dir() or any(part.endswith(".zarr") for part in path.parent.parts):
        return None
    if path.suffix == ".safetensors" or path.name.endswith(".checkpoint"):
        stored = path.read_bytes()
        header = json.loads(stored[8 : 8 + int.from_bytes(stored[:8], "little")])
        document = json.loads(header["__metadata__"]["lrnn"])
        tensors = tensors_of(stored)
        kept = {name: array.tobytes() for name, array in tensors.items() if "seconds" not in name}
        return timeless(document), kept
    if path.suffix in TABLES:
        return read(path).data.tobytes() if path.stem in ("rows", "out") else "a table"
    if path.suffix == ".json":
        return timeless(json.loads(path.read_text()))
    assert path.stat().st_size, f"{path.name} is empty"
    return path.suffix or path.name


def timeless(document):
    """A document without what another run, or another machine, would say otherwise."""
    if isinstance(document, dict):
        other = ("seconds", "took", "machine")
        return {k: timeless(v) for k, v in document.items() if not k.endswith(other)}
    return [timeless(part) for part in document] if isinstance(document, list) else document


def kill(case, command, *, deaths):
    """Kill a command some times, then let it end; it ends as if nothing had happened."""
    (expected, ended), words = undisturbed(command), command.split()
    folder = case.folder / "run"
    folder.mkdir()
    inputs(folder)
    output = folder / words[words.index("-o") + 1 if "-o" in words else -1]
    old = None
    if output.suffix == ".safetensors" and case.chance(0.5):
        shutil.copy(folder / "old.safetensors", output)
        output.chmod(0o600)
        old = content(output)
    for _ in range(case.rng.integers(1, deaths + 1)):
        if case.chance(0.7):
            death = {"step": int(case.rng.integers(1, ended.steps + 1))}
        else:
            death = {"seconds": float(case.rng.uniform(0, 1.2 * ended.seconds))}
        case.about.append(str(death))
        died = run(words, folder, **death)
        assert died.status in (-9, 0), f"ends with {died.status}: {died.said[-300:]}"
        for name, found in contents(folder).items():
            if name in expected and "-o" in words:
                known = expected[name]
                assert found in (known, old) or name.startswith("out/"), f"{name} is half-written"
    last = run(words, folder)
    assert last.status == 0, f"the next run ends with {last.status}: {last.said[-300:]}"
    found = contents(folder)
    stray, missing = found.keys() - expected.keys(), expected.keys() - found.keys()
    assert not stray, f"left behind: {sorted(stray)}"
    assert not missing, f"missing: {sorted(missing)}"
    other = [name for name, value in expected.items() if found[name] != value]
    assert not other, f"not as in an undisturbed run: {other}"
    if old is not None:
        assert output.stat().st_mode & 0o777 == 0o600, "the mode of the file has changed"


@pytest.fixture(autouse=True)
def libraries():
    for library in ("h5py", "zarr", "pyarrow"):
        pytest.importorskip(library, reason="pip install 'lrnn[files]'")


@cases(short=3, full=600)
def test_commands(case):
    kill(case, case.pick(COMMANDS), deaths=3)
