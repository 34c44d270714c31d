"""Where threads of compiled code wait for each other, without Python and without sleep.

To put a thread to sleep and to wake it takes longer than a level of a window. So a thread that is
early looks again and again, and after a while lets others run in between.
"""

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

ARRIVED, ROUND, FAILED = range(3)  # threads that are there, meetings so far, threads that gave up
LOOKS = 1 << 10  # before others are let run
let_others_run = types.ExternalFunction(
    "SwitchToThread" if os.name == "nt" else "sched_yield", types.int32()
)


def meeting() -> Any:
    """What threads that meet have in common."""
    return np.zeros(3, np.int64)


@intrinsic
def add(typing: Any, numbers: Any, place: Any, number: Any) -> Any:
    """Add to a number that others add to at the same time; what it was before."""

    def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", where, arguments[2], "seq_cst")

    return types.int64(numbers, types.intp, types.int64), made


@intrinsic
def read(typing: Any, numbers: Any, place: Any) -> Any:
    """A number that others add to."""

    def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(where, "seq_cst", 8)

    return types.int64(numbers, types.intp), made


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> ir.Value:
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])


@njit
def meet(common: Any, count: Any) -> None:
    """Wait until ``count`` threads are here, or one has failed."""
    now = read(common, ROUND)
    if add(common, ARRIVED, 1) == count - 1:
        add(common, ARRIVED, -count)
        add(common, ROUND, 1)
        return
    looks = 0
    while read(common, ROUND) == now and not read(common, FAILED):
        looks += 1
        if looks > LOOKS:
            let_others_run()
