"""The interface between data and solver."""

from typing import Literal, Protocol, TypeAlias

from lrnn.arrays import Array

MomentKind: TypeAlias = Literal["auto", "dense", "implicit"]


class SecondMoment(Protocol):
    """G = XᵀX/n for data X in [0, 1] of n rows, as far as a solver needs to know it."""

    kind: str
    n_rows: int
    n_attributes: int
    trace: float
    diagonal: Array

    def dot(self, matrix: Array) -> Array:
        """``G @ matrix``."""
        ...

    def columns(self, attributes: Array) -> Array:
        """Columns of G."""
        ...
