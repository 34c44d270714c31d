"""Classes: the network whose output neurons stand for them, trained by cross-entropy.

The probability of a class is its neuron's share of the output spikes (see
:mod:`lrnn.functional.shares`). All layers are trained end to end, with steps on a logarithmic
scale; those of an autoencoder's encoder may come first, and may stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from lrnn.arrays import Array, Floats, Layer, like, take_rows, to_numpy
from lrnn.functional import column_sums
from lrnn.functional.shares import cross_entropy, log_spikes, share_gradients, shares
from lrnn.moments import Corruption
from lrnn.network.weights import Weights, activations, widest
from lrnn.rows import Rows, held
from lrnn.training.adam import Descent, StepSchedule
from lrnn.training.brightness import brightness, dimmed
from lrnn.training.end_to_end import loosened
from lrnn.training.evaluation import Evaluation
from lrnn.training.history import Batches, History, Trained
from lrnn.training.inhibition import FEW, PATIENCE, inhibited, scratch
from lrnn.training.parameters import held_out_rows
from lrnn.training.run import Run
from lrnn.training.settings import Settings

PASSES, LEAST_STEPS = 40, 200  # over the data and in all, at least, if nobody says how many
STEADY = 0.3  # share of the passes after which steps become smaller
ENOUGH = 4.0  # spread of the logarithms of first weights, times the root of how many are summed
DRIVE = 1.0  # sum of a neuron's first weights, where nothing inhibits it


@dataclass(frozen=True)
class Labels:
    """Which class each row is of, and what it weighs.

    Attributes
    ----------
    numbers : array of integers
        The number of each row's class.
    weights : array of floats
        Of each row.
    classes : array of integers
        The numbers of all classes.
    smoothing : float
        The share of a row's weight that all classes have in common.
    """

    numbers: Array
    weights: Array
    classes: Array
    smoothing: float = 0.0

    @classmethod
    def of(cls, numbers: NDArray[np.int64], weights: Floats, count: int, rows: Rows) -> "Labels":
        """Labels for these rows, of so many classes."""
        send = rows.backend.array
        return cls(send(numbers), rows.weights(weights), send(np.arange(count)))

    @property
    def weight(self) -> float:
        """What all rows weigh."""
        return float(to_numpy(self.weights).sum(dtype=np.float64))

    def only(self, rows: NDArray[np.int64]) -> "Labels":
        """Those of some rows."""
        return replace(
            self, numbers=take_rows(self.numbers, rows), weights=take_rows(self.weights, rows)
        )

    def targets(self, rows: Any) -> Array:
        """A matrix, rows × classes: what a row weighs, for its own class (but for smoothing)."""
        xp = array_namespace(self.weights)
        own = take_rows(self.numbers, rows)[:, None] == self.classes[None, :]
        sharp, each = xp.astype(own, self.weights.dtype), take_rows(self.weights, rows)[:, None]
        if not self.smoothing:
            return sharp * each
        return ((1 - self.smoothing) * sharp + self.smoothing / self.classes.shape[0]) * each


@dataclass(frozen=True)
class Recognition(Evaluation):
    """What one pass over the data tells of a network that recognises.

    Attributes
    ----------
    error : float
        Cross-entropy of a row, on average.
    log_spikes : float
        Logarithm of the firings per output spike, on average.
    """

    log_spikes: float = 0.0


def recognise(
    rows: Rows, labels: Labels, weights: Weights, corruption: Corruption | None = None
) -> Recognition:
    """Evaluate a network; with a ``corruption``, on a sample of corrupted rows."""
    scale, rates = weights.scaled_rates()
    rates = [like(weights.excitatory[0], rate) for rate in rates]
    work = partial(_of_block, weights.layers, scale, rates, labels, corruption)
    totals = rows.fold(work, _added, widest(weights.layers), numbered=True)
    weight = labels.weight
    loss, spikes = (float(total) / weight for total in totals[:2])
    means = [to_numpy(sums) / weight for sums in totals[2:]]
    return Recognition(loss, means, log_spikes=spikes)


def _of_block(
    layers: Sequence[Layer],
    scale: float,
    rates: Sequence[Array],
    labels: Labels,
    corruption: Corruption | None,
    block: Array,
    first: int = 0,
) -> list[Array]:
    seen = block if corruption is None else corruption.of_rows(block, first)
    passed = activations(layers, seen)
    targets = labels.targets(slice(first, first + block.shape[0]))
    found = shares(passed[-1])
    xp = array_namespace(found)
    each = xp.sum(targets, axis=1)
    totals = [
        cross_entropy(found, targets),
        xp.sum(each * log_spikes(passed, rates, scale), dtype=xp.float64),
    ]
    return [*totals, *(column_sums(layer, weights=each) for layer in passed)]


def _added(one: list[Array], other: list[Array]) -> list[Array]:
    return [a + b for a, b in zip(one, other, strict=True)]


def first_weights(
    rows: Rows,
    widths: Sequence[int],
    random: np.random.RandomState,
    *,
    inhibition: bool,
    encoder: Weights | None = None,
    frozen: bool = False,
) -> Weights:
    """Weights to begin with, for layers of these widths; an ``encoder`` is the first of them.

    What of it is not frozen may change in the steps to come, also where it is 0 now. Weights of dim
    data are larger, such that training is the same as on bright ones.
    """
    own = [] if encoder is None else list(encoder.excitatory)
    rest = widths[len(own) :]
    if not inhibition:
        if encoder is not None and not frozen:
            peak = brightness(rows)
            own = list(loosened(encoder, "free", random, peak, outputs=False).excitatory)
        drawn = Weights.of([*own, *_excitatory(rows, rest, random)])
        return drawn if own else dimmed(drawn, brightness(rows), outputs=False)
    last = scratch(rows, rest, random, first_spread)
    if encoder is None:
        return dimmed(last, brightness(rows), outputs=False)
    if frozen:
        minus = encoder.inhibitory or [0 * weight for weight in own]
    else:
        loose = encoder
        if encoder.inhibitory is None:
            loose = inhibited(encoder, random, brightness(rows), outputs=False)
        own, minus = list(loose.excitatory), loose.inhibitory or ()
    return Weights.of([*own, *last.excitatory], [*minus, *(last.inhibitory or ())])


def first_spread(senders: int) -> float:
    """The spread of the logarithms of first weights: less, where more of them are summed up.

    What is random in weights stays to the end, for steps multiply it, and does harm in new rows.
    But neurons must differ at first, which the sums of few weights do only if these differ much.
    """
    return min(1.0, ENOUGH / sqrt(senders))


def _excitatory(rows: Rows, widths: Sequence[int], random: np.random.RandomState) -> list[Array]:
    """Such weights as `scratch` gives, without inhibition: sums that do not saturate at once."""

    def matrix(senders: int, receivers: int) -> Array:
        drawn = np.exp(first_spread(senders) * random.standard_normal((senders, receivers)))
        return rows.weights(DRIVE * drawn / drawn.sum(axis=0))

    return [matrix(*shape) for shape in pairwise(widths)]


def passes_for(rows: int, settings: Settings) -> int:
    """How many passes training takes, if nobody says how many."""
    return max(PASSES, -(-LEAST_STEPS // max(1, round(rows / settings.batch_size))))


def train_recognition(
    rows: Rows,
    labels: Labels,
    start: Weights,
    run: Run,
    *,
    frozen: int = 0,
    cheap: bool = False,
    later: bool = False,
) -> Trained:
    """Train for ``max_iter`` passes, but the first ``frozen`` layers; the best weights are kept.

    These are the ones with the lowest cross-entropy (and price of spikes) on all rows, or on those
    that are held out. Spikes may be ``cheap`` at first; of a ``later`` part of a stream weights
    learn less.
    """
    settings, numbers, judged, of_judged = run.settings, None, rows, labels
    if settings.held_out:
        out, numbers = split(to_numpy(labels.numbers), settings.held_out, run.random)
        judged, of_judged = held(rows.take(rows.backend.array(out))), labels.only(out)
    corruption, dropout = settings.corruption, settings.dropout
    penalty = settings.spike_penalty
    judge = partial(recognise, judged, of_judged, corruption=corruption)
    history = History(judged, start, partial(_price, penalty), judge=judge)
    current = start.copy()
    plus, minus = current.excitatory, current.inhibitory

    def gradients(
        inputs: Array, targets: Array, share: Any, step: Any
    ) -> tuple[Array, list[Array]]:
        price = penalty * share if penalty else None
        silence = None if dropout is None else partial(dropout.factors, step=step)
        loss, (by_plus, by_minus) = share_gradients(
            inputs, plus, minus, targets, price, frozen, silence
        )
        xp = array_namespace(targets)
        weight = xp.sum(targets, dtype=xp.float64)
        return loss / xp.where(weight > 0, weight, xp.ones_like(weight)), [*by_plus, *by_minus]

    passes = settings.max_iter
    schedule = StepSchedule(
        passes, STEADY * passes, tol=settings.tol, patience=max(FEW, round(PATIENCE * passes)),
        ends=True, cheap=cheap and bool(penalty), later=later,
    )  # fmt: skip
    batches = Batches(rows, settings.batch_size, run.random, numbers)
    parameters = [*plus[frozen:], *(minus or ())[frozen:]]
    descent = Descent(
        batches, start, current, parameters, gradients, "free", schedule, history, corruption,
        labels.targets, settings.roots,
    )  # fmt: skip
    stopped = run.train(descent, "training")
    return Trained(history.best, [history.curve(None, stopped, "recognition")])


def _price(penalty: float, evaluation: Evaluation, _weights: Weights) -> float:
    assert isinstance(evaluation, Recognition)
    return evaluation.error + penalty * evaluation.log_spikes if penalty else evaluation.error


def split(
    numbers: NDArray[np.int64], share: float, random: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that are held out, and the others: about this share of each class, at random."""
    order = random.permutation(len(numbers))
    order = order[np.argsort(numbers[order], kind="stable")]
    count = held_out_rows(len(order), share)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[((np.arange(count) + 0.5) * len(order) / count).astype(int)] = True
    return np.sort(order[chosen]), order[~chosen]
