"""The classifier: what it learns, what it is as a network, and what it refuses."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, RandomNeuralNetwork, Scaling
from lrnn.storage.model_files import ModelFileError, load_autoencoder
from naming import naming

QUICK = {"hidden_layer_sizes": (20,), "max_iter": 8, "random_state": 0}


@pytest.fixture(scope="module")
def labels():
    return load_digits().target


@pytest.fixture(scope="module")
def model(digits, labels):
    return LRNNClassifier(**QUICK).fit(digits[:1000], labels[:1000])


# What it learns


def test_it_recognises_digits(digits, labels):
    model = LRNNClassifier(100, max_iter=20, random_state=0).fit(digits[:1200], labels[:1200])
    assert model.score(digits[1200:], labels[1200:]) > 0.87
    assert model.score(digits[:1200], labels[:1200]) > 0.97
    curve = model.history_[0]
    assert curve.errors[-1] < 0.2 * curve.errors[0]
    assert model.loss_ == pytest.approx(curve.lowest, rel=1e-9)
    assert model.n_iter_ == curve.passes == 20


def test_probabilities_are_shares_of_what_the_outputs_fire(digits, model):
    network = model.to_network()
    q = network.split(network.steady_state(model.arrivals(digits[:20])))
    found = model.predict_proba(digits[:20])
    np.testing.assert_allclose(found, q[-1] / q[-1].sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.transform(digits[:20]), q[1], rtol=1e-9)
    np.testing.assert_array_equal(model.predict(digits[:20]), found.argmax(axis=1))
    np.testing.assert_allclose(model.predict_log_proba(digits[:20]), np.log(found))


@pytest.mark.parametrize(
    "settings",
    [{}, {"inhibition": False}, {"spike_penalty": 0.1}, {"hidden_layer_sizes": (12, 8)}],
    ids=str,
)
def test_every_network_is_valid_and_has_the_activations_of_the_forward_pass(
    digits, labels, settings
):
    model = LRNNClassifier(**QUICK | {"max_iter": 3} | settings).fit(digits[:300], labels[:300])
    for matrices in (model.weights_.excitatory, model.weights_.inhibitory or ()):
        assert all((matrix >= 0).all() for matrix in matrices)
    assert (model.weights_.inhibitory is None) == (settings.get("inhibition") is False)
    network = model.to_network(least_rate=0)
    assert isinstance(network, RandomNeuralNetwork)
    assert network.routed.max() <= 1 + 1e-12
    q = network.steady_state(model.arrivals(digits[:10], network))
    np.testing.assert_allclose(network.split(q)[-2], model.transform(digits[:10]), rtol=1e-8)
    outputs = network.split(q)[-1]
    expected = outputs / outputs.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(digits[:10]), expected, rtol=1e-8)


def test_where_nothing_fires_all_classes_are_equal(model):
    found = model.predict_proba(np.zeros((2, 64)))
    np.testing.assert_array_equal(found, 0.1)


@pytest.mark.parametrize(
    "names",
    [
        np.array(["zero", "one", "two", "three"]),
        np.array(["b", "ä", "", "c c"], dtype=object),
        np.array([-7, 3, 1000, 4]),
        np.array([0.5, 2.0, -1.0, 3.0]) * 2,
    ],
    ids=["text", "objects", "integers", "floats"],
)
def test_labels_are_of_any_kind(digits, labels, names, tmp_path):
    some = labels < 4
    X, y = digits[some][:200], names[labels[some][:200]]
    model = LRNNClassifier(**QUICK).fit(X, y)
    assert set(model.predict(X)) <= set(names)
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    model.save(tmp_path / "m.safetensors")
    again = lrnn.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.classes_, model.classes_)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("settings", [{}, {"spike_penalty": 0.05}, {"inhibition": False}])
def test_dim_data_are_learnt_as_bright_ones(digits, labels, settings):
    quick = {"hidden_layer_sizes": 20, "max_iter": 3, "random_state": 0, "scale": "none"}
    for kind in (np.asarray, sparse.csr_array):
        bright, dim = (
            LRNNClassifier(**quick, **settings)
            .fit(kind(digits[:200] * light), labels[:200])
            .predict_proba(kind(digits * light))
            for light in (1.0, 2.0**-20)
        )
        np.testing.assert_allclose(dim, bright, rtol=1e-9)


def test_two_classes_have_two_neurons_and_one_has_one(digits, labels):
    two = LRNNClassifier(**QUICK).fit(digits[:200], labels[:200] > 4)
    assert two.weights_.sizes == (64, 20, 2)
    assert two.classes_.dtype == bool
    one = LRNNClassifier(**QUICK).fit(digits[:20], np.full(20, "a"))
    assert one.weights_.sizes == (64, 20, 1)
    assert set(one.predict(digits[:5])) == {"a"}
    np.testing.assert_array_equal(one.predict_proba(digits[:5]), 1)


# Weights of rows and classes


def test_a_weight_counts_a_row_so_often(digits, labels):
    """With one batch for all rows, but for rounding."""
    rng = np.random.default_rng(0)
    X, y, often = digits[:60], labels[:60], rng.integers(0, 3, 60)
    settings = QUICK | {"batch_size": 1000}
    heavy = LRNNClassifier(**settings).fit(X, y, sample_weight=often)
    long = LRNNClassifier(**settings).fit(X.repeat(often, axis=0), y.repeat(often))
    np.testing.assert_allclose(heavy.predict_proba(X), long.predict_proba(X), rtol=1e-7)
    assert heavy.loss_ == pytest.approx(long.loss_, rel=1e-9)
    assert heavy.spike_cost_ == pytest.approx(long.spike_cost_, rel=1e-7)


def test_classes_weigh_what_is_said_of_them(digits, labels):
    X, y = digits[:300], labels[:300]
    each = {label: 0.5 + label for label in range(10)}
    by_class = LRNNClassifier(**QUICK, class_weight=each).fit(X, y)
    by_row = LRNNClassifier(**QUICK).fit(X, y, sample_weight=0.5 + y)
    np.testing.assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-6)
    rare = np.flatnonzero((y == 1) | ((y == 8) & (np.arange(300) < 40)))
    X, y = X[rare], y[rare]
    few = LRNNClassifier(**QUICK, class_weight="balanced").fit(X, y)
    counts = np.bincount(y)
    plain = LRNNClassifier(**QUICK).fit(X, y, sample_weight=1 / counts[y])
    np.testing.assert_allclose(few.predict_proba(X), plain.predict_proba(X), rtol=1e-6)


# Streams, held-out rows, corruption


def test_weights_of_classes_are_numbers(digits, labels):
    X, y = digits[:100], labels[:100]
    for wrong in (-1.0, np.nan, np.inf):
        weights = dict.fromkeys(range(10), 1.0) | {3: wrong}
        with pytest.raises(ValueError, match=naming("class_weight", f"{wrong:g}", 3)):
            LRNNClassifier(**QUICK, class_weight=weights).fit(X, y)
    with pytest.raises(ValueError, match=naming("class_weight", "sample_weight", 0)):
        LRNNClassifier(**QUICK, class_weight=dict.fromkeys(range(10), 0)).fit(X, y)


def test_what_keeps_it_from_learning_is_reported(digits, labels):
    few = digits[:10], np.arange(10)
    with pytest.warns(UserWarning, match=naming("early_stopping=True")):
        LRNNClassifier(**QUICK, early_stopping=True).fit(*few)
    noisy = LRNNClassifier(**QUICK, corruption=("noise", 0.2), scale="none")
    with pytest.warns(UserWarning, match=naming("corruption", 0.2, 0.001, "scale='max'")):
        noisy.fit(digits[:100] / 1000, labels[:100])
    with pytest.warns(UserWarning, match=naming("1e-09", "scale='max'")):
        LRNNClassifier(**QUICK).fit(digits[:100] * 1e-9, labels[:100])
    bright = LRNNClassifier(**QUICK).fit(digits[:100], labels[:100])
    dim = LRNNClassifier(**QUICK, scale="max").fit(digits[:100] * 1e-9, labels[:100])
    assert (
        dim.score(digits[:100] * 1e-9, labels[:100])
        > bright.score(digits[:100], labels[:100]) - 0.1
    )


def test_it_learns_from_a_stream(digits, labels):
    model = LRNNClassifier(60, batch_size=50, random_state=0)
    for first in range(0, 1500, 250):
        part = slice(first, first + 250)
        model.partial_fit(digits[part], labels[part], classes=np.arange(10))
    for _ in range(4):
        model.partial_fit(digits[:1500], labels[:1500])
    assert model.score(digits[1500:], labels[1500:]) > 0.8
    assert model.n_iter_ == len(model.history_) == 10


def test_what_a_stream_needs_is_asked_for(digits, labels):
    X, y = digits[:50], labels[:50]
    with pytest.raises(ValueError, match=naming("classes", "partial_fit", "np.unique")):
        LRNNClassifier(**QUICK).partial_fit(X, y)
    model = LRNNClassifier(**QUICK).partial_fit(X, y, classes=range(10))
    with pytest.raises(ValueError, match=naming("classes=range(0, 11)", "partial_fit")):
        model.partial_fit(X, y, classes=range(11))
    with pytest.raises(ValueError, match=naming("y", 12, "row 0", "partial_fit")):
        model.partial_fit(X, y + 12)
    with pytest.raises(ValueError, match=naming("class_weight='balanced'", "partial_fit")):
        LRNNClassifier(**QUICK, class_weight="balanced").partial_fit(X, y, classes=range(10))
    with pytest.raises(ValueError, match=naming("scale='minmax'", "lrnn.Scaling.fit")):
        LRNNClassifier(**QUICK, scale="minmax").partial_fit(X, y, classes=range(10))


def test_rows_of_each_class_are_held_out(digits, labels):
    from lrnn.training.recognition import split

    out, rest = split(labels, 0.1, np.random.RandomState(0))
    assert sorted([*out, *rest]) == list(range(len(labels)))
    assert abs(np.bincount(labels[out]) - 0.1 * np.bincount(labels)).max() <= 1
    model = LRNNClassifier(30, early_stopping=True, validation_fraction=0.2, random_state=0)
    model.set_params(max_iter=200).fit(digits[:400], labels[:400])
    assert model.history_[0].stopped == "tol"
    assert model.n_iter_ < 200
    with pytest.raises(ValueError, match=naming("validation_fraction=0.9", "n_samples=2")):
        model.set_params(validation_fraction=0.9).fit(digits[:2], labels[:2])


def test_masked_cells_regularise(digits, labels):
    masked = LRNNClassifier(**QUICK, corruption=("mask", 0.2)).fit(digits[:500], labels[:500])
    plain = LRNNClassifier(**QUICK).fit(digits[:500], labels[:500])
    assert masked.loss_ > plain.loss_  # of the rows as they are
    assert masked.score(digits[500:], labels[500:]) > 0.6


def test_steps_are_on_roots_or_on_logarithms(digits, labels):
    X, y, quick = digits[:400], labels[:400], {"max_iter": 20, "tol": 0, "random_state": 0}

    def outputs(**settings):
        return LRNNClassifier(50, **quick, **settings).fit(X, y).predict_proba(digits)

    on_roots, on_logarithms = (outputs(steps=steps) for steps in ("roots", "logarithms"))
    assert not np.allclose(on_roots, on_logarithms, atol=0.01)
    np.testing.assert_array_equal(outputs(), on_roots)
    for settings in ({"spike_penalty": 0.05}, {"corruption": ("noise", 0.1)}):
        own = outputs(**settings)
        np.testing.assert_array_equal(outputs(steps="logarithms", **settings), own)
        assert not np.allclose(outputs(steps="roots", **settings), own, atol=0.01)
    spikes = [
        LRNNClassifier(50, **quick | {"max_iter": 100}, steps=steps)
        .fit(X, y)
        .spikes_per_decision(X)
        for steps in ("roots", "logarithms")
    ]
    assert spikes[0] < spikes[1] / 10


def test_silent_neurons_regularise(digits, labels):
    """Neurons that may be missing are not relied on: fewer rows are known by heart."""
    X, y = digits[:300], labels[:300]
    settings = {"max_iter": 100, "tol": 0, "random_state": 0}
    plain = LRNNClassifier(200, **settings).fit(X, y)
    tough, again = (LRNNClassifier(200, dropout=0.6, **settings).fit(X, y) for _ in range(2))
    assert tough.loss_ > 1.2 * plain.loss_
    assert tough.score(digits[1000:], labels[1000:]) > plain.score(digits[1000:], labels[1000:])
    np.testing.assert_array_equal(again.predict_proba(digits), tough.predict_proba(digits))


def test_smoothed_labels_keep_it_from_being_sure(digits, labels):
    X, y, settings = digits[:300], labels[:300], QUICK | {"max_iter": 40}
    sharp = LRNNClassifier(**settings).fit(X, y)
    smooth = LRNNClassifier(**settings, label_smoothing=0.2).fit(X, y)
    assert smooth.predict_proba(X).max() < 0.95 < sharp.predict_proba(X).max()
    own = np.log(smooth.predict_proba(X)[np.arange(300), y])
    assert smooth.loss_ == pytest.approx(-own.mean(), rel=1e-6)  # that of the labels themselves


# Spikes


def test_dearer_spikes_are_fewer(digits, labels):
    X, y = digits[:500], labels[:500]
    settings = QUICK | {"max_iter": 30}
    models = [LRNNClassifier(**settings, spike_penalty=p).fit(X, y) for p in (0.0, 0.1, 0.5)]
    spikes = [model.spikes_per_decision(X) for model in models]
    assert spikes[0] > 5 * spikes[1]
    assert spikes[1] > 3 * spikes[2]
    assert spikes[2] >= 2  # one firing in each layer before the output, at least
    assert models[1].score(X, y) > 0.9


def test_spikes_per_decision_are_firings_per_output_spike(digits, model):
    X = digits[:30]
    network = model.to_network(least_rate=0)
    fired = network.split(np.asarray(network.steady_state(model.arrivals(X, network))))
    rates = model.firing_rates_
    each = sum(q @ r for q, r in zip(fired[:-1], rates[:-1], strict=True)) / fired[-1].sum(axis=1)
    assert model.spikes_per_decision(X) == pytest.approx(np.exp(np.log(each).mean()), rel=1e-9)
    with pytest.warns(UserWarning, match=naming(1, 31, "output spike")):
        assert model.spikes_per_decision(np.vstack([X, np.zeros(64)])) == pytest.approx(
            np.exp(np.log(each).mean()), rel=1e-9
        )
    assert model.spike_cost_ == pytest.approx(model.layer_spike_costs_.sum())


# Kinds of data


def test_all_kinds_of_rows_give_the_same_model(digits, labels):
    levels = (load_digits().data * 15).astype(np.uint8)[:200]
    X, y = (levels / np.float32(255)).astype(np.float32), labels[:200]
    expected = LRNNClassifier(**QUICK).fit(X, y).predict_proba(X)
    assert expected.dtype == np.float32
    frame = pd.DataFrame(X, columns=[f"pixel{i}" for i in range(64)])
    for given in (levels, frame, sparse.csr_array(X), sparse.csr_array(levels)):
        model = LRNNClassifier(**QUICK).fit(given, y)
        np.testing.assert_allclose(model.predict_proba(given), expected, rtol=1e-3, atol=1e-5)
    assert list(LRNNClassifier(**QUICK).fit(frame, y).feature_names_in_) == list(frame.columns)
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    model = LRNNClassifier(**QUICK).fit(torch.tensor(X), torch.tensor(y))
    found = model.predict_proba(torch.tensor(X))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-5)
    right = (expected.argmax(axis=1) == y).mean()
    assert model.score(torch.tensor(X), torch.tensor(y)) == pytest.approx(right, abs=0.02)


def test_files_are_read_and_raw_data_scaled(digits, labels, tmp_path):
    np.save(tmp_path / "x.npy", digits[:200])
    model = LRNNClassifier(**QUICK).fit(tmp_path / "x.npy", labels[:200])
    plain = LRNNClassifier(**QUICK).fit(digits[:200], labels[:200])
    np.testing.assert_allclose(
        model.predict_proba(tmp_path / "x.npy"), plain.predict_proba(digits[:200]), rtol=1e-6
    )
    raw = 40 * digits[:200] - 3
    scaled = LRNNClassifier(**QUICK | {"max_iter": 30}).fit(raw, labels[:200])
    assert scaled.score(raw, labels[:200]) > 0.9
    assert isinstance(scaled.scaling_, Scaling)


def test_rows_that_a_scaling_leaves_out_have_no_labels(digits, labels):
    frame = pd.DataFrame(digits[:200].copy(), columns=[f"pixel{i}" for i in range(64)])
    whole = LRNNClassifier(**QUICK).fit(frame.drop(index=[3]), np.delete(labels[:200], 3))
    frame.iloc[3, 5] = np.nan
    scale = Scaling.fit(frame, "none", missing="drop")
    with pytest.warns(UserWarning, match=naming("1 row", 3)):
        model = LRNNClassifier(**QUICK, scale=scale).fit(frame, labels[:200])
    X = digits[300:320]
    found = model.predict_proba(pd.DataFrame(X, columns=frame.columns))
    np.testing.assert_allclose(
        found, whole.predict_proba(pd.DataFrame(X, columns=frame.columns)), rtol=1e-6
    )


# An autoencoder's encoder as the first layers


@pytest.mark.parametrize("inhibition", [False, True])
def test_an_encoder_may_come_first_and_stay(digits, labels, inhibition):
    X, y = digits[:400], labels[:400]
    settings = {"inhibition": True, "fine_tune": 100} if inhibition else {}
    encoder = LRNNAutoencoder(12, random_state=0, **settings).fit(X)
    frozen = LRNNClassifier(**QUICK, pretrain=encoder, freeze=True).fit(X, y)
    assert frozen.weights_.sizes == (64, 12, 20, 10)
    np.testing.assert_array_equal(frozen.weights_.excitatory[0], encoder.encoders_[0])
    if inhibition:
        minus = encoder.inhibitory_encoders_[0]
        np.testing.assert_array_equal(frozen.weights_.inhibitory[0], minus)
    frozen.partial_fit(X, y)
    np.testing.assert_array_equal(frozen.weights_.excitatory[0], encoder.encoders_[0])
    tuned = LRNNClassifier(**QUICK | {"hidden_layer_sizes": ()}, pretrain=encoder).fit(X, y)
    assert tuned.weights_.sizes == (64, 12, 10)
    assert (tuned.weights_.excitatory[0] != encoder.encoders_[0]).any()
    assert tuned.score(X, y) > 0.6
    network = tuned.to_network()
    q = network.split(network.steady_state(tuned.arrivals(X[:5])))
    np.testing.assert_allclose(q[1], tuned.transform(X[:5]), rtol=1e-8)


def test_a_frozen_encoder_survives_cross_validation(digits, labels):
    encoder = FrozenEstimator(LRNNAutoencoder(12, random_state=0).fit(digits))
    model = LRNNClassifier(**QUICK, pretrain=encoder, freeze=True)
    assert cross_val_score(model, digits[:300], labels[:300], cv=2).min() > 0.3


def test_encoders_that_do_not_fit_are_refused(digits, labels):
    X, y = digits[:100], labels[:100]

    def fit(**settings):
        LRNNClassifier(**QUICK, **settings).fit(X, y)

    with pytest.raises(ValueError, match=naming("pretrain", "sklearn.frozen.FrozenEstimator")):
        fit(pretrain=LRNNAutoencoder(5))
    with pytest.raises(ValueError, match=naming("pretrain", 4, "X", 64)):
        fit(pretrain=LRNNAutoencoder(2).fit(X[:, 20:24]))
    with pytest.raises(ValueError, match=naming("pretrain", "scale=autoencoder.scaling_")):
        fit(pretrain=LRNNAutoencoder(2, scale="max").fit(X))
    encoder = LRNNAutoencoder(2, inhibition=True, fine_tune=100).fit(X)
    with pytest.raises(ValueError, match=naming("pretrain", "inhibition=True")):
        fit(pretrain=encoder, inhibition=False)
    with pytest.raises(ValueError, match=naming("freeze=True", "pretrain")):
        fit(freeze=True)
    with pytest.raises(TypeError, match=naming("pretrain", "LRNNAutoencoder", "LRNNClassifier()")):
        fit(pretrain=FrozenEstimator(LRNNClassifier()))


# Files


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"inhibition": False, "class_weight": {i: 1.0 + i for i in range(10)}},
        {"scale": "max", "corruption": ("mask", 0.1), "hidden_layer_sizes": (9, 8)},
    ],
    ids=str,
)
def test_files_keep_every_bit(digits, labels, settings, tmp_path):
    model = LRNNClassifier(**QUICK | settings).fit(digits[:200], labels[:200])
    model.save(tmp_path / "m.safetensors")
    again = lrnn.load(tmp_path / "m.safetensors")
    assert isinstance(again, LRNNClassifier)
    X = digits[50:110]
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for name in ("loss_", "n_iter_", "spike_cost_", "n_features_in_", "white_"):
        assert getattr(again, name) == getattr(model, name)
    np.testing.assert_array_equal(again.history_[0].errors, model.history_[0].errors)
    kept = {k: v for k, v in again.get_params().items() if k != "scale"}
    assert kept == {k: v for k, v in model.get_params().items() if k != "scale"}
    with pytest.raises(ModelFileError, match=naming("classifier", "autoencoder")):
        load_autoencoder(tmp_path / "m.safetensors")


def test_a_frozen_layer_stays_so_in_a_file(digits, labels, tmp_path):
    encoder = LRNNAutoencoder(12, random_state=0).fit(digits)
    model = LRNNClassifier(**QUICK, pretrain=encoder, freeze=True).fit(digits[:90], labels[:90])
    model.save(tmp_path / "m.safetensors")
    again = lrnn.load(tmp_path / "m.safetensors").partial_fit(digits[:90], labels[:90])
    np.testing.assert_array_equal(again.weights_.excitatory[0], encoder.encoders_[0])


def test_damaged_files_are_refused(model, tmp_path):
    from lrnn.storage.codec import read_tensors, write_tensors

    path = tmp_path / "m.safetensors"
    model.save(path)
    document, tensors = read_tensors(path, lambda document: None)

    def refused(*named, document=document, **changed):
        write_tensors(path, document, tensors | changed)
        with pytest.raises(ModelFileError, match=naming(path, *named)):
            lrnn.load(path)

    refused("classes", classes=tensors["classes"][:-1])
    refused("classes", classes=tensors["classes"][::-1].copy())
    refused("excitatory.0", **{"excitatory.0": -tensors["excitatory.0"]})
    refused("excitatory", "weights", **{"excitatory.1": tensors["excitatory.1"][1:]})
    refused("firing_rates", **{"firing_rates.0": 2 * tensors["firing_rates.0"]})
    refused("frozen", document=document | {"frozen": 2})
    refused("evil", document=document | {"parameters": {"evil": 1}})
    parameters = document["parameters"] | {"hidden_layer_sizes": {"a": 1}}
    refused("hidden_layer_sizes", document=document | {"parameters": parameters})
    refused("class_weight", "'a'", document=document | {"class_weight": [["a", "b"]]})
    refused("classes", document=document | {"classes": {"labels": ["a"]}})
    del tensors["classes"]
    refused("classes")


# What it refuses


def test_errors_name_the_value_the_place_and_the_remedy(digits, labels):
    X, y = digits[:50], labels[:50]
    with pytest.raises(ValueError, match=naming("y", 49, "X", 50)):
        LRNNClassifier(**QUICK).fit(X, y[:-1])
    with pytest.raises(ValueError, match=naming("sample_weight", -1, "row 0")):
        LRNNClassifier(**QUICK).fit(X, y, sample_weight=np.r_[-1, np.ones(49)])
    with pytest.raises(ValueError, match=naming("label type", "continuous")):
        LRNNClassifier(**QUICK).fit(X, y + 0.5)
    with pytest.raises(ValueError, match=naming(-1, "row 0", "column 0", "scale='minmax'")):
        LRNNClassifier(**QUICK, scale=None).fit(X - 1, y)
    with pytest.raises(ValueError, match=naming("hidden_layer_sizes")):
        LRNNClassifier(()).fit(X, y)
    with pytest.raises(NotFittedError):
        LRNNClassifier().predict(X)
    with pytest.raises(TypeError, match=naming("network", "to_network")):
        LRNNClassifier(**QUICK).fit(X, y).arrivals(X, "network")


def test_a_clone_is_not_fitted_and_fits_alike(digits, labels, model):
    again = clone(model)
    assert not hasattr(again, "weights_")
    again.fit(digits[:1000], labels[:1000])
    np.testing.assert_array_equal(again.predict_proba(digits), model.predict_proba(digits))


def test_training_says_nothing_without_need(digits, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LRNNClassifier(**QUICK).fit(digits[:100], labels[:100]).predict(digits[:100])


# Audits


def test_an_audit_says_how_well_it_recognises(digits, labels, model):
    X, y = digits[1000:], labels[1000:]
    found = model.audit(X, y)
    assert found.valid
    assert [layer.name for layer in found.layers] == ["input", "hidden", "output"]
    assert [layer.neurons for layer in found.layers] == [64, 20, 10]
    standing, p = found.standing, model.predict_proba(X)
    assert standing.accuracy == model.score(X, y)
    assert standing.loss == pytest.approx(log_loss(y, p, labels=range(10)), rel=1e-6)
    common = np.bincount(y) / len(y)
    assert standing.commonest == common.max()
    assert standing.entropy == pytest.approx(-(common * np.log(common)).sum())
    assert standing.spikes == model.spikes_per_decision(X)
    assert 0 < standing.explained < 1
    assert re.search(naming("accuracy", f"{standing.accuracy:.4f}", "valid"), str(found))
    assert f"{standing.accuracy:.4f}" in found._repr_html_()
    network = model.to_network()
    np.testing.assert_allclose(found.largest_routed, network.routed.max())
    q = network.split(network.steady_state(model.arrivals(X)))
    saturated = [int((layer >= 1).any(axis=0).sum()) for layer in q]
    assert [layer.saturated for layer in found.layers] == saturated


def test_audits_without_labels_or_rows(digits, labels, model):
    assert model.audit().standing is model.audit(digits).standing is None
    assert model.audit().layers[0].saturated is None
    with pytest.raises(ValueError, match=naming("y", "X")):
        model.audit(y=labels)
    with pytest.raises(ValueError, match=naming("y", 12, "row 0", list(range(10)))):
        model.audit(digits[:2], labels[:2] + 12)
    with pytest.raises(NotFittedError):
        LRNNClassifier().audit()


def test_a_network_that_looks_at_nothing_explains_nothing(digits):
    one = LRNNClassifier(**QUICK).fit(digits[:20], np.full(20, "a"))
    standing = one.audit(digits[:20], np.full(20, "a")).standing
    assert (standing.accuracy, standing.commonest, standing.entropy) == (1, 1, 0)
    assert standing.explained == -np.inf


def test_the_progress_bar_names_what_falls(digits, capfd):
    y = load_digits().target
    LRNNClassifier(8, max_iter=2, verbose=1, random_state=0).fit(digits[:300], y[:300])
    shown = capfd.readouterr().err
    assert re.search(naming("cross-entropy", 1), shown)
    assert "error" not in shown
