"""The second moment of what an autoencoder leaves unexplained."""

from array_api_compat import array_namespace

from lrnn.arrays import Array, at_least, backend_of
from lrnn.moments.second_moment import SecondMoment


class ResidualMoment(SecondMoment):
    """(I − ED)ᵀ G (I − ED): that of the rows X − XED, where ``product`` is G @ encoder."""

    kind = "residual"

    def __init__(
        self, moment: SecondMoment, encoder: Array, decoder: Array, product: Array
    ) -> None:
        self.n_rows, self.n_attributes = moment.n_rows, moment.n_attributes
        self._moment, self._encoder, self._decoder = moment, encoder, decoder
        self._product = product
        xp = array_namespace(encoder)
        linear = xp.sum(product * decoder.T, axis=1)
        square = xp.sum(decoder * ((encoder.T @ product) @ decoder), axis=0)
        self.diagonal = at_least(moment.diagonal - 2 * linear + square, 0.0)
        self.trace = float(xp.sum(self.diagonal, dtype=xp.float64))

    def dot(self, matrix: Array) -> Array:
        """Its product with ``matrix``."""
        return self._left(self._moment.dot(matrix) - self._product @ (self._decoder @ matrix))

    def columns(self, attributes: Array) -> Array:
        """Some of its columns."""
        backend = backend_of(self._decoder)
        some = backend.xp.take(self._decoder, backend.send(attributes), axis=1)
        return self._left(self._moment.columns(attributes) - self._product @ some)

    def common(self, matrix: Array) -> Array:
        """(I − ED)ᵀ G @ matrix: what codes X @ matrix have in common with what is left of X."""
        return self._left(self._moment.dot(matrix))

    def _left(self, matrix: Array) -> Array:
        return matrix - self._decoder.T @ (self._encoder.T @ matrix)
