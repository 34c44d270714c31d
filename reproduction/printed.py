r"""The paper's Algorithms 1, 2 and 3 as printed.

`LRNNAutoencoder(solver="minibatch")` trains the same networks. Here first weights, the order of
rows and the end of the training can be chosen, and the network can be looked at on the way.

Algorithm 1 updates an encoder W and a decoder :math:`\overline{W}` on one minibatch after the
other (eqs. 6 and 7). Algorithm 3 takes each pair of layers in turn through these steps, with the
activations of the layer before in the place of the data. Algorithm 2 trains one pair after the
other, each on the activations of the layer before it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from lrnn.functional import (
    activations,
    adjust_rows,
    normalisation,
    propagate,
    saturate,
    squared_error,
    update_decoder,
    update_encoder,
)
from reproduction.experiments import READINGS, Reading

AT_ONCE = 4_096  # rows whose activations are in memory at a time
FALL = 0.01  # of the mean error on minibatches, from one quarter of the training to the next


class Network(NamedTuple):
    """Weights of an autoencoder, from its input to its output."""

    encoders: tuple[Any, ...]
    decoders: tuple[Any, ...]

    @property
    def layers(self) -> tuple[Any, ...]:
        """All of them, in the order in which spikes go through them."""
        return (*self.encoders, *self.decoders)


class Rows:
    """Rows in [0, 1], or levels of which one stands for 1, where they are worked on."""

    def __init__(self, X: Any, white: float | None = None, device: str | None = None) -> None:
        self.send: Callable[[Any], Any] = np.asarray
        if device not in (None, "cpu"):
            from torch import asarray

            self.send = partial(asarray, device=device)
        self.X, self.white = self.send(X), white
        self.shape: tuple[int, int] = tuple(X.shape)
        self.dtype = np.dtype(np.float32) if white is not None else X.dtype

    def take(self, numbers: Any) -> Any:
        """Some of them, as numbers in [0, 1]."""
        part = self.X[numbers]
        if self.white is None:
            return part
        xp = array_namespace(part)
        return xp.astype(part, xp.float32) / self.white

    def blocks(self) -> Iterator[Any]:
        """All of them."""
        return (self.take(slice(i, i + AT_ONCE)) for i in range(0, self.shape[0], AT_ONCE))

    def behind(self, encoder: Any) -> "Rows":
        """Activations of the next layer."""
        xp = array_namespace(encoder)
        found = Rows.__new__(Rows)
        found.X = xp.concat([propagate(block, encoder) for block in self.blocks()])
        found.send, found.white, found.dtype = self.send, None, self.dtype
        found.shape = tuple(found.X.shape)
        return found


def first_network(
    sizes: Sequence[int], rows: Rows, random: np.random.RandomState, reading: Reading
) -> Network:
    """Random weights after the check-and-adjust of the paper."""
    layers = [
        adjust_rows(rows.send(reading.initial(random.uniform(size=shape)).astype(rows.dtype)))
        for shape in (*pairwise(sizes), *pairwise(reversed(sizes)))
    ]
    return Network(tuple(layers[: len(sizes) - 1]), tuple(layers[len(sizes) - 1 :]))


def pair_step(inputs: Any, encoder: Any, decoder: Any) -> tuple[Any, Any, Any]:
    """The body of Algorithm 1's loop, in the printed order: new weights, and the codes."""
    encoder = adjust_rows(update_encoder(inputs, encoder, decoder))
    drive = inputs @ encoder
    divisor = normalisation(encoder, drive, "free")
    encoder, drive = encoder / divisor, drive / divisor
    decoder = adjust_rows(update_decoder(inputs, drive, decoder))
    codes = saturate(drive)
    return encoder, decoder / normalisation(decoder, codes @ decoder, "free"), codes


def step(batch: Any, network: Network) -> tuple[Network, Any]:
    """The body of Algorithm 3's loop: each pair once; and the mean squared error on the batch."""
    encoders, decoders = map(list, network)
    layer = batch
    for m in range(len(encoders)):
        encoders[m], decoders[-1 - m], layer = pair_step(layer, encoders[m], decoders[-1 - m])
    for decoder in decoders:
        layer = propagate(layer, decoder)
    error = squared_error(batch, layer) / (batch.shape[0] * batch.shape[1])
    return Network(tuple(encoders), tuple(decoders)), error


def keep_absent(batch: Any, old: Network, new: Network) -> Network:
    """The new weights, but the old ones of attributes that are 0 in the whole minibatch."""
    xp = array_namespace(batch)
    absent = xp.max(batch, axis=0) == 0
    first = xp.where(absent[:, None], old.encoders[0], new.encoders[0])
    last = xp.where(absent[None, :], old.decoders[-1], new.decoders[-1])
    return Network((first, *new.encoders[1:]), (*new.decoders[:-1], last))


def orders(rows: int, random: np.random.RandomState, reading: Reading) -> Iterator[Any]:
    """Numbers of all rows, in the order of each pass."""
    if reading.order == "each pass":
        return (random.permutation(rows) for _ in count())
    fixed = random.permutation(rows) if reading.order == "once" else np.arange(rows)
    return (fixed for _ in count())


def error_of(blocks: Iterable[Any], layers: Sequence[Any]) -> float:
    """Mean squared error of a network on rows that come in blocks."""
    total, cells = 0.0, 0
    for block in blocks:
        total += float(squared_error(block, activations(block, layers)[-1]))
        cells += block.shape[0] * block.shape[1]
    return total / cells


@dataclass
class Course:
    """How errors fell in one training: on minibatches, and at some times on all rows."""

    best: Network
    lowest: float = np.inf
    passes: int = 0
    stopped: str = "max_iter"
    batch_errors: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    of_whole: list[float] = field(default_factory=list)
    """After each pass, if that was asked for: the error of a network with the best weights."""


def train(
    rows: Rows,
    network: Network,
    random: np.random.RandomState,
    *,
    batch_size: int,
    passes: int,
    reading: Reading = READINGS[""],
    every: int | None = None,
    least: int | None = None,
    whole: Callable[[Network], float] | None = None,
) -> Course:
    """Algorithm 1 (one pair of layers) or 3 (several).

    Errors on all rows are taken after each pass, and after each ``every`` iterations. With a
    ``least`` number of iterations it ends before all ``passes`` are made, if it stalls. ``whole``
    is an error of the network that this one is a part of.
    """
    course, seconds = Course(network), 0.0
    parts = np.linspace(0, rows.shape[0], max(1, round(rows.shape[0] / batch_size)) + 1).astype(int)
    order = orders(rows.shape[0], random, reading)

    def look() -> None:
        error = error_of(rows.blocks(), network.layers)
        course.iterations.append(len(course.batch_errors) + len(new))
        course.errors.append(error)
        course.seconds.append(seconds)
        if error < course.lowest:
            course.best, course.lowest = network, error

    for number in range(1, passes + 1):
        course.passes = number
        numbers, new = rows.send(next(order)), []
        for first, last in pairwise(parts):
            began = perf_counter()
            batch = rows.take(numbers[first:last])
            error: Any = 0.0
            if batch.max() > 0:  # without any spike there is nothing to learn
                old, (network, error) = network, step(batch, network)
                if reading.keeps_absent:
                    network = keep_absent(batch, old, network)
            new.append(error)
            seconds += perf_counter() - began
            if every and (len(course.batch_errors) + len(new)) % every == 0:
                look()
        if course.iterations[-1:] != [len(course.batch_errors) + len(new)]:
            look()
        course.batch_errors += map(float, new)
        if whole is not None:
            course.of_whole.append(whole(course.best))
        if least is not None and stalls(course, least):
            course.stopped = "tol"
            break
    return course


def train_layerwise(
    rows: Rows,
    network: Network,
    random: np.random.RandomState,
    of_whole: bool = False,
    **options: Any,
) -> tuple[Network, list[Course]]:
    """Algorithm 2: each pair of layers by Algorithm 1 on the activations of the layer before it.

    The errors ``of_whole`` are those of the network of the pairs so far, on the data.
    """
    encoders, decoders = map(list, network)
    courses: list[Course] = []
    layer = rows
    for m in range(len(encoders)):

        def whole(pair: Network, m: int = m) -> float:
            behind = decoders[len(decoders) - m :]
            return error_of(rows.blocks(), (*encoders[:m], *pair.layers, *behind))

        pair = Network((encoders[m],), (decoders[-1 - m],))
        course = train(layer, pair, random, whole=whole if of_whole and m else None, **options)
        encoders[m], decoders[-1 - m] = course.best.layers
        courses.append(course)
        layer = layer.behind(encoders[m])
    return Network(tuple(encoders), tuple(decoders)), courses


def stalls(course: Course, least: int) -> bool:
    """Whether the last quarter of all passes is hardly better than the one before."""
    enough = course.passes >= 4 and len(course.batch_errors) >= least
    return enough and fall(course.batch_errors, course.passes) < FALL


def fall(errors: Any, passes: int) -> float:
    """By which share the mean error fell from the last quarter of passes but one to the last."""
    quarter = len(late(errors, passes))
    return float(1 - np.mean(late(errors, passes)) / np.mean(errors[-2 * quarter : -quarter]))


def late(errors: Any, passes: int) -> Any:
    """Those of the last quarter of passes."""
    return errors[-(passes // 4 * (len(errors) // passes)) :]
