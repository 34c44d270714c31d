"""The inner loop of the simulation neuron by neuron.

In a network without cycles a neuron needs to know nothing but the spikes that come to it. So for a
window of time all of its events are made at once: spikes from outside, spikes of its *inbox* in
order of time, and its own firings, whose spikes go into the inboxes of neurons behind it. Levels of
neurons are worked on one after the other. Nothing is spent on neurons at rest.

A neuron has random numbers of its own, and its next spike from outside and its next firing are
drawn when the one before has happened. So all spikes are the same, bit for bit, for any windows and
wherever the neurons are, and so are the integrals, which are taken from event to event of a neuron.
An inhibitory spike is one with a negative time.
"""

from typing import Any

import numpy as np
from numba import njit

from lrnn.functional.compiled import compiled
from lrnn.spiking.exponential import exponential, step
from lrnn.spiking.meeting import FAILED, add, meet, read
from lrnn.spiking.wiring import GONE

EXCITED, INHIBITED, FIRES, SINCE, AREA, BUSY = range(6)  # times of a neuron, integrals
POTENTIAL, FIRED, REFUSED, LOST = range(4)  # what else it counts
UNIFORM = 2.0**-53


@compiled
def make_window(
    levels: Any,
    begin: float,
    end: float,
    old: int,
    pace: Any,
    times: Any,
    counts: Any,
    random: Any,
    first: Any,
    limits: Any,
    targets: Any,
    outbox: Any,
    goals: Any,
    inbox: Any,
    begins: Any,
    recorded: Any,
    spikes: Any,
    senders: Any,
    happened: Any,
) -> Any:
    """All levels from ``begin`` to ``end``: events, and recorded spikes; −1, if there was no room.

    ``pace`` has the mean time between firings, and between spikes from outside, of each neuron;
    ``happened`` takes the times of all events, unless it is empty. Of the two states in ``times``,
    ``counts`` and ``random`` the ``old`` one is read, and the other written.
    """
    sent = events = written = 0
    for level in range(len(levels) - 1):
        low, high = levels[level], levels[level + 1]
        sent = deliver(outbox, goals, sent, low, high, begin, end, inbox, begins)
        sent, events, written = live(
            low, high, end, old, pace, times, counts, random, first, limits, targets, outbox, goals,
            sent, inbox, begins, recorded, spikes, senders, written, happened, events,
        )  # fmt: skip
        if sent < 0:
            return -1, 0
    return events, written


@compiled
def make_level(
    low: int,
    high: int,
    begin: float,
    end: float,
    old: int,
    pace: Any,
    times: Any,
    counts: Any,
    random: Any,
    first: Any,
    limits: Any,
    targets: Any,
    waiting: Any,
    waiting_goals: Any,
    waits: int,
    outbox: Any,
    goals: Any,
    inbox: Any,
    begins: Any,
    recorded: Any,
    spikes: Any,
    senders: Any,
    written: int,
    happened: Any,
    events: int,
    owners: Any,
    starts: Any,
    box: Any,
    box_goals: Any,
    offsets: Any,
) -> Any:
    """One level of a part: spikes that still wait, events, recorded spikes; −1: no room.

    Spikes that were sent are in ``box``, those to part p from ``offsets[p]`` on; the neurons of
    part p are numbered from ``starts[p]`` on, and ``owners`` says whose a number is.
    """
    waits = deliver(waiting, waiting_goals, waits, low, high, begin, end, inbox, begins)
    sent, events, written = live(
        low, high, end, old, pace, times, counts, random, first, limits, targets, outbox, goals,
        0, inbox, begins, recorded, spikes, senders, written, happened, events,
    )  # fmt: skip
    if sent < 0:
        return -1, 0, 0
    share_out(outbox, goals, sent, owners, starts, box, box_goals, offsets)
    return waits, events, written


@compiled
def make_share(
    me: int,
    common: Any,
    boxes: Any,
    box_goals: Any,
    offsets: Any,
    levels: Any,
    begin: float,
    end: float,
    old: int,
    pace: Any,
    times: Any,
    counts: Any,
    random: Any,
    first: Any,
    limits: Any,
    targets: Any,
    waiting: Any,
    waiting_goals: Any,
    outbox: Any,
    goals: Any,
    inbox: Any,
    begins: Any,
    recorded: Any,
    spikes: Any,
    senders: Any,
    happened: Any,
    owners: Any,
    starts: Any,
) -> Any:
    """One part's share in all levels, while threads make the others: events, recorded spikes; −1.

    ``boxes`` are those of all parts, one for even and one for odd levels; ``offsets`` says what is
    whose in them, level by level. All have made a level before one makes the next.
    """
    waits = events = written = 0
    count = len(starts) - 1
    for level in range(len(levels) - 1):
        fine = True
        if level > 0:
            for other in range(count):
                low, high = offsets[level - 1, other, me], offsets[level - 1, other, me + 1]
                fine = fine and waits + high - low <= len(waiting)
                if fine:
                    here = slice(waits, waits + high - low)
                    waiting[here] = boxes[other, (level - 1) % 2, low:high]
                    waiting_goals[here] = box_goals[other, (level - 1) % 2, low:high]
                    waits += high - low
        if fine:
            waits, events, written = make_level(
                levels[level], levels[level + 1], begin, end, old, pace, times, counts, random,
                first, limits, targets, waiting, waiting_goals, waits, outbox, goals, inbox, begins,
                recorded, spikes, senders, written, happened, events, owners, starts,
                boxes[me, level % 2], box_goals[me, level % 2], offsets[level, me],
            )  # fmt: skip
        if not fine or waits < 0:
            add(common, FAILED, 1)
        meet(common, count)
        if read(common, FAILED):
            return -1, 0
    return events, written


@compiled
def begin(pace: Any, times: Any, counts: Any, random: Any) -> None:
    """Draw when neurons fire, and when spikes come from outside, for the first time."""
    for neuron in range(len(times)):
        s0, s1 = random[neuron, 0], random[neuron, 1]
        s0, s1, fires = exponential(s0, s1)
        s0, s1, excited = exponential(s0, s1)
        s0, s1, inhibited = exponential(s0, s1)
        excitable = counts[neuron, POTENTIAL] > 0
        times[neuron, FIRES] = fires * pace[neuron, 0] if excitable else np.inf
        times[neuron, EXCITED] = excited * pace[neuron, 1]
        times[neuron, INHIBITED] = inhibited * pace[neuron, 2]
        random[neuron, 0], random[neuron, 1] = s0, s1


@compiled
def draw_arrivals(now: float, pace: Any, times: Any, random: Any) -> None:
    """Draw when spikes come from outside for the next time, from now on."""
    for neuron in range(len(times)):
        s0, s1 = random[neuron, 0], random[neuron, 1]
        s0, s1, excited = exponential(s0, s1)
        s0, s1, inhibited = exponential(s0, s1)
        times[neuron, EXCITED] = now + excited * pace[neuron, 1]
        times[neuron, INHIBITED] = now + inhibited * pace[neuron, 2]
        random[neuron, 0], random[neuron, 1] = s0, s1


@njit
def live(
    low: Any, high: Any, end: Any, old: Any, pace: Any, times: Any, counts: Any, random: Any,
    first: Any, limits: Any, targets: Any, outbox: Any, goals: Any, sent: Any, inbox: Any,
    begins: Any, recorded: Any, spikes: Any, senders: Any, written: Any, happened: Any, events: Any,
) -> Any:  # fmt: skip
    """A window of one neuron of a level after the other."""
    room, new = len(outbox), 1 - old
    for neuron in range(low, high):
        place, behind = begins[neuron - low], begins[neuron - low + 1]
        s0, s1 = random[old, neuron, 0], random[old, neuron, 1]
        excited, inhibited = times[old, neuron, EXCITED], times[old, neuron, INHIBITED]
        fires, now = times[old, neuron, FIRES], times[old, neuron, SINCE]
        area, busy = times[old, neuron, AREA], times[old, neuron, BUSY]
        potential, fired = counts[old, neuron, POTENTIAL], counts[old, neuron, FIRED]
        refused, lost = counts[old, neuron, REFUSED], counts[old, neuron, LOST]
        between, begin = pace[neuron, 0], first[neuron]
        width = first[neuron + 1] - begin
        while True:
            comes = inbox[place] if place < behind else np.inf
            when = min(min(excited, inhibited), min(abs(comes), fires))
            if when >= end:
                break
            if potential > 0:
                area += potential * (when - now)
                busy += when - now
            now = when
            adds = 0
            if when == fires:
                potential -= 1
                fired += 1
                if recorded[neuron]:
                    if written == len(spikes):
                        return -1, 0, 0
                    spikes[written] = now
                    senders[written] = neuron
                    written += 1
                s0, s1, drawn = step(s0, s1)
                chosen = np.float64(drawn >> np.uint64(11)) * UNIFORM * width
                entry = np.int64(chosen)
                target = targets[begin + entry, np.int64(chosen - entry >= limits[begin + entry])]
                if target != GONE:
                    if sent == room:
                        return -1, 0, 0
                    outbox[sent] = now if target >= 0 else -now
                    goals[sent] = target if target >= 0 else ~target
                    sent += 1
                fires = np.inf
                if potential > 0:
                    s0, s1, wait = exponential(s0, s1)
                    fires = now + wait * between
                if len(happened):
                    if events == len(happened):
                        return -1, 0, 0
                    happened[events] = now
                events += 1
                continue
            if when == comes:
                place += 1
                adds = 1
            elif when == -comes:
                place += 1
                adds = -1
            else:
                if len(happened):
                    if events == len(happened):
                        return -1, 0, 0
                    happened[events] = now
                events += 1
                s0, s1, wait = exponential(s0, s1)
                if when == excited:
                    adds = 1
                    excited = now + wait * pace[neuron, 1]
                else:
                    adds = -1
                    inhibited = now + wait * pace[neuron, 2]
            if adds > 0:
                potential += 1
                if potential == 1:
                    s0, s1, wait = exponential(s0, s1)
                    fires = now + wait * between
            else:
                refused += 1
                if potential > 0:
                    lost += 1
                    potential -= 1
                    if potential == 0:
                        fires = np.inf
        times[new, neuron, EXCITED], times[new, neuron, INHIBITED] = excited, inhibited
        times[new, neuron, FIRES], times[new, neuron, SINCE] = fires, now
        times[new, neuron, AREA], times[new, neuron, BUSY] = area, busy
        counts[new, neuron, POTENTIAL], counts[new, neuron, FIRED] = potential, fired
        counts[new, neuron, REFUSED], counts[new, neuron, LOST] = refused, lost
        random[new, neuron, 0], random[new, neuron, 1] = s0, s1
    return sent, events, written


@njit
def deliver(
    outbox: Any, goals: Any, sent: Any, low: Any, high: Any, begin: Any, end: Any, inbox: Any,
    begins: Any,
) -> Any:  # fmt: skip
    """Put spikes that go to a level into its inboxes, in order of time; how many are left."""
    n = high - low
    begins[: n + 1] = 0
    for i in range(sent):
        goal = goals[i]
        if goal < high:
            begins[goal - low + 1] += 1
    for i in range(n):
        begins[i + 1] += begins[i]
    left = 0
    for i in range(sent):
        goal = goals[i]
        if goal < high:
            inbox[begins[goal - low]] = outbox[i]
            begins[goal - low] += 1
        else:
            outbox[left], goals[left] = outbox[i], goal
            left += 1
    for i in range(n, 0, -1):
        begins[i] = begins[i - 1]
    begins[0] = 0
    most = 0
    for i in range(n):
        most = max(most, begins[i + 1] - begins[i])
    sorted_, starts = np.empty(most), np.empty(most + 1, np.int64)
    for i in range(n):
        put_in_order(inbox[begins[i] : begins[i + 1]], begin, end, sorted_, starts)
    return left


@njit
def share_out(
    outbox: Any, goals: Any, sent: Any, owners: Any, starts: Any, box: Any, box_goals: Any,
    offsets: Any,
) -> None:  # fmt: skip
    """Sort spikes by the part that they go to, the numbers of whose neurons begin with 0 there."""
    offsets[:] = 0
    for i in range(sent):
        offsets[owners[goals[i]] + 1] += 1
    for part in range(len(offsets) - 1):
        offsets[part + 1] += offsets[part]
    for i in range(sent):
        part = owners[goals[i]]
        box[offsets[part]] = outbox[i]
        box_goals[offsets[part]] = goals[i] - starts[part]
        offsets[part] += 1
    for part in range(len(offsets) - 1, 0, -1):
        offsets[part] = offsets[part - 1]
    offsets[0] = 0


@njit
def put_in_order(times: Any, begin: Any, end: Any, found: Any, starts: Any) -> None:
    """Sort spikes by time: into as many drawers as there are spikes, and then neighbours."""
    count = len(times)
    if count < 2:
        return
    scale, last = count / (end - begin), np.int64(count - 1)
    starts[: count + 1] = 0
    for time in times:
        drawer = np.int64((abs(time) - begin) * scale)
        starts[min(drawer, last) + 1] += 1
    for i in range(count):
        starts[i + 1] += starts[i]
    for time in times:
        drawer = min(np.int64((abs(time) - begin) * scale), last)
        found[starts[drawer]] = time
        starts[drawer] += 1
    for i in range(1, count):
        time = found[i]
        at = i
        while at > 0 and abs(found[at - 1]) > abs(time):
            found[at] = found[at - 1]
            at -= 1
        found[at] = time
    times[:] = found[:count]
