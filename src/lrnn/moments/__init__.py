r"""What a solver needs to know of the data: their second moment.

While no hidden neuron saturates, the error of an autoencoder depends on the data X only through
:math:`G = X^\mathsf{T} X / n`. A solver asks a *second moment* for products with G, never for X:
its cost per step does not depend on the number of rows.
"""

from lrnn.moments.corrupted import DenseNoisyMoment, ImplicitNoisyMoment, MaskedMoment
from lrnn.moments.corruption import Corruption, Dropout
from lrnn.moments.dense import DenseMoment, dense_pays
from lrnn.moments.implicit import ImplicitMoment
from lrnn.moments.left_out import MomentWithout
from lrnn.moments.moment import Moment
from lrnn.moments.second_moment import MomentKind, SecondMoment
from lrnn.moments.sketched import SketchedMoment, sketch_pays
from lrnn.moments.sparse import SparseMoment, sparse_pays
from lrnn.moments.sums import Sums, sums_of
from lrnn.rows import Rows
from lrnn.rows.base import Fold

__all__ = [
    "Corruption",
    "DenseMoment",
    "Dropout",
    "ImplicitMoment",
    "MaskedMoment",
    "Moment",
    "MomentKind",
    "MomentWithout",
    "SecondMoment",
    "SketchedMoment",
    "SparseMoment",
    "Sums",
    "second_moment",
    "sketch_pays",
    "sums_of",
]


def second_moment(
    rows: Rows,
    hidden: int,
    kind: MomentKind = "auto",
    fold: Fold | None = None,
    corruption: Corruption | None = None,
) -> SecondMoment:
    """The second moment of ``rows`` for a solver with ``hidden`` units.

    ``fold`` makes the first pass over them; by default it is `Rows.fold`. It also knows those of
    corrupted rows, if there is a ``corruption``.
    """
    noise = corruption is not None and corruption.kind == "noise"
    both_ways = False
    if kind == "auto":
        kind = "dense" if dense_pays(rows, hidden, 3 if noise else 1) else "implicit"
        both_ways = corruption is None and sparse_pays(rows, hidden)
    if corruption is not None and noise:
        of_kind = DenseNoisyMoment if kind == "dense" else ImplicitNoisyMoment
        return of_kind(rows, corruption.level, fold)
    moment: SecondMoment
    if kind == "dense":
        moment = DenseMoment(rows, fold)
    else:
        moment = SparseMoment(rows, fold) if both_ways else ImplicitMoment(rows, fold)
    return moment if corruption is None else MaskedMoment(moment, corruption.level)
