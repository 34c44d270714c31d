"""Steps of several descents at once, on the host: what they have in common is done for all.

Each descent's step is that of :class:`lrnn.training.gram.GramDescent`, but for rounding. Products
with G are taken of all encoders side by side, and what a call of NumPy costs is paid once for all.
A part of the descents goes to each thread, if there is enough to do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lrnn.arrays import Array
from lrnn.functional import descend_decoders, extrapolate, multiply
from lrnn.moments import SecondMoment
from lrnn.rows.blas import threads_for, workers

Thing = TypeVar("Thing")
Found = TypeVar("Found")
Stack = Array  # of NumPy: a matrix of each descent, or a number
Which = Array  # numbers of descents


@dataclass(frozen=True)
class Pace:
    """How descents step; see :mod:`lrnn.training.gram`."""

    sweeps: int
    relaxation: float
    growth: float
    limit: float


@dataclass
class Stacked:
    """Encoders, decoders and what belongs to them, of several descents."""

    encoders: Stack
    decoders: Stack
    products: Stack
    errors: Stack
    before: Stack | None
    momenta: Stack

    @np.errstate(over="ignore", invalid="ignore")
    def step(self, moment: SecondMoment, pace: Pace) -> None:
        """Go on to lower errors, where there are any: what overflows has none, and is not taken."""
        wanted = _times(moment, _transposed(self.decoders))
        given = self.products @ (self.decoders @ _transposed(self.decoders))
        bold = multiply(self.encoders, wanted, given, pace.relaxation)
        left = np.arange(len(self.errors))
        if self.before is not None:
            momenta = self.momenta.astype(bold.dtype)[:, None, None]
            left = self._try(moment, pace, extrapolate(bold, self.before, momenta), left)
            grown = np.minimum(self.momenta * pace.growth, pace.limit)
            grown[left] = self.momenta[left] / 2
            self.momenta = grown
        self.before = bold
        if len(left):
            left = self._try(moment, pace, bold[left], left)
        if len(left):
            plain = multiply(self.encoders[left], wanted[left], given[left])
            self._try(moment, pace, plain, left)

    def _try(self, moment: SecondMoment, pace: Pace, encoders: Stack, which: Which) -> Which:
        """Take those that lower the errors; tell which descents are left."""
        every = len(which) == len(self.errors)
        products = _times(moment, encoders)
        target = np.ascontiguousarray(_transposed(products))
        gram = _transposed(encoders) @ products
        decoders = self.decoders if every else self.decoders[which]
        decoders = descend_decoders(target, gram, decoders, pace.sweeps)
        linear = _sums(target, decoders)
        square = _sums(gram, decoders @ _transposed(decoders))
        errors = np.maximum(moment.trace + square - 2 * linear, 0.0) / moment.n_attributes
        lower = errors < (self.errors if every else self.errors[which])
        if every and lower.all():
            self.encoders, self.products, self.decoders = encoders, products, decoders
            self.errors = errors
            return which[:0]
        taken = which[lower]
        if len(taken):
            # what was given stays as it was: others may hold it
            for name, found in (
                ("encoders", encoders),
                ("products", products),
                ("decoders", decoders),
                ("errors", errors),
            ):
                whole = getattr(self, name).copy(order="K")
                whole[taken] = found[lower]
                setattr(self, name, whole)
        return which[~lower]


def can_be_together(moment: SecondMoment) -> bool:
    """Whether G is a matrix of NumPy, or a sketch of one, and inputs are not corrupted."""
    host = isinstance(moment.diagonal, np.ndarray)
    return host and moment.kind in ("dense", "sketched") and not moment.corrupted


def side_by_side(matrices: Sequence[Array]) -> Stack:
    """A stack of matrices whose rows are beside each other in memory, as one product gives them."""
    width, hidden = matrices[0].shape
    whole = np.concatenate(matrices, axis=1)
    return whole.reshape(width, len(matrices), hidden).transpose(1, 0, 2)


def each_in_a_thread(
    work: Callable[[Thing], Found], things: Sequence[Thing], multiplications: float
) -> list[Found]:
    """What work makes of each, at the same time if so many multiplications are worth it."""
    count = min(threads_for(multiplications), len(things))
    if count < 2:
        return [work(thing) for thing in things]
    with workers(count) as pool:
        return list(pool.map(work, things))


def _transposed(stack: Stack) -> Stack:
    return stack.transpose(0, 2, 1)


def _times(moment: SecondMoment, stack: Stack) -> Stack:
    """G times each of them, in one product."""
    count, width, hidden = stack.shape
    beside = stack.transpose(1, 0, 2).reshape(width, count * hidden)
    return moment.dot(beside).reshape(width, count, hidden).transpose(1, 0, 2)


def _sums(one: Stack, other: Stack) -> Stack:
    """Of the products of two matrices' cells."""
    return np.sum(one * other, axis=(1, 2), dtype=np.float64)
