"""Algorithms 1 and 3 of the paper: multiplicative steps on minibatches.

Algorithm 3 takes each layer pair in turn through the steps of Algorithm 1, with the activations
of the layer before in the place of the data. With one pair it *is* Algorithm 1, so there is one
loop for both.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, Rates, backend_of, take_rows
from lrnn.functional import (
    adjust_rows,
    normalisation,
    propagate,
    saturate,
    squared_error,
    update_decoder,
    update_encoder,
)
from lrnn.training.observer import Observer, State, training
from lrnn.training.recorded import recorded
from lrnn.training.recorder import Recorder
from lrnn.training.result import Schedule, StopReason, Trained, Weights

PATIENCE = 10  # passes without progress of tol that end the training: errors fluctuate


def pair_step(
    inputs: Array, encoder: Array, decoder: Array, rates: Rates
) -> tuple[Array, Array, Array, Array]:
    """The body of Algorithm 1's loop, in the printed order.

    Returns the new encoder and decoder, the codes and the reconstruction of ``inputs``.
    """
    encoder = adjust_rows(update_encoder(inputs, encoder, decoder))
    drive = inputs @ encoder
    divisor = normalisation(encoder, drive, rates)
    encoder, drive = encoder / divisor, drive / divisor

    decoder = adjust_rows(update_decoder(inputs, drive, decoder))
    codes = saturate(drive)
    outputs = codes @ decoder
    divisor = normalisation(decoder, outputs, rates)
    return encoder, decoder / divisor, codes, saturate(outputs / divisor)


def joint_step(inputs: Array, weights: Weights, rates: Rates) -> tuple[Weights, Array]:
    """The body of Algorithm 3's loop: every pair once. Also returns the reconstruction."""
    encoders, decoders = list(weights.encoders), list(weights.decoders)
    layer = inputs
    for m in range(len(encoders)):
        encoders[m], decoders[-1 - m], layer, outputs = pair_step(
            layer, encoders[m], decoders[-1 - m], rates
        )
    if len(encoders) > 1:
        outputs = layer
        for decoder in decoders:
            outputs = propagate(outputs, decoder)
    return Weights(tuple(encoders), tuple(decoders)), outputs


def batch_step(batch: Array, weights: Weights, rates: Rates) -> tuple[Weights, Array]:
    """Weights after one minibatch, and the mean squared error on it; none without any spike."""
    cells = math.prod(batch.shape)
    if sparse.issparse(batch) or is_numpy_array(batch):
        if batch.max() == 0:
            return weights, 0.0
        weights, outputs = joint_step(batch, weights, rates)
        return weights, squared_error(batch, outputs) / cells
    xp = array_namespace(batch)
    spikes = xp.max(batch) > 0  # stays on the device
    new, outputs = joint_step(batch, weights, rates)
    pairs = zip(new.layers, weights.layers, strict=True)
    layers = [xp.where(spikes, after, before) for after, before in pairs]
    half = len(weights.encoders)
    error = squared_error(batch, outputs) / cells
    kept = Weights(tuple(layers[:half]), tuple(layers[half:]))
    return kept, xp.where(spikes, error, xp.zeros_like(error))


def train_jointly(
    inputs: Array,
    weights: Weights,
    schedule: Schedule,
    random: np.random.RandomState,
    observer: Observer,
    layer: int | None = None,
) -> Trained:
    """Run Algorithm 1 (one layer pair) or 3 (several) and keep the best weights.

    ``inputs`` are in [0, 1] and may be sparse. Minibatches are drawn anew in each pass; their
    sizes are as equal as can be, because a small last one would do harm (see
    :mod:`lrnn.functional.updates`). One without any spike is passed over.
    """
    rows = inputs.shape[0]
    bounds = np.linspace(0, rows, max(1, round(rows / schedule.batch_size)) + 1).astype(int)
    n_batches = len(bounds) - 1
    every = schedule.evaluate_every or n_batches
    observer.stage(training(layer), schedule.max_iter * n_batches)
    backend = backend_of(inputs)
    record = Recorder(inputs, weights)
    stopped: StopReason | None = None

    if backend.on_gpu:
        weights = weights.copy()  # they are changed in place

    def on_some(rows: Array, number: Any) -> Array:
        nonlocal weights
        new, error = batch_step(take_rows(inputs, rows), weights, schedule.rates)
        if not backend.on_gpu:
            weights = new
            return error
        for old, value in zip(weights.layers, new.layers, strict=True):
            old[...] = value
        return error

    def snapshot() -> Weights:
        return weights.copy() if backend.on_gpu else weights

    step = recorded(on_some, inputs)

    def state() -> State:
        return {
            "weights": weights.state(),
            "record": record.state(),
            "random": random.get_state(legacy=False),
            "stopped": stopped,
        }

    if saved := observer.resume():
        weights, stopped = Weights.restored(saved["weights"], backend).copy(), saved["stopped"]
        record.restore(saved["record"])
        random.set_state(saved["random"])
        observer.skip(record.iterations, record.lowest)
    try:
        while record.passes < schedule.max_iter and stopped is None:
            order = backend.array(random.permutation(rows))
            for first, last in pairwise(bounds):
                record.batch(step(order[first:last], 0))
                observer.iteration()
                if record.iterations % every == 0:
                    record.evaluate(snapshot())
            record.finish_pass(snapshot())
            if observer.finished_pass(record.lowest):
                stopped = "callback"
            elif record.progress(PATIENCE) < schedule.tol:
                stopped = "tol"
            else:
                observer.checkpoint(state)
        if stopped != "callback":
            observer.checkpoint(state, finished=True)
    except KeyboardInterrupt:
        stopped = "interrupted"
        record.evaluate(snapshot())
    return Trained(record.best, [record.curve(layer, stopped or "max_iter")])
