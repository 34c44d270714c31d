"""Initial weights."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike

from lrnn.functional import adjust_rows
from lrnn.training.result import Weights
from lrnn.typing import Array


def random_weights(
    sizes: Sequence[int], random: np.random.RandomState, dtype: DTypeLike = np.float64
) -> Weights:
    """Uniform random weights that satisfy the paper's constraints, for layers of these sizes.

    Examples
    --------
    >>> weights = random_weights([4, 2], np.random.RandomState(0))
    >>> [w.shape for w in weights.layers]
    [(4, 2), (2, 4)]
    >>> bool((weights.decoders[0].sum(axis=1) <= 1 + 1e-12).all())
    True
    """

    def matrix(rows: int, columns: int) -> Array:
        return adjust_rows(random.uniform(size=(rows, columns)).astype(dtype))

    return Weights(
        tuple(matrix(rows, columns) for rows, columns in pairwise(sizes)),
        tuple(matrix(rows, columns) for rows, columns in pairwise(reversed(sizes))),
    )
