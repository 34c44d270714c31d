"""Every public method of the outlier detector on every kind of rows, as `test_grid` does it.

Kinds, types and devices are those of that grid; what NumPy rows give is the right answer. Rows are
in [0, 1], and taken as they are: sparse ones would have another scale than full ones.
"""

import copy
import inspect
import pickle
from functools import cache, cached_property, partial

import numpy as np
import pytest

from lrnn import LRNNOutlierDetector, load
from lrnn.arrays import backend_of
from test_classifier_grid import few, half_of, in_halves
from test_grid import (
    HERE,
    SENT,
    THERE,
    WEIGHTS,
    Case,
    check,
    host,
    little_of_everything,  # noqa: F401
    named,
    numpy_by_rows,
    rows_of,
    torch_tensor_on_cuda,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning"),
    pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning"),
]

SETTINGS = {"max_iter": 10, "scale": None, "random_state": 0}


class DetectorCase(Case):
    """Rows of one kind, and detectors of them."""

    def model(self, hidden=3, **settings):
        return LRNNOutlierDetector(hidden, device=self.device, **SETTINGS | settings)

    @cached_property
    def trained(self):
        """A model of these rows, which no method changes."""
        return self.model().fit(self.rows)

    def reference(self):
        """A model of NumPy rows, on the device of this case."""
        return copy.deepcopy(reference(self.dtype)).set_params(device=self.device)


@cache
def reference(dtype):
    return LRNNOutlierDetector(3, **SETTINGS).fit(rows_of(dtype))


def after_fit(case, hidden=3, sample_weight=None, **settings):
    """What a model is after training."""
    model = case.model(hidden, **settings).fit(case.rows, sample_weight=sample_weight)
    scores = model.set_params(device=None).score_samples(rows_of(case.dtype))
    return np.r_[model.offset_, model.held_out_scores_, scores]


def part_by_part(case, rows=None):
    model = case.model().partial_fit(case.rows)
    return model.partial_fit(case.rows if rows is None else rows).held_out_scores_


def saved_and_loaded(case):
    case.trained.save(case.folder / "model.safetensors")
    return load(case.folder / "model.safetensors").score_samples(rows_of(case.dtype))


def steady_state(case):
    model = case.trained
    return model.to_network().steady_state(model.arrivals(rows_of(case.dtype)))


METHODS = {
    "fit": after_fit,
    "fit: chosen width": partial(after_fit, hidden=None),
    "fit: deep": partial(after_fit, hidden=(4, 2)),
    "fit: without complements": partial(after_fit, complement=False),
    "fit: the network alone": partial(after_fit, n_typical=0),
    "fit: contaminated": partial(after_fit, contamination=0.1),
    "fit: with weights": partial(after_fit, sample_weight=WEIGHTS + 0.5),
    "partial_fit": part_by_part,
    "partial_fit: another type": lambda case: part_by_part(case, case.rows_of_another_type),
    "score_samples": lambda case: case.reference().score_samples(case.rows),
    "score_samples: other type": lambda case: case.reference().score_samples(
        case.rows_of_another_type
    ),
    "decision_function": lambda case: case.trained.decision_function(case.rows),
    "predict": lambda case: case.reference().predict(case.rows),
    "p_values": lambda case: case.reference().p_values(case.rows),
    "explain": lambda case: case.reference().explain(case.rows).contributions,
    "audit": lambda case: case.reference().audit(case.rows).standing.error,
    "arrivals": lambda case: case.reference().arrivals(case.rows),
    "to_network": lambda case: np.log(case.trained.to_network().rates + 1),
    "to_network: steady state": steady_state,
    "save": saved_and_loaded,
    "pickle": lambda case: pickle.loads(pickle.dumps(case.trained)).score_samples(
        rows_of(case.dtype)
    ),
}

ANSWERS = {}


@pytest.fixture
def answer(tmp_path_factory):
    """NumPy's answers on the host, each computed once."""

    def known(name, dtype):
        if (name, dtype) not in ANSWERS:
            folder = tmp_path_factory.mktemp("answers")
            ANSWERS[name, dtype] = host(
                METHODS[name](DetectorCase(numpy_by_rows, dtype, None, folder))
            )
        return ANSWERS[name, dtype]

    return known


@pytest.mark.parametrize(("kind", "dtype", "half"), list(in_halves(HERE)), ids=named)
def test_every_method(kind, dtype, half, tmp_path, answer):
    check(DetectorCase(kind, dtype, None, tmp_path), answer, half_of(METHODS, half))


@pytest.mark.parametrize(("kind", "dtype"), few(SENT, 20), ids=named)
def test_every_method_on_a_device(kind, dtype, tmp_path, answer, monkeypatch):
    """PyTorch's CPU stands for a GPU."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    device = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: device)
    check(DetectorCase(kind, dtype, "cuda", tmp_path), answer, METHODS)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), few(SENT, 4), ids=named)
def test_every_method_on_a_gpu(kind, dtype, tmp_path, answer):
    torch_tensor_on_cuda(rows_of(dtype), tmp_path)  # or it is skipped
    check(DetectorCase(kind, dtype, "cuda", tmp_path), answer, METHODS)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), THERE, ids=named)
def test_every_method_on_arrays_of_a_gpu(kind, dtype, tmp_path, answer):
    check(DetectorCase(kind, dtype, None, tmp_path), answer, METHODS)


def test_the_grid_is_whole():
    """No public method is left out."""
    methods = {
        name for name, member in inspect.getmembers(LRNNOutlierDetector)
        if not name.startswith("_") and getattr(member, "__module__", "").startswith("lrnn")
    }  # fmt: skip
    assert methods == {name.partition(":")[0] for name in METHODS} - {"pickle"}
