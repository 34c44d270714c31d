"""Model files, moments and checkpoints that are damaged; models and moments that are forged.

A damaged file is refused, or gives what it gave. A forged one has the right checksum: it is
refused, or gives a model that keeps what models promise.
"""

import copy
import json
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as to_bytes

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Moment, checkpoints
from lrnn.storage.checkpoints import CheckpointError
from lrnn.storage.codec import checksum
from lrnn.storage.model_files import ModelFileError
from lrnn.storage.moment_files import MomentFileError
from trial.harness import Refusal, answer, cases, damaged

X = np.random.default_rng(0).random((40, 5))
LABELS = np.array(["a", "b", "ç"])[np.digitize(X[:, 0], [0.3, 0.7])]
WAYS = {
    "gram": {"max_iter": 8, "tol": 0},
    "deep": {"hidden_layer_sizes": (4, 2), "max_iter": 4, "fine_tune": 3},
    "printed": {"solver": "minibatch", "max_iter": 4, "batch_size": 10},
    "unit": {"rates": "unit", "max_iter": 4},
    "inhibition": {"inhibition": True, "fine_tune": 4, "max_iter": 5},
    "early": {"inhibition": True, "early_stopping": True, "fine_tune": 4, "max_iter": 5},
    "scaled": {"scale": "minmax", "max_iter": 3},
}  # fmt: skip
CLASSIFIERS = {
    "classes": {"max_iter": 4},
    "classes, excitatory": {"inhibition": False, "max_iter": 3, "class_weight": "balanced"},
    "classes, early": {"early_stopping": True, "spike_penalty": 0.1, "max_iter": 6},
    "classes, deep": {"hidden_layer_sizes": (4, 3), "corruption": ("mask", 0.2), "max_iter": 3},
    "classes, scaled": {"scale": "max", "class_weight": {"a": 2.0, "b": 1, "ç": 1}, "max_iter": 3},
}
VALUES = [None, True, False, -1, 0, 1, 2, 10**9, 10**400, -0.5, 1e308, float("nan"), float("inf"),
          "", "x", "\x1b[31m", "../x", [], [1], [[1]], {}, {"a": 1}]  # fmt: skip
TENSORS = {
    "NaN": lambda a: np.full(a.shape, np.nan), "negative": lambda a: -1.0 - a,
    "large": lambda a: np.minimum(a, 1e300) * 1e3 + 1, "huge": lambda a: np.full(a.shape, 1e308),
    "tiny": lambda a: np.full(a.shape, 1e-310), "single": lambda a: a.astype(np.float32),
    "whole": lambda a: a.astype(np.int64), "shorter": lambda a: a[:-1],
    "longer": lambda a: np.concatenate([a, a]), "flat": lambda a: a.reshape(-1),
    "turned": lambda a: a.T, "nothing": lambda a: a[:0], "one more axis": lambda a: a[None],
    "nudged": lambda a: a * (1 + 1e-9),
}  # fmt: skip


def model(way):
    settings = {"hidden_layer_sizes": 3, "random_state": 0}
    if way in CLASSIFIERS:
        return LRNNClassifier(**settings | CLASSIFIERS[way])
    return LRNNAutoencoder(**settings | WAYS[way])


def labels(way):
    return {"y": LABELS} if way in CLASSIFIERS else {}


@cache
def fitted(way):
    return model(way).fit(X, **labels(way))


@cache
def stored(way):
    """The bytes of a model file, the only one."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model")
        fitted(way).save(path)
        return [path.read_bytes()]


@cache
def unfinished(way):
    """The bytes of every checkpoint of a training."""
    found, real = [], checkpoints.write

    def write(path, *arguments):
        real(path, *arguments)
        found.append(path.read_bytes())

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "write", write)
        checkpoints.fit(model(way), X, Path(folder, "checkpoint"), every=0, **labels(way))
    return found


def places(value, path=()):
    """Where in a document something stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from places(part, (*path, key))


def forged(case, content):
    """Another content with the right checksum."""
    tensors = {name: array.copy() for name, array in tensors_of(content).items()}
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    document = json.loads(header["__metadata__"]["lrnn"])
    for _ in range(case.rng.integers(1, 3)):
        if case.chance(0.5) and tensors:
            name = case.pick(sorted(tensors))
            match case.pick(["change", "change", "remove", "exchange", "add"]):
                case "change":
                    tensors[name] = np.ascontiguousarray(case.pick(TENSORS)(tensors[name]))
                case "remove":
                    del tensors[name]
                case "exchange":
                    other = case.pick(sorted(tensors))
                    tensors[name], tensors[other] = tensors[other], tensors[name]
                case "add":
                    tensors[f"{name}9"] = tensors[name]
        else:
            *path, key = case.pick(list(places(document)))
            part = document
            for step in path:
                part = part[step]
            if case.chance(0.2):
                del part[key]
            else:
                part[key] = copy.deepcopy(case.pick(VALUES))
    text = json.dumps(document)
    return to_bytes(tensors, {"lrnn": text, "sha256": checksum(text, tensors)})


def same(one, other):
    return all(map(np.array_equal, one.weights_.excitatory, other.weights_.excitatory))


def check_promises(found, folder):
    """What every model promises, wherever it comes from."""
    classifies = isinstance(found, LRNNClassifier)
    codes = found.transform(X)
    back = found.predict_proba(X) if classifies else found.reconstruct(X)
    scaled = found.scaling_ is not None and not classifies
    low, high = (-np.inf, np.inf) if scaled else (0, 1)
    for values, least, most in ((codes, 0, 1), (back, low, high)):
        assert np.isfinite(values).all(), "not finite"
        assert values.min() >= least, "below its range"
        assert values.max() <= most, "above its range"
    for weights in found.weights_.excitatory + (found.weights_.inhibitory or ()):
        assert np.isfinite(weights).all(), "weights are not finite"
        assert weights.min(initial=0) >= 0, "weights are negative"
        if not classifies and found.rates == "unit":
            assert weights.sum(axis=1).max() <= 1 + 1e-5, "rows of unit rates sum to more than 1"
    if classifies:
        np.testing.assert_allclose(back.sum(axis=1), 1, rtol=1e-5)
        assert set(found.predict(X).tolist()) <= set(found.classes_.tolist())
    else:
        assert np.isfinite(found.score(X))
    found.to_network()
    assert found.audit().valid
    found.save(folder / "again")
    np.testing.assert_allclose(lrnn.load(folder / "again").transform(X), codes, rtol=1e-5)


def loaded(way, content, folder):
    (folder / "model").write_bytes(content)
    return lrnn.load(folder / "model")


def resumed(way, content, folder):
    (folder / "checkpoint").write_bytes(content)
    return checkpoints.fit(model(way), X, folder / "checkpoint", every=1e9, **labels(way))


FILES = {
    "model": (stored, loaded, ModelFileError),
    "checkpoint": (unfinished, resumed, CheckpointError),
}


def attempt(case, kind, change, ways=WAYS):
    """What is made of a file that was changed, and what an undisturbed run gives."""
    contents, use, error = FILES[kind]
    way = case.pick(list(ways))
    content = change(case, case.any_of(contents(way)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers may be as large as they can be
        found = answer(use, way, content, case.folder)
        if isinstance(found, Refusal):
            assert isinstance(found.error, error), found
            assert str(case.folder / kind) in str(found.error), found
            return None
        check_promises(found, case.folder)
    return found, fitted(way)


@cases(short=20, full=20_000)
def test_damaged(case):
    """Damage is noticed, or there is none. (tests/storage/test_model_files.py has more models.)"""
    found = attempt(case, "checkpoint" if case.short else case.pick(list(FILES)), damaged)
    if found is not None:
        assert same(*found), "another model"


@cases(short=50, full=20_000)
def test_forged(case):
    """What is not refused keeps what models promise."""
    attempt(case, "model", forged)


@cases(short=50, full=20_000)
def test_classifiers(case):
    """The same of classifiers, damaged or forged."""
    harmed = case.chance(0.3)
    kind = case.pick(list(FILES)) if harmed else "model"
    found = attempt(case, kind, damaged if harmed else forged, CLASSIFIERS)
    if harmed and found is not None:
        assert same(*found), "another model"


@cache
def summed():
    """Bytes of moments of several kinds, and the moments."""
    found = [Moment.of(X), Moment.of(X, scale="minmax") * 0.5, Moment.of(X) - Moment.of(X[:9])]
    found.append(Moment.of((X * 255).astype(np.uint8), np.arange(40)))
    contents = []
    with TemporaryDirectory() as folder:
        for moment in found:
            moment.save(Path(folder, "moment"))
            contents.append(Path(folder, "moment").read_bytes())
    return contents, found


def load_moment(content, folder):
    (folder / "moment").write_bytes(content)
    return lrnn.load_moment(folder / "moment")


@cases(short=50, full=20_000)
def test_moments(case):
    """A file is refused, or gives a moment that a model can be trained on."""
    contents, moments = summed()
    i = int(case.rng.integers(len(contents)))
    harmed = case.chance(0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = (damaged if harmed else forged)(case, contents[i])
        found = answer(load_moment, content, case.folder)
        if isinstance(found, Refusal):
            assert isinstance(found.error, MomentFileError), found
            assert str(case.folder / "moment") in str(found.error), found
            return
        assert not harmed or found == moments[i], "another moment"
        found.save(case.folder / "again")
        assert lrnn.load_moment(case.folder / "again") == found
        if found.n_rows and found.weight:
            trained = LRNNAutoencoder(2, max_iter=3).fit(found)
            check_promises(trained, case.folder)
