"""Variables of MATLAB's files of version 7 and before, as SciPy reads them.

SciPy trusts what such a file says of itself, and a damaged one can crash the process that reads
it. So a process of its own reads the file, and hands over its arrays in files of NumPy.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.tables.messages import warn

__all__ = ["read_variables"]


def read_variables(path: Path) -> dict[str, Any]:
    """All arrays and sparse matrices of a file; fields of a structure are "structure/field"."""
    with TemporaryDirectory() as folder:  # also for what a crash leaves
        modules = os.pathsep.join(map(os.path.abspath, sys.path))
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__, path.absolute(), folder],
            env=os.environ | {"PYTHONPATH": modules, "PYTHONWARNINGS": ""},
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
        lines = done.stderr.splitlines()
        if done.returncode != 0:
            last = lines[-1] if lines else f"SciPy crashed (exit status {done.returncode})"
            raise (MemoryError if "MemoryError" in last else ValueError)(last)
        for line in lines:
            warn(f"{str(path)!r}: {line}")
        names = json.loads(Path(folder, "names.json").read_text())
        return {name: _load(Path(folder, file)) for name, file in names.items()}


def _load(path: Path) -> Any:
    return np.load(path) if path.suffix == ".npy" else sparse.load_npz(path)


def _hand_over(path: str, folder: str) -> None:
    """Write all arrays of a MATLAB file to a folder, and their names to a file there."""
    from scipy.io import loadmat

    # mat_dtype: numbers are not of the few bits that they are stored in
    content = loadmat(path, mat_dtype=True, spmatrix=False)
    names: dict[str, str] = {}
    for name, value in content.items():
        for inner, array in () if name.startswith("__") else _arrays(name, value):
            if sparse.issparse(array):  # of doubles, or truth values: however few bits hold them
                file = f"{len(names)}.npz"
                sparse.save_npz(Path(folder, file), array.astype(np.float64), compressed=False)
            else:
                file = f"{len(names)}.npy"
                np.save(Path(folder, file), array)
            names[inner] = file
    Path(folder, "names.json").write_text(json.dumps(names))


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A variable, or those in it if it is a structure; of one of cells, only its shape."""
    value = value if sparse.issparse(value) else np.asarray(value)
    if value.dtype.names is not None and value.size == 1:
        for field in value.dtype.names:
            yield from _arrays(f"{name}/{field}", value[field].flat[0])
    else:
        yield name, np.full(value.shape, b"object") if value.dtype.hasobject else value


if __name__ == "__main__":
    warnings.formatwarning = lambda message, *_: f"{' '.join(str(message).split())}\n"
    _hand_over(*sys.argv[1:])
