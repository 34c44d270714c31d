"""The idx format of MNIST: a magic number, the shape, then the numbers, big-endian."""

import gzip
import zlib
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.sources import check_file, lacking_memory

__all__ = ["read_idx"]

PIECE = 1 << 24  # bytes of a file that are read at once: it may promise more than there is
TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | PathLike[str]) -> NDArray[Any]:
    """Read an idx file, gzipped or not, as an array of the shape and type it states.

    No more is read, nor unpacked, than the shape takes.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    array : ndarray
        Of the shape and the type that the file states.
    """
    check_file(Path(path))
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            return _idx(file, fspath(path))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{fspath(path)!r} is a damaged gzip file: {error}") from None


def _idx(file: BinaryIO | gzip.GzipFile, name: str) -> NDArray[Any]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\x00\x00" or magic[2] not in TYPES:
        raise ValueError(f"{name!r} is not an idx file: it does not begin like one")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise ValueError(f"{name!r} is damaged: it ends before its shape is complete")
    shape = tuple(int(n) for n in np.frombuffer(sizes, ">u4"))
    kind = np.dtype(TYPES[magic[2]])
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    parts, found = [], 0
    try:
        while found <= wanted and (part := file.read(min(PIECE, wanted + 1 - found))):
            parts.append(part)
            found += len(part)
        content = b"".join(parts)
    except MemoryError as error:
        raise lacking_memory(name, error, wanted) from None
    if found != wanted:
        follow = f"{found} follow" if found < wanted else "more follow"
        raise ValueError(
            f"{name!r} is damaged: it states the shape {shape}, which takes {wanted} bytes, but "
            f"{follow}"
        )
    return np.frombuffer(content, kind).reshape(shape)
