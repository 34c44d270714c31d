"""Progress bars, and text for terminals."""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import perf_counter
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

CONTROL = re.compile(  # all but line ends and tabs; and bytes of names that are not UTF-8
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
)
PATIENCE = 1.0  # seconds before a bar appears
PAUSE = 0.5  # seconds between lines of plain text


def printable(text: str) -> str:
    r"""The text with control characters written out: a terminal obeys them, whoever wrote them.

    So are the bytes of names that are not UTF-8, which cannot be written.

    >>> print(printable("\x1b[2Jname"), printable("\udcff.csv"))
    \x1b[2Jname \udcff.csv
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def decimal(error: float) -> str:
    """An error for a person, also one of dim data.

    >>> decimal(0.0174692), decimal(0.000123456), decimal(2.3812e-9), decimal(0.0)
    ('0.01747', '0.000123', '2.38e-09', '0.00000')
    """
    return f"{error:.5f}" if error >= 1e-3 or not error else f"{error:.3g}"


def bars_of(*columns: ProgressColumn, show: bool = True) -> Progress:
    """Bars on standard error; in a notebook without ipywidgets, which draws them, plain text."""
    console = Console(stderr=True, quiet=not show)  # Rich < 14.3 ends disabled bars, too
    if show and console.is_jupyter and find_spec("ipywidgets") is None:
        return TextBars(*columns)
    return Progress(*columns, console=console, disable=not show)


class TextBars(Progress):
    """The newest bar as a line of text that is written over again and again."""

    def __init__(self, *columns: ProgressColumn) -> None:
        plain = Console(file=sys.stderr, force_jupyter=False, no_color=True, width=80)
        super().__init__(*columns, console=plain, disable=True)
        self._written = 0.0

    def add_task(self, *arguments: Any, **settings: Any) -> TaskID:
        """Begin a line, below the one before."""
        if self.tasks:
            self._write("\n")
        return super().add_task(*arguments, **settings)

    def update(self, *arguments: Any, **settings: Any) -> None:
        """Move the bar, and show it now and then."""
        super().update(*arguments, **settings)
        self._show()

    def advance(self, *arguments: Any, **settings: Any) -> None:
        """Move the bar, and show it now and then."""
        super().advance(*arguments, **settings)
        self._show()

    def stop(self) -> None:
        """End the last line."""
        if self.tasks:
            self._write("\n")

    def _show(self) -> None:
        if perf_counter() - self._written > PAUSE:
            self._write("")

    def _write(self, end: str) -> None:
        with self.console.capture() as line:
            self.console.print(self.make_tasks_table(self.tasks[-1:]))
        self._written = perf_counter()
        sys.stderr.write(f"\r{line.get().rstrip()}{end}")
        sys.stderr.flush()


class StageBars:
    """One bar per stage of a longer work on standard error, with a note and the time left."""

    def __init__(self) -> None:
        self._progress = bars_of(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            TimeRemainingColumn(elapsed_when_finished=True),
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
        self._task = self._progress.add_task(printable(task), total=total, note="")

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

    That is so also where nothing has been reported until then. It yields a function that is told
    how much of ``total`` is done; the bar then also shows what ``note`` has to say. If ``show`` is
    None there is a bar if standard error is a terminal.
    """
    bar = bars_of(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    began = perf_counter()
    started: TaskID | None = None
    wanted = sys.stderr.isatty() if show is None else show
    ended, only_one = False, threading.Lock()

    def start() -> None:
        nonlocal started
        with only_one:
            if started is None and not ended:
                bar.start()
                started = bar.add_task(printable(task), total=total, note="")

    def report(done: float) -> None:
        if wanted and started is None and perf_counter() - began > PATIENCE:
            start()
        if started is not None:
            bar.update(started, completed=done, note=note())

    timer = threading.Timer(PATIENCE, start)
    timer.daemon = True
    try:
        if wanted:
            timer.start()
        yield report
    finally:
        timer.cancel()
        with only_one:
            ended = True
        if started is not None:
            bar.stop()
