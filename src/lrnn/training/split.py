"""A deep network built around a shallow one: the same function, with room to become a better one.

While no hidden neuron saturates, a deep network can do nothing that a shallow one of the same code
width cannot. So the shallow optimum is where a deep network starts. Each code neuron is split into
parts: the neurons of the first hidden layer share its inputs among them, those of the last one its
outputs, and the layers between pass on what they receive. A part saturates on its own, and this is
what training the whole network can make use of.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import matmul

import numpy as np
from array_api_compat import array_namespace

from lrnn.arrays import Array, Rates, backend_of, to_numpy
from lrnn.functional import adjust_rows, firing_rates, routing
from lrnn.moments import Corruption
from lrnn.network.weights import Weights
from lrnn.rows import Rows, encoded
from lrnn.training.end_to_end import fine_tuned
from lrnn.training.evaluation import divisor, largest_drives
from lrnn.training.history import Trained
from lrnn.training.run import Run


def deepened(rows: Rows, shallow: Trained, run: Run) -> Trained:
    """A shallow network, fine-tuned if that is wanted, split over all layers."""
    settings = run.settings
    tuned = fine_tuned(rows, shallow, run)
    encoder, decoder = tuned.weights.layers
    weights = split(
        encoder, decoder, settings.sizes[1:], settings.rates, run.random, settings.behind
    )
    curves = tuned.curves
    if settings.rates == "free":
        try:
            weights = on_the_verge(rows, weights, settings.corruption)
        except KeyboardInterrupt:
            curves = [*curves[:-1], replace(curves[-1], stopped="interrupted")]
    return Trained(weights, curves)


def split(
    encoder: Array,
    decoder: Array,
    hidden: Sequence[int],
    rates: Rates,
    random: np.random.RandomState,
    behind: Sequence[int] | None = None,
) -> Weights:
    """Layers of ``hidden`` widths that do what ``encoder`` and ``decoder`` do.

    Those ``behind`` the code mirror the ones before it, or have widths of their own. None of the
    widths is below that of the shallow code. With unit rates each row of weights sums to at most 1.
    """
    back = hidden if behind is None else (*reversed(behind), hidden[-1])
    encoders = chain(to_numpy(encoder), hidden, random)
    decoders = [w.T.copy() for w in reversed(chain(to_numpy(decoder).T, back, random))]
    if rates == "unit":
        decoders = shared_out(decoders)
    return Weights(tuple(encoders), tuple(decoders)).on(backend_of(encoder))


def on_the_verge(rows: Rows, weights: Weights, corruption: Corruption | None = None) -> Weights:
    """The same network, in which each encoding neuron's largest drive by ``rows`` is 1.

    Those of the code itself stay as they are. Where rows are noisy no neuron saturates, so that a
    drive is one by the rows themselves, through the product of all matrices up to there. Neurons
    that give nothing to any other beside what the rest gives it (it is lost in rounding) are left
    without weights: as they fire next to never, they would need huge ones.
    """
    noise = corruption is not None and corruption.kind == "noise"
    encoders = list(weights.encoders)
    xp = array_namespace(encoders[0])
    for i in range(len(encoders) - 1):
        if noise:
            drives = largest_drives(rows, reduce(matmul, encoders[: i + 1]), corruption)
        else:
            drives = largest_drives(encoded(rows, encoders[:i]) if i else rows, encoders[i])
        peak = divisor(drives)
        given = encoders[i + 1] * drives[:, None]
        used = given > xp.finfo(given.dtype).eps * xp.max(given, axis=0)[None, :]
        encoders[i] = _where(xp.any(used, axis=1)[None, :], encoders[i] / peak)
        encoders[i + 1] = _where(used, encoders[i + 1] * peak[:, None])
    return Weights(tuple(encoders), weights.decoders)


def _where(used: Array, weight: Array) -> Array:
    xp = array_namespace(weight)
    return xp.where(used, weight, xp.zeros_like(weight))


def chain(matrix: Array, widths: Sequence[int], random: np.random.RandomState) -> list[Array]:
    """Matrices whose product is ``matrix`` (V×H), with columns for neurons of these widths.

    The first shares each row of ``matrix`` out at random over the parts of each column; the others
    bring parts of the same column together, step by step. Neuron *j* is a part of column *j* mod H;
    some may be left without any part.
    """
    attributes, code = matrix.shape
    used = [width // code * code for width in widths[:-1]] + [code]
    part = random.randint(used[0] // code, size=(attributes, code))
    first = np.zeros((attributes, widths[0]), dtype=matrix.dtype)
    row, column = np.indices(matrix.shape)
    first[row, part * code + column] = matrix
    matrices = [first]
    for i in range(1, len(widths)):
        parts = np.flatnonzero(matrices[-1].any(axis=0))
        onwards = np.zeros((widths[i - 1], widths[i]), dtype=matrix.dtype)
        onwards[parts, parts % used[i]] = 1
        matrices.append(onwards)
    return matrices


def shared_out(decoders: Sequence[Array]) -> list[Array]:
    """Decoders with the same product whose rows sum to at most 1, as those of the product do."""
    rates = firing_rates(decoders)
    shared = [
        routing(weight, *between) for weight, between in zip(decoders, pairwise(rates), strict=True)
    ]
    shared[0] = shared[0] * rates[0][:, None]
    return [adjust_rows(weight) for weight in shared]
