"""Where things are on a GPU: tables packed for its kernel, and how many runs share a block."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking.cuda_kernel import EXTERNAL, INHIBITS, NOWHERE
from lrnn.spiking.plan import Clocks, Plan, Routes

Indices = NDArray[np.intp]

LEAST_LANES = 32  # replicas that are worth a block of their own
GLOBAL_BLOCK = 32  # runs of a block that leaves all in global memory


@dataclass(frozen=True)
class Layout:
    """Tables of some rows of arrivals, and the shape of a launch.

    Attributes
    ----------
    shared : bool
        Whether words and tables are in shared memory, a block for each row. Neurons then have the
        numbers that they have among the row's excitable ones; else those of the network.
    grid, block, shared_bytes : int
        Blocks, threads of each, bytes of shared memory of each.
    members : ndarray of shape (n_rows or 1, width)
        Who the neurons are; rows have ``sizes`` of them.
    starts : ndarray of the same shape
        Where their routes begin, and how many there are.
    place : ndarray of shape (n_rows or 1, n_neurons)
        Which number a neuron has.
    clock_first, clocks, clock_rests : ndarray
        Where the clocks of each row begin; all clocks, and the lower halves of their limits.
    """

    shared: bool
    grid: int
    block: int
    shared_bytes: int
    members: NDArray[np.int32]
    sizes: NDArray[np.int32]
    starts: NDArray[np.uint64]
    place: NDArray[np.uint16]
    clock_first: NDArray[np.int32]
    clocks: NDArray[np.uint64]
    clock_rests: NDArray[np.uint32]

    @classmethod
    def of(cls, plan: Plan, rows: Indices, shared_memory: int) -> "Layout":
        """The layout of these rows on a device whose blocks can have so much shared memory."""
        n = plan.network.n_neurons
        clocks = [plan.clocks[row] for row in rows]
        lanes = lanes_of(plan, rows, shared_memory)
        shared = min(plan.replicas, lanes) >= LEAST_LANES
        members = [c.excitable for c in clocks] if shared else [np.arange(n)]
        width = max(1, max(map(len, members)))
        place = np.full((len(members), n), NOWHERE, dtype=np.uint16)
        listed = np.zeros((len(members), width), dtype=np.int32)
        starts = np.zeros((len(members), width), dtype=np.uint64)
        begin = _packed_rows(plan.routes)
        for i, who in enumerate(members):
            place[i, who] = np.arange(len(who))
            listed[i, : len(who)] = who
            starts[i, : len(who)] = begin[who]
        packed = [_packed_clocks(c, place[i if shared else 0], n) for i, c in enumerate(clocks)]
        if shared:
            rounds = -(-plan.replicas // lanes)
            block = -(-plan.replicas // rounds)
            grid, size = len(rows), _table_bytes(plan, rows) + 2 * width * block
        else:
            block, size = GLOBAL_BLOCK, 0
            grid = -(-len(rows) * plan.replicas // block)
        return cls(
            shared=shared,
            grid=grid,
            block=block,
            shared_bytes=size,
            members=listed,
            sizes=np.array([len(m) for m in members], dtype=np.int32),
            starts=starts,
            place=place,
            clock_first=np.cumsum([0, *map(len, packed)]).astype(np.int32),
            clocks=np.concatenate(packed),
            clock_rests=np.concatenate([rests_of(c.limits) for c in clocks]),
        )


def groups(plan: Plan, shared_memory: int) -> list[Indices]:
    """Rows whose replicas take the same number of rounds, the largest networks first."""
    sizes = np.array([len(c.excitable) for c in plan.clocks])
    each = (np.array([row]) for row in range(plan.n_rows))
    lanes = [max(1, lanes_of(plan, row, shared_memory)) for row in each]
    rounds = -(-plan.replicas // np.array(lanes))
    order = np.argsort(-sizes, kind="stable")
    return [order[rounds[order] == count] for count in np.unique(rounds)[::-1]]


def lanes_of(plan: Plan, rows: Indices, shared_memory: int) -> int:
    """How many runs of any of these rows fit into a block's shared memory."""
    longest = max(1, max(len(plan.clocks[row].excitable) for row in rows))
    return (shared_memory - _table_bytes(plan, rows)) // (2 * longest)


def packed_routes(plan: Plan) -> NDArray[np.uint64]:
    """Where spikes go, in the network's own numbers."""
    target = plan.routes.targets.astype(np.int64)
    outcome = np.where(target < 0, int(INHIBITS) | ~target, target)
    leaves = target == plan.network.n_neurons
    return _pack(plan.routes.limits, np.where(leaves, int(NOWHERE), outcome))


def _table_bytes(plan: Plan, rows: Indices) -> int:
    """Shared memory for the tables of the largest of these rows."""
    largest = max(len(plan.clocks[row].limits) + len(plan.clocks[row].excitable) for row in rows)
    return 8 * largest + 2 * plan.network.n_neurons


def _packed_rows(routes: Routes) -> NDArray[np.uint64]:
    first = routes.first.astype(np.uint64)
    return np.asarray((first[:-1] << np.uint64(32)) | np.diff(first))


def _packed_clocks(clocks: Clocks, place: NDArray[np.uint16], n: int) -> NDArray[np.uint64]:
    node = clocks.nodes.astype(np.int64)
    external, inhibits = node > n, node > 2 * n
    neuron = node - external * (n + 1) - inhibits * n
    flags = external * int(EXTERNAL) | inhibits * int(INHIBITS)
    return _pack(clocks.limits, place[neuron].astype(np.int64) | flags)


def _pack(limits: NDArray[np.uint64], outcomes: NDArray[np.int64]) -> NDArray[np.uint64]:
    own, alias = outcomes.astype(np.uint64).T
    upper = limits & np.uint64(0xFFFFFFFF00000000)
    return np.asarray(upper | (alias << np.uint64(16)) | own)


def rests_of(limits: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The lower halves of limits."""
    return limits.astype(np.uint32)
