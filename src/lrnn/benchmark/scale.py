"""Time against size: training on parts of the rows, and on parts of the attributes."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from lrnn.benchmark.course import Row, Step
from lrnn.benchmark.fit import warm_up
from lrnn.benchmark.peers import LRNN, Factorisation
from lrnn.benchmark.trained import Matrix

SIZES, RANGE = 6, 32  # the smallest part is a 32nd, but not too narrow for the code


def scale_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Each contender trains on ever larger parts of the rows, and of the attributes."""
    shapes = part_shapes(X.shape[0], X.shape[1], hidden, 2 if quick else SIZES)
    return [
        Step(
            contender,
            f"{rows:,} rows × {attributes:,} attributes",
            partial(_measure, contender, X, hidden, (rows, attributes), quick),
        )
        for contender in (LRNN, *peers)
        for rows, attributes in shapes
    ]


def part_shapes(rows: int, attributes: int, hidden: int, count: int) -> list[tuple[int, int]]:
    """Shapes of parts of the data, from small to large.

    >>> part_shapes(1000, 60, 15, 3)
    [(31, 60), (177, 60), (1000, 30), (1000, 42), (1000, 60)]
    """
    fewer = {(size, attributes) for size in sizes(rows, hidden, count)}
    narrower = {(rows, size) for size in sizes(attributes, 2 * hidden, count)}
    return sorted(fewer | narrower)


def sizes(whole: int, least: int, count: int) -> list[int]:
    """So many sizes up to the whole, each the same multiple of the one before."""
    low = min(max(whole / RANGE, least), whole)
    return [round(size) for size in np.geomspace(low, whole, count)]


def part(X: Matrix, shape: tuple[int, int]) -> Matrix:
    """So many rows and attributes, spread evenly over the data."""
    rows, attributes = (
        np.linspace(0, whole - 1, count).round().astype(int)
        for whole, count in zip(X.shape, shape, strict=True)
    )
    return np.ascontiguousarray(X[np.ix_(rows, attributes)])


def _measure(
    contender: Factorisation, X: Matrix, hidden: int, shape: tuple[int, int], quick: bool
) -> list[Row]:
    data = part(X, shape)
    warm_up(contender, data)
    trained = contender.train(data, hidden, contender.budget(quick))
    size = dict(zip(("rows", "attributes"), shape, strict=True))
    return [{**size, "unit": contender.unit, **trained.facts(data)}]
