"""Safetensors files with one JSON document: numbers and text only, nothing that could be run.

The header's metadata holds the document, ``lrnn``, and ``sha256``, a sum over it and all tensors,
by which damage is noticed. Files are replaced as a whole, or not at all.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from lrnn.arrays import Array
from lrnn.tables.atomic import write_atomically


class TensorFileError(ValueError):
    """A file does not hold what it should."""


READ_ERRORS = (SafetensorError, OSError, KeyError, TypeError, ValueError, AttributeError,
               RecursionError, OverflowError, MemoryError)  # fmt: skip
"""What reading a file that is damaged, foreign or hostile may raise."""


def write_tensors(
    path: str | os.PathLike[str], document: Mapping[str, Any], tensors: Mapping[str, Array]
) -> None:
    """Write a document and arrays."""
    text = json.dumps(document)
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    metadata = {"lrnn": text, "sha256": checksum(text, whole)}
    write_atomically(Path(path), to_safetensors(whole, metadata))


def read_tensors(
    path: str | os.PathLike[str], check: Callable[[dict[str, Any]], None]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what `write_tensors` wrote; raises one of `READ_ERRORS` if that cannot be.

    ``check`` sees the document before anything else is read, and may complain of it.
    """
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        if "lrnn" not in metadata:
            raise TensorFileError("it is a safetensors file, but not one of lrnn")
        document = dict(json.loads(metadata["lrnn"]))
        check(document)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if metadata.get("sha256") != checksum(metadata["lrnn"], tensors):
        raise TensorFileError("its checksum is wrong: the file is damaged")
    return document, tensors


def checksum(document: str, tensors: Mapping[str, Array]) -> str:
    """SHA-256 of a document and of all arrays with their names, types and shapes."""
    total = hashlib.sha256(document.encode())
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        total.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        total.update(tensor.data)
    return total.hexdigest()
