"""Rows with missing cells, which are NaN, and what fills them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array, Floats
from lrnn.functional import fill_gaps
from lrnn.rows.base import BUFFER_BYTES
from lrnn.rows.checks import summed
from lrnn.rows.memory import HostRows
from lrnn.tables.messages import in_bytes

__all__ = ["Filling", "check_size", "full", "has_gaps", "sparse_gaps"]

PADDED = ("bsr", "dia")  # formats that store zeros for the sake of their form


def has_gaps(rows: Any) -> bool:
    """Whether cells of these rows are missing. Only those of full matrices in memory may be."""
    if not isinstance(rows, HostRows) or rows.stored_sparse or rows.white is not None:
        return False
    return bool(np.isnan(np.sum(rows.X)))  # all others are in [0, 1]


def sparse_gaps(X: Any, unstored: bool) -> int:
    """How many cells of a sparse matrix are missing: stored NaN, and what is ``unstored``, too."""
    _check_format(X, unstored)
    if not unstored and X.dtype.kind != "f":
        return 0
    stored = X if not unstored and X.format in ("csr", "csc", "coo") else sparse.csr_array(X)
    gone = int(np.count_nonzero(np.isnan(stored.data))) if X.dtype.kind == "f" else 0
    return gone + (X.shape[0] * X.shape[1] - summed(stored).nnz if unstored else 0)


def full(X: Any, unstored: bool, most: int = BUFFER_BYTES) -> NDArray[Any]:
    """A sparse matrix as a full one of no more than so many bytes.

    What it does not store is 0; or missing, if ``unstored`` cells are. Then its numbers are floats.
    """
    _check_format(X, unstored)
    kind = np.dtype(np.float64) if unstored and X.dtype != np.float32 else np.dtype(X.dtype)
    check_size(X.shape, kind, most)
    stored = summed(sparse.csr_array(X))
    if not unstored:
        return np.asarray(stored.toarray())
    found = np.full(X.shape, np.nan, dtype=kind)
    found[np.repeat(np.arange(X.shape[0]), np.diff(stored.indptr)), stored.indices] = stored.data
    return found


def check_size(shape: tuple[int, int], dtype: np.dtype[Any], most: int) -> None:
    """Complain of a sparse matrix that would take more than so many bytes as a full one."""
    size = shape[0] * shape[1] * dtype.itemsize
    if size > most:
        raise ValueError(
            f"X is a sparse matrix of {shape[0]:,} × {shape[1]:,} cells, some of which are "
            f"missing. To fill these it is made a full one, which takes {in_bytes(size)}, and no "
            f"more than {in_bytes(most)} are taken for that; leave out rows or columns with few "
            "entries, or give some of the rows at a time"
        )


def _check_format(X: Any, unstored: bool) -> None:
    if unstored and X.format in PADDED:
        raise ValueError(
            f"X is a sparse matrix in the format {X.format!r}, which stores zeros that nobody has "
            "given: what is missing (missing='unstored') cannot be told; give one made as "
            "scipy.sparse.csr_array((data, indices, indptr)), or as coo_array((data, (i, j)))"
        )


@dataclass(frozen=True, eq=False)
class Filling:
    """What missing cells are filled by, for rows in [0, 1].

    Attributes
    ----------
    decoder : ndarray of shape (n_parts, n_attributes)
        What rows are sums of.
    codes : ndarray of shape (n_parts,)
        How much of each on average.
    root : ndarray of shape (n_parts, n_parts)
        How sure that is; see `lrnn.functional.code_prior`.
    """

    decoder: Floats
    codes: Floats
    root: Floats

    def filled(self, rows: HostRows) -> HostRows:
        """The same rows, complete."""
        parts = [part.astype(rows.dtype) for part in (self.decoder, self.codes, self.root)]

        def work(block: Array) -> Array:
            return fill_gaps(block, *parts)

        found = HostRows(rows.transmit(work, rows.shape[1], rows.dtype, sum(self.decoder.shape)))
        found.columns, found.ledger, found.gaps = rows.columns, rows.ledger, rows
        return found
