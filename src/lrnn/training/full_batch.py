"""Training by the gram solver, one layer pair after the other, each from its second moment."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike

from lrnn.moments import EncodedRows, SecondMoment, second_moment
from lrnn.training.anchors import anchor_correlations, anchor_weights
from lrnn.training.gram import GramDescent, GramState, descend
from lrnn.training.initial import random_weights
from lrnn.training.observer import Observer
from lrnn.training.result import LearningCurve, Schedule, Trained, Weights
from lrnn.typing import Array

POWERS = (2.0, 4.0, 8.0, 16.0)  # by which correlations may be sharpened


def train_full_batch(
    inputs: Array,
    sizes: Sequence[int],
    schedule: Schedule,
    anchors: bool,
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """Train layers of these sizes (the attributes first) on ``inputs`` in [0, 1] (may be sparse).

    Start from anchors, or at random. No layer's activations are ever stored: they are computed
    block by block when needed. After an interruption the layers not yet trained have random
    weights.
    """
    start = random_weights(sizes, random, inputs.dtype)
    encoders, decoders = list(start.encoders), list(start.decoders)
    curves: list[LearningCurve] = []
    for m, (width, hidden) in enumerate(pairwise(sizes)):
        rows = EncodedRows(inputs, encoders[:m]) if m else inputs
        layer = m + 1 if len(sizes) > 2 else None
        if hidden >= width:
            encoders[m], decoders[-1 - m] = pass_through(width, hidden, inputs.dtype)
            curves.append(nothing_to_learn(layer))
            continue
        try:
            moment = second_moment(rows, hidden)
            starts = (
                anchor_starts(moment, hidden)
                if anchors
                else [GramDescent(moment, encoders[m], decoders[-1 - m])]
            )
            state, curve = descend(starts, schedule, observer, layer)
            encoders[m], decoders[-1 - m] = unsaturated(moment, state)
            curves.append(curve)
        except KeyboardInterrupt:
            if not curves:
                raise
            curves[-1] = replace(curves[-1], stopped="interrupted")
        if curves[-1].stopped in ("interrupted", "callback"):
            break
    return Trained(Weights(tuple(encoders), tuple(decoders)), curves)


def anchor_starts(moment: SecondMoment, hidden: int) -> list[GramDescent]:
    """Anchors whose profiles are sharpened by several powers: which is best depends on the data."""
    correlations = anchor_correlations(moment, hidden)
    return [GramDescent(moment, *anchor_weights(moment, correlations, p)) for p in POWERS]


def unsaturated(moment: SecondMoment, state: GramState) -> tuple[Array, Array]:
    """Encoder and decoder rescaled such that each code neuron's largest drive is 1.

    Their product stays, and no code neuron saturates. The outputs may: that only lowers the error
    on data in [0, 1].
    """
    peak = moment.peaks(state.encoder)
    peak = np.where(peak > 0, peak, 1)
    return state.encoder / peak, state.decoder * peak[:, None]


def pass_through(width: int, hidden: int, dtype: DTypeLike) -> tuple[Array, Array]:
    """A hidden layer at least as wide as its input passes it on unchanged."""
    encoder = np.eye(width, hidden, dtype=dtype)
    return encoder, encoder.T.copy()


def nothing_to_learn(layer: int | None) -> LearningCurve:
    """The learning curve of a pair that reconstructs exactly from the start."""
    none = np.zeros(1)
    return LearningCurve(layer, np.zeros(0), np.zeros(1, np.int64), none, none, 0, "tol")
