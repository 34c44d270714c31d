"""Some of the rows of a stream, such that their second moment is that of all, on average.

Each row gets a priority: its weight over a random number between 0 and 1. Those with the highest
ones are kept, as many as there is room for. With the highest priority of those that were not kept
as the least weight of those that are, sums over these are unbiased estimates of sums over all
(priority sampling: Duffield, Lund & Thorup, 2007). While there is room for all, they are exact.
"""

from dataclasses import dataclass, replace
from math import exp, inf, log
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, Backend, Floats, backend_of, is_array, like, take_rows, to_numpy
from lrnn.functional import column_sums
from lrnn.rows import Rows, WeightedRows, held

ROOM = 1 << 18  # numbers that are kept: nonzero ones of sparse rows


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Rows that are kept of those that came.

    Attributes
    ----------
    matrix : array or csr_array
        The rows.
    logs, priorities : ndarray
        Logarithms of their weights, at the time when they came, and of their priorities.
    least : float
        The logarithm of the highest priority of those that are gone.
    now : float
        The logarithm of the weight of a row that comes now.
    weight : float
        What all rows weigh that came, also those that are gone.
    columns, high : ndarray
        Sums of their columns, with these weights, and the highest numbers in them.
    """

    matrix: Any
    logs: Floats
    priorities: Floats
    weight: float
    columns: Floats
    high: Floats
    least: float = -inf
    now: float = 0.0

    @classmethod
    def begin(cls, rows: Rows) -> "Reservoir":
        """One without rows, for such as these."""
        nothing, zeros = np.zeros(0), np.zeros(rows.shape[1])
        return cls(_none(next(iter(rows.blocks()))), nothing, nothing, 0.0, zeros, zeros)

    def after(self, rows: Rows, forget: float | None, random: np.random.RandomState) -> "Reservoir":
        """With more rows, after which those before weigh less, by half after ``forget`` rows."""
        older = rows.weight * log(2) / forget if forget else 0.0
        share = exp(-older)
        found = replace(
            self, now=self.now + older, weight=self.weight * share, columns=self.columns * share
        )
        weights = rows.of_rows
        seen = 0
        for block in rows.blocks():
            own = None if weights is None else weights[seen : seen + block.shape[0]]
            seen += block.shape[0]
            if own is not None and not own.all():  # rows without any weight are not there
                there = np.flatnonzero(own)
                block, own = take_rows(block, there), own[there]
            found = found._with(block, own, random) if block.shape[0] else found
        return found

    def _with(
        self, block: Any, weights: Floats | None, random: np.random.RandomState
    ) -> "Reservoir":
        count = block.shape[0]
        here = like(block, weights) if weights is not None and is_array(block) else weights
        found = replace(
            self,
            weight=self.weight + (count if weights is None else float(weights.sum())),
            columns=self.columns + to_numpy(column_sums(block, _wide(block), here)),
            high=np.maximum(self.high, _highest(block)),
        )
        own = np.full(count, self.now) + (0.0 if weights is None else np.log(weights))
        logs = np.concatenate([self.logs, own])
        drawn = own - np.log1p(-random.random_sample(count))
        priorities = np.concatenate([self.priorities, drawn])
        matrix = _stacked(self.matrix, block)
        order = np.argsort(-priorities, kind="stable")
        room = max(1, int(np.searchsorted(np.cumsum(_cells(matrix)[order]), ROOM, side="right")))
        if room >= len(order):
            return replace(found, matrix=matrix, logs=logs, priorities=priorities)
        least = max(self.least, float(priorities[order[room]]))
        kept = np.sort(order[:room])
        return replace(
            found, matrix=take_rows(matrix, kept), logs=logs[kept], priorities=priorities[kept],
            least=least,
        )  # fmt: skip

    def weighted(self, dtype: Any) -> Rows:
        """The rows, with the weights that make their sums those of all."""
        weights = np.exp(np.maximum(self.logs, self.least) - self.now)
        return WeightedRows(held(self.matrix).of_type(dtype), weights)

    def on(self, backend: Backend) -> "Reservoir":
        """The same, as arrays of a backend; sparse ones remain what they are."""
        if not is_array(self.matrix) or backend_of(self.matrix) == backend:
            return self
        return replace(self, matrix=backend.send(self.matrix))


def _none(block: Any) -> Any:
    return block[:0] if sparse.issparse(block) else block[:0, ...]


def _stacked(one: Any, other: Any) -> Any:
    if sparse.issparse(other):
        return sparse.csr_array(sparse.vstack([one, other]))
    return array_namespace(other).concat([one, other])


def _cells(matrix: Array) -> Any:
    """How many numbers each row has."""
    if sparse.issparse(matrix):
        return np.diff(matrix.indptr)
    return np.full(matrix.shape[0], matrix.shape[1])


def _wide(block: Any) -> Any:
    return np.float64 if sparse.issparse(block) else array_namespace(block).float64


def _highest(block: Any) -> Floats:
    if sparse.issparse(block):
        return np.asarray(block.max(axis=0).toarray(), dtype=np.float64).reshape(-1)
    return to_numpy(array_namespace(block).max(block, axis=0)).astype(np.float64)
