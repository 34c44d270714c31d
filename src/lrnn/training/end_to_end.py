"""The whole saturating network at once: descent on its true error, minibatch by minibatch."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Rates, take_rows, weights_for
from lrnn.functional import error_gradients
from lrnn.rows.parallel import CELLS_AT_ONCE
from lrnn.training.adam import LogAdam
from lrnn.training.evaluation import widest
from lrnn.training.loop import Loop
from lrnn.training.observer import Observer
from lrnn.training.pace import Pace
from lrnn.training.recorder import Recorder
from lrnn.training.result import Schedule, Trained, Weights

STEPS_A_PASS = 128  # where the data have so many rows
PATIENCE = 3  # passes without progress of tol, after which the steps become smaller
LEAK = 1e-3  # drive by which weights of zero are raised: they may grow


def train_end_to_end(
    inputs: Array,
    weights: Weights,
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """Train for at most ``schedule.max_iter`` passes; the result is never worse than the start.

    The steps keep their size until progress stalls or two thirds of the passes are over, and then
    shrink to nothing over half as many passes as there were before.
    """
    record = Recorder(inputs, weights)
    current = loosened(weights, schedule.rates, random)
    adam = LogAdam(current.layers, schedule.rates)
    bounds = batch_bounds(inputs, widest(current.layers), schedule.batch_size)
    passes = schedule.max_iter
    steady = passes - max(1, round(passes / 3))
    pace = Pace(passes, steady, tol=schedule.tol, patience=PATIENCE)

    def step(rows: Array, scale: Any, _price: Any) -> Array:
        batch = take_rows(inputs, rows)
        error, gradients = error_gradients(batch, current.layers)
        adam.step(gradients, scale)
        return error / math.prod(batch.shape)

    loop = Loop(inputs, np.arange(inputs.shape[0]), bounds, random, observer)
    return loop.run(weights, current, step, adam, record, pace, "training end to end")


def fine_tuned(
    inputs: Array,
    trained: Trained,
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """Go on from ``trained`` for ``schedule.fine_tune`` passes, unless it was interrupted."""
    if not schedule.fine_tune or trained.interrupted:
        return trained
    passes = replace(schedule, max_iter=schedule.fine_tune, tol=0)
    tuned = train_end_to_end(inputs, trained.weights, passes, random, observer)
    return Trained(tuned.weights, [*trained.curves, *tuned.curves])


def loosened(weights: Weights, rates: Rates, random: np.random.RandomState) -> Weights:
    """A copy without zeros, from which steps on a logarithmic scale could never leave.

    They become so small that no drive changes by more than some ``LEAK``, and differ at random.
    """

    def matrix(weight: Array) -> Array:
        noise = weights_for(weight, random.uniform(0, 2 * LEAK, size=tuple(weight.shape)))
        if rates == "unit":
            return (1 - LEAK) * weight + noise / (2 * weight.shape[1])
        return array_namespace(weight).maximum(weight, noise / weight.shape[0])

    return weights.each(matrix).copy()


def batch_bounds(inputs: Array, width: int, batch_size: int) -> Array:
    """Where minibatches of equal size begin and end.

    They have ``batch_size`` rows, or more if a pass would otherwise take many steps, but never so
    many that their activations would need much memory.
    """
    rows = inputs.shape[0]
    large = min(rows // STEPS_A_PASS, CELLS_AT_ONCE // width)
    size = max(batch_size, large)
    return np.linspace(0, rows, max(1, round(rows / size)) + 1).astype(int)
