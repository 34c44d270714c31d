"""The paper's algorithms as printed: multiplicative steps on minibatches.

Algorithm 3 takes each layer pair in turn through the steps of Algorithm 1, with the activations
of the layer before in the place of the data. With one pair it *is* Algorithm 1, so there is one
stepper for both. Algorithm 2 trains one pair after the other, each on the layer before it.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from array_api_compat import array_namespace, is_numpy_array
from scipy import sparse

from lrnn.arrays import Array, Rates
from lrnn.functional import (
    adjust_rows,
    normalisation,
    propagate,
    saturate,
    squared_error,
    update_decoder,
    update_encoder,
)
from lrnn.network.weights import Weights, transmit
from lrnn.rows import Rows, encoded, held
from lrnn.training import states
from lrnn.training.history import Batches, History, LearningCurve, MinibatchStepper, Trained
from lrnn.training.run import Run, training
from lrnn.training.states import State

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
    error = squared_error(batch, outputs) / cells
    kept = Weights.of(xp.where(spikes, after, before) for after, before in pairs)
    return kept, xp.where(spikes, error, xp.zeros_like(error))


class PrintedAlgorithm(MinibatchStepper):
    """Algorithm 1 (one layer pair) or 3 (several), pass by pass; the best weights are kept.

    Minibatches are drawn anew in each pass; their sizes are as equal as can be, because a small
    last one would do harm (see :mod:`lrnn.functional.updates`). One without any spike is passed
    over.
    """

    def __init__(self, rows: Rows, weights: Weights, run: Run) -> None:
        batches = Batches(rows, run.settings.batch_size, run.random)
        super().__init__(batches, History(rows, weights))
        self._settings, self.most = run.settings, run.settings.max_iter
        self._every = run.settings.evaluate_every or len(batches)
        self._in_place = rows.backend.on_gpu
        self._weights = weights.copy() if self._in_place else weights
        self._one: Callable[..., Array] = self._on_batch
        if self._in_place and rows.held_on_device:
            from lrnn.training.cuda_graph import as_graph

            self._one = as_graph(self._on_batch, rows.backend)

    def _on_batch(self, numbers: Array, _scale: Any) -> Array:
        batch = self.batches.part.take(numbers)
        new, error = self._after(batch)
        if not self._in_place:
            self._weights = new
            return error
        for old, value in zip(self._weights.layers, new.layers, strict=True):
            old[...] = value
        return error

    def _after(self, batch: Array) -> tuple[Weights, Array]:
        return batch_step(batch, self._weights, self._settings.rates)

    def _now(self) -> Weights:
        return self._weights.copy() if self._in_place else self._weights

    def step(self, iteration: Callable[[], None]) -> None:
        """One pass."""
        history = self.history
        for numbers in self.batches:
            history.batch(self._one(numbers, 0))
            iteration()
            if history.iterations % self._every == 0:
                history.evaluate(self._now())
        history.finish_pass(self._now())

    def error(self) -> float:
        """The lowest error so far."""
        return float(self.history.lowest)

    def stalled(self) -> bool:
        """Whether the error hardly fell for some passes."""
        return self.history.progress(PATIENCE) < self._settings.tol

    def interrupt(self) -> None:
        """The weights of an unfinished pass may be the best."""
        self.history.evaluate(self._now())

    def state(self) -> State:
        """All that the next pass depends on."""
        return {
            "weights": self._weights.state(),
            "record": self.history.state(),
            "random": self.batches.random.get_state(legacy=False),
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        backend = self.batches.rows.backend
        self._weights = states.weights(state["weights"], self._weights, backend, "weights").copy()
        self.history.restore(state["record"], len(self.batches))
        states.random_numbers(state["random"], self.batches.random)


Algorithm: TypeAlias = Callable[[Rows, Weights, Run], PrintedAlgorithm]


def train_jointly(
    rows: Rows,
    weights: Weights,
    run: Run,
    layer: int | None = None,
    algorithm: Algorithm = PrintedAlgorithm,
) -> Trained:
    """Algorithm 1, for layer pair ``layer`` of a network, or Algorithm 3."""
    stepper = algorithm(rows, weights, run)
    stopped = run.train(stepper, training(layer))
    return Trained(stepper.history.best, [stepper.history.curve(layer, stopped, "as printed")])


def train_layerwise(
    rows: Rows, weights: Weights, run: Run, algorithm: Algorithm = PrintedAlgorithm
) -> Trained:
    """Algorithm 2: each pair with Algorithm 1 on the activations of the layer before it.

    After an interruption the layers not yet trained keep their initial weights.
    """
    encoders, decoders = list(weights.encoders), list(weights.decoders)
    curves: list[LearningCurve] = []
    layer = rows
    for m in range(len(encoders)):
        pair = Weights((encoders[m],), (decoders[-1 - m],))
        trained = train_jointly(layer, pair, run, m + 1, algorithm)
        encoders[m], decoders[-1 - m] = trained.weights.layers
        curves += trained.curves
        if trained.interrupted:
            break
        if m + 1 < len(encoders):
            layer = _behind(layer, encoders[m])
    return Trained(Weights(tuple(encoders), tuple(decoders)), curves)


def _behind(rows: Rows, encoder: Array) -> Rows:
    """Activations of the next layer: in memory if these rows are, or if a buffer holds them."""
    if rows.resident:
        return held(rows.backend.send(transmit(rows, [encoder])))
    return encoded(rows, [encoder]).in_memory()
