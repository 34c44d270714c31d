"""The idx format of MNIST: a magic number, the shape, then the numbers, big-endian."""

import gzip
import zlib
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | PathLike[str]) -> NDArray[Any]:
    """Read an idx file, gzipped or not, as an array of the shape and type it states."""
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            content = file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{fspath(path)!r} is a damaged gzip file: {error}") from None
    if len(content) < 4 or content[:2] != b"\x00\x00" or content[2] not in TYPES:
        raise ValueError(f"{fspath(path)!r} is not an idx file: it does not begin like one")
    dimensions = content[3]
    begin = 4 + 4 * dimensions
    if len(content) < begin:
        raise ValueError(f"{fspath(path)!r} is damaged: it ends before its shape is complete")
    shape = tuple(int(n) for n in np.frombuffer(content[4:begin], ">u4"))
    kind = np.dtype(TYPES[content[2]])
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    if len(content) - begin != wanted:
        raise ValueError(
            f"{fspath(path)!r} is damaged: it states the shape {shape}, which takes {wanted} "
            f"bytes, but {len(content) - begin} follow"
        )
    return np.frombuffer(content, kind, offset=begin).reshape(shape)
