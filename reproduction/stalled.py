"""The printed algorithms for as long as it takes, under each reading of what the paper leaves open.

The paper says neither how long it trains, nor how it draws its first weights, nor in which order
minibatches come, nor whether the lowest error is that of a minibatch or of all images.
"""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Floats, backend_named, host_dtype
from lrnn.datasets import DATA_SETS, load
from lrnn.functional import squared_error
from lrnn.rows import HostRows, Rows, held
from lrnn.rows.device import on_device
from lrnn.training.evaluation import evaluate
from lrnn.training.history import Batches, LearningCurve
from lrnn.training.minibatch import PrintedAlgorithm, train_jointly, train_layerwise
from lrnn.training.run import Observer, Run
from lrnn.training.settings import Settings
from lrnn.weights import Weights, random_weights, transmit
from reproduction.experiments import QUICK_ROWS, READINGS, STRUCTURES, Reading, Task

POINTS = 200  # of a curve that are kept
ITERATIONS = (12_000, 120_000)  # the least and the most, for each pair of Algorithm 2
QUICK_ITERATIONS = (40, 80)
FALL = 0.01  # of the mean error on minibatches, from one quarter of the training to the next


class InOneOrder(Batches):
    """Minibatches that are the same in each pass."""

    def __init__(self, rows: Rows, size: int, random: np.random.RandomState, once: bool) -> None:
        super().__init__(rows, size, random)
        count = rows.shape[0]
        self._order = rows.backend.array(random.permutation(count) if once else np.arange(count))

    def __iter__(self) -> Iterator[Array]:
        """Numbers of the rows of each batch."""
        return (self._order[first:last] for first, last in pairwise(self._bounds[0]))


class UntilItStalls(PrintedAlgorithm):
    """Algorithm 1 or 3 until the mean error on minibatches falls no more."""

    def __init__(self, reading: Reading, least: int, rows: Rows, weights: Weights, run: Run):
        super().__init__(rows, weights, run)
        self._keeps_absent, self._least = reading.keeps_absent, least
        if reading.order != "each pass":
            size = run.settings.batch_size
            self.batches = InOneOrder(rows, size, run.random, reading.order == "once")

    def _after(self, batch: Array) -> tuple[Weights, Array]:
        new, error = super()._after(batch)
        if not self._keeps_absent:
            return new, error
        xp, old = array_namespace(batch), self._weights
        absent = xp.max(batch, axis=0) == 0
        first = xp.where(absent[:, None], old.encoders[0], new.encoders[0])
        last = xp.where(absent[None, :], old.decoders[-1], new.decoders[-1])
        return Weights.of([first, *new.layers[1:-1], last]), error

    def stalled(self) -> bool:
        """Whether the last quarter of all passes is hardly better than the one before."""
        passes = self.history.passes
        if self.history.iterations < self._least or passes < 4:
            return False
        return fall(self.history.batch_errors(), passes) < FALL


def fall(errors: Any, passes: int) -> float:
    """By which share the mean error fell from the last quarter of passes but one to the last."""
    quarter = len(late(errors, passes))
    return float(1 - np.mean(late(errors, passes)) / np.mean(errors[-2 * quarter : -quarter]))


def late(errors: Any, passes: int) -> Any:
    """Those of the last quarter of passes."""
    return errors[-(passes // 4 * (len(errors) // passes)) :]


def outlast(task: Task, X: Any, device: str | None) -> dict[str, Any]:
    """Train as printed until it stalls; tell all that may be called the lowest error."""
    structure, reading = STRUCTURES[task.subject], READINGS[task.reading]
    rows = rows_on(X, DATA_SETS[task.data].white, device)
    least, most = QUICK_ITERATIONS if task.quick else ITERATIONS
    settings = Settings(
        sizes=(rows.shape[1], *structure.hidden),
        solver="minibatch",
        batch_size=structure.batch_size,
        max_iter=max(8, round(most * structure.batch_size / rows.shape[0])),
        tol=0,
    )
    run = Run(settings, np.random.RandomState(task.seed), Observer())
    weights = random_weights(settings.sizes, run.random, partial(first_weights, reading, rows))
    train = train_layerwise if task.method == "algorithm2" else train_jointly
    began = perf_counter()
    trained = train(rows, weights, run, algorithm=partial(UntilItStalls, reading, least))
    if trained.interrupted:
        raise KeyboardInterrupt  # half a training is no result, and ends the experiment
    seconds = perf_counter() - began
    if len(trained.curves) == 1:
        (curve,) = trained.curves
        on_batches, level = curve.batch_errors, late(curve.batch_errors, curve.passes).mean()
    else:  # its own minibatches are those of inner pairs
        on_batches = errors_on_batches(rows, trained.weights, structure.batch_size)
        level = on_batches.mean()
    return {
        "error": evaluate(rows, trained.weights).error,
        "test_error": _test_error(task, trained.weights, device),
        "lowest_batch": float(on_batches.min()),
        "level": float(level),
        "stages": [_stage(curve) for curve in trained.curves],
        "iterations": sum(len(curve.batch_errors) for curve in trained.curves),
        "seconds": seconds,
        "device": str(rows.backend.device),
    }


def first_weights(reading: Reading, rows: Rows, uniform: Floats) -> Array:
    """What a reading makes of uniform numbers, of the type of rows and where they are."""
    return rows.backend.array(reading.initial(uniform).astype(host_dtype(rows.dtype)))


def rows_on(X: Any, white: float | None, device: str | None) -> Rows:
    """Rows of levels, or of numbers in [0, 1], where they are worked on."""
    rows = HostRows(X, white)
    backend = backend_named(device or "cpu")
    return rows if backend.is_numpy else on_device(rows, backend, again=True)


def errors_on_batches(rows: Rows, weights: Weights, size: int) -> Floats:
    """Mean squared errors of minibatches in the order of the rows."""
    found = []
    for first in range(0, rows.shape[0] - size + 1, size):
        batch = rows.take(slice(first, first + size))
        outputs = transmit(held(batch), weights.layers)
        found.append(float(squared_error(batch, outputs)) / math.prod(batch.shape))
    return np.asarray(found)


def _test_error(task: Task, weights: Weights, device: str | None) -> float | None:
    """On rows that were not trained on, where a data set has such."""
    entry = DATA_SETS[task.data]
    if entry.default_split != "train" or "test" not in entry.splits:
        return None
    X = load(task.data, split="test", scaled=entry.white is None).data
    rows = rows_on(X[: QUICK_ROWS if task.quick else None], entry.white, device)
    return float(evaluate(rows, weights).error)


def _stage(curve: LearningCurve) -> dict[str, Any]:
    """A curve: the mean and the lowest error on minibatches, between some iterations."""
    errors, passes = curve.batch_errors, curve.passes
    ends = np.unique(np.linspace(0, len(errors), min(POINTS, len(errors)) + 1).astype(int))
    parts = [errors[first:last] for first, last in pairwise(ends)]
    kept = np.unique(np.linspace(0, len(curve.errors) - 1, min(POINTS, passes)).astype(int))
    return {
        "passes": passes,
        "fall": fall(errors, passes),
        "unrest": float(np.std(late(errors, passes)) / np.mean(late(errors, passes))),
        "iterations": ends[1:].tolist(),
        "mean": [float(part.mean()) for part in parts],
        "lowest": [float(part.min()) for part in parts],
        "whole_iterations": curve.iterations[kept].tolist(),
        "whole": curve.errors[kept].tolist(),
    }
