"""Rows that stand for all others: centres of groups, and how many rows each group has.

They add, and take weights, as sums of rows do: those of two parts of a stream are those of both,
and what came before may count less. So many become fewer again by weighted k-means.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from lrnn.arrays import Array, Backend, Floats, to_numpy
from lrnn.functional.strangeness import nearest_shares, squared_distances

__all__ = ["TypicalRows"]

ITERATIONS = 10  # of k-means, at most
LIGHT = 1e-3  # rows: a group that has become lighter by forgetting is gone


@dataclass(frozen=True, eq=False)
class TypicalRows:
    """Groups of rows.

    Attributes
    ----------
    centres : array of shape (n_groups, n_attributes)
        Their means.
    counts : array of shape (n_groups,)
        How many rows they stand for.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.1], [0.9]])
    >>> found = TypicalRows.of(rows).condensed(2, np.random.RandomState(0))
    >>> sorted(found.centres[:, 0].round(2).tolist()), found.weight
    ([0.05, 0.9], 3.0)
    """

    centres: Array
    counts: Array

    @classmethod
    def of(cls, rows: Floats, weights: Floats | None = None) -> "TypicalRows":
        """Rows, each of which stands for itself; or as many as it weighs."""
        counts = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(rows[counts > 0], counts[counts > 0])

    def __len__(self) -> int:
        return int(self.centres.shape[0])

    @property
    def weight(self) -> float:
        """How many rows they stand for in all."""
        return float(to_numpy(self.counts).sum())

    def __add__(self, other: "TypicalRows") -> "TypicalRows":
        return TypicalRows(
            np.concatenate([self.centres, other.centres]),
            np.concatenate([self.counts, other.counts]),
        )

    def __mul__(self, factor: float) -> "TypicalRows":
        counts = self.counts * factor
        kept = counts > LIGHT if (counts > LIGHT).any() else np.ones(len(counts), bool)
        return TypicalRows(self.centres[kept], counts[kept])

    def condensed(self, most: int, random: np.random.RandomState) -> "TypicalRows":
        """At most so many, by k-means."""
        return self.grouped(most, random)[0]

    def grouped(
        self, most: int, random: np.random.RandomState
    ) -> tuple["TypicalRows", NDArray[np.intp]]:
        """At most so many, by k-means, and which of them each of these belongs to."""
        if len(self) <= most:
            return self, np.arange(len(self))
        means = KMeans(
            most,
            init="random",
            n_init=1,
            max_iter=ITERATIONS,
            random_state=random.randint(1 << 31),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # rows that are alike make fewer
            means.fit(self.centres, sample_weight=self.counts)
        counts = np.bincount(means.labels_, weights=self.counts, minlength=most)
        there = counts > 0
        number = np.cumsum(there) - 1
        found = TypicalRows(means.cluster_centers_[there], counts[there])
        return found, number[means.labels_]

    def without(
        self,
        rows: Floats,
        weights: Floats,
        groups: NDArray[np.intp],
        neighbours: float,
        counts: Floats | None = None,
    ) -> Floats:
        """The mean squared distance from each row to its neighbours, as if it were not there.

        Rows are among those of their ``groups``, with these weights. The centre of a group without
        a row is as much farther from it as the group is smaller then. Cells may count more.
        """
        apart = squared_distances(rows, self.centres, counts)
        each = np.arange(len(rows))
        held, own = self.counts[groups], np.minimum(weights, self.counts[groups])
        left = np.maximum(held - own, 0.0)
        alone = left <= LIGHT * held
        apart[each, groups] *= np.where(alone, 1.0, (held / np.where(alone, held, left)) ** 2)
        others = np.tile(self.counts, (len(rows), 1))
        others[each, groups] = np.where(alone, 0.0, left)
        nowhere = others.sum(axis=1) <= 0  # there is no other row
        others[nowhere, groups[nowhere]] = 1.0
        shares = nearest_shares(apart, others, neighbours)
        found: Floats = np.sum(apart * shares, axis=1)
        return found

    def on(self, backend: Backend, dtype: Any) -> "TypicalRows":
        """The same numbers as arrays of a backend, of this type."""
        kind = backend.xp

        def sent(host: Array) -> Array:
            return kind.astype(backend.send(to_numpy(host)), dtype)

        return TypicalRows(sent(self.centres), sent(self.counts))
