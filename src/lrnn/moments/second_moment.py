"""The interface between data and solver."""

from typing import Literal, Protocol, TypeAlias

from lrnn.arrays import Array

MomentKind: TypeAlias = Literal["auto", "dense", "implicit"]


class SecondMoment(Protocol):
    """G = XᵀX/n for data X in [0, 1] of n rows, as far as a solver needs to know it.

    What a product with G costs is its ``effort``: multiplications for each column, as many as if
    they were those of full matrices; infinite if rows are read for it, and 0 where it is not known.

    Inputs may be corrupted: what is to be given back is X, and what is given to the network is X̃.
    Then S = E X̃ᵀX̃/n and C = E X̃ᵀX/n are needed besides. Without corruption all three are G.
    """

    kind: str
    n_rows: int
    n_attributes: int
    trace: float
    diagonal: Array
    corrupted: bool = False
    effort: float = 0.0

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        ...

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        ...

    def driven(self, encoder: Array) -> tuple[Array, Array]:
        """``S @ encoder`` and ``C.T @ encoder``."""
        product = self.dot(encoder)
        return product, product

    def wanted(self, matrix: Array) -> Array:
        """``C @ matrix``."""
        return self.dot(matrix)
