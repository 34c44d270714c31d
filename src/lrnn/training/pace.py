"""The course of a training on minibatches: how large its steps are, and when it ends."""

import math

from lrnn.training.observer import State
from lrnn.training.recorder import Recorder

STEP = 0.1  # by which share a weight changes at most, at first
CHEAP = 1e-2  # share of the price of a spike at which a network from scratch starts
RISE = 0.5  # share of the passes after which it has to pay the full price
LATER = 0.3  # size of the steps on a later part of a stream, beside those on the first


class Pace:
    """Steps of one size, and then of smaller and smaller ones.

    Parameters
    ----------
    passes : int
        Over the data.
    steady : float
        So many of them with steps of one size.
    tol : float
        Progress is a fall of the lowest error by this share.
    patience : int, optional
        Without progress during so many passes steps become smaller at once.
    ends : bool
        And the next time training ends.
    cheap : bool
        The price of a spike rises to its full height on the way.
    later : bool
        This is a later part of a stream, of which weights learn less.
    """

    def __init__(
        self,
        passes: int,
        steady: float,
        *,
        tol: float = 0.0,
        patience: int | None = None,
        ends: bool = False,
        cheap: bool = False,
        later: bool = False,
    ) -> None:
        self.passes = passes
        self._steady, self._share = steady, steady / passes
        self._rise = RISE * passes if cheap else 0.0
        self._waiting_since = self._rise
        self._tol, self._patience, self._ends, self._later = tol, patience, ends, later

    def step(self, done: float) -> float:
        """The size of a step after so many passes."""
        if self._later:
            return STEP * LATER
        return STEP * min(1.0, (self.passes - done) / (self.passes - self._steady))

    def price(self, done: float) -> float:
        """The price of a spike after so many passes, as a share of the full one."""
        return float(CHEAP ** (1 - done / self._rise)) if done < self._rise else 1.0

    def lost_patience(self, record: Recorder) -> bool:
        """Whether there was no progress for too long: what is left becomes shorter."""
        now, patience = record.passes, self._patience
        if not patience or now - self._waiting_since < patience:
            return False
        steady = now < self._steady
        if record.progress(patience) >= self._tol or not (steady or self._ends):
            return False
        if steady:
            self._steady = now
            self.passes = min(self.passes, max(now + 1, math.floor(now / self._share)))
        else:
            self.passes = now
        self._waiting_since = now
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
