"""Which training a network gets: one place where the choice is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lrnn.arrays import Array
from lrnn.moments import MomentKind
from lrnn.training.end_to_end import fine_tuned
from lrnn.training.full_batch import FullBatch
from lrnn.training.inhibition import passes_of, train_inhibitory
from lrnn.training.initial import random_weights
from lrnn.training.layerwise import train_layerwise
from lrnn.training.minibatch import train_jointly
from lrnn.training.observer import Observer
from lrnn.training.result import Schedule, Trained
from lrnn.training.unit_rate import train_unit_rate


@dataclass(frozen=True)
class Plan:
    """How to train: the estimator's parameters, as far as they matter here."""

    schedule: Schedule
    solver: Literal["gram", "minibatch"]
    layerwise: bool
    anchors: bool
    moment: MomentKind
    inhibition: bool = False

    def most_passes(self, sizes: Sequence[int], rows: int) -> int:
        """How many passes or full-batch steps training may take in all."""
        stages = len(sizes) if self.layerwise and len(sizes) > 2 else 1
        extra = 2 * passes_of(rows, self.schedule) if self.inhibition else 0
        return self.schedule.max_iter * stages + 2 * self.schedule.fine_tune + extra


def train(
    plan: Plan,
    inputs: Array,
    sizes: Sequence[int],
    random: np.random.RandomState,
    observer: Observer,
) -> Trained:
    """Train layers of these sizes (the attributes first) on ``inputs`` in [0, 1]."""
    schedule = plan.schedule
    if plan.solver == "minibatch":
        start = random_weights(sizes, random, inputs)
        as_printed = train_layerwise if plan.layerwise and len(sizes) > 2 else train_jointly
        trained = as_printed(inputs, start, schedule, random, observer)
    elif schedule.rates == "unit":
        trained = train_unit_rate(inputs, sizes, schedule, random, observer, plan.anchors)
    else:
        full_batch = FullBatch(schedule, random, observer, plan.anchors, plan.moment)
        trained = full_batch.train(inputs, sizes, plan.layerwise)
        if plan.inhibition and not trained.interrupted:
            return train_inhibitory(inputs, trained, sizes, schedule, random, observer)
    return fine_tuned(inputs, trained, schedule, random, observer)
