"""Parts of one network in processes of this machine: each holds its own neurons' tables alone.

States of neurons, and spikes on their way, are in memory that all processes share; what goes
through pipes are requests to make a level, and how many spikes went where. The state that a window
begins with stays as it is until all parts have made the window. So if a process is killed, another
takes its place, and the window is made again.

Processes run this module and nothing of the program that started them, so that no program needs a
guard against being run twice. They end when their pipe does, even if the program was killed.
"""

import os
import pickle
import shutil
import subprocess
import sys
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking.parts import Box, Division, Made, Part, Parts, of_part, pieces_for

BEGIN = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from lrnn.spiking.on_processes import serve; serve()"
)
SHARED = "/dev/shm"  # where shared memory is, on Linux
TRIES = 3  # times that processes may end in one and the same window
PATIENCE = 10.0  # seconds in which a process ends that is asked to


class ProcessParts(Parts):
    """All parts of a network, each in a process of its own."""

    def __init__(self, division: Division, window: int) -> None:
        self._shared: list[SharedMemory] = []
        self._processes: list[Process] = []
        try:
            super().__init__(division, window)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the processes, and give shared memory back."""
        for process in self._processes:
            process.end()
        nothing: Any = np.empty(0)
        self.pace = self.recorded = self.times = self.counts = self.random = nothing
        self._times = self._goals = nothing
        for memory in self._shared:
            memory.unlink()
            with suppress(BufferError):  # somebody still looks at it
                memory.close()
        self._shared = []

    def _array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if os.path.isdir(SHARED) and (free := shutil.disk_usage(SHARED).free) < size:
            raise RuntimeError(
                f"partition needs {size:,} more bytes of shared memory, and {SHARED} has {free:,} "
                "left; enlarge it, or use partition='dask'"
            )
        memory = SharedMemory(create=True, size=max(1, size))
        self._shared.append(memory)
        return np.ndarray(shape, dtype, buffer=memory.buf)

    def _start(self) -> None:
        count = self.division.n_parts
        room = (count, 2, self.room)
        self._times, self._goals = self._array(room, np.float64), self._array(room, np.int32)
        self._processes = [Process() for _ in range(count)]
        self._set_up(range(count))

    def _set_up(self, parts: Any) -> None:
        """Give processes what they need: of the tables, only their own."""
        division = self.division
        wholes: list[NDArray[Any]] = [*self._arrays, self._times, self._goals]
        shared = [
            (memory.name, whole.shape, whole.dtype.str)
            for memory, whole in zip(self._shared, wholes, strict=True)
        ]
        for p in parts:
            self._processes[p].ask(
                (p, division.levels[p], division.starts, division.outgoing(p), self.room, shared)
            )
        for p in parts:
            try:
                self._processes[p].answer()
            except EOFError:
                raise RuntimeError(
                    f"the process for part {p + 1} of {division.n_parts} {self._processes[p].fate}"
                    " while it started; it may lack memory: take a partition of more parts"
                ) from None

    def _make(self, begin: float, end: float, record: bool, foresee: bool) -> Made | None:
        """A window of all parts, again if processes have ended."""
        tries = 0
        while True:
            made = self._by_level(begin, end, record, foresee)
            lost = [p for p, process in enumerate(self._processes) if process.ended]
            if not lost:
                return made
            tries += 1
            if tries == TRIES:
                raise RuntimeError(
                    f"processes ended {TRIES} times in the same window; that for part "
                    f"{lost[0] + 1} of {self.division.n_parts} {self._processes[lost[0]].fate}; "
                    "it may lack memory: take a partition of more parts"
                )
            for p in lost:
                self._processes[p].end()
                self._processes[p] = Process()
            self._set_up(lost)

    def _level(
        self,
        level: int,
        begin: float,
        end: float,
        record: bool,
        foresee: bool,
        offsets: NDArray[np.int64],
    ) -> list[Any]:
        for process in self._processes:
            process.ask((level, begin, end, self.now, record, foresee, offsets))
        self._answers = []
        for process in self._processes:
            try:
                self._answers.append(process.answer())
            except EOFError:
                self._answers.append((None, None))
        return [ends for ends, _ in self._answers]

    def _made(self) -> list[Made]:
        return [made for _, made in self._answers]


class Process:
    """Another process, that makes a part."""

    def __init__(self) -> None:
        self.ended = False
        apart: dict[str, Any] = {"start_new_session": True}  # Ctrl-C is for the one that asks
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **apart
        )
        self.ask(sys.path)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def fate(self) -> str:
        """How it ended, in words."""
        status = self._process.wait(PATIENCE)
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"

    def ask(self, question: Any) -> None:
        """Send something, if it is still there."""
        assert self._process.stdin is not None
        try:
            pickle.dump(question, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except OSError:
            self.ended = True

    def answer(self) -> Any:
        """Wait for an answer; EOFError, if there will be none."""
        assert self._process.stdout is not None
        try:
            found = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.ended = True
            raise EOFError from None
        if isinstance(found, BaseException):
            raise found
        return found

    def end(self) -> None:
        """Let it end, or make it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def serve() -> None:
    """What such a process does: levels of its part, one after the other, as it is asked to."""
    setattr(resource_tracker, "register", lambda *_: None)  # noqa: B010  the asker owns it
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed here is no answer

    def answer(found: Any) -> None:
        pickle.dump(found, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()

    try:
        me, levels, starts, outgoing, room, shared = pickle.load(questions)
        memories = [SharedMemory(name) for name, _, _ in shared]
        *wholes, box_times, box_goals = (
            np.ndarray(shape, dtype, buffer=memory.buf)
            for memory, (_, shape, dtype) in zip(memories, shared, strict=True)
        )
        part = Part(levels, starts, outgoing.tables(), room)
        del outgoing
        numbers = slice(int(starts[me]), int(starts[me + 1]))
        part.attach(*(of_part(whole, numbers) for whole in wholes))
        boxes = [Box(*both) for both in zip(box_times, box_goals, strict=True)]
        answer(None)
        last = len(levels) - 2
        while True:
            level, begin, end, old, record, foresee, offsets = pickle.load(questions)
            pieces, box = pieces_for(me, level, boxes, offsets), boxes[me].slot(level)
            ends = part.level(level, begin, end, old, record, foresee, pieces, box)
            answer((ends, part.made() if level == last and ends is not None else None))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # shared memory needs no farewell
    except Exception as error:
        answer(error)
        os._exit(1)
