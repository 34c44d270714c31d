"""What is known of normal rows: a network that gives them back, and rows that are typical of them.

A row is strange by what the network cannot give back of it, and by how far it is from the nearest
rows; see `lrnn.functional.strangeness`. Both are known attribute by attribute.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import HOST, Array, Backend, Floats, to_numpy
from lrnn.functional import complement_decoded
from lrnn.functional.forward import complement_pairs
from lrnn.functional.open_scale import evidence_decoded, open_coded, open_evidence
from lrnn.functional.strangeness import (
    nearest_mean,
    nearest_shares,
    on_ranges_of_others,
    squared_distances,
)
from lrnn.moments.typical import TypicalRows
from lrnn.network.weights import Weights, through, widest
from lrnn.rows import Rows, attributes_of
from lrnn.training.held_out import taken

UNEXPLAINED, UNUSUAL = 1, 4  # what the two parts count: what is not given back, and the distance
NEIGHBOURS = 5  # rows, the mean distance to which is taken,
NEIGHBOURS_OF_MIXED = 20  # or so many, if some of the rows are said to be strange
MOST_OF_ALL = 1 / 3  # of the rows are neighbours
SAMPLE = 2_048  # rows of which typical ones are made, at most
CELLS = 1 << 24  # of these, at most
RANGES_MATTER = 500  # rows, up to which a single one makes a range much wider


@dataclass(frozen=True, eq=False)
class Normality:
    """A network, and typical rows, of one kind of arrays.

    Attributes
    ----------
    weights : Weights
        The network.
    typical : TypicalRows or None
        Rows that stand for all, as evidence.
    neighbours : float
        So many of the nearest rows are looked at.
    opened : bool
        Whether attributes are on an open scale.
    complemented : bool
        Whether the network is given complements beside them.
    """

    weights: Weights
    typical: TypicalRows | None
    neighbours: float
    opened: bool
    complemented: bool

    def on(self, backend: Backend) -> "Normality":
        """The same, as arrays of a backend."""
        weights = self.weights.on(backend)
        typical = None if self.typical is None else self.typical.on(backend, weights.dtype)
        return replace(self, weights=weights, typical=typical)

    @property
    def width(self) -> int:
        """The most numbers that are formed of a row."""
        return max(widest(self.weights.layers), 0 if self.typical is None else len(self.typical))

    def measured(self, rows: Rows) -> Floats:
        """For each row what is not given back, and its distance from others: of known cells."""
        here = self.on(rows.backend)
        rows = rows.of_type(here.weights.dtype)
        if rows.gaps is None:
            work = partial(_parts, here)
            found = rows.transmit(work, 2, here.weights.dtype, here.width)
            return np.asarray(to_numpy(found), dtype=np.float64)
        parts, first = [], 0
        for block in rows.blocks():
            cells = attributes_of(rows.gaps).take(slice(first, first + block.shape[0]))
            known = ~np.isnan(to_numpy(cells))
            parts.append(to_numpy(here.parts(block, rows.backend.array(known))))
            first += block.shape[0]
        return np.concatenate(parts).astype(np.float64)

    def measured_on_host(self, attributes: Floats, known: Any = None) -> Floats:
        """The same, of attributes in [0, 1] in the memory of the host; ``known`` as for `parts`."""
        coded = complement_pairs(attributes) if self.complemented else attributes
        here = self.on(HOST)
        found = here.parts(coded.astype(here.weights.dtype, copy=False), known)
        return np.asarray(found, dtype=np.float64)

    def parts(self, block: Array, known: Array | None = None) -> Array:
        """Two columns: what is not given back, and the mean of the squared distances.

        Which cells are ``known`` may be told, or how much each counts.
        """
        rows, expected = self._evidence(block)
        xp = array_namespace(rows)
        missed = (rows - expected) ** 2
        scale = None
        if known is not None:
            scale = _scale(known, rows) if known.dtype == xp.bool else None
            missed = missed * xp.astype(known, missed.dtype)
        found = [xp.sum(missed, axis=1)]
        if self.typical is None:
            found.append(xp.zeros_like(found[0]))
        else:
            apart = squared_distances(rows, self.typical.centres, known)
            found.append(nearest_mean(apart, self.typical.counts, self.neighbours))
        columns = xp.stack(found, axis=1)
        return columns if scale is None else columns * scale[:, None]

    def explained(
        self, attributes: Floats, scales: tuple[float, float], known: Any = None
    ) -> tuple[Floats, Floats]:
        """How much each attribute counts, and what was expected of it, in [0, 1].

        Contributions of a row sum to its strangeness by these ``scales``. What is expected is what
        an attribute would have to be for its own contribution to be least.
        """
        here = self.on(HOST)
        coded = complement_pairs(attributes) if self.complemented else attributes
        rows, expected = here._evidence(coded.astype(here.weights.dtype, copy=False))
        rows, expected = (np.asarray(a, dtype=np.float64) for a in (rows, expected))
        part, near = shares_of(self.typical is not None)
        counts = part / scales[0] * (rows - expected) ** 2
        middle = expected
        if here.typical is not None:
            centres = np.asarray(here.typical.centres, dtype=np.float64)
            apart = squared_distances(rows, centres, known)
            shares = nearest_shares(apart, here.typical.counts.astype(float), self.neighbours)
            mean, squares = shares @ centres, shares @ centres**2
            counts += near / scales[1] * np.maximum(rows**2 - 2 * rows * mean + squares, 0)
            pull = near / scales[1], part / scales[0]
            middle = (pull[0] * mean + pull[1] * expected) / sum(pull)
        if known is not None:
            counts = np.where(known, counts, 0.0) * np.asarray(_scale(known, rows))[:, None]
        return counts, self._from_evidence(middle)

    def _evidence(self, block: Array) -> tuple[Array, Array]:
        """Rows, and what the network gives back of them, as evidence."""
        block = block.toarray() if sparse.issparse(block) else block
        kind = self.weights.dtype
        block = array_namespace(block).astype(block, kind, copy=False)
        given = through(self.weights.layers, block)
        rows = block
        if self.complemented:
            given, rows = complement_decoded(given), block[:, : block.shape[1] // 2]
        return (open_evidence(rows), open_evidence(given)) if self.opened else (rows, given)

    def _from_evidence(self, evidence: Floats) -> Floats:
        """In [0, 1], on the scale of the data."""
        if not self.opened:
            return np.clip(evidence, 0, 1)
        return np.asarray(open_coded(evidence_decoded(evidence)))


def strangeness(parts: Floats, scales: tuple[float, float], near: bool) -> Floats:
    """One number of both parts: 1 for a row both parts of which are as usual."""
    each = shares_of(near)
    found: Floats = parts @ np.array([each[0] / scales[0], each[1] / scales[1]])
    return found


def shares_of(near: bool) -> tuple[float, float]:
    """What the two parts count; without typical rows there is one."""
    total = UNEXPLAINED + UNUSUAL
    return (UNEXPLAINED / total, UNUSUAL / total) if near else (1.0, 0.0)


def neighbours_for(asked: Any, contamination: Any, rows: float) -> float:
    """How many of so many rows are neighbours."""
    if asked != "auto":
        return float(asked)
    if contamination == "auto":
        return NEIGHBOURS
    most = max(NEIGHBOURS, ceil(MOST_OF_ALL * rows))
    return float(min(max(NEIGHBOURS_OF_MIXED, ceil(contamination * rows)), most))


@dataclass(frozen=True, eq=False)
class Grouped:
    """Typical rows, and the rows of attributes that they were made of.

    Attributes
    ----------
    typical : TypicalRows
        They stand for all rows that weigh anything.
    numbers : ndarray of int
        The numbers of a sample of all rows, from 0.
    rows : ndarray
        These, as evidence.
    weights : ndarray
        How many rows each of them stands for.
    groups : ndarray of int
        The typical row of each.
    """

    typical: TypicalRows
    numbers: NDArray[np.intp]
    rows: Floats
    weights: Floats
    groups: NDArray[np.intp]

    @classmethod
    def of(
        cls, own: Rows, weights: Floats, most: int, opened: bool, random: np.random.RandomState
    ) -> "Grouped":
        """At most so many typical rows, of a sample of rows of attributes."""
        numbers = np.flatnonzero(weights)
        size = min(len(numbers), SAMPLE, max(2, CELLS // own.shape[1]))
        if size < len(numbers):
            numbers = np.sort(random.permutation(numbers)[:size])
        cells = as_evidence(np.concatenate([*taken(own, numbers)]), opened)
        each = weights[numbers] * (weights.sum() / weights[numbers].sum())
        typical, groups = TypicalRows.of(cells, each).grouped(min(most, ceil(size / 2)), random)
        return cls(typical, numbers, cells, each, groups)

    def measured(
        self, neighbours: float, opened: bool, known: NDArray[np.bool_] | None
    ) -> tuple[Floats, Floats | None]:
        """Distances of the sampled rows from their neighbours, each as if it were not there.

        Of rows that are there several times one is left out. On an open scale ranges are those of
        the others; how much more cells count by that is returned, too. Known cells alone count.
        """
        once = np.minimum(self.weights, max(1.0, float(self.weights.min())))
        if known is not None:
            own = known[self.numbers]
            apart = self.typical.without(
                self.rows, once, self.groups, neighbours, own.astype(np.float64)
            )
            return apart * np.asarray(_scale(own, self.rows)), None
        rows, counts = self.rows, None
        if opened and len(rows) <= RANGES_MATTER:
            rows, counts = on_ranges_of_others(rows, self.weights <= once)
        return self.typical.without(rows, once, self.groups, neighbours, counts), counts


def as_evidence(attributes: Floats, opened: bool) -> Floats:
    """Attributes in [0, 1] as evidence."""
    return np.asarray(open_evidence(attributes)) if opened else attributes


def _parts(normality: Normality, block: Array) -> Array:
    return normality.parts(block)


def _scale(known: Any, rows: Array) -> Array:
    """By which sums over known cells stand for those over all; 0 where none is known."""
    xp = array_namespace(rows)
    count = xp.sum(xp.astype(known, rows.dtype), axis=1)
    return xp.where(count > 0, known.shape[1] / xp.maximum(count, xp.ones_like(count)), 0 * count)


def without_a_known_cell(rows: Rows) -> NDArray[np.intp]:
    """The numbers, from 0, of rows of which nothing is known."""
    if rows.gaps is None:
        return np.empty(0, dtype=np.intp)
    cells = to_numpy(attributes_of(rows.gaps).take(slice(None)))
    return np.flatnonzero(np.isnan(cells).all(axis=1))
