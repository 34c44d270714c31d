"""Factors of nonnegative matrix factorisation, X ≈ W H, from a trained network."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Literal

import numpy as np
from scipy import sparse

from lrnn.arrays import Array, are_levels, host_dtype, is_array, to_numpy
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.functional import descend_decoder, refined_codes
from lrnn.network.weights import Weights
from lrnn.rows import HostRows, Rows
from lrnn.rows.memory import map_rows
from lrnn.rows.validation import TRAIN, brought, check_count
from lrnn.tables.frame import is_frame
from lrnn.tables.messages import UnfitNumbersError
from lrnn.tables.scaling import Scaling
from lrnn.tables.types import matrix_of, numbers_of

__all__ = ["factorize"]

TAKEN = ("max_iter", "tol", "init", "moment", "device", "random_state", "verbose")


def factorize(
    X: Any,
    n_components: int,
    *,
    alternations: int = 3,
    sweeps: int = 2,
    missing: Literal["refuse", "allow", "unstored"] = "refuse",
    **parameters: Any,
) -> tuple[Array, Array]:
    """Nonnegative factors W and H with X ≈ W H, as those of NMF, but sooner.

    An autoencoder is trained, whose decoder is H and whose codes are W. Then W and H are improved
    in turns, each for the other, by coordinate descent: the same that scikit-learn's NMF does, from
    a start that is nearly there. These are factors, not a network, and W has no upper bound.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Nonnegative numbers of any size, or whatever else `LRNNAutoencoder.fit` takes. Rows that are
        not in memory must be in [0, 1], or levels; they are read for each improvement, and W is in
        memory.
    n_components : int
        How many parts there are.
    alternations : int, default=3
        How often both are improved. No alternation raises ‖X − W H‖.
    sweeps : int, default=2
        How often each number goes to its optimum, each time.
    missing : {"refuse", "allow", "unstored"}, default="refuse"
        Whether cells of X may be missing: NaN, and with "unstored" also those that a sparse matrix
        does not store, as those of ratings that nobody has given. They are filled beforehand with
        what is most probable (`LRNNAutoencoder.impute`), and W H ≈ the filled rows. (Factors of the
        known cells alone fit these better, and are far off in the others.)
    **parameters
        Parameters of `LRNNAutoencoder` that train a network in fewer or more steps:
        ``max_iter``, ``tol``, ``init``, ``moment``, ``device``, ``random_state``, ``verbose``.

    Returns
    -------
    W : array of shape (n_samples, n_components)
        How much of each part is in each row.
    H : array of shape (n_components, n_features)
        The parts, in the units of X.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import factorize
    >>> X = load_digits().data
    >>> W, H = factorize(X, 16)
    >>> W.shape, H.shape
    ((1797, 16), (16, 64))
    >>> round(float(np.mean((X - W @ H) ** 2)), 1)
    4.1
    """
    check_count(n_components, "n_components")
    check_count(alternations, "alternations", 0)
    check_count(sweeps, "sweeps")
    if missing not in ("refuse", "allow", "unstored"):
        raise ValueError(f"missing must be 'refuse', 'allow' or 'unstored', got {missing!r}")
    if given := sorted(set(parameters) - set(TAKEN)):
        raise TypeError(
            f"factorize() takes {', '.join(TAKEN)} of LRNNAutoencoder's parameters, and not "
            f"{', '.join(given)}"
        )
    if sparse.issparse(X) and missing != "refuse":
        X = brought(X, missing == "unstored")
    size = _size(X, "refuse" if missing == "refuse" else "allow")
    scale = None if size is None else Scaling("levels", 0.0, size)
    model = LRNNAutoencoder(int(n_components), scale=scale, missing=missing, **parameters)
    rows, weights = model._together(model._fit(X))
    improve = _Improvement(rows, sweeps)
    codes, decoder = improve.start(weights), weights.decoders[0]
    for _ in range(alternations):
        codes = improve.codes(codes, decoder)
        decoder = improve.decoder(codes, decoder)
    if model.device is not None:
        codes, decoder = to_numpy(codes), to_numpy(decoder)
    return codes, decoder * (size or rows.white or 1.0)


def _size(X: Any, missing: Any) -> float | None:
    """The largest number of data in memory, if it is above 1."""
    if is_frame(X):
        X = matrix_of(X)
    held = is_array(X) or sparse.issparse(X) or isinstance(X, list | tuple)
    if not held or isinstance(X, np.memmap):
        return None
    X = numbers_of(X if hasattr(X, "dtype") else np.asarray(X, dtype=object))
    if X.ndim != 2 or 0 in X.shape or are_levels(X.dtype):
        return None
    try:
        largest = float(np.max(Scaling.fit(X, "max", missing=missing).span))
    except UnfitNumbersError as error:
        if error.kind == "missing":
            raise error.but(remedy=TRAIN) from None
        if error.kind == "below":
            raise error.but(
                remedy="no factors that are nonnegative give that", source="X"
            ) from None
        raise
    return largest if largest > 1 else None


class _Improvement:
    """Of codes and decoder in turns, block by block of the rows."""

    def __init__(self, rows: Rows, sweeps: int) -> None:
        self.rows, self.sweeps = rows, sweeps

    def start(self, weights: Weights) -> Array:
        """The network's codes, where the rows are: in the memory of a device, or of the host."""
        shape, xp = (self.rows.shape[0], weights.sizes[1]), self.rows.backend.xp
        if self.rows.held_on_device:
            found = xp.empty(shape, dtype=weights.dtype, device=self.rows.backend.device)
        else:
            found = np.empty(shape, dtype=host_dtype(weights.dtype))
        return self._each(found, weights.decoders[0], lambda block, _: block @ weights.encoders[0])

    def codes(self, codes: Array, decoder: Array) -> Array:
        """Better ones, for this decoder."""

        def improved(block: Array, own: Array) -> Array:
            return refined_codes(block, decoder, own, self.sweeps, upper=None)

        return self._each(codes, decoder, improved)

    def decoder(self, codes: Array, decoder: Array) -> Array:
        """A better one, for these codes."""

        def sums(part: slice, block: Array) -> tuple[Array, Array]:
            own = self.rows.backend.send(codes[part, ...])
            return (block.T @ own).T, own.T @ own

        moments = gram = 0
        for some, square in over_blocks(self.rows, sums, max(decoder.shape)):
            moments, gram = moments + some, gram + square
        return descend_decoder(moments, gram, decoder, self.sweeps)

    def _each(self, codes: Array, decoder: Array, change: Callable[[Array, Array], Array]) -> Array:
        """``change(block, codes)`` of all rows, in place of their codes."""
        here = isinstance(codes, np.ndarray)

        def work(part: slice, block: Array) -> None:
            found = change(block, self.rows.backend.send(codes[part, ...]))
            codes[part, ...] = to_numpy(found) if here else found

        for _ in over_blocks(self.rows, work, max(decoder.shape)):
            pass
        return codes


def over_blocks(rows: Rows, work: Callable[[slice, Array], Any], widest: int) -> Iterator[Any]:
    """``work`` on slices of consecutive rows and what they hold; by several threads in memory."""
    if isinstance(rows, HostRows):
        parts = map_rows(lambda part: work(part, rows.take(part)), rows.shape[0], widest)
        with closing(parts):
            yield from parts
        return
    first = 0
    for block in rows.blocks():
        yield work(slice(first, first + block.shape[0]), block)
        first += block.shape[0]
