"""Complement coding: what a network without a bias cannot do, and then can; and how models do it.

On every kind of rows, and by all methods, see `test_complement_grid`.
"""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from lrnn import (
    LRNNAutoencoder,
    LRNNClassifier,
    Moment,
    Scaling,
    checkpoints,
    load,
    load_moment,
    plots,
    score_entries,
    widths,
)
from lrnn.functional import complement_coded, complement_decoded
from lrnn.storage.codec import read_tensors, write_tensors
from lrnn.storage.export import to_onnx
from lrnn.storage.model_files import ModelFileError
from lrnn.tables.ledger import RangeWarning
from naming import naming

# What it is good for


def scores(X, y, X_new, y_new):
    """Accuracy on new rows, as they are and beside their complements."""
    return [
        make_pipeline(MinMaxScaler(clip=True), before, LRNNClassifier(50, random_state=0))
        .fit(X, y)
        .score(X_new, y_new)
        for before in ("passthrough", FunctionTransformer(complement_coded))
    ]


def test_a_sum_is_compared_with_a_threshold(rng):
    X = rng.normal(size=(2_000, 3))  # the last column says nothing
    y = X[:, 0] + X[:, 1] > 0
    plain, coded = scores(X[:300], y[:300], X[300:], y[300:])
    assert plain < 0.88
    assert coded > 0.94


def test_rows_of_zeros_make_spikes(rng):
    X = np.vstack([np.zeros((40, 3)), rng.random((60, 3))])
    y = np.repeat(["nothing", "something"], [40, 60])
    model = LRNNClassifier(10, max_iter=50, random_state=0).fit(complement_coded(X), y)
    assert np.isfinite(model.spikes_per_decision(complement_coded(X)))  # and no warning
    assert model.score(complement_coded(X), y) == 1


def test_new_rows_beyond_the_range_are_refused_unless_they_are_clipped(rng):
    X = rng.random((50, 2))
    y = X[:, 0] > 0.5
    model = make_pipeline(
        MinMaxScaler(), FunctionTransformer(complement_coded), LRNNClassifier(5, max_iter=5)
    ).fit(X, y)
    with pytest.raises(ValueError, match=naming("2.05596", "MinMaxScaler(clip=True)")):
        model.predict([[0.5, 2.0]])


# What a model makes of it


@pytest.fixture
def raw(rng):
    """A table of rank 2 and noise, in units of its own; low numbers mean as much as high ones."""
    parts = rng.random((200, 2)) @ rng.random((2, 5)) + 0.05 * rng.random((200, 5))
    return (parts - 0.7) * [1, -20, 300, 0.01, 5]


def by_hand(X):
    scaling = Scaling.fit(X, "minmax")
    return scaling, complement_coded(scaling.apply(X))


def test_it_is_the_model_of_coded_rows_bit_for_bit(raw):
    scaling, coded = by_hand(raw)
    model = LRNNAutoencoder(3, scale="minmax", complement=True).fit(raw)
    other = LRNNAutoencoder(3).fit(coded)
    for ours, theirs in zip(model.weights_.layers, other.weights_.layers, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(model.transform(raw), other.transform(coded))
    pairs = other.reconstruct(coded)
    np.testing.assert_array_equal(
        model.reconstruct(raw), scaling.revert((pairs[:, :5] + (1 - pairs[:, 5:])) / 2)
    )
    assert model.score(raw) == other.score(coded)
    assert (model.n_features_in_, model.weights_.sizes) == (5, (10, 3, 10))


def test_a_classifier_of_raw_tables_is_that_of_coded_rows_bit_for_bit(raw):
    y = raw[:, 0] > np.median(raw[:, 0])
    _, coded = by_hand(raw)
    model = LRNNClassifier(8, max_iter=10, random_state=0).fit(raw, y)
    other = LRNNClassifier(8, max_iter=10, random_state=0).fit(coded, y)
    np.testing.assert_array_equal(model.predict_proba(raw), other.predict_proba(coded))
    np.testing.assert_array_equal(model.transform(raw), other.transform(coded))
    assert model.scaling_.complemented
    assert other.scaling_ == Scaling("none")
    assert "complemented" in repr(model.scaling_)


@given(
    arrays(np.float64, (4, 3), elements=st.floats(0, 1)),
    arrays(np.float64, (4, 6), elements=st.floats(0, 1)),
)
def test_attributes_are_given_back_no_worse_than_their_pairs(X, outputs):
    """It is the nearest of all pairs (x, 1 - x), and its error at most the mean of both."""
    found = complement_decoded(outputs)
    assert ((found >= 0) & (found <= 1)).all()
    own = (found - X) ** 2
    both = (outputs - complement_coded(X)) ** 2
    assert (own <= (both[:, :3] + both[:, 3:]) / 2 + 1e-12).all()
    nearest = ((outputs - complement_coded(found)) ** 2).sum()
    assert nearest <= both.sum() + 1e-12
    np.testing.assert_allclose(complement_decoded(complement_coded(X)), X, atol=1e-15)


def test_errors_are_those_of_all_outputs_and_attributes_have_lower_ones(raw):
    model = LRNNAutoencoder(2, scale="minmax", complement=True).fit(raw)
    missed = (model.reconstruct(raw) - raw) / np.ptp(raw, axis=0)  # cell by cell
    assert missed.shape == raw.shape
    assert 0 < (missed**2).mean() <= model.reconstruction_err_
    assert model.reconstruction_err_ == pytest.approx(-model.score(raw), rel=1e-9)


@pytest.mark.parametrize("scale", [None, "auto"])
def test_levels_come_back_as_without(rng, scale, tmp_path):
    """In [0, 1], or as levels where the model is told to scale; also one from a file."""
    X = rng.integers(0, 256, (50, 6)).astype(np.uint8)
    plain = LRNNAutoencoder(3, scale=scale, random_state=0).fit(X)
    model = LRNNAutoencoder(3, scale=scale, complement=True, random_state=0).fit(X)
    model.save(tmp_path / "m.safetensors")
    found = load(tmp_path / "m.safetensors")
    assert (plain.reconstruct(X).max() > 1) == (model.reconstruct(X).max() > 1) == (scale == "auto")
    np.testing.assert_array_equal(found.reconstruct(X), model.reconstruct(X))
    codes = model.transform(X)
    np.testing.assert_allclose(model.inverse_transform(codes), model.reconstruct(X), rtol=1e-4)


def test_the_code_is_half_of_the_attributes_by_default(raw):
    model = LRNNAutoencoder(complement=True, scale="minmax").fit(raw)
    assert model.weights_.sizes == (10, 3, 10)
    moment = Moment.of(raw, scale=Scaling.fit(raw, "minmax", complement=True))
    assert LRNNAutoencoder().fit(moment).weights_.sizes == (10, 3, 10)


def test_numbers_beyond_the_range_are_cut_off_in_the_units_of_the_data(raw):
    model = LRNNAutoencoder(2, scale="minmax", complement=True).fit(raw)
    beyond = raw[:1].copy()
    beyond[0, 2] = 1e6
    with pytest.warns(RangeWarning, match=naming("column 2", "1e+06")):
        found = model.transform(beyond)
    beyond[0, 2] = raw[:, 2].max()
    np.testing.assert_array_equal(found, model.transform(beyond))


@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_nothing_is_stored_twice(rng, dtype):
    """Rows in [0, 1] are coded as they are read: pairs of all would take twice the memory."""
    X = rng.random((200_000, 10)).astype(dtype)
    y = X[:, 0] > 0.5
    model = LRNNAutoencoder(3, complement=True, max_iter=3, tol=0)
    recogniser = LRNNClassifier(3, complement=True, max_iter=1, batch_size=5_000)
    model.fit(X[:100])  # whatever is loaded once
    recogniser.fit(X[:100], y[:100])
    for work in (lambda: model.fit(X), lambda: model.score(X), lambda: recogniser.fit(X, y)):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < X.nbytes + 1e7  # labels and their weights take some


# Whether a classifier does it unasked


def auto(X, y=None, **settings):
    y = np.arange(X.shape[0]) % 2 if y is None else y
    scaling = LRNNClassifier(3, max_iter=1, random_state=0, **settings).fit(X, y).scaling_
    return scaling is not None and scaling.complemented


@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")
def test_only_raw_columns_are_seen_with_complements_unasked(raw, rng):
    unit = rng.random((200, 5))
    levels = rng.integers(0, 256, (200, 5)).astype(np.uint8)
    assert auto(raw)
    assert auto(pd.DataFrame(raw, columns=list("abcde")))
    assert auto(raw, scale="minmax")
    assert not auto(unit)
    assert not auto(levels)
    assert not auto(sparse.csr_array(np.abs(raw) * (np.abs(raw) > 1)))
    assert not auto(raw, scale=Scaling.fit(raw, "minmax"))
    assert auto(raw, scale=Scaling.fit(raw, "minmax", complement=True))
    assert not auto(raw, complement=False)
    assert auto(unit, complement=True)
    assert auto(levels, complement=True)
    assert auto(raw, scale=Scaling.fit(raw, "minmax"), complement=True)
    assert auto(unit, complement=True, scale=None)


@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")
def test_a_scaling_that_is_given_says_itself_whether_complements_are_seen(raw):
    """Also where one of the same kind, made of the data, would be seen with them."""
    for complement in (False, True):
        scaling = Scaling.fit(raw, "minmax", complement=complement)
        assert auto(raw, scale=scaling) == complement
        assert auto(raw, scale=scaling, complement="auto") == complement
        assert auto(raw, scale=scaling, complement=True)


def test_the_scaling_that_a_stream_is_advised_to_take_shows_what_it_would_have_shown(raw):
    y = raw[:, 0] > np.median(raw[:, 0])
    stream = LRNNClassifier(3, random_state=0)
    with pytest.warns(UserWarning, match=naming("Scaling.fit(X, ..., complement=True)")):
        stream.partial_fit(raw, y, classes=[False, True])
    assert stream.scaling_.complemented
    for complement, also in (
        ("auto", ", complement=True"),
        (True, ", complement=True"),
        (False, ""),
    ):
        refused = LRNNClassifier(3, scale="minmax", complement=complement)
        with pytest.raises(ValueError, match=naming(f"Scaling.fit(X, 'minmax'{also})")):
            refused.partial_fit(raw, y, classes=[False, True])


@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")
@pytest.mark.parametrize("complement", [False, True])
def test_a_pretrained_encoder_decides(raw, complement):
    codes = LRNNAutoencoder(3, scale="minmax", complement=complement).fit(raw)
    y = raw[:, 0] > np.median(raw[:, 0])
    model = LRNNClassifier(4, pretrain=codes, freeze=True, max_iter=2, random_state=0).fit(raw, y)
    assert model.scaling_.complemented == complement
    np.testing.assert_array_equal(model.weights_.encoders[0], codes.encoders_[0])
    unit = codes.scaling_.apply(raw)
    alone = LRNNAutoencoder(3, complement=complement).fit(unit)
    for scale in (None, "auto"):
        behind = LRNNClassifier(4, pretrain=alone, max_iter=2, scale=scale, random_state=0)
        assert behind.fit(unit, y).weights_.sizes[0] == (10 if complement else 5)
    with pytest.raises(ValueError, match=naming("pretrain", "complement='auto'")):
        LRNNClassifier(4, pretrain=codes, complement=not complement).fit(raw, y)


@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
def test_wine_is_recognised_as_it_comes():
    """13 columns from 0.1 to 1,680: as accurate as behind a pipeline that does it by hand."""
    X, y = load_wine(return_X_y=True)
    found = cross_val_score(LRNNClassifier(50, random_state=0), X, y, cv=3)
    before = MinMaxScaler(clip=True), FunctionTransformer(complement_coded)
    behind = make_pipeline(*before, LRNNClassifier(50, random_state=0))
    np.testing.assert_allclose(found, cross_val_score(behind, X, y, cv=3), atol=0.02)
    assert found.mean() > 0.96


# Missing cells, streams, frames


@pytest.fixture
def gappy(raw, rng):
    X = raw.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def test_missing_cells_are_filled_before_and_count_for_neither(raw, gappy):
    """Both of a pair are made of what is filled in, and both are left out of the error."""
    model = LRNNAutoencoder(3, scale="minmax", complement=True, missing="allow").fit(gappy)
    plain = LRNNAutoencoder(3, scale="minmax", missing="allow").fit(gappy)
    filled, gaps = plain.impute(gappy), np.isnan(gappy)
    np.testing.assert_array_equal(model.impute(gappy), filled)
    np.testing.assert_array_equal(filled[~gaps], gappy[~gaps])
    coded = complement_coded(model.scaling_.apply(filled))
    other = LRNNAutoencoder(3).fit(coded)
    np.testing.assert_allclose(model.transform(gappy), other.transform(coded), rtol=1e-9)
    missed = (other.reconstruct(coded) - coded)[~np.tile(gaps, 2)]
    assert model.reconstruction_err_ == pytest.approx((missed**2).mean(), rel=1e-9)
    assert model.score(gappy) == pytest.approx(-(missed**2).mean(), rel=1e-9)
    frame = pd.DataFrame(gappy, columns=list("abcde"))
    framed = LRNNAutoencoder(3, scale="minmax", complement=True, missing="allow").fit(frame)
    np.testing.assert_allclose(framed.impute(frame).to_numpy(), filled, rtol=1e-9)


def test_a_model_with_a_filling_is_saved(gappy, tmp_path):
    model = LRNNAutoencoder(3, scale="minmax", complement=True, missing="allow").fit(gappy)
    model.save(tmp_path / "m.safetensors")
    found = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(found.reconstruct(gappy), model.reconstruct(gappy))
    np.testing.assert_array_equal(found.impute(gappy), model.impute(gappy))


def test_a_stream_goes_on_from_a_file(raw, tmp_path):
    scaling = Scaling.fit(raw, "minmax")
    model = LRNNAutoencoder(3, scale=scaling, complement=True, random_state=0)
    model.partial_fit(raw[:100]).save(tmp_path / "m.safetensors")
    found = load(tmp_path / "m.safetensors")
    for one in (model, found):
        one.partial_fit(raw[100:])
    np.testing.assert_array_equal(found.reconstruct(raw), model.reconstruct(raw))
    assert found.moment_.shape == (200, 10)
    np.testing.assert_allclose(
        found.moment_.gram, np.einsum("ij,ik->jk", *[by_hand(raw)[1]] * 2), rtol=1e-12
    )


def test_moments_of_complements_add_and_are_no_others(raw, tmp_path):
    plain = Scaling.fit(raw, "minmax")
    scaling = Scaling.fit(raw, "minmax", complement=True)
    whole = Moment.of(raw, scale=scaling)
    sum_of_parts = Moment.of(raw[:50], scale=scaling) + Moment.of(raw[50:], scale=scaling)
    np.testing.assert_allclose(sum_of_parts.gram, whole.gram, rtol=1e-12)
    with pytest.raises(ValueError, match=naming(10, 5)):
        whole + Moment.of(raw, scale=plain)
    with pytest.raises(ValueError, match=naming("complement=True", "Moment.of")):
        LRNNAutoencoder(3, complement=True).fit(Moment.of(raw, scale=plain))
    named = Moment.of(pd.DataFrame(raw, columns=list("abcde")), scale=scaling)
    named.save(tmp_path / "moment.safetensors")
    assert load_moment(tmp_path / "moment.safetensors") == named
    model = LRNNAutoencoder(3, complement=True).fit(named)
    assert list(model.feature_names_in_) == list("abcde")


def test_names_are_those_of_the_attributes(raw):
    frame = pd.DataFrame(raw, columns=list("abcde"))
    model = LRNNAutoencoder(2, scale="minmax", complement=True).set_output(transform="pandas")
    codes = model.fit_transform(frame)
    assert list(codes.columns) == ["lrnnautoencoder0", "lrnnautoencoder1"]
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match=naming("column 'b'", "'a'", f"X[{list('abcde')}]")):
        model.transform(frame[list("bacde")])
    with pytest.raises(ValueError, match=naming("feature names", "e")):
        model.transform(frame[list("abcd")])


def test_columns_of_text_come_back_as_text(raw, tmp_path):
    frame = pd.DataFrame(raw[:, :2], columns=["a", "b"])
    frame["kind"] = np.where(frame.a > frame.a.median(), "high", "low")
    scaling = Scaling.fit(frame, "minmax", categories="onehot", complement=True)
    model = LRNNAutoencoder(4, scale=scaling).fit(frame)
    assert (model.n_features_in_, model.weights_.sizes[0]) == (4, 8)
    model.save(tmp_path / "m.safetensors")
    found = load(tmp_path / "m.safetensors")
    assert found.scaling_ == model.scaling_
    back = found.scaling_.to_frame(found.scaling_.scaled(found.reconstruct(frame)))
    assert back.names == ("a", "b", "kind")
    assert (np.asarray(back.columns[2]) == frame.kind).mean() > 0.9


# Networks, and other programs


def test_the_network_has_two_neurons_for_an_attribute(raw):
    model = LRNNAutoencoder(2, scale="minmax", complement=True).fit(raw)
    network, arrivals = model.to_network(), model.arrivals(raw)
    q = network.split(network.steady_state(arrivals))
    np.testing.assert_allclose(q[0], by_hand(raw)[1], atol=1e-12)
    np.testing.assert_allclose(
        model.scaling_.revert(complement_decoded(q[-1])), model.reconstruct(raw), rtol=1e-9
    )
    decoder = model.to_network(part="decoder")
    codes = model.transform(raw)
    q = decoder.split(decoder.steady_state(model.arrivals(codes, decoder)))[-1]
    np.testing.assert_allclose(
        model.scaling_.revert(complement_decoded(q)), model.inverse_transform(codes), rtol=1e-9
    )
    counted = network.simulate(arrivals[0], events=200_000, random_state=0).activation("arrivals")
    np.testing.assert_allclose(counted[:10], by_hand(raw)[1][0], atol=0.05)


def test_other_programs_take_the_same_rows(raw, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    y = raw[:, 0] > np.median(raw[:, 0])
    model = LRNNAutoencoder(2, scale="minmax", complement=True).fit(raw)
    recogniser = LRNNClassifier(5, max_iter=5, random_state=0).fit(raw, y)
    unit = model.scaling_.apply(raw)

    def run(one, X, scaling, *wanted):
        path = tmp_path / "m.onnx"
        to_onnx(one, path, scaling=scaling)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        assert session.get_inputs()[0].shape == ["rows", 5]
        return session.run(list(wanted), {"data": X})

    for X, scaling in ((raw, True), (unit, False)):
        codes, back = run(model, X, scaling, "codes", "reconstruction")
        np.testing.assert_allclose(codes, model.transform(raw), atol=1e-12)
        np.testing.assert_allclose(model.scaling_.revert(back), model.reconstruct(raw), rtol=1e-9)
        label, probabilities = run(recogniser, X, scaling, "label", "probabilities")
        np.testing.assert_array_equal(label, recogniser.predict(raw))
        np.testing.assert_allclose(probabilities, recogniser.predict_proba(raw), atol=1e-9)
    module, rows = model.to_torch(scaling=False), torch.tensor(unit)
    back = model.scaling_.revert(module(rows).detach().numpy())
    np.testing.assert_allclose(back, model.reconstruct(raw), rtol=1e-9)
    codes = module.encoder(rows)
    np.testing.assert_allclose(codes.detach(), model.transform(raw), atol=1e-12)
    assert module.decoder(codes).shape == (200, 5)
    shares = recogniser.to_torch(scaling=False)(rows).detach()
    np.testing.assert_allclose(shares, recogniser.predict_proba(raw), atol=1e-9)


def changed(path, change):
    document, tensors = read_tensors(path, lambda document: None)
    change(document)
    write_tensors(path, document, tensors)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["scaling"].update(complemented=False),
        lambda d: d["scaling"].update(complemented=1),
        lambda d: d["scaling"].update(kind="none"),  # then of as many attributes as fit
        lambda d: d.update(feature_names=[*"abcdefghij"]),
    ],
)
def test_files_that_make_no_sense_are_refused(raw, tmp_path, change):
    frame = pd.DataFrame(raw, columns=list("abcde"))
    path = tmp_path / "m.safetensors"
    LRNNAutoencoder(2, scale="minmax", complement=True).fit(frame).save(path)
    assert load(path).n_features_in_ == 5
    changed(path, change)
    try:
        found = load(path)
    except ModelFileError:
        return
    assert found.scaling_.kind == "none"
    assert (found.n_features_in_, found.scaling_.complemented) == (5, True)


def test_half_a_pair_is_refused(raw, tmp_path):
    path = tmp_path / "m.safetensors"
    LRNNAutoencoder(2).fit(by_hand(raw)[1][:, :7]).save(path)
    changed(path, lambda d: d.update(scaling={"kind": "none", "complemented": True}))
    with pytest.raises(ModelFileError, match=naming(path, "scaling", 7)):
        load(path)


def test_files_of_before_know_nothing_of_it(raw, tmp_path):
    y = raw[:, 0] > np.median(raw[:, 0])
    path = tmp_path / "m.safetensors"
    model = LRNNClassifier(3, max_iter=2, complement=False, random_state=0).fit(raw, y)
    model.save(path)
    changed(path, lambda d: d["parameters"].pop("complement"))
    found = load(path)
    assert not found.scaling_.complemented
    np.testing.assert_array_equal(found.predict_proba(raw), model.predict_proba(raw))
    assert "complemented" not in json.dumps(found.scaling_.to_json())


def test_a_checkpoint_is_of_the_same_coding(raw, tmp_path):
    path = tmp_path / "checkpoint"
    settings = {"scale": "minmax", "max_iter": 5, "tol": 0, "random_state": 0}
    checkpoints.fit(LRNNAutoencoder(2, complement=True, **settings), raw, path, every=0)
    with pytest.raises(ValueError, match=naming("complement", True, False)):
        checkpoints.fit(LRNNAutoencoder(2, **settings), raw, path)


# Held-out entries, and pictures


def test_entries_are_not_predicted_from_their_complements(rng):
    """Columns that know nothing of each other; 1 - x would tell x."""
    X = rng.random((300, 6))
    model = LRNNAutoencoder(3, complement=True).fit(X)
    assert score_entries(model, X) < -0.06  # the variance is 1/12
    path = widths(X, [1, 2], scale=Scaling("none", complemented=True), folds=1)
    assert min(point.error for point in path.points) > 0.06


def test_neurons_of_complements_are_named_and_drawn(raw, rng):
    frame = pd.DataFrame(raw, columns=list("abcde"))
    model = LRNNAutoencoder(2, scale="minmax", complement=True).fit(frame)
    drawn = [text.get_text() for text in plots.network(model).texts]
    assert {"a", "1 − a", "e", "1 − e"} <= set(drawn)
    named = [label.get_text() for label in plots.parts(model).get_xticklabels()]
    assert {"a", "1 − a"} <= set(named)
    images = LRNNAutoencoder(2, complement=True).fit(rng.random((30, 12)))
    canvas = plots.parts(images, shape=(3, 4), columns=2).get_images()[0].get_array()
    assert canvas.shape[0] >= 6  # twice as high


def test_settings_that_contradict_each_other_are_refused():
    X, y = load_wine(return_X_y=True)
    coded = Scaling.fit(X, complement=True)
    with pytest.raises(ValueError, match=naming("complement=False", "scale")):
        LRNNClassifier(5, scale=coded, complement=False).fit(X, y)
