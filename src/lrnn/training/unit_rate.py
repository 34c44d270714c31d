"""Training under unit rates: every weight is a probability, after every single step.

A neuron cannot pass on more spikes than it fires, so saturation decides what such a network can
do, and the second moment is not enough: the network is trained end to end.
"""

from collections.abc import Sequence

import numpy as np

from lrnn.arrays import Array, weights_for
from lrnn.functional import adjust_rows
from lrnn.moments import second_moment
from lrnn.training.anchors import anchor_correlations, sharpened
from lrnn.training.end_to_end import train_end_to_end
from lrnn.training.full_batch import nothing_to_learn, pass_through
from lrnn.training.initial import random_weights
from lrnn.training.observer import Observer
from lrnn.training.result import Schedule, Trained, Weights
from lrnn.training.split import deepened

POWER = 4.0  # by which correlations with anchors are sharpened


def train_unit_rate(
    inputs: Array,
    sizes: Sequence[int],
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
    anchors: bool = True,
) -> Trained:
    """Train layers of these sizes (the attributes first) on ``inputs`` in [0, 1] (may be sparse).

    A shallow network as wide as the narrowest layer is trained, and split over all layers.
    """
    width, hidden = inputs.shape[1], min(sizes)
    if hidden == width:
        encoder, decoder = pass_through(width, width, inputs)
        trained = Trained(Weights((encoder,), (decoder,)), [nothing_to_learn(None)])
    else:
        if anchors:
            start = anchored(inputs, hidden)
        else:
            start = random_weights((width, hidden), random, inputs)
        trained = train_end_to_end(inputs, start, schedule, random, observer)
    if (width, hidden) == tuple(sizes):
        return trained
    return deepened(inputs, trained, sizes[1:], schedule, random, observer)


def anchored(inputs: Array, hidden: int) -> Weights:
    """Each attribute sends its spikes to the anchors it correlates with, and gets them back."""
    correlations = anchor_correlations(second_moment(inputs, hidden), hidden)
    profile = weights_for(inputs, sharpened(correlations, POWER))
    return Weights((adjust_rows(profile),), (adjust_rows(profile.T),))
