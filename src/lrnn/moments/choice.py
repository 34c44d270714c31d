"""Which second moment is the cheaper one."""

from typing import Literal

from scipy import sparse

from lrnn.moments.dense import DenseMoment
from lrnn.moments.implicit import ImplicitMoment
from lrnn.moments.second_moment import SecondMoment
from lrnn.typing import Array

STEPS = 100  # of a solver that the cost is reckoned for
LARGEST = 1 << 28  # cells of G: 1 GiB in float32


def second_moment(
    inputs: Array, hidden: int, kind: Literal["auto", "dense", "implicit"] = "auto"
) -> SecondMoment:
    """The second moment of ``inputs`` for a solver with ``hidden`` units."""
    if kind == "auto":
        kind = "dense" if _dense_pays(inputs, hidden) else "implicit"
    return DenseMoment(inputs) if kind == "dense" else ImplicitMoment(inputs)


def _dense_pays(inputs: Array, hidden: int) -> bool:
    """In multiplications: rows·V² (half of that by symmetry) once, or 2·cells·H a step."""
    rows, attributes = inputs.shape
    square = attributes * attributes
    if square > LARGEST:
        return False
    cells = inputs.nnz if sparse.issparse(inputs) else rows * attributes
    forming = cells * attributes / 2
    return bool(forming + STEPS * 2 * square * hidden < STEPS * 2 * 2 * cells * hidden)
