"""Learning part by part: the second moment of all rows is kept, and steps are taken on it.

Moments add, so after each part there is one of all rows so far, in which older rows may weigh less;
what a step costs does not depend on their number. Steps go on from the weights, and with the
momentum, of the part before. A few of them suffice, since the moment changes little.

Multiplicative steps leave weights of 0 where they are. So that no part of a stream makes anything
unlearnable, weights are raised to a faint share of the largest one of their code neuron before each
part; and a code neuron that does less than another one could, for what is explained least, becomes
that one. Decoders are found by coordinate descent, for which a 0 is a number like any other.

Older rows are gone, but not the highest number of each attribute. Weights are scaled such that a
row of all these would drive each code neuron to 1: so none of the rows that were seen, nor any
other within their ranges, saturates one.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from operator import matmul
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Backend, copied, like, to_numpy
from lrnn.moments import DenseMoment, ImplicitMoment, SecondMoment, Sums, sums_of
from lrnn.moments.reservoir import Reservoir
from lrnn.moments.residual import ResidualMoment
from lrnn.moments.sums import LARGEST
from lrnn.network.weights import Weights
from lrnn.rows import Rows, held
from lrnn.training.anchors import find_anchors, sharpened
from lrnn.training.evaluation import Evaluation, divisor, evaluate
from lrnn.training.gram import (
    MOMENTUM,
    TRIAL,
    GramDescent,
    GramSearch,
    nothing_to_learn,
    pass_through,
    starts,
)
from lrnn.training.history import LearningCurve, Trained
from lrnn.training.run import Run, training
from lrnn.training.settings import Settings
from lrnn.training.split import on_the_verge, split
from lrnn.training.without_rows import highest

Kept: TypeAlias = Sums | Reservoir

STEPS, STEPS_ON_ROWS = 2, 1  # after each part, at least; on a reservoir they are dear
MOST_STEPS = 20  # while they make
PROGRESS = 0.005  # each, as a share of the error
YOUNG = 2.0  # rows for each code neuron, by fewer of which no start should be chosen
JUMP = 1.1  # times the error before: then a new start may be better
AGAIN = 1_000  # rows, at most, before starts may be tried again
FAINT = 1e-6  # share of a code neuron's largest weight to which the others are raised
GROWTH = 0.1  # share of all rows that new ones have to be for steps to be taken,
MANY, MANY_ON_ROWS = 200, 1_000  # or so many
USELESS = 1e-9  # what a code neuron does, as a share of what all of them do
LOST = 0.5  # share of what a code neuron does that no other one takes over
REVIVALS = 0.1  # share of the code neurons, at most, that become others after a part
POWER = 4.0  # by which their profiles are sharpened
SPARSE = 1 << 22  # cells of G above which sparse rows are kept instead


@dataclass(frozen=True, eq=False)
class Memory:
    """What is kept from one part of a stream to the next.

    Attributes
    ----------
    kept : Sums or Reservoir
        What is known of all rows so far.
    encoder, decoder : array
        The shallow network that is trained. A deep one is made of it.
    error : float
        Its error on all that is kept.
    before : array or None
        The encoder from which momentum is reckoned.
    momentum : float
        The momentum.
    waiting : int
        How many rows came since steps were taken.
    rows, begun : int
        How many rows came in all, and until the last choice of a start.
    seed : int
        Of the random way in which a deep network is made.
    streamed : bool
        Whether there was a part already; not after a fit on a moment.
    """

    kept: Kept
    encoder: Array
    decoder: Array
    error: float
    before: Array | None = None
    momentum: float = MOMENTUM
    waiting: int = 0
    rows: int = 0
    begun: int = 0
    seed: int = 0
    streamed: bool = True

    def on(self, backend: Backend) -> "Memory":
        """The same, as arrays of a backend."""
        before = None if self.before is None else backend.send(self.before)
        encoder, decoder = backend.send(self.encoder), backend.send(self.decoder)
        kept = self.kept.on(backend)
        return replace(self, kept=kept, encoder=encoder, decoder=decoder, before=before)

    def unsaturated(self) -> "Memory":
        """The same network, which a row of all the highest numbers drives to 1."""
        if is_pass_through(self.encoder.shape):
            return self
        peak = divisor(like(self.encoder, to_numpy(self.kept.high)) @ self.encoder)
        return replace(
            self,
            encoder=self.encoder / peak,
            decoder=self.decoder * peak[:, None],
            before=None if self.before is None else self.before / peak,
        )

    def network(self, settings: Settings) -> Weights:
        """The network with layers of the widths that are wanted."""
        hidden = settings.sizes[1:]
        if not settings.deep and hidden[0] == self.encoder.shape[1]:
            return Weights((self.encoder,), (self.decoder,))
        random = np.random.RandomState(self.seed)
        deep = split(self.encoder, self.decoder, hidden, "free", random, settings.behind)
        highest = like(self.encoder, to_numpy(self.kept.high))[None, :]
        return on_the_verge(held(highest), deep)

    def evaluation(self, weights: Weights) -> Evaluation:
        """The error on all that is kept, and mean activations, where nothing saturates."""
        mean = to_numpy(self.kept.columns) / self.kept.weight
        layers = [to_numpy(weight).astype(np.float64) for weight in weights.excitatory]
        return Evaluation(self.error, list(accumulate(layers, matmul, initial=mean)))


def train_part(
    rows: Rows, memory: Memory | None, start: Weights | None, run: Run
) -> tuple[Trained, Memory]:
    """Learn from one more part; where nothing is remembered, ``start`` from weights, if given."""
    kept = kept_with(rows, memory, run)
    if memory is None or not anything(memory.kept):
        found, curve = begun(rows, kept, start, run)
    else:
        found, curve = gone_on(rows, kept, memory.on(rows.backend), run)
    found = found.unsaturated()
    weights = found.network(run.settings)
    return Trained(weights, [replace(curve, passes=1)], found.evaluation(weights)), found


def remembered(sums: Sums, trained: Trained, run: Run) -> Memory | None:
    """What a stream goes on from, after training on sums; None if it would have to start anew."""
    assert trained.evaluation is not None
    pair = shallow(trained.weights, min(run.settings.widths))
    if pair is None:
        return None
    kept = replace(sums, high=highest(sums))
    count, seed = sums.n_rows, int(run.random.randint(1 << 31))
    memory = Memory(kept, *pair, trained.evaluation.error, rows=count, begun=count, seed=seed)
    return replace(memory, streamed=False)


def kept_with(rows: Rows, memory: Memory | None, run: Run) -> Kept:
    """What is known of all rows, these among them; those before may weigh less."""
    forget = run.settings.forget
    before = None if memory is None else memory.kept.on(rows.backend)
    if isinstance(before, Reservoir) or (before is None and not dense_pays(rows, run)):
        return (before or Reservoir.begin(rows)).after(rows, forget, run.random)
    sums = sums_of(rows, run.reading(rows, f"reading {rows.shape[1]} attributes"))
    if before is None:
        return sums
    return (before if forget is None else before * 0.5 ** (rows.weight / forget)) + sums


def dense_pays(rows: Rows, run: Run) -> bool:
    """Whether G is kept as a matrix."""
    if run.settings.moment != "auto":
        return run.settings.moment == "dense"
    return bool(rows.shape[1] ** 2 <= (SPARSE if rows.sparse else LARGEST))


def anything(kept: Kept) -> bool:
    """Whether any number that is kept is not 0."""
    return bool(to_numpy(kept.high).max() > 0)


def begun(rows: Rows, kept: Kept, start: Weights | None, run: Run) -> tuple[Memory, LearningCurve]:
    """After the first part."""
    hidden, seed = min(run.settings.widths), int(run.random.randint(1 << 31))
    width = rows.shape[1]
    if hidden >= width:
        encoder, decoder = pass_through(width, width, rows.weights).layers
        return Memory(kept, encoder, decoder, 0.0, seed=seed), nothing_to_learn(None)
    pair = None if start is None else shallow(start, hidden)
    moment = moment_of(kept, rows.dtype if start is None else start.dtype)
    descents = [GramDescent(moment, *pair)] if pair else anchored(moment, hidden, run)
    first, count = descents[0].state, rows.shape[0]
    memory = Memory(
        kept, first.encoder, first.decoder, first.error, rows=count, begun=count, seed=seed
    )
    return stepped(descents, memory, run)


def anchored(moment: SecondMoment, hidden: int, run: Run) -> list[GramDescent]:
    """Where to begin; not at random besides, for there is no time to see which is better."""
    settings = replace(run.settings, max_iter=sys.maxsize, start=None)
    return starts(moment, hidden, replace(run, settings=settings))


def gone_on(rows: Rows, kept: Kept, memory: Memory, run: Run) -> tuple[Memory, LearningCurve]:
    """After a later part; a small one waits for others, until they are many.

    A start that was chosen by few rows, or by rows that were unlike those that came later, is
    compared with new ones: when rows have doubled, and the error has risen by much in the latter
    case.
    """
    count, hidden = rows.shape[0], memory.encoder.shape[1]
    waiting = memory.waiting + count
    memory = replace(memory, kept=kept, rows=memory.rows + count, streamed=True)
    if is_pass_through(memory.encoder.shape) or waiting < enough(kept):
        weights = Weights((memory.encoder,), (memory.decoder,))
        own = evaluate(rows.of_type(weights.dtype), weights).error
        error = memory.error + (own - memory.error) * rows.weight / kept.weight
        return replace(memory, error=error, waiting=waiting), no_steps(error)
    moment = moment_of(kept, memory.encoder.dtype)
    descent = ContinuedDescent(moment, memory)
    outlived = memory.begun < YOUNG * hidden or descent.error() > JUMP * memory.error
    if outlived and memory.rows - memory.begun >= min(memory.begun, AGAIN):
        memory = replace(memory, begun=memory.rows)
        again = anchored(moment, hidden, run)
        return stepped([descent, *again], memory, run)
    return stepped([descent], memory, run)


def enough(kept: Kept) -> float:
    """How many new rows are enough to take steps."""
    return min(MANY if isinstance(kept, Sums) else MANY_ON_ROWS, GROWTH * kept.weight)


def stepped(
    descents: Sequence[GramDescent], memory: Memory, run: Run
) -> tuple[Memory, LearningCurve]:
    """After some steps; the best start goes on."""
    settings = replace(run.settings, max_iter=min(MOST_STEPS, run.settings.max_iter))
    least = STEPS if isinstance(memory.kept, Sums) else STEPS_ON_ROWS
    search = PartSearch(descents, replace(run, settings=settings), least)
    stopped = run.train(search, training(None, f"{descents[0].moment.kind} second moment"))
    best, saved = search.best.state, search.best.saved()
    memory = replace(
        memory, encoder=best.encoder, decoder=best.decoder, error=best.error,
        before=saved["before"], momentum=saved["momentum"], waiting=0,
    )  # fmt: skip
    return memory, search.curve(None, stopped)


def moment_of(kept: Kept, dtype: Any) -> SecondMoment:
    """What a solver needs to know of it."""
    if isinstance(kept, Sums):
        return DenseMoment.of(kept, dtype)
    return ImplicitMoment(kept.weighted(dtype))


def shallow(weights: Weights, hidden: int) -> tuple[Array, Array] | None:
    """What a network does while nothing saturates, if that can be done with ``hidden`` neurons."""
    encoder, decoder = reduce(matmul, weights.encoders), reduce(matmul, weights.decoders)
    fits = weights.inhibitory is None and encoder.shape[1] == hidden
    return (encoder, decoder) if fits else None


def is_pass_through(shape: tuple[int, ...]) -> bool:
    """Whether an encoder of this shape passes everything on."""
    return shape[1] >= shape[0]


def no_steps(error: float) -> LearningCurve:
    """The learning curve of a part that waits for others."""
    first, errors = np.zeros(1, np.int64), np.array([error])
    return LearningCurve(
        None, np.zeros(0), first, errors, np.zeros(1), 1, "max_iter", "gram solver"
    )


class PartSearch(GramSearch):
    """A few steps, which go on as long as each makes much progress."""

    def __init__(self, starts: Sequence[GramDescent], run: Run, least: int) -> None:
        super().__init__(starts, run)
        self._least = least

    def _left(self, steps: int) -> int:
        """One after a few steps, half of them after half of these: rows are few at first."""
        if steps >= TRIAL:
            return 1
        return -(-self._begun // 2) if 2 * steps >= TRIAL else self._begun

    def stalled(self) -> bool:
        """Whether the last step made little progress, or none."""
        little = self._errors[-1] > self._errors[-2:][0] * (1 - PROGRESS)
        return super().stalled() or (self.steps >= self._least and little)


class ContinuedDescent(GramDescent):
    """Goes on from an earlier moment, with the momentum of then."""

    def __init__(self, moment: SecondMoment, memory: Memory) -> None:
        xp = array_namespace(memory.encoder)
        largest = xp.max(memory.encoder, axis=0)
        super().__init__(moment, xp.maximum(memory.encoder, FAINT * largest), memory.decoder)
        self._before, self._momentum = memory.before, max(memory.momentum, MOMENTUM)
        hidden = int(largest.shape[0])
        for _ in range(max(1, round(REVIVALS * hidden))):
            if not self._revive():
                break
        self._errors = [self.state.error]

    def _revive(self) -> bool:
        """Let code neurons that do nothing, or little, become others that do more."""
        state = self.state
        xp = array_namespace(state.encoder)
        left = ResidualMoment(self.moment, state.encoder, state.decoder, state.product)
        lengths = xp.sum(state.encoder * state.product, axis=0)
        uses = to_numpy(lengths * xp.sum(state.decoder**2, axis=1))  # the error rises without each
        chosen = np.flatnonzero(uses <= USELESS * uses.sum())
        seen = len(chosen) > 0
        chosen = chosen if seen else np.array([np.argmin(uses)])
        anchors = find_anchors(left, len(chosen))
        profiles = xp.astype(sharpened(anchors.correlations, POWER), state.encoder.dtype)
        if not seen and use_of(profiles, self.moment, left) <= LOST * uses[chosen[0]]:
            return False
        encoder, decoder = copied(state.encoder), copied(state.decoder)
        before = None if self._before is None else copied(self._before)
        for i, h in enumerate(map(int, chosen)):
            encoder[:, h] = profiles[:, i]
            decoder[h, :] = 0.0
            if before is not None:
                before[:, h] = profiles[:, i]
        found = self.moves.settled(encoder, decoder)
        if found.error >= state.error:
            return False
        self.state, self._before = found, before
        return True


def use_of(profile: Array, moment: SecondMoment, left: ResidualMoment) -> float:
    """By how much the error would fall with one more code neuron, of this column of the encoder.

    Its code z and what is left of all attributes have c = E[z(x − xED)] in common; it would be
    decoded by max(c, 0)/E[z²].
    """
    common = to_numpy(left.common(profile)).astype(np.float64)
    square = float(array_namespace(profile).sum(profile * moment.dot(profile)))
    return float((np.maximum(common, 0) ** 2).sum() / square) if square > 0 else 0.0
