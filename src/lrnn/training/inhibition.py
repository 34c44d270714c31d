"""The full random neural network, with inhibition: trained end to end, with a penalty for spikes.

Training is done twice: from scratch, with spikes that are cheap at first, and from the excitatory
network (where there are several hidden layers, with such spikes, too). Where spikes are free the
first one wins, where they are dear the second. What comes out is never worse than the excitatory
network.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, at_least, backend_of, like
from lrnn.functional.gradients import penalised_gradients
from lrnn.moments import Corruption
from lrnn.network.weights import Weights
from lrnn.rows import Rows, held
from lrnn.training.adam import Descent, StepSchedule
from lrnn.training.brightness import brightness, dimmed
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.history import Batches, History, Trained
from lrnn.training.parameters import held_out_rows
from lrnn.training.run import Run
from lrnn.training.settings import Settings

STEADY = 0.4  # share of the passes after which steps become smaller
FEW, PATIENCE = 5, 0.1  # passes without progress on rows held out, at least and as a share of all
SPREAD = 1.0  # of the logarithms of weights that start from scratch
EXCITATION, INHIBITION = 3.0, 30.0  # sums of a neuron's first weights
FAINT = 1e-3  # drive of inhibition that is added to an excitatory network
NOTHING = 1e-9  # share of a neuron's largest weight that counts as none
ROUNDING = 1e-6  # share by which the error may rise when these are removed


def train_inhibitory(rows: Rows, excitatory: Trained, run: Run) -> Trained:
    """Train for ``fine_tune`` passes, or as many as are good, to better the excitatory network."""
    trainer = InhibitoryTraining(rows, run)
    passes = run.settings.inhibitory_passes(rows.shape[0])
    first = from_scratch(rows, run, trainer.peak)
    found = [trainer.train(first, schedule_of(passes, run.settings, cheap=True), "from scratch")]
    if not found[0].interrupted:
        start = inhibited(excitatory.weights, run.random, trainer.peak)
        schedule = schedule_of(passes, run.settings, cheap=run.settings.deep)
        found.append(trainer.train(start, schedule, "from the excitatory network"))
    better = min(found, key=lambda trained: trainer.price(trained.weights))
    curves = [*excitatory.curves, *better.curves]
    curves[-1] = replace(curves[-1], stopped=found[-1].curves[-1].stopped)
    if trainer.price(excitatory.weights) < trainer.price(better.weights):
        return Trained(excitatory.weights, curves)
    return Trained(trainer.thinned(better.weights), curves)


def train_on_part(rows: Rows, weights: Weights | None, run: Run) -> Trained:
    """One pass over a part of a stream; the first part starts from scratch."""
    run = replace(run, settings=replace(run.settings, held_out=0.0))
    trainer = InhibitoryTraining(rows, run)
    if weights is None:
        start = from_scratch(rows, run, trainer.peak)
        return trainer.train(start, schedule_of(1, run.settings, cheap=True), "training")
    start = weights if weights.inhibitory else inhibited(weights, run.random, trainer.peak)
    return trainer.train(start, schedule_of(1, run.settings, later=True), "training")


class InhibitoryTraining:
    """Trainings on the same rows at the same penalty of a spike, from whatever start.

    The best weights are those with the lowest error (and penalty of spikes) on all rows, or on
    those that are held out. ``peak`` is the highest number in the rows, if it is known.
    """

    def __init__(self, rows: Rows, run: Run, peak: float | None = None) -> None:
        self.rows, self.run, self._judged = rows, run, rows
        self._numbers = None
        self.peak = brightness(rows) if peak is None else peak
        if run.settings.held_out:
            order = run.random.permutation(rows.shape[0])
            count = held_out_rows(len(order), run.settings.held_out)
            self._judged = held(rows.take(np.sort(order[:count])))
            self._numbers = order[count:]

    def price(self, weights: Weights) -> float:
        """The error on all rows, and what its spikes cost."""
        corruption = self.run.settings.corruption
        return self._priced(evaluate(self._judged, weights, corruption), weights)

    def _priced(self, evaluation: Evaluation, weights: Weights) -> float:
        penalty = self.run.settings.spike_penalty
        if not penalty:
            return evaluation.error
        spikes = weights.spikes(evaluation.mean_activations)
        return evaluation.error + penalty * float(spikes.sum())

    def train(self, start: Weights, schedule: StepSchedule, task: str) -> Trained:
        """Train from ``start``; the best weights on the way are kept."""
        settings = self.run.settings
        history = History(self._judged, start, self._priced, settings.corruption)
        current = start.copy()
        plus, minus = current.excitatory, current.inhibitory or ()
        unit = self.peak**2
        per_row = settings.spike_penalty * self.rows.shape[1] / 2 / unit

        def gradients(
            inputs: Array, targets: Array, share: Any, _step: Any
        ) -> tuple[Array, list[Array]]:
            price = per_row * share if per_row else None
            error, _, (by_plus, by_minus) = penalised_gradients(
                inputs, plus, minus, price, targets, unit
            )
            return error / math.prod(targets.shape), [*by_plus, *by_minus]

        batches = Batches(self.rows, settings.batch_size, self.run.random, self._numbers)
        weights = [*plus, *minus]
        descent = Descent(
            batches, start, current, weights, gradients, "free", schedule, history,
            settings.corruption,
        )  # fmt: skip
        stopped = self.run.train(descent, task)
        return Trained(history.best, [history.curve(None, stopped, "with inhibition")])

    def thinned(self, weights: Weights) -> Weights:
        """Without connections that do nothing, if nothing is lost with them."""
        thin = pruned(self.rows, weights, self.run.settings.corruption)
        affordable = self.price(thin) <= self.price(weights) * (1 + ROUNDING)
        return thin if affordable else weights


def schedule_of(
    passes: int, settings: Settings, *, cheap: bool = False, later: bool = False
) -> StepSchedule:
    """So many passes; fewer, if rows are held out and there is no progress on them."""
    patience = max(FEW, round(PATIENCE * passes)) if settings.held_out else None
    return StepSchedule(
        passes, STEADY * passes, tol=settings.tol, patience=patience, ends=True,
        cheap=cheap, later=later,
    )  # fmt: skip


def wide_spread(_senders: int) -> float:
    """The spread of the logarithms of first weights, from however many neurons."""
    return SPREAD


def from_scratch(rows: Rows, run: Run, peak: float) -> Weights:
    """Weights of an autoencoder that knows nothing but the highest number in the rows."""
    settings = run.settings
    drawn = scratch(rows, settings.widths, run.random)
    return dimmed(Weights.of(drawn.excitatory, drawn.inhibitory, len(settings.sizes) - 1), peak)


def scratch(
    rows: Rows,
    widths: Sequence[int],
    random: np.random.RandomState,
    spread_of: Callable[[int], float] = wide_spread,
) -> Weights:
    """Log-normal weights for layers of these widths, inhibition stronger than excitation."""

    def matrix(senders: int, receivers: int, total: float) -> Array:
        spread = spread_of(senders)
        logs = spread * random.standard_normal((senders, receivers)) - spread**2 / 2
        return rows.weights(np.exp(logs) * total / senders)

    layers = [*pairwise(widths)]
    plus = [matrix(*shape, EXCITATION) for shape in layers]
    return Weights.of(plus, [matrix(*shape, INHIBITION) for shape in layers])


def inhibited(
    weights: Weights, random: np.random.RandomState, peak: float, *, outputs: bool = True
) -> Weights:
    """An excitatory network with faint inhibition, and without zeros: both may grow.

    ``peak`` is the highest number in the data, which ``outputs`` are like if they are data.
    """

    def faint(weight: Array) -> Array:
        noise = random.uniform(0, 2 * FAINT, size=tuple(weight.shape)) / weight.shape[0]
        return like(weight, noise)

    def raised(weight: Array) -> Array:
        return array_namespace(weight).maximum(weight, faint(weight))

    loose = dimmed(weights, 1 / peak, outputs=outputs).each(raised)
    both = replace(loose, inhibitory=tuple(faint(weight) for weight in loose.excitatory))
    return dimmed(both, peak, outputs=outputs)


def pruned(rows: Rows, weights: Weights, corruption: Corruption | None = None) -> Weights:
    """Without connections that do nothing.

    These lead from neurons that are never excited, not even by noise, or to outputs that are never
    wanted, to hidden neurons that lead nowhere, inhibit what nothing excites, or are nothing beside
    the others that lead to the same neuron.
    """
    if weights.inhibitory is None:
        return weights
    xp, send = array_namespace(weights.encoders[0]), backend_of(weights.encoders[0]).send
    excited = [send(mean > 0) for mean in evaluate(rows, weights).mean_activations]
    wanted = excited[0]
    if corruption is not None:
        noisy = evaluate(rows, weights, corruption).mean_activations
        excited = [a | send(mean > 0) for a, mean in zip(excited, noisy, strict=True)]
    layers: list[tuple[Array, Array]] = []

    def kept(weight: Array, used: Array, beside: float) -> Array:
        least = NOTHING * at_least(xp.max(weight, axis=0), beside)
        return xp.where(used & (weight > least[None, :]), weight, xp.zeros_like(weight))

    pairs = list(zip(excited, weights.excitatory, weights.inhibitory, strict=False))
    for alive, excitatory, inhibitory in reversed(pairs):
        plus = kept(excitatory, alive[:, None] & wanted[None, :], 0.0)
        minus = kept(inhibitory, alive[:, None] & xp.any(plus > 0, axis=0)[None, :], 1.0)
        wanted = xp.any((plus > 0) | (minus > 0), axis=1)
        layers.insert(0, (plus, minus))
    thin_plus, thin_minus = zip(*layers, strict=True)
    return Weights.of(thin_plus, thin_minus, len(weights.encoders))
