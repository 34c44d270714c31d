"""Algorithm 2 of the paper: one layer pair after the other, each on the layer before it."""

import numpy as np

from lrnn.arrays import Array
from lrnn.training.evaluation import transmit
from lrnn.training.minibatch import train_jointly
from lrnn.training.observer import Observer
from lrnn.training.result import LearningCurve, Schedule, Trained, Weights


def train_layerwise(
    inputs: Array,
    weights: Weights,
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """Train each pair with Algorithm 1 on the activations of the layer before it.

    After an interruption the layers not yet trained keep their initial weights.
    """
    encoders, decoders = list(weights.encoders), list(weights.decoders)
    curves: list[LearningCurve] = []
    layer = inputs
    for m in range(len(encoders)):
        pair = Weights((encoders[m],), (decoders[-1 - m],))
        trained = train_jointly(layer, pair, schedule, random, observer, layer=m + 1)
        encoders[m], decoders[-1 - m] = trained.weights.layers
        curves += trained.curves
        if trained.interrupted:
            break
        if m + 1 < len(encoders):
            layer = transmit(layer, [encoders[m]])
    return Trained(Weights(tuple(encoders), tuple(decoders)), curves)
