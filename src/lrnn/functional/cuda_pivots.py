"""Pivoted Cholesky factorisation on a GPU: the whole of it in one kernel, by one block of threads.

A thread owns some columns of the factor. What they all wait for is which pivot is next.
"""

from functools import cache
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numba import float32, float64, int64

from lrnn.arrays import Array, backend_of, host_dtype
from lrnn.functional.cuda_descent import MOST_THREADS, WARP, stream_of
from lrnn.functional.numba_cuda import configured, cuda


def pivots(matrix: Array, order: Array, count: int, enough: float, tied: float) -> Array:
    """The places in ``order`` of the pivots of a symmetric matrix; see `lrnn.training.anchors`."""
    xp, backend = array_namespace(matrix), backend_of(matrix)
    size = int(matrix.shape[0])
    lengths = xp.astype(xp.take(xp.linalg.diagonal(matrix), order), xp.float64)
    factor = xp.empty((count, size), dtype=xp.float64, device=backend.device)
    left = lengths + 0.0
    places = backend.array(np.zeros(count, dtype=np.int64))
    arrays = (matrix, order, lengths, left, factor, places)
    launch = configured(
        _kernel(host_dtype(matrix.dtype).name), 1, threads_for(size), stream_of(matrix)
    )
    launch(*(cuda.as_cuda_array(array, sync=False) for array in arrays), enough, tied)
    return places


def threads_for(size: int) -> int:
    """A power of two, up to as many as a block may have."""
    return min(max(WARP, 1 << (size - 1).bit_length()), MOST_THREADS)


@cache
def _kernel(dtype: str) -> Any:
    """The kernel for a matrix of float32 or float64."""
    number = {"float32": float32, "float64": float64}[dtype]
    vector, whole = float64[:], int64[:]

    signature = number[:, :], whole, vector, vector, float64[:, :], whole, float64, float64

    @cuda.jit(signature)  # type: ignore[untyped-decorator]
    def run(
        matrix: Any,
        order: Any,
        lengths: Any,
        left: Any,
        factor: Any,
        places: Any,
        enough: float,
        tied: float,
    ) -> None:
        most = cuda.shared.array(MOST_THREADS, float64)
        first = cuda.shared.array(MOST_THREADS, int64)
        thread, threads, size = cuda.threadIdx.x, cuda.blockDim.x, len(order)
        for k in range(len(places)):
            by_length = False  # where nothing is left to explain, those are taken that are long
            for attempt in range(2):
                highest = -1.0
                for i in range(thread, size, threads):
                    if left[i] >= 0:
                        highest = max(highest, lengths[i] if by_length else left[i])
                most[thread] = highest
                cuda.syncthreads()
                half = threads // 2
                while half > 0:
                    if thread < half:
                        most[thread] = max(most[thread], most[thread + half])
                    cuda.syncthreads()
                    half //= 2
                highest = most[0]
                cuda.syncthreads()
                if attempt == 0 and highest > enough:
                    break
                by_length = True
            least = size
            for i in range(thread, size, threads):
                if left[i] >= 0 and (lengths[i] if by_length else left[i]) >= tied * highest:
                    least = i
                    break
            first[thread] = least
            cuda.syncthreads()
            half = threads // 2
            while half > 0:
                if thread < half:
                    first[thread] = min(first[thread], first[thread + half])
                cuda.syncthreads()
                half //= 2
            place = first[0]
            length, row = left[place], order[place]
            cuda.syncthreads()
            for i in range(thread, size, threads):
                value = 0.0
                if length > enough:
                    value = float64(matrix[row, order[i]])
                    for j in range(k):
                        value -= factor[j, i] * factor[j, place]
                    value /= length**0.5
                    if left[i] >= 0:
                        left[i] = max(left[i] - value * value, 0.0)
                factor[k, i] = value
            if thread == 0:
                places[k] = place
            cuda.syncthreads()
            if thread == 0:
                left[place] = -1.0
            cuda.syncthreads()

    return run
