r"""What a solver needs to know of the data: their second moment.

While no hidden neuron saturates, the error of an autoencoder depends on the data X only through
:math:`G = X^\mathsf{T} X / n`. A solver asks a *second moment* for products with G, never for X:
its cost per step does not depend on the number of rows.
"""

from lrnn.moments.dense import DenseMoment, dense_pays
from lrnn.moments.implicit import ImplicitMoment
from lrnn.moments.left_out import MomentWithout
from lrnn.moments.moment import Moment
from lrnn.moments.second_moment import MomentKind, SecondMoment
from lrnn.moments.sums import Sums, sums_of
from lrnn.rows import Rows
from lrnn.rows.base import Fold

__all__ = [
    "DenseMoment",
    "ImplicitMoment",
    "Moment",
    "MomentKind",
    "MomentWithout",
    "SecondMoment",
    "Sums",
    "second_moment",
    "sums_of",
]


def second_moment(
    rows: Rows, hidden: int, kind: MomentKind = "auto", fold: Fold | None = None
) -> SecondMoment:
    """The second moment of ``rows`` for a solver with ``hidden`` units.

    ``fold`` makes the first pass over them; by default it is `Rows.fold`.
    """
    if kind == "auto":
        kind = "dense" if dense_pays(rows, hidden) else "implicit"
    return DenseMoment(rows, fold) if kind == "dense" else ImplicitMoment(rows, fold)
