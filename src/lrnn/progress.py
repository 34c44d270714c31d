"""Progress bars."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

PATIENCE = 1.0  # seconds before a bar appears


class StageBars:
    """One bar per stage of a longer work on standard error, with a note and the time left."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "StageBars":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()
        self._progress.stop()

    def begin(self, task: str, total: int) -> None:
        """Begin a new bar; the one before is complete, however early it ended."""
        self._close()
        self._task = self._progress.add_task(task, total=total, note="")

    def advance(self, steps: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, steps)

    def note(self, text: str) -> None:
        """Show something beside the bar."""
        if self._task is not None:
            self._progress.update(self._task, note=text)

    def _close(self) -> None:
        if self._task is not None:
            done = self._progress.tasks[-1].completed
            self._progress.update(self._task, total=done)
            self._task = None


@contextmanager
def work_bar(
    task: str, total: int, show: bool | None, note: Callable[[], str] = str
) -> Iterator[Callable[[float], None]]:
    """A bar on standard error that appears when something takes longer than a second.

    It yields a function that is told how much of ``total`` is done; the bar then also shows what
    ``note`` has to say. If ``show`` is None there is a bar if standard error is a terminal.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
    )
    began = perf_counter()
    started: TaskID | None = None
    wanted = sys.stderr.isatty() if show is None else show

    def report(done: float) -> None:
        nonlocal started
        if wanted and started is None and perf_counter() - began > PATIENCE:
            bar.start()
            started = bar.add_task(task, total=total, note="")
        if started is not None:
            bar.update(started, completed=done, note=note())

    try:
        yield report
    finally:
        if started is not None:
            bar.stop()
