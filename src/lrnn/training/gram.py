"""The default solver: full-batch steps whose cost does not depend on the number of rows.

The decoder is always (nearly) the best one for the encoder: some sweeps of exact coordinate
descent, which need only the H×H matrix WᵀGW. What is really searched for is the encoder, by
over-relaxed multiplicative steps with momentum on a logarithmic scale. Each iteration takes two
products with G. A step that does not lower the error is taken back and a shorter one is tried; the
last resort is the plain multiplicative step, which cannot raise it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, backend_of
from lrnn.functional import descend_decoder, extrapolate, gram_error, multiply
from lrnn.moments import SecondMoment
from lrnn.training.observer import Observer, State, training
from lrnn.training.result import LearningCurve, Schedule, StopReason

SWEEPS = 2  # over the decoder in each iteration
RELAXATION = 1.5
MOMENTUM = 0.5  # at first; it grows while the error falls
MOMENTUM_GROWTH = 1.1
MOMENTUM_LIMIT = 3.0
LARGE = 1e6  # weight of an encoder that is scaled down again
TRIAL = 3  # steps, at least, that all starts make before the best is chosen
CHEAP = 3e8  # multiplications that a start may spend in such steps
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
        self._errors = [self.state.error]
        self._before: Array | None = None
        self._momentum = MOMENTUM

    def saved(self) -> State:
        """All that the next step depends on."""
        return {
            "encoder": self.state.encoder,
            "decoder": self.state.decoder,
            "product": self.state.product,
            "error": self.state.error,
            "errors": np.array(self._errors),
            "before": self._before,
            "momentum": self._momentum,
        }

    def restore(self, saved: State) -> None:
        """Go on from what `saved` gave."""
        send = backend_of(self.state.encoder).send
        encoder, decoder, product = (send(saved[m]) for m in ("encoder", "decoder", "product"))
        self.state = GramState(encoder, decoder, product, saved["error"])
        self._errors = saved["errors"].tolist()
        self._before = None if saved["before"] is None else send(saved["before"])
        self._momentum = saved["momentum"]

    def error(self) -> float:
        """The lowest error so far."""
        return self.state.error

    def stalled(self, tol: float) -> bool:
        """Whether there is no lower error, or it fell by less than this share in some steps."""
        if len(self._errors) > 1 and self._errors[-1] == self._errors[-2]:
            return True
        before = self._errors[-1 - WINDOW] if len(self._errors) > WINDOW else np.inf
        return self.error() > before * (1 - tol)

    def step(self) -> None:
        """Go on to a lower error, if there is one."""
        self._rescale()
        self._advance()
        self._errors.append(self.state.error)

    def _advance(self) -> bool:
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

    def _rescale(self) -> None:
        """Keep the encoder's columns in a range where no product overflows.

        Only the products of columns of the encoder and rows of the decoder matter, so their scales
        may drift.
        """
        state = self.state
        xp = array_namespace(state.encoder)
        size = xp.max(state.encoder, axis=0)
        if bool(xp.any((size > LARGE) | ((size > 0) & (size < 1 / LARGE)))):
            size = xp.where(size > 0, size, xp.ones_like(size))
            self.state = replace(
                state,
                encoder=state.encoder / size,
                product=state.product / size,
                decoder=state.decoder * size[:, None],
            )
            self._before = None if self._before is None else self._before / size

    def _try(self, encoder: Array) -> bool:
        found = gram_state(self.moment, encoder, self.state.decoder, SWEEPS)
        if found.error < self.state.error:
            self.state = found
            return True
        return False


def cheap_steps(moment: SecondMoment, hidden: int) -> float:
    """How many steps are so cheap that several starts can make them."""
    return max(TRIAL, CHEAP / (moment.n_attributes**2 * hidden))


def descend(
    starts: Sequence[GramDescent], schedule: Schedule, observer: Observer, layer: int | None
) -> tuple[GramState, LearningCurve]:
    """Iterate until the schedule says stop; after some steps only the best start goes on.

    Where steps are cheap all starts go on to the end: which is the best one shows late.
    """
    kind = starts[0].moment.kind
    observer.stage(training(layer, f"{kind} second moment"), schedule.max_iter)
    began = perf_counter()
    best = min(starts, key=GramDescent.error)
    trial = cheap_steps(best.moment, best.state.encoder.shape[1])
    errors, seconds = [best.error()], [0.0]
    stopped: StopReason | None = None

    def state() -> State:
        return {
            "starts": [descent.saved() for descent in starts],
            "errors": np.array(errors),
            "seconds": np.array(seconds),
            "stopped": stopped,
        }

    if saved := observer.resume():
        starts = starts[: len(saved["starts"])]
        for descent, kept in zip(starts, saved["starts"], strict=True):
            descent.restore(kept)
        errors, seconds = saved["errors"].tolist(), saved["seconds"].tolist()
        stopped, began = saved["stopped"], began - seconds[-1]
        observer.skip(len(errors) - 1, errors[-1])
    try:
        while len(errors) <= schedule.max_iter and stopped is None:
            for descent in starts:
                descent.step()
            best = min(starts, key=GramDescent.error)
            if len(errors) >= trial:
                starts = [best]
            errors.append(best.error())
            seconds.append(perf_counter() - began)
            observer.iteration()
            if observer.finished_pass(errors[-1]):
                stopped = "callback"
            elif all(descent.stalled(schedule.tol) for descent in starts):
                stopped = "tol"
            else:
                observer.checkpoint(state)
        if stopped != "callback":
            observer.checkpoint(state, finished=True)
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
        stopped or "max_iter",
    )
    return best.state, curve
