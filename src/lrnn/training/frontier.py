"""Error against spikes: networks for many penalties of a spike, each started from its neighbour.

Penalties are gone through twice. Down, from the excitatory network: inhibition grows as it becomes
cheaper. And up, where networks save more and more spikes: from the end of the way down, or from a
network that starts from scratch where spikes cost next to nothing, whichever is better there. The
first way is the better one where spikes are dear, the second where they are cheap; of all networks
those are kept that no other one betters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from lrnn.network.weights import Weights
from lrnn.rows import Rows
from lrnn.training.brightness import brightness
from lrnn.training.evaluation import Evaluation, evaluate
from lrnn.training.history import Trained
from lrnn.training.inhibition import (
    InhibitoryTraining,
    from_scratch,
    inhibited,
    schedule_of,
)
from lrnn.training.run import Run

DEAREST, CHEAPEST = 1.0, 1e-6  # penalties, as shares of error/spikes of no inhibition


@dataclass(frozen=True)
class PenalisedNetwork:
    """A network, what it costs, and the penalty of a spike that it was trained for.

    Where spikes are free that is 0; without inhibition there is none (None), and no ``way`` on
    which it was found: down, up or from scratch.
    """

    penalty: float | None
    trained: Trained
    evaluation: Evaluation
    spikes: float
    way: str | None = None

    @classmethod
    def of(
        cls, rows: Rows, penalty: float | None, trained: Trained, way: str | None = None
    ) -> "PenalisedNetwork":
        """Evaluate it."""
        evaluation = evaluate(rows, trained.weights)
        spikes = trained.weights.spikes(evaluation.mean_activations)
        return cls(penalty, trained, evaluation, float(spikes.sum()), way)

    @property
    def error(self) -> float:
        """On the data."""
        return self.evaluation.error

    @property
    def fewest_spikes(self) -> float:
        """As many as its outputs fire, in each layer before them.

        Any excitatory network whose hidden neurons do not saturate needs just these.
        """
        *before, outputs = self.evaluation.mean_activations
        return len(before) * float(outputs.sum())


def penalties_for(excitatory: PenalisedNetwork, count: int) -> list[float]:
    """So many penalties of a spike, high ones first, for data of any scale."""
    spikes = excitatory.fewest_spikes
    unit = excitatory.error / spikes if spikes else 1.0
    return [float(unit * share) for share in np.geomspace(DEAREST, CHEAPEST, count)]


def train_frontier(
    rows: Rows, excitatory: PenalisedNetwork, penalties: Sequence[float], run: Run
) -> tuple[list[PenalisedNetwork], bool]:
    """The excitatory network and all that are not bettered by others, the cheapest first.

    Penalties are high ones first; at each a network is trained for ``fine_tune`` passes. When
    training is interrupted (the second thing that is returned), those that are there have to do.
    """
    walk = Walk(rows, excitatory, run)
    walk.go(excitatory, penalties, "down")
    walk.go(from_scratch(rows, run, walk.peak), penalties[-1:], "from scratch", cheap=True)
    ends = [one for one in walk.found if one.penalty == penalties[-1]]
    if ends:  # nobody has interrupted it
        best = min(ends, key=lambda one: one.error + penalties[-1] * one.spikes)
        walk.go(best, penalties[::-1], "up")
    walk.go(min(walk.found, key=lambda one: one.error), [0.0], "down")
    walk.go(from_scratch(rows, run, walk.peak), [0.0], "from scratch")
    return [walk.thin(one) for one in undominated(walk.found)], walk.interrupted


class Costly(Protocol):
    """What has an error and a number of spikes, and was made for some penalty of these."""

    @property
    def penalty(self) -> float | None:
        """Of a spike."""

    @property
    def error(self) -> float:
        """On the data."""

    @property
    def spikes(self) -> float:
        """Per unit time."""


One = TypeVar("One", bound=Costly)


def undominated(found: Iterable[One]) -> list[One]:
    """The cheapest first, and only those that are better than all cheaper ones.

    The excitatory network stays in any case: others are compared with it.
    """
    kept: list[One] = []
    lowest = np.inf
    for one in sorted(found, key=lambda one: (one.spikes, one.error)):
        if one.penalty is None or one.error < lowest:
            kept.append(one)
        lowest = min(lowest, one.error)
    return kept


class Walk:
    """Networks that are trained one after the other, until somebody interrupts it."""

    def __init__(self, rows: Rows, excitatory: PenalisedNetwork, run: Run) -> None:
        self.found = [excitatory]
        self.interrupted = False
        self._rows, self._run, self.peak = rows, run, brightness(rows)

    def go(
        self,
        start: PenalisedNetwork | Weights,
        penalties: Sequence[float],
        way: str,
        cheap: bool = False,
    ) -> None:
        """Train at these penalties, each time from where the last has ended."""
        weights = start.trained.weights if isinstance(start, PenalisedNetwork) else start
        if weights.inhibitory is None:
            weights = inhibited(weights, self._run.random, self.peak)
        for i, penalty in enumerate(penalties, start=1):
            if self.interrupted:
                return
            task = f"{way} {i}/{len(penalties)}: {penalty:.1e}" if len(penalties) > 1 else way
            task = task if penalty else f"spikes are free, {way}"
            settings = self._run.settings
            schedule = schedule_of(settings.fine_tune, settings, cheap=cheap)
            trained = self._training(penalty).train(weights, schedule, task)
            weights, self.interrupted = trained.weights, trained.interrupted
            self.found.append(PenalisedNetwork.of(self._rows, penalty, trained, way))

    def thin(self, found: PenalisedNetwork) -> PenalisedNetwork:
        """The same without connections that do nothing."""
        if found.penalty is None:
            return found
        weights = self._training(found.penalty).thinned(found.trained.weights)
        trained = replace(found.trained, weights=weights)
        return PenalisedNetwork.of(self._rows, found.penalty, trained, found.way)

    def _training(self, penalty: float) -> InhibitoryTraining:
        settings = replace(self._run.settings, spike_penalty=penalty)
        return InhibitoryTraining(self._rows, replace(self._run, settings=settings), self.peak)
