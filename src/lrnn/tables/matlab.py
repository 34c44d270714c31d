"""MATLAB files are walked through before SciPy reads them: it trusts what their tags say.

A file of version 5 is a sequence of elements, each a tag (what it holds, and how many bytes) and
its content. SciPy looks the type of numbers up in a table by whatever number a tag gives; one that
is none leads it anywhere in memory.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import BinaryIO

from scipy.io.matlab import matfile_version

__all__ = ["check_matlab"]

HEADER = 128  # bytes
MATRIX, COMPRESSED = 14, 15  # types of elements, beside numbers:
NUMBERS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}
CELLS, STRUCTURE, OBJECT, SPARSE, FUNCTION, OPAQUE = 1, 2, 3, 5, 16, 17  # classes of matrices
COMPLEX = 1 << 11  # a flag
PIECE = 1 << 16
DEEPEST = 64  # matrices in matrices


class DamagedError(ValueError):
    """What a file says of itself cannot be."""


def check_matlab(path: Path) -> None:
    """Complain of a file of version 5 whose elements are not what they should be."""
    if matfile_version(path)[0] != 1:
        return  # of another one, in which tags lead nowhere
    with path.open("rb") as file:
        order = ">" if file.read(HEADER)[-2:] == b"MI" else "<"
        while first := file.read(8):
            kind, size = _unpacked(order + "II", first)
            end = file.tell() + size
            if kind == COMPRESSED:
                _Walk(order, _inflated(file, size)).matrix()
            else:
                _Walk(order, _plain(file, size), (kind, size)).matrix()
            file.seek(end)


class _Walk:
    """Through the elements of one variable."""

    def __init__(
        self, order: str, pieces: Iterator[bytes], first: tuple[int, int] | None = None
    ) -> None:
        self._order, self._pieces, self._held = order, filter(None, pieces), b""
        self._first = first  # the tag that was read already

    def matrix(self, depth: int = 0) -> int:
        """Through a matrix and all that is in it; how many bytes it has."""
        kind, size, _, head = self._element(open_matrix=True)
        if kind != MATRIX or depth > DEEPEST:
            raise DamagedError(f"an element of type {kind} stands where a matrix should")
        left = size
        if not size:
            return head

        def numbers() -> bytes:
            nonlocal left
            kind, _, content, used = self._element()
            if kind not in NUMBERS:
                raise DamagedError(f"an element of type {kind} stands where numbers should")
            left -= used
            if left < -7:  # but for what fills up the last eight bytes
                raise DamagedError("an element is longer than the matrix that it is part of")
            return content

        (word,) = _unpacked(self._order + "I", numbers()[:4])
        class_ = word & 0xFF
        if class_ in (CELLS, STRUCTURE, OBJECT, FUNCTION, OPAQUE):
            count = 1
            if class_ == OPAQUE:  # which has no size
                numbers(), numbers(), numbers()
            else:
                shape = self._shape(numbers())
                numbers()  # its name
            if class_ in (CELLS, STRUCTURE, OBJECT):
                count = prod(shape)
            if class_ in (STRUCTURE, OBJECT):
                if class_ == OBJECT:
                    numbers()  # that of its class
                length, names = numbers(), numbers()
                (longest,) = _unpacked(self._order + "i", length[:4])
                if longest < 1 or len(names) % longest:
                    raise DamagedError("a structure whose fields have no names")
                count *= len(names) // longest
            for _ in range(count):
                left -= self.matrix(depth + 1)
                if left < -7:
                    raise DamagedError("a matrix is longer than the one that it is part of")
        else:
            self._shape(numbers())
            for _ in range(1 + (3 if class_ == SPARSE else 1) + bool(word & COMPLEX)):
                numbers()  # its name, its numbers
        self._read(max(left, 0), keep=False)
        return head + size

    def _shape(self, dims: bytes) -> tuple[int, ...]:
        shape = _unpacked(self._order + f"{len(dims) // 4}i", dims)
        if len(shape) > 32 or any(n < 0 for n in shape):
            raise DamagedError("a matrix without a size")
        return shape

    def _element(self, open_matrix: bool = False) -> tuple[int, int, bytes, int]:
        """Type, size and content of the next one, and the bytes of all that.

        Long content is not kept, and that of a matrix not yet read.
        """
        if self._first is not None:
            kind, size = self._first
            self._first = None
        else:
            kind, size = _unpacked(self._order + "II", self._read(8))
            short = kind >> 16
            if short:  # both in four bytes, and the content in the other four
                if short > 4:
                    raise DamagedError(f"a short element of {short} bytes")
                return kind & 0xFFFF, short, struct.pack(self._order + "I", size)[:short], 8
        if open_matrix:
            return kind, size, b"", 8
        content = self._read(size, keep=size <= PIECE)
        padding = -size % 8
        self._skip(padding)
        return kind, size, content, 8 + size + padding

    def _skip(self, size: int) -> None:
        """What fills up eight bytes, and may be missing at the end."""
        with suppress(DamagedError):
            self._read(size)

    def _read(self, size: int, keep: bool = True) -> bytes:
        kept = []
        while size > len(self._held):
            size -= len(self._held)
            if keep:
                kept.append(self._held)
            self._held = next(self._pieces, b"")
            if not self._held:
                raise DamagedError("it ends too early")
        kept.append(self._held[:size])
        self._held = self._held[size:]
        return b"".join(kept) if keep else b""


def _plain(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size:
        piece = file.read(min(size, PIECE))
        if not piece:
            return
        size -= len(piece)
        yield piece


def _inflated(file: BinaryIO, size: int) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    for piece in _plain(file, size):
        while piece and not inflate.eof:
            yield inflate.decompress(piece, PIECE)
            piece = inflate.unconsumed_tail
    yield inflate.flush()


def _unpacked(layout: str, content: bytes) -> tuple[int, ...]:
    if len(content) != struct.calcsize(layout):
        raise DamagedError("it ends too early")
    return struct.unpack(layout, content)
