"""Training by the gram solver: the network as a whole, and one layer pair after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, weights_for
from lrnn.moments import MomentKind, SecondMoment, second_moment
from lrnn.rows import EncodedRows
from lrnn.training.anchors import anchor_correlations, anchor_weights
from lrnn.training.evaluation import evaluate, evaluate_unsaturated
from lrnn.training.gram import GramDescent, GramState, cheap_steps, descend
from lrnn.training.initial import random_weights
from lrnn.training.observer import Observer
from lrnn.training.reading import ObservedReading
from lrnn.training.result import LearningCurve, Schedule, Trained, Weights
from lrnn.training.split import deepened, divisor

POWERS = (2.0, 4.0, 8.0, 16.0)  # by which correlations may be sharpened
RANDOM_STARTS = 4  # besides, for small networks


@dataclass(frozen=True)
class FullBatch:
    """Trains on rows in [0, 1] (may be sparse) through their second moments.

    It starts from anchors, or at random. No layer's activations are ever stored: they are
    computed block by block when needed.
    """

    schedule: Schedule
    random: np.random.RandomState
    observer: Observer
    anchors: bool = True
    moment: MomentKind = "auto"

    def train(self, inputs: Array, sizes: Sequence[int], layerwise: bool) -> Trained:
        """Train layers of these sizes (the attributes first).

        A deep network is the best shallow one of its code width, split over the layers. With
        ``layerwise`` the layers are then also trained one after the other, and the better of the
        two networks is kept. An interruption leaves the best that was complete.
        """
        whole = self.train_whole(inputs, sizes)
        if len(sizes) == 2 or not layerwise or whole.interrupted:
            return whole
        try:
            layered = self.train_layers(inputs, sizes)
            curves = [*whole.curves, *layered.curves]
            if not layered.interrupted and _error(inputs, layered) < _error(inputs, whole):
                return Trained(layered.weights, curves)
            return Trained(whole.weights, curves)
        except KeyboardInterrupt:
            return Trained(whole.weights, [replace(whole.curves[0], stopped="interrupted")])

    def train_whole(self, inputs: Array, sizes: Sequence[int]) -> Trained:
        """Train a shallow network as wide as the narrowest layer, and split it over all layers.

        Before that it is fine-tuned, if that is wanted: so a deep network is never worse than a
        shallow one that had as many passes.
        """
        trained = self.train_pair(inputs, min(sizes), None)
        if len(sizes) == 2 and sizes[1] <= sizes[0]:
            return trained
        return deepened(inputs, trained, sizes[1:], self.schedule, self.random, self.observer)

    def train_layers(self, inputs: Array, sizes: Sequence[int]) -> Trained:
        """Train one pair after the other, each on the activations of the layer before it.

        An interruption leaves the layers that were trained.
        """
        encoders: list[Array] = []
        decoders: list[Array] = []
        curves: list[LearningCurve] = []
        for hidden in sizes[1:]:
            rows = EncodedRows(inputs, encoders) if encoders else inputs
            pair = self.train_pair(rows, hidden, len(encoders) + 1)
            encoders += pair.weights.encoders
            decoders[:0] = pair.weights.decoders
            curves += pair.curves
            if pair.interrupted:
                break
        return Trained(Weights(tuple(encoders), tuple(decoders)), curves)

    def train_pair(self, inputs: Any, hidden: int, layer: int | None) -> Trained:
        """An encoder to ``hidden`` units and its decoder; layer pair ``layer`` of a network."""
        width = inputs.shape[1]
        if hidden >= width:
            weights = Weights(*((w,) for w in pass_through(width, hidden, inputs)))
            return Trained(weights, [nothing_to_learn(layer)])
        reading = ObservedReading(self.observer, f"reading {width} attributes")
        moment = second_moment(inputs, hidden, self.moment, reading)
        state, curve = descend(self.starts(moment, hidden), self.schedule, self.observer, layer)
        evaluation = None
        try:
            reading = ObservedReading(self.observer, "scaling the code neurons")
            peak, evaluation = evaluate_unsaturated(inputs, state.encoder, state.decoder, reading)
        except KeyboardInterrupt:
            xp = array_namespace(state.encoder)
            peak = xp.sum(state.encoder, axis=0)  # no drive by data in [0, 1] is larger
            curve = replace(curve, stopped="interrupted")
        encoder, decoder = unsaturated(peak, state)
        return Trained(Weights((encoder,), (decoder,)), [curve], evaluation)

    def starts(self, moment: SecondMoment, hidden: int) -> list[GramDescent]:
        """Where to begin.

        The profiles of anchors may be sharpened by several powers: which is best depends on the
        data. Where steps are cheap there are some random weights besides, always the same ones.
        """
        sizes, kind = [moment.n_attributes, hidden], moment.diagonal
        if not self.anchors:
            return [GramDescent(moment, *random_weights(sizes, self.random, kind).layers)]
        correlations = anchor_correlations(moment, hidden)
        weights = [anchor_weights(moment, correlations, power) for power in POWERS]
        if cheap_steps(moment, hidden) > self.schedule.max_iter:
            fixed = np.random.RandomState(0)
            weights += [random_weights(sizes, fixed, kind).layers for _ in range(RANDOM_STARTS)]
        return [GramDescent(moment, *start) for start in weights]


def unsaturated(peak: Array, state: GramState) -> tuple[Array, Array]:
    """Encoder and decoder rescaled such that drives of each code neuron up to ``peak`` become 1.

    Their product stays, and no code neuron saturates. The outputs may: that only lowers the error
    on data in [0, 1]. Drives so small that the division could overflow are left as they are.
    """
    peak = divisor(peak)
    return state.encoder / peak, state.decoder * peak[:, None]


def pass_through(width: int, hidden: int, inputs: Any) -> tuple[Array, Array]:
    """A hidden layer at least as wide as its input passes it on unchanged."""
    encoder = np.eye(width, hidden)
    return weights_for(inputs, encoder), weights_for(inputs, encoder.T.copy())


def nothing_to_learn(layer: int | None) -> LearningCurve:
    """The learning curve of a pair that reconstructs exactly from the start."""
    none = np.zeros(1)
    return LearningCurve(layer, np.zeros(0), np.zeros(1, np.int64), none, none, 0, "tol")


def _error(inputs: Array, trained: Trained) -> float:
    return evaluate(inputs, trained.weights).error
