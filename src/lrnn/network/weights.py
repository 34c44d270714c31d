"""The weights of a network in layers as a value: what they do to rows, which network they are."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, pairwise
from math import log
from operator import matmul
from typing import Any, Literal

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, Backend, Floats, Layer, Rates, copied, to_numpy
from lrnn.functional import (
    adjust_rows,
    firing_rates,
    firings,
    propagate,
    refined_codes,
    used_rates,
)
from lrnn.network import RandomNeuralNetwork, layer_names
from lrnn.network.checks import rounding

Part = Literal["all", "encoder", "decoder"]

CODE = "code"  # what the layer between both parts is called in the network of one of them


@dataclass(frozen=True)
class Weights:
    """Matrices in the order in which spikes pass them.

    ``encoders[m]`` is the paper's W_{m+1}; ``decoders[m]`` its W̄_{m+1}, so that encoder *m* and
    decoder *M−1−m* are a pair: they lead to and from the same layer width. Where decoding layers
    have widths of their own there are no such pairs.
    """

    encoders: tuple[Array, ...]
    decoders: tuple[Array, ...]
    inhibitory: tuple[Array, ...] | None = None  # from the input to the output, if there are any

    @classmethod
    def of(
        cls,
        excitatory: Iterable[Array],
        inhibitory: Iterable[Array] | None = None,
        encoders: int | None = None,
    ) -> "Weights":
        """All matrices from the input to the output: so many of them encode, by default half."""
        plus = tuple(excitatory)
        code = len(plus) // 2 if encoders is None else encoders
        return cls(plus[:code], plus[code:], None if inhibitory is None else tuple(inhibitory))

    @property
    def excitatory(self) -> tuple[Array, ...]:
        """All excitatory matrices, from the input to the output."""
        return (*self.encoders, *self.decoders)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What spikes pass, from the input to the output."""
        if self.inhibitory is None:
            return self.excitatory
        return tuple(zip(self.excitatory, self.inhibitory, strict=True))

    @property
    def encoding(self) -> tuple[Layer, ...]:
        """What spikes pass from the input to the code."""
        return self.layers[: len(self.encoders)]

    @property
    def decoding(self) -> tuple[Layer, ...]:
        """What spikes pass from the code to the output."""
        return self.layers[len(self.encoders) :]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many neurons each layer has, from the input to the output."""
        return (*(w.shape[0] for w in self.excitatory), self.excitatory[-1].shape[1])

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.encoders[0].dtype

    def each(self, change: Callable[[Array], Array]) -> "Weights":
        """Every matrix, changed."""
        minus = None if self.inhibitory is None else map(change, self.inhibitory)
        return Weights.of(map(change, self.excitatory), minus, len(self.encoders))

    def copy(self) -> "Weights":
        """The same numbers in arrays of their own."""
        return self.each(copied)

    def on(self, backend: Backend) -> "Weights":
        """The same numbers as arrays of a backend."""
        return self.each(backend.send)

    def state(self) -> dict[str, Any]:
        """As a checkpoint keeps it."""
        found = {"encoders": list(self.encoders), "decoders": list(self.decoders)}
        if self.inhibitory is not None:
            found["inhibitory"] = list(self.inhibitory)
        return found

    def realised(self, rates: Rates) -> "Weights":
        """As float64 of the host; under unit rates rows sum to at most 1 in that precision, too.

        That is a matter of rounding: rows that sum to more than 1 by far are left as they are.
        """

        def exact(weight: Array) -> Floats:
            return to_numpy(weight).astype(np.float64, copy=False)

        plus = [exact(weight) for weight in self.excitatory]
        if rates == "unit":
            within = [not over_one(weight) for weight in self.excitatory]
            plus = [adjust_rows(w) if ok else w for w, ok in zip(plus, within, strict=True)]
        minus = None if self.inhibitory is None else map(exact, self.inhibitory)
        return Weights.of(plus, minus, len(self.encoders))

    def firing_rates(self, rates: Rates = "free", least: float = 0.0) -> list[Floats]:
        """Firing rates that the weights need of every layer's neurons, none below ``least``."""
        if rates == "unit":
            return [np.ones(size) for size in self.sizes]
        own = self.realised(rates)
        return firing_rates(own.excitatory, own.inhibitory, least=least)

    def spikes(self, activations: Sequence[Floats], rates: Rates = "free") -> Floats:
        """Firings per unit time of the input and of each hidden layer, at these activations."""
        own = self.realised(rates)
        fired = firings(own.firing_rates(rates), activations, own.excitatory, own.inhibitory)
        return np.asarray(fired)

    def scaled_rates(self) -> tuple[float, list[Floats]]:
        """Rates of all layers but the last, beside the highest of them, and its logarithm.

        Neurons that lead nowhere need not fire: theirs are 0. So scaled they are numbers of any
        precision, however high they are.
        """
        own = self.realised("free")
        used = used_rates(own.firing_rates(), own.excitatory, own.inhibitory)
        highest = max(float(rate.max()) for rate in used) or 1.0
        return log(highest), [rate / highest for rate in used]

    def to_network(
        self, rates: Rates = "free", least_rate: float = 1.0, part: Part = "all"
    ) -> RandomNeuralNetwork:
        """The random neural network whose steady state is the forward pass, or a part of it.

        A part is cut out of the whole network: its neurons have the rates and probabilities that
        they have there, and spikes that would go on to the other part leave.
        """
        own = self.realised(rates)
        whole = RandomNeuralNetwork.from_layers(
            own.excitatory, own.inhibitory, rates=rates, least_rate=least_rate
        )
        if part == "all":
            return whole
        chosen, neurons = self._of_part(part)
        names = list(layer_names(len(self.sizes)))
        names[len(self.encoders)] = CODE
        minus = whole.inhibitory
        return RandomNeuralNetwork(
            whole.rates[neurons],
            whole.excitatory[neurons, neurons],
            None if minus is None else minus[neurons, neurons],
            layer_sizes=self.sizes[chosen],
            layer_names=names[chosen],
        )

    def part_of(self, network: RandomNeuralNetwork) -> Part:
        """Which part of the whole `to_network` made it for; its layers must be as wide."""
        first, last = network.layer_names[0], network.layer_names[-1]
        part: Part = "decoder" if first == CODE else "encoder" if last == CODE else "all"
        sizes = self.sizes if part == "all" else self.sizes[self._of_part(part)[0]]
        count, expected = network.n_neurons, sum(sizes)
        if count != expected or network.layer_sizes not in (None, sizes):
            model = "model" if part == "all" else f"model's {part}"
            wide = "" if count != expected else f" in layers {network.layer_sizes}"
            layers = f" in layers {sizes}" if wide else ""
            raise ValueError(
                f"the network has {count} neurons{wide}, but this {model} {expected}{layers}; give "
                "what to_network returned"
            )
        return part

    def _of_part(self, part: Part) -> tuple[slice, slice]:
        """Which layers, and which neurons, are a part; both have the code neurons."""
        code = len(self.encoders)
        if part == "encoder":
            return slice(code + 1), slice(sum(self.sizes[: code + 1]))
        if part == "decoder":
            return slice(code, None), slice(sum(self.sizes[:code]), None)
        raise ValueError(f"part must be 'all', 'encoder' or 'decoder', got {part!r}")


def over_one(weight: Array) -> bool:
    """Whether a row sums to more than 1, and rounding is not the reason."""
    host = to_numpy(weight)
    largest = host.sum(axis=1, dtype=np.float64).max()
    return bool(largest > 1 + rounding(host.shape[1], host))


def excitatory_part(layer: Layer) -> Array:
    """The excitatory matrix of a layer, which may be all there is."""
    return layer[0] if isinstance(layer, tuple) else layer


def widest(layers: Sequence[Layer]) -> int:
    """The most neurons of any layer."""
    return max(int(max(excitatory_part(layer).shape)) for layer in layers)


def through(layers: Sequence[Layer], block: Array) -> Array:
    """Activations behind ``layers`` of a block of rows."""
    return reduce(propagate, layers, block)


def activations(layers: Sequence[Layer], block: Array) -> list[Array]:
    """Activations of every layer, the rows themselves first."""
    return list(accumulate(layers, propagate, initial=block))


def transmit(rows: Any, layers: Sequence[Layer]) -> Array:
    """Activations behind ``layers`` of all rows (see :class:`lrnn.rows.Rows`)."""
    last = excitatory_part(layers[-1])
    work = partial(through, tuple(layers))
    return rows.transmit(work, last.shape[1], last.dtype, widest(layers))


def on_backend(layers: Sequence[Layer], backend: Backend) -> list[Layer]:
    """Layers as arrays of a backend."""
    send = backend.send
    return [tuple(map(send, w)) if isinstance(w, tuple) else send(w) for w in layers]


def arrivals_at(rows: Any, rates: Floats, first: int = 0, last: int | None = None) -> Floats:
    """External arrival rates at all neurons, of these firing rates, that present rows to them.

    All rows, or those from number ``first`` up to ``last``.
    """
    count, attributes = rows.shape
    end = count if last is None else min(last, count)
    found, done = np.zeros((end - first, len(rates))), 0
    for block in rows.blocks(first, None if last is None else end):  # None sees rows too many
        dense = block.toarray() if sparse.issparse(block) else to_numpy(block)
        found[done : done + len(dense), :attributes] = dense * rates[:attributes]
        done += len(dense)
    return found


def refined(weights: "Weights", sweeps: int, block: Array) -> Array:
    """Codes of a block of rows, improved by so many sweeps for what the decoder makes of them.

    No row's error rises. The decoder of several layers is taken for the product of their matrices;
    where that is not what the network does (a layer saturates), the better codes are kept.
    """
    codes = through(weights.encoding, block)
    decoder = reduce(matmul, weights.decoders)
    found = refined_codes(block, decoder, codes, sweeps, saturating=True)
    if len(weights.decoders) == 1:
        return found
    xp = array_namespace(codes)
    block = block.toarray() if sparse.issparse(block) else block
    before, after = (
        xp.sum((through(weights.decoding, c) - block) ** 2, axis=1) for c in (codes, found)
    )
    return xp.where((after < before)[:, None], found, xp.astype(codes, found.dtype, copy=False))


def random_weights(
    sizes: Sequence[int],
    random: np.random.RandomState,
    make: Callable[[Floats], Array] = np.asarray,
) -> Weights:
    """Uniform random weights that satisfy the paper's constraints, for layers of these sizes.

    ``make`` turns numbers of the host into weights of the kind and type that is wanted.

    Examples
    --------
    >>> weights = random_weights([4, 2], np.random.RandomState(0))
    >>> weights.sizes
    (4, 2, 4)
    >>> bool((weights.decoders[0].sum(axis=1) <= 1 + 1e-12).all())
    True
    """

    def matrix(rows: int, columns: int) -> Array:
        return adjust_rows(make(random.uniform(size=(rows, columns))))

    layers = [*pairwise(sizes), *pairwise(reversed(sizes))]
    return Weights.of([matrix(rows, columns) for rows, columns in layers])
