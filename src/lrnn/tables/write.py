"""A table into a file, in the format that its name asks for; whole or not at all."""

import io
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import write_atomically


def write(
    path: str | PathLike[str], data: NDArray[Any], names: Sequence[str] | None = None
) -> None:
    """Write rows of numbers as .npy, .npz, .csv, .tsv or .mat."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ValueError(
            f"{str(path)!r} is of no known format; its name should end in {', '.join(WRITERS)}"
        )
    write_atomically(path, writer(data, names))


def check_writable(path: str | PathLike[str]) -> None:
    """Complain of a name that `write` would refuse, before any work is done for it."""
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        write(path, np.empty((0, 0)))
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write to")


def _npy(data: NDArray[Any], names: Sequence[str] | None) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, data, allow_pickle=False)
    return buffer.getvalue()


def _npz(data: NDArray[Any], names: Sequence[str] | None) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, data=data)
    return buffer.getvalue()


def _mat(data: NDArray[Any], names: Sequence[str] | None) -> bytes:
    from scipy.io import savemat

    buffer = io.BytesIO()
    savemat(buffer, {"data": data}, do_compression=True)
    return buffer.getvalue()


def _text(delimiter: str) -> Callable[[NDArray[Any], Sequence[str] | None], bytes]:
    def text(data: NDArray[Any], names: Sequence[str] | None) -> bytes:
        lines = [delimiter.join(map(quoted, names))] if names is not None else []
        # repr of a float is the shortest text that reads back as the same number
        lines += [delimiter.join(map(repr, row)) for row in data.tolist()]
        return ("\n".join(lines) + "\n").encode()

    return text


def quoted(name: str) -> str:
    """A column's name as it stands in a line of text."""
    plain = not set(name) & set(',;\t"\r\n')
    return name if plain else '"' + name.replace('"', '""') + '"'


WRITERS: dict[str, Callable[[NDArray[Any], Sequence[str] | None], bytes]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": _text(","),
    ".tsv": _text("\t"),
    ".mat": _mat,
}
