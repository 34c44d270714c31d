"""The loop that all training goes through, and who watches it.

What is trained is a *stepper*: it makes one step after the other, a pass over the rows or a
full-batch step, knows its error, and can be put into a checkpoint and taken out again. The loop
asks it for steps until it stalls or has made them all, tells observers of each, resumes what an
earlier run has left, and ends well when somebody presses Ctrl-C.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from lrnn.arrays import Backend, is_array
from lrnn.progress import StageBars, decimal
from lrnn.rows import Rows
from lrnn.rows.base import Combine, Fold, Work
from lrnn.training.settings import Settings
from lrnn.training.states import State, fitting, whole

StopReason: TypeAlias = Literal["max_iter", "tol", "interrupted", "callback"]


class Observer:
    """Is told of every step, and may end the training after any pass. This one is silent."""

    def stage(self, task: str, iterations: int) -> None:
        """A new task begins that takes at most so many iterations."""

    def read(self, rows: int) -> None:
        """So many more rows have been read."""

    def iteration(self) -> None:
        """An iteration has ended."""

    def finished_pass(self, error: float) -> bool:
        """A pass has ended; the lowest error on all rows is this. True ends the training."""
        return False

    def resume(self) -> State | None:
        """What an earlier run left of the loop that begins now, if there is anything."""
        return None

    def skip(self, iterations: int, error: float) -> None:
        """So many iterations were made by the earlier run; the lowest error was this."""

    def checkpoint(self, state: Callable[[], State], finished: bool = False) -> None:
        """The loop could go on from ``state()``, or has ended there."""


class Stepper(ABC):
    """What the loop makes steps of.

    Attributes
    ----------
    most : int
        Steps at most; it may become less on the way.
    iterations_a_step : int
        What observers are told of.
    told : str
        What they are told of it besides its task.
    """

    most: int
    iterations_a_step: int = 1
    told: str = ""

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps are complete."""

    @property
    def iterations(self) -> int:
        """How many iterations were made."""
        return self.steps

    def begin(self) -> None:  # noqa: B027
        """Before the first step, unless it goes on from a checkpoint."""

    @abstractmethod
    def step(self, iteration: Callable[[], None]) -> None:
        """Go on to a lower error, if there is one, and tell of every ``iteration``."""

    @abstractmethod
    def error(self) -> float:
        """The lowest error so far."""

    @abstractmethod
    def stalled(self) -> bool:
        """Whether it makes so little progress that it should end."""

    def interrupt(self) -> None:  # noqa: B027
        """Somebody pressed Ctrl-C during a step."""

    @abstractmethod
    def state(self) -> State:
        """All that the next step depends on."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""


@dataclass(frozen=True)
class Run:
    """One training: how it is to be done, its random numbers, and who watches it."""

    settings: Settings
    random: np.random.RandomState
    observer: Observer

    def train(self, stepper: Stepper, task: str) -> StopReason:
        """Make steps until they are all made, or there is no progress; tell what ended it."""
        observer = self.observer
        observer.stage(task + stepper.told, stepper.most * stepper.iterations_a_step)
        saved = observer.resume()
        if saved is not None:
            with fitting():
                stepper.restore(saved)
            observer.skip(stepper.iterations, stepper.error())
        try:
            if saved is None:
                stepper.begin()
            while stepper.steps < stepper.most and not stepper.stalled():
                stepper.step(observer.iteration)
                if observer.finished_pass(stepper.error()):
                    return "callback"
                if stepper.steps < stepper.most and not stepper.stalled():
                    observer.checkpoint(stepper.state)
            observer.checkpoint(stepper.state, finished=True)
        except KeyboardInterrupt:
            stepper.interrupt()
            return "interrupted"
        return "tol" if stepper.stalled() else "max_iter"

    def reading(self, rows: Rows, task: str) -> Fold:
        """A pass over the rows (see `Rows.fold`) that is watched, and goes on where it was left.

        Only where reading takes long, because rows are not in memory, is it kept in checkpoints.
        """
        return partial(self._read, rows, task)

    def _read(
        self,
        rows: Rows,
        task: str,
        work: Work,
        combine: Combine,
        widest: int,
        begin: Any = None,
        **options: Any,
    ) -> Any:
        observer, done, kept = self.observer, 0, not rows.resident
        observer.stage(task, rows.shape[0])
        if kept and (saved := observer.resume()) is not None:
            with fitting():
                done = whole(saved["rows"], "number of rows", rows.shape[0])
                begin = _sent(saved["total"], rows.backend)
            observer.read(done)
        total = begin

        def state() -> State:
            return {"total": total, "rows": done}

        def reached(count: int, so_far: Any) -> None:
            nonlocal total, done
            observer.read(count - done)
            total, done = so_far, count
            if kept:
                observer.checkpoint(state)

        if done < rows.shape[0]:
            total = rows.fold(
                work, combine, widest, begin=begin, skip=done, reached=reached, **options
            )
        if kept:
            observer.checkpoint(state, finished=True)
        return total


def training(layer: int | None, how: str = "") -> str:
    """The name of the task of training layer pair ``layer`` (None: all together)."""
    return f"training{'' if layer is None else f' layer {layer}'}{how and f' ({how})'}"


def _sent(value: Any, backend: Backend) -> Any:
    """Arrays from a checkpoint, alone or in lists, to where the work is."""
    if isinstance(value, list):
        return [_sent(v, backend) for v in value]
    return backend.send(value) if is_array(value) else value


# Who watches


@contextmanager
def watching(
    estimator: Any, X: Any, passes: int, *watchers: Observer, measure: str = "error"
) -> Iterator[Observer]:
    """Those who watch ``estimator`` train on X.

    They are a bar if it is verbose, its callbacks, and the ``watchers``. What is to become low is
    called the ``measure`` there.
    """
    observers = [*watchers]
    callbacks = None
    if hasattr(estimator, "_init_callback_context"):  # scikit-learn 1.9 and later
        callbacks = SklearnCallbacks(estimator, X, passes)
        observers.append(callbacks)
    if estimator.verbose:
        with StageBars() as bars:
            yield Observers([*observers, ProgressBar(bars, measure)])
    else:
        yield Observers(observers)
    if callbacks is not None:
        callbacks.close()


class ProgressBar(Observer):
    """One bar per task, with the lowest error (or other measure) so far and the time left."""

    def __init__(self, bars: StageBars, measure: str = "error") -> None:
        self._bars, self._measure = bars, measure

    def stage(self, task: str, iterations: int) -> None:
        """Begin a new bar."""
        self._bars.begin(task, iterations)

    def read(self, rows: int) -> None:
        """Move the bar."""
        self._bars.advance(rows)

    def iteration(self) -> None:
        """Move the bar."""
        self._bars.advance(1)

    def finished_pass(self, error: float) -> bool:
        """Show the error."""
        self._bars.note(f"{self._measure} {decimal(error)}")
        return False

    def skip(self, iterations: int, error: float) -> None:
        """Move the bar to where the earlier run was."""
        self._bars.advance(iterations)
        self.finished_pass(error)


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
