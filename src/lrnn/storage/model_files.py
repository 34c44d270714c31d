"""Models in safetensors files: numbers and text only, nothing that could be run.

The tensors are ``encoder.0`` …, ``decoder.0`` …, ``firing_rates.0`` …, those that the parameter
``init`` gave, if it gave any, ``init_encoder.0`` …, ``init_decoder.0`` …, and, for each learning
curve, ``history.0.batch_errors``, ``history.0.iterations``, ``history.0.errors``,
``history.0.seconds``. What fills missing cells, if it was learnt, is ``filling.decoder``,
``filling.codes`` and ``filling.root``. The document holds everything else. Checkpoints are such
files, too: the header's metadata holds the document, ``lrnn``, and ``sha256``, a sum over it and
all tensors, by which damage is noticed. Files are replaced as a whole, or not at all.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors
from scipy import sparse

import lrnn
from lrnn.arrays import Array, Rates, is_array, to_numpy
from lrnn.autoencoder import Fitted, LRNNAutoencoder
from lrnn.classifier import LRNNClassifier
from lrnn.detector import LRNNOutlierDetector
from lrnn.moments import Corruption
from lrnn.parameters import matrices_of
from lrnn.rows.gaps import Filling
from lrnn.tables.atomic import write_atomically
from lrnn.tables.scaling import Scaling, attribute_count
from lrnn.tables.sources import check_file
from lrnn.training import LearningCurve, StopReason
from lrnn.weights import Weights, over_one

FORMAT = 4
"""Version of the format. Newer code reads older files; older code refuses newer ones.

Version 2 has inhibitory weights, ``inhibitory_encoder.0`` … and ``inhibitory_decoder.0`` …; files
of networks without them are still of version 1. Those of version 3 are classifiers (see
`lrnn.storage.classifier_files`), those of version 4 outlier detectors (see
`lrnn.storage.detector_files`). ``error_is_bound`` is there if it is so, ``corrupted_err`` if rows
were corrupted, ``stream`` if a stream can go on (see `lrnn.storage.stream_files`), ``output`` if
``set_output`` was called.
"""

CURVE_ARRAYS = ("batch_errors", "iterations", "errors", "seconds")
FILLING = ("decoder", "codes", "root")
OUTPUTS = ("default", "pandas", "polars")  # what `set_output` makes of codes
WHITES = (None, 1.0, 255.0, 65_535.0)  # levels that may stand for 1
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class TensorFileError(ValueError):
    """A file does not hold what it should."""


READ_ERRORS = (SafetensorError, OSError, KeyError, TypeError, ValueError, AttributeError,
               RecursionError, OverflowError, MemoryError)  # fmt: skip
"""What reading a file that is damaged, foreign or hostile may raise."""


class ModelFileError(TensorFileError):
    """A file is not a model that this version of lrnn can read."""


def save(
    model: LRNNAutoencoder, path: str | os.PathLike[str], *, moment: bool | None = None
) -> None:
    """Write a fitted model. The file is replaced as a whole, or not at all.

    With ``moment`` what is kept of the rows is written, too; by default only for a stream. Nothing
    is written that `load` would refuse: weights that are not finite, for example.
    """
    write_tensors(path, *stored(model, moment))


def stored(
    model: LRNNAutoencoder, moment: bool | None = None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The document and the tensors of a fitted model."""
    tensors: dict[str, Array] = {}
    with np.errstate(over="ignore", invalid="ignore"):  # told below, if they are not finite
        rates = model.firing_rates_
    for kind, matrices in (
        ("encoder", model.encoders_),
        ("decoder", model.decoders_),
        ("firing_rates", rates),
        ("inhibitory_encoder", model.inhibitory_encoders_ or ()),
        ("inhibitory_decoder", model.inhibitory_decoders_ or ()),
    ):
        tensors |= {f"{kind}.{i}": to_numpy(m) for i, m in enumerate(matrices)}
    tensors |= start_tensors(model)
    tensors |= curve_tensors(model)
    filling = getattr(model, "filling_", None)
    if filling is not None:
        tensors |= {f"filling.{name}": getattr(filling, name) for name in FILLING}
    document = {
        "format": 1 if model.weights_.inhibitory is None else 2,
        "lrnn_version": lrnn.__version__,
        "parameters": plain_parameters(model) | {"device": None},  # the reader may have no GPU
        "reconstruction_err": model.reconstruction_err_,
        "spike_cost": model.spike_cost_,
    } | told_of_training(model)
    if model.error_is_bound_:
        document["error_is_bound"] = True
    if moment is not False:
        from lrnn.storage import stream_files

        facts, arrays = stream_files.told(model, asked=moment is True)
        document |= facts
        tensors |= arrays
    document["layer_spike_costs"] = model.layer_spike_costs_.tolist()
    if model.corrupted_err_ is not None:
        document["corrupted_err"] = model.corrupted_err_
    try:
        autoencoder(document, tensors)
    except READ_ERRORS as error:
        raise ValueError(f"this model cannot be saved: {error}") from None
    return document, tensors


def curve_tensors(model: LRNNAutoencoder | LRNNClassifier) -> dict[str, Array]:
    """The arrays of all learning curves."""
    return {
        f"history.{i}.{name}": getattr(curve, name)
        for i, curve in enumerate(model.history_)
        for name in CURVE_ARRAYS
    }


def told_of_training(model: LRNNAutoencoder | LRNNClassifier) -> dict[str, Any]:
    """What documents of all models say of their training and their data."""
    names = getattr(model, "feature_names_in_", None)
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    return {
        "history": [
            {"layer": c.layer, "passes": c.passes, "stopped": c.stopped, "stage": c.stage}
            for c in model.history_
        ],
        "n_iter": model.n_iter_,
        "feature_names": None if names is None else list(names),
        "scaling": None if model.scaling_ is None else model.scaling_.to_json(),
        "white": model.white_,
    } | ({} if output is None else {"output": output})


def load(path: str | os.PathLike[str]) -> LRNNAutoencoder | LRNNClassifier | LRNNOutlierDetector:
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
    with explained(path, "model", ModelFileError):
        document, tensors = read_tensors(path, _check_format)
        if "classes" in document:
            from lrnn.storage.classifier_files import classifier

            return classifier(document, tensors)
        if "detector" in document:
            from lrnn.storage.detector_files import detector

            return detector(document, tensors)
        return autoencoder(document, tensors)


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


@contextmanager
def explained(
    path: str | os.PathLike[str], what: str, kind: type[TensorFileError]
) -> Iterator[None]:
    """Whatever goes wrong with a file gives one error that says so, of this ``kind``."""
    if Path(path).is_dir():
        raise kind(f"{os.fspath(path)!r} is a folder, not a {what} file")
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {os.fspath(path)!r}") from None
    except PermissionError:
        raise PermissionError(f"no permission to read {os.fspath(path)!r}") from None
    except READ_ERRORS as error:
        reason = str(error) or type(error).__name__
        raise kind(f"cannot read {os.fspath(path)!r} as a {what}: {reason}") from None


def plain_parameters(
    model: LRNNAutoencoder | LRNNClassifier | LRNNOutlierDetector,
) -> dict[str, Any]:
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


def start_tensors(model: LRNNAutoencoder | LRNNClassifier) -> dict[str, Array]:
    """The weights that the parameter ``init`` gives, if it gives any."""
    if isinstance(model, LRNNClassifier) or model.init is None or isinstance(model.init, str):
        return {}
    found = {}
    for part, given in zip(("encoder", "decoder"), model.init, strict=True):
        for i, matrix in enumerate(matrices_of(given)):
            full = matrix.toarray() if sparse.issparse(matrix) else matrix
            found[f"init_{part}.{i}"] = np.asarray(
                to_numpy(full) if is_array(full) else full, dtype=np.float64
            )
    return found


def _check_format(document: dict[str, Any]) -> None:
    if "moment" in document:
        raise ModelFileError("it holds a moment, which lrnn.load_moment reads, and fit takes")
    check_version(document["format"], FORMAT, document)


def check_version(version: Any, newest: int, document: dict[str, Any]) -> None:
    """Complain of a format that this version of lrnn does not know."""
    if type(version) is not int or version < 1:
        raise TensorFileError(f"its format version is {version!r:.40}")
    if version > newest:
        raise TensorFileError(
            f"it has format {version}, written by lrnn {document['lrnn_version']}; this is lrnn "
            f"{lrnn.__version__}, which reads formats up to {newest}. Update lrnn"
        )


def autoencoder(document: dict[str, Any], tensors: dict[str, Array]) -> LRNNAutoencoder:
    """The autoencoder of a document and tensors, all of it checked."""
    if document["format"] > 2:
        raise ModelFileError("it says that it is a classifier, and has no classes")
    # whoever has trained it may be gone, and so may the device
    parameters = dict(document["parameters"]) | {"verbose": 0, "device": None}
    known = LRNNAutoencoder().get_params()
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ModelFileError(f"it has unknown parameters {', '.join(unknown)}")
    for name in ("hidden_layer_sizes", "decoder_layer_sizes", "corruption"):
        if isinstance(parameters.get(name), list):
            parameters[name] = tuple(parameters[name])
    if "init_encoder.0" in tensors:
        parts = [weight_matrices(tensors, f"init_{part}") for part in ("encoder", "decoder")]
        parameters["init"] = tuple(m[0] if len(m) == 1 else m for m in parts)
    model = LRNNAutoencoder(**parameters)
    model._validate_params()
    corrupted = document.get("corrupted_err")
    if (corrupted is None) != (Corruption.of(model.corruption) is None):
        raise ModelFileError("its error on corrupted rows does not fit its parameters")
    in_pairs = parameters.get("decoder_layer_sizes") is None
    weights = _weights(tensors, document["format"] > 1, in_pairs)
    if model.rates == "unit" and (over := [*map(over_one, weights.excitatory)].count(True)):
        raise ModelFileError(
            f"its rates are 'unit', but rows of {over} of its weight matrices sum to more than 1"
        )
    check_rates(weights, model.rates, tensors)
    set_attributes(model, weights.sizes[0], document)
    spike_cost = finite(document["spike_cost"])
    fitted = Fitted(
        weights,
        [curve_of(i, facts, tensors) for i, facts in enumerate(document["history"])],
        int(document["n_iter"]),
        finite(document["reconstruction_err"]),
        _spike_costs(weights, document, spike_cost),
        spike_cost,
        None if corrupted is None else finite(corrupted),
        _truth(document.get("error_is_bound", False)),
    )
    if "stream" in document:
        from lrnn.storage import stream_files

        memory = stream_files.found(document["stream"], tensors, weights)
        fitted = replace(fitted, memory=memory)
    model.filling_ = _filling(tensors, model.n_features_in_)
    model._become(fitted)
    return model


def _filling(tensors: dict[str, Array], width: int) -> Filling | None:
    if not any(name.startswith("filling.") for name in tensors):
        return None
    decoder, codes, root = stored = [tensors[f"filling.{name}"] for name in FILLING]
    if not all(t.dtype == np.float64 and np.isfinite(t).all() for t in stored):
        raise ModelFileError("what fills missing cells is no set of finite numbers")
    parts = codes.shape[0] if codes.ndim == 1 else 0
    shapes = decoder.shape == (parts, width) and root.shape == (parts, parts)
    if not parts or not shapes or decoder.min() < 0:
        raise ModelFileError("what fills missing cells does not fit its weights")
    return Filling(decoder, codes, root)


def set_attributes(model: Any, inputs: int, document: dict[str, Any]) -> None:
    """What a model with so many input neurons knows of its attributes, and its form of codes.

    That is how many attributes there are, their names, how they get into [0, 1], and levels.
    """
    model.scaling_ = scaling_of(document["scaling"], model, inputs)
    model.n_features_in_ = width = attribute_count(model.scaling_, inputs)
    white = document["white"]
    if white not in WHITES:
        raise ModelFileError(f"it says that the level {white!r:.40} is 1")
    model.white_ = white
    known = check_names(document["feature_names"], width)
    if known is not None:
        model.feature_names_in_ = np.array(known, dtype=object)
    output = document.get("output")
    if output not in (None, *OUTPUTS):
        raise ModelFileError(f"it says that codes are given as {output!r:.40}")
    model.set_output(transform=output)


def scaling_of(stored: Any, model: LRNNAutoencoder | LRNNClassifier, inputs: int) -> Scaling | None:
    """The scaling of a model, which then has it as a parameter, too."""
    if stored is None:
        return None
    scaling = check_scaling(stored, inputs)
    complement_alone = model.complement is True and scaling == scaling.coding
    if model.scale is None and not complement_alone:
        model.scale = scaling
    return scaling


def check_names(names: Any, width: int) -> list[str] | None:
    """Names of so many attributes, if there are any."""
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise TensorFileError("its feature names are no list of names")
    if len(names) != width:
        raise TensorFileError("its feature names do not fit its attributes")
    return names


def check_scaling(stored: Any, inputs: int) -> Scaling:
    """A scaling of as many attributes as so many input neurons stand for."""
    scaling = Scaling.from_json(stored)
    width = attribute_count(scaling, inputs)
    own = np.size(scaling.low) if np.ndim(scaling.low) else width
    if scaling.names is not None:
        own = len(scaling.names)
    if own != width or (scaling.complemented and inputs % 2):
        raise TensorFileError("its scaling does not fit its attributes")
    return scaling


def curve_of(i: int, facts: dict[str, Any], tensors: dict[str, Array]) -> LearningCurve:
    """The learning curve of this number."""
    arrays = {name: tensors[f"history.{i}.{name}"] for name in CURVE_ARRAYS}
    layer, stopped, stage = facts["layer"], facts["stopped"], facts["stage"]
    if (
        any(array.ndim != 1 or array.dtype.kind not in "fi" for array in arrays.values())
        or len({len(arrays[name]) for name in ("iterations", "errors", "seconds")}) != 1
        or not (layer is None or isinstance(layer, int))
        or stopped not in get_args(StopReason)
        or not isinstance(stage, str)
    ):
        raise ModelFileError(f"its learning curve {i} makes no sense")
    passes = int(facts["passes"])
    return LearningCurve(layer=layer, passes=passes, stopped=stopped, stage=stage, **arrays)


def weight_matrices(tensors: dict[str, Array], kind: str) -> list[Array]:
    """All matrices of weights of a kind: finite, and not negative."""
    found: list[Array] = []
    while f"{kind}.{len(found)}" in tensors:
        name = f"{kind}.{len(found)}"
        matrix = tensors[name]
        if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype not in FLOATS:
            raise ModelFileError(f"{name} is no matrix of floating-point numbers")
        if not np.isfinite(matrix).all() or matrix.min() < 0:
            raise ModelFileError(f"{name} has weights that are negative or not finite")
        found.append(matrix)
    if not found:
        raise ModelFileError(f"it has no {kind}.0")
    return found


def _weights(tensors: dict[str, Array], inhibition: bool, in_pairs: bool) -> Weights:
    encoders, decoders = weight_matrices(tensors, "encoder"), weight_matrices(tensors, "decoder")
    plus = [*encoders, *decoders]
    sizes = [len(m) for m in plus] + [plus[-1].shape[1]]
    fits = all(m.shape[1] == size for m, size in zip(plus, sizes[1:], strict=True))
    paired = sizes == sizes[::-1] and len(encoders) == len(decoders)
    closed = paired if in_pairs else sizes[0] == sizes[-1]
    if not fits or not closed or len({m.dtype for m in plus}) != 1:
        raise ModelFileError(f"its weights {[m.shape for m in plus]} do not fit together")
    if not inhibition:
        return Weights.of(plus, encoders=len(encoders))
    minus = weight_matrices(tensors, "inhibitory_encoder") + weight_matrices(
        tensors, "inhibitory_decoder"
    )
    if [(m.shape, m.dtype) for m in plus] != [(m.shape, m.dtype) for m in minus]:
        raise ModelFileError("its inhibitory weights do not fit the excitatory ones")
    return Weights.of(plus, minus, len(encoders))


def check_rates(weights: Weights, rates: Rates, tensors: dict[str, Array]) -> None:
    """Complain of firing rates that are not those of the weights."""
    for i, own in enumerate(weights.firing_rates(rates)):
        stored = tensors[f"firing_rates.{i}"]
        if stored.shape != own.shape or not np.allclose(stored, own, rtol=1e-9, atol=0):
            raise ModelFileError("its firing rates do not belong to its weights")


def _spike_costs(weights: Weights, document: dict[str, Any], total: float) -> Array:
    costs = np.array(document["layer_spike_costs"], dtype=np.float64)
    if costs.shape != (len(weights.excitatory),) or not np.isclose(costs.sum(), total):
        raise ModelFileError("its spikes by layer do not fit their sum")
    return costs


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ModelFileError(f"it says {value!r:.40} where yes or no is meant")
    return value


def finite(value: Any) -> float:
    """A finite number."""
    if not math.isfinite(value):
        raise ModelFileError(f"its error {value!r} is not a finite number")
    return float(value)


def write_tensors(
    path: str | os.PathLike[str], document: Mapping[str, Any], tensors: Mapping[str, Array]
) -> None:
    """Write a document and arrays."""
    text = json.dumps(document)
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    metadata = {"lrnn": text, "sha256": checksum(text, whole)}
    write_atomically(Path(path), to_safetensors(whole, metadata))


def read_tensors(
    path: str | os.PathLike[str], check: Callable[[dict[str, Any]], None]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what `write_tensors` wrote; raises one of `READ_ERRORS` if that cannot be.

    ``check`` sees the document before anything else is read, and may complain of it.
    """
    check_file(Path(path))
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        if "lrnn" not in metadata:
            raise TensorFileError("it is a safetensors file, but not one of lrnn")
        document = dict(json.loads(metadata["lrnn"]))
        check(document)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if metadata.get("sha256") != checksum(metadata["lrnn"], tensors):
        raise TensorFileError("its checksum is wrong: the file is damaged")
    return document, tensors


def checksum(document: str, tensors: Mapping[str, Array]) -> str:
    """SHA-256 of a document and of all arrays with their names, types and shapes."""
    total = hashlib.sha256(document.encode())
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        total.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        total.update(tensor.data)
    return total.hexdigest()
