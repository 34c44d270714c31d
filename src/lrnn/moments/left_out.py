"""The second moment of all rows but some, from that of all: moments subtract."""

from typing import Any

import numpy as np

from lrnn.arrays import Array, Floats, at_least, backend_of, host_dtype
from lrnn.moments.dense import DenseMoment
from lrnn.moments.second_moment import SecondMoment


class MomentWithout(SecondMoment):
    """What is left of a moment without some of its rows, which are in the memory of the host.

    No number is below 0, which rounding might make of one that is 0.
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
            self.gram = at_least(self._share * moment.gram - own, 0)
            self.diagonal = like.xp.linalg.diagonal(self.gram)
        else:
            self._rows = sent(rows / np.sqrt(self.n_rows))
            self.diagonal = at_least(self._share * moment.diagonal - sent(squares), 0)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``, for a matrix of numbers that are not negative."""
        if self.gram is not None:
            return self.gram @ matrix
        taken = self._rows.T @ (self._rows @ matrix)
        return at_least(self._share * self._moment.dot(matrix) - taken, 0)

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        if self.gram is not None:
            like = backend_of(self.gram)
            return like.xp.take(self.gram, like.send(attributes), axis=1)
        backend = backend_of(self._rows)
        chosen = backend.xp.take(self._rows, backend.send(attributes), axis=1)
        left = self._share * self._moment.columns(attributes) - self._rows.T @ chosen
        return at_least(left, 0)
