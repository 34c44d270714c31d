"""What rows hold, as a sum: by it one sees, when training goes on, whether they are the same."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import host_dtype, is_array, take_rows, to_numpy

AT_ONCE = 1 << 26  # bytes that are brought from a device
LEAF = 1 << 20  # bytes that are summed up by themselves
THREADS = min(4, os.cpu_count() or 1)
NEWEST = 8  # sums that are known: a few more blocks are read than are worked on


def digest(X: Any) -> str:
    """SHA-256 of a matrix: its shape, type and bytes."""
    total = hashlib.sha256()
    if sparse.issparse(X):
        X = _in_order(X.tocsr())
        for part in (X.shape, X.data, X.indices, X.indptr):
            values = np.ascontiguousarray(part)
            total.update(f"{values.dtype.str} {values.shape}".encode())
            total.update(values.data)
        return total.hexdigest()
    dtype, shape = host_dtype(X.dtype), tuple(X.shape)
    total.update(f"{dtype.str} {shape}".encode())
    height = max(1, AT_ONCE // max(1, shape[1] * dtype.itemsize))
    for first in range(0, shape[0], height):
        part = take_rows(X, slice(first, min(first + height, shape[0])))
        total.update(np.ascontiguousarray(to_numpy(part) if is_array(part) else part).data)
    return total.hexdigest()


def _in_order(X: Any) -> Any:
    """A CSR array whose rows have their columns in order; itself, if they have."""
    return X if X.has_sorted_indices else X.sorted_indices()


@dataclass(frozen=True)
class _Sums:
    """Over rows so far: of leaves that are complete, of the one that is not, of sparse rows."""

    leaves: Any
    leaf: Any
    lengths: Any
    columns: Any
    values: Any

    def copy(self) -> "_Sums":
        return _Sums(*(getattr(self, field.name).copy() for field in fields(self)))

    def hexdigest(self) -> str:
        parts = [getattr(self, field.name).hexdigest() for field in fields(self)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()


class ContentSum:
    """SHA-256 of rows as they are read, from the first on, however long the blocks are.

    Some rows make a leaf; leaves are summed up by several threads, and then their sums. Blocks may
    be added by another thread than the one that asks for sums.

    Examples
    --------
    >>> one, other = ContentSum(), ContentSum()
    >>> one.add(np.arange(6.0).reshape(3, 2), 0)
    >>> other.add(np.array([[0.0, 1.0]]), 0)
    >>> other.add(np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), 0)
    >>> one.rows, one.of(3) == other.of(3), one.of(2)
    (3, True, None)
    """

    def __init__(self) -> None:
        self._known = {0: _Sums(*(hashlib.sha256() for _ in fields(_Sums)))}
        self._height = 0  # rows of a leaf

    @property
    def rows(self) -> int:
        """How many rows are summed up."""
        return max(self._known)

    def add(self, block: Any, first: int) -> None:
        """Add what is new of a block whose first row has the number ``first``."""
        known = self._known
        rows, end = max(known), first + block.shape[0]
        if not first <= rows < end:
            return
        new = known[rows].copy()
        if sparse.issparse(block):
            block = _in_order(sparse.csr_array(block)[rows - first :])
            new.lengths.update(np.diff(block.indptr).astype(np.int64).data)
            new.columns.update(block.indices.astype(np.int64).data)
            new.values.update(np.ascontiguousarray(block.data).data)
        else:
            new = self._added(new, np.ascontiguousarray(block[rows - first :]), rows)
        newest = sorted(known)[1 - NEWEST :]
        self._known = {count: known[count] for count in newest} | {end: new}

    def _added(self, sums: _Sums, block: NDArray[Any], rows: int) -> _Sums:
        """Sums with further ``rows``: the end of a leaf, whole leaves, the beginning of one."""
        height = self._height = self._height or max(1, LEAF // max(1, block[0].nbytes))
        begin = min(-rows % height, len(block))
        leaf, cuts = sums.leaf, range(begin, len(block) - height + 1, height)
        leaf.update(block[:begin].data)
        if begin and (rows + begin) % height == 0:
            sums.leaves.update(leaf.digest())
            leaf = hashlib.sha256()
        if len(cuts) > 1:
            with ThreadPoolExecutor(THREADS) as pool:
                found = list(pool.map(lambda i: _leaf(block[i : i + height]), cuts))
        else:
            found = [_leaf(block[i : i + height]) for i in cuts]
        sums.leaves.update(b"".join(found))
        leaf.update(block[begin + len(cuts) * height :].data)
        return replace(sums, leaf=leaf)

    def of(self, rows: int) -> str | None:
        """The sum over the first so many rows, if it is (still) known."""
        sums = self._known.get(rows)
        return None if sums is None else sums.hexdigest()


def _leaf(block: NDArray[Any]) -> bytes:
    return hashlib.sha256(block.data).digest()
