"""The second moment of all rows but some, from that of all: moments subtract."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Floats, at_least, backend_of, host_dtype
from lrnn.moments.dense import DenseMoment
from lrnn.moments.second_moment import SecondMoment

ROUNDING = 64  # units in the last place by which differences of sums may be wrong


class MomentWithout(SecondMoment):
    """What is left of a moment without some of its rows, which are in the memory of the host.

    No number is below 0, which rounding might make of one that is 0; nor above it, for attributes
    that are 0 in all rows that are left.
    """

    def __init__(self, moment: SecondMoment, rows: Floats) -> None:
        self.kind = moment.kind
        self.n_rows, self.n_attributes = moment.n_rows - len(rows), moment.n_attributes
        self._moment = moment
        self._share = moment.n_rows / self.n_rows
        like = backend_of(moment.diagonal)
        dtype = host_dtype(moment.diagonal.dtype)

        def sent(numbers: Any) -> Array:
            return like.array(np.asarray(numbers, dtype=dtype))

        squares = (rows * rows).sum(axis=0) / self.n_rows
        self.trace = max(self._share * moment.trace - float(squares.sum()), 0.0)
        self.gram: Array | None = None
        if isinstance(moment, DenseMoment):
            own = sent(rows.T @ rows / self.n_rows)
            left = at_least(self._share * moment.gram - own, 0)
            there = self._there(like.xp.linalg.diagonal(left))
            self.gram = left * there[:, None] * there[None, :]
            self.diagonal = like.xp.linalg.diagonal(self.gram)
        else:
            self._rows = sent(rows / np.sqrt(self.n_rows))
            left = at_least(self._share * moment.diagonal - sent(squares), 0)
            self._used = self._there(left)
            self.diagonal = left * self._used

    def _there(self, diagonal: Array) -> Array:
        """1 for attributes of which more is left than rounding makes of nothing, 0 for others."""
        xp = array_namespace(diagonal)
        least = ROUNDING * float(xp.finfo(diagonal.dtype).eps) * self._share
        return xp.astype(diagonal > least * self._moment.diagonal, diagonal.dtype)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``, for a matrix of numbers that are not negative."""
        if self.gram is not None:
            return self.gram @ matrix
        taken = self._rows.T @ (self._rows @ matrix)
        left = at_least(self._share * self._moment.dot(matrix) - taken, 0)
        return left * self._used[:, None]

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        if self.gram is not None:
            like = backend_of(self.gram)
            return like.xp.take(self.gram, like.send(attributes), axis=1)
        backend = backend_of(self._rows)
        chosen = backend.xp.take(self._rows, backend.send(attributes), axis=1)
        left = self._share * self._moment.columns(attributes) - self._rows.T @ chosen
        used = self._used[:, None] * backend.xp.take(self._used, backend.send(attributes))[None, :]
        return at_least(left, 0) * used
