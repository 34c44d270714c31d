"""The default solver: full-batch steps whose cost does not depend on the number of rows.

The decoder is always (nearly) the best one for the encoder: some sweeps of exact coordinate
descent, which need only the H×H matrix WᵀGW. What is really searched for is the encoder, by
over-relaxed multiplicative steps with momentum on a logarithmic scale. Each iteration takes two
products with G. A step that does not lower the error is taken back and a shorter one is tried; the
last resort is the plain multiplicative step, which cannot raise it.

A deep network is the best shallow one of its code width, split over the layers (see
:mod:`lrnn.training.split`), or its layer pairs are trained one after the other. No layer's
activations are ever stored: they are computed block by block when needed.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Floats, backend_of, like, to_numpy
from lrnn.functional import descend_decoder, extrapolate, gram_cost, multiply
from lrnn.moments import (
    SecondMoment,
    SketchedMoment,
    SparseMoment,
    second_moment,
    sketch_pays,
)
from lrnn.network.weights import Weights, random_weights
from lrnn.rows import Rows, encoded
from lrnn.rows.blas import one_blas_thread, threads_for
from lrnn.training import states
from lrnn.training.anchors import Anchors, Pair, anchor_weights, find_anchors, one_hot_weights
from lrnn.training.evaluation import (
    divisor,
    evaluate,
    evaluate_unsaturated,
    not_cancelled,
)
from lrnn.training.history import LearningCurve, Trained, stalled
from lrnn.training.run import Run, Stepper, StopReason, training
from lrnn.training.sparse import SparseSearch
from lrnn.training.split import deepened
from lrnn.training.states import State
from lrnn.training.together import (
    Pace,
    Stacked,
    can_be_together,
    each_in_a_thread,
    side_by_side,
)

SWEEPS = 2  # over the decoder in each iteration
RELAXATION = 1.5
MOMENTUM = 0.5  # at first; it grows while the error falls
MOMENTUM_GROWTH = 1.1
MOMENTUM_LIMIT = 3.0
PACE = Pace(SWEEPS, RELAXATION, MOMENTUM_GROWTH, MOMENTUM_LIMIT)
LARGE = 1e6  # weight of an encoder that is scaled down again
TRIAL = 3  # steps, at least, that all starts make before the best is chosen
CHEAP = 3e8  # multiplications that a start may spend in such steps
EXACT = 10  # a share of the steps that is not made on a sketch, but on the moment itself
IN_TIME = 60  # steps in which the others have to overtake a start that is early
SOON = 10  # a tenth of them show which half is better; if they are fewer, all has shown at once
POWERS = (2.0, 4.0, 8.0, 16.0)  # by which correlations may be sharpened
RANDOM_STARTS = 4  # besides, for small networks
LUCK = 18  # seed of these: of 24, one by which no table of the paper got a higher error
LEAD = 0.5  # share of the others' errors below which anchors themselves are a start for large ones


def train_gram(rows: Rows, run: Run) -> Trained:
    """Train all layers.

    With ``layerwise`` the layers of a deep network are also trained one after the other, and the
    better of the two networks is kept. An interruption leaves the best that was complete.
    """
    whole = train_whole(rows, run)
    if not run.settings.in_pairs or not run.settings.layerwise or whole.interrupted:
        return whole
    try:
        layered = train_layers(rows, run)
        curves = [*whole.curves, *layered.curves]
        errors = [_error(rows, trained, run) for trained in (layered, whole)]
        if not layered.interrupted and errors[0] < errors[1]:
            return Trained(layered.weights, curves, kept=layered.curves)
        return Trained(whole.weights, curves, kept=whole.curves)
    except KeyboardInterrupt:
        return Trained(whole.weights, [replace(whole.curves[0], stopped="interrupted")])


def train_whole(rows: Rows, run: Run) -> Trained:
    """Train a shallow network as wide as the narrowest layer, and split it over all layers.

    Before that it is fine-tuned, if that is wanted: so a deep network is never worse than a
    shallow one that had as many passes.
    """
    settings = run.settings
    trained = train_pair(rows, min(settings.widths), None, run)
    if not settings.deep and settings.sizes[1] <= settings.sizes[0]:
        return trained
    return deepened(rows, trained, run)


def train_layers(rows: Rows, run: Run) -> Trained:
    """Train one pair after the other, each on the activations of the layer before it.

    An interruption leaves the layers that were trained. Corrupted inputs are the first pair's
    matter: the others learn to give back what it makes of the data themselves.
    """
    encoders: list[Array] = []
    decoders: list[Array] = []
    curves: list[LearningCurve] = []
    for hidden in run.settings.sizes[1:]:
        layer = encoded(rows, encoders) if encoders else rows
        pair = train_pair(layer, hidden, len(encoders) + 1, run)
        run = replace(run, settings=replace(run.settings, corruption=None))
        encoders += pair.weights.encoders
        decoders[:0] = pair.weights.decoders
        curves += pair.curves
        if pair.interrupted:
            break
    return Trained(Weights(tuple(encoders), tuple(decoders)), curves)


def train_pair(rows: Rows, hidden: int, layer: int | None, run: Run) -> Trained:
    """An encoder to ``hidden`` units and its decoder; layer pair ``layer`` of a network."""
    width = rows.shape[1]
    corruption = run.settings.corruption
    if hidden >= width and corruption is None:
        return Trained(pass_through(width, hidden, rows.weights), [nothing_to_learn(layer)])
    surplus, hidden = max(hidden - width, 0), min(hidden, width)  # no map has a higher rank
    reading = run.reading(rows, f"reading {width} attributes")
    moment = second_moment(rows, hidden, run.settings.moment, reading, corruption)
    state, curve = search_pair(moment, hidden, layer, run)
    square = moment.trace / width
    del moment  # which may hold as much as the rows do
    evaluation = None
    try:
        reading = run.reading(rows, "scaling the code neurons")
        known = None
        if rows.backend.is_numpy and corruption is None:
            known = not_cancelled(state.error, square, rows.dtype)
        peak, evaluation = evaluate_unsaturated(
            reading, rows.weight, state.encoder, state.decoder, known, corruption, rows.sparse
        )
    except KeyboardInterrupt:
        xp = array_namespace(state.encoder)
        peak = xp.sum(state.encoder, axis=0)  # no drive by data in [0, 1] is larger
        curve = replace(curve, stopped="interrupted")
    return Trained(widened(unsaturated(peak, state), surplus), [curve], evaluation)


def search_pair(
    moment: SecondMoment, hidden: int, layer: int | None, run: Run
) -> tuple[Pair, LearningCurve]:
    """The best encoder and decoder that are found, whose scale is not fixed yet."""
    with one_blas_thread() if isinstance(moment.diagonal, np.ndarray) else nullcontext():
        if isinstance(moment, SparseMoment):
            return _search_sparse(moment, hidden, layer, run)
        begun, ended = None, None
        if sketch_pays(moment, hidden) and run.settings.start is None and run.settings.anchors:
            begun, ended, run = _search_sketch(moment, hidden, layer, run)
        search = GramSearch(begun or starts(moment, hidden, run), run)
        what = training(layer, f"{moment.kind} second moment")
        stopped = run.train(search, what) if ended is None else ended
    if stopped == "max_iter" and search.best.stalled(run.settings.tol):
        stopped = "tol"  # the others do not matter
    return search.best.state, search.curve(layer, stopped)


def _search_sketch(
    moment: SecondMoment, hidden: int, layer: int | None, run: Run
) -> tuple[list["GramDescent"], StopReason | None, Run]:
    """Where steps on a sketch of G lead to, which cost little, and the run of those on G itself.

    There are none if somebody has ended it.
    """
    most = run.settings.max_iter
    exact = max(1, most // EXACT)
    own = replace(run, settings=replace(run.settings, max_iter=most - exact))
    search = GramSearch(starts(SketchedMoment(moment, hidden), hidden, own), own)
    stopped = run.train(search, training(layer, "sketch of the second moment"))
    ended = stopped if stopped in ("interrupted", "callback") else None
    begun = GramDescent(moment, search.best.state.encoder, search.best.state.decoder)
    left = replace(run.settings, max_iter=max(most - search.steps, exact))
    return [begun], ended, replace(run, settings=left)


def _search_sparse(
    moment: SparseMoment, hidden: int, layer: int | None, run: Run
) -> tuple[Pair, LearningCurve]:
    search = SparseSearch(moment, hidden, run)
    stopped = run.train(search, training(layer, "sparse rows"))
    return search.pair, search.curve(layer, stopped)


def starts(
    moment: SecondMoment, hidden: int, run: Run, anchors: Anchors | None = None
) -> list["GramDescent"]:
    """Where to begin: at weights that are given, random ones, or what anchors suggest.

    The profiles of anchors may be sharpened by several powers: which is best depends on the
    data. Where steps are cheap there are some random weights besides, always the same ones for the
    same attributes, wherever they stand. Codes that are the anchors themselves are far ahead at
    first, but on few data to the end: where steps are dear they have to be ahead by much. Of
    ``anchors`` that were found already there may be more than are needed.
    """
    sizes, make = [moment.n_attributes, hidden], partial(like, moment.diagonal)
    begin = partial(GramDescent, moment, moves=Moves(moment))
    if run.settings.start is not None:
        return [begin(*run.settings.start.layers)]
    if not run.settings.anchors:
        return [begin(*random_weights(sizes, run.random, make).layers)]
    anchors = find_anchors(moment, hidden) if anchors is None else anchors.first(hidden)
    cheap = cheap_steps(moment, hidden)
    all_to_the_end = cheap > run.settings.max_iter
    begun: list[GramDescent] = []
    for power in reversed(POWERS):
        begun.insert(0, begin(*anchor_weights(moment, anchors, power)))
        dear = cheap < SOON and not all_to_the_end
        if dear and len(begun) > 1 and begun[0].error() > begun[1].error():
            break  # only the best goes on, and with lower powers it is worse still
    if all_to_the_end:
        fixed, place = np.random.RandomState(LUCK), np.argsort(anchors.order)
        for _ in range(RANDOM_STARTS):
            encoder, decoder = random_weights(sizes, fixed).layers
            begun.append(begin(make(encoder[place]), make(decoder[:, place])))
    one_hot = begin(*one_hot_weights(moment, anchors))
    one_hot.early = not all_to_the_end
    if all_to_the_end or one_hot.error() < LEAD * min(map(GramDescent.error, begun)):
        begun.append(one_hot)
    return begun


@dataclass(frozen=True)
class GramState(Pair):
    """An encoder, its best decoder so far, and what the next step needs of them."""

    product: Array  # G @ encoder; that of corrupted inputs, if they are (S @ encoder)
    target: Array  # G @ encoder, or C.T @ encoder
    drifted: bool = True  # whether scales of the encoder's columns may have to be looked at


class Moves:
    """What descents on one moment do over and over; where G is on a GPU, it is played back."""

    def __init__(self, moment: SecondMoment) -> None:
        self.moment, backend = moment, backend_of(moment.diagonal)
        self._settle: Callable[..., Sequence[Array]] = self._settle_on
        self._leap: Callable[..., Sequence[Array]] = self._leap_on
        self._ahead: Callable[..., Sequence[Array]] = _ahead
        self._descend: Callable[..., Array] = _descend
        self._numbers: Callable[..., Array] = _numbers
        if moment.kind == "dense" and backend.on_gpu:
            from lrnn.training.cuda_graph import as_graph, between_products

            self._settle = as_graph(self._settle, backend)
            self._leap = as_graph(self._leap, backend, lent=2)
            self._ahead = between_products(self._ahead, backend)
            self._descend = between_products(self._descend, backend)
            self._numbers = between_products(self._numbers, backend)

    def settled(
        self, encoder: Array, decoder: Array, driven: tuple[Array, Array] | None = None
    ) -> GramState:
        """The state at ``encoder``, with ``decoder`` improved for it; products may be known."""
        product, target = self.moment.driven(encoder) if driven is None else driven
        decoder, numbers = self._settle(encoder, decoder, product, target)
        return self._state(encoder, decoder, product, target, numbers)

    def leapt(
        self, state: GramState, before: Array, momentum: float
    ) -> tuple[Array, Array, Array, GramState]:
        """A bold step, of what to what weights grow in it, and the state after it with momentum.

        The ratio is only lent until the next such step.
        """
        wanted, now, bold, *found = self._leap(
            state.encoder, state.decoder, state.product, before, momentum
        )
        return bold, wanted, now, self._state(*found)

    def ratio(self, decoder: Array, product: Array) -> tuple[Array, Array]:
        """Of what to what the weights of the encoder grow."""
        return self.moment.wanted(decoder.T), product @ (decoder @ decoder.T)

    def _leap_on(
        self, encoder: Array, decoder: Array, product: Array, before: Array, momentum: float
    ) -> Sequence[Array]:
        ratio = self.ratio(decoder, product)
        bold, ahead = self._ahead(encoder, *ratio, before, momentum)
        product, target = self.moment.driven(ahead)
        decoder, numbers = self._settle_on(ahead, decoder, product, target)
        return *ratio, bold, ahead, decoder, product, target, numbers

    def _settle_on(
        self, encoder: Array, decoder: Array, product: Array, target: Array
    ) -> tuple[Array, Array]:
        gram = encoder.T @ product
        decoder = self._descend(target, gram, decoder)
        return decoder, self._numbers(encoder, target, gram, decoder, decoder @ decoder.T)

    def _state(
        self, encoder: Array, decoder: Array, product: Array, target: Array, numbers: Array
    ) -> GramState:
        cost, drifted = to_numpy(numbers).tolist()
        error = max(self.moment.trace + cost, 0.0) / self.moment.n_attributes
        return GramState(encoder, decoder, error, product, target, bool(drifted))


def _ahead(
    encoder: Array, wanted: Array, now: Array, before: Array, momentum: float
) -> tuple[Array, Array]:
    """A bold step, and one that goes further in the direction from the one before."""
    bold = multiply(encoder, wanted, now, RELAXATION)
    return bold, extrapolate(bold, before, momentum)


def _descend(target: Array, gram: Array, decoder: Array) -> Array:
    return descend_decoder(target.T, gram, decoder, SWEEPS)


def _numbers(encoder: Array, target: Array, gram: Array, decoder: Array, own: Array) -> Array:
    """What the error is made of, and whether (1) the encoder's scales have drifted far."""
    xp = array_namespace(encoder)
    cost = gram_cost(target.T, gram, decoder, own)
    drifted = xp.any(_extreme(xp.max(encoder, axis=0)))
    return xp.stack([cost, xp.astype(drifted, cost.dtype)])


def _extreme(sizes: Array) -> Array:
    """Which columns of an encoder may soon be too large, or too small."""
    return (sizes > LARGE) | ((sizes > 0) & (sizes < 1 / LARGE))


class GramDescent:
    """The iteration: ``state`` is the best so far, and its error never rises.

    If it is ``early``, it is known to begin far ahead of others, and often to end behind them.
    """

    early = False

    def __init__(
        self,
        moment: SecondMoment,
        encoder: Array,
        decoder: Array,
        driven: tuple[Array, Array] | None = None,
        moves: Moves | None = None,
    ) -> None:
        self.moment, self.moves = moment, moves or Moves(moment)
        self.state = self.moves.settled(encoder, decoder, driven)
        self._errors = [self.state.error]
        self._before: Array | None = None
        self._momentum = MOMENTUM

    def saved(self) -> State:
        """All that the next step depends on."""
        return {
            "encoder": self.state.encoder,
            "decoder": self.state.decoder,
            "product": self.state.product,
            "target": None if self.state.target is self.state.product else self.state.target,
            "error": self.state.error,
            "errors": np.array(self._errors),
            "before": self._before,
            "momentum": self._momentum,
        }

    def restore(self, saved: State, steps: int) -> None:
        """Go on from what `saved` gave after so many steps."""
        own, before = self.state, saved["before"]
        encoder = states.matrix(saved["encoder"], own.encoder, "encoder")
        decoder = states.matrix(saved["decoder"], own.decoder, "decoder")
        product = target = states.matrix(saved["product"], own.product, "product")
        if own.target is not own.product:
            target = states.matrix(saved["target"], own.target, "target")
        error = states.number(saved["error"], "error")
        self.state = GramState(encoder, decoder, error, product, target)
        self._errors = states.series(saved["errors"], "errors", steps + 1)
        self._before = None if before is None else states.matrix(before, encoder, "last step")
        self._momentum = states.number(saved["momentum"], "momentum")

    def error(self) -> float:
        """The lowest error so far."""
        return self.state.error

    @property
    def errors(self) -> Sequence[float]:
        """After each step, the first one before any."""
        return self._errors

    def stalled(self, tol: float) -> bool:
        """Whether there is no lower error, or it fell by less than this share in some steps."""
        return stalled(self._errors, tol)

    def step(self) -> None:
        """Go on to a lower error, if there is one."""
        if self.state.drifted:
            self._rescale()
        self._advance()
        self._errors.append(self.state.error)

    def _advance(self) -> bool:
        state = self.state
        if self._before is None:
            wanted, now = self.moves.ratio(state.decoder, state.product)
            self._before = multiply(state.encoder, wanted, now, RELAXATION)
        else:
            self._before, wanted, now, found = self.moves.leapt(state, self._before, self._momentum)
            if self._better(found):
                self._momentum = min(self._momentum * MOMENTUM_GROWTH, MOMENTUM_LIMIT)
                return True
            self._momentum /= 2
        return self._try(self._before) or self._try(multiply(state.encoder, wanted, now))

    def _rescale(self) -> None:
        """Keep the encoder's columns in a range where no product overflows.

        Only the products of columns of the encoder and rows of the decoder matter, so their scales
        may drift.
        """
        state = self.state
        xp = array_namespace(state.encoder)
        size = xp.max(state.encoder, axis=0)
        if bool(xp.any(_extreme(size))):
            size = xp.where(size > 0, size, xp.ones_like(size))
            product, one = state.product / size, state.target is state.product
            self.state = replace(
                state,
                encoder=state.encoder / size,
                product=product,
                target=product if one else state.target / size,
                decoder=state.decoder * size[:, None],
            )
            self._before = None if self._before is None else self._before / size

    def _try(self, encoder: Array) -> bool:
        return self._better(self.moves.settled(encoder, self.state.decoder))

    def _better(self, found: GramState) -> bool:
        if found.error < self.state.error:
            self.state = found
            return True
        return False


def cheap_steps(moment: SecondMoment, hidden: int) -> float:
    """How many steps are so cheap that several starts can make them."""
    effort = moment.effort if moment.kind == "sketched" else moment.n_attributes**2
    return max(TRIAL, CHEAP / (effort * hidden))


class Company:
    """Descents that step together (see :mod:`lrnn.training.together`)."""

    def __init__(self, descents: Sequence[GramDescent]) -> None:
        self._descents = list(descents)
        self._gather()

    def _gather(self) -> None:
        every = self._descents
        before = [descent._before for descent in every if descent._before is not None]
        assert len(before) in (0, len(every))
        self._stacked = Stacked(
            side_by_side([descent.state.encoder for descent in every]),
            np.stack([descent.state.decoder for descent in every]),
            side_by_side([descent.state.product for descent in every]),
            np.array([descent.state.error for descent in every]),
            side_by_side(before) if before else None,
            np.array([descent._momentum for descent in every]),
        )

    def step(self) -> None:
        """A step of each."""
        every, stacked = self._descents, self._stacked
        size = stacked.encoders.max(axis=1)
        if _extreme(size).any():
            for descent in every:
                descent._rescale()
            self._gather()
            stacked = self._stacked
        stacked.step(every[0].moment, PACE)
        assert stacked.before is not None
        errors, momenta = stacked.errors.tolist(), stacked.momenta.tolist()
        for i, descent in enumerate(every):
            product = stacked.products[i]
            descent.state = GramState(
                stacked.encoders[i], stacked.decoders[i], errors[i], product, product
            )
            descent._before, descent._momentum = stacked.before[i], momenta[i]
            descent._errors.append(errors[i])


def effort_of(descents: Sequence[GramDescent]) -> float:
    """Multiplications in a step of each."""
    width, hidden = descents[0].state.encoder.shape
    return float(len(descents) * (2 * width**2 * hidden + 6 * width * hidden**2))


def companies(descents: Sequence[GramDescent]) -> list[Company]:
    """Those that step together: a part of all for each thread, if there is enough to do.

    One that goes on with a step of before is not with those that make their first.
    """
    parts = min(threads_for(effort_of(descents)), len(descents))
    shares = [descents[i::parts] for i in range(parts)]
    alike = [[d for d in share if (d._before is None) == new] for share in shares for new in (0, 1)]
    return [Company(share) for share in alike if share]


class GramSearch(Stepper):
    """Steps from several starts; after some of them the better half goes on, then the best one.

    Where steps are cheap all starts go on to the end: which is the best one shows late. One that is
    early goes on beside the best of the others, until that has overtaken it, or does not in time.
    """

    def __init__(self, starts: Sequence[GramDescent], run: Run) -> None:
        self._starts = sorted(starts, key=lambda start: start.early)
        self._begun = sum(not start.early for start in starts)
        self._companies: list[Company] = []
        self.most, self._tol = run.settings.max_iter, run.settings.tol
        self._trial = cheap_steps(self.best.moment, self.best.state.encoder.shape[1])
        self._errors, self._seconds = [self.best.error()], [0.0]
        self._give_up(0)
        self._began = perf_counter()

    @property
    def best(self) -> GramDescent:
        """The one with the lowest error."""
        return min(self._starts, key=GramDescent.error)

    @property
    def steps(self) -> int:
        """Steps that are complete."""
        return len(self._errors) - 1

    def step(self, iteration: Callable[[], None]) -> None:
        """A step from each start."""
        if can_be_together(self.best.moment):
            self._companies = self._companies or companies(self._starts)
            each_in_a_thread(Company.step, self._companies, effort_of(self._starts))
        else:
            for descent in self._starts:
                descent.step()
        self._errors.append(self.best.error())
        self._give_up(self.steps)
        self._seconds.append(perf_counter() - self._began)
        iteration()

    def _give_up(self, steps: int) -> None:
        """Those that do not go on after so many steps."""
        early = [start for start in self._starts if start.early]
        others = sorted((s for s in self._starts if not s.early), key=GramDescent.error)
        if not others:  # it has won
            return
        kept = others[: self._left(steps)]
        if early:
            ahead = early[0].error() < others[0].error()
            if ahead and steps >= IN_TIME:
                kept = early
            elif ahead:
                kept += early
        if len(kept) < len(self._starts):
            self._starts, self._companies = kept, []

    def _left(self, steps: int) -> int:
        """How many starts go on after these steps, but an early one: all, the better half, one."""
        if self._trial > self.most:
            return self._begun
        if steps >= self._trial or self._trial < SOON:
            return 1
        return -(-self._begun // 2) if steps >= self._trial // SOON else self._begun

    def error(self) -> float:
        """The lowest error so far."""
        return self._errors[-1]

    def stalled(self) -> bool:
        """Whether there is no progress from any start."""
        return all(descent.stalled(self._tol) for descent in self._starts)

    def state(self) -> State:
        """All that the next step depends on."""
        return {
            "starts": [descent.saved() for descent in self._starts],
            "errors": np.array(self._errors),
            "seconds": np.array(self._seconds),
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self._errors = states.series(state["errors"], "errors")
        self._seconds = states.series(state["seconds"], "seconds", len(self._errors))
        count, left = len(state["starts"]), self._left(self.steps)
        early = [start for start in self._starts if start.early]
        self._starts = self._starts[:left] + early if count > left else self._starts[:count]
        states.demand(0 < count == len(self._starts), "number of starts")
        for descent, kept in zip(self._starts, state["starts"], strict=True):
            descent.restore(kept, self.steps)
        self._companies = []
        self._began = perf_counter() - self._seconds[-1]

    def curve(self, layer: int | None, stopped: StopReason) -> LearningCurve:
        """How the error fell."""
        return LearningCurve(
            layer,
            np.array(self._errors[1:]),
            np.arange(len(self._errors), dtype=np.int64),
            np.array(self._errors),
            np.array(self._seconds),
            self.steps,
            stopped,
            "gram solver",
        )


def unsaturated(peak: Array, state: Pair) -> Weights:
    """Weights rescaled such that drives of each code neuron up to ``peak`` become 1.

    Their product stays, and no code neuron saturates. The outputs may: that only lowers the error
    on data in [0, 1]. Drives so small that the division could overflow are left as they are.
    """
    peak = divisor(peak)
    return Weights((state.encoder / peak,), (state.decoder * peak[:, None],))


def widened(weights: Weights, surplus: int) -> Weights:
    """With so many code neurons more, which do nothing."""
    if not surplus:
        return weights
    encoder, decoder = (to_numpy(weight) for weight in weights.layers)
    wide = (np.pad(encoder, ((0, 0), (0, surplus))), np.pad(decoder, ((0, surplus), (0, 0))))
    return Weights.of(wide).on(backend_of(weights.encoders[0]))


def pass_through(width: int, hidden: int, make: Callable[[Floats], Array]) -> Weights:
    """A hidden layer at least as wide as its input passes it on unchanged.

    ``make`` turns numbers of the host into weights.
    """
    encoder = np.eye(width, hidden)
    return Weights((make(encoder),), (make(encoder.T.copy()),))


def nothing_to_learn(layer: int | None) -> LearningCurve:
    """The learning curve of a pair that reconstructs exactly from the start."""
    none = np.zeros(1)
    first = np.zeros(1, np.int64)
    return LearningCurve(layer, np.zeros(0), first, none, none, 0, "tol", "passed on unchanged")


def _error(rows: Rows, trained: Trained, run: Run) -> float:
    return evaluate(rows, trained.weights, run.settings.corruption).error
