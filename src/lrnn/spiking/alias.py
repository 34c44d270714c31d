"""Alias tables (Walker, 1977): draw from any distribution in constant time."""

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.functional.compiled import compiled


@compiled
def alias_rows(first: NDArray[np.int64], weights: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Alias tables of several distributions: limits from 0 to 1, and the alias of each entry.

    Row *i* is in proportion to ``weights[first[i]:first[i + 1]]``.
    """
    limits = np.zeros(len(weights))
    alias = np.arange(len(weights))
    share = np.empty(len(weights))
    stack = np.empty(len(weights), dtype=np.int64)
    for row in range(len(first) - 1):
        begin, end = first[row], first[row + 1]
        total = missing = 0.0  # by Kahan's sum: its error would all be in one entry
        for i in range(begin, end):
            more = weights[i] - missing
            before, total = total, total + more
            missing = (total - before) - more
        low, high = begin, end  # entries below an even share are stacked up from here, others down
        for i in range(begin, end):
            share[i] = weights[i] * (end - begin) / total
            if share[i] < 1:
                stack[low] = i
                low += 1
            else:
                high -= 1
                stack[high] = i
        while low > begin and high < end:
            small, large = stack[low - 1], stack[high]
            low -= 1
            limits[small] = share[small]
            alias[small] = large
            share[large] -= 1 - share[small]
            if share[large] < 1:
                high += 1
                stack[low] = large
                low += 1
        # whatever is left has, to rounding, just its even share: its alias is itself
    return limits, alias
