"""The printed algorithms for as long as it takes, under each reading of what the paper leaves open.

The paper says neither how long it trains, nor how it draws its first weights, nor in which order
minibatches come, nor whether the lowest error is that of a minibatch or of all images.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Floats, backend_named, host_dtype
from lrnn.datasets import DATA_SETS, load
from lrnn.functional import adjust_rows, squared_error
from lrnn.paper.experiments import QUICK_ROWS, READINGS, STRUCTURES, Reading, Task
from lrnn.rows import HostRows, Rows, held
from lrnn.rows.device import on_device
from lrnn.training.evaluation import evaluate
from lrnn.training.history import Batches
from lrnn.training.minibatch import PrintedAlgorithm, batch_step
from lrnn.training.run import Observer, Run
from lrnn.training.settings import Settings
from lrnn.weights import Weights, transmit

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

    def __init__(self, rows: Rows, weights: Weights, run: Run, reading: Reading, least: int):
        super().__init__(rows, weights, run)
        self._keeps_absent, self._least = reading.keeps_absent, least
        if reading.order != "each pass":
            size = run.settings.batch_size
            self.batches = InOneOrder(rows, size, run.random, reading.order == "once")

    def _on_batch(self, numbers: Array, scale: Any) -> Array:
        if not self._keeps_absent:
            return super()._on_batch(numbers, scale)
        batch, old = self.batches.part.take(numbers), self._weights
        new, error = batch_step(batch, old, self._settings.rates)
        xp = array_namespace(batch)
        absent = xp.max(batch, axis=0) == 0
        first = xp.where(absent[:, None], old.encoders[0], new.encoders[0])
        last = xp.where(absent[None, :], old.decoders[-1], new.decoders[-1])
        layers = [first, *new.layers[1:-1], last]
        if not self._in_place:
            self._weights = Weights.of(layers)
            return error
        for kept, value in zip(old.layers, layers, strict=True):
            kept[...] = value
        return error

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
    weights = initial(settings.sizes, run.random, reading, rows)
    began = perf_counter()
    if task.method == "algorithm2":
        stages, best = layerwise(rows, weights, run, reading, least)
    else:
        algorithm = UntilItStalls(rows, weights, run, reading, least)
        _finish(run, algorithm)
        stages, best = [algorithm], algorithm.history.best
    seconds = perf_counter() - began
    on_batches = errors_on_batches(rows, best, structure.batch_size)
    if len(stages) == 1:  # else those of its last stage are errors of an inner pair
        on_batches = np.asarray(stages[0].history.batch_errors())
    return {
        "error": evaluate(rows, best).error,
        "test_error": _test_error(task, best, device),
        "lowest_batch": float(on_batches.min()),
        "level": _level(stages[-1]) if len(stages) == 1 else float(on_batches.mean()),
        "below_paper": _first_below(on_batches, structure.paper) if len(stages) == 1 else None,
        "stages": [_stage(stage) for stage in stages],
        "iterations": sum(stage.history.iterations for stage in stages),
        "seconds": seconds,
        "device": str(rows.backend.device),
    }


def _finish(run: Run, algorithm: UntilItStalls) -> None:
    """Half a training is no result, and ends the experiment."""
    if run.train(algorithm, "as printed") == "interrupted":
        raise KeyboardInterrupt


def rows_on(X: Any, white: float | None, device: str | None) -> Rows:
    """Rows of levels, or of numbers in [0, 1], where they are worked on."""
    rows = HostRows(X, white)
    backend = backend_named(device or "cpu")
    return rows if backend.is_numpy else on_device(rows, backend, again=True)


def initial(
    sizes: Sequence[int], random: np.random.RandomState, reading: Reading, rows: Rows
) -> Weights:
    """The weights that a reading begins with, as rows and columns are adjusted."""

    def matrix(height: int, width: int) -> Array:
        drawn = reading.initial(random.uniform(size=(height, width)))
        return adjust_rows(rows.backend.array(drawn.astype(host_dtype(rows.dtype))))

    return Weights.of([matrix(*pair) for pair in (*pairwise(sizes), *pairwise(reversed(sizes)))])


def layerwise(
    rows: Rows, weights: Weights, run: Run, reading: Reading, least: int
) -> tuple[list[UntilItStalls], Weights]:
    """Algorithm 2: each pair with Algorithm 1, until it stalls, on the layer before it."""
    encoders, decoders = list(weights.encoders), list(weights.decoders)
    stages, layer = [], rows
    for m in range(len(encoders)):
        pair = Weights((encoders[m],), (decoders[-1 - m],))
        stages.append(UntilItStalls(layer, pair, run, reading, least))
        _finish(run, stages[-1])
        encoders[m], decoders[-1 - m] = stages[-1].history.best.layers
        if m + 1 < len(encoders):
            layer = held(rows.backend.send(transmit(layer, [encoders[m]])))
    return stages, Weights(tuple(encoders), tuple(decoders))


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
    return float(
        evaluate(
            rows_on(X[: QUICK_ROWS if task.quick else None], entry.white, device), weights
        ).error
    )


def _level(stage: UntilItStalls) -> float:
    """The mean error on minibatches in the last quarter of passes."""
    return float(np.mean(late(stage.history.batch_errors(), stage.history.passes)))


def _first_below(errors: Floats, paper: float | None) -> int | None:
    """After how many iterations a minibatch has the paper's error, if one does."""
    below = np.flatnonzero(errors < (paper or 0) + 5e-5)  # to as many places as it is given
    return int(below[0]) + 1 if len(below) else None


def _stage(stage: UntilItStalls) -> dict[str, Any]:
    """A curve: the mean and the lowest error on minibatches, between some iterations."""
    errors, passes = np.asarray(stage.history.batch_errors()), stage.history.passes
    curve = stage.history.curve(None, "tol")
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
