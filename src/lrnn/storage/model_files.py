"""Autoencoders, classifiers and outlier detectors in files (`lrnn.storage.schemas` says what)."""

import os
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import lrnn
from lrnn.analysis.normality import Normality
from lrnn.analysis.widths import WidthPath
from lrnn.arrays import Array, Rates, is_array, to_numpy
from lrnn.estimators.autoencoder import Fitted, LRNNAutoencoder
from lrnn.estimators.classifier import FittedClassifier, LRNNClassifier
from lrnn.estimators.detector import FittedDetector, HeldOut, LRNNOutlierDetector
from lrnn.moments import Corruption
from lrnn.moments.typical import TypicalRows
from lrnn.network.weights import Weights, over_one
from lrnn.rows.gaps import Filling
from lrnn.storage import codec, schemas
from lrnn.storage.codec import TensorFileError
from lrnn.storage.moment_files import memory_of, scaling_of, stream_state
from lrnn.tables.scaling import OPEN, attribute_count
from lrnn.training import LearningCurve, State
from lrnn.training.parameters import matrices_of

__all__ = ["ModelFileError", "load", "load_autoencoder", "save"]

Model: TypeAlias = LRNNAutoencoder | LRNNClassifier | LRNNOutlierDetector

SEQUENCES = ("hidden_layer_sizes", "decoder_layer_sizes", "corruption")  # JSON has lists alone


class ModelFileError(TensorFileError):
    """A file is not a model that this version of lrnn can read."""


def save(model: Model, path: str | os.PathLike[str], *, moment: bool | None = None) -> None:
    """Write a fitted model. The file is replaced as a whole, or not at all.

    With ``moment`` what an autoencoder keeps of the rows is written, too; by default only for a
    stream. Nothing is written that `load` would refuse: weights that are not finite, for example.
    """
    if isinstance(model, LRNNAutoencoder):
        document, tensors = codec.split(autoencoder_state(model, moment))
    elif isinstance(model, LRNNClassifier):
        document, tensors = codec.split(classifier_state(model))
    else:
        document, tensors = codec.split(detector_state(model))
    if "classes" in tensors:  # null in the document: readers look for it there
        document = dict.fromkeys(("format", "lrnn_version", "classes")) | document
    codec.write_checked(path, document, tensors, model_of, "model")


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that :meth:`lrnn.LRNNAutoencoder.save` (or another model's) wrote.

    A file that is damaged, foreign or of a newer format gives one `ModelFileError`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : LRNNAutoencoder, LRNNClassifier or LRNNOutlierDetector
        As it was when it was saved.

    Examples
    --------
    >>> import tempfile
    >>> import lrnn
    >>> model = lrnn.LRNNAutoencoder(1, random_state=0).fit([[0.2, 0.4], [0.5, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     again = lrnn.load(f"{folder}/model.safetensors")
    >>> bool((again.transform([[0.3, 0.6]]) == model.transform([[0.3, 0.6]])).all())
    True
    """
    with codec.explained(path, "model", ModelFileError):
        return model_of(codec.join(*codec.read_tensors(path, _check_format)))


def load_autoencoder(path: str | os.PathLike[str]) -> LRNNAutoencoder:
    """Read an autoencoder; a classifier is an error, too."""
    found = load(path)
    if not isinstance(found, LRNNAutoencoder):
        what = "a classifier" if isinstance(found, LRNNClassifier) else "an outlier detector"
        raise ModelFileError(
            f"{os.fspath(path)!r} is {what}, where an autoencoder is needed; lrnn.load reads "
            "it in Python"
        )
    return found


def _check_format(document: State) -> None:
    if "moment" in document:
        raise ModelFileError("it holds a moment, which lrnn.load_moment reads, and fit takes")
    if "checkpoint" in document:
        raise ModelFileError("it holds a checkpoint, from which lrnn.checkpoints.fit goes on")
    codec.check_version(document.get("format"), schemas.FORMAT, document)


def model_of(state: State) -> Model:
    """The model that a file holds, all of it checked."""
    makers = (autoencoder_of, autoencoder_of, classifier_of, detector_of)
    return makers[state["format"] - 1](state)


# What all of them have


def plain_parameters(model: Model) -> State:
    """Parameters as JSON can hold them; a generator as random_state is left out."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, list | tuple | np.ndarray):
            return [plain(v) for v in value]
        return value if isinstance(value, bool | int | float | str) else None

    given = model.get_params(deep=False)
    if not isinstance(given.get("init", ""), str):
        given["init"] = None  # weights are kept as tensors
    return {name: plain(value) for name, value in given.items()}


def start_of(model: LRNNAutoencoder | LRNNClassifier) -> State:
    """The weights that the parameter ``init`` gives, if it gives any."""
    if isinstance(model, LRNNClassifier) or model.init is None or isinstance(model.init, str):
        return {}
    found: State = {}
    for part, given in zip(("encoder", "decoder"), model.init, strict=True):
        full = [m.toarray() if sparse.issparse(m) else m for m in matrices_of(given)]
        found[f"init_{part}"] = [
            np.asarray(to_numpy(m) if is_array(m) else m, dtype=np.float64) for m in full
        ]
    return found


def _training_of(model: LRNNAutoencoder | LRNNClassifier) -> State:
    """What autoencoders and classifiers say of their training and their data."""
    names = getattr(model, "feature_names_in_", None)
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    return {
        "history": [vars(curve) for curve in model.history_],
        "n_iter": model.n_iter_,
        "feature_names": None if names is None else list(names),
        "scaling": None if model.scaling_ is None else model.scaling_.to_json(),
        "white": model.white_,
        **_present(output=output),
    }


def _present(**parts: Any) -> State:
    """Those parts that there are."""
    return {name: part for name, part in parts.items() if part is not None}


def _estimator(kind: type[Any], stored: State, **given: Any) -> Any:
    """An estimator with the parameters of a file; whoever has trained it, and where, is gone."""
    parameters = {
        name: tuple(value) if name in SEQUENCES and isinstance(value, list) else value
        for name, value in stored.items()
    }
    parameters |= {"verbose": 0, "device": None} | given
    unknown = sorted(set(parameters) - set(kind().get_params()))
    if unknown:
        raise TensorFileError(f"it has unknown parameters {', '.join(unknown)}")
    model = kind(**parameters)
    model._validate_params()
    return model


def _set_columns(model: Any, state: State, inputs: int) -> None:
    """What a model with so many input neurons knows of its attributes, and its form of codes."""
    names = state["feature_names"]
    model.scaling_ = scaling = scaling_of(state["scaling"], names, inputs)
    complements_alone = model.complement is True and scaling == getattr(scaling, "coding", None)
    if scaling is not None and model.scale is None and not complements_alone:
        model.scale = scaling
    model.n_features_in_, model.white_ = attribute_count(scaling, inputs), state["white"]
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.set_output(transform=state["output"])


def _weights(plus: list[Array], minus: list[Array] | None, encoders: int | None = None) -> Weights:
    """Weights from layer to layer."""
    found = Weights.of(plus, minus, encoders)
    shapes = list(pairwise(found.sizes))
    for what, matrices in (("excitatory", plus), ("inhibitory", minus or plus)):
        own = [m.shape for m in matrices]
        if own != shapes or {m.dtype for m in matrices} != {found.dtype}:
            raise TensorFileError(f"its {what} weights, of the shapes {own}, do not fit together")
    return found


def _check_rates(weights: Weights, rates: Rates, stored: list[Array]) -> None:
    own = weights.firing_rates(rates)
    fits = [len(r) for r in own] == [len(r) for r in stored]
    if not fits or not all(map(partial(np.allclose, rtol=1e-9, atol=0), stored, own)):
        raise TensorFileError("its firing_rates do not belong to its weights")


# Autoencoders


def autoencoder_state(model: LRNNAutoencoder, moment: bool | None = None) -> State:
    """What a file says of a fitted autoencoder; see `save`."""
    weights, filling = model.weights_, getattr(model, "filling_", None)
    stream = None if moment is False else stream_state(model, asked=moment is True)
    with np.errstate(over="ignore", invalid="ignore"):  # which is found when it is checked
        rates = model.firing_rates_
    return {
        "format": 1 if weights.inhibitory is None else 2,
        "lrnn_version": lrnn.__version__,
        "parameters": plain_parameters(model) | {"device": None},  # the reader may have no GPU
        "reconstruction_err": model.reconstruction_err_,
        "spike_cost": model.spike_cost_,
        **_training_of(model),
        **_present(error_is_bound=model.error_is_bound_ or None, stream=stream),
        "layer_spike_costs": model.layer_spike_costs_.tolist(),
        **_present(corrupted_err=model.corrupted_err_),
        "encoder": model.encoders_,
        "decoder": model.decoders_,
        "firing_rates": rates,
        **_present(
            inhibitory_encoder=model.inhibitory_encoders_,
            inhibitory_decoder=model.inhibitory_decoders_,
            filling=None if filling is None else vars(filling),
        ),
        **start_of(model),
    }


def autoencoder_of(state: State) -> LRNNAutoencoder:
    """The autoencoder that a file holds, all of it checked."""
    found = schemas.AUTOENCODER.check(state)
    schemas.START.check(found["parameters"].get("init"), "parameters.init", {})
    start = found["init_encoder"], found["init_decoder"]
    if (start[0] is None) != (start[1] is None):
        raise TensorFileError("it has only one of init_encoder and init_decoder")
    given = {}
    if start[0] is not None:
        given["init"] = tuple(part[0] if len(part) == 1 else part for part in start)
    model: LRNNAutoencoder = _estimator(LRNNAutoencoder, found["parameters"], **given)
    if (found["corrupted_err"] is None) != (Corruption.of(model.corruption) is None):
        raise TensorFileError("its corrupted_err does not fit its parameter corruption")
    weights = _weights_of_autoencoder(found, model)
    _check_rates(weights, model.rates, found["firing_rates"])
    _set_columns(model, found, weights.sizes[0])
    costs = np.array(found["layer_spike_costs"])
    if len(costs) != len(weights.excitatory) or not np.isclose(costs.sum(), found["spike_cost"]):
        raise TensorFileError("its layer_spike_costs do not fit its layers and their sum")
    filling = found["filling"]
    if filling is not None and filling["decoder"].shape[1] != model.n_features_in_:
        raise TensorFileError("its filling does not fit its attributes")
    model.filling_ = None if filling is None else Filling(**filling)
    fitted = Fitted(
        weights,
        [LearningCurve(**curve) for curve in found["history"]],
        found["n_iter"],
        found["reconstruction_err"],
        costs,
        found["spike_cost"],
        found["corrupted_err"],
        bool(found["error_is_bound"]),
        None if found["stream"] is None else memory_of(found["stream"], weights),
    )
    model._become(fitted)
    return model


def _weights_of_autoencoder(found: State, model: LRNNAutoencoder) -> Weights:
    plus, count, minus = found["encoder"] + found["decoder"], len(found["encoder"]), None
    if found["format"] > 1:
        minus = found["inhibitory_encoder"] + found["inhibitory_decoder"]
    weights = _weights(plus, minus, count)
    sizes = weights.sizes
    mirrored = sizes == sizes[::-1] and 2 * count == len(plus)
    if not (mirrored if model.decoder_layer_sizes is None else sizes[0] == sizes[-1]):
        raise TensorFileError(f"its layers of {sizes} neurons are none of an autoencoder")
    over = [*map(over_one, plus)].count(True)
    if model.rates == "unit" and over:
        raise TensorFileError(
            f"its rates are 'unit', but rows of {over} of its weight matrices sum to more than 1"
        )
    return weights


# Classifiers


def classifier_state(model: LRNNClassifier) -> State:
    """What a file says of a fitted classifier."""
    weights, weighing = model.weights_, model.class_weight
    pairs = [[k, float(v)] for k, v in weighing.items()] if isinstance(weighing, dict) else None
    return {
        "format": 3,
        "lrnn_version": lrnn.__version__,
        "classes": _classes_state(model.classes_),
        "inhibition": weights.inhibitory is not None,
        "frozen": model._frozen,
        "parameters": plain_parameters(model) | {"device": None},
        "class_weight": pairs,
        "loss": model.loss_,
        "layer_spike_costs": model.layer_spike_costs_.tolist(),
        **_training_of(model),
        "excitatory": weights.excitatory,
        **_present(inhibitory=weights.inhibitory),
        "firing_rates": model.firing_rates_,
    }


def _classes_state(classes: NDArray[Any]) -> NDArray[Any] | State:
    """Labels that are numbers, as they are; text, as JSON holds it."""
    if classes.dtype.kind in "biuf":
        return classes
    if not all(isinstance(label, str) for label in classes.tolist()):
        raise ValueError(
            f"this model cannot be saved: its labels, such as {classes[0]!r:.40}, are neither "
            "numbers nor text"
        )
    held = "object" if classes.dtype.kind == "O" else "str"
    return {"labels": classes.tolist(), "held": held, "type": classes.dtype.str}


def classifier_of(state: State) -> LRNNClassifier:
    """The classifier that a file holds, all of it checked."""
    of_text = isinstance(state.get("classes"), dict)
    found = (schemas.CLASSIFIER_OF_TEXT if of_text else schemas.CLASSIFIER).check(state)
    given = {}
    if found["class_weight"] is not None:
        pairs = [(label, schemas.CLASS_WEIGHT.check(weight, f"class_weight of {label!r:.40}", {}))
                 for label, weight in found["class_weight"]]  # fmt: skip
        given["class_weight"] = dict(pairs)
    model: LRNNClassifier = _estimator(LRNNClassifier, found["parameters"], **given)
    if not isinstance(model.hidden_layer_sizes, int | tuple):
        raise TensorFileError(f"its hidden_layer_sizes are {model.hidden_layer_sizes!r:.40}")
    weights = _weights(found["excitatory"], found["inhibitory"] if found["inhibition"] else None)
    _check_rates(weights, "free", found["firing_rates"])
    _set_columns(model, found, weights.sizes[0])
    costs, layers = np.array(found["layer_spike_costs"]), len(weights.excitatory)
    if len(costs) != layers or found["frozen"] >= layers:
        raise TensorFileError("its layer_spike_costs, or its frozen layers, do not fit its layers")
    model.filling_ = None
    fitted = FittedClassifier(
        weights,
        _classes(found["classes"], weights.sizes[-1]),
        [LearningCurve(**curve) for curve in found["history"]],
        found["n_iter"],
        found["loss"],
        costs,
        found["frozen"],
    )
    model._become(fitted)
    return model


def _classes(stored: NDArray[Any] | State, count: int) -> NDArray[Any]:
    """Labels: as many as there are output neurons, each another one, in order."""
    if isinstance(stored, dict):
        kind, fits = np.dtype(stored["type"]), {"object": "O", "str": "U"}[stored["held"]]
        found = np.array(stored["labels"] if kind.kind == fits else [], dtype=kind)
    else:
        found = stored
    if len(found) != count or not np.array_equal(np.unique(found), found):
        raise TensorFileError("its classes are not one label for each output neuron")
    return found


# Outlier detectors


def detector_state(model: LRNNOutlierDetector) -> State:
    """What a file says of a fitted detector."""
    normality, path = model._normality_, model.width_path_
    typical = None if normality.typical is None else vars(normality.typical)
    return {
        "format": 4,
        "lrnn_version": lrnn.__version__,
        "network": autoencoder_state(model.autoencoder_),
        "detector": {
            "parameters": plain_parameters(model) | {"device": None},
            "neighbours": float(normality.neighbours),
            "offset": model.offset_,
            "flagged_share": model.flagged_share_,
            "width_path": None if path is None else path.to_json(),
        },
        **_present(typical=typical),
        "held_out": vars(model._held),
    }


def detector_of(state: State) -> LRNNOutlierDetector:
    """The detector that a file holds, all of it checked."""
    found = schemas.DETECTOR.check(state)
    own, typical = found["detector"], found["typical"]
    network = autoencoder_of(found["network"])
    model: LRNNOutlierDetector = _estimator(LRNNOutlierDetector, own["parameters"])
    scaling = network.scaling_
    model.scaling_, model.white_ = scaling, network.white_
    model.filling_, model.n_features_in_ = network.filling_, network.n_features_in_
    if model.scale is None and scaling is not None:  # one that was made already
        model.scale = scaling
    names = getattr(network, "feature_names_in_", None)
    if names is not None:
        model.feature_names_in_ = names
    if typical is not None and typical["centres"].shape[1] != model.n_features_in_:
        raise TensorFileError("its typical rows do not fit its attributes")
    normality = Normality(
        network.weights_,
        None if typical is None else TypicalRows(**typical),
        own["neighbours"],
        scaling is not None and scaling.kind == OPEN,
        scaling is not None and scaling.complemented,
    )
    path = own["width_path"]
    model._become(
        FittedDetector(
            network,
            normality,
            HeldOut(**found["held_out"]),
            own["offset"],
            own["flagged_share"],
            None if path is None else WidthPath.from_json(path),
        )
    )
    return model
