r"""The forward pass: how excitation travels through a feed-forward network, and what it misses.

With effective weights :math:`A^+` (and, for the full random neural network, :math:`A^-`)
between consecutive layers, the probability that a neuron is excited is (eqs. 3, 4, 8)

.. math:: q_l = \min\left(\frac{q_{l-1} A^+_l}{1 + q_{l-1} A^-_l},\, 1\right),
          \qquad q_0 = \min(x, 1).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, Layer, at_most


def saturate(drive: Array) -> Array:
    """``min(drive, 1)``, element by element; sparse arrays stay sparse.

    Parameters
    ----------
    drive : array or sparse matrix
        Nonnegative numbers.

    Returns
    -------
    activations : array of the same shape
        From 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> saturate(np.array([0.5, 2.0]))
    array([0.5, 1. ])
    """
    if sparse.issparse(drive):
        return drive.minimum(drive.dtype.type(1))  # SciPy < 1.16 takes 1 for an int64
    return at_most(drive, 1)


def complement_coded(inputs: Array) -> Array:
    r"""Every attribute x beside 1 − x: what is there, and what is missing.

    A network of excitation alone from its inputs has no bias, and sees an attribute that is small
    only by what others are. With :math:`(x, 1 - x)`, known as complement coding, all rows drive it
    alike. ``LRNNAutoencoder(complement=True)`` and ``LRNNClassifier(complement=True)`` see their
    data so; before another estimator use
    ``sklearn.preprocessing.FunctionTransformer(complement_coded)``.

    Parameters
    ----------
    inputs : array or sparse matrix of shape (n_rows, n_attributes)
        Data in [0, 1].

    Returns
    -------
    coded : array of shape (n_rows, 2 * n_attributes)
        All attributes, then what each lacks of 1.

    Examples
    --------
    >>> import numpy as np
    >>> complement_coded(np.array([[0.25, 1.0]]))
    array([[0.25, 1.  , 0.75, 0.  ]])
    """
    xp = array_namespace(inputs)
    low, high = float(xp.min(inputs)), float(xp.max(inputs))
    if not (low >= 0 and high <= 1):
        raise ValueError(
            f"inputs have values from {low:g} to {high:g}, and 1 - x makes sense in [0, 1] only; "
            "scale them, for example with sklearn.preprocessing.MinMaxScaler(clip=True)"
        )
    return complement_pairs(inputs)


def complement_pairs(inputs: Array) -> Array:
    """`complement_coded` of numbers that are known to be in [0, 1], or missing (NaN)."""
    return array_namespace(inputs).concat([inputs, 1 - inputs], axis=1)


def complement_decoded(pairs: Array) -> Array:
    r"""Attributes of which a network has given back both x and 1 − x, as it does, inexactly.

    Of a pair :math:`(a, b)` it is :math:`(a + 1 - b) / 2`, the x whose pair :math:`(x, 1 - x)` is
    nearest. Its squared error is at most the mean of those of a and b, for
    :math:`((e - f) / 2)^2 \le (e^2 + f^2) / 2`.

    Parameters
    ----------
    pairs : array of shape (n_rows, 2 * n_attributes)
        All a, and then all b.

    Returns
    -------
    array of shape (n_rows, n_attributes)
        All x.

    Examples
    --------
    >>> import numpy as np
    >>> complement_decoded(np.array([[0.25, 1.0, 0.5, 0.0]]))
    array([[0.375, 1.   ]])
    """
    width = pairs.shape[1] // 2
    return (pairs[:, :width] + (1 - pairs[:, width:])) / 2


def propagate(excitation: Array, excitatory: Layer, inhibitory: Array | None = None) -> Array:
    """Activations of the layer behind ``excitation`` (rows × neurons; may be sparse).

    Both matrices may also be given as a pair.

    Parameters
    ----------
    excitation : array or sparse matrix of shape (n_rows, n_from)
        Activations.
    excitatory : array of shape (n_from, n_to)
        Weights that excite.
    inhibitory : array of shape (n_from, n_to), optional
        Weights that inhibit.

    Returns
    -------
    activations : array of shape (n_rows, n_to)
        From 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> propagate(np.array([[0.5, 1.0]]), np.array([[0.4, 3.0], [0.1, 0.0]]))
    array([[0.3, 1. ]])
    """
    if isinstance(excitatory, tuple):
        excitatory, inhibitory = excitatory
    drive = excitation @ excitatory
    if inhibitory is not None:
        drive = drive / (1 + excitation @ inhibitory)
    if is_numpy_array(drive):
        return drive.clip(-np.inf, 1, out=drive)  # it is ours: no second array
    return saturate(drive)


def activations(
    inputs: Array, excitatory: Iterable[Array], inhibitory: Iterable[Array | None] | None = None
) -> list[Array]:
    """Activations of every layer, the input layer first.

    Parameters
    ----------
    inputs : array of shape (n_rows, n_inputs)
        Data in [0, 1]; may be sparse.
    excitatory : iterable of array
        Weights between consecutive layers.
    inhibitory : iterable of array or None, optional
        Those that inhibit, if any.

    Returns
    -------
    layers : list of array
        One more than there are matrices.

    Examples
    --------
    >>> import numpy as np
    >>> activations(np.array([[0.5, 1.0]]), [np.array([[0.4], [0.1]]), np.array([[2.0, 9.0]])])
    [array([[0.5, 1. ]]), array([[0.3]]), array([[0.6, 1. ]])]
    """
    weights = list(excitatory)
    blocking = [None] * len(weights) if inhibitory is None else list(inhibitory)
    layers = [saturate(inputs)]
    for plus, minus in zip(weights, blocking, strict=True):
        layers.append(propagate(layers[-1], plus, minus))
    return layers


def squared_error(
    inputs: Array, outputs: Array, weights: Array | None = None, *, spent: bool = False
) -> Array:
    """Sum of squared differences, a number of float64; ``inputs`` may be sparse.

    A row's sum is taken in the precision of the arrays, and the rows' are added up in float64, each
    times its weight if there are any. Outputs that are ``spent`` may be written over.

    Parameters
    ----------
    inputs : array or sparse matrix of shape (n_rows, n_attributes)
        Data.
    outputs : array of the same shape
        What came of them.
    weights : array of shape (n_rows,), optional
        What each row weighs.
    spent : bool, default=False
        Whether the outputs are needed no more.

    Returns
    -------
    error : array of no dimensions
        Where the arrays are.

    Examples
    --------
    >>> import numpy as np
    >>> float(squared_error(np.array([[0.0, 1.0]]), np.array([[0.5, 1.0]])))
    0.25
    """
    if sparse.issparse(inputs):
        inputs = sparse.csr_array(inputs)
    if spent and is_numpy_array(inputs) and inputs.dtype == outputs.dtype:
        difference = np.subtract(inputs, outputs, out=outputs)
    else:
        difference = inputs - outputs
    xp = array_namespace(outputs)
    of_rows = xp.vecdot(difference, difference)
    return xp.sum(of_rows if weights is None else of_rows * weights, dtype=xp.float64)


def column_sums(block: Array, dtype: Any = None, weights: Array | None = None) -> Array:
    """Sums over the rows of a block, which may be sparse, for each of its columns.

    Rows may have ``weights``. They are of the block's type, unless another one is asked for.

    Parameters
    ----------
    block : array or sparse matrix of shape (n_rows, n_columns)
        Rows.
    dtype : dtype, optional
        The type of the sums.
    weights : array of shape (n_rows,), optional
        What each row weighs.

    Returns
    -------
    sums : array of shape (n_columns,)
        One for each column.

    Examples
    --------
    >>> import numpy as np
    >>> column_sums(np.array([[1.0, 2.0], [3.0, 4.0]]), weights=np.array([1.0, 2.0]))
    array([ 7., 10.])
    """
    if is_numpy_array(block) and dtype is None and block.dtype.kind == "f":
        each = np.ones(len(block), block.dtype) if weights is None else weights
        return each.astype(block.dtype, copy=False) @ block  # by BLAS
    block = weighed(block, weights)
    if sparse.issparse(block):
        return block.sum(axis=0, dtype=dtype)
    return array_namespace(block).sum(block, axis=0, dtype=dtype)


def weighed(block: Array, weights: Array | None) -> Array:
    """Each row times its weight, in the type of the block, which may be sparse.

    Parameters
    ----------
    block : array or sparse matrix of shape (n_rows, n_columns)
        Rows.
    weights : array of shape (n_rows,) or None
        What each weighs, if they differ.

    Returns
    -------
    block : array or sparse matrix of the same shape
        Rows times weights.

    Examples
    --------
    >>> import numpy as np
    >>> weighed(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 0.5])).tolist()
    [[2.0, 4.0], [1.5, 2.0]]
    """
    if weights is None:
        return block
    if sparse.issparse(block):
        return sparse.csr_array(block.multiply(weights.astype(block.dtype)[:, None]))
    return block * array_namespace(block).astype(weights, block.dtype)[:, None]
