"""Random numbers for every kernel: a plain function that numba compiles for CPU and GPU.

They are xoroshiro128++ (Blackman & Vigna, 2019): 128 bits of state, a period of 2¹²⁸ − 1, and no
known failure in BigCrush or PractRand. A tick takes two numbers, one for a clock and one for a
route; a run of 10¹² ticks uses 2⁻⁸⁷ of the period. Streams start from `numpy.random.SeedSequence`,
whose hashing keeps them apart.
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


def share(drawn: Any, count: Any) -> tuple[Any, Any]:
    """Which of ``count`` equal parts a 64-bit number falls into, and where in it, in 64 bits.

    These are the halves of their product of 128 bits; ``count`` has at most 32.
    """
    half, lower = np.uint64(32), np.uint64(0xFFFFFFFF)
    low = (drawn & lower) * count
    high = (drawn >> half) * count + (low >> half)
    return high >> half, (high << half) | (low & lower)
