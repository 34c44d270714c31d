r"""How strange rows are: what a network cannot give back of them, and how far from all others.

For a row :math:`v` of evidence (`lrnn.functional.open_scale`, or the attributes themselves), what
the network gives back, :math:`\rho`, and its nearest typical rows :math:`c_i`, of which
:math:`m_i` of the :math:`k` nearest rows are taken, :math:`\sum_i m_i = k`:

.. math:: r = \sum_j (v_j - \rho_j)^2, \qquad d = \frac1k \sum_i m_i \sum_j (v_j - c_{ij})^2.

Both are sums over attributes, so whatever is made of them linearly can be told attribute by
attribute.
"""

from math import ceil, log

import numpy as np
from array_api_compat import array_namespace, is_numpy_array

from lrnn.arrays import Array, Floats, backend_of

ROUNDING = 1e-6
LEAST_RANGE = 1e-3  # of the range of all, below which that of the others is no scale


def squared_distances(rows: Array, others: Array, counts: Array | None = None) -> Array:
    """From each row to each of the others; each cell of the rows may count more, less, or nothing.

    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0], [0.0, 3.0]])).tolist()
    [[25.0, 0.0]]
    """
    xp = array_namespace(rows)
    if counts is None:
        cells, length = rows, xp.sum(others**2, axis=1)[None, :]
    else:
        counts = xp.astype(counts, rows.dtype)
        cells, length = counts * rows, counts @ (others**2).T
    found = xp.sum(cells * rows, axis=1)[:, None] - 2 * (cells @ others.T) + length
    return xp.maximum(found, xp.zeros_like(found))


def nearest_shares(distances: Array, counts: Array, neighbours: float) -> Array:
    """How much of each group is among the nearest ``neighbours`` rows, as shares that sum to 1.

    ``counts`` are the rows that each group stands for, or (in a row of them for each) stands for
    besides that row; if these are fewer in all, all are taken.

    >>> import numpy as np
    >>> nearest_shares(np.array([[5.0, 1.0, 2.0]]), np.array([9.0, 1.0, 1.0]), 4).tolist()
    [[0.5, 0.25, 0.25]]
    """
    xp = array_namespace(distances)
    rows, groups = distances.shape
    order = xp.argsort(distances, axis=1)
    first = xp.arange(rows, device=backend_of(distances).device)[:, None] * groups
    held = _picked(counts, order if counts.ndim == 1 else first + order)
    before = xp.cumulative_sum(held, axis=1) - held
    used = xp.minimum(xp.clip(neighbours - before, min=0), held)
    used = used / xp.sum(used, axis=1)[:, None]
    return _picked(used, first + xp.argsort(order, axis=1))  # back to where they were


def _picked(numbers: Array, where: Array) -> Array:
    """Numbers at these places of all of them, one after the other."""
    xp = array_namespace(numbers)
    flat = xp.take(xp.reshape(numbers, (-1,)), xp.reshape(where, (-1,)), axis=0)
    return xp.reshape(flat, where.shape)


def nearest_mean(distances: Array, counts: Array, neighbours: float) -> Array:
    """The mean of the distances to the nearest ``neighbours`` rows, which groups stand for.

    >>> import numpy as np
    >>> nearest_mean(np.array([[5.0, 1.0, 2.0]]), np.array([9.0, 1.0, 1.0]), 4).tolist()
    [3.25]
    """
    xp = array_namespace(distances)
    enough = ceil(min(neighbours / float(xp.min(counts)), distances.shape[1]))
    if enough == 1:  # the smallest group has as many
        return xp.min(distances, axis=1)
    if not is_numpy_array(distances) or 2 * enough > distances.shape[1]:
        return xp.sum(distances * nearest_shares(distances, counts, neighbours), axis=1)
    groups = np.argpartition(distances, enough - 1, axis=1)[:, :enough]
    near = np.take_along_axis(distances, groups, axis=1)
    order = np.argsort(near, axis=1)
    near, held = np.take_along_axis(near, order, 1), np.take_along_axis(counts[groups], order, 1)
    used = np.clip(neighbours - (np.cumsum(held, axis=1) - held), 0, held)
    return np.vecdot(near, used.astype(near.dtype)) / used.sum(axis=1).astype(near.dtype)


def on_ranges_of_others(rows: Floats, alone: Array) -> tuple[Floats, Floats]:
    """Rows of evidence, each as it would be on the scale that the ranges of all others make.

    On that scale other rows are stretched around it, too: with what is returned, `rows` and
    ``counts``, squared distances are ``counts`` times those of `rows` on the scale of all. Rows
    that are not ``alone`` (there are others like them) change no range.

    >>> rows = np.array([[0.0], [0.5], [0.75], [1.0]])
    >>> own, counts = on_ranges_of_others(rows, np.ones(4, bool))
    >>> counts[:, 0].tolist()  # the range without the first is half as wide
    [4.0, 1.0, 1.0, 1.7777777777777777]
    """
    found, counts = rows.copy(), np.ones_like(rows)
    if len(rows) < 3:
        return found, counts
    for column in range(rows.shape[1]):
        cells = np.sort(rows[:, column])
        if abs(cells[0]) > ROUNDING or abs(cells[-1] - 1) > ROUNDING:
            continue  # its range is another one
        for end, next_one, other in ((0, cells[1], 1.0), (1, cells[-2], 0.0)):
            row = int(np.argmin(np.abs(rows[:, column] - end)))
            width = abs(other - next_one)
            if abs(next_one - end) < ROUNDING or not alone[row] or width < LEAST_RANGE:
                continue
            beyond = abs(next_one - end) / width  # of the others' range
            far = 0.5 * log(1 + 2 * beyond)
            found[row, column] = next_one + (end - next_one) / beyond * far
            counts[row, column] = 1 / width**2
    return found, counts
