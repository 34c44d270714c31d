"""How to train: the estimator's parameters, as far as they matter here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lrnn.arrays import Rates
from lrnn.moments import Corruption, Dropout, MomentKind
from lrnn.network.weights import Weights

PASSES = 20  # of training with inhibition, over the data, if nobody says how many
LEAST_STEPS = 4_000  # however few the rows are


@dataclass(frozen=True)
class Settings:
    """What kind of training, how long and in what steps.

    Attributes
    ----------
    sizes : sequence of int
        Widths of the input and of the encoding layers.
    decoding : sequence of int or None
        Those of the layers between the code and the output; None mirrors the encoding ones.
    held_out : float
        The share of rows that are held out.
    start : Weights or None
        Weights to begin with, on the backend of the rows; they are given by ``init``.
    corruption : Corruption or None
        What becomes of the inputs.
    dropout : Dropout or None
        Which hidden neurons are silent in a step.
    roots : bool
        Whether steps are made on square roots of weights, and not on their logarithms.

    The others are parameters of `LRNNAutoencoder`.
    """

    sizes: Sequence[int] = ()
    decoding: Sequence[int] | None = None
    solver: Literal["gram", "minibatch"] = "gram"
    rates: Rates = "free"
    layerwise: bool = True
    anchors: bool = True
    moment: MomentKind = "auto"
    batch_size: int = 100
    max_iter: int = 200
    tol: float = 1e-4
    evaluate_every: int | None = None
    fine_tune: int = 0
    inhibition: bool = False
    spike_penalty: float = 0.0
    held_out: float = 0.0
    forget: float | None = None
    start: Weights | None = None
    corruption: Corruption | None = None
    dropout: Dropout | None = None
    roots: bool = False

    @property
    def behind(self) -> tuple[int, ...]:
        """Widths of the layers between the code and the output."""
        return tuple(self.sizes[-2:0:-1] if self.decoding is None else self.decoding)

    @property
    def widths(self) -> tuple[int, ...]:
        """Those of all layers, from the input to the output."""
        return (*self.sizes, *self.behind, self.sizes[0])

    @property
    def deep(self) -> bool:
        """Whether there is more than one hidden layer."""
        return len(self.widths) > 3

    @property
    def in_pairs(self) -> bool:
        """Whether layers can be trained in pairs, one after the other."""
        return self.deep and self.decoding is None

    @property
    def on_minibatches(self) -> bool:
        """Whether any of it is trained on minibatches, for which rows are taken in any order."""
        printed = self.solver == "minibatch" or self.rates == "unit"
        return printed or self.fine_tune > 0 or self.inhibition

    def most_passes(self, rows: int) -> int:
        """How many passes or full-batch steps training may take in all."""
        stages = len(self.sizes) if self.layerwise and self.in_pairs else 1
        extra = 2 * self.inhibitory_passes(rows) if self.inhibition else 0
        return self.max_iter * stages + 2 * self.fine_tune + extra

    def inhibitory_passes(self, rows: int) -> int:
        """How many passes training with inhibition takes, from each start."""
        few = math.ceil(LEAST_STEPS / max(1, round(rows / self.batch_size)))
        return self.fine_tune or max(PASSES, few)
