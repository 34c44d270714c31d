"""Which second moment is the cheaper one."""

from typing import Literal, TypeAlias

from scipy import sparse

from lrnn.moments.dense import DenseMoment
from lrnn.moments.implicit import ImplicitMoment
from lrnn.moments.rows import Read, unheard
from lrnn.moments.second_moment import SecondMoment
from lrnn.typing import Array

MomentKind: TypeAlias = Literal["auto", "dense", "implicit"]

STEPS = 100  # of a solver that the cost is reckoned for
LARGEST = 1 << 28  # cells of G: 1 GiB in float32


def second_moment(
    inputs: Array, hidden: int, kind: MomentKind = "auto", read: Read = unheard
) -> SecondMoment:
    """The second moment of ``inputs`` for a solver with ``hidden`` units.

    ``read`` is told of rows as they are read for the first time.
    """
    if kind == "auto":
        kind = "dense" if _dense_pays(inputs, hidden) else "implicit"
    return DenseMoment(inputs, read) if kind == "dense" else ImplicitMoment(inputs, read)


def _dense_pays(inputs: Array, hidden: int) -> bool:
    """In multiplications: rows·V² (half of that by symmetry) once, or 2·cells·H a step."""
    rows, attributes = inputs.shape
    square = attributes * attributes
    if square > LARGEST:
        return False
    cells = inputs.nnz if sparse.issparse(inputs) else rows * attributes
    forming = cells * attributes / 2
    return bool(forming + STEPS * 2 * square * hidden < STEPS * 2 * 2 * cells * hidden)
