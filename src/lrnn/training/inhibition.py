"""The full random neural network, with inhibition: trained end to end, at a price for spikes.

Two starts are tried: from scratch, with spikes that are cheap at first, and from the excitatory
network. Where spikes are free the first one wins, where they are dear the second; the better of them
goes on. What comes out is never worse than the excitatory network.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.backend import HOST, backend_of, take_rows, weights_for
from lrnn.functional import firing_rates
from lrnn.functional.inhibition import penalised_gradients
from lrnn.functional.limits import at_least
from lrnn.training.adam import LogAdam
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.observer import Observer, State
from lrnn.training.recorded import recorded
from lrnn.training.recorder import Recorder
from lrnn.training.result import Schedule, StopReason, Trained, Weights
from lrnn.typing import Array

STEP = 0.1  # by which share a weight changes at most, at first
STEADY = 0.4  # share of the passes after which steps become smaller
PASSES = 20  # over the data, if nobody says how many
LEAST_STEPS = 3_000  # however few the rows are
TRIAL = 0.25  # share of the passes that both starts make
CHEAP = 1e-2  # share of the price of a spike at which a network from scratch starts
RISE = 0.5  # share of the passes after which it has to pay the full price
SPREAD = 1.0  # of the logarithms of weights that start from scratch
EXCITATION, INHIBITION = 3.0, 30.0  # sums of a neuron's first weights
FAINT = 1e-3  # drive of inhibition that is added to an excitatory network
NOTHING = 1e-9  # share of a neuron's largest weight that counts as none
ROUNDING = 1e-6  # share by which the error may rise when these are removed


def train_inhibitory(
    inputs: Any,
    excitatory: Trained,
    sizes: Sequence[int],
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """Train for ``schedule.fine_tune`` passes, or as many as are good.

    ``excitatory`` is the network that must be bettered.
    """
    descent = Descent(inputs, schedule, random, observer)
    trial = trial_of(descent.passes)
    found = [descent.train(scratch(inputs, sizes, random), trial, "trying from scratch", cheap=True)]
    if not found[0].interrupted:
        start = inhibited(excitatory.weights, random)
        found.append(descent.train(start, trial, "trying the excitatory network"))
    better = min(found, key=lambda trained: descent.price(trained.weights))
    curves = [*excitatory.curves, *better.curves]
    if found[-1].interrupted:
        curves[-1] = replace(curves[-1], stopped=found[-1].curves[-1].stopped)
    else:
        better = descent.train(better.weights, descent.passes, "training with inhibition")
        curves += better.curves
    weights = better.weights
    price, thin = descent.price(weights), pruned(inputs, weights)
    if descent.price(thin) <= price * (1 + ROUNDING):
        weights = thin
    if descent.price(excitatory.weights) < price:
        weights = excitatory.weights
    return Trained(weights, curves)


def passes_of(rows: int, schedule: Schedule) -> int:
    """How many passes the last part of training takes."""
    few = math.ceil(LEAST_STEPS / max(1, round(rows / schedule.batch_size)))
    return schedule.fine_tune or max(PASSES, few)


def all_passes(rows: int, schedule: Schedule) -> int:
    """How many all parts together take."""
    passes = passes_of(rows, schedule)
    return passes + 2 * trial_of(passes)


def trial_of(passes: int) -> int:
    """How many passes each start makes."""
    return max(1, round(TRIAL * passes))


class Descent:
    """Steps on minibatches, on a logarithmic scale."""

    def __init__(
        self,
        inputs: Any,
        schedule: Schedule,
        random: np.random.RandomState,
        observer: Observer,
    ) -> None:
        self.inputs, self.schedule = inputs, schedule
        self.random, self.observer = random, observer
        rows = inputs.shape[0]
        self.bounds = np.linspace(0, rows, max(1, round(rows / schedule.batch_size)) + 1)
        self.bounds = self.bounds.astype(int)
        self.passes = passes_of(rows, schedule)

    def price(self, weights: Weights) -> float:
        """The error on all rows, and what its spikes cost."""
        return priced(evaluate(self.inputs, weights), weights, self.schedule.spike_penalty)

    def train(self, start: Weights, passes: int, task: str, cheap: bool = False) -> Trained:
        """So many passes from ``start``; the best weights on the way are kept.

        If spikes are to be ``cheap`` at first, their price rises to its full height on the way.
        """
        inputs, penalty = self.inputs, self.schedule.spike_penalty
        record = Recorder(inputs, start, lambda e, w: priced(e, w, penalty))
        current = start.copy()
        inhibitory = current.inhibitory or ()
        adam = LogAdam([*current.excitatory, *inhibitory], "free")
        per_row = penalty * inputs.shape[1] / 2
        total = passes * (len(self.bounds) - 1)
        self.observer.stage(task, total)
        stopped: StopReason = "max_iter"

        def on_some(rows: Array, scale: Any, share: Any) -> Array:
            batch = take_rows(inputs, rows)
            price = per_row * share if per_row else None
            error, _, gradients = penalised_gradients(batch, current.excitatory, inhibitory, price)
            adam.step([*gradients[0], *gradients[1]], scale)
            return error / math.prod(batch.shape)

        step = recorded(on_some, inputs)

        def state() -> State:
            return {
                "adam": adam.state(),
                "record": record.state(),
                "random": self.random.get_state(legacy=False),
                "stopped": stopped,
            }

        if saved := self.observer.resume():
            adam.restore(saved["adam"])
            record.restore(saved["record"])
            self.random.set_state(saved["random"])
            stopped = saved["stopped"]
            self.observer.skip(record.iterations, record.error)
        try:
            if not saved:
                record.evaluate(start)
            while record.passes < passes:
                order = backend_of(inputs).array(self.random.permutation(inputs.shape[0]))
                for first, last in pairwise(self.bounds):
                    done = record.iterations / total
                    scale = adam.scale(STEP * min(1.0, (1 - done) / (1 - STEADY)))
                    share = CHEAP ** max(0.0, 1 - done / RISE) if cheap else 1.0
                    record.batch(step(order[first:last], scale, share))
                    self.observer.iteration()
                record.finish_pass(current.copy())
                if self.observer.finished_pass(record.error):
                    stopped = "callback"
                    break
                self.observer.checkpoint(state)
            if stopped != "callback":
                self.observer.checkpoint(state, finished=True)
        except KeyboardInterrupt:
            stopped = "interrupted"
            record.evaluate(current.copy())
        return Trained(record.best, [record.curve(None, stopped)])


def priced(evaluation: Evaluation, weights: Weights, penalty: float) -> float:
    """Error, and what the spikes cost; weights whose rates overflow are worth nothing."""
    if not penalty:
        return evaluation.error
    return evaluation.error + penalty * spikes(evaluation, weights)


def spikes(evaluation: Evaluation, weights: Weights) -> float:
    """Firings per unit time of the input and hidden layers, on average over the rows."""
    on_host = weights.on(HOST)
    rates = firing_rates(on_host.excitatory, on_host.inhibitory)
    fired = zip(rates[:-1], evaluation.mean_activations[:-1], strict=True)
    return float(sum(np.dot(rate, mean) for rate, mean in fired))


def scratch(inputs: Any, sizes: Sequence[int], random: np.random.RandomState) -> Weights:
    """Log-normal weights, inhibition stronger than excitation."""

    def matrix(rows: int, columns: int, total: float) -> Array:
        logs = SPREAD * random.standard_normal((rows, columns)) - SPREAD**2 / 2
        return weights_for(inputs, np.exp(logs) * total / rows)

    layers = [*pairwise(sizes), *pairwise(reversed(sizes))]
    plus = [matrix(*shape, EXCITATION) for shape in layers]
    half = len(sizes) - 1
    minus = tuple(matrix(*shape, INHIBITION) for shape in layers)
    return Weights(tuple(plus[:half]), tuple(plus[half:]), minus)


def inhibited(weights: Weights, random: np.random.RandomState) -> Weights:
    """An excitatory network with faint inhibition, and without zeros: both may grow."""

    def faint(weight: Array) -> Array:
        noise = random.uniform(0, 2 * FAINT, size=tuple(weight.shape)) / weight.shape[0]
        return weights_for(weight, noise)

    def raised(weight: Array) -> Array:
        return array_namespace(weight).maximum(weight, faint(weight))

    loose = weights.each(raised)
    return replace(loose, inhibitory=tuple(faint(weight) for weight in weights.excitatory))


def pruned(inputs: Any, weights: Weights) -> Weights:
    """Without connections that do nothing.

    These lead from neurons that are never excited, or to outputs that are never wanted, or are
    nothing beside the others that lead to the same neuron.
    """
    if weights.inhibitory is None:
        return weights
    means = evaluate(inputs, weights).mean_activations

    def kept(weight: Array, layer: int, beside: float) -> Array:
        xp, send = array_namespace(weight), backend_of(weight).send
        least = NOTHING * at_least(xp.max(weight, axis=0), beside)
        used = (weight > least[None, :]) & send(means[layer] > 0)[:, None]
        if layer == len(means) - 2:
            used = used & send(means[0] > 0)[None, :]
        return xp.where(used, weight, xp.zeros_like(weight))

    plus = [kept(w, i, 0.0) for i, w in enumerate(weights.excitatory)]
    minus = tuple(kept(w, i, 1.0) for i, w in enumerate(weights.inhibitory))
    half = len(weights.encoders)
    return Weights(tuple(plus[:half]), tuple(plus[half:]), minus)
