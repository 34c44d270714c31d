"""Time against size: training on parts of the rows, and on parts of the attributes."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from lrnn.benchmark.course import Row, Step, fastest
from lrnn.benchmark.fit import warm_up
from lrnn.benchmark.peers import LRNN, Factorisation
from lrnn.benchmark.trained import Matrix, Trained

SIZES = 6  # at most, each half of the one before


def scale_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Each contender trains on ever larger parts of the rows, and of the attributes."""
    parts = halves(*X.shape, hidden, 2 if quick else SIZES)
    return [
        Step(
            contender,
            f"{rows:,} rows × {attributes:,} attributes",
            partial(_measure, contender, X, hidden, rows, attributes, quick),
        )
        for contender in (LRNN, *peers)
        for rows, attributes in parts
    ]


def halves(rows: int, attributes: int, hidden: int, most: int) -> list[tuple[int, int]]:
    """Shapes of parts of the data, none narrower than the code, from small to large.

    >>> halves(1000, 60, 16, 3)
    [(250, 60), (500, 60), (1000, 30), (1000, 60)]
    """
    shapes = {(rows, attributes)}
    for i in range(1, most):
        shapes |= {(rows >> i, attributes), (rows, attributes >> i)}
    return sorted(shape for shape in shapes if min(shape) >= hidden or shape == (rows, attributes))


def part(X: Matrix, rows: int, attributes: int) -> Matrix:
    """So many rows and attributes, spread evenly over the data."""
    places = (
        np.linspace(0, whole - 1, count).round().astype(int)
        for whole, count in zip(X.shape, (rows, attributes), strict=True)
    )
    return np.ascontiguousarray(X[np.ix_(*places)])


def _measure(
    contender: Factorisation, X: Matrix, hidden: int, rows: int, attributes: int, quick: bool
) -> list[Row]:
    data = part(X, rows, attributes)
    warm_up(contender, data)
    models: list[Trained] = []

    def train() -> tuple[float, float]:
        models[:] = [contender.train(data, hidden, contender.budget(quick))]
        return 1, models[0].seconds

    _, seconds = fastest(train)
    return [
        {
            "rows": rows,
            "attributes": attributes,
            "iterations": models[0].iterations,
            "unit": contender.unit,
            "seconds": seconds,
            "error": models[0].error(data),
        }
    ]
