"""The simulation's inner loop on a GPU: one thread per run, thousands of runs at once.

It draws what the CPU's kernel draws, from the same streams, and so gives the same results, bit for
bit. What limits it is how many runs a multiprocessor can hold close by, so a neuron is one 16-bit
word: the low byte is its potential, the high byte counts its firings. Neither overflows. A full
count is carried to memory. A potential of 256 becomes 128 here and one unit of 128 in memory,
which comes back when the potential falls to 63; a neuron with such a reserve never has less than 64
here, so that it never seems to be at rest.

`advance_shared` keeps tables and words in shared memory, the words of a block's runs side by side
(no bank conflicts); a block works on one row of arrivals. `advance_global` leaves them in global
memory: for networks that are too large for that, and for rows with few replicas.

Entries of tables are 64 bits: the upper half of a limit, alias and own outcome; an outcome is a
neuron and two flags. The lower halves of limits are asked only where the upper ones do not decide,
once in 2³² times.
Neurons are numbered among those that can be excited under the row's arrivals; routes, which all
rows have in common, name them as the network does, and ``place`` tells their number.
"""

from typing import Any

import numpy as np
from numba import uint16, uint64

from lrnn.functional.numba_cuda import cuda
from lrnn.spiking import draws
from lrnn.spiking.plan import (
    ARRIVED,
    BUSY,
    EVENTS,
    FIRED,
    INHIBITED,
    LOOKS,
    OBSERVATIONS,
    OBSERVED,
    SEEN,
    TICKS,
)

# everything in 32 unsigned bits: a plain number would make it 64, and a signed index costs a test
INHIBITS, EXTERNAL = np.uint32(0x4000), np.uint32(0x8000)  # flags of an outcome
NOWHERE = np.uint32(0x3FFF)  # a spike that leaves, or that inhibits a neuron never excited
POTENTIAL = np.uint32(0xFF)  # of a word
FIRING = np.uint32(0xFF)  # added to a word: one firing more, a potential of one less
WORD = np.uint32(0xFFFF)
UNIT, RETURN = np.uint32(128), np.uint32(63)  # reserves come in units, and come back at this one
NONE, ONE, CARRY, SIXTEEN = np.uint32(0), np.uint32(1), np.uint32(256), np.uint32(16)
UP = np.uint64(32)

step, share = (cuda.jit(device=True)(function) for function in (draws.step, draws.share))


@cuda.jit(device=True)
def pick(drawn: Any, begin: Any, count: Any, table: Any, rests: Any, first: Any) -> Any:
    """What a random number picks from ``count`` entries; the rests of limits begin at ``first``."""
    number, place = share(drawn, np.uint64(count))
    number = np.uint32(number)
    entry = table[np.uint32(begin + number)]
    limit, at = np.uint32(entry >> UP), np.uint32(place >> UP)
    outcomes = np.uint32(entry)
    beyond = at > limit
    if at == limit:
        beyond = np.uint32(place) >= rests[np.uint32(first + number)]
    if beyond:
        outcomes = np.uint32(outcomes >> SIXTEEN)
    return outcomes & WORD


@cuda.jit(device=True, inline="always")
def advance_run(
    run: int,
    local: int,
    clocks: Any,
    first_clock: Any,
    n_clocks: Any,
    clock_rests: Any,
    first_rest: Any,
    rows: Any,
    first_row: int,
    place: Any,
    first_place: int,
    words: Any,
    first_word: int,
    word_step: int,
    routes: Any,
    route_rests: Any,
    reserve: Any,
    fired: Any,
    busy: Any,
    observed: Any,
    seen: Any,
    inhibited: Any,
    random: Any,
    counts: Any,
    tick_end: int,
    event_end: int,
    look: int,
    observe: int,
    shift: int,
    every: int,
) -> None:
    """Go on with one run until ``event_end`` events or ``tick_end`` ticks."""
    s0, s1 = random[0, run], random[1, run]
    ticks, done = counts[TICKS, run], counts[EVENTS, run]
    while ticks < tick_end and done < event_end:
        # every thread looks and then counts to `look`: so they stay side by side
        phase = np.int32((ticks + shift) % look)
        if phase == 0:
            observing = (ticks + shift) % observe == 0
            counts[LOOKS, run] += 1
            if observing:
                counts[OBSERVATIONS, run] += 1
            for i in range(local):
                at = np.uint32(first_word + np.uint32(i) * word_step)
                potential = np.uint32(words[at]) & POTENTIAL
                if potential != NONE:
                    cuda.atomic.add(busy, (i, run), ONE)
                    if observing:
                        total = np.uint64(potential)
                        if potential > RETURN:
                            total += np.uint64(UNIT) * np.uint64(reserve[i, run])
                        cuda.atomic.add(observed, (i, run), total)
        ended = np.int32(min(tick_end - ticks, look) + phase)
        missing = np.int32(min(event_end - done, every - done % every, look))
        happened, last = np.int32(0), np.int32(0)
        for tick in range(np.int32(look)):
            if phase <= tick < ended and happened < missing:
                last = np.int32(tick)
                s0, s1, drawn = step(s0, s1)
                clock = pick(drawn, first_clock, n_clocks, clocks, clock_rests, first_rest)
                s0, s1, drawn = step(s0, s1)
                target, inhibits = clock & NOWHERE, clock & INHIBITS
                inside = clock & EXTERNAL == NONE
                word = ONE
                if inside:
                    at = np.uint32(first_word + clock * word_step)
                    word = np.uint32(words[at])
                if word & POTENTIAL != NONE:
                    happened += np.int32(1)
                    if inside:
                        word = np.uint32(word + FIRING) & WORD
                        if word & POTENTIAL == RETURN and reserve[clock, run] > 0:
                            reserve[clock, run] -= ONE
                            word += UNIT
                        if word <= POTENTIAL:
                            cuda.atomic.add(fired, (clock, run), CARRY)
                        words[at] = uint16(word)
                        row = rows[np.uint32(first_row + clock)]
                        begin = np.uint32(row >> UP)
                        outcome = pick(drawn, begin, np.uint32(row), routes, route_rests, begin)
                        target, inhibits = outcome & NOWHERE, outcome & INHIBITS
                        if target != NOWHERE:
                            target = np.uint32(place[np.uint32(first_place + target)])
                    if target != NOWHERE:
                        at = np.uint32(first_word + target * word_step)
                        word = np.uint32(words[at])
                        if inhibits != NONE:
                            cuda.atomic.add(inhibited, (0, target, run), ONE)
                            if word & POTENTIAL != NONE:
                                cuda.atomic.add(inhibited, (1, target, run), ONE)
                                word -= ONE
                                if word & POTENTIAL == RETURN and reserve[target, run] > 0:
                                    reserve[target, run] -= ONE
                                    word += UNIT
                        else:
                            if word & POTENTIAL == POTENTIAL:
                                reserve[target, run] += ONE
                                word -= UNIT
                            word += ONE
                        words[at] = uint16(word)
        ticks += last + 1 - phase
        done += happened
        if happened > 0 and done % every == 0:
            for i in range(local):
                at = np.uint32(first_word + np.uint32(i) * word_step)
                potential = np.uint32(words[at]) & POTENTIAL
                total = np.uint64(potential)
                if potential > RETURN:
                    total += np.uint64(UNIT) * np.uint64(reserve[i, run])
                seen[i, run] += total
    random[0, run], random[1, run] = s0, s1
    counts[TICKS, run], counts[EVENTS, run] = ticks, done


@cuda.jit
def advance_shared(
    n_neurons: int,
    size: Any,
    replicas: int,
    clock_first: Any,
    clocks: Any,
    clock_rests: Any,
    rows: Any,
    place: Any,
    words: Any,
    routes: Any,
    route_rests: Any,
    reserve: Any,
    fired: Any,
    busy: Any,
    observed: Any,
    seen: Any,
    inhibited: Any,
    random: Any,
    counts: Any,
    tick_end: Any,
    event_end: int,
    look: Any,
    observe: Any,
    shift: Any,
    every: int,
) -> None:
    """Go on with all runs; a block per row of arrivals, a thread per replica."""
    block, lane, width = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    local = size[block]
    n_clocks = np.int32(clock_first[block + 1] - clock_first[block])
    wide = cuda.shared.array(0, uint64)  # clocks and rows, and behind them,
    short = cuda.shared.array(0, uint16)  # in the same memory, places and words
    first_place = 4 * (n_clocks + local)
    first_word = first_place + n_neurons + lane
    for i in range(lane, n_clocks, width):
        wide[i] = clocks[clock_first[block] + i]
    for i in range(lane, local, width):
        wide[n_clocks + i] = rows[block, i]
    for i in range(lane, n_neurons, width):
        short[first_place + i] = place[block, i]
    cuda.syncthreads()
    for replica in range(lane, replicas, width):
        run = block * replicas + replica
        for i in range(local):
            short[first_word + i * width] = words[run, i]
        advance_run(
            run, local, wide, NONE, np.uint32(n_clocks), clock_rests,
            np.uint32(clock_first[block]), wide, np.uint32(n_clocks), short,
            np.uint32(first_place), short, np.uint32(first_word), np.uint32(width), routes,
            route_rests, reserve, fired, busy, observed, seen, inhibited, random, counts,
            tick_end[run], event_end, look[block], observe[block], shift[run], every,
        )  # fmt: skip
        for i in range(local):
            words[run, i] = short[first_word + i * width]


@cuda.jit
def advance_global(
    n_neurons: int,
    size: Any,
    replicas: int,
    clock_first: Any,
    clocks: Any,
    clock_rests: Any,
    rows: Any,
    place: Any,
    words: Any,
    routes: Any,
    route_rests: Any,
    reserve: Any,
    fired: Any,
    busy: Any,
    observed: Any,
    seen: Any,
    inhibited: Any,
    random: Any,
    counts: Any,
    tick_end: Any,
    event_end: int,
    look: Any,
    observe: Any,
    shift: Any,
    every: int,
) -> None:
    """Go on with all runs, a thread for each."""
    run = cuda.grid(1)
    if run < len(words):
        row = run // replicas
        advance_run(
            run, size[row], clocks, np.uint32(clock_first[row]),
            np.uint32(clock_first[row + 1] - clock_first[row]), clock_rests,
            np.uint32(clock_first[row]), rows[0], NONE, place[0], NONE, words[run], NONE, ONE,
            routes, route_rests, reserve, fired, busy, observed, seen, inhibited, random, counts,
            tick_end[run], event_end, look[row], observe[row], shift[run], every,
        )  # fmt: skip


@cuda.jit
def potentials_now(words: Any, reserve: Any, potentials: Any) -> None:
    """All potentials, in 64 bits."""
    run, i = cuda.grid(2)
    if run < words.shape[0] and i < words.shape[1]:
        low = np.int64(words[run, i] & POTENTIAL)
        potentials[run, i] = low + np.int64(UNIT) * np.int64(reserve[i, run])


@cuda.jit
def look_now(
    wanted: Any,
    replicas: int,
    size: Any,
    words: Any,
    reserve: Any,
    busy: Any,
    observed: Any,
    counts: Any,
) -> None:
    """Look at all potentials, and observe them, in runs of rows for which that is wanted."""
    run, i = cuda.grid(2)
    if run < words.shape[0] and wanted[run // replicas]:
        if i == 0:
            counts[LOOKS, run] += 1
            counts[OBSERVATIONS, run] += 1
        if i < size[run // replicas]:
            potential = np.uint64(words[run, i] & POTENTIAL)
            if potential != 0:
                busy[i, run] += ONE
                observed[i, run] += potential + np.uint64(UNIT) * np.uint64(reserve[i, run])


@cuda.jit
def collect(
    rank: Any,
    members: Any,
    size: Any,
    replicas: int,
    words: Any,
    reserve: Any,
    fired: Any,
    busy: Any,
    observed: Any,
    seen: Any,
    inhibited: Any,
    began: Any,
    sums: Any,
    firings: Any,
    arrivals: Any,
) -> None:
    """All sums per run and neuron, and firings and arrivals of a row's replicas together.

    ``rank`` is where the sums of a run go.
    """
    run, i = cuda.grid(2)
    if run < words.shape[0]:
        row = run // replicas
        if i < size[row]:
            goal = rank[run]
            neuron = members[row if len(members) > 1 else 0, i]
            low = np.int64(words[run, i] & POTENTIAL)
            potential = low + np.int64(UNIT) * np.int64(reserve[i, run])
            total = np.int64(fired[i, run]) + (np.int64(words[run, i]) >> 8)
            arrived = total + potential - began[run, i]
            if sums.shape[0] > INHIBITED:
                arrived += np.int64(inhibited[1, i, run])
                sums[INHIBITED, goal, neuron] = inhibited[0, i, run]
            if sums.shape[0] > SEEN:
                sums[SEEN, goal, neuron] = seen[i, run]
            sums[OBSERVED, goal, neuron] = observed[i, run]
            sums[BUSY, goal, neuron] = busy[i, run]
            sums[ARRIVED, goal, neuron] = arrived
            sums[FIRED, goal, neuron] = total
            cuda.atomic.add(firings, (row, neuron), np.uint64(total))
            cuda.atomic.add(arrivals, (row, neuron), np.uint64(arrived))


@cuda.jit
def clear(array: Any) -> None:
    """Set all to 0."""
    for i in range(cuda.grid(1), len(array), cuda.gridsize(1)):
        array[i] = 0


@cuda.jit
def forget_firings(words: Any) -> None:
    """Set the firings that words count to 0."""
    run, i = cuda.grid(2)
    if run < words.shape[0] and i < words.shape[1]:
        words[run, i] = words[run, i] & uint16(POTENTIAL)
