"""Progress bars, and scikit-learn's callbacks."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from types import TracebackType
from typing import Any

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

from lrnn.training.observer import Observer, State

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn knows no callbacks yet."""


PATIENCE = 1.0  # seconds before a bar appears


class ProgressBar(Observer):
    """One bar per task on standard error, with the lowest error so far and the time left."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[error]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "ProgressBar":
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

    def stage(self, task: str, iterations: int) -> None:
        """Begin a new bar; the one before is complete, however early it ended."""
        self._close()
        self._task = self._progress.add_task(task, total=iterations, error="")

    def read(self, rows: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task, rows)

    def iteration(self) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.advance(self._task)

    def finished_pass(self, error: float) -> bool:
        """Show the error."""
        if self._task is not None:
            self._progress.update(self._task, error=f"error {error:.5f}")
        return False

    def skip(self, iterations: int, error: float) -> None:
        """Move the bar to where the earlier run was."""
        if self._task is not None:
            self._progress.advance(self._task, iterations)
        self.finished_pass(error)

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


class SklearnCallbacks(Observer):
    """Tells scikit-learn's callbacks of every pass; any of them may end the training."""

    def __init__(self, estimator: Any, X: Any, passes: int) -> None:
        self._estimator = estimator
        self._X = X
        self._fit = estimator._init_callback_context(max_subtasks=passes)
        self._fit.call_on_fit_task_begin(estimator=estimator, X=X)
        self._pass: Any = None

    def iteration(self) -> None:
        """Announce the pass with its first iteration."""
        if self._pass is None:
            self._pass = self._fit.subcontext(task_name="pass")
            self._pass.call_on_fit_task_begin(estimator=self._estimator, X=self._X)

    def finished_pass(self, error: float) -> bool:
        """Announce the end of the pass."""
        ended, self._pass = self._pass, None
        return bool(
            ended.call_on_fit_task_end(
                estimator=self._estimator, X=self._X, metadata={"error": error}
            )
        )

    def close(self) -> None:
        """Announce the end of the fit."""
        self._fit.call_on_fit_task_end(estimator=self._estimator, X=self._X)


class Observers(Observer):
    """Several observers as one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def stage(self, task: str, iterations: int) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.stage(task, iterations)

    def read(self, rows: int) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.read(rows)

    def iteration(self) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.iteration()

    def finished_pass(self, error: float) -> bool:
        """Pass it on; one that wants to stop is enough."""
        wishes = [observer.finished_pass(error) for observer in self._observers]
        return any(wishes)

    def resume(self) -> State | None:
        """What one of them knows."""
        known = [observer.resume() for observer in self._observers]
        return next((state for state in known if state is not None), None)

    def skip(self, iterations: int, error: float) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.skip(iterations, error)

    def checkpoint(self, state: Callable[[], State], finished: bool = False) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.checkpoint(state, finished)


@contextmanager
def watching(estimator: Any, X: Any, passes: int, *watchers: Observer) -> Iterator[Observer]:
    """Those who watch ``estimator`` train on X.

    They are a bar if it is verbose, its callbacks, and the ``watchers``.
    """
    observers = [*watchers]
    callbacks = None
    if hasattr(estimator, "_init_callback_context"):
        callbacks = SklearnCallbacks(estimator, X, passes)
        observers.append(callbacks)
    if estimator.verbose:
        with ProgressBar() as bar:
            yield Observers([*observers, bar])
    else:
        yield Observers(observers)
    if callbacks is not None:
        callbacks.close()
