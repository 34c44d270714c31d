r"""A sketch of the second moment: of low rank, and exact on the diagonal.

With an orthonormal basis Q of what G makes of some random directions, and :math:`Z = GQ`, the
matrix :math:`Z (Q^\mathsf{T} Z)^{-1} Z^\mathsf{T} = BB^\mathsf{T}` is close to G in all that stands
out (Nyström's approximation). What it misses of the diagonal is added: without it, a network that
is trained on the sketch takes the rare attributes for something that the others explain. It costs
two products with G, two passes over rows that are not in memory; each product with the sketch then
costs as many multiplications as B has cells, twice, for each column.
"""

import numpy as np

from lrnn.arrays import Array, Backend, at_least, backend_of, like, to_numpy
from lrnn.moments.second_moment import SecondMoment

SEED = 0  # of the random directions: the same data have the same sketch
SURPLUS = 40  # directions besides two for each code
CHEAPER = 4  # times, at least, than a product with G: else there is no gain
KNOWN = 1e-6  # share of the largest eigenvalue below which they are rounding errors


class SketchedMoment(SecondMoment):
    """G ≈ BBᵀ and what that misses of the diagonal."""

    kind = "sketched"

    def __init__(self, moment: SecondMoment, hidden: int) -> None:
        self.n_rows, self.n_attributes = moment.n_rows, moment.n_attributes
        self.trace, self.diagonal = moment.trace, moment.diagonal
        backend = backend_of(moment.diagonal)
        xp = backend.xp
        rank = min(rank_for(hidden), self.n_attributes)
        self.effort = 2.0 * self.n_attributes * rank
        basis, _ = xp.linalg.qr(moment.dot(self._directions(backend, rank)))
        product = moment.dot(basis)
        small = to_numpy(basis.T @ product).astype(np.float64)
        values, vectors = np.linalg.eigh((small + small.T) / 2)
        known = values > KNOWN * values.max(initial=0.0)
        change = vectors[:, known] / np.sqrt(values[known])
        self._factor = product @ like(moment.diagonal, change)
        self._missed = at_least(self.diagonal - xp.sum(self._factor**2, axis=1), 0.0)[:, None]

    def _directions(self, backend: Backend, rank: int) -> Array:
        """Random directions that go with the attributes, wherever these stand."""
        order = np.argsort(to_numpy(self.diagonal), kind="stable")
        found = np.empty((self.n_attributes, rank))
        found[order] = np.random.default_rng(SEED).standard_normal(found.shape)
        return like(self.diagonal, found)

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``, of a matrix without negative numbers: such is the product then, too."""
        product = self._factor @ (self._factor.T @ matrix)
        product += self._missed * matrix
        return at_least(product, 0.0)

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        backend = backend_of(self.diagonal)
        own = backend.array(np.asarray(attributes))
        found = self._factor @ backend.xp.take(self._factor, own, axis=0).T
        chosen = np.zeros((self.n_attributes, len(attributes)))
        chosen[attributes, np.arange(len(attributes))] = 1
        return at_least(found + self._missed * like(self.diagonal, chosen), 0.0)


def rank_for(hidden: int) -> int:
    """Directions for so many codes."""
    return 2 * hidden + SURPLUS


def sketch_pays(moment: SecondMoment, hidden: int) -> bool:
    """Whether products with a sketch cost much less than those with G itself, or its matrix."""
    own = 2 * moment.n_attributes * rank_for(hidden)
    least = min(moment.effort, moment.n_attributes**2)
    return not moment.corrupted and least >= CHEAPER * own
