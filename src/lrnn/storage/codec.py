"""States in safetensors files: numbers and text only, nothing that could be run.

A state is a dictionary of arrays, numbers, text, and lists and dictionaries of them. In a file each
array is a tensor, named after its place, such as ``history.0.errors``; all else is the document.
The header's metadata holds the document as JSON, ``lrnn``, and ``sha256``, a sum over it and all
tensors, by which damage is noticed. Files are replaced as a whole, or not at all.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

import lrnn
from lrnn.arrays import Array, is_array, to_numpy
from lrnn.tables.atomic import write_atomically
from lrnn.tables.sources import check_file
from lrnn.training import State

READ_ERRORS = (SafetensorError, OSError, KeyError, TypeError, ValueError, AttributeError,
               RecursionError, OverflowError, MemoryError)  # fmt: skip
"""What reading a file that is damaged, foreign or hostile may raise."""

ABSENT = object()  # stands where the document has nothing, because a tensor has it
TRANSPOSED = "T"


class TensorFileError(ValueError):
    """A file does not hold what it should."""


# Nested states


def split(state: Mapping[str, Any], *, ordered: bool = False) -> tuple[State, dict[str, Array]]:
    """The document and the tensors of a state.

    Lists and dictionaries of nothing but arrays are in no document; other lists have null in the
    place of an array. If matrices are ``ordered`` they keep their order in memory, on which sums
    depend: those by columns are stored by rows of their transpose, ``NAME.T``.
    """
    tensors: dict[str, Array] = {}

    def plain(value: Any, name: str) -> Any:
        if is_array(value):
            value = to_numpy(value)
            if value.ndim == 0:
                return value.item()
            turned = ordered and value.flags.f_contiguous and not value.flags.c_contiguous
            tensors[f"{name}.{TRANSPOSED}" if turned else name] = value.T if turned else value
            return ABSENT
        if isinstance(value, Mapping):
            parts = {key: plain(part, f"{name}.{key}") for key, part in value.items()}
            left = {key: part for key, part in parts.items() if part is not ABSENT}
            return left if left or not parts else ABSENT
        if isinstance(value, list | tuple):
            items = [plain(part, f"{name}.{i}") for i, part in enumerate(value)]
            if items and all(item is ABSENT for item in items):
                return ABSENT
            return [None if item is ABSENT else item for item in items]
        return value.item() if isinstance(value, np.generic) else value

    found = {key: plain(part, key) for key, part in state.items()}
    return {key: part for key, part in found.items() if part is not ABSENT}, tensors


def join(document: State, tensors: Mapping[str, Array]) -> State:
    """The state that `split` took apart."""
    state = deepcopy(document)
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        if last == TRANSPOSED and path:
            tensor, last = tensor.T, path.pop()
        place: Any = state
        try:
            for step in path:
                place = _entry(place, step, {})
            if _entry(place, last, tensor) is not tensor:
                raise LookupError
        except (LookupError, TypeError, ValueError):
            raise TensorFileError(f"{name} has no place in its document") from None
    return {key: _with_lists(part) for key, part in state.items()}


def _entry(place: Any, step: str, new: Any) -> Any:
    """What stands there in a list or a dictionary: something ``new``, if there was nothing."""
    key = int(step) if isinstance(place, list) else step
    if isinstance(place, dict):
        place.setdefault(key, None)
    if place[key] is None:
        place[key] = new
    return place[key]


def _with_lists(part: Any) -> Any:
    """A part of a state in which dictionaries by numbers are lists."""
    if isinstance(part, list):
        return [_with_lists(item) for item in part]
    if not isinstance(part, dict):
        return part
    numbers = list(map(str, range(len(part))))
    if part and part.keys() == set(numbers):
        return [_with_lists(part[number]) for number in numbers]
    return {key: _with_lists(item) for key, item in part.items()}


# Files


def write_tensors(
    path: str | os.PathLike[str], document: Mapping[str, Any], tensors: Mapping[str, Array]
) -> None:
    """Write a document and arrays."""
    text = json.dumps(document)
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    metadata = {"lrnn": text, "sha256": checksum(text, whole)}
    write_atomically(Path(path), to_safetensors(whole, metadata))


def write_checked(
    path: str | os.PathLike[str],
    document: State,
    tensors: Mapping[str, Array],
    make: Callable[[State], Any],
    what: str,
) -> None:
    """Write a document and arrays of which ``make`` can make what they are a file of."""
    try:
        make(join(document, tensors))
    except READ_ERRORS as error:
        raise ValueError(f"this {what} cannot be saved: {error}") from None
    write_tensors(path, document, tensors)


def read_tensors(
    path: str | os.PathLike[str], check: Callable[[State], None]
) -> tuple[State, dict[str, Array]]:
    """Read what `write_tensors` wrote; raises one of `READ_ERRORS` if that cannot be.

    ``check`` sees the document before anything else is read, and may complain of it.
    """
    check_file(Path(path))
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


@contextmanager
def explained(
    path: str | os.PathLike[str], what: str, kind: type[TensorFileError]
) -> Iterator[None]:
    """Whatever goes wrong with a file gives one error that says so, of this ``kind``."""
    if Path(path).is_dir():
        raise kind(f"{os.fspath(path)!r} is a folder, not a {what} file")
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {os.fspath(path)!r}") from None
    except PermissionError:
        raise PermissionError(f"no permission to read {os.fspath(path)!r}") from None
    except READ_ERRORS as error:
        reason = str(error) or type(error).__name__
        raise kind(f"cannot read {os.fspath(path)!r} as a {what}: {reason}") from None


def check_version(version: Any, newest: int, document: State) -> None:
    """Complain of a format that this version of lrnn does not know."""
    if type(version) is not int or version < 1:
        raise TensorFileError(f"its format version is {version!r:.40}")
    if version > newest:
        raise TensorFileError(
            f"it has format {version}, written by lrnn {document['lrnn_version']}; this is lrnn "
            f"{lrnn.__version__}, which reads formats up to {newest}. Update lrnn"
        )
