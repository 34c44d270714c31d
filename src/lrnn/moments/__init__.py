r"""What a solver needs to know of the data: their second moment.

While no hidden neuron saturates, the error of an autoencoder depends on the data X only through
:math:`G = X^\mathsf{T} X / n`. A solver asks a *second moment* for products with G, never for X:
its cost per step does not depend on the number of rows.
"""

from lrnn.moments.choice import MomentKind, second_moment
from lrnn.moments.dense import DenseMoment
from lrnn.moments.implicit import ImplicitMoment
from lrnn.moments.second_moment import SecondMoment

__all__ = ["DenseMoment", "ImplicitMoment", "MomentKind", "SecondMoment", "second_moment"]
