"""Coordinate descent over the decoder on a GPU: all sweeps in one kernel.

Columns of the decoder do not depend on each other. A block of threads takes some of them, and
several threads share the sum over the rows of each: thread *l* owns rows *l*, *l* + LANES, … and is
the only one that ever reads or writes these.
"""

from functools import cache
from math import inf
from typing import Any

from array_api_compat import is_torch_array
from numba import float32, float64, int64

from lrnn.arrays import Array, copied, host_dtype
from lrnn.functional.numba_cuda import configured, cuda

COLUMNS, LANES = 8, 32  # of a block of threads


def descend(
    targets: Array, others: Array, decoder: Array, sweeps: int, upper: float = inf
) -> Array:
    """Each row h in turn becomes ``max(targets[h] - others[h] @ decoder, 0)``, ``sweeps`` times.

    What is above ``upper`` becomes that.
    """
    found = copied(decoder)
    kernel = _kernel(host_dtype(decoder.dtype).name)
    blocks = -(-decoder.shape[1] // COLUMNS)
    arrays = [cuda.as_cuda_array(array, sync=False) for array in (targets, others, found)]
    configured(kernel, blocks, (COLUMNS, LANES), _stream(decoder))(*arrays, sweeps, upper)
    return found


def _stream(array: Array) -> Any:
    """The stream that the array's library works on now."""
    if is_torch_array(array):
        import torch

        return cuda.external_stream(torch.cuda.current_stream(array.device).cuda_stream)
    import cupy

    return cuda.external_stream(cupy.cuda.get_current_stream().ptr)


@cache
def _kernel(dtype: str) -> Any:
    """The kernel for float32 or float64, compiled once for arrays of any layout."""
    number = {"float32": float32, "float64": float64}[dtype]

    @cuda.jit((number[:, :], number[:, :], number[:, :], int64, number))
    def sweep(targets: Any, others: Any, decoder: Any, sweeps: int, upper: float) -> None:
        shares = cuda.shared.array((2, LANES, COLUMNS), number)
        place, lane = cuda.threadIdx.x, cuda.threadIdx.y
        column = cuda.blockIdx.x * COLUMNS + place
        hidden, width = decoder.shape
        turn = 0
        for _ in range(sweeps):
            for h in range(hidden):
                share = number(0)
                if column < width:
                    for k in range(lane, hidden, LANES):
                        share += others[h, k] * decoder[k, column]
                shares[turn, lane, place] = share
                cuda.syncthreads()
                if lane == h % LANES and column < width:
                    value = targets[h, column]
                    for other in range(LANES):
                        value -= shares[turn, other, place]
                    decoder[h, column] = min(max(value, number(0)), upper)
                turn = 1 - turn  # the next sums go elsewhere while these are still read

    return sweep
