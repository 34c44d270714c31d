"""What rows hold, as a sum: by it one sees, when training goes on, whether they are the same."""

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import host_dtype, is_array, take_rows, to_numpy

AT_ONCE = 1 << 26  # bytes that are brought from a device
NEWEST = 8  # sums that are known: a few more blocks are read than are worked on


def digest(X: Any) -> str:
    """SHA-256 of a matrix: its shape, type and bytes."""
    total = hashlib.sha256()
    if sparse.issparse(X):
        X = X.tocsr()
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


class ContentSum:
    """SHA-256 of rows as they are read, from the first on, however long the blocks are.

    Blocks may be added by another thread than the one that asks for sums.

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
        parts = ("full", "lengths", "columns", "values")
        self._known = {0: {part: hashlib.sha256() for part in parts}}

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
        new = {part: total.copy() for part, total in known[rows].items()}
        if sparse.issparse(block):
            block = sparse.csr_array(block)[rows - first :]
            new["lengths"].update(np.diff(block.indptr).astype(np.int64).data)
            new["columns"].update(block.indices.astype(np.int64).data)
            new["values"].update(np.ascontiguousarray(block.data).data)
        else:
            new["full"].update(np.ascontiguousarray(block[rows - first :]).data)
        newest = sorted(known)[1 - NEWEST :]
        self._known = {count: known[count] for count in newest} | {end: new}

    def of(self, rows: int) -> str | None:
        """The sum over the first so many rows, if it is (still) known."""
        parts = self._known.get(rows)
        if parts is None:
            return None
        text = " ".join(total.hexdigest() for total in parts.values())
        return hashlib.sha256(text.encode()).hexdigest()
