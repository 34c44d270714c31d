"""Parts of one network on the workers of a Dask cluster: each holds its own neurons' tables alone.

A part is an actor. Before it makes a level it fetches the spikes that were sent to it from the
other actors, from worker to worker. What comes here are the states of all neurons after each
window; so if a worker is lost, another one takes its part from the last state, and the window is
made again.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking.parts import Box, Division, Made, Part, Parts, Piece, of_part
from lrnn.spiking.wiring import Outgoing

TRIES = 5  # workers that may be lost in one and the same window
PATIENCE = 30.0  # seconds in which a worker comes that takes over
LOST = ("error", "lost", "cancelled")  # states of an actor's future
LOOK = 2.0  # seconds between looks at who is still there


class WorkerLostError(Exception):
    """A worker of the cluster is not there any more."""


class WorkerParts(Parts):
    """All parts of a network, each on a worker of a Dask client."""

    states = 1  # the parts have the other one

    def __init__(self, division: Division, window: int, client: Any) -> None:
        self.client = client
        self._hosts: list[str] = []
        self._actors: list[Any] = []
        self._futures: list[Any] = []
        self._attempt = 0
        super().__init__(division, window)

    def close(self) -> None:
        """Let the actors go."""
        self._actors, self._futures = [], []

    def told(self) -> None:
        """Tell the parts what has been changed here."""
        self._with_tries(self._tell)

    def window(
        self, begin: float, end: float, record: bool, foresee: bool, most: float
    ) -> Made | None:
        """Make a window, again if workers are lost."""

        def make() -> Made | None:
            made = self._by_level(begin, end, record, foresee)
            if made is not None and not foresee and made.events <= most:
                self._keep()
            return made

        found: Made | None = self._with_tries(make)
        return found

    def _start(self) -> None:
        count = self.division.n_parts
        self._hosts, self._actors, self._futures = [""] * count, [None] * count, [None] * count
        self._with_tries(self._settle)

    def _with_tries(self, work: Callable[[], Any]) -> Any:
        """Do something; if workers are lost, let others take their parts, and do it again."""
        for attempt in range(TRIES):
            try:
                if attempt:
                    self._settle()
                    self._tell()
                return work()
            except WorkerLostError as error:
                lost = error
        raise RuntimeError(
            f"workers of the Dask cluster were lost {TRIES} times in a row; they may lack memory: "
            "give them more, or take more workers"
        ) from lost

    def _settle(self) -> None:
        """Parts without a worker get one, and all know where the others are."""
        division, homeless = self.division, self._homeless()
        for p in homeless:
            self._actors[p] = self._futures[p] = None
            self._hosts[p] = ""
            host = self._hosts[p] = self._free_worker()
            try:
                outgoing = self.client.scatter(division.outgoing(p), workers=[host], hash=False)
                self._futures[p] = self.client.submit(
                    HostedPart, p, division.levels[p], division.starts, outgoing, self.room,
                    actor=True, workers=[host], pure=False,
                )  # fmt: skip
            except Exception as error:
                self._lost(error)
        unknown = [p for p, actor in enumerate(self._actors) if actor is None]
        for p in unknown:
            self._actors[p] = self._patiently(self._futures[p])
        if unknown:
            self._all(lambda p: self._actors[p].meet(self._actors))

    def _homeless(self) -> list[int]:
        """Parts that no worker has, or not any more."""
        there = set(self.client.nthreads())
        return [
            p
            for p, (host, future) in enumerate(zip(self._hosts, self._futures, strict=True))
            if host not in there or future is None or future.status in LOST
        ]

    def _free_worker(self) -> str:
        """One with as few parts as possible, and for some time one without any."""
        end = time.monotonic() + PATIENCE
        while True:
            there = list(self.client.nthreads())
            taken = Counter(self._hosts)
            free = sorted(there, key=lambda address: taken[address])
            if free and (taken[free[0]] == 0 or time.monotonic() > end):
                return str(free[0])
            if not free and time.monotonic() > end:
                raise RuntimeError("the Dask cluster has no workers any more")
            time.sleep(0.1)

    def _tell(self) -> None:
        """Give all parts their states, and what else they have to know."""
        self._attempt += 1
        self._all(
            lambda p: self._actors[p].tell(
                self._attempt, *(of_part(a, self.division.of_part(p)) for a in self._arrays)
            )
        )

    def _keep(self) -> None:
        """The parts go on from the window that they have made; their states are kept here."""
        found = self._all(lambda p: self._actors[p].keep())
        for p, state in enumerate(found):
            for whole, values in zip((self.times, self.counts, self.random), state, strict=True):
                of_part(whole, self.division.of_part(p))[0] = values

    def _level(
        self,
        level: int,
        begin: float,
        end: float,
        record: bool,
        foresee: bool,
        offsets: NDArray[np.int64],
    ) -> list[Any]:
        self._answers = self._all(
            lambda p: self._actors[p].level(
                self._attempt, level, begin, end, record, foresee, offsets
            )
        )
        return [ends for ends, _ in self._answers]

    def _made(self) -> list[Made]:
        return [made for _, made in self._answers]

    def _all(self, ask: Callable[[int], Any]) -> list[Any]:
        """Ask all parts for something at once, and wait for all of them."""
        asked = []
        for p in range(self.division.n_parts):
            try:
                asked.append(ask(p))
            except Exception as error:  # "Worker holding Actor was lost"
                self._lost(error)
        return [self._patiently(future) for future in asked]

    def _patiently(self, future: Any) -> Any:
        """What comes out, as long as all workers are there."""
        while True:
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                if self._homeless():
                    raise WorkerLostError from None
            except Exception as error:
                self._lost(error)

    def _lost(self, error: Exception) -> None:
        """Raise WorkerLostError, if a worker is not there, else the error itself."""
        end = time.monotonic() + LOOK
        while time.monotonic() < end:
            if self._homeless():
                raise WorkerLostError from error
            time.sleep(0.05)
        raise error


class HostedPart:
    """A part, as an actor on a worker."""

    def __init__(
        self,
        me: int,
        levels: NDArray[np.int64],
        starts: NDArray[np.int64],
        outgoing: Outgoing,
        room: int,
    ) -> None:
        n = int(starts[me + 1] - starts[me])
        self.me, self.now, self.attempt = me, 0, 0
        self.last = len(levels) - 2
        self.part = Part(levels, starts, outgoing.tables(), room).attach(
            np.empty((n, 3)),
            np.empty(n, np.bool_),
            np.empty((2, n, 6)),
            np.empty((2, n, 4), np.int64),
            np.empty((2, n, 2), np.uint64),
        )
        self.box = Box.of(room)
        self.peers: list[Any] = []
        self.lock = asyncio.Lock()

    async def meet(self, peers: list[Any]) -> None:
        """Know where the other parts are."""
        self.peers = peers

    async def tell(
        self, attempt: int, pace: Any, recorded: Any, times: Any, counts: Any, random: Any
    ) -> None:
        """Be in this state; whatever was asked before does not count any more."""
        self.attempt = attempt
        async with self.lock:
            part = self.part
            part.pace[:], part.recorded[:] = pace, recorded
            part.times[self.now], part.counts[self.now] = times[0], counts[0]
            part.random[self.now] = random[0]

    async def level(
        self,
        attempt: int,
        level: int,
        begin: float,
        end: float,
        record: bool,
        foresee: bool,
        offsets: NDArray[np.int64],
    ) -> tuple[Any, Any]:
        """Fetch what was sent here, and make a level."""
        me = self.me
        pieces = await asyncio.gather(
            *(
                (self if p == me else self.peers[p]).piece(level - 1, ends[me], ends[me + 1])
                for p, ends in enumerate(offsets.tolist())
            )
        )
        async with self.lock:
            if attempt != self.attempt:
                raise RuntimeError("this window is made again")
            ends = await asyncio.get_running_loop().run_in_executor(
                None, self.part.level, level, begin, end, self.now, record, foresee, pieces,
                self.box.slot(level),
            )  # fmt: skip
        return ends, self.part.made() if level == self.last and ends is not None else None

    async def piece(self, level: int, low: int, high: int) -> Piece:
        """Some of the spikes that were sent from here."""
        return self.box.piece(level, low, high)

    async def keep(self) -> tuple[Any, ...]:
        """Go on from the window that was made last; the state after it."""
        part, self.now = self.part, 1 - self.now
        return part.times[self.now], part.counts[self.now], part.random[self.now]
