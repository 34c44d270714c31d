"""The whole saturating network at once: descent on its true error, minibatch by minibatch."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Rates, like
from lrnn.functional import error_gradients
from lrnn.network.weights import Weights, widest
from lrnn.rows import Rows
from lrnn.rows.memory import CELLS_AT_ONCE
from lrnn.training.adam import Descent, StepSchedule
from lrnn.training.brightness import brightness, dimmed
from lrnn.training.evaluation import evaluate_both
from lrnn.training.history import Batches, History, Trained
from lrnn.training.run import Run

STEPS_A_PASS = 128  # where the data have so many rows
PATIENCE = 3  # passes without progress of tol, after which the steps become smaller
LEAK = 1e-3  # drive by which weights of zero are raised: they may grow


def train_end_to_end(rows: Rows, start: Weights, run: Run) -> Trained:
    """Train for at most ``max_iter`` passes; the result is never worse than the start.

    The steps keep their size until progress stalls or two thirds of the passes are over, and then
    shrink to nothing over half as many passes as there were before.
    """
    settings, count = run.settings, rows.shape[0]
    history = History(rows, start, corruption=settings.corruption)
    peak = brightness(rows) if settings.rates == "free" else 1.0
    current = loosened(start, settings.rates, run.random, peak)
    layers, passes = current.layers, settings.max_iter
    size = large_batches(count, widest(layers), settings.batch_size)
    batches = Batches(rows, size, run.random)
    steady = passes - max(1, round(passes / 3))
    schedule = StepSchedule(passes, steady, tol=settings.tol, patience=PATIENCE)

    def gradients(
        inputs: Array, targets: Array, _price: Any, _step: Any
    ) -> tuple[Array, list[Array]]:
        error, found = error_gradients(inputs, layers, targets, peak**2)
        return error / math.prod(targets.shape), found

    descent = Descent(
        batches, start, current, layers, gradients, settings.rates, schedule, history,
        settings.corruption,
    )  # fmt: skip
    stopped = run.train(descent, "training end to end")
    return Trained(history.best, [history.curve(None, stopped, "end to end")])


def large_batches(rows: int, width: int, batch_size: int) -> int:
    """How many rows a minibatch has: ``batch_size``, or more if a pass takes many steps otherwise.

    There are never so many that their activations would need much memory.
    """
    return max(batch_size, min(rows // STEPS_A_PASS, CELLS_AT_ONCE // width))


def fine_tuned(rows: Rows, trained: Trained, run: Run) -> Trained:
    """Go on from ``trained`` for ``fine_tune`` passes, unless it was interrupted."""
    settings = run.settings
    if not settings.fine_tune or trained.interrupted:
        return trained
    tuned = tune(rows, trained.weights, run)
    kept = [*trained.steps, *tuned.curves]
    return Trained(tuned.weights, [*trained.curves, *tuned.curves], kept=kept)


def tune(rows: Rows, start: Weights, run: Run) -> Trained:
    """Train for ``fine_tune`` passes."""
    settings = replace(run.settings, max_iter=run.settings.fine_tune, tol=0)
    return train_end_to_end(rows, start, replace(run, settings=settings))


def never_worse(rows: Rows, trained: Trained, run: Run) -> Trained:
    """What was trained, or the weights that ``init`` has given if their error is lower."""
    given, corruption = run.settings.start, run.settings.corruption
    if given is None or trained.interrupted:
        return trained
    before = evaluate_both(rows, given, corruption)
    after = trained.evaluation or evaluate_both(rows, trained.weights, corruption)
    if before.aim < after.aim:
        return Trained(given, trained.curves, before, kept=())
    return replace(trained, evaluation=after)


def loosened(
    weights: Weights,
    rates: Rates,
    random: np.random.RandomState,
    peak: float = 1.0,
    *,
    outputs: bool = True,
) -> Weights:
    """A copy without zeros, from which steps on a logarithmic scale could never leave.

    They become so small that no drive changes by more than some ``LEAK``, and differ at random.
    ``peak`` is the highest number in the data, which ``outputs`` are like if they are data.
    """

    def matrix(weight: Array) -> Array:
        noise = like(weight, random.uniform(0, 2 * LEAK, size=tuple(weight.shape)))
        if rates == "unit":
            return (1 - LEAK) * weight + noise / (2 * weight.shape[1])
        return array_namespace(weight).maximum(weight, noise / weight.shape[0])

    loose = dimmed(weights, 1 / peak, outputs=outputs).each(matrix)
    return dimmed(loose, peak, outputs=outputs).copy()
