"""The default solver: full-batch steps whose cost does not depend on the number of rows.

The decoder is always (nearly) the best one for the encoder: some sweeps of exact coordinate
descent, which need only the H×H matrix WᵀGW. What is really searched for is the encoder, by
over-relaxed multiplicative steps with momentum on a logarithmic scale. Each iteration takes two
products with G. A step that does not lower the error is taken back and a shorter one is tried; the
last resort is the plain multiplicative step, which cannot raise it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from lrnn.functional import descend_decoder, extrapolate, gram_error, multiply
from lrnn.moments import SecondMoment
from lrnn.training.observer import Observer, training
from lrnn.training.result import LearningCurve, Schedule, StopReason
from lrnn.typing import Array

SWEEPS = 2  # over the decoder in each iteration
RELAXATION = 1.5
MOMENTUM = 0.5  # at first; it grows while the error falls
MOMENTUM_GROWTH = 1.1
MOMENTUM_LIMIT = 3.0
TRIAL = 5  # steps that all starts make before the best is chosen
WINDOW = 10  # iterations over which progress is judged


@dataclass(frozen=True)
class GramState:
    """An encoder, its best decoder so far, and what the next step needs of them."""

    encoder: Array
    decoder: Array
    product: Array  # G @ encoder
    error: float  # per attribute


def gram_state(moment: SecondMoment, encoder: Array, decoder: Array, sweeps: int) -> GramState:
    """The state at ``encoder``, with ``decoder`` improved for it."""
    product = moment.dot(encoder)
    gram = encoder.T @ product
    decoder = descend_decoder(product.T, gram, decoder, sweeps)
    error = gram_error(moment.trace, product.T, gram, decoder) / moment.n_attributes
    return GramState(encoder, decoder, product, error)


class GramDescent:
    """The iteration: ``state`` is the best so far, and its error never rises."""

    def __init__(self, moment: SecondMoment, encoder: Array, decoder: Array) -> None:
        self.moment = moment
        self.state = gram_state(moment, encoder, decoder, SWEEPS)
        self._before: Array | None = None
        self._momentum = MOMENTUM

    def error(self) -> float:
        """The lowest error so far."""
        return self.state.error

    def step(self) -> bool:
        """Go on to a lower error; False if there is none to be found."""
        state = self.state
        wanted = self.moment.dot(state.decoder.T)
        given = state.product @ (state.decoder @ state.decoder.T)
        bold = multiply(state.encoder, wanted, given, RELAXATION)
        if self._before is not None:
            if self._try(extrapolate(bold, self._before, self._momentum)):
                self._before = bold
                self._momentum = min(self._momentum * MOMENTUM_GROWTH, MOMENTUM_LIMIT)
                return True
            self._momentum /= 2
        self._before = bold
        return self._try(bold) or self._try(multiply(state.encoder, wanted, given))

    def _try(self, encoder: Array) -> bool:
        found = gram_state(self.moment, encoder, self.state.decoder, SWEEPS)
        if found.error < self.state.error:
            self.state = found
            return True
        return False


def descend(
    starts: Sequence[GramDescent], schedule: Schedule, observer: Observer, layer: int | None
) -> tuple[GramState, LearningCurve]:
    """Iterate until the schedule says stop; after some steps only the best start goes on."""
    kind = starts[0].moment.kind
    observer.stage(training(layer, f"{kind} second moment"), schedule.max_iter)
    began = perf_counter()
    best = min(starts, key=GramDescent.error)
    errors, seconds = [best.error()], [0.0]
    stopped: StopReason = "max_iter"
    try:
        while len(errors) <= schedule.max_iter:
            lower = [descent.step() for descent in starts]
            best = min(starts, key=GramDescent.error)
            if len(errors) == TRIAL:
                starts = [best]
            errors.append(best.error())
            seconds.append(perf_counter() - began)
            observer.iteration(errors[-1])
            if observer.finished_pass(errors[-1]):
                stopped = "callback"
                break
            before = errors[-1 - WINDOW] if len(errors) > WINDOW else np.inf
            if not any(lower) or errors[-1] > before * (1 - schedule.tol):
                stopped = "tol"
                break
    except KeyboardInterrupt:
        stopped = "interrupted"
    best = min(starts, key=GramDescent.error)
    curve = LearningCurve(
        layer,
        np.array(errors[1:]),
        np.arange(len(errors), dtype=np.int64),
        np.array(errors),
        np.array(seconds),
        len(errors) - 1,
        stopped,
    )
    return best.state, curve
