"""A classifier's training that is killed and resumed gives what an undisturbed one would have."""

import signal

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from lrnn import LRNNAutoencoder, LRNNClassifier, checkpoints
from lrnn.storage.checkpoints import CheckpointError, fit
from lrnn.storage.codec import read_tensors
from naming import naming
from storage.test_checkpoints import Killed, kill_after

ROWS = 300
WAYS = {
    "plain": {},
    "excitatory": {"inhibition": False},
    "dear spikes": {"spike_penalty": 0.05},
    "corrupted, smoothed, balanced": {
        "corruption": ("mask", 0.2), "label_smoothing": 0.1, "class_weight": "balanced",
    },
    "silenced neurons": {"dropout": 0.3},
    "early stopping": {"early_stopping": True, "max_iter": 12},
    "after an encoder": {"pretrain": "encoder"},
    "behind a frozen encoder": {"pretrain": "encoder", "freeze": True, "hidden_layer_sizes": ()},
}  # fmt: skip


@pytest.fixture(scope="module")
def labels():
    return load_digits().target[:ROWS]


@pytest.fixture(scope="module")
def encoder(digits):
    return LRNNAutoencoder(8, random_state=0).fit(digits[:ROWS])


def make(way, encoder=None, **more):
    settings = {"hidden_layer_sizes": (9,), "max_iter": 6, "random_state": 3, "batch_size": 60}
    found = settings | WAYS[way] | more
    return LRNNClassifier(**found | ({"pretrain": encoder} if "pretrain" in found else {}))


def assert_same(one, other):
    for ours, theirs in zip(one.weights_.excitatory, other.weights_.excitatory, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for a, b in zip(one.weights_.inhibitory or (), other.weights_.inhibitory or (), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (one.loss_, one.n_iter_) == (other.loss_, other.n_iter_)
    np.testing.assert_array_equal(one.layer_spike_costs_, other.layer_spike_costs_)
    np.testing.assert_array_equal(one.classes_, other.classes_)
    for a, b in zip(one.history_, other.history_, strict=True):
        assert (a.passes, a.stopped) == (b.passes, b.stopped)
        for name in ("batch_errors", "iterations", "errors"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def killed_until_it_ends(monkeypatch, train):
    """Train again and again, and die after some checkpoints each time."""
    deaths = 0
    while True:
        with monkeypatch.context() as patch:
            kill_after(patch, 1 + deaths % 2)
            try:
                return train(), deaths
            except Killed:
                deaths += 1


@pytest.mark.parametrize("way", WAYS)
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(
    way, digits, labels, encoder, tmp_path, monkeypatch
):
    X = digits[:ROWS]
    undisturbed = make(way, encoder).fit(X, labels)

    def train():
        return fit(make(way, encoder), X, tmp_path / "c", y=labels, every=0)

    model, deaths = killed_until_it_ends(monkeypatch, train)
    assert deaths > 1
    assert_same(undisturbed, model)


def kinds(digits, tmp_path):
    np.save(tmp_path / "rows.npy", digits)
    yield "single precision", digits.astype(np.float32)
    yield "sparse", csr_array(digits)
    yield "levels", (255 * digits).astype(np.uint8)
    yield "file", tmp_path / "rows.npy"
    yield "raw", 7 * digits - 2


def test_kinds_of_rows(digits, labels, tmp_path, monkeypatch):
    for name, X in kinds(digits[:ROWS], tmp_path):
        undisturbed = make("plain").fit(X, labels)

        def train(X=X, name=name):
            return fit(make("plain"), X, tmp_path / name, y=labels, every=0)

        assert_same(undisturbed, killed_until_it_ends(monkeypatch, train)[0])


def test_weights_of_rows_are_gone_on_with(digits, labels, tmp_path, monkeypatch):
    X, heavy = 3 * digits[:ROWS], np.arange(ROWS) % 3  # some rows weigh nothing, nor do they scale

    def train(**more):
        return fit(make("plain"), X, tmp_path / "c", y=labels, sample_weight=heavy, every=0, **more)

    model, deaths = killed_until_it_ends(monkeypatch, train)
    assert deaths
    assert_same(make("plain").fit(X, labels, sample_weight=heavy), model)
    with pytest.raises(CheckpointError, match=naming(tmp_path / "c")):
        fit(make("plain"), X, tmp_path / "c", y=labels)


def test_weights_of_rows_of_an_autoencoder(digits, tmp_path):
    X, heavy = digits[:ROWS], np.arange(ROWS) % 3
    model = LRNNAutoencoder(5, random_state=0)
    found = fit(model, X, tmp_path / "c", sample_weight=heavy, every=0)
    expected = LRNNAutoencoder(5, random_state=0).fit(X, sample_weight=heavy)
    np.testing.assert_array_equal(found.encoders_[0], expected.encoders_[0])
    with pytest.raises(CheckpointError, match=naming(tmp_path / "c", "data")):
        fit(model, X, tmp_path / "c", every=0)
    with pytest.raises(ValueError, match=naming("sample_weight", "fine_tune")):
        fit(LRNNAutoencoder(5, fine_tune=1), X, tmp_path / "d", sample_weight=heavy)
    with pytest.raises(ValueError, match=naming("y", "classifier")):
        fit(model, X, tmp_path / "d", y=heavy)


@pytest.mark.parametrize("given", [None, "a generator"])
def test_rows_that_chance_has_held_out_stay_so(digits, labels, tmp_path, monkeypatch, given):
    """Without a number for ``random_state`` others would be drawn, and the training be refused."""

    def models():
        for number in range(2):
            random = given and np.random.RandomState(number)
            how = {"early_stopping": True, "random_state": random}
            yield make("plain", **how), {"y": labels}
            inhibiting = {"inhibition": True, "fine_tune": 6, "max_iter": 5, "batch_size": 60}
            yield LRNNAutoencoder(4, **how, **inhibiting), {}

    X, *every = digits[:ROWS], *models()
    for first, second in zip(every[:2], every[2:], strict=True):
        path = tmp_path / type(first[0]).__name__
        with monkeypatch.context() as patch:
            kill_after(patch, 8 if first[1] == {} else 3)
            with pytest.raises(Killed):
                fit(first[0], X, path, every=0, **first[1])
        model, more = second
        before = model.random_state
        fit(model, X, path, every=0, **more)
        assert model.random_state is before
        seed = read_tensors(path, lambda document: None)[0]["facts"]["random_state"]
        undisturbed = clone(model).set_params(random_state=seed).fit(X, **more)
        for ours, theirs in zip(model.weights_.layers, undisturbed.weights_.layers, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.fixture
def begun(digits, labels, encoder, tmp_path, monkeypatch):
    """The checkpoint of a training that was killed."""
    model = make("after an encoder", encoder)
    with monkeypatch.context() as patch:
        kill_after(patch, 2)
        with pytest.raises(Killed):
            fit(model, digits[:ROWS], tmp_path / "c", y=labels, every=0)
    return tmp_path / "c"


def test_what_is_not_the_same_training_is_refused(digits, labels, encoder, begun):
    X = digits[:ROWS]

    def refused(*named, model=None, X=X, y=labels):
        with pytest.raises(CheckpointError, match=naming(begun, *named)):
            fit(model or make("after an encoder", encoder), X, begun, y=y)

    other = labels.copy()
    other[7] = (other[7] + 1) % 10
    refused("labels", y=other)
    refused("labels", y=labels + 10)
    refused("data", X=np.clip(X + 1e-3, 0, 1))
    smoothed = make("after an encoder", encoder, label_smoothing=0.1)
    refused("label_smoothing", 0.0, 0.1, model=smoothed)
    refused("pretrain", model=make("plain"))
    changed = LRNNAutoencoder(8, random_state=0, max_iter=3).fit(X)
    refused("pretrain", model=make("after an encoder", changed))
    weighing = {i: 1.0 + (i == 3) for i in range(10)}
    refused("labels", model=make("after an encoder", encoder, class_weight=weighing))
    with pytest.raises(CheckpointError, match=naming(begun, "model", "LRNNClassifier")):
        fit(LRNNAutoencoder(9, random_state=3), X, begun)
    same = make("after an encoder", FrozenEstimator(encoder))
    assert_same(make("after an encoder", encoder).fit(X, labels), fit(same, X, begun, y=labels))


def test_a_checkpoint_of_an_autoencoder_is_refused(digits, labels, tmp_path):
    fit(LRNNAutoencoder(5, random_state=0), digits[:ROWS], tmp_path / "c", every=0)
    with pytest.raises(CheckpointError, match=naming("model", "LRNNAutoencoder")):
        fit(make("plain"), digits[:ROWS], tmp_path / "c", y=labels)


@pytest.mark.filterwarnings("ignore:training was interrupted")
def test_ctrl_c_loses_nothing(digits, labels, tmp_path, monkeypatch):
    """Pressed in the midst of a pass; the rest of it is made again, from its beginning."""
    X, left = digits[:ROWS], iter(range(17))
    real = checkpoints.Labels.targets

    def pressed(self, rows):
        if next(left, None) is None and not isinstance(rows, slice):
            signal.raise_signal(signal.SIGINT)
        return real(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Labels, "targets", pressed)
        model = fit(make("plain"), X, tmp_path / "c", y=labels, every=3600)
    assert model.history_[-1].stopped == "interrupted"
    assert 0 < model.n_iter_ < 6
    assert model.predict(X).shape == (ROWS,)
    resumed = fit(make("plain"), X, tmp_path / "c", y=labels)
    assert resumed.history_[-1].stopped == "max_iter"
    assert_same(make("plain").fit(X, labels), resumed)
