"""The inner loop of the simulation neuron by neuron, on a GPU: a block for a run, or all of them.

It does what `neuron_kernel` does, with the same random numbers, and so gives the same spikes, at
times that are the same but for the last bits of a logarithm. The neurons of a level are shared out
among the threads of a team: those of a block (``team`` is then None), or of the whole device.
Spikes are put into inboxes by counting: first how many there are for each neuron, then how many in
each of as many drawers of time, so that a drawer holds one on average; what is in a drawer is
sorted by hand. Only neurons that a spike can come to are there, the busiest of a level first: so
threads side by side have about as much to do.

A window that has no room for its spikes is made again from what was kept, with half its length.
"""

import math
from typing import Any

import numpy as np
from numba import float64, int32

from lrnn.functional.numba_cuda import cuda, kernel_of
from lrnn.spiking import draws
from lrnn.spiking.exponential import drawn_by
from lrnn.spiking.neuron_kernel import UNIFORM
from lrnn.spiking.plan import ARRIVED, BUSY, FIRED, INHIBITED, OBSERVED
from lrnn.spiking.wiring import GONE

EXCITED, FIRES, AREA, EXCITED_FOR, BLOCKED = range(5)  # times of a neuron; the last: inhibited next
POTENTIAL, SPIKES, REFUSED, LOST = range(4)  # what it counts
EVENTS, SENT, PENDING, LAST, RECORDED = range(5)  # what a team has in common
SHARED = 8  # so many numbers, room for more
SPARE = 4.0  # standard deviations by which a window goes beyond an event that is sought
CLOSE = 40  # events: a window that is to have few may have so many more
NEVER = np.inf
PLAINLY, SEEKING, EXACTLY = range(3)  # how a window is made
REGISTERS = 96  # of a thread: more of them would leave room for fewer threads
CHUNK = 32  # places for spikes that a thread of a whole device takes at once
THREADS = 128  # of a block

step = cuda.jit(device=True)(draws.step)


exponential = cuda.jit(device=True)(drawn_by(step, math.log, math.exp))


@cuda.jit(device=True)
def lane_of(team: Any) -> Any:
    """Which thread of its team this is."""
    if team is None:
        return cuda.threadIdx.x
    return cuda.grid(1)


@cuda.jit(device=True)
def width_of(team: Any) -> Any:
    """How many threads there are in it."""
    if team is None:
        return cuda.blockDim.x
    return cuda.gridsize(1)


@cuda.jit(device=True)
def place_of(team: Any) -> Any:
    """Where this thread stands if neighbours are to be far from each other.

    Threads of a warp wait for each other, and what the neurons of a level do is not the same; on a
    whole device there is a warp for each of several hundred of them.
    """
    if team is None:
        return cuda.threadIdx.x
    warps = (cuda.gridsize(1) + cuda.warpsize - 1) // cuda.warpsize
    warp = cuda.threadIdx.x // cuda.warpsize * cuda.gridDim.x + cuda.blockIdx.x
    return cuda.threadIdx.x % cuda.warpsize * warps + warp


@cuda.jit(device=True)
def wait_for(team: Any) -> None:
    """Until all threads of the team have come so far."""
    if team is None:
        cuda.syncthreads()
    else:
        team.sync()


@cuda.jit(device=True)
def add_up(team: Any, values: Any, first: Any, count: Any, sums: Any, ints: Any, base: Any) -> Any:
    """Replace each of ``count`` values by the sum of those before it; the sum of all.

    ``sums`` are those of a block's threads; blocks of a team put theirs into ``ints``.
    """
    lane, width = lane_of(team), width_of(team)
    me, threads = cuda.threadIdx.x, cuda.blockDim.x
    each = (count + width - 1) // width
    begin, end = first + min(lane * each, count), first + min((lane + 1) * each, count)
    mine = int32(0)
    for i in range(begin, end):
        mine += values[i]
    sums[me] = mine
    cuda.syncthreads()
    step = 1
    while step < threads:
        more = sums[me - step] if me >= step else int32(0)
        cuda.syncthreads()
        sums[me] += more
        cuda.syncthreads()
        step *= 2
    before, total = sums[me] - mine, sums[threads - 1]
    if team is not None:
        if me == 0:
            ints[base + cuda.blockIdx.x] = total
        wait_for(team)
        total = int32(0)
        for block in range(cuda.gridDim.x):
            other = ints[base + block]
            total += other
            if block < cuda.blockIdx.x:
                before += other
    for i in range(begin, end):
        value = values[i]
        values[i] = before
        before += value
    wait_for(team)
    return total


@cuda.jit(device=True)
def route(
    team: Any, row: Any, sent: Any, from_: Any, box: Any, ints: Any, heads: Any, common: Any,
    members: Any, place: Any, first: Any, limits: Any, targets: Any,
) -> None:  # fmt: skip
    """Find where spikes go that were sent since ``from_``, and count them for each neuron."""
    times, draws, goals = box
    mine = int32(0)
    for i in range(from_ + lane_of(team), sent, width_of(team)):
        if goals[i] < 0:
            continue
        who = members[row, goals[i]]
        begin = first[who]
        chosen = np.float64(draws[i] >> np.uint64(11)) * UNIFORM * (first[who + 1] - begin)
        entry = int32(chosen)
        own, alias = targets[begin + entry, 0], targets[begin + entry, 1]
        target = own if chosen - entry < limits[begin + entry] else alias
        goal = int32(-1)
        if target != GONE:
            goal = place[row, target if target >= 0 else ~target]
        goals[i] = goal
        if goal >= 0:
            if target < 0:
                times[i] = -times[i]
            mine += int32(1)
            cuda.atomic.add(ints, heads + goal, 1)
    cuda.atomic.add(common, PENDING, mine)
    wait_for(team)


@cuda.jit(device=True)
def deliver(
    team: Any, sent: Any, box: Any, inbox: Any, ints: Any, sums: Any, room: Any, n: Any, low: Any,
    high: Any, begin: Any, end: Any,
) -> Any:  # fmt: skip
    """Put the spikes that go to a level into its inboxes, in order of time; how many there are.

    ``ints`` has drawers, how many spikes there are for each neuron, where the inboxes of a level
    begin, and sums of blocks.
    """
    lane, width = lane_of(team), width_of(team)
    times, _, goals = box
    heads, begins, totals = room, room + n, room + 2 * n + 1
    count = high - low
    total = int32(0)
    if sent > 0:
        total = add_up(team, ints, heads + low, count, sums, ints, totals)
    for i in range(lane, count, width):
        ints[begins + i] = ints[heads + low + i]
    if lane == 0:
        ints[begins + count] = total
    if total == 0:
        wait_for(team)
        return total
    for i in range(lane, total, width):
        ints[i] = 0
    wait_for(team)
    scale = 1.0 / (end - begin)
    for i in range(lane, sent, width):
        goal = goals[i]
        if low <= goal < high:
            first = ints[begins + goal - low]
            many = ints[begins + goal - low + 1] - first
            drawer = int32((abs(times[i]) - begin) * scale * many)
            cuda.atomic.add(ints, first + min(drawer, many - 1), 1)
    wait_for(team)
    add_up(team, ints, 0, total, sums, ints, totals)
    for i in range(lane, sent, width):
        goal = goals[i]
        if low <= goal < high:
            first = ints[begins + goal - low]
            many = ints[begins + goal - low + 1] - first
            drawer = int32((abs(times[i]) - begin) * scale * many)
            inbox[cuda.atomic.add(ints, first + min(drawer, many - 1), 1)] = times[i]
    for i in range(lane, count, width):
        ints[heads + low + i] = 0
    wait_for(team)
    for i in range(lane, total, width):
        first = int32(0)
        if i > 0:
            first = ints[i - 1]
        last = ints[i]
        for j in range(first + 1, last):
            time = inbox[j]
            at = j
            while at > first and abs(inbox[at - 1]) > abs(time):
                inbox[at] = inbox[at - 1]
                at -= 1
            inbox[at] = time
    wait_for(team)
    return total


@cuda.jit(device=True)
def live(
    team: Any, run: Any, row: Any, low: Any, high: Any, begin: Any, end: Any, box: Any, inbox: Any,
    ints: Any, room: Any, n: Any, common: Any, tables: Any, between: Any, pace: Any, blocking: Any,
    members: Any, times: Any, counts: Any, random: Any, seeking: Any, happened: Any, recorded: Any,
    spikes: Any, senders: Any,
) -> None:  # fmt: skip
    """A window of the neurons of a level, one after the other in each thread."""
    inside, layer_width, height = tables
    sent_times, draws, goals = box
    begins = room + n
    inhibits = times.shape[0] > BLOCKED
    free, mark = int32(0), int32(0)
    for neuron in range(low + place_of(team), high, width_of(team)):
        at = ints[begins + neuron - low]
        behind = ints[begins + neuron - low + 1]
        excited, fires = times[EXCITED, run, neuron], times[FIRES, run, neuron]
        blocked = NEVER
        if inhibits:
            blocked = times[BLOCKED, run, neuron]
        potential = counts[POTENTIAL, run, neuron]
        if at == behind and min(min(excited, blocked), fires) >= end:
            if potential > 0:
                times[AREA, run, neuron] += potential * (end - begin)
                times[EXCITED_FOR, run, neuron] += end - begin
            continue
        who = members[row, neuron]
        s0, s1 = random[0, run, neuron], random[1, run, neuron]
        now, area, busy = begin, times[AREA, run, neuron], times[EXCITED_FOR, run, neuron]
        fired, refused, lost, events = int32(0), int32(0), int32(0), int32(0)
        pause = between[who]
        noted = recorded[who]
        while True:
            comes = NEVER
            if at < behind:
                comes = inbox[at]
            when = min(min(excited, blocked), min(abs(comes), fires))
            if when >= end:
                break
            if potential > 0:
                area += potential * (when - now)
                busy += when - now
            now = when
            adds = int32(0)
            if when == fires:
                potential -= int32(1)
                fired += int32(1)
                s0, s1, drawn = step(s0, s1)
                if team is None:
                    mark = cuda.atomic.add(common, SENT, 1)
                elif free == 0:
                    mark = cuda.atomic.add(common, SENT, CHUNK)
                    free = int32(CHUNK)
                if mark < room:
                    sent_times[mark] = now
                    draws[mark] = drawn
                    goals[mark] = neuron
                if team is not None:
                    mark += int32(1)
                    free -= int32(1)
                fires = NEVER
                if noted:
                    slot = cuda.atomic.add(common, RECORDED, 1)
                    if slot < spikes.shape[1]:
                        spikes[run, slot] = now
                        senders[run, slot] = who
            elif when == comes:
                at += 1
                adds = int32(1)
            elif when == -comes:
                at += 1
                adds = int32(-1)
            elif when == excited:
                adds = int32(1)
            else:
                adds = int32(-1)
            if when != abs(comes) or adds == 0:
                events += int32(1)
                if seeking:
                    slot = cuda.atomic.add(common, LAST, 1)
                    if slot < len(happened):
                        happened[slot] = now
                if adds != 0:
                    s0, s1, wait = exponential(s0, s1, inside, layer_width, height)
                    if adds > 0:
                        excited = now + wait * pace[row, neuron]
                    else:
                        blocked = now + wait * blocking[row, neuron]
            again = adds == 0 and potential > 0
            if adds > 0:
                potential += int32(1)
                again = potential == 1
            elif adds < 0:
                refused += int32(1)
                if potential > 0:
                    lost += int32(1)
                    potential -= int32(1)
                    if potential == 0:
                        fires = NEVER
            if again:
                s0, s1, wait = exponential(s0, s1, inside, layer_width, height)
                fires = now + wait * pause
        if potential > 0:
            area += potential * (end - now)
            busy += end - now
        times[EXCITED, run, neuron], times[FIRES, run, neuron] = excited, fires
        times[AREA, run, neuron], times[EXCITED_FOR, run, neuron] = area, busy
        counts[POTENTIAL, run, neuron] = potential
        counts[SPIKES, run, neuron] += fired
        if inhibits:
            times[BLOCKED, run, neuron] = blocked
            counts[REFUSED, run, neuron] += refused
            counts[LOST, run, neuron] += lost
        random[0, run, neuron], random[1, run, neuron] = s0, s1
        cuda.atomic.add(common, EVENTS, events)
    if team is not None:
        for unused in range(mark, min(mark + free, room)):
            goals[unused] = -1


@cuda.jit(device=True)
def make_window(
    team: Any, run: Any, row: Any, begin: Any, end: Any, levels: Any, box: Any, inbox: Any,
    ints: Any, sums: Any, room: Any, n: Any, common: Any, tables: Any, between: Any, pace: Any,
    blocking: Any, members: Any, place: Any, first: Any, limits: Any, targets: Any, times: Any,
    counts: Any, random: Any, seeking: Any, happened: Any, recorded: Any, spikes: Any, senders: Any,
) -> Any:  # fmt: skip
    """All levels until ``end``: how many events; −1, if there was no room."""
    lane, width = lane_of(team), width_of(team)
    if lane == 0:
        common[EVENTS] = 0
        common[SENT] = 0
        common[PENDING] = 0
        common[LAST] = 0
    for i in range(lane, n, width):
        ints[room + i] = 0
    wait_for(team)
    full = False
    for level in range(levels.shape[1] - 1):
        low, high = levels[row, level], levels[row, level + 1]
        sent = common[SENT]
        wait_for(team)
        total = deliver(team, sent, box, inbox, ints, sums, room, n, low, high, begin, end)
        pending = common[PENDING] - total
        wait_for(team)
        if lane == 0:
            common[PENDING] = pending
            if pending == 0:
                common[SENT] = 0
        if pending == 0:  # none is on its way to a later level
            sent = int32(0)
        wait_for(team)
        live(
            team, run, row, low, high, begin, end, box, inbox, ints, room, n, common, tables,
            between, pace, blocking, members, times, counts, random, seeking, happened, recorded,
            spikes, senders,
        )  # fmt: skip
        wait_for(team)
        marked = common[SENT]
        full = marked > room or common[LAST] > len(happened)
        full = full or common[RECORDED] > spikes.shape[1]
        if full:
            break
        route(
            team, row, marked, sent, box, ints, room, common, members, place, first, limits, targets
        )
    found = common[EVENTS]
    wait_for(team)
    return int32(-1) if full else found


@cuda.jit(device=True)
def copy(team: Any, run: Any, n: Any, times: Any, counts: Any, random: Any, into: Any) -> None:
    """The state of a run."""
    lane, width = lane_of(team), width_of(team)
    kept_times, kept_counts, kept_random = into
    wait_for(team)
    for i in range(lane, n, width):
        for kind in range(times.shape[0]):
            kept_times[kind, run, i] = times[kind, run, i]
        for kind in range(counts.shape[0]):
            kept_counts[kind, run, i] = counts[kind, run, i]
        for half in range(2):
            kept_random[half, run, i] = random[half, run, i]
    wait_for(team)


@cuda.jit(device=True)
def nth(team: Any, happened: Any, count: Any, wanted: Any, low: Any, high: Any, common: Any) -> Any:
    """The time of the event so many of ``count`` are not later than."""
    lane, width = lane_of(team), width_of(team)
    while True:
        middle = low + (high - low) / 2
        if middle <= low or middle >= high:
            return high
        if lane == 0:
            common[LAST] = 0
        wait_for(team)
        mine = int32(0)
        for i in range(lane, count, width):
            if happened[i] <= middle:
                mine += int32(1)
        cuda.atomic.add(common, LAST, mine)
        wait_for(team)
        if common[LAST] >= wanted:
            high = middle
        else:
            low = middle
        wait_for(team)


@cuda.jit(device=True)
def go_on(
    team: Any, run: Any, row: Any, levels: Any, box: Any, inbox: Any, ints: Any, sums: Any,
    room: Any, common: Any, tables: Any, between: Any, pace: Any, blocking: Any, members: Any,
    place: Any, first: Any, limits: Any, targets: Any, times: Any, counts: Any, random: Any,
    kept: Any, clock: Any, passed: Any, spans: Any, per_time: Any, happened: Any, recorded: Any,
    spikes: Any, senders: Any, written: Any, time_end: Any, event_end: Any, windows: Any,
) -> None:  # fmt: skip
    """One run, until a time, right after an event, or for so many windows."""
    lane = lane_of(team)
    n = levels[row, levels.shape[1] - 1]
    now, events, span = clock[run], passed[run], spans[run]
    rate = per_time[row]
    if lane == 0:
        common[RECORDED] = written[run]
    kept_now, kept_events, kept_written = now, events, written[run]
    copy(team, run, n, times, counts, random, kept)
    stage = PLAINLY
    end = now
    for _ in range(windows):
        left = event_end - events
        if now >= time_end or left <= 0 or common[RECORDED] > spikes.shape[1] // 2:
            break
        if stage != EXACTLY:
            end, stage = min(now + span, time_end), PLAINLY
            if left <= 3 * span * rate + CLOSE:  # it might be passed
                stage = SEEKING
                kept_now, kept_events, kept_written = now, events, common[RECORDED]
                copy(team, run, n, times, counts, random, kept)
                beyond = (left + SPARE * math.sqrt(np.float64(left))) / rate
                end = min(now + min(2 * span, beyond), time_end)
        found = make_window(
            team, run, row, now, end, levels, box, inbox, ints, sums, room, n, common, tables,
            between, pace, blocking, members, place, first, limits, targets, times, counts, random,
            stage == SEEKING, happened, recorded, spikes, senders,
        )  # fmt: skip
        if found >= 0 and (found < left or stage == EXACTLY):
            now, events, stage = end, events + found, PLAINLY
            continue
        if found >= left and stage == SEEKING:
            end = nth(team, happened, found, left, now, end, common)
            end, stage = end + abs(end) * 2.0**-52, EXACTLY
        else:
            span, stage = span / 2, PLAINLY
        copy(team, run, n, kept[0], kept[1], kept[2], (times, counts, random))
        if lane == 0:
            common[RECORDED] = kept_written
        wait_for(team)
        now, events = kept_now, kept_events
    wait_for(team)
    if lane == 0:
        clock[run], passed[run], spans[run] = now, events, span
        written[run] = common[RECORDED]


@kernel_of(REGISTERS)
def advance_shared(
    room: Any, replicas: Any, levels: Any, box: Any, tables: Any, between: Any, pace: Any,
    blocking: Any, members: Any, place: Any, first: Any, limits: Any, targets: Any, times: Any,
    counts: Any, random: Any, kept: Any, clock: Any, passed: Any, spans: Any, per_time: Any,
    happened: Any, recorded: Any, spikes: Any, senders: Any, written: Any, time_end: Any,
    event_end: Any, windows: Any,
) -> None:  # fmt: skip
    """Go on with all runs, a block for each; inboxes are in shared memory."""
    run = cuda.blockIdx.x
    inbox = cuda.shared.array(0, float64)
    narrow = cuda.shared.array(0, int32)
    common = cuda.shared.array(SHARED, int32)
    sums = cuda.shared.array(THREADS, int32)
    go_on(
        None, run, run // replicas, levels, (box[0][run], box[1][run], box[2][run]), inbox,
        narrow[2 * room :], sums, room, common, tables, between, pace, blocking, members, place,
        first, limits, targets, times, counts, random, kept, clock, passed, spans, per_time,
        happened[run], recorded, spikes, senders, written, time_end[run], event_end, windows,
    )  # fmt: skip


@kernel_of(REGISTERS)
def advance_global(
    inboxes: Any, ints: Any, room: Any, replicas: Any, levels: Any, box: Any, tables: Any,
    between: Any, pace: Any, blocking: Any, members: Any, place: Any, first: Any, limits: Any,
    targets: Any, times: Any, counts: Any, random: Any, kept: Any, clock: Any, passed: Any,
    spans: Any, per_time: Any, happened: Any, recorded: Any, spikes: Any, senders: Any,
    written: Any, time_end: Any, event_end: Any, windows: Any,
) -> None:  # fmt: skip
    """Go on with all runs, a block for each; inboxes are in global memory."""
    run = cuda.blockIdx.x
    common = cuda.shared.array(SHARED, int32)
    sums = cuda.shared.array(THREADS, int32)
    go_on(
        None, run, run // replicas, levels, (box[0][run], box[1][run], box[2][run]), inboxes[run],
        ints[run], sums, room, common, tables, between, pace, blocking, members, place, first,
        limits, targets, times, counts, random, kept, clock, passed, spans, per_time,
        happened[run], recorded, spikes, senders, written, time_end[run], event_end, windows,
    )  # fmt: skip


@kernel_of(REGISTERS)
def advance_whole(
    run: Any, common: Any, inboxes: Any, ints: Any, room: Any, replicas: Any, levels: Any,
    box: Any, tables: Any, between: Any, pace: Any, blocking: Any, members: Any, place: Any,
    first: Any, limits: Any, targets: Any, times: Any, counts: Any, random: Any, kept: Any,
    clock: Any, passed: Any, spans: Any, per_time: Any, happened: Any, recorded: Any, spikes: Any,
    senders: Any, written: Any, time_end: Any, event_end: Any, windows: Any,
) -> None:  # fmt: skip
    """Go on with one run, all blocks together."""
    sums = cuda.shared.array(THREADS, int32)
    go_on(
        cuda.cg.this_grid(), run, run // replicas, levels, (box[0][0], box[1][0], box[2][0]),
        inboxes[0], ints[0], sums, room, common, tables, between, pace, blocking, members, place,
        first, limits, targets, times, counts, random, kept, clock, passed, spans, per_time,
        happened[0], recorded, spikes, senders, written, time_end[run], event_end, windows,
    )  # fmt: skip


@cuda.jit
def begin(
    replicas: Any, size: Any, tables: Any, order: Any, between: Any, pace: Any, blocking: Any,
    members: Any, streams: Any, times: Any, counts: Any, random: Any,
) -> None:  # fmt: skip
    """Draw when neurons fire, and when spikes come from outside, for the first time."""
    inside, width, height = tables
    neuron, run = cuda.grid(2)
    row = run // replicas
    if run < times.shape[1] and neuron < size[row]:
        who = members[row, neuron]
        number = np.uint64(2 * order[who])
        s0 = hashed(streams[run, 0] + (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
        s1 = hashed(streams[run, 1] + (number + np.uint64(2)) * np.uint64(0x9E3779B97F4A7C15))
        s0, s1, fires = exponential(s0, s1, inside, width, height)
        s0, s1, excited = exponential(s0, s1, inside, width, height)
        s0, s1, blocked = exponential(s0, s1, inside, width, height)
        times[FIRES, run, neuron] = NEVER
        if counts[POTENTIAL, run, neuron] > 0:
            times[FIRES, run, neuron] = fires * between[who]
        times[EXCITED, run, neuron] = excited * pace[row, neuron]
        times[AREA, run, neuron], times[EXCITED_FOR, run, neuron] = 0.0, 0.0
        if times.shape[0] > BLOCKED:
            times[BLOCKED, run, neuron] = blocked * blocking[row, neuron]
        random[0, run, neuron], random[1, run, neuron] = s0, s1


@cuda.jit
def draw_arrivals(
    replicas: Any, size: Any, tables: Any, pace: Any, blocking: Any, clock: Any, times: Any,
    random: Any,
) -> None:  # fmt: skip
    """Draw when spikes come from outside for the next time, from now on."""
    inside, width, height = tables
    neuron, run = cuda.grid(2)
    row = run // replicas
    if run < times.shape[1] and neuron < size[row]:
        s0, s1 = random[0, run, neuron], random[1, run, neuron]
        s0, s1, excited = exponential(s0, s1, inside, width, height)
        s0, s1, blocked = exponential(s0, s1, inside, width, height)
        times[EXCITED, run, neuron] = clock[run] + excited * pace[row, neuron]
        if times.shape[0] > BLOCKED:
            times[BLOCKED, run, neuron] = clock[run] + blocked * blocking[row, neuron]
        random[0, run, neuron], random[1, run, neuron] = s0, s1


@cuda.jit(device=True)
def hashed(z: Any) -> Any:
    """A number of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@cuda.jit
def forget(size: Any, replicas: Any, times: Any, counts: Any, began: Any) -> None:
    """All but potentials, and what comes next."""
    neuron, run = cuda.grid(2)
    if run < times.shape[1] and neuron < size[run // replicas]:
        times[AREA, run, neuron], times[EXCITED_FOR, run, neuron] = 0.0, 0.0
        for kind in range(1, counts.shape[0]):
            counts[kind, run, neuron] = 0
        began[run, neuron] = counts[POTENTIAL, run, neuron]


@cuda.jit
def collect(
    members: Any, order: Any, size: Any, replicas: Any, tick_rates: Any, times: Any, counts: Any,
    began: Any, sums: Any, firings: Any, arrivals: Any,
) -> None:  # fmt: skip
    """All sums per run and neuron, and firings and arrivals of a row's replicas together."""
    neuron, run = cuda.grid(2)
    row = run // replicas
    if run < times.shape[1] and neuron < size[row]:
        who = order[members[row, neuron]]
        fired = np.int64(counts[SPIKES, run, neuron])
        arrived = fired + counts[POTENTIAL, run, neuron] - began[run, neuron]
        if counts.shape[0] > REFUSED:
            arrived += counts[LOST, run, neuron]
            sums[INHIBITED, run, who] = counts[REFUSED, run, neuron]
        rate = tick_rates[row]
        sums[OBSERVED, run, who] = times[AREA, run, neuron] * rate
        sums[BUSY, run, who] = times[EXCITED_FOR, run, neuron] * rate
        sums[ARRIVED, run, who] = arrived
        sums[FIRED, run, who] = fired
        cuda.atomic.add(firings, (row, who), np.uint64(fired))
        cuda.atomic.add(arrivals, (row, who), np.uint64(arrived))
