"""Random numbers for every kernel: a plain function that numba compiles for CPU and GPU.

They are xoroshiro128++ (Blackman & Vigna, 2019): 128 bits of state, a period of 2¹²⁸ − 1, and no
known failure in BigCrush or PractRand, also not in the halves of a number, which are used
separately here: the high one draws a clock, the low one a route. A run of 10¹² ticks uses 2⁻⁸⁸ of
the period. Streams start from `numpy.random.SeedSequence`, whose hashing keeps them apart.
"""

from typing import Any

import numpy as np


def step(s0: Any, s1: Any) -> tuple[Any, Any, Any]:
    """The generator's next state, and the 64 bits that it draws."""
    total = s0 + s1
    drawn = ((total << np.uint64(17)) | (total >> np.uint64(47))) + s0
    s1 ^= s0
    s0 = ((s0 << np.uint64(49)) | (s0 >> np.uint64(15))) ^ s1 ^ (s1 << np.uint64(21))
    s1 = (s1 << np.uint64(28)) | (s1 >> np.uint64(36))
    return s0, s1, drawn
