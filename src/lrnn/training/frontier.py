"""Error against spikes: networks for many prices of a spike, each started from its neighbour.

Prices are gone through twice. Down, from the excitatory network: inhibition grows as it becomes
cheaper. And up, from a network that starts from scratch where spikes cost next to nothing, and
saves more and more of them. The first way is the better one where spikes are dear, the second where
they are cheap; at every price the best network of all is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lrnn.training.descent import Descent, spikes
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.inhibition import inhibited, scratch, thinned
from lrnn.training.observer import Observer
from lrnn.training.pace import Pace
from lrnn.training.result import Schedule, Trained, Weights

DEAREST, CHEAPEST = 1.0, 1e-6  # prices of a spike, as shares of error/spikes of no inhibition


@dataclass(frozen=True)
class Found:
    """A network, and what it costs."""

    trained: Trained
    evaluation: Evaluation
    spikes: float

    @classmethod
    def of(cls, inputs: Any, trained: Trained) -> "Found":
        """Evaluate it."""
        evaluation = evaluate(inputs, trained.weights)
        return cls(trained, evaluation, float(spikes(evaluation, trained.weights).sum()))

    def price(self, penalty: float) -> float:
        """What is minimised where a spike costs so much."""
        return self.evaluation.error + penalty * self.spikes


def prices(excitatory: Found, count: int) -> list[float]:
    """So many prices of a spike, dear ones first, for data of any scale."""
    unit = excitatory.evaluation.error / excitatory.spikes if excitatory.spikes else 0.0
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
    """For each price (dear ones first) and for none the best network of all that are found.

    Each is trained for ``schedule.fine_tune`` passes. When training is interrupted (the second
    thing that is returned), those that are there have to do.
    """
    walk = Walk(inputs, excitatory, schedule, random, observer)
    walk.go(excitatory.trained.weights, penalties, "down")
    walk.go(scratch(inputs, sizes, random), penalties[-1:], "from scratch", cheap=True)
    walk.go(walk.found[-1].trained.weights, penalties[::-1], "up")
    walk.go(walk.best(penalties[-1]).trained.weights, [0.0], "spikes are free")
    walk.go(scratch(inputs, sizes, random), [0.0], "spikes are free, from scratch")
    return [walk.thin(penalty) for penalty in (*penalties, 0.0)], walk.interrupted


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
        self._excitatory, self._inputs, self._schedule = excitatory, inputs, schedule
        self._random, self._observer = random, observer

    def go(
        self, weights: Weights, penalties: Sequence[float], way: str, cheap: bool = False
    ) -> None:
        """Train at these prices, each time from where the last has ended."""
        if weights.inhibitory is None:
            weights = inhibited(weights, self._random)
        for i, penalty in enumerate(penalties, start=1):
            if self.interrupted:
                return
            task = way if len(penalties) == 1 else f"{way} {i}/{len(penalties)}: {penalty:.1e}"
            pace = Pace(self._schedule.fine_tune, cheap=cheap)
            trained = self._descent(penalty).train(weights, pace, task)
            weights, self.interrupted = trained.weights, trained.interrupted
            self.found.append(Found.of(self._inputs, trained))

    def best(self, penalty: float) -> Found:
        """The network that is the best of all at a price."""
        return min(self.found, key=lambda one: one.price(penalty))

    def thin(self, penalty: float) -> Found:
        """The same without connections that do nothing."""
        best = self.best(penalty)
        if best is self._excitatory:
            return best
        weights = thinned(self._descent(penalty), best.trained.weights)
        return Found.of(self._inputs, replace(best.trained, weights=weights))

    def _descent(self, penalty: float) -> Descent:
        schedule = replace(self._schedule, spike_penalty=penalty)
        return Descent(self._inputs, schedule, self._random, self._observer)
