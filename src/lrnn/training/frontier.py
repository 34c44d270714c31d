"""Error against spikes: networks for many prices of a spike, each started from its neighbour.

Prices are gone through twice. Down, from the excitatory network: inhibition grows as it becomes
cheaper. And up, from a network that starts from scratch where spikes cost next to nothing, and
saves more and more of them. The first way is the better one where spikes are dear, the second where
they are cheap; of all networks those are kept that no other one betters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lrnn.training.descent import Descent, spikes
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.inhibition import inhibited, pace_of, scratch, thinned
from lrnn.training.observer import Observer
from lrnn.training.result import Schedule, Trained, Weights

DEAREST, CHEAPEST = 1.0, 1e-6  # prices of a spike, as shares of error/spikes of no inhibition


@dataclass(frozen=True)
class Found:
    """A network, what it costs, and the price of a spike it was trained for (None: no inhibition).

    Where spikes are free the price is 0.
    """

    penalty: float | None
    trained: Trained
    evaluation: Evaluation
    spikes: float

    @classmethod
    def of(cls, inputs: Any, penalty: float | None, trained: Trained) -> "Found":
        """Evaluate it."""
        evaluation = evaluate(inputs, trained.weights)
        return cls(penalty, trained, evaluation, float(spikes(evaluation, trained.weights).sum()))

    @property
    def error(self) -> float:
        """On the data."""
        return self.evaluation.error


def prices(excitatory: Found, count: int) -> list[float]:
    """So many prices of a spike, dear ones first, for data of any scale."""
    unit = excitatory.error / excitatory.spikes if excitatory.spikes else 1.0
    return [float(unit * share) for share in np.geomspace(DEAREST, CHEAPEST, count)]


def train_frontier(
    inputs: Any,
    excitatory: Found,
    sizes: Sequence[int],
    schedule: Schedule,
    penalties: Sequence[float],
    random: np.random.RandomState,
    observer: Observer,
) -> tuple[list[Found], bool]:
    """The excitatory network and all that are not bettered by others, the cheapest first.

    Prices are dear ones first; at each a network is trained for ``schedule.fine_tune`` passes.
    When training is interrupted (the second thing that is returned), those that are there have to
    do.
    """
    walk = Walk(inputs, excitatory, schedule, random, observer)
    walk.go(excitatory, penalties, "down")
    walk.go(scratch(inputs, sizes, random), penalties[-1:], "from scratch", cheap=True)
    walk.go(walk.found[-1], penalties[::-1], "up")
    walk.go(min(walk.found, key=lambda one: one.error), [0.0], "spikes are free")
    walk.go(scratch(inputs, sizes, random), [0.0], "spikes are free, from scratch")
    return [walk.thin(one) for one in undominated(walk.found)], walk.interrupted


def undominated(found: Iterable[Found]) -> list[Found]:
    """The cheapest first, and only those that are better than all cheaper ones.

    The excitatory network stays in any case: others are compared with it.
    """
    kept: list[Found] = []
    lowest = np.inf
    for one in sorted(found, key=lambda one: (one.spikes, one.error)):
        if one.penalty is None or one.error < lowest:
            kept.append(one)
        lowest = min(lowest, one.error)
    return kept


class Walk:
    """Networks that are trained one after the other, until somebody interrupts it."""

    def __init__(
        self,
        inputs: Any,
        excitatory: Found,
        schedule: Schedule,
        random: np.random.RandomState,
        observer: Observer,
    ) -> None:
        self.found = [excitatory]
        self.interrupted = False
        self._inputs, self._schedule = inputs, schedule
        self._random, self._observer = random, observer

    def go(
        self, start: Found | Weights, penalties: Sequence[float], way: str, cheap: bool = False
    ) -> None:
        """Train at these prices, each time from where the last has ended."""
        weights = start.trained.weights if isinstance(start, Found) else start
        if weights.inhibitory is None:
            weights = inhibited(weights, self._random)
        for i, penalty in enumerate(penalties, start=1):
            if self.interrupted:
                return
            task = way if len(penalties) == 1 else f"{way} {i}/{len(penalties)}: {penalty:.1e}"
            pace = pace_of(self._schedule.fine_tune, self._schedule, cheap=cheap)
            trained = self._descent(penalty).train(weights, pace, task)
            weights, self.interrupted = trained.weights, trained.interrupted
            self.found.append(Found.of(self._inputs, penalty, trained))

    def thin(self, found: Found) -> Found:
        """The same without connections that do nothing."""
        if found.penalty is None:
            return found
        weights = thinned(self._descent(found.penalty), found.trained.weights)
        return Found.of(self._inputs, found.penalty, replace(found.trained, weights=weights))

    def _descent(self, penalty: float) -> Descent:
        schedule = replace(self._schedule, spike_penalty=penalty)
        return Descent(self._inputs, schedule, self._random, self._observer)
