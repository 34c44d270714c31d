"""Models that see x beside 1 − x, on every kind of rows: as if it had been done by hand before.

Rows go two ways. A model is given them in their own units, by the kinds of `test_grid`, and told to
scale and complement them; another has no such settings, and is given what
`functional.complement_coded` makes of scaled NumPy rows. All that they answer is the same, after
what the second gives back has become attributes in the units of the data again, by hand, too.
"""

from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lrnn import (
    LRNNAutoencoder,
    LRNNClassifier,
    Moment,
    Scaling,
    checkpoints,
    frontier,
    load,
    streaming,
)
from lrnn.arrays import backend_of
from lrnn.functional import complement_coded
from test_classifier_grid import LABELS, few, half_of, in_halves
from test_grid import (
    HERE,
    IMPLICIT,
    SENT,
    SHAPE,
    THERE,
    TOLERANCE,
    WEIGHTS,
    curve,
    fault,
    host,
    little_of_everything,  # noqa: F401
    named,
    rows_of,
    torch_tensor_on_cuda,
)

UNITS = np.array([40.0, 0.5, 1.0, 3e4, 7.0, 1e-3])  # of the columns
SETTINGS = {"max_iter": 8, "batch_size": 16, "random_state": 0}

pytestmark = [
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*output spike:UserWarning"),
    pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning"),
]


@cache
def raw_rows(dtype):
    """Rows in units of their own; levels are levels."""
    found = rows_of(dtype)
    return found if dtype == "uint8" else (found * UNITS).astype(dtype)


@cache
def scaled_rows(dtype):
    found = raw_rows(dtype)
    if dtype == "uint8":
        return found.astype(np.float32) / np.float32(255)
    return (found / found.max(axis=0)).astype(dtype)


@dataclass
class Road:
    """Rows, and models for them."""

    dtype: str
    folder: Path
    rows: Any
    settings: dict[str, Any]
    device: str | None = None

    def model(self, hidden=3, **more):
        settings = SETTINGS | self.settings | {"device": self.device} | more
        return LRNNAutoencoder(hidden, **settings)

    def classifier(self, hidden=5, **more):
        settings = SETTINGS | {"scale": None} | self.settings | {"device": self.device} | more
        return LRNNClassifier(hidden, **settings)

    @cached_property
    def trained(self):
        return self.model().fit(self.rows)

    @cached_property
    def recogniser(self):
        return self.classifier().fit(self.rows, LABELS)

    def unscaled(self, given_back):
        """What a model gives back, in the units of the data."""
        return given_back


class Told(Road):
    """The model does it."""

    @classmethod
    def of(cls, kind, dtype, device, folder):
        scale = None if dtype == "uint8" else Scaling.fit(raw_rows(dtype), "max")
        settings = {"scale": scale, "complement": True}
        return cls(dtype, folder, kind(raw_rows(dtype), folder), settings, device)


class ByHand(Road):
    """It is done before, and afterwards."""

    @classmethod
    def of(cls, dtype, folder):
        return cls(dtype, folder, complement_coded(scaled_rows(dtype)), {})

    def unscaled(self, given_back):
        pairs = host(given_back)
        found = (pairs[:, : SHAPE[1]] + 1 - pairs[:, SHAPE[1] :]) / 2
        return found if self.dtype == "uint8" else found * raw_rows(self.dtype).max(axis=0)


def relative(road, values):
    """Values in the units of the data, all of them as large; levels are given back in [0, 1]."""
    return host(values) / (1 if road.dtype == "uint8" else UNITS)


def error(road, hidden=3, **settings):
    return road.model(hidden, **settings).fit(road.rows).reconstruction_err_


def of_moment(road):
    settings = road.model()
    scale = settings.scale if isinstance(settings.scale, Scaling) else Scaling("none")
    scale = Scaling(scale.kind, scale.low, scale.span, complemented=settings.complement)
    moment = Moment.of(road.rows, WEIGHTS, scale=scale, device=road.device)
    model = LRNNAutoencoder(3, **SETTINGS).fit(moment)
    return np.r_[moment.gram.ravel(), model.reconstruction_err_]


def parts_of_stream(road):
    model = road.model().partial_fit(road.rows).partial_fit(road.rows)
    return np.r_[model.moment_.gram.ravel(), model.reconstruction_err_]


def given_back(road):
    return relative(road, road.unscaled(road.trained.reconstruct(road.rows)))


def decoded(road):
    codes = host(road.trained.transform(road.rows))
    model = road.trained
    return relative(road, road.unscaled(model.inverse_transform(codes)))


def saved(road):
    road.trained.save(road.folder / "model.safetensors")
    found = load(road.folder / "model.safetensors")
    return relative(road, road.unscaled(found.set_params(device=None).reconstruct(road.rows)))


def saved_recogniser(road):
    road.recogniser.save(road.folder / "classifier.safetensors")
    return load(road.folder / "classifier.safetensors").predict_proba(road.rows)


def written(road):
    streaming.reconstruct(road.trained, road.rows, road.folder / "back.npy")
    return relative(road, road.unscaled(np.load(road.folder / "back.npy")))


def encoded(road):
    streaming.encode(road.recogniser, road.rows, road.folder / "codes.npy")
    return np.load(road.folder / "codes.npy")


def with_checkpoints(road, times, y=None):
    path = road.folder / f"checkpoint {times} {y is None}"
    for _ in range(times):
        model = road.model() if y is None else road.classifier()
        checkpoints.fit(model, road.rows, path, y=y, every=0)
    return model.reconstruction_err_ if y is None else model.loss_


def audited(road):
    standing = road.trained.audit(road.rows).standing
    return np.log([standing.error, standing.variance, standing.bound])


def recognised(road, **settings):
    model = road.classifier(**settings).fit(road.rows, LABELS)
    return np.r_[model.loss_, host(model.predict_proba(road.rows)).ravel()]


def stream_of_labels(road):
    model = road.classifier().partial_fit(road.rows, LABELS, classes=np.unique(LABELS))
    return model.partial_fit(road.rows, LABELS).predict_proba(road.rows)


def steady(road):
    model = road.recogniser
    return model.to_network().steady_state(model.arrivals(road.rows))


def frontier_of(road):
    settings = {"penalties": 2, "passes": 1, "max_iter": 5, "random_state": 0}
    return curve(frontier(road.rows, 3, device=road.device, **settings | road.settings))


METHODS = {
    "fit": error,
    "fit: implicit": partial(error, **IMPLICIT),
    "fit: deep": partial(error, hidden=(4, 3)),
    "fit: with weights": lambda road: (
        road.model().fit(road.rows, sample_weight=WEIGHTS).reconstruction_err_
    ),
    "fit: as printed": partial(error, solver="minibatch", max_iter=3),
    "fit: unit rates": partial(error, rates="unit", max_iter=3),
    "fit: inhibition": partial(error, inhibition=True, fine_tune=3),
    "fit: masked": partial(error, corruption=("mask", 0.5)),
    "fit: moment": of_moment,
    "partial_fit": parts_of_stream,
    "transform": lambda road: road.trained.transform(road.rows),
    "transform: refined": lambda road: road.trained.transform(road.rows, refine=2),
    "fit_transform": lambda road: road.model().fit_transform(road.rows),
    "reconstruct": given_back,
    "inverse_transform": decoded,
    "score": lambda road: road.trained.score(road.rows, sample_weight=WEIGHTS),
    "audit": audited,
    "arrivals": lambda road: road.trained.arrivals(road.rows),
    "components_": lambda road: road.trained.components_,
    "save": saved,
    "streaming.reconstruct": written,
    "checkpoints": partial(with_checkpoints, times=2),
    "frontier": frontier_of,
    "classifier: fit": recognised,
    "classifier: noisy": partial(recognised, corruption=("noise", 0.1), dropout=0.2),
    "classifier: early stopping": partial(recognised, early_stopping=True, spike_penalty=0.1),
    "classifier: partial_fit": stream_of_labels,
    "classifier: transform": lambda road: road.recogniser.transform(road.rows),
    "classifier: audit": lambda road: road.recogniser.audit(road.rows, LABELS).standing.loss,
    "classifier: spikes": lambda road: np.log(road.recogniser.spikes_per_decision(road.rows)),
    "classifier: steady state": steady,
    "classifier: save": saved_recogniser,
    "classifier: checkpoints": partial(with_checkpoints, times=2, y=LABELS),
    "classifier: streaming.encode": encoded,
}

ANSWERS = {}


@pytest.fixture
def by_hand(tmp_path_factory):
    """Answers that are done by hand, each once."""

    def known(name, dtype):
        if (name, dtype) not in ANSWERS:
            road = ByHand.of(dtype, tmp_path_factory.mktemp("by hand"))
            ANSWERS[name, dtype] = host(METHODS[name](road))
        return ANSWERS[name, dtype]

    return known


def check(road, by_hand, methods=METHODS):
    faults = {}
    for name, method in methods.items():
        if (wrong := fault(method, road, by_hand(name, road.dtype))) is not None:
            faults[name] = wrong
    listed = "\n".join(f"  {name}: {wrong}" for name, wrong in faults.items())
    assert not faults, f"{len(faults)} of {len(methods)} methods fail:\n{listed}"


@pytest.mark.parametrize(("kind", "dtype", "half"), list(in_halves(HERE)), ids=named)
def test_every_method(kind, dtype, half, tmp_path, by_hand):
    check(Told.of(kind, dtype, None, tmp_path), by_hand, half_of(METHODS, half))


@pytest.mark.parametrize(("kind", "dtype"), few(SENT, 30), ids=named)
def test_every_method_on_a_device(kind, dtype, tmp_path, by_hand, monkeypatch):
    """PyTorch's CPU stands for a GPU."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    device = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: device)
    check(Told.of(kind, dtype, "cuda", tmp_path), by_hand)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), few(SENT, 8), ids=named)
def test_every_method_on_a_gpu(kind, dtype, tmp_path, by_hand):
    torch_tensor_on_cuda(rows_of(dtype), tmp_path)  # or it is skipped
    check(Told.of(kind, dtype, "cuda", tmp_path), by_hand)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), THERE, ids=named)
def test_every_method_on_arrays_of_a_gpu(kind, dtype, tmp_path, by_hand):
    check(Told.of(kind, dtype, None, tmp_path), by_hand)


def test_the_roads_are_two():
    """What is compared is not the same to begin with, nor trivial."""
    assert TOLERANCE["float64"] < 1e-5
    assert complement_coded(scaled_rows("float64")).shape == (SHAPE[0], 2 * SHAPE[1])
    assert raw_rows("float64").max() > 1e4
