"""Which second moment is the cheaper one."""

from typing import Any, Literal, TypeAlias

from scipy import sparse

from lrnn.moments.dense import DenseMoment
from lrnn.moments.implicit import ImplicitMoment
from lrnn.moments.reading import Reading
from lrnn.moments.second_moment import SecondMoment

MomentKind: TypeAlias = Literal["auto", "dense", "implicit"]

STEPS = 100  # of a solver that the cost is reckoned for
LARGEST = 1 << 28  # cells of G: 1 GiB in float32


def second_moment(
    inputs: Any, hidden: int, kind: MomentKind = "auto", reading: Reading | None = None
) -> SecondMoment:
    """The second moment of ``inputs`` for a solver with ``hidden`` units.

    ``reading`` watches over the first pass, and can resume it.
    """
    if kind == "auto":
        kind = "dense" if _dense_pays(inputs, hidden) else "implicit"
    reading = reading or Reading()
    return DenseMoment(inputs, reading) if kind == "dense" else ImplicitMoment(inputs, reading)


def _dense_pays(inputs: Any, hidden: int) -> bool:
    """In multiplications: rows·V² (half of that by symmetry) once, or 2·cells·H a step.

    Rows that have to be read again for every step are only read again if G is too large.
    """
    rows, attributes = inputs.shape
    square = attributes * attributes
    if square > LARGEST or hasattr(inputs, "fold"):
        return bool(square <= LARGEST)
    cells = inputs.nnz if sparse.issparse(inputs) else rows * attributes
    forming = cells * attributes / 2
    return bool(forming + STEPS * 2 * square * hidden < STEPS * 2 * 2 * cells * hidden)
