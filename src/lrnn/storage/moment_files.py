"""Moments in files, also that from which a stream in the file of a model goes on."""

import os
from contextlib import suppress
from dataclasses import replace

import numpy as np

import lrnn
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.moments import Moment, Sums
from lrnn.moments.moment import impossible
from lrnn.moments.sums import LARGEST
from lrnn.network.weights import Weights
from lrnn.storage import codec, schemas
from lrnn.storage.codec import TensorFileError
from lrnn.tables.scaling import Scaling, attribute_count
from lrnn.training import Memory, State
from lrnn.training.without_rows import highest

__all__ = ["MomentFileError", "is_moment", "load_moment", "save"]


class MomentFileError(TensorFileError):
    """A file is not a moment that this version of lrnn can read."""


def save(moment: Moment, path: str | os.PathLike[str]) -> None:
    """Write a moment. The file is replaced as a whole, or not at all."""
    document, tensors = codec.split(facts_of(moment) | sums_of(moment))
    codec.write_checked(path, document, tensors, moment_of, "moment")


def load_moment(path: str | os.PathLike[str]) -> Moment:
    """Read a moment that :meth:`lrnn.Moment.save` wrote.

    A file that is damaged, foreign or of a newer format gives one `MomentFileError`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    moment : Moment
        As it was when it was saved.

    Examples
    --------
    >>> import tempfile
    >>> from lrnn import Moment, load_moment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Moment.of([[0.0, 0.5], [1.0, 0.25]]).save(f"{folder}/moment.safetensors")
    ...     load_moment(f"{folder}/moment.safetensors")
    Moment(2 rows, 2 attributes)
    """
    with codec.explained(path, "moment", MomentFileError):
        return moment_of(codec.join(*codec.read_tensors(path, _check_format)))


def _check_format(document: State) -> None:
    if "moment" not in document:
        kind = "a checkpoint" if "checkpoint" in document else "a model, which lrnn.load reads"
        raise MomentFileError(f"it holds {kind}")
    codec.check_version(document["moment"], schemas.FORMAT_OF_MOMENTS, document)


def is_moment(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it holds a moment; only its header is read."""
    seen: list[bool] = []

    def look(document: State) -> None:
        seen.append("moment" in document)
        raise TensorFileError

    with suppress(*codec.READ_ERRORS):
        codec.read_tensors(path, look)
    return seen == [True]


# Moments


def facts_of(moment: Moment) -> State:
    """What a file says of a moment besides its sums."""
    return {
        "moment": schemas.FORMAT_OF_MOMENTS,
        "lrnn_version": lrnn.__version__,
        "weight": moment.weight,
        "rows": moment.n_rows,
        "rounding": moment.sums.rounding,
        "type": moment.dtype.name,
        "names": None if moment.names is None else list(moment.names),
        "scaling": None if moment.scaling is None else moment.scaling.to_json(),
        "white": moment.white,
    }


def sums_of(moment: Moment) -> State:
    """The arrays of a moment."""
    found = {"gram": moment.gram, "column_sums": moment.column_sums}
    ranges = {} if moment.low is None else {"low": moment.low, "high": moment.high}
    return found | ranges


def moment_of(state: State) -> Moment:
    """The moment that a file holds, all of it checked."""
    found = schemas.MOMENT.check(state)
    gram, low, high = (found[name] for name in ("gram", "low", "high"))
    if gram.size > LARGEST:
        raise TensorFileError(f"gram has the shape {gram.shape}, which is too large")
    if (low is None) != (high is None):
        raise TensorFileError("it has only one of low and high")
    if low is not None and (low > high).any():
        raise TensorFileError("its low is above its high")
    facts = found["weight"], found["rows"], found["column_sums"], low, high, found["rounding"]
    sums = Sums(gram, *facts)
    wrong = impossible(sums)
    if wrong is not None:
        raise TensorFileError(f"no rows have such sums: {wrong}")
    if not np.allclose(gram, gram.T, rtol=1e-9, atol=1e-9 * gram.max()):
        raise TensorFileError("gram is not symmetric")
    scaling = scaling_of(found["scaling"], found["names"], len(gram))
    names = None if found["names"] is None else tuple(found["names"])
    return Moment(sums, np.dtype(found["type"]), names, scaling, found["white"])


def scaling_of(stored: State | None, names: list[str] | None, inputs: int) -> Scaling | None:
    """A scaling, if there is one: it and the names fit the attributes of so many input neurons."""
    scaling = None if stored is None else Scaling.from_json(stored)
    width = attribute_count(scaling, inputs)
    if names is not None and len(names) != width:
        raise TensorFileError(f"its {len(names)} names do not fit its {width} attributes")
    if scaling is not None:
        own = np.size(scaling.low) if np.ndim(scaling.low) else width
        own = own if scaling.names is None else len(scaling.names)
        if own != width or (scaling.complemented and inputs % 2):
            raise TensorFileError(f"its scaling of {own} attributes does not fit {inputs} inputs")
    return scaling


# Streams


COUNTS = ("waiting", "rows", "begun", "seed")


def stream_state(model: LRNNAutoencoder, *, asked: bool) -> State | None:
    """What a stream goes on from, of a model that keeps a moment.

    One that was given to a fit is only there if that is ``asked`` for; for several hidden layers
    it goes with the shallow network that they are made of.
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
        return None
    found = {"moment": facts_of(moment), "error": memory.error, "momentum": memory.momentum}
    found |= {name: getattr(memory, name) for name in COUNTS} | sums_of(moment)
    if memory.before is not None:
        found["before"] = memory.before
    if not _is_shallow(model.weights_):
        found |= {"encoder": memory.encoder, "decoder": memory.decoder}
    return found


def memory_of(stream: State, weights: Weights) -> Memory:
    """What the stream of a model with these weights goes on from, all of it checked."""
    moment = moment_of(stream["moment"] | {name: stream[name] for name in schemas.SUMS})
    encoder, decoder = weights.encoders[0], weights.decoders[-1]
    if not _is_shallow(weights):
        encoder, decoder = stream["encoder"], stream["decoder"]
    before = encoder if stream["before"] is None else stream["before"]
    shape = weights.sizes[0], min(weights.sizes)
    fits = moment.shape[1] == shape[0] and moment.weight > 0
    for matrix, own in ((encoder, shape), (decoder, shape[::-1]), (before, shape)):
        fits = fits and matrix is not None and (matrix.shape, matrix.dtype) == (own, weights.dtype)
    if not fits:
        raise TensorFileError("its stream does not fit its weights")
    kept = replace(moment.sums, high=highest(moment.sums))
    counts = {name: stream[name] for name in COUNTS}
    last = stream["before"], stream["momentum"]
    return Memory(kept, encoder, decoder, stream["error"], *last, **counts)


def _is_shallow(weights: Weights) -> bool:
    """Whether the network is the shallow one itself."""
    return weights.sizes[1:-1] == (min(weights.sizes),)
