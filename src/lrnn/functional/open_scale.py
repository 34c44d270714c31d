r"""A scale on which no number is beyond the ends, and how strange it is to be far out on it.

Where a number stands in the range of training is :math:`z`: 0 is the lowest, 1 the highest. With
:math:`t = z - 1/2` it becomes

.. math:: u = \tfrac12 + \tfrac t2 \quad (|t| \le \tfrac12), \qquad
          u = \tfrac12 \pm \left(\tfrac12 - \tfrac1{8|t|}\right) \quad \text{beyond},

which is smooth, increasing, and in [0, 1]: the range becomes [1/4, 3/4], and what is beyond it is
not cut off. Evidence is z again, but beyond the range it grows as the logarithm of the distance,
:math:`\tfrac12 + \tfrac12 \ln 2|t|` in place of :math:`|t|`: one absurd cell is seen among
hundreds of others, and does not drown all that is said by them.
"""

from array_api_compat import array_namespace

from lrnn.arrays import Array, host_dtype

HALF, SLOPE = 0.5, 0.5  # of the range; of u inside it


def open_coded(positions: Array) -> Array:
    """Positions in the range, of which 0 and 1 are the ends, as numbers in [0, 1].

    >>> import numpy as np
    >>> open_coded(np.array([0.0, 0.5, 1.0, 1.5])).tolist()
    [0.25, 0.5, 0.75, 0.875]
    """
    xp = array_namespace(positions)
    t = positions - HALF
    far = xp.abs(t)
    beyond = xp.sign(t) * (HALF - 1 / (8 * xp.maximum(far, xp.full_like(far, HALF))))
    return HALF + xp.where(far <= HALF, SLOPE * t, beyond)


def open_decoded(coded: Array) -> Array:
    """What `open_coded` was given; infinity is as far as numbers of this type can tell.

    >>> import numpy as np
    >>> open_decoded(open_coded(np.array([-7.0, 0.25, 3.0]))).round(9).tolist()
    [-7.0, 0.25, 3.0]
    """
    xp = array_namespace(coded)
    side, far = _side_and_distance(coded)
    return HALF + xp.sign(side) * far


def open_evidence(coded: Array) -> Array:
    """Positions in the range, beyond which they grow as the logarithm of the distance.

    >>> import numpy as np
    >>> open_evidence(open_coded(np.array([0.25, 1.0, 1000.0]))).round(2).tolist()
    [0.25, 1.0, 4.8]
    """
    xp = array_namespace(coded)
    side, far = _side_and_distance(coded)
    beyond = HALF + HALF * xp.log(xp.maximum(2 * far, xp.ones_like(far)))
    return HALF + xp.sign(side) * xp.where(far <= HALF, far, beyond)


def evidence_decoded(evidence: Array) -> Array:
    """Positions of which `open_evidence` is this.

    >>> import numpy as np
    >>> evidence_decoded(open_evidence(open_coded(np.array([0.25, 40.0])))).round(6).tolist()
    [0.25, 40.0]
    """
    xp = array_namespace(evidence)
    side = evidence - HALF
    far = xp.abs(side)
    beyond = HALF * xp.exp(2 * (xp.maximum(far, xp.full_like(far, HALF)) - HALF))
    return HALF + xp.sign(side) * xp.where(far <= HALF, far, beyond)


def _side_and_distance(coded: Array) -> tuple[Array, Array]:
    """How far positions are from the middle of the range, and to which side."""
    xp = array_namespace(coded)
    side = coded - HALF
    far = xp.abs(side)
    least = float(_smallest(coded))
    left = xp.maximum(HALF - far, xp.full_like(far, least))
    return side, xp.where(far <= HALF * SLOPE, far / SLOPE, 1 / (8 * left))


def _smallest(coded: Array) -> float:
    """By what numbers just below 1 differ."""
    import numpy as np

    return float(np.finfo(host_dtype(coded.dtype)).eps) / 2
