"""Work on blocks of rows, several at a time."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from math import ceil
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from lrnn.arrays import Array

Result = TypeVar("Result")
CELLS_AT_ONCE = 1 << 22  # rows × the widest layer: bounds the working memory
FEWEST_CELLS = 1 << 18  # of a block: below, the overhead shows


@cache
def blas() -> ThreadpoolController:
    """The threads of the BLAS library in use."""
    return ThreadpoolController().select(user_api="blas")


def map_rows(
    work: Callable[[slice], Result],
    inputs: Array,
    widest: int,
    most: int | None = None,
    skip: int = 0,
) -> Iterator[Result]:
    """``work(rows)`` for slices of consecutive rows of ``inputs``, results in order.

    As many slices are worked on at a time as BLAS would use threads, each by one thread: unlike a
    matrix product with many threads, this keeps all cores busy between the products, too. Slices
    are so short that ``widest`` numbers for each of their rows stay small, and never longer than
    ``most``. The first ``skip`` rows are passed over.
    """
    count = inputs.shape[0] - skip
    threads = max((library["num_threads"] for library in blas().info()), default=1)
    height = max(1, max(FEWEST_CELLS, CELLS_AT_ONCE // threads) // widest)
    if most is not None:
        height = min(height, most)
    number = ceil(count / height)
    if number > 1:
        number = threads * ceil(number / threads)  # such that all threads have equal work
    bounds = [skip + count * i // max(number, 1) for i in range(number + 1)]
    slices = [slice(first, last) for first, last in pairwise(bounds) if first < last]
    if threads == 1 or len(slices) < 2:
        yield from map(work, slices)
        return
    with blas().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(work, slices)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
