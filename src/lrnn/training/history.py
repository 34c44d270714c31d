"""What has happened in a training: errors, times, and the best weights so far."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Array, Floats
from lrnn.moments import Corruption
from lrnn.network.weights import Weights
from lrnn.rows import Rows
from lrnn.training import states
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.run import Stepper, StopReason
from lrnn.training.states import State

Price: TypeAlias = Callable[[Evaluation, Weights], float]
Judge: TypeAlias = Callable[[Weights], Evaluation]

ENDED_BY_TOL = ("gram solver", "as printed")
WINDOW = 10  # iterations over which progress of the gram solver is judged


def stalled(errors: Sequence[float], tol: float) -> bool:
    """Whether there is no lower error, or it fell by less than this share in some steps."""
    if len(errors) > 1 and errors[-1] == errors[-2]:
        return True
    before = errors[-1 - WINDOW] if len(errors) > WINDOW else np.inf
    return bool(errors[-1] > before * (1 - tol))


@dataclass(frozen=True)
class LearningCurve:
    """How the error fell.

    Attributes
    ----------
    layer : int or None
        The layer pair that was trained, counted from 1; None if all were trained together.
    batch_errors : ndarray
        After each iteration, the mean squared error on the minibatch it has just used.
    iterations, errors, seconds : ndarray
        After how many iterations and seconds of training the error on all rows was taken, and
        what it was. The evaluations' own time does not count.
    passes : int
        Passes over the data.
    stopped : {"max_iter", "tol", "interrupted", "callback"}
        What ended the training.
    stage : str
        What it was, such as "gram solver" or "end to end".
    """

    layer: int | None
    batch_errors: Floats
    iterations: NDArray[np.int64]
    errors: Floats
    seconds: Floats
    passes: int
    stopped: StopReason
    stage: str = ""

    @property
    def name(self) -> str:
        """What was trained, and how."""
        trained = "all layers" if self.layer is None else f"layer pair {self.layer}"
        return f"{self.stage}, {trained}" if self.stage else trained

    @property
    def lowest(self) -> float:
        """Lowest error on all rows (that of the weights which were kept)."""
        return float(self.errors.min())

    @property
    def still_falling(self) -> bool:
        """Whether ``max_iter`` ended it, where ``tol`` should have done so.

        Other stages have as many passes as they were given.
        """
        return self.stopped == "max_iter" and self.stage in ENDED_BY_TOL


@dataclass(frozen=True)
class Trained:
    """The best weights that were seen, and how they were found."""

    weights: Weights
    curves: Sequence[LearningCurve]
    evaluation: Evaluation | None = None  # of these weights, where training has made it
    kept: Sequence[LearningCurve] | None = None  # those that led to these weights, if not all did

    @property
    def steps(self) -> Sequence[LearningCurve]:
        """How these weights were found, without what led to others."""
        return self.curves if self.kept is None else self.kept

    @property
    def still_falling(self) -> bool:
        """Whether more steps would have led further."""
        return any(curve.still_falling for curve in self.steps)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or a callback ended the training."""
        return self.curves[-1].stopped in ("interrupted", "callback")


def error_alone(evaluation: Evaluation, weights: Weights) -> float:
    """What most training is about."""
    return evaluation.error


class History:
    """Of a training on minibatches of ``rows`` that starts from ``weights``.

    The best weights are those with the lowest ``price``. Errors are those on corrupted rows, if
    there is a ``corruption``. Errors of another kind are what ``judge`` finds; they may be of any
    height.
    """

    def __init__(
        self,
        rows: Rows,
        weights: Weights,
        price: Price = error_alone,
        corruption: Corruption | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._rows, self._price = rows, price
        self._judge = judge or partial(evaluate, rows, corruption=corruption)
        self.best = weights
        self._batch_errors: list[float] = []
        self._newest: list[Array] = []  # still on the device: fetching one by one takes time
        self.lowest = np.inf
        self.error = np.inf  # of the best weights
        self._evaluations: list[tuple[int, float, float]] = []
        self._lowest_after_pass: list[float] = []
        self._began = perf_counter()

    @property
    def passes(self) -> int:
        """How many passes are complete."""
        return len(self._lowest_after_pass)

    @property
    def iterations(self) -> int:
        """How many minibatches were used."""
        return len(self._batch_errors) + len(self._newest)

    def batch(self, error: Array) -> None:
        """Note the error (a number, or an array of one) on a minibatch."""
        self._newest.append(error)

    def batch_errors(self) -> list[float]:
        """The error on every minibatch."""
        self._batch_errors += map(float, self._newest)
        self._newest = []
        return self._batch_errors

    def evaluate(self, weights: Weights) -> None:
        """Take the error on all rows, and keep the weights if they are the best."""
        self.batch_errors()
        before = perf_counter()
        found = self._judge(weights)
        self._evaluations.append((self.iterations, found.error, before - self._began))
        price = self._price(found, weights)
        if price < self.lowest:
            self.best, self.lowest, self.error = weights, price, found.error
        self._began += perf_counter() - before

    def finish_pass(self, weights: Weights) -> None:
        """Note that a pass is complete, evaluated in any case."""
        if not self._evaluations or self._evaluations[-1][0] < self.iterations:
            self.evaluate(weights)
        self._lowest_after_pass.append(self.lowest)

    def progress(self, passes: int) -> float:
        """By which share the lowest error fell during the last so many passes."""
        if self.passes <= passes:
            return np.inf
        before = self._lowest_after_pass[-1 - passes]
        return 1 - self.lowest / before if before > 0 else 0.0

    def state(self) -> State:
        """All of it."""
        return {
            "best": self.best.state(),
            "lowest": self.lowest,
            "error": self.error,
            "batch_errors": np.array(self.batch_errors()),
            "evaluations": np.array(self._evaluations),
            "lowest_after_pass": np.array(self._lowest_after_pass),
            "seconds": perf_counter() - self._began,
        }

    def restore(self, state: State, batches: int) -> None:
        """Go on with that of an earlier run, of which a pass has so many ``batches``."""
        self.best = states.weights(state["best"], self.best, self._rows.backend, "best weights")
        self.lowest, self.error = (states.number(state[key], key) for key in ("lowest", "error"))
        self._lowest_after_pass = states.series(state["lowest_after_pass"], "lowest errors")
        count = self.passes * batches
        self._batch_errors = states.series(state["batch_errors"], "errors on minibatches", count)
        self._newest = []
        table = state["evaluations"]
        states.matrix(table, np.empty((len(table), 3)), "evaluations")
        self._evaluations = [(int(i), e, s) for i, e, s in table.tolist()]
        self._began = perf_counter() - states.number(state["seconds"], "seconds")

    def curve(self, layer: int | None, stopped: StopReason, stage: str) -> LearningCurve:
        """The learning curve."""
        iterations, errors, seconds = zip(*self._evaluations, strict=True)
        return LearningCurve(
            layer,
            np.array(self.batch_errors()),
            np.array(iterations, dtype=np.int64),
            np.array(errors),
            np.array(seconds),
            self.passes,
            stopped,
            stage,
        )


class Batches:
    """Rows in random order, in minibatches of about some size, as equal as can be.

    ``numbers`` are those of the rows that take part; by default all do. Of rows that come only from
    the first to the last, as many are shuffled at a time as a buffer holds; `part` are these, and
    numbers are counted in it.
    """

    def __init__(
        self,
        rows: Rows,
        size: int,
        random: np.random.RandomState,
        numbers: NDArray[np.int64] | None = None,
    ) -> None:
        self.rows, self.part, self.random = rows, rows, random
        self._numbers = numbers
        self._heights = rows.heights if numbers is None else [len(numbers)]
        self._bounds = [
            np.linspace(0, height, max(1, round(height / size)) + 1).astype(int)
            for height in self._heights
        ]

    def __len__(self) -> int:
        return sum(len(bounds) - 1 for bounds in self._bounds)

    def __iter__(self) -> Iterator[Array]:
        """Numbers of the rows of each batch, drawn anew for every pass."""
        parts = self.rows.windows(self.random)
        for height, bounds in zip(self._heights, self._bounds, strict=True):
            self.part = next(parts)
            chosen = height if self._numbers is None else self._numbers
            order = self.rows.backend.array(self.random.permutation(chosen))
            yield from (order[first:last] for first, last in pairwise(bounds))
            self.part = self.rows  # frees the memory

    @property
    def told(self) -> str:
        """What a user should know of the order, if there is anything."""
        if len(self._heights) == 1:
            return ""
        return f", {max(self._heights):,} of {self.rows.shape[0]:,} rows shuffled at a time"


class MinibatchStepper(Stepper):
    """What goes through minibatches, and has a history; a step is a pass."""

    def __init__(self, batches: Batches, history: History) -> None:
        self.batches, self.history = batches, history
        self.iterations_a_step = len(batches)
        self.told = batches.told

    @property
    def steps(self) -> int:
        """Passes that are complete."""
        return self.history.passes

    @property
    def iterations(self) -> int:
        """Batches that were used."""
        return self.history.iterations
