"""Reconstruction errors."""

from array_api_compat import array_namespace
from scipy import sparse

from lrnn.typing import Array


def squared_error(inputs: Array, outputs: Array) -> Array:
    """Sum of squared differences, a number of float64; ``inputs`` may be sparse.

    A row's sum is taken in the precision of the arrays, and the rows' are added up in float64.

    Examples
    --------
    >>> import numpy as np
    >>> float(squared_error(np.array([[0.0, 1.0]]), np.array([[0.5, 1.0]])))
    0.25
    """
    if sparse.issparse(inputs):
        inputs = sparse.csr_array(inputs)
    difference = inputs - outputs
    xp = array_namespace(outputs)
    return xp.sum(xp.vecdot(difference, difference), dtype=xp.float64)
