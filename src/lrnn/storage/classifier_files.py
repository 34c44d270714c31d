"""Classifiers in safetensors files, as autoencoders are (see `lrnn.storage.model_files`).

The tensors are ``excitatory.0`` … and ``inhibitory.0`` … from the input to the output,
``firing_rates.0`` …, and those of the learning curves. Labels that are numbers or truth values are
the tensor ``classes``; text is in the document.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lrnn
from lrnn.arrays import Array, to_numpy
from lrnn.classifier import FittedClassifier, LRNNClassifier
from lrnn.storage.model_files import (
    READ_ERRORS,
    ModelFileError,
    check_rates,
    curve_of,
    curve_tensors,
    finite,
    plain_parameters,
    set_attributes,
    told_of_training,
    weight_matrices,
    write_tensors,
)
from lrnn.weights import Weights

FORMAT_OF_CLASSIFIERS = 3
TEXT = ("str", "object")  # how labels that are text were held


def save(model: LRNNClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier. The file is replaced as a whole, or not at all.

    Nothing is written that `lrnn.load` would refuse.
    """
    own = model.weights_
    tensors: dict[str, Array] = {}
    for kind, matrices in (
        ("excitatory", own.excitatory),
        ("inhibitory", own.inhibitory or ()),
        ("firing_rates", model.firing_rates_),
    ):
        tensors |= {f"{kind}.{i}": to_numpy(m) for i, m in enumerate(matrices)}
    tensors |= curve_tensors(model)
    classes = _told_classes(model.classes_)
    if classes is None:
        tensors["classes"] = model.classes_
    weighing = model.class_weight
    pairs = [[_plain(k), float(v)] for k, v in weighing.items()] if _is_dict(weighing) else None
    document = {
        "format": FORMAT_OF_CLASSIFIERS,
        "lrnn_version": lrnn.__version__,
        "classes": classes,
        "inhibition": own.inhibitory is not None,
        "frozen": model._frozen,
        "parameters": plain_parameters(model) | {"device": None},
        "class_weight": pairs,
        "loss": model.loss_,
        "layer_spike_costs": model.layer_spike_costs_.tolist(),
    } | told_of_training(model)
    try:
        classifier(document, tensors)
    except READ_ERRORS as error:
        raise ValueError(f"this model cannot be saved: {error}") from None
    write_tensors(path, document, tensors)


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _told_classes(classes: NDArray[Any]) -> dict[str, Any] | None:
    """Labels that are text, as JSON holds them; None for numbers."""
    if classes.dtype.kind in "biuf":
        return None
    if not all(isinstance(label, str) for label in classes.tolist()):
        raise ValueError(
            f"this model cannot be saved: its labels, such as {classes[0]!r:.40}, are neither "
            "numbers nor text"
        )
    held = "object" if classes.dtype.kind == "O" else "str"
    return {"labels": classes.tolist(), "held": held, "type": classes.dtype.str}


def classifier(document: dict[str, Any], tensors: dict[str, Array]) -> LRNNClassifier:
    """The classifier of a document and tensors, all of it checked."""
    parameters = dict(document["parameters"]) | {"verbose": 0, "device": None}
    unknown = sorted(set(parameters) - set(LRNNClassifier().get_params()))
    if unknown:
        raise ModelFileError(f"it has unknown parameters {', '.join(unknown)}")
    for name in ("hidden_layer_sizes", "corruption"):
        if isinstance(parameters.get(name), list):
            parameters[name] = tuple(parameters[name])
    sizes = parameters.get("hidden_layer_sizes", ())
    if not isinstance(sizes, int | tuple):
        raise ModelFileError(f"its hidden_layer_sizes are {sizes!r:.40}")
    if document["class_weight"] is not None:
        parameters["class_weight"] = {label: finite(w) for label, w in document["class_weight"]}
    model = LRNNClassifier(**parameters)
    model._validate_params()
    weights = _weights(tensors, document["inhibition"] is True)
    check_rates(weights, "free", tensors)
    set_attributes(model, weights.sizes[0], document)
    costs = np.array(document["layer_spike_costs"], dtype=np.float64)
    if costs.shape != (len(weights.excitatory),) or not (np.isfinite(costs) & (costs >= 0)).all():
        raise ModelFileError("its spikes by layer do not fit its layers")
    frozen = document["frozen"]
    if type(frozen) is not int or not 0 <= frozen < len(weights.excitatory):
        raise ModelFileError(f"it says that {frozen!r:.40} layers stay as they are")
    model.filling_ = None
    fitted = FittedClassifier(
        weights,
        _classes(document["classes"], tensors, weights.sizes[-1]),
        [curve_of(i, facts, tensors) for i, facts in enumerate(document["history"])],
        int(document["n_iter"]),
        finite(document["loss"]),
        costs,
        frozen,
    )
    model._become(fitted)
    return model


def _weights(tensors: dict[str, Array], inhibition: bool) -> Weights:
    plus = weight_matrices(tensors, "excitatory")
    sizes = [len(m) for m in plus] + [plus[-1].shape[1]]
    fits = all(m.shape[1] == size for m, size in zip(plus, sizes[1:], strict=True))
    if len(plus) < 2 or not fits or len({m.dtype for m in plus}) != 1:
        raise ModelFileError(f"its weights {[m.shape for m in plus]} do not fit together")
    if not inhibition:
        return Weights.of(plus)
    minus = weight_matrices(tensors, "inhibitory")
    if [(m.shape, m.dtype) for m in plus] != [(m.shape, m.dtype) for m in minus]:
        raise ModelFileError("its inhibitory weights do not fit the excitatory ones")
    return Weights.of(plus, minus)


def _classes(told: Any, tensors: dict[str, Array], count: int) -> NDArray[Any]:
    """Labels: as many as there are output neurons, each another one, in order."""
    if told is None:
        found = tensors["classes"]
        sound = found.ndim == 1 and found.dtype.kind in "biuf"
    else:
        labels, held, kind = told["labels"], told["held"], told["type"]
        sound = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        sound = sound and held in TEXT and (held == "object") == (kind == "|O")
        sound = sound and (held == "object" or np.dtype(kind).kind == "U")
        found = np.array(labels if sound else [], dtype=kind if sound else object)
    if not sound or len(found) != count or not np.array_equal(np.unique(found), found):
        raise ModelFileError("its classes are not one label for each output neuron")
    return np.asarray(found)
