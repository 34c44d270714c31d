"""The full random neural network, with inhibition: trained end to end, at a price for spikes.

Training is done twice: from scratch, with spikes that are cheap at first, and from the excitatory
network. Where spikes are free the first one wins, where they are dear the second. What comes out is
never worse than the excitatory network.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, at_least, backend_of, weights_for
from lrnn.training.descent import Descent
from lrnn.training.evaluation import evaluate
from lrnn.training.observer import Observer
from lrnn.training.pace import Pace
from lrnn.training.result import Schedule, Trained, Weights

PASSES = 20  # over the data, if nobody says how many
LEAST_STEPS = 4_000  # however few the rows are
STEADY = 0.4  # share of the passes after which steps become smaller
FEW, PATIENCE = 5, 0.1  # passes without progress on rows held out, at least and as a share of all
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
    passes = passes_of(inputs.shape[0], schedule)
    first = scratch(inputs, sizes, random)
    found = [descent.train(first, pace_of(passes, schedule, cheap=True), "from scratch")]
    if not found[0].interrupted:
        start = inhibited(excitatory.weights, random)
        pace = pace_of(passes, schedule)
        found.append(descent.train(start, pace, "from the excitatory network"))
    better = min(found, key=lambda trained: descent.price(trained.weights))
    curves = [*excitatory.curves, *better.curves]
    curves[-1] = replace(curves[-1], stopped=found[-1].curves[-1].stopped)
    return Trained(finished(descent, better.weights, excitatory.weights), curves)


def finished(descent: Descent, weights: Weights, excitatory: Weights) -> Weights:
    """What training ends with: never a network that is worse than the excitatory one."""
    if descent.price(excitatory) < descent.price(weights):
        return excitatory
    return thinned(descent, weights)


def thinned(descent: Descent, weights: Weights) -> Weights:
    """Without connections that do nothing, if nothing is lost with them."""
    thin = pruned(descent.inputs, weights)
    affordable = descent.price(thin) <= descent.price(weights) * (1 + ROUNDING)
    return thin if affordable else weights


def train_on_part(
    inputs: Any,
    weights: Weights | None,
    sizes: Sequence[int],
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """One pass over a part of a stream; the first part starts from scratch."""
    schedule = replace(schedule, held_out=0.0)
    descent = Descent(inputs, schedule, random, observer)
    if weights is None:
        pace = pace_of(1, schedule, cheap=True)
        return descent.train(scratch(inputs, sizes, random), pace, "training")
    start = weights if weights.inhibitory else inhibited(weights, random)
    return descent.train(start, pace_of(1, schedule, later=True), "training")


def passes_of(rows: int, schedule: Schedule) -> int:
    """How many passes training from each start takes."""
    few = math.ceil(LEAST_STEPS / max(1, round(rows / schedule.batch_size)))
    return schedule.fine_tune or max(PASSES, few)


def pace_of(passes: int, schedule: Schedule, *, cheap: bool = False, later: bool = False) -> Pace:
    """So many passes; fewer, if rows are held out and there is no progress on them."""
    patience = max(FEW, round(PATIENCE * passes)) if schedule.held_out else None
    return Pace(
        passes, STEADY * passes, tol=schedule.tol, patience=patience, ends=True,
        cheap=cheap, later=later,
    )  # fmt: skip


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

    These lead from neurons that are never excited, or to outputs that are never wanted, to hidden
    neurons that lead nowhere, inhibit what nothing excites, or are nothing beside the others that
    lead to the same neuron.
    """
    if weights.inhibitory is None:
        return weights
    xp, send = array_namespace(weights.encoders[0]), backend_of(weights.encoders[0]).send
    excited = [send(mean > 0) for mean in evaluate(inputs, weights).mean_activations]
    wanted = excited[0]
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
    half = len(weights.encoders)
    all_plus, all_minus = zip(*layers, strict=True)
    return Weights(all_plus[:half], all_plus[half:], all_minus)
