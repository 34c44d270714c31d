"""Every public method of the classifier on every kind of rows, as `test_grid` does it.

Kinds, types and devices are those of that grid; what NumPy rows give is the right answer.
"""

import copy
import inspect
import pickle
from functools import cache, cached_property, partial

import numpy as np
import pytest

from lrnn import LRNNAutoencoder, LRNNClassifier, checkpoints, load, streaming
from lrnn.arrays import backend_of
from test_grid import (
    HERE,
    HERE_QUICKLY,
    SENT,
    SHAPE,
    THERE,
    WEIGHTS,
    Case,
    check,
    host,
    little_of_everything,  # noqa: F401
    named,
    numpy_by_rows,
    rows_in,
    rows_of,
    torch_tensor_on_cuda,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*output spike:UserWarning"),
    pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning"),  # in four
]

LABELS = np.digitize(rows_of("float64").sum(axis=1), [2.2, 2.8]) * 3 - 2
SETTINGS = {"max_iter": 4, "batch_size": 16, "random_state": 0}


class ClassifierCase(Case):
    """Rows of one kind, and classifiers of them."""

    def model(self, hidden=5, **settings):
        return LRNNClassifier(hidden, device=self.device, **SETTINGS | settings)

    @cached_property
    def trained(self):
        """A model of these rows, which no method changes."""
        return self.model().fit(self.rows, LABELS)

    def reference(self):
        """A model of NumPy rows, on the device of this case."""
        return copy.deepcopy(reference(self.dtype)).set_params(device=self.device)


@cache
def reference(dtype):
    return LRNNClassifier(5, **SETTINGS).fit(rows_of(dtype), LABELS)


@cache
def encoder(dtype):
    return LRNNAutoencoder(3, max_iter=10, random_state=0).fit(rows_of(dtype))


def after_fit(case, hidden=5, sample_weight=None, **settings):
    """What a model is after training."""
    model = case.model(hidden, **settings).fit(case.rows, LABELS, sample_weight=sample_weight)
    probabilities = model.set_params(device=None).predict_proba(rows_of(case.dtype))
    return np.r_[model.loss_, host(probabilities).ravel()]


def pretrained(case, freeze):
    return after_fit(case, pretrain=encoder(case.dtype), freeze=freeze)


def part_by_part(case, rows=None):
    model = case.model().partial_fit(case.rows, LABELS, classes=np.unique(LABELS))
    return model.partial_fit(case.rows if rows is None else rows, LABELS).loss_


def audited(case):
    found = case.reference().audit(case.rows, LABELS)
    standing = found.standing
    return [standing.accuracy, standing.loss, standing.entropy, found.layers[1].saturated]


def saved_and_loaded(case):
    case.trained.save(case.folder / "model.safetensors")
    return load(case.folder / "model.safetensors").predict_proba(rows_of(case.dtype))


def with_checkpoints(case, times=1):
    path = case.folder / f"checkpoint {times}"
    for _ in range(times):
        model = checkpoints.fit(case.model(), case.rows, path, y=LABELS, every=0)
    return model.loss_


def encoded(case):
    streaming.encode(case.reference(), case.rows, case.folder / "written.npy")
    return np.load(case.folder / "written.npy")


def as_torch(case):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    module = case.trained.to_torch()
    values = rows_of(case.dtype) / (255 if case.dtype == "uint8" else 1)
    return module(torch.tensor(values, dtype=next(module.parameters()).dtype))


def steady_state(case):
    model = case.trained
    return model.to_network().steady_state(model.arrivals(rows_of(case.dtype)))


METHODS = {
    "fit": after_fit,
    "fit: deep": partial(after_fit, hidden=(5, 4)),
    "fit: excitatory": partial(after_fit, inhibition=False),
    "fit: with weights": partial(after_fit, sample_weight=WEIGHTS + 0.5),
    "fit: balanced": partial(after_fit, class_weight="balanced"),
    "fit: dear spikes": partial(after_fit, spike_penalty=0.1),
    "fit: early stopping": partial(after_fit, early_stopping=True),
    "fit: masked": partial(after_fit, corruption=("mask", 0.3)),
    "fit: silenced neurons": partial(after_fit, dropout=0.3),
    "fit: pretrained": partial(pretrained, freeze=False),
    "fit: frozen": partial(pretrained, freeze=True),
    "fit_transform": lambda case: case.model().fit_transform(case.rows, LABELS),
    "partial_fit": part_by_part,
    "partial_fit: another type": lambda case: part_by_part(case, case.rows_of_another_type),
    "live": lambda case: rows_in(case.reference().live(case.rows, rows=5)),
    "predict": lambda case: case.reference().predict(case.rows),
    "predict_proba": lambda case: case.reference().predict_proba(case.rows),
    "predict_proba: of its own rows": lambda case: case.trained.predict_proba(case.rows),
    "predict_proba: other type": lambda case: case.reference().predict_proba(
        case.rows_of_another_type
    ),
    "predict_log_proba": lambda case: case.reference().predict_log_proba(case.rows),
    "score": lambda case: case.reference().score(case.rows, LABELS),
    "score: with weights": lambda case: case.reference().score(case.rows, LABELS, WEIGHTS),
    "transform": lambda case: case.reference().transform(case.rows),
    "transform: to pandas": lambda case: (
        case.reference().set_output(transform="pandas").transform(case.rows)
    ),
    "spikes_per_decision": lambda case: np.log(case.reference().spikes_per_decision(case.rows)),
    "audit": audited,
    "arrivals": lambda case: case.reference().arrivals(case.rows),
    "to_network": lambda case: np.log(case.trained.to_network().rates + 1),
    "to_network: steady state": steady_state,
    "save": saved_and_loaded,
    "pickle": lambda case: pickle.loads(pickle.dumps(case.trained)).predict_proba(
        rows_of(case.dtype)
    ),
    "to_torch": as_torch,
    "checkpoints.fit": with_checkpoints,
    "checkpoints.fit: resumed": partial(with_checkpoints, times=2),
    "streaming.encode": encoded,
}

ANSWERS = {}


@pytest.fixture
def answer(tmp_path_factory):
    """NumPy's answers on the host, each computed once."""

    def known(name, dtype):
        if (name, dtype) not in ANSWERS:
            folder = tmp_path_factory.mktemp("answers")
            ANSWERS[name, dtype] = host(
                METHODS[name](ClassifierCase(numpy_by_rows, dtype, None, folder))
            )
        return ANSWERS[name, dtype]

    return known


def in_halves(cells):
    """Cells, each with every other method. Of each kind of rows one type and one half are quick.

    Kinds stand in pairs that are the same rows to all methods (by rows and by columns, array and
    matrix, path and array), and of a pair each meets the half that the other does not. A kind
    that stands alone meets both.
    """
    kinds = list(HERE_QUICKLY)
    alone = kinds[-1] if len(kinds) % 2 else None
    for kind, dtype in cells:
        for half in (0, 1):
            met = kind is alone or kinds.index(kind) % 2 == half
            quick = met and HERE_QUICKLY[kind] == dtype
            yield pytest.param(kind, dtype, half, marks=() if quick else pytest.mark.slow)


def half_of(methods, half):
    return dict(list(methods.items())[half::2])


def few(cells, every):
    """All but some of the cells are slow."""
    return [
        pytest.param(*cell, marks=() if number % every == 0 else pytest.mark.slow)
        for number, cell in enumerate(cells)
    ]


@pytest.mark.parametrize(("kind", "dtype", "half"), list(in_halves(HERE)), ids=named)
def test_every_method(kind, dtype, half, tmp_path, answer):
    check(ClassifierCase(kind, dtype, None, tmp_path), answer, half_of(METHODS, half))


@pytest.mark.parametrize(("kind", "dtype"), few(SENT, 20), ids=named)
def test_every_method_on_a_device(kind, dtype, tmp_path, answer, monkeypatch):
    """PyTorch's CPU stands for a GPU."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    device = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: device)
    check(ClassifierCase(kind, dtype, "cuda", tmp_path), answer, METHODS)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), few(SENT, 4), ids=named)
def test_every_method_on_a_gpu(kind, dtype, tmp_path, answer):
    torch_tensor_on_cuda(rows_of(dtype), tmp_path)  # or it is skipped
    check(ClassifierCase(kind, dtype, "cuda", tmp_path), answer, METHODS)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), THERE, ids=named)
def test_every_method_on_arrays_of_a_gpu(kind, dtype, tmp_path, answer):
    check(ClassifierCase(kind, dtype, None, tmp_path), answer, METHODS)


def test_the_grid_is_whole():
    """No public method is left out, and there are rows of each class."""
    methods = {
        name for name, member in inspect.getmembers(LRNNClassifier)
        if not name.startswith("_") and getattr(member, "__module__", "").startswith("lrnn")
    }  # fmt: skip
    simulated = {"decide"}  # see test_decisions
    assert methods - {name.partition(":")[0] for name in METHODS} == simulated
    assert len(HERE) * len(METHODS) == 3_815
    assert np.unique(LABELS, return_counts=True)[1].min() > SHAPE[0] / 8
