"""Reconstruction errors."""

from array_api_compat import array_namespace
from scipy import sparse

from lrnn.typing import Array


def squared_error(inputs: Array, outputs: Array) -> float:
    """Sum of squared differences, in the precision of the arrays; ``inputs`` may be sparse.

    Examples
    --------
    >>> import numpy as np
    >>> squared_error(np.array([[0.0, 1.0]]), np.array([[0.5, 1.0]]))
    0.25
    """
    if sparse.issparse(inputs):
        inputs = sparse.csr_array(inputs)
    difference = inputs - outputs
    return float(array_namespace(outputs).sum(difference * difference))
