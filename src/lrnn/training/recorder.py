"""Keeps the books of a training run: errors, times, and the best weights so far."""

from collections.abc import Callable
from time import perf_counter
from typing import TypeAlias

import numpy as np

from lrnn.arrays import Array, backend_of
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.observer import State
from lrnn.training.result import LearningCurve, StopReason, Weights

Price: TypeAlias = Callable[[Evaluation, Weights], float]


def error_alone(evaluation: Evaluation, weights: Weights) -> float:
    """What most training is about."""
    return evaluation.error


class Recorder:
    """What has happened so far in a training run on ``inputs`` that started from ``weights``.

    The best weights are those with the lowest ``price``.
    """

    def __init__(self, inputs: Array, weights: Weights, price: Price = error_alone) -> None:
        self.inputs = inputs
        self._price = price
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
        found = evaluate(self.inputs, weights)
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
        """All of the books."""
        return {
            "best": self.best.state(),
            "lowest": self.lowest,
            "error": self.error,
            "batch_errors": np.array(self.batch_errors()),
            "evaluations": np.array(self._evaluations),
            "lowest_after_pass": np.array(self._lowest_after_pass),
            "seconds": perf_counter() - self._began,
        }

    def restore(self, state: State) -> None:
        """Go on with the books of an earlier run."""
        self.best = Weights.restored(state["best"], backend_of(self.inputs))
        self.lowest, self.error = state["lowest"], state["error"]
        self._batch_errors, self._newest = state["batch_errors"].tolist(), []
        self._evaluations = [(int(i), error, s) for i, error, s in state["evaluations"].tolist()]
        self._lowest_after_pass = state["lowest_after_pass"].tolist()
        self._began = perf_counter() - state["seconds"]

    def curve(self, layer: int | None, stopped: StopReason) -> LearningCurve:
        """The learning curve of the run."""
        iterations, errors, seconds = zip(*self._evaluations, strict=True)
        return LearningCurve(
            layer,
            np.array(self.batch_errors()),
            np.array(iterations, dtype=np.int64),
            np.array(errors),
            np.array(seconds),
            self.passes,
            stopped,
        )
