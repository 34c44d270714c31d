r"""The gram solver on sums alone: where it would look at the rows, it takes bounds.

With rows, each code neuron is scaled by its largest drive. Without them, no drive is larger than
:math:`\sum_i h_i W_{ij}`, where :math:`h_i` is the highest number of column i (1, if nobody knows
it), and scaled by that no hidden neuron saturates. So layers stay linear: the error by the Gram
identity and the mean activations from the sums of the columns are those of the network, but for
outputs that saturate. On data in [0, 1] that only lowers the error: what is told is an upper bound.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import matmul
from typing import Any

import numpy as np

from lrnn.arrays import Array, Backend, Floats, to_numpy
from lrnn.functional import gram_error
from lrnn.moments import DenseMoment, MaskedMoment, Moment, SecondMoment, Sums
from lrnn.network.weights import Weights
from lrnn.training.evaluation import Evaluation, divisor
from lrnn.training.gram import (
    nothing_to_learn,
    pass_through,
    search_pair,
    unsaturated,
    widened,
)
from lrnn.training.history import LearningCurve, Trained
from lrnn.training.run import Run
from lrnn.training.split import split


def train_without_rows(moment: Moment, backend: Backend, run: Run) -> Trained:
    """Train all layers on a moment, in the type of its data.

    As `train_gram` does: a shallow network is split over all layers; with ``layerwise`` the pairs
    are also trained one after the other, and the better of the two networks is kept.
    """
    settings, weights_of = run.settings, _Maker(moment.dtype, backend)
    shallow = _pair(moment.sums, min(settings.widths), None, run, weights_of)
    weights = shallow.weights
    if settings.deep or settings.sizes[1] > settings.sizes[0]:
        encoder, decoder = weights.layers
        weights = split(encoder, decoder, settings.sizes[1:], "free", run.random, settings.behind)
        weights = within_bounds(weights, moment.sums, weights_of)
    whole = Trained(weights, shallow.curves, evaluated(moment.sums, weights, run))
    if not settings.in_pairs or not settings.layerwise or whole.interrupted:
        return whole
    layered = _layers(moment.sums, run, weights_of)
    curves = [*whole.curves, *layered.curves]
    other = evaluated(moment.sums, layered.weights, run)
    if layered.interrupted or _aim(other) >= _aim(whole.evaluation):
        return Trained(whole.weights, curves, whole.evaluation, whole.curves)
    return Trained(layered.weights, curves, other, layered.curves)


def highest(sums: Sums) -> Floats:
    """What no number of a column exceeds."""
    return np.ones(len(sums.gram)) if sums.high is None else np.asarray(sums.high)


def within_bounds(weights: Weights, sums: Sums, weights_of: "_Maker") -> Weights:
    """The same network, in which no hidden neuron can be driven beyond 1 by such rows.

    The largest drive that is possible of those before the code is 1.
    """
    layers, code = [_exact(w) for w in weights.excitatory], len(weights.encoders) - 1
    bound = highest(sums)
    for i in range(len(layers) - 1):
        bound = bound @ layers[i]
        peak = divisor(bound) if i < code else np.maximum(bound, 1)
        layers[i], layers[i + 1] = layers[i] / peak, layers[i + 1] * peak[:, None]
        bound = bound / peak
    return Weights.of(map(weights_of, layers), encoders=len(weights.encoders))


def evaluated(sums: Sums, weights: Weights, run: Run) -> Evaluation:
    """The error per attribute of the network, as if no output saturated, and mean activations.

    The error on masked rows is what it is on average, without any sample.
    """
    mean = np.asarray(sums.columns) / sums.weight
    encoder, decoder = (reduce(matmul, map(_exact, part)) for part in _halves(weights))
    means = [mean]
    for layer in weights.excitatory:
        means.append(np.minimum(means[-1] @ _exact(layer), 1))

    def error(moment: SecondMoment) -> float:
        product, target = moment.driven(encoder)
        found = gram_error(moment.trace, target.T, encoder.T @ product, decoder)
        return found / moment.n_attributes

    exact = DenseMoment.of(sums, np.dtype(np.float64))
    masked = None
    if run.settings.corruption is not None:
        masked = error(MaskedMoment(exact, run.settings.corruption.level))
    return Evaluation(error(exact), means, masked)


def _aim(evaluation: Evaluation | None) -> float:
    """The error that is to be low."""
    assert evaluation is not None
    masked = evaluation.corrupted_error
    return evaluation.error if masked is None else masked


class _Maker:
    """Makes weights of numbers of the host: of the type of the data, on the device."""

    def __init__(self, dtype: np.dtype[Any], backend: Backend) -> None:
        self.dtype, self.backend = dtype, backend

    def __call__(self, host: Floats) -> Array:
        return self.backend.array(host.astype(self.dtype))

    def moment(self, sums: Sums) -> DenseMoment:
        """A second moment of such numbers."""
        backend = self.backend
        dtype = self.dtype if backend.is_numpy else getattr(backend.xp, self.dtype.name)
        return DenseMoment.of(sums.on(backend), dtype)


def _pair(sums: Sums, hidden: int, layer: int | None, run: Run, weights_of: _Maker) -> Trained:
    """An encoder to ``hidden`` units and its decoder."""
    width, corruption = len(sums.gram), run.settings.corruption
    if hidden >= width and corruption is None:
        return Trained(pass_through(width, hidden, weights_of), [nothing_to_learn(layer)])
    moment: SecondMoment = weights_of.moment(sums)
    if corruption is not None:  # a mask, which only lowers drives
        moment = MaskedMoment(moment, corruption.level)
    surplus, hidden = max(hidden - width, 0), min(hidden, width)
    state, curve = search_pair(moment, hidden, layer, run)
    peak = weights_of(highest(sums)) @ state.encoder
    return Trained(widened(unsaturated(peak, state), surplus), [curve])


def _layers(sums: Sums, run: Run, weights_of: _Maker) -> Trained:
    """One pair after the other, each on the sums of the layer before it, which is linear."""
    encoders: list[Array] = []
    decoders: list[Array] = []
    curves: list[LearningCurve] = []
    layer = sums
    for hidden in run.settings.sizes[1:]:
        pair = _pair(layer, hidden, len(encoders) + 1, run, weights_of)
        run = replace(run, settings=replace(run.settings, corruption=None))
        encoders += pair.weights.encoders
        decoders[:0] = pair.weights.decoders
        curves += pair.curves
        if pair.interrupted:
            break
        layer = _behind(layer, _exact(pair.weights.encoders[0]))
    return Trained(within_bounds(Weights.of([*encoders, *decoders]), sums, weights_of), curves)


def _behind(sums: Sums, encoder: Floats) -> Sums:
    """Sums over the activations behind a layer that does not saturate."""
    gram = encoder.T @ sums.gram @ encoder
    high = np.minimum(highest(sums) @ encoder, 1)
    return Sums(gram, sums.weight, sums.n_rows, np.asarray(sums.columns) @ encoder, high=high)


def _halves(weights: Weights) -> tuple[Sequence[Array], Sequence[Array]]:
    return weights.encoders, weights.decoders


def _exact(weight: Array) -> Floats:
    return to_numpy(weight).astype(np.float64, copy=False)
