"""A step of Adam on a GPU: all that happens to a weight in one kernel, and one pass over memory.

It does what :class:`lrnn.training.adam.Adam` does with arrays, on logarithms or on square roots.
"""

from functools import cache
from math import exp, sqrt
from typing import Any

from array_api_compat import array_namespace
from numba import boolean, float32, float64

from lrnn.arrays import Array, backend_of, host_dtype
from lrnn.functional.cuda_descent import stream_of
from lrnn.functional.numba_cuda import configured, cuda, multiprocessors

THREADS, BLOCKS = 256, 8  # in a block, and blocks for each multiprocessor


def step(
    weight: Array,
    gradient: Array,
    mean: Array,
    square: Array,
    size: Any,
    *,
    roots: bool,
    keep: tuple[float, float],
    tiny: float,
    least: float,
    most: float,
) -> None:
    """Move ``weight`` in place, and the running means of its gradient and of the square of it.

    ``size`` is a number or an array of one; ``keep`` how much of their past the means keep, to
    which ``tiny`` is added. Weights (or their roots) do not become less than ``least``, nor weights
    more than ``most``.
    """
    xp, backend = array_namespace(weight), backend_of(weight)
    told = xp.reshape(xp.asarray(size, dtype=xp.float64, device=backend.device), (1,))
    arrays = [xp.reshape(one, (-1,)) for one in (weight, gradient, mean, square)]
    blocks = min(-(-arrays[0].shape[0] // THREADS), BLOCKS * multiprocessors())
    kernel = kernel_for(host_dtype(weight.dtype).name)
    launch = configured(kernel, blocks, THREADS, stream_of(weight))
    given = (cuda.as_cuda_array(one, sync=False) for one in (*arrays, told))
    launch(*given, roots, *keep, tiny, least, most)


@cache
def kernel_for(dtype: str) -> Any:
    """The kernel for float32 or float64."""
    number = {"float32": float32, "float64": float64}[dtype]
    row = number[::1]
    signature = (row, row, row, row, float64[::1], boolean, *[number] * 5)

    @cuda.jit(signature)  # type: ignore[untyped-decorator]
    def move(
        weight: Any, gradient: Any, mean: Any, square: Any, size: Any, roots: bool,
        keep_mean: float, keep_square: float, tiny: float, least: float, most: float,
    ) -> None:  # fmt: skip
        one, two, length = number(1), number(2), number(size[0])
        for i in range(cuda.grid(1), weight.shape[0], cuda.gridsize(1)):
            old = weight[i]
            root = number(sqrt(old)) if roots else one
            slope = two * root * gradient[i] if roots else old * gradient[i]
            first = keep_mean * mean[i] + ((one - keep_mean) * slope + tiny)
            second = keep_square * square[i] + ((one - keep_square) * slope * slope + tiny)
            mean[i], square[i] = first, second
            change = -length * first / number(sqrt(second))
            if roots:
                root = max(root + change, least)
                weight[i] = min(root * root, most)
            else:
                weight[i] = min(max(old * number(exp(change)), least), most)

    return move
