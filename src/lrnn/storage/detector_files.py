"""Outlier detectors in safetensors files, as autoencoders are (see `lrnn.storage.model_files`).

The document's ``network`` is that of the autoencoder, whose tensors are ``network.encoder.0`` and
so on. Typical rows are ``typical.centres`` and ``typical.counts``; what was measured of rows
that were held out is ``held_out.parts`` and ``held_out.weights``.
"""

import os
from typing import Any

import numpy as np

import lrnn
from lrnn.arrays import Array, to_numpy
from lrnn.detector import FittedDetector, HeldOut, LRNNOutlierDetector
from lrnn.moments.typical import TypicalRows
from lrnn.normality import Normality
from lrnn.storage.model_files import (
    READ_ERRORS,
    ModelFileError,
    autoencoder,
    finite,
    plain_parameters,
    stored,
    write_tensors,
)
from lrnn.tables.scaling import OPEN
from lrnn.width_paths import WidthPath

FORMAT_OF_DETECTORS = 4
NETWORK = "network."


def save(model: LRNNOutlierDetector, path: str | os.PathLike[str]) -> None:
    """Write a fitted detector. The file is replaced as a whole, or not at all.

    Nothing is written that `lrnn.load` would refuse.
    """
    network, tensors = stored(model.autoencoder_)
    normality, held = model._normality_, model._held
    found = {NETWORK + name: tensor for name, tensor in tensors.items()}
    found |= {"held_out.parts": held.parts, "held_out.weights": held.weights}
    if normality.typical is not None:
        found["typical.centres"] = to_numpy(normality.typical.centres)
        found["typical.counts"] = to_numpy(normality.typical.counts)
    path_told = model.width_path_
    document = {
        "format": FORMAT_OF_DETECTORS,
        "lrnn_version": lrnn.__version__,
        "network": network,
        "detector": {
            "parameters": plain_parameters(model) | {"device": None},
            "neighbours": float(normality.neighbours),
            "offset": model.offset_,
            "flagged_share": model.flagged_share_,
            "width_path": None if path_told is None else path_told.to_json(),
        },
    }
    try:
        detector(document, found)
    except READ_ERRORS as error:
        raise ValueError(f"this model cannot be saved: {error}") from None
    write_tensors(path, document, found)


def detector(document: dict[str, Any], tensors: dict[str, Array]) -> LRNNOutlierDetector:
    """The detector of a document and tensors, all of it checked."""
    own = {n.removeprefix(NETWORK): t for n, t in tensors.items() if n.startswith(NETWORK)}
    network = autoencoder(document["network"], own)
    told = document["detector"]
    parameters = dict(told["parameters"]) | {"verbose": 0, "device": None}
    unknown = sorted(set(parameters) - set(LRNNOutlierDetector().get_params()))
    if unknown:
        raise ModelFileError(f"it has unknown parameters {', '.join(unknown)}")
    if isinstance(parameters.get("hidden_layer_sizes"), list):
        parameters["hidden_layer_sizes"] = tuple(parameters["hidden_layer_sizes"])
    model = LRNNOutlierDetector(**parameters)
    model._validate_params()
    model.scaling_, model.white_ = network.scaling_, network.white_
    model.filling_, model.n_features_in_ = network.filling_, network.n_features_in_
    if model.scale is None and model.scaling_ is not None:  # one that was made already
        model.scale = model.scaling_
    names = getattr(network, "feature_names_in_", None)
    if names is not None:
        model.feature_names_in_ = names
    scaling = network.scaling_
    normality = Normality(
        network.weights_,
        _typical(tensors, model.n_features_in_),
        _positive(told["neighbours"]),
        scaling is not None and scaling.kind == OPEN,
        scaling is not None and scaling.complemented,
    )
    path = told["width_path"]
    model._become(
        FittedDetector(
            network,
            normality,
            _held_out(tensors),
            finite(told["offset"]),
            _share(told["flagged_share"]),
            None if path is None else WidthPath.from_json(path),
        )
    )
    return model


def _typical(tensors: dict[str, Array], width: int) -> TypicalRows | None:
    if "typical.centres" not in tensors:
        return None
    centres, counts = tensors["typical.centres"], tensors["typical.counts"]
    sound = centres.ndim == 2 and centres.dtype.kind == "f" and counts.dtype.kind == "f"
    sound = sound and centres.shape[1] == width and counts.shape == centres.shape[:1]
    if not sound or not len(counts) or not np.isfinite(centres).all() or not _above(counts):
        raise ModelFileError("its typical rows do not fit its attributes, or are no numbers")
    return TypicalRows(centres, counts)


def _held_out(tensors: dict[str, Array]) -> HeldOut:
    parts, weights = tensors["held_out.parts"], tensors["held_out.weights"]
    sound = parts.ndim == 2 and parts.shape[1:] == (2,) and weights.shape == parts.shape[:1]
    sound = sound and parts.dtype == weights.dtype == np.float64 and len(parts) > 0
    if not sound or not (np.isfinite(parts).all() and parts.min() >= 0 and _above(weights)):
        raise ModelFileError("what was measured of rows held out makes no sense")
    return HeldOut(parts, weights)


def _above(numbers: Array) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers > 0).all())


def _positive(value: Any) -> float:
    found = finite(value)
    if found <= 0:
        raise ModelFileError(f"it looks at {value!r:.40} neighbours")
    return found


def _share(value: Any) -> float:
    found = finite(value)
    if not 0 <= found <= 1:
        raise ModelFileError(f"it says that a share is {value!r:.40}")
    return found
