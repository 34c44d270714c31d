"""Errors on entries that were held out, for networks of several widths from one second moment.

A network that sees all of a row can only become better with its width. What tells how many parts
the data are made of is how well entries are foretold that it does not see: rows are held out of
training, and in these some attributes. Codes come from the other attributes alone, and what the
parts make of them is compared with those that were left out.

All widths share one moment, that of all rows, less the rows that are held out. As an encoder's
codes bind its decoder, the parts are improved a little for codes of their own, on some of the rows,
before they are put to the test.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array, Floats, to_numpy
from lrnn.functional import descend_decoder, refined_codes
from lrnn.moments import MomentWithout, SecondMoment
from lrnn.rows import Rows
from lrnn.training.anchors import find_anchors
from lrnn.training.gram import GramSearch, starts
from lrnn.training.run import Run

PARTS = 5  # of the rows that are looked at, and of the attributes: one is held out
SAMPLE = 2_500  # rows that are looked at, at most; others are only in the moment
CELLS = 1 << 25  # of these, at most
ALTERNATIONS = 50  # of codes and parts
SWEEPS = 2  # over either
LAST_SWEEPS = 50  # over codes of rows that are held out


@dataclass(frozen=True)
class Sample:
    """Rows in the memory of the host, in random order, and in parts."""

    rows: Floats
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, random: np.random.RandomState) -> "Sample":
        """A sample of some rows, or all of them."""
        count = rows.shape[0]
        size = min(count, SAMPLE, max(2 * PARTS, CELLS // rows.shape[1]))
        numbers = random.permutation(count)[:size]
        found = np.concatenate([*taken(rows, np.sort(numbers))])
        order = np.argsort(np.argsort(numbers))
        bounds = np.linspace(0, size, min(PARTS, size) + 1).astype(np.int64)
        return cls(found[order], bounds)

    def split(self, part: int) -> tuple[Floats, Floats]:
        """A part, and the others."""
        first, last = [*pairwise(self.bounds)][part]
        return self.rows[first:last], np.r_[self.rows[:first], self.rows[last:]]


def taken(rows: Rows, numbers: NDArray[np.int64]) -> Iterator[Floats]:
    """Rows of these numbers, which ascend, as float64 of the host."""
    if rows.in_any_order:
        yield _dense(rows.take(rows.backend.array(numbers)))
        return
    first = 0
    for block in rows.blocks():
        here = numbers[(numbers >= first) & (numbers < first + block.shape[0])] - first
        if len(here):
            yield _dense(block[rows.backend.array(here)])
        first += block.shape[0]


def _dense(block: Array) -> Floats:
    full = block.toarray() if sparse.issparse(block) else to_numpy(block)
    return np.asarray(full, dtype=np.float64)


def held_out_errors(
    moment: SecondMoment,
    sample: Sample,
    widths: Sequence[int],
    folds: int,
    run: Run,
    reached: Callable[[int], None],
    complemented: bool = False,
) -> Floats:
    """Errors of rows that are held out (one line for each), for every width.

    ``run`` is that of a network of any width; ``reached`` is told of every one that is done.
    """
    groups = column_groups(moment.n_attributes, run.random, complemented)
    found = []
    for fold in range(folds):
        test, others = sample.split(fold)
        left = MomentWithout(moment, test)
        anchors = find_anchors(left, max(widths))
        errors = np.empty((len(test), len(widths)))
        for i, width in enumerate(widths):
            search = GramSearch(starts(left, width, run, anchors), run)
            if run.train(search, f"width {width}") == "interrupted":
                raise KeyboardInterrupt
            parts = improved_parts(others, to_numpy(search.best.state.decoder))
            errors[:, i] = entry_errors(test, parts, groups)
            reached(width)
        found.append(errors)
    return np.concatenate(found)


def improved_parts(rows: Floats, decoder: Array) -> Floats:
    """Parts that fit ``rows`` better, with codes of any kind."""
    parts = unit_lengths(decoder.astype(np.float64))
    codes = refined_codes(rows, parts, None, 10, upper=None)
    for _ in range(ALTERNATIONS):
        parts = unit_lengths(descend_decoder(codes.T @ rows, codes.T @ codes, parts, SWEEPS))
        codes = refined_codes(rows, parts, codes, SWEEPS, upper=None)
    return parts


def unit_lengths(decoder: Floats) -> Floats:
    """Rows of length 1, or 0."""
    lengths = np.linalg.norm(decoder, axis=1, keepdims=True)
    found: Floats = decoder / np.where(lengths > 0, lengths, 1)
    return found


def column_groups(
    inputs: int, random: np.random.RandomState, complemented: bool = False
) -> list[NDArray[np.int64]]:
    """Inputs at random in groups, each of which is left out once; a complement with its attribute.

    >>> [*map(len, column_groups(7, np.random.RandomState(0)))]
    [2, 2, 2, 1]
    >>> column_groups(4, np.random.RandomState(0), complemented=True)
    [array([1, 3]), array([0, 2])]
    """
    if complemented:
        groups = column_groups(inputs // 2, random)
        return [np.concatenate([group, group + inputs // 2]) for group in groups]
    attributes = inputs
    order = random.permutation(attributes)
    size = ceil(attributes / PARTS)
    return [np.sort(order[i : i + size]) for i in range(0, attributes, size)]


def entry_errors(rows: Floats, decoder: Floats, groups: Sequence[NDArray[np.int64]]) -> Floats:
    """Mean squared error of each row's entries, each foretold from those of the other groups."""
    total = np.zeros(len(rows))
    for group in groups:
        seen = np.setdiff1d(np.arange(rows.shape[1]), group)
        codes = refined_codes(
            np.ascontiguousarray(rows[:, seen]),
            np.ascontiguousarray(decoder[:, seen]),
            None,
            LAST_SWEEPS,
            upper=None,
        )
        missed = np.minimum(codes @ decoder[:, group], 1) - rows[:, group]
        total += (missed**2).sum(axis=1)
    found: Floats = total / rows.shape[1]
    return found
