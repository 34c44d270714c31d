"""Initial weights."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lrnn.arrays import Array, weights_for
from lrnn.functional import adjust_rows
from lrnn.training.result import Weights

NUMBERS = np.empty(0)


def random_weights(
    sizes: Sequence[int], random: np.random.RandomState, inputs: Any = NUMBERS
) -> Weights:
    """Uniform random weights that satisfy the paper's constraints, for layers of these sizes.

    They are arrays of the kind and type of ``inputs``.

    Examples
    --------
    >>> weights = random_weights([4, 2], np.random.RandomState(0))
    >>> [w.shape for w in weights.layers]
    [(4, 2), (2, 4)]
    >>> bool((weights.decoders[0].sum(axis=1) <= 1 + 1e-12).all())
    True
    """

    def matrix(rows: int, columns: int) -> Array:
        return adjust_rows(weights_for(inputs, random.uniform(size=(rows, columns))))

    return Weights(
        tuple(matrix(rows, columns) for rows, columns in pairwise(sizes)),
        tuple(matrix(rows, columns) for rows, columns in pairwise(reversed(sizes))),
    )
