"""The gram solver on sparse rows in memory: exact coordinate descent, on rows and on columns.

With the decoder held, the error is a quadratic function of the encoder. The weights of an attribute
have their slopes in its column of X alone, so a *sweep* takes them to their optimum, one attribute
after the other, at the cost of two products with X; each sees what those before it have done. Then
the decoder is descended as ever, for the codes of the new encoder: a step takes five products. It
goes on in the direction of the sweep, and no further than the sweep if that does not lower the
error; then it cannot rise. A weight of 0 is a number like any other.

The start has more codes than there are to be, and gives up, some at a time, those that the others
can replace best: of the anchors at once, of codes and decoder that were fitted in turn (free codes
in the place of those of an encoder, which takes two products), and of an encoder's own codes. What
is left explains more than as many anchors ever would.
"""

from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.moments.sparse import SparseMoment, gram
from lrnn.network.weights import Weights, random_weights
from lrnn.training import states
from lrnn.training.anchors import RIDGE, Pair, find_anchors, own_order
from lrnn.training.history import LearningCurve, stalled
from lrnn.training.run import Run, Stepper, StopReason
from lrnn.training.states import State

Matrix = NDArray[Any]

MOMENTUM = 0.5  # share of a sweep by which a step goes on, at first; it grows while that is good
MOMENTUM_GROWTH = 1.1
MOMENTUM_LIMIT = 3.0
SWEEPS = 2  # over the decoder in each step
ANCHORS = 2.5  # times as many as codes that are wanted
MORE = 2.0  # times as many codes as wanted, at first
TURNS = 3  # in which they become as many as wanted
SCALINGS = 5  # steps towards the scales of an encoder's first codes
ROWS_AT_ONCE = 512  # of codes or a decoder that become narrower: bounds the memory beside them


class Factors:
    """Codes of all rows, a decoder, and perhaps an encoder that gives the codes.

    Attributes
    ----------
    encoder, decoder : ndarray of shape (n_attributes, n_codes)
        The decoder is transposed.
    codes : ndarray of shape (n_rows, n_codes)
        Those of the rows, times the roots of their weights.
    error : float
        Per attribute.
    momentum : float
        How much further than a sweep a step goes.
    """

    encoder: Matrix
    decoder: Matrix
    codes: Matrix
    error: float
    momentum: float = MOMENTUM

    def __init__(self, moment: SparseMoment, order: NDArray[np.intp]) -> None:
        self._moment, self._order = moment, order

    def start(self, encoder: Matrix, decoder: Matrix) -> None:
        """Begin with weights; the decoder is improved for the encoder."""
        self.encoder = encoder
        self.decoder = np.ascontiguousarray(decoder.T)
        self.codes = self._moment.forth(encoder)
        self._fit_decoder(SWEEPS)

    def resume(self, encoder: Matrix, decoder: Matrix) -> float:
        """Begin with weights as they are, and tell their error."""
        self.encoder, self.decoder = encoder, np.ascontiguousarray(decoder.T)
        self.codes = self._moment.forth(encoder)
        self._fit_decoder(0)
        return self.error

    def step(self) -> None:
        """Go on to a lower error: beyond where a sweep leads to, unless that is too far.

        An interruption leaves weights that are not worse than those before.
        """
        encoder, decoder, error = self.encoder.copy(), self.decoder.copy(), self.error
        whole = encoder, decoder
        try:
            self.sweep()
            found = self.encoder
            whole = found, decoder
            self.encoder = _beyond(found, encoder, self.momentum)
            self.follow()
            if self.error < error:
                self.momentum = min(self.momentum * MOMENTUM_GROWTH, MOMENTUM_LIMIT)
                return
            self.momentum /= 2
            self.encoder, self.decoder[:] = found, decoder
            self.follow()
        except KeyboardInterrupt:
            self.encoder, self.decoder = whole
            raise

    def sweep(self) -> None:
        """Sweep over the encoder; codes and decoder do not follow yet."""
        from lrnn.functional.sparse_kernels import make_slopes, sweep_encoder

        moment, decoder, slopes = self._moment, self.decoder, self.codes
        products, least = gram(decoder), _least(decoder)
        rows, columns = moment.by_rows, moment.by_columns
        rows.each(make_slopes, decoder.shape[1], decoder, products, slopes)
        sweep_encoder(
            columns.starts,
            columns.places,
            columns.values,
            self._order,
            self.encoder,
            slopes,
            products,
            moment.squares,
            least,
        )

    def follow(self) -> None:
        """Codes of the encoder, and sweeps over the decoder for them."""
        self.codes = self._moment.forth(self.encoder, out=self.codes)
        self._fit_decoder(SWEEPS)

    def turn(self) -> None:
        """Codes for the decoder, then the decoder for the codes; there is no encoder."""
        from lrnn.functional.sparse_kernels import descend_rows

        decoder, rows = self.decoder, self._moment.by_rows
        linear = np.empty(len(rows))
        given = decoder, gram(decoder), self.codes, 1, _least(decoder), linear
        rows.each(descend_rows, decoder.shape[1], *given)
        self._fit_decoder(1)

    def encode(self) -> None:
        """An encoder in the place of free codes: the decoder's profiles, scaled to fit best."""
        lengths = np.einsum("vh,vh->h", self.decoder, self.decoder)
        encoder = self.decoder / np.where(lengths > 0, lengths, 1)
        self.codes = self._moment.forth(encoder, out=self.codes)
        products = gram(self.codes).astype(np.float64)
        wanted, square = np.diagonal(products) * lengths, products * gram(self.decoder)
        scales = np.ones(len(wanted))
        for _ in range(SCALINGS):  # the rule of Lee and Seung for ‖X − QSD‖² over a diagonal S ≥ 0
            found = square @ scales
            scales *= np.where(found > 0, wanted / np.where(found > 0, found, 1), 1)
        encoder *= scales.astype(encoder.dtype)
        self.codes *= scales.astype(encoder.dtype)
        self.encoder = encoder

    def _fit_decoder(self, sweeps: int) -> None:
        from lrnn.functional.sparse_kernels import descend_rows

        codes, decoder, moment = self.codes, self.decoder, self._moment
        self._gram = products = gram(codes)
        columns = moment.by_columns
        linear = np.empty(len(columns))
        given = codes, products, decoder, sweeps, _least(codes), linear
        columns.each(descend_rows, codes.shape[1], *given)
        square = np.sum(products * gram(decoder), dtype=np.float64)
        error = moment.trace + float(square - 2 * linear.sum()) / moment.weight
        self.error = max(error, 0.0) / moment.n_attributes

    def narrow(self, count: int) -> None:
        """Give up codes until there are so many; the others take over what they can."""
        kept, change = _replaced(self._gram, self.decoder, count)
        self.decoder = _applied(self.decoder, change)
        self.codes = _chosen(self.codes, kept)
        if hasattr(self, "encoder"):
            self.encoder = _chosen(self.encoder, kept)


def _replaced(products: Matrix, decoder: Matrix, count: int) -> tuple[NDArray[np.intp], Matrix]:
    """Which codes are kept if there are to be so many, and what a decoder is multiplied by then.

    The codes, whose ``products`` with each other are given, are given up one by one: each time the
    one without which least squares, which the decoder is but for its bounds, lose the least.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(products).astype(np.float64), 0))
    scale = np.where(sizes > 0, sizes, 1)
    inverse = np.linalg.inv(products / scale / scale[:, None] + RIDGE * np.eye(len(scale)))
    lengths = gram(decoder) * scale * scale[:, None]
    kept, change = np.arange(len(scale)), np.diag(scale)
    while len(kept) > count:
        own = np.diagonal(inverse)
        k = int(np.argmin(np.diagonal(lengths) / own))
        left = np.arange(len(kept)) != k
        shared = inverse[k, left] / own[k]  # what the others take over of this one
        lengths = (
            lengths[np.ix_(left, left)]
            - np.outer(lengths[left, k], shared)
            - np.outer(shared, lengths[k, left])
            + lengths[k, k] * np.outer(shared, shared)
        )
        change = change[:, left] - np.outer(change[:, k], shared)
        inverse = inverse[np.ix_(left, left)] - np.outer(inverse[left, k], shared)
        kept = kept[left]
    return kept, change / scale[kept]


def _beyond(new: Matrix, old: Matrix, share: float) -> Matrix:
    """``new + share * (new - old)``, its positive part, in the place of ``old``."""
    np.subtract(new, old, out=old)
    old *= old.dtype.type(share)
    old += new
    return np.maximum(old, 0, out=old)


def _least(matrix: Matrix) -> Any:
    """What a squared length has to be above, to be divided by."""
    limits = np.finfo(matrix.dtype)
    return matrix.dtype.type(limits.smallest_normal / limits.eps)


def _narrowed(matrix: Matrix, width: int, change: Callable[[Matrix], Matrix]) -> Matrix:
    """What ``change`` makes of some rows at a time, which become no wider, in the same memory."""
    rows, before = matrix.shape
    cells = matrix.reshape(-1)
    for first in range(0, rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, rows)
        some = change(cells[first * before : last * before].reshape(-1, before))
        cells[first * width : last * width] = some.reshape(-1)
    del cells
    matrix.resize((rows, width), refcheck=False)
    return matrix


def _chosen(matrix: Matrix, columns: NDArray[np.intp]) -> Matrix:
    """Some columns, in the same memory."""
    return _narrowed(matrix, len(columns), lambda some: np.take(some, columns, axis=1))


def _applied(matrix: Matrix, change: Matrix) -> Matrix:
    """The positive part of ``matrix @ change``, in the same memory."""
    return _narrowed(matrix, change.shape[1], lambda some: np.maximum(some @ change, 0))


def from_anchors(moment: SparseMoment, hidden: int) -> Factors:
    """Weights from a factorisation that is narrowed down to ``hidden`` codes."""
    found = _anchored(moment, hidden)
    most = found.decoder.shape[1]
    first, *others = np.geomspace(most, hidden, TURNS + 1).round().astype(int).tolist()[1:]
    found.turn()
    found.narrow(first)
    found.turn()
    found.encode()
    for width in others:
        found.sweep()
        found.follow()
        found.narrow(width)
    found.follow()
    return found


def _anchored(moment: SparseMoment, hidden: int) -> Factors:
    """Codes that are attributes, more than are wanted, and the decoder that fits them best."""
    count, most = (min(round(share * hidden), moment.n_attributes) for share in (ANCHORS, MORE))
    anchors = find_anchors(moment, count)
    own = anchors.products[anchors.attributes].astype(np.float64)
    ridge = max(RIDGE * np.trace(own) / count, np.finfo(float).tiny)
    decoder = _applied(anchors.products, np.linalg.inv(own + ridge * np.eye(count)))
    kept, change = _replaced(own, decoder, most)
    found = Factors(moment, anchors.order)
    found.decoder = _applied(decoder, change)
    found.codes = moment.chosen(anchors.attributes[kept])
    return found


class SparseSearch(Stepper):
    """Steps of exact coordinate descent from one start."""

    def __init__(self, moment: SparseMoment, hidden: int, run: Run) -> None:
        self._moment, self._hidden, self._run = moment, hidden, run
        self.most, self._tol = run.settings.max_iter, run.settings.tol
        self._factors: Factors | None = None
        self._errors: list[float] = []
        self._seconds = [0.0]

    def begin(self) -> None:
        """Find the weights to begin with."""
        given, moment, settings = self._run.settings.start, self._moment, self._run.settings
        if given is None and settings.anchors:
            found = from_anchors(moment, self._hidden)
        else:
            weights = given or self._random()
            encoder, decoder = weights.layers
            found = Factors(moment, self._order)
            found.start(np.array(encoder, order="C"), np.array(decoder))
        self._factors, self._errors = found, [found.error]
        self._began = perf_counter()

    def _random(self) -> Weights:
        sizes = [self._moment.n_attributes, self._hidden]
        dtype = self._moment.squares.dtype
        return random_weights(sizes, self._run.random, lambda numbers: numbers.astype(dtype))

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return own_order(self._moment)[0]

    @property
    def _found(self) -> Factors:
        if self._factors is None:  # interrupted before there was anything
            raise KeyboardInterrupt
        return self._factors

    @property
    def pair(self) -> Pair:
        """The weights, whose scale is not fixed yet."""
        found = self._found
        return Pair(found.encoder, np.ascontiguousarray(found.decoder.T), self._errors[-1])

    @property
    def steps(self) -> int:
        """Steps that are complete."""
        return max(len(self._errors) - 1, 0)

    def step(self, iteration: Callable[[], None]) -> None:
        """Go on to a lower error."""
        self._found.step()
        self._errors.append(min(self._found.error, self._errors[-1]))  # but for rounding
        self._seconds.append(perf_counter() - self._began)
        iteration()

    def error(self) -> float:
        """The lowest error so far."""
        return self._errors[-1]

    def stalled(self) -> bool:
        """Whether it makes no progress any more."""
        return stalled(self._errors, self._tol)

    def state(self) -> State:
        """All that the next step depends on."""
        return {
            "encoder": self._found.encoder,
            "decoder": self._found.decoder,
            "momentum": self._found.momentum,
            "errors": np.array(self._errors),
            "seconds": np.array(self._seconds),
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        errors = states.series(state["errors"], "errors")
        seconds = states.series(state["seconds"], "seconds", len(errors))
        moment = self._moment
        like = np.empty((moment.n_attributes, self._hidden), dtype=moment.squares.dtype)
        encoder = states.matrix(state["encoder"], like, "encoder")
        decoder = states.matrix(state["decoder"], like, "decoder")
        found = Factors(moment, self._order)
        found.resume(encoder.copy(), decoder.T.copy())
        found.momentum = states.number(state["momentum"], "momentum")
        self._factors, self._errors, self._seconds = found, errors, seconds
        self._began = perf_counter() - seconds[-1]

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
