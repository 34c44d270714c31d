"""Rows with missing cells, which are NaN, and what fills them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lrnn.arrays import Array, Floats
from lrnn.functional import fill_gaps
from lrnn.rows.memory import HostRows

__all__ = ["Filling", "has_gaps"]


def has_gaps(rows: Any) -> bool:
    """Whether cells of these rows are missing. Only those of full matrices in memory may be."""
    if not isinstance(rows, HostRows) or rows.sparse or rows.white is not None:
        return False
    return bool(np.isnan(np.sum(rows.X)))  # all others are in [0, 1]


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
        found.columns, found.cut_off, found.gaps = rows.columns, rows.cut_off, rows
        return found
