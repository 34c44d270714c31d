"""The simulation's inner loop on a CPU.

A tick draws a clock and, whether or not its neuron can fire, a route; then it adds 1 or 0. Without
a branch that would have to be guessed, the processor works on several ticks at once. The state of a
node is one row of four numbers, so that a tick touches two short pieces of memory.

Random numbers are xoroshiro128++ (Blackman & Vigna, 2019): 128 bits of state, period 2¹²⁸ − 1, no
known failure in BigCrush or PractRand, and both 32-bit halves of a number are used. Streams start
from `numpy.random.SeedSequence`, so that they are independent.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

POTENTIAL, BUSY, ARRIVED, FIRED = range(4)
TICKS, EVENTS, OBSERVATIONS = range(3)
UNLIMITED = 1 << 62  # potential of the outside world


@njit(cache=True, nogil=True)
def advance(
    clock_limits: NDArray[np.uint32],
    clock_nodes: NDArray[np.int32],
    first: NDArray[np.int32],
    route_limits: NDArray[np.uint32],
    targets: NDArray[np.int32],
    state: NDArray[np.int64],
    observed: NDArray[np.int64],
    random: NDArray[np.uint64],
    counts: NDArray[np.int64],
    events: int,
    observe_every: int,
) -> None:
    """Go on by so many events, and add up all potentials after every ``observe_every`` of them.

    ``state`` has a row for each node: its potential, ticks during which it was excited, spikes
    that arrived (excitatory) and that it fired. Where a node is excited right now, the present
    number of ticks must still be added to those during which it was.
    """
    half = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    n_clocks = np.uint64(len(clock_limits))
    s0, s1 = random[0], random[1]
    ticks, done = counts[TICKS], counts[EVENTS]
    end = done + events
    while done < end:
        pause = min(end, (done // observe_every + 1) * observe_every)
        while done < pause:
            total = s0 + s1
            drawn = ((total << np.uint64(17)) | (total >> np.uint64(47))) + s0
            s1 ^= s0
            s0 = ((s0 << np.uint64(49)) | (s0 >> np.uint64(15))) ^ s1 ^ (s1 << np.uint64(21))
            s1 = (s1 << np.uint64(28)) | (s1 >> np.uint64(36))

            place = (drawn >> shift) * n_clocks
            clock = place >> shift
            node = clock_nodes[clock, np.int64((place & half) >= clock_limits[clock])]
            begin = first[node]
            place = (drawn & half) * np.uint64(first[node + 1] - begin)
            route = begin + np.int64(place >> shift)
            target = targets[route, np.int64((place & half) >= route_limits[route])]

            ticks += 1
            potential = state[node, POTENTIAL]
            fires = np.int64(potential > 0)
            state[node, POTENTIAL] = potential - fires
            state[node, BUSY] += ticks * np.int64(potential == 1)
            state[node, FIRED] += fires

            inhibits = np.int64(target < 0)
            goal = target ^ -inhibits
            before = state[goal, POTENTIAL]
            after = max(before + fires * (1 - 2 * inhibits), 0)
            state[goal, POTENTIAL] = after
            state[goal, BUSY] += ticks * (np.int64(after == 0) - np.int64(before == 0))
            state[goal, ARRIVED] += fires * (1 - inhibits)
            done += fires
        if done % observe_every == 0:
            for i in range(len(observed)):
                observed[i] += state[i, POTENTIAL]
            counts[OBSERVATIONS] += 1
    random[0], random[1] = s0, s1
    counts[TICKS], counts[EVENTS] = ticks, done
