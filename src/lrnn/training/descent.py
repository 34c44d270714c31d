"""Steps of the full random neural network on minibatches, at a price for spikes."""

import math
from typing import Any

import numpy as np

from lrnn.arrays import HOST, Array, Floats, take_rows
from lrnn.functional import firing_rates, firings
from lrnn.functional.inhibition import penalised_gradients
from lrnn.training.adam import LogAdam
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.loop import Loop
from lrnn.training.observer import Observer
from lrnn.training.pace import Pace
from lrnn.training.recorder import Recorder
from lrnn.training.result import Schedule, Trained, Weights


class Descent:
    """Steps on a logarithmic scale, on rows in random order.

    The best weights are those with the lowest error (and price of spikes) on all rows, or on those
    that are held out: ``schedule.held_out`` is their share.
    """

    def __init__(
        self,
        inputs: Any,
        schedule: Schedule,
        random: np.random.RandomState,
        observer: Observer,
    ) -> None:
        self.inputs, self.judged, self.schedule = inputs, inputs, schedule
        self.random, self.observer = random, observer
        self.rows = np.arange(inputs.shape[0])
        if schedule.held_out:
            rows = random.permutation(self.rows)
            count = held_out_rows(len(rows), schedule.held_out)
            self.judged, self.rows = take_rows(inputs, np.sort(rows[:count])), rows[count:]
        n_batches = max(1, round(len(self.rows) / schedule.batch_size))
        self.bounds = np.linspace(0, len(self.rows), n_batches + 1).astype(int)

    def price(self, weights: Weights) -> float:
        """The error on all rows, and what its spikes cost."""
        return priced(evaluate(self.judged, weights), weights, self.schedule.spike_penalty)

    def train(self, start: Weights, pace: Pace, task: str) -> Trained:
        """Train from ``start``; the best weights on the way are kept."""
        inputs, penalty = self.inputs, self.schedule.spike_penalty
        record = Recorder(self.judged, start, lambda e, w: priced(e, w, penalty))
        current = start.copy()
        inhibitory = current.inhibitory or ()
        adam = LogAdam([*current.excitatory, *inhibitory], "free")
        per_row = penalty * inputs.shape[1] / 2

        def step(rows: Array, scale: Any, share: Any) -> Array:
            batch = take_rows(inputs, rows)
            price = per_row * share if per_row else None
            error, _, gradients = penalised_gradients(batch, current.excitatory, inhibitory, price)
            adam.step([*gradients[0], *gradients[1]], scale)
            return error / math.prod(batch.shape)

        loop = Loop(inputs, self.rows, self.bounds, self.random, self.observer)
        return loop.run(start, current, step, adam, record, pace, task)


def held_out_rows(rows: int, share: float) -> int:
    """How many rows are held out: at least one."""
    return max(1, round(share * rows))


def priced(evaluation: Evaluation, weights: Weights, penalty: float) -> float:
    """Error, and what the spikes cost; weights whose rates overflow are worth nothing."""
    if not penalty:
        return evaluation.error
    return evaluation.error + penalty * float(spikes(evaluation, weights).sum())


def spikes(evaluation: Evaluation, weights: Weights) -> Floats:
    """Firings per unit time of the input and of each hidden layer, on average over the rows."""
    on_host = weights.on(HOST).each(lambda w: w.astype(np.float64, copy=False))
    rates = firing_rates(on_host.excitatory, on_host.inhibitory)
    means = evaluation.mean_activations
    return np.asarray(firings(rates, means, on_host.excitatory, on_host.inhibitory))
