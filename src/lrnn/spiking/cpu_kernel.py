"""The simulation's inner loop on a CPU.

A tick draws a clock and, whether or not its node can fire, a route; then it adds 1 or 0. Without a
branch that would have to be guessed, the processor works on several ticks at once. A node is one
64-bit word, its potential in the low half and its firings in the high half, so that a tick reads
and writes two words and nothing else. Right before every so many ticks all potentials are *looked*
at, to see who is excited, and every so many looks they are *observed*. Ticks do not depend on the
state, so what is found right before them is what is so at any time, and the first of those ticks is
any of the first so many. If wanted, potentials are also *seen* right after every so many events, as
in the paper.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from lrnn.functional.compiled import compiled
from lrnn.spiking import draws
from lrnn.spiking.plan import EVENTS, LOOKS, OBSERVATIONS, TICKS

SPIKES = OBSERVATIONS + 1  # what else a run counts: those in the buffer
FULL = 1 << 30  # potential that a word holds at most between drains, and that of the outside world
BETWEEN_DRAINS = 1 << 28  # ticks: neither half of a word can overflow
NEVER = 3 << 30  # in 32 bits a potential far below 0: what left the network does not fire again
FIRING = (1 << 32) - 1  # added to a word: one firing more, a potential of one less

step = njit(draws.step)


@intrinsic
def share(typing: Any, drawn: Any, count: Any) -> Any:
    """`draws.share` by one instruction."""

    def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(number, wide) for number in arguments))
        narrow = ir.IntType(64)
        high = builder.trunc(builder.lshr(product, wide(64)), narrow)
        return context.make_tuple(
            builder, signature.return_type, (high, builder.trunc(product, narrow))
        )

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), made


@compiled
def advance(
    first: Any,
    limits: Any,
    targets: Any,
    clock_limits: Any,
    clock_nodes: Any,
    words: Any,
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
    recorded: Any,
    spikes: Any,
) -> None:
    """Go on until ``event_end`` events, ``tick_end`` ticks, or no more room for spikes.

    ``recorded`` tells whose spikes are written down (tick, node), or is None; ``observe`` is a
    multiple of ``look``, and ``shift`` is by how many ticks the first of both comes sooner;
    ``seen`` adds up potentials after ``every`` so many events, or is None. A neuron's potential is
    ``reserve`` and the word's low half together.
    """
    n = len(busy)
    n_clocks = np.uint64(len(clock_limits))
    s0, s1 = random[0], random[1]
    ticks, done = counts[TICKS], counts[EVENTS]
    drain = ticks + BETWEEN_DRAINS
    while True:
        span = min(tick_end - ticks, event_end - done, look - (ticks + shift) % look, drain - ticks)
        if recorded is not None:
            span = min(span, len(spikes) - counts[SPIKES])
        if seen is not None:
            span = min(span, every - done % every)
        if span <= 0:
            break
        if (ticks + shift) % look == 0:
            counts[LOOKS] += 1
            for i in range(n):
                busy[i] += np.int32(words[i]) > 0
            if (ticks + shift) % observe == 0:
                counts[OBSERVATIONS] += 1
                for i in range(n):
                    observed[i] += reserve[i] + np.int32(words[i])
        before = done
        for tick in range(ticks, ticks + span):
            s0, s1, drawn = step(s0, s1)
            entry, place = share(drawn, n_clocks)
            node = np.uint64(clock_nodes[entry, np.uint64(place >= clock_limits[entry])])
            begin = np.uint64(first[node])
            s0, s1, drawn = step(s0, s1)
            entry, place = share(drawn, np.uint64(first[node + np.uint64(1)]) - begin)
            entry += begin
            target = targets[entry, np.uint64(place >= limits[entry])]

            word = words[node]
            fires = np.int64(np.int32(word) > 0)
            words[node] = word + fires * FIRING
            if target >= 0:
                words[np.uint64(target)] += fires
            else:
                goal = np.uint64(~target)
                effective = fires & np.int64(np.int32(words[goal]) > 0)
                words[goal] -= effective
                inhibited[0, goal] += fires
                inhibited[1, goal] += effective
            done += fires
            if recorded is not None and fires and recorded[node]:
                spikes[counts[SPIKES], 0] = tick + 1
                spikes[counts[SPIKES], 1] = node
                counts[SPIKES] += 1
        ticks += span
        if seen is not None and done > before and done % every == 0:
            for i in range(n):
                seen[i] += reserve[i] + np.int32(words[i])
        if ticks == drain:
            settle(words, reserve, fired)
            drain += BETWEEN_DRAINS
    settle(words, reserve, fired)
    random[0], random[1] = s0, s1
    counts[TICKS], counts[EVENTS] = ticks, done


@compiled
def settle(words: Any, reserve: Any, fired: Any) -> None:
    """Write the words' firings down, and put into reserve what a word should not hold."""
    n = len(reserve)
    for i in range(n):
        fired[i] += words[i] >> 32
        potential = reserve[i] + np.int32(words[i])
        words[i] = min(potential, FULL)
        reserve[i] = potential - words[i]
    for i in range(n, len(words)):
        words[i] = FULL
    words[n] = NEVER
