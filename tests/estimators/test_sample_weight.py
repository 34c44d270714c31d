"""Weights of rows: two equal a row twice, none equals no row."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lrnn import LRNNAutoencoder, Moment, Scaling
from lrnn.rows import WeightedRows, held
from lrnn.training import evaluate
from naming import naming

SETTINGS = {"max_iter": 20, "random_state": 0}
KINDS = [np.asarray, sparse.csr_array, pd.DataFrame, lambda X: lambda: iter(np.array_split(X, 3))]


@pytest.fixture(name="X")
def rows(rng):
    return rng.random((40, 6)) ** 2


@pytest.fixture
def weights(rng):
    return rng.integers(0, 4, 40)


@pytest.mark.parametrize("moment", ["dense", "implicit"])
@pytest.mark.parametrize("hidden", [3, (5, 2)])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_rows_repeated(X, weights, moment, hidden, kind):
    settings = {"hidden_layer_sizes": hidden, "moment": moment, **SETTINGS}
    repeated = np.repeat(X, weights, axis=0)
    many = LRNNAutoencoder(**settings).fit(repeated)
    weighed = LRNNAutoencoder(**settings).fit(kind(X), sample_weight=weights)
    for one, other in zip(many.encoders_, weighed.encoders_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    assert weighed.reconstruction_err_ == pytest.approx(many.reconstruction_err_, rel=1e-9)
    assert weighed.spike_cost_ == pytest.approx(many.spike_cost_, rel=1e-9)
    score = weighed.score(kind(X), sample_weight=weights)
    assert score == pytest.approx(many.score(repeated), rel=1e-9)
    assert score == pytest.approx(-weighed.reconstruction_err_, rel=1e-9)


seven = st.lists(st.integers(0, 3), min_size=7, max_size=7).filter(any)


@settings(max_examples=30)
@given(arrays(np.float64, (7, 3), elements=st.floats(0, 1)), seven)
def test_an_evaluation_is_that_of_rows_repeated(X, times):
    model = LRNNAutoencoder(2, max_iter=2, random_state=0).fit(np.eye(3) * 0.9)
    one = evaluate(WeightedRows(held(X), np.array(times, dtype=float)), model.weights_)
    other = evaluate(held(np.repeat(X, times, axis=0)), model.weights_)
    assert one.error == pytest.approx(other.error, rel=1e-12, abs=1e-15)
    for a, b in zip(one.mean_activations, other.mean_activations, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def test_a_row_without_weight_does_not_saturate_anything(X):
    """Code neurons are scaled by the largest drive of rows that count."""
    strong = np.vstack([X * 0.3, np.ones((1, 6))])
    weights = np.r_[np.ones(40), 0]
    weighed = LRNNAutoencoder(3, **SETTINGS).fit(strong, sample_weight=weights)
    np.testing.assert_allclose(weighed.transform(X * 0.3).max(axis=0), 1, rtol=1e-9)


def test_weights_change_what_is_learnt(X):
    first = np.r_[np.ones(20), np.zeros(20)]
    settings = {"hidden_layer_sizes": 2, **SETTINGS}
    one = LRNNAutoencoder(**settings).fit_transform(X, sample_weight=first)
    other = LRNNAutoencoder(**settings).fit(X[:20]).transform(X)
    np.testing.assert_allclose(one, other, rtol=1e-7)
    assert not np.allclose(one, LRNNAutoencoder(**settings).fit_transform(X))
    for factor in (7e5, 1e308, 1e-300):  # only their ratios matter
        scaled = LRNNAutoencoder(**settings).fit(X, sample_weight=first * factor)
        np.testing.assert_allclose(scaled.transform(X), one, rtol=1e-7)
    single = LRNNAutoencoder(**settings).fit(X.astype(np.float32), sample_weight=first * 1e300)
    np.testing.assert_allclose(single.transform(X), one, atol=1e-3)
    assert LRNNAutoencoder(**settings).fit(X, sample_weight=3).n_iter_  # one for all


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        (-np.ones(40), (-1, "row 0", "39 more")),
        (np.r_[np.ones(39), np.nan], ("nan", "row 39")),
        (np.r_[np.inf, np.ones(39)], ("inf", "row 0")),
        (np.ones(39), ((39,), "X", 40)),
        (np.ones((40, 1)), ((40, 1), "X", 40)),
        (np.zeros(40), ("zero",)),
        (["a"] * 40, ("numbers", "a")),
    ],
)
def test_impossible_weights_are_refused(X, weights, named):
    for work in (LRNNAutoencoder(2).fit, LRNNAutoencoder(2, **SETTINGS).fit(X).score):
        with pytest.raises(ValueError, match=naming("sample_weight", *named)):
            work(X, sample_weight=weights)


def test_rows_that_a_scaling_leaves_out_take_their_weights_along(X, weights):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[[0, 7, 39], "c"] = np.nan
    how = Scaling.fit(frame, missing="drop")
    whole, kept = frame.dropna(), np.delete(weights, [0, 7, 39])
    settings = {"hidden_layer_sizes": 3, "scale": how, **SETTINGS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows are left out, which is said
        model = LRNNAutoencoder(**settings).fit(frame, sample_weight=weights)
    expected = LRNNAutoencoder(**settings).fit(whole, sample_weight=kept)
    np.testing.assert_allclose(model.transform(whole), expected.transform(whole), rtol=1e-9)


def test_scores_take_weights_however_a_model_was_trained(X, weights):
    model = LRNNAutoencoder(2, solver="minibatch", max_iter=2, random_state=0).fit(X)
    expected = model.score(np.repeat(X, weights, axis=0))
    assert model.score(X, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_weights_count_known_cells_only(X, weights, rng):
    X[rng.random(X.shape) < 0.2] = np.nan
    model = LRNNAutoencoder(3, missing="allow", **SETTINGS).fit(X, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    assert model.score(X, sample_weight=weights) == pytest.approx(model.score(repeated))
    assert model.reconstruction_err_ == pytest.approx(-model.score(repeated))
    known = ~np.isnan(repeated)
    missed = (model.reconstruct(repeated) - repeated)[known]
    assert -model.score(repeated) == pytest.approx((missed**2).mean())


def test_a_scale_that_is_made_of_all_rows_knows_no_weights(X):
    weights = np.where(np.arange(len(X)) < 3, 0, 1)
    for work in (
        lambda: LRNNAutoencoder(2, scale="minmax", **SETTINGS).fit(X, sample_weight=weights),
        lambda: Moment.of(X, weights, scale="minmax"),
    ):
        with pytest.raises(ValueError, match=naming("3 rows", "sample_weight", "scale='minmax'")):
            work()
    how = Scaling.fit(X[3:], "minmax")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without weight may be cut off
        weighed = LRNNAutoencoder(2, scale=how, **SETTINGS).fit(X, sample_weight=weights)
        without = LRNNAutoencoder(2, scale=how, **SETTINGS).fit(X[3:])
    assert weighed.reconstruction_err_ == pytest.approx(without.reconstruction_err_)


def test_a_moment_is_not_multiplied_beyond_floats(X):
    with pytest.raises(ValueError, match=naming("1e+308")):
        Moment.of(X) * 1e308


@pytest.mark.parametrize("forget", [None, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_a_stream_are_rows_repeated(X, weights, kind, forget):
    settings = {"hidden_layer_sizes": 3, "forget": forget, **SETTINGS}
    many, weighed = LRNNAutoencoder(**settings), LRNNAutoencoder(**settings)
    for part in (slice(0, 20), slice(20, 40)):
        many.partial_fit(np.repeat(X[part], weights[part], axis=0))
        weighed.partial_fit(kind(X[part]), sample_weight=weights[part])
    one, other = many.moment_, weighed.moment_
    np.testing.assert_allclose(other.gram, one.gram, rtol=1e-9)
    np.testing.assert_allclose(other.column_sums, one.column_sums, rtol=1e-9)
    assert other.weight == pytest.approx(one.weight, rel=1e-12)
    np.testing.assert_array_equal(other.high, one.high)  # rows without any weight were not there
    np.testing.assert_allclose(weighed.components_, many.components_, rtol=1e-6, atol=1e-9)
    assert weighed.reconstruction_err_ == pytest.approx(many.reconstruction_err_, rel=1e-6)


def test_parts_of_a_stream_weigh_beside_each_other(X):
    """Not their ratios alone matter, as they do in a fit on all rows."""
    model = LRNNAutoencoder(2, random_state=0)
    model.partial_fit(X[:20], sample_weight=np.full(20, 3.0)).partial_fit(X[20:])
    assert model.moment_.weight == 80
    np.testing.assert_allclose(model.moment_.gram, 3 * X[:20].T @ X[:20] + X[20:].T @ X[20:])
    for setting in ({"solver": "minibatch"}, {"rates": "unit"}, {"inhibition": True}):
        (named,) = (f"{name}={value!r}" for name, value in setting.items())
        with pytest.raises(ValueError, match=naming(named, "sample_weight", "solver='gram'")):
            LRNNAutoencoder(2, **setting).partial_fit(X, sample_weight=np.ones(40))


def tensor(X):
    return pytest.importorskip("torch", reason="torch is not installed").from_numpy(X.copy())


@pytest.mark.parametrize("forget", [None, 30])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, tensor])
def test_rows_that_are_kept_in_place_of_a_moment_take_their_weights_along(X, weights, kind, forget):
    settings = {"hidden_layer_sizes": 3, "moment": "implicit", "forget": forget, **SETTINGS}
    many, weighed = LRNNAutoencoder(**settings), LRNNAutoencoder(**settings)
    for part in (slice(0, 20), slice(20, 40)):
        many.partial_fit(np.repeat(X[part], weights[part], axis=0))
        weighed.partial_fit(kind(X[part]), sample_weight=weights[part])
    assert weighed._memory.kept.weight == pytest.approx(many._memory.kept.weight, rel=1e-12)
    np.testing.assert_allclose(weighed._memory.kept.columns, many._memory.kept.columns)
    np.testing.assert_allclose(weighed.components_, many.components_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("first", [np.uint8, np.float64])
def test_levels_and_floats_are_parts_of_one_stream(rng, first):
    """Sums are those of the same rows in [0, 1], whichever kind comes first."""
    levels = rng.integers(0, 256, (60, 5)).astype(np.uint8)
    unit = levels / 255
    one, other = (levels, unit) if first is np.uint8 else (unit, levels)
    model = LRNNAutoencoder(2, random_state=0).partial_fit(one[:30]).partial_fit(other[30:])
    np.testing.assert_allclose(model.moment_.gram, unit.T @ unit, rtol=1e-6)
    np.testing.assert_allclose(model.transform(levels), model.transform(unit), rtol=1e-5)
