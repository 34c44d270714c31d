"""What a stream goes on from, in model files: its moment, and where the descent is.

The tensors are those of a moment, as ``stream.gram`` …, and ``stream.before``; for several hidden
layers also ``stream.encoder`` and ``stream.decoder``, the shallow network that they are made of.
The document has ``stream``. Rows that are kept in the place of a moment are not written.
"""

from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from lrnn.arrays import Array, to_numpy
from lrnn.autoencoder import LRNNAutoencoder
from lrnn.storage import moment_files
from lrnn.storage.model_files import ModelFileError
from lrnn.training import Memory
from lrnn.training.gram import MOMENTUM_LIMIT
from lrnn.training.without_rows import highest
from lrnn.weights import Weights

COUNTS = ("waiting", "rows", "begun", "seed")
MOST, MOST_SEED = 2**63 - 1, 2**32 - 1


def told(model: LRNNAutoencoder, *, asked: bool) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts for the document and tensors, of a model that keeps a moment; else nothing.

    One that was given to a fit is only told of if that is ``asked`` for.
    """
    memory, moment = getattr(model, "_memory", None), model.moment_
    if asked and moment is None:
        raise ValueError(
            "moment=True, but this model keeps none: "
            + (
                "only fit(lrnn.Moment.of(X)), and partial_fit with the gram solver, free rates and "
                "no inhibition, leave one behind. Train it so, or save it with moment=None"
                if memory is None
                else "it keeps rows of its stream in the place of one, which are never written. "
                "Train with moment='dense', or save it with moment=None"
            )
        )
    if memory is None or moment is None or not (memory.streamed or asked):
        return {}, {}
    document, tensors = moment_files.told(moment)
    if memory.before is not None:
        tensors["before"] = to_numpy(memory.before)
    if not _is_shallow(model.weights_, memory.encoder.shape[1]):
        tensors |= {"encoder": to_numpy(memory.encoder), "decoder": to_numpy(memory.decoder)}
    facts = {"moment": document, "error": memory.error, "momentum": memory.momentum}
    facts |= {name: getattr(memory, name) for name in COUNTS}
    return {"stream": facts}, {f"stream.{name}": array for name, array in tensors.items()}


def found(facts: Any, tensors: dict[str, Array], weights: Weights) -> Memory:
    """What a stream goes on from; what cannot be is a `ModelFileError`."""
    own = {
        name.removeprefix("stream."): array
        for name, array in tensors.items()
        if name.startswith("stream.")
    }
    moment = moment_files.found(facts["moment"], own)
    width, code = weights.sizes[0], min(weights.sizes)
    if moment.shape[1] != width or not moment.weight > 0:
        raise ModelFileError("the moment of its stream does not fit its weights")
    counts = {name: facts[name] for name in COUNTS}
    limits = dict.fromkeys(COUNTS, MOST) | {"seed": MOST_SEED}
    if any(type(n) is not int or not 0 <= n <= limits[name] for name, n in counts.items()):
        raise ModelFileError("its stream has counts that are none")
    error, momentum = facts["error"], facts["momentum"]
    for number, most in ((error, 2.0), (momentum, MOMENTUM_LIMIT)):
        if type(number) not in (int, float) or not isfinite(number) or not 0 <= number <= most:
            raise ModelFileError(f"its stream has a number that cannot be, {number!r:.40}")
    encoder, decoder = weights.encoders[0], weights.decoders[-1]
    if not _is_shallow(weights, code):
        encoder, decoder = own["encoder"], own["decoder"]
    before = own.get("before")
    shapes = ((encoder, (width, code)), (decoder, (code, width)), (before, (width, code)))
    for matrix, shape in shapes:
        if matrix is not None and not _are_weights(matrix, shape, weights):
            raise ModelFileError(f"its stream has weights that are none of the shape {shape}")
    kept = replace(moment.sums, high=highest(moment.sums))
    return Memory(kept, encoder, decoder, float(error), before, float(momentum), **counts)


def _is_shallow(weights: Weights, code: int) -> bool:
    """Whether the network is the shallow one itself."""
    return weights.sizes[1:-1] == (code,)


def _are_weights(matrix: Array, shape: tuple[int, int], like: Weights) -> bool:
    fits = matrix.shape == shape and matrix.dtype == like.dtype
    return bool(fits and np.isfinite(matrix).all() and matrix.min() >= 0)
