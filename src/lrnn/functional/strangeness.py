r"""How strange rows are: what a network cannot give back of them, and how far from all others.

For a row :math:`v` of evidence (`lrnn.functional.open_scale`, or the attributes themselves), what
the network gives back, :math:`\rho`, and its nearest typical rows :math:`c_i`, of which
:math:`m_i` of the :math:`k` nearest rows are taken, :math:`\sum_i m_i = k`:

.. math:: r = \sum_j (v_j - \rho_j)^2, \qquad d = \frac1k \sum_i m_i \sum_j (v_j - c_{ij})^2.

Both are sums over attributes, so whatever is made of them linearly can be told attribute by
attribute.
"""

from array_api_compat import array_namespace

from lrnn.arrays import Array, backend_of


def squared_distances(rows: Array, others: Array, known: Array | None = None) -> Array:
    """From each row to each of the others; of ``known`` cells alone, if some are not.

    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0], [0.0, 3.0]])).tolist()
    [[25.0, 0.0]]
    """
    xp = array_namespace(rows)
    if known is None:
        own = xp.sum(rows**2, axis=1)[:, None]
        length = xp.sum(others**2, axis=1)[None, :]
    else:
        rows = xp.where(known, rows, xp.zeros_like(rows))
        own = xp.sum(rows**2, axis=1)[:, None]
        length = xp.astype(known, rows.dtype) @ (others**2).T
    found = own - 2 * (rows @ others.T) + length
    return xp.maximum(found, xp.zeros_like(found))


def nearest_shares(distances: Array, counts: Array, neighbours: float) -> Array:
    """How much of each group is among the nearest ``neighbours`` rows, as shares that sum to 1.

    ``counts`` are the rows that each group stands for; if these are fewer in all, all are taken.

    >>> import numpy as np
    >>> nearest_shares(np.array([[5.0, 1.0, 2.0]]), np.array([9.0, 1.0, 1.0]), 4).tolist()
    [[0.5, 0.25, 0.25]]
    """
    xp = array_namespace(distances)
    rows, groups = distances.shape
    order = xp.argsort(distances, axis=1)
    held = xp.reshape(xp.take(counts, xp.reshape(order, (-1,)), axis=0), (rows, groups))
    before = xp.cumulative_sum(held, axis=1) - held
    total = min(float(neighbours), float(xp.sum(counts)))
    left = xp.clip(total - before, min=0)
    used = xp.minimum(left, held) / total
    back = xp.argsort(order, axis=1)  # to where they were
    where = xp.arange(rows, device=backend_of(distances).device)[:, None] * groups + back
    return xp.reshape(
        xp.take(xp.reshape(used, (-1,)), xp.reshape(where, (-1,)), axis=0), (rows, groups)
    )


def nearest_mean(distances: Array, counts: Array, neighbours: float) -> Array:
    """The mean of the distances to the nearest ``neighbours`` rows, which groups stand for.

    >>> import numpy as np
    >>> nearest_mean(np.array([[5.0, 1.0, 2.0]]), np.array([9.0, 1.0, 1.0]), 4).tolist()
    [3.25]
    """
    xp = array_namespace(distances)
    return xp.sum(distances * nearest_shares(distances, counts, neighbours), axis=1)
