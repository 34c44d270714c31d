"""Coordinate descent over the decoder on a GPU: all sweeps in one kernel.

Columns of the decoder do not depend on each other: each has a block of threads, and a thread owns
one of its rows (some, if there are over a thousand). It keeps what the other rows leave for its
own. When a row has moved, all that the others wait for is by how much.
"""

from functools import cache
from math import inf
from typing import Any

from array_api_compat import array_namespace, is_torch_array
from numba import float32, float64, int64

from lrnn.arrays import Array, backend_of, host_dtype
from lrnn.functional.numba_cuda import configured, cuda

WARP, MOST_THREADS = 32, 1024


def descend(moments: Array, gram: Array, decoder: Array, sweeps: int, upper: float = inf) -> Array:
    """See `lrnn.functional.descend_decoder`."""
    hidden, width = decoder.shape
    xp, backend = array_namespace(decoder), backend_of(decoder)
    found = xp.empty((hidden, width), dtype=decoder.dtype, device=backend.device)
    kernel = kernel_for(host_dtype(decoder.dtype).name, hidden)
    launch = configured(kernel, width, threads_for(hidden), stream_of(decoder))
    given = (cuda.as_cuda_array(array, sync=False) for array in (moments, gram, decoder, found))
    launch(*given, sweeps, upper)
    return found


def threads_for(hidden: int) -> int:
    """Of a block: one for each row, in whole warps."""
    return min(-(-hidden // WARP) * WARP, MOST_THREADS)


def stream_of(array: Array) -> Any:
    """The stream that the array's library works on now."""
    if is_torch_array(array):
        import torch

        return cuda.external_stream(torch.cuda.current_stream(array.device).cuda_stream)
    import cupy

    return cuda.external_stream(cupy.cuda.get_current_stream().ptr)


def kernel_for(dtype: str, hidden: int) -> Any:
    """The kernel for float32 or float64 and so many rows."""
    return _kernel(dtype, -(-hidden // threads_for(hidden)))


@cache
def _kernel(dtype: str, owned: int) -> Any:
    """That for so many rows of each thread, compiled once for arrays of any layout.

    What a thread keeps of a single row stays in its registers.
    """
    number = {"float32": float32, "float64": float64}[dtype]

    matrix = number[:, :]

    @cuda.jit((matrix, matrix, matrix, matrix, int64, number))
    def sweep(
        moments: Any, gram: Any, decoder: Any, result: Any, sweeps: int, upper: float
    ) -> None:
        moved = cuda.shared.array(2, number)
        left, value, length = (
            cuda.local.array(owned, number),
            cuda.local.array(owned, number),
            cuda.local.array(owned, number),
        )
        column, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        hidden = decoder.shape[0]
        for own in range(owned):
            row = min(own * threads + thread, hidden - 1)
            left[own], value[own] = moments[row, column], decoder[row, column]
            length[own] = gram[row, row]
        for h in range(hidden):
            step = decoder[h, column]
            for own in range(owned):
                row = min(own * threads + thread, hidden - 1)
                if row != h:
                    left[own] -= gram[h, row] * step
        turn = 0
        for _ in range(sweeps):
            for mine in range(owned):
                for owner in range(threads):
                    h = mine * threads + owner
                    if h >= hidden:
                        break
                    share = gram[h, min(thread, hidden - 1)]  # asked for before it is needed
                    if thread == owner:
                        found = value[mine]
                        if length[mine] > 0:
                            found = min(max(left[mine] / length[mine], number(0)), upper)
                        moved[turn] = found - value[mine]
                        value[mine] = found
                    cuda.syncthreads()
                    step = moved[turn]
                    if step != 0:
                        if thread != h:
                            left[0] -= share * step
                        for own in range(1, owned):
                            row = min(own * threads + thread, hidden - 1)
                            if row != h:
                                left[own] -= gram[h, row] * step
                    turn = 1 - turn  # the next one goes elsewhere while this is still read
        for own in range(owned):
            row = own * threads + thread
            if row < hidden:
                result[row, column] = value[own]

    return sweep
