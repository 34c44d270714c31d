"""The course of a training on minibatches: how large its steps are, and when it ends."""

import math

from lrnn.training.observer import State
from lrnn.training.recorder import Recorder

STEP = 0.1  # by which share a weight changes at most, at first
STEADY = 0.4  # share of the passes after which steps become smaller
CHEAP = 1e-2  # share of the price of a spike at which a network from scratch starts
RISE = 0.5  # share of the passes after which it has to pay the full price
LATER = 0.3  # size of the steps on a later part of a stream, beside those on the first


class Pace:
    """Steps of one size, and then of smaller and smaller ones.

    If spikes are to be ``cheap`` at first, their price rises to its full height on the way. Of a
    ``later`` part of a stream weights learn less. Without progress during as many passes as
    ``patience`` says, steps become smaller at once, and the next time training ends.
    """

    def __init__(
        self,
        passes: int,
        *,
        cheap: bool = False,
        later: bool = False,
        patience: int | None = None,
    ) -> None:
        self.passes = passes
        self._steady = STEADY * passes
        self._rise = RISE * passes if cheap else 0.0
        self._waiting_since = self._rise
        self._later, self._patience = later, patience

    def step(self, done: float) -> float:
        """The size of a step after so many passes."""
        if self._later:
            return STEP * LATER
        return STEP * min(1.0, (self.passes - done) / (self.passes - self._steady))

    def price(self, done: float) -> float:
        """The price of a spike after so many passes, as a share of the full one."""
        return float(CHEAP ** (1 - done / self._rise)) if done < self._rise else 1.0

    def lost_patience(self, record: Recorder, tol: float) -> bool:
        """Whether there was no progress for too long: what is left becomes shorter."""
        now, patience = record.passes, self._patience
        if not patience or now - self._waiting_since < patience or record.progress(patience) >= tol:
            return False
        early = now < self._steady
        self._steady, self._waiting_since = min(self._steady, now), now
        self.passes = min(self.passes, math.ceil(now / STEADY)) if early else now
        return True

    def state(self) -> State:
        """All that changes."""
        return {
            "passes": self.passes,
            "steady": self._steady,
            "waiting_since": self._waiting_since,
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self.passes, self._steady = state["passes"], state["steady"]
        self._waiting_since = state["waiting_since"]
