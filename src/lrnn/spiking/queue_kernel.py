"""The inner loop of the simulation of networks with cycles, event by event, from a queue.

Where neurons feed back on each other none can be ahead of the others. So the neuron to which
something happens next is taken from a queue (a binary heap of the times of all), and the spike that
it may fire is delivered at once. As `neuron_kernel` it spends nothing on neurons at rest, and every
neuron has the random numbers that it has there: without cycles the spikes are the same.
"""

from typing import Any

import numpy as np
from numba import njit

from lrnn.functional.compiled import compiled
from lrnn.spiking.exponential import exponential, step
from lrnn.spiking.neuron_kernel import (
    AREA,
    BUSY,
    EXCITED,
    FIRED,
    FIRES,
    INHIBITED,
    LOST,
    POTENTIAL,
    REFUSED,
    SINCE,
    UNIFORM,
)
from lrnn.spiking.wiring import GONE


@compiled
def make_window(
    end: float,
    most: int,
    old: int,
    pace: Any,
    both_times: Any,
    both_counts: Any,
    both_random: Any,
    first: Any,
    limits: Any,
    targets: Any,
    recorded: Any,
    spikes: Any,
    senders: Any,
    queue: Any,
    place: Any,
    due: Any,
) -> Any:
    """All events until ``end``, or so many: how many, recorded spikes, and up to which time.

    There must be room for ``most`` recorded spikes. Of the two states the ``old`` one is read, and
    the other written. ``queue`` has the neurons, the next one first, ``place`` where each of them
    is, ``due`` when something happens to it.
    """
    new = 1 - old
    times, counts, random = both_times[new], both_counts[new], both_random[new]
    times[:], counts[:], random[:] = both_times[old], both_counts[old], both_random[old]
    n = len(times)
    for i in range(n):
        queue[i], place[i] = i, i
        due[i] = min(min(times[i, EXCITED], times[i, INHIBITED]), times[i, FIRES])
    for i in range(n // 2 - 1, -1, -1):
        sink(i, queue, place, due)
    events = written = 0
    now = -np.inf
    while events < most:
        neuron = queue[0]
        if due[neuron] >= end:
            return events, written, end
        now = due[neuron]
        events += 1
        if now == times[neuron, FIRES]:
            target = GONE
            pass_time(neuron, now, times, counts)
            counts[neuron, POTENTIAL] -= 1
            counts[neuron, FIRED] += 1
            if recorded[neuron]:
                spikes[written], senders[written] = now, neuron
                written += 1
            s0, s1, drawn = step(random[neuron, 0], random[neuron, 1])
            begin = first[neuron]
            chosen = np.float64(drawn >> np.uint64(11)) * UNIFORM * (first[neuron + 1] - begin)
            entry = np.int64(chosen)
            target = targets[begin + entry, np.int64(chosen - entry >= limits[begin + entry])]
            times[neuron, FIRES] = np.inf
            if counts[neuron, POTENTIAL] > 0:
                s0, s1, wait = exponential(s0, s1)
                times[neuron, FIRES] = now + wait * pace[neuron, 0]
            random[neuron, 0], random[neuron, 1] = s0, s1
            moved(neuron, times, queue, place, due)
            if target != GONE:
                goal = np.int64(target if target >= 0 else ~target)
                receive(goal, target >= 0, now, pace, times, counts, random)
                moved(goal, times, queue, place, due)
        else:
            s0, s1, wait = exponential(random[neuron, 0], random[neuron, 1])
            random[neuron, 0], random[neuron, 1] = s0, s1
            excites = now == times[neuron, EXCITED]
            if excites:
                times[neuron, EXCITED] = now + wait * pace[neuron, 1]
            else:
                times[neuron, INHIBITED] = now + wait * pace[neuron, 2]
            receive(neuron, excites, now, pace, times, counts, random)
            moved(neuron, times, queue, place, due)
    return events, written, np.nextafter(now, np.inf)


@njit
def pass_time(neuron: Any, now: Any, times: Any, counts: Any) -> None:
    """Add up what a neuron's potential was since the last event."""
    potential = counts[neuron, POTENTIAL]
    if potential > 0:
        times[neuron, AREA] += potential * (now - times[neuron, SINCE])
        times[neuron, BUSY] += now - times[neuron, SINCE]
    times[neuron, SINCE] = now


@njit
def receive(
    neuron: Any, excites: Any, now: Any, pace: Any, times: Any, counts: Any, random: Any
) -> None:
    """A spike comes to a neuron."""
    pass_time(neuron, now, times, counts)
    if excites:
        counts[neuron, POTENTIAL] += 1
        if counts[neuron, POTENTIAL] == 1:
            s0, s1, wait = exponential(random[neuron, 0], random[neuron, 1])
            random[neuron, 0], random[neuron, 1] = s0, s1
            times[neuron, FIRES] = now + wait * pace[neuron, 0]
        return
    counts[neuron, REFUSED] += 1
    if counts[neuron, POTENTIAL] > 0:
        counts[neuron, LOST] += 1
        counts[neuron, POTENTIAL] -= 1
        if counts[neuron, POTENTIAL] == 0:
            times[neuron, FIRES] = np.inf


@njit
def moved(neuron: Any, times: Any, queue: Any, place: Any, due: Any) -> None:
    """Find the new place in the queue of a neuron that something has happened to."""
    before = due[neuron]
    due[neuron] = min(min(times[neuron, EXCITED], times[neuron, INHIBITED]), times[neuron, FIRES])
    at = place[neuron]
    if due[neuron] > before:
        sink(at, queue, place, due)
    elif due[neuron] < before:
        while at > 0:
            above = (at - 1) // 2
            other = queue[above]
            if due[other] <= due[neuron]:
                break
            queue[at], place[other] = other, at
            at = above
        queue[at], place[neuron] = neuron, at


@njit
def sink(at: Any, queue: Any, place: Any, due: Any) -> None:
    """Let the one at a place of the queue change with those that are due before it."""
    neuron, n = queue[at], len(queue)
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and due[queue[below + 1]] < due[queue[below]]:
            below += 1
        other = queue[below]
        if due[other] >= due[neuron]:
            break
        queue[at], place[other] = other, at
        at = below
    queue[at], place[neuron] = neuron, at
