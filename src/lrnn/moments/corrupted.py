r"""Second moments of corrupted inputs, in closed form.

The expected error of giving back X from corrupted inputs :math:`\tilde X` is

.. math:: \tfrac1n \mathrm{E}\,\|X - \tilde X W \overline{W}\|^2 = \operatorname{tr} G
          - 2\langle W^\mathsf{T} C, \overline{W}\rangle
          + \langle W^\mathsf{T} S W, \overline{W}\,\overline{W}^\mathsf{T}\rangle

with :math:`S = \mathrm{E}\,\tilde X^\mathsf{T}\tilde X/n` and
:math:`C = \mathrm{E}\,\tilde X^\mathsf{T} X/n`. Cells are corrupted independently of each other, so
S is the second moment of their means, plus a diagonal of their mean variances. Where a share p of
the cells is masked, :math:`C = (1-p)G` and
:math:`S = (1-p)^2 G + p(1-p) \operatorname{diag} G`: G is enough.
"""

from functools import partial
from operator import iadd
from typing import Any

from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, backend_of
from lrnn.functional import column_sums, weighed
from lrnn.moments.corruption import statistics
from lrnn.moments.dense import DenseMoment
from lrnn.moments.implicit import ImplicitMoment, squares
from lrnn.moments.second_moment import SecondMoment
from lrnn.moments.sums import of_products, products
from lrnn.rows import Rows
from lrnn.rows.base import Fold
from lrnn.rows.memory import ROWS_TO_SUM


class MaskedMoment(SecondMoment):
    """Of rows of which a share of the cells is masked; any other moment is enough for it."""

    corrupted = True

    def __init__(self, moment: SecondMoment, share: float) -> None:
        self._moment, self._kept = moment, 1 - share
        self.kind, self.trace, self.diagonal = moment.kind, moment.trace, moment.diagonal
        self.n_rows, self.n_attributes = moment.n_rows, moment.n_attributes

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        return self._moment.dot(matrix)

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        return self._moment.columns(attributes)

    def driven(self, encoder: Array) -> tuple[Array, Array]:
        """``S @ encoder`` and ``C.T @ encoder``, by one product with G."""
        kept, target = self._kept, self._kept * self._moment.dot(encoder)
        return kept * target + kept * (1 - kept) * self.diagonal[:, None] * encoder, target

    def wanted(self, matrix: Array) -> Array:
        """``C @ matrix``."""
        return self._kept * self._moment.dot(matrix)


class DenseNoisyMoment(DenseMoment):
    """G, S and C as matrices, for noise that is clipped to [0, 1]."""

    corrupted = True

    def __init__(self, rows: Rows, deviation: float, fold: Fold | None = None) -> None:
        self.n_rows, self.n_attributes = rows.shape
        backend = rows.backend
        xp = backend.xp
        shape = (3, self.n_attributes, self.n_attributes)
        nothing = partial(xp.zeros, shape, dtype=xp.float64, device=backend.device)
        work = partial(noisy_products, deviation)
        options = {"most": ROWS_TO_SUM, **of_products(rows, matrices=3)}
        total = (fold or rows.fold)(work, iadd, self.n_attributes, begin=nothing, **options)
        total = total / rows.weight
        self.trace = float(xp.sum(xp.linalg.diagonal(total[0, ...])))
        total = xp.astype(total, rows.dtype, copy=False)
        self.gram, self._inputs, self._targets = (total[i, ...] for i in range(3))
        self.diagonal = xp.linalg.diagonal(self.gram)

    def driven(self, encoder: Array) -> tuple[Array, Array]:
        """``S @ encoder`` and ``C.T @ encoder``."""
        return self._inputs @ encoder, self._targets.T @ encoder

    def wanted(self, matrix: Array) -> Array:
        """``C @ matrix``."""
        return self._targets @ matrix


class ImplicitNoisyMoment(ImplicitMoment):
    """Products with the data and with the means of what noise makes of them."""

    corrupted = True

    def __init__(self, rows: Rows, deviation: float, fold: Fold | None = None) -> None:
        super().__init__(rows, fold, partial(noisy_squares, deviation), 2)
        self._deviation = deviation
        self._variances = rows.backend.xp.astype(self._sums[1, ...], rows.dtype)

    def driven(self, encoder: Array) -> tuple[Array, Array]:
        """``S @ encoder`` and ``C.T @ encoder``, in one pass."""
        shape = (2, *tuple(encoder.shape))
        found = self._folded(partial(noisy_driven, self._deviation, encoder), encoder, shape)
        return found[0, ...] + self._variances[:, None] * encoder, found[1, ...]

    def wanted(self, matrix: Array) -> Array:
        """``C @ matrix``."""
        work = partial(noisy_wanted, self._deviation, matrix)
        return self._folded(work, matrix, tuple(matrix.shape))


# Work on blocks. Means of a sparse block are ``means + mean``, the first of them sparse.


def noisy_products(deviation: float, block: Array, weights: Array | None = None) -> Array:
    """XᵀX, the same of noisy inputs, and E X̃ᵀX."""
    means, variances, mean, variance = statistics(block, deviation)
    rows = _weight(block, weights)
    spread = _total(variances, weights) + rows * variance
    clean, inputs = products(block, weights), products(means, weights)
    targets = _full(means.T @ weighed(block, weights))
    xp = array_namespace(clean)
    if mean:
        sums = mean * _total(means, weights)
        inputs = inputs + sums[:, None] + sums[None, :] + rows * mean**2
        targets = targets + mean * _total(block, weights)[None, :]
    itself = xp.eye(block.shape[1], dtype=clean.dtype, device=backend_of(clean).device)
    inputs = inputs + itself * xp.astype(spread, clean.dtype)
    return xp.stack([clean, inputs, targets])


def noisy_squares(deviation: float, block: Array, weights: Array | None = None) -> Array:
    """Sums of squares of the columns, and of the variances of their cells."""
    _, variances, _, variance = statistics(block, deviation)
    clean = squares(block, weights)
    spread = _total(variances, weights) + _weight(block, weights) * variance
    return array_namespace(clean).stack([clean, spread])


def noisy_driven(
    deviation: float, encoder: Array, block: Array, weights: Array | None = None
) -> Array:
    """``M.T @ (M @ encoder)`` and ``X.T @ (M @ encoder)`` for the means M."""
    means, _, mean, _ = statistics(block, deviation)
    xp = array_namespace(encoder)
    drive = means @ encoder
    if mean:
        drive = drive + mean * xp.sum(encoder, axis=0)
    drive = weighed(drive, weights)
    return xp.stack([_back(means, mean, drive), block.T @ drive])


def noisy_wanted(
    deviation: float, matrix: Array, block: Array, weights: Array | None = None
) -> Array:
    """``M.T @ (X @ matrix)``."""
    means, _, mean, _ = statistics(block, deviation)
    return _back(means, mean, weighed(block @ matrix, weights))


def _back(means: Array, mean: float, drive: Array) -> Array:
    found = means.T @ drive
    return found + mean * array_namespace(drive).sum(drive, axis=0) if mean else found


def _total(block: Array, weights: Array | None) -> Any:
    """Column sums in float64."""
    xp = None if sparse.issparse(block) else array_namespace(block)
    return column_sums(block, "float64" if xp is None else xp.float64, weights)


def _weight(block: Array, weights: Array | None) -> float:
    """What the rows of a block weigh."""
    return float(block.shape[0] if weights is None else array_namespace(weights).sum(weights))


def _full(matrix: Array) -> Array:
    return matrix.toarray() if sparse.issparse(matrix) else matrix
