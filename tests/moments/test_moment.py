"""Moments as values: the laws of their algebra, what they are of, and models of them."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lrnn import LRNNAutoencoder, Moment, Scaling, load_moment
from lrnn.moments import moment as module
from lrnn.tables.ledger import RangeWarning
from lrnn.tables.scaling import KINDS
from naming import naming

few = settings(max_examples=25)
numbers = st.floats(0, 1, width=32) | st.sampled_from([0.0, 1.0])
SETTINGS = {"max_iter": 30, "random_state": 0}


COUNTS, THREE = st.integers(1, 12), st.just(3)


def rows_of(count=COUNTS, width=THREE):
    return st.tuples(count, width).flatmap(
        lambda shape: arrays(np.float64, shape, elements=numbers)
    )


def assert_close(one, other, *, ranges=True, rows=True, slack=1e-12):
    """The same but for rounding: sums of n numbers in [0, 1] are wrong by n units at most."""
    assert one.weight == pytest.approx(other.weight, rel=1e-12)
    assert not rows or one.n_rows == other.n_rows
    for name in ("gram", "column_sums"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-12, atol=slack * max(1, one.weight)
        )
    if ranges:
        np.testing.assert_array_equal(one.low, other.low)
        np.testing.assert_array_equal(one.high, other.high)


# Laws


@few
@given(rows_of(), rows_of())
def test_the_moment_of_both_is_the_sum(A, B):
    both = Moment.of(A) + Moment.of(B)
    assert_close(both, Moment.of(np.concatenate([A, B])))
    assert both == Moment.of(B) + Moment.of(A)
    assert Moment.merge([Moment.of(A), Moment.of(B)]) == both


@few
@given(rows_of(), rows_of())
def test_subtraction_undoes_it(A, B):
    left = (Moment.of(A) + Moment.of(B)) - Moment.of(B)
    assert_close(left, Moment.of(A), ranges=False)
    assert (left.low, left.high) == (None, None)
    nothing = left - Moment.of(A)
    assert (nothing.n_rows, nothing.weight, nothing.gram.any()) == (0, 0, False)


@few
@given(rows_of(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(A, random):
    order = random.sample(range(len(A)), len(A))
    assert_close(Moment.of(A[order]), Moment.of(A))


@few
@given(rows_of(), st.data())
def test_a_weight_of_two_is_two_rows_and_one_of_zero_none(A, data):
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(A), max_size=len(A)))
    if not any(times):
        with pytest.raises(ValueError, match="sample_weight"):
            Moment.of(A, times)
        return
    weighed = Moment.of(A, times)
    assert_close(weighed, Moment.of(np.repeat(A, times, axis=0)), rows=False)
    assert weighed.n_rows == np.count_nonzero(times)
    assert_close(Moment.of(sparse.csr_array(A), times), weighed)


@few
@given(rows_of(), st.floats(0, 10), st.floats(0, 10))
def test_weights_distribute(A, v, w):
    moment = Moment.of(A)
    assert_close(v * moment + moment * w, (v + w) * moment, rows=False, slack=1e-11)
    assert moment * 1 == moment
    assert np.float64(2) * moment == moment * 2
    assert_close(Moment.of(A, 2.5), moment * 2.5)


@few
@given(rows_of(count=st.integers(2, 12)), st.data())
def test_rows_that_were_not_in_it_are_refused(A, data):
    """Where a sum shows it: one row more of a column than there is in all of it."""
    column = data.draw(st.integers(0, 2))
    foreign = np.zeros((1, 3))
    foreign[0, column] = 1
    A[:, column] = min(0.9 / len(A), 0.3)  # sums to less than 1
    with pytest.raises(ValueError, match=naming(f"column {column}")):
        Moment.of(A) - Moment.of(foreign)
    with pytest.raises(ValueError, match=naming(f"{1 - len(A)} rows")):
        Moment.of(A[:1]) - Moment.of(A)


def test_rounding_is_no_foreign_row(rng):
    """Thousands of moments, each subtracted again in another order, leave nothing."""
    X = rng.random((3000, 4), dtype=np.float32)
    X[:, 3] = 0
    parts = [Moment.of(part) for part in np.array_split(X, 500)]
    left = Moment.of(X)
    for i in rng.permutation(500):
        left = left - parts[i]
    assert (left.n_rows, left.weight) == (0, 0)
    with pytest.raises(ValueError, match=naming(left, "weight")):
        LRNNAutoencoder(2).fit(left)


def test_what_is_only_rounding_is_said():
    many, few = Moment.of(np.full((1, 2), 0.3)) * 1e12, Moment.of([[0.5, 0.1]])
    with pytest.warns(UserWarning, match=naming("subtracted", 1)):
        (many + few) - many


# What they are of


def test_it_is_of_the_data(rng):
    X = rng.random((50, 4))
    moment = Moment.of(pd.DataFrame(X, columns=list("abcd")))
    np.testing.assert_allclose(moment.gram, X.T @ X, rtol=1e-13)
    np.testing.assert_allclose(moment.column_sums, X.sum(axis=0), rtol=1e-13)
    np.testing.assert_array_equal([moment.low, moment.high], [X.min(axis=0), X.max(axis=0)])
    assert (moment.names, moment.weight, moment.shape) == (tuple("abcd"), 50, (50, 4))
    assert re.search(naming("Moment", "50 rows", "4 attributes"), repr(moment))
    assert re.search(naming("Moment", "50 rows", "weight 25", "4 attributes"), repr(moment * 0.5))
    assert pickle.loads(pickle.dumps(moment)) == copy.deepcopy(moment) == moment
    assert moment != moment * 2
    assert moment != "moment"
    with pytest.raises(ValueError, match="read-only"):
        moment.gram[0, 0] = 1


def test_sums_of_float32_are_as_exact_as_those_of_float64(rng):
    X = rng.random((20_000, 3), dtype=np.float32)
    moment = Moment.of(X)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(moment.gram, exact.T @ exact, rtol=1e-13)
    assert moment.dtype == np.float32
    assert (moment + Moment.of(exact)).dtype == np.float64
    assert LRNNAutoencoder(2, max_iter=2).fit(moment).encoders_[0].dtype == np.float32


def test_levels_and_scalings_are_remembered(rng):
    levels = rng.integers(0, 256, (30, 3), dtype=np.uint8)
    moment = Moment.of(levels)
    np.testing.assert_allclose(moment.column_sums, levels.sum(axis=0) / 255, rtol=1e-6)
    assert moment.white == 255
    assert re.search(naming("levels", 255), repr(moment))
    raw = levels * 7.0 - 3
    scaled = Moment.of(raw, scale="minmax")
    np.testing.assert_allclose(scaled.high, 1)
    assert re.search(naming("minmax"), repr(scaled))
    model = LRNNAutoencoder(2, **SETTINGS).fit(scaled)
    assert model.scaling_ is scaled.scaling
    same = LRNNAutoencoder(2, scale="minmax", **SETTINGS).fit(raw)
    np.testing.assert_allclose(model.reconstruct(raw), same.reconstruct(raw), rtol=1e-6)
    with pytest.warns(RangeWarning):
        Moment.of(raw + 1, scale=scaled.scaling)


def refused(one, other, *told):
    for work in (lambda: one + other, lambda: one - other):
        with pytest.raises(ValueError, match=naming(*told)):
            work()


def test_moments_of_different_columns_scalings_or_levels_do_not_add(rng):
    X = rng.random((20, 3))
    plain, frame = Moment.of(X), pd.DataFrame(X, columns=list("abc"))
    refused(plain, Moment.of(X[:, :2]), 3, 2)
    refused(Moment.of(frame), Moment.of(frame[list("acb")]), "column 1", "'b'", "'c'")
    scaled = Moment.of(X, scale="minmax")
    refused(scaled, plain, "'minmax'", None, "Moment.of(X, scale=...)")
    refused(scaled, Moment.of(X[:9], scale="minmax"), "column 0", "Moment.of(X, scale=...)")
    levels = Moment.of(np.full((2, 3), 9, dtype=np.uint8))
    refused(plain, levels, "levels", 255)
    fixed = Scaling.fit(X, "minmax")
    assert_close(
        Moment.of(X[:9], scale=fixed) + Moment.of(X[9:], scale=fixed), Moment.of(X, scale=fixed)
    )
    assert plain + Moment.of(X, scale="none") == plain + plain
    with pytest.warns(UserWarning, match="names"):
        assert (plain + Moment.of(frame)).names == tuple("abc")
    for wrong in (1, "x", None):
        with pytest.raises(TypeError):
            plain + wrong
        with pytest.raises(TypeError, match=naming(repr(wrong))):
            Moment.merge([plain, wrong])
    for weight in (-1, np.inf, np.nan):
        with pytest.raises(ValueError, match=naming("weight", weight)):
            plain * weight
    with pytest.raises(ValueError, match="merge"):
        Moment.merge([])


def test_data_that_no_model_takes_are_refused(rng):
    with pytest.raises(ValueError, match=naming("Moment", -1, "row 0", "column 0")):
        Moment.of([[-1.0, 0.5]])
    with pytest.raises(ValueError, match=naming("scale", "auto", *KINDS, "'minimax'")):
        Moment.of([[0.5]], scale="minimax")
    with pytest.raises(ValueError, match=naming("sample_weight", "infinity")):
        Moment.of([[0.5], [0.1]], sample_weight=1e308)
    wide = sparse.csr_array((1, 20_000))
    with pytest.raises(ValueError, match=naming("20,000", "16,384", "implicit")):
        Moment.of(wide)


# Models


@pytest.mark.parametrize("hidden", [8, (20, 8), (8, 20, 8), 64, (70, 9), 80])
@pytest.mark.parametrize("stacking", ["layerwise", "joint"])
def test_a_model_of_a_moment_gives_back_what_one_of_rows_does(digits, hidden, stacking):
    of_rows = LRNNAutoencoder(hidden, stacking=stacking, **SETTINGS).fit(digits)
    moment = Moment.of(digits)
    of_sums = LRNNAutoencoder(hidden, stacking=stacking, **SETTINGS).fit(moment)
    np.testing.assert_allclose(of_sums.reconstruct(digits), of_rows.reconstruct(digits), atol=1e-6)
    assert of_sums.spike_cost_ == pytest.approx(of_rows.spike_cost_, rel=1e-6)
    np.testing.assert_allclose(of_sums.layer_spike_costs_, of_rows.layer_spike_costs_, rtol=1e-6)
    assert of_sums.error_is_bound_
    assert not of_rows.error_is_bound_
    # the error is that of the unclipped outputs, which the true one is not above
    unclipped = digits
    for layer in of_sums.weights_.excitatory:
        assert layer is of_sums.weights_.excitatory[0] or unclipped.max() <= 1 + 1e-9
        unclipped = unclipped @ layer
    assert of_sums.reconstruction_err_ == pytest.approx(
        ((unclipped - digits) ** 2).mean(), abs=1e-9
    )
    assert -of_sums.score(digits) <= of_sums.reconstruction_err_ + 1e-12
    assert of_sums.audit(digits).valid


@few
@given(rows_of(count=st.integers(1, 8), width=st.integers(2, 5)), st.booleans(), st.integers(1, 3))
def test_no_hidden_neuron_of_it_saturates(X, known, hidden):
    moment = Moment.of(X)
    if not known:
        moment = (moment + Moment.of(X)) - Moment.of(X)
    model = LRNNAutoencoder((4, hidden), max_iter=5, random_state=0).fit(moment)
    layer = X
    for weights in model.weights_.excitatory[:-1]:
        layer = layer @ weights
        assert layer.max() <= 1 + 1e-9
    assert -model.score(X) <= model.reconstruction_err_ + 1e-9


def test_forgetting_rows_is_training_without_them(rng):
    X = rng.random((200, 6)) ** 2
    fixed = Scaling.fit(X, "minmax")
    left = Moment.of(X, scale=fixed) - Moment.of(X[150:], scale=fixed)
    forgotten = LRNNAutoencoder(3, **SETTINGS).fit(left)
    never = LRNNAutoencoder(3, scale=fixed, **SETTINGS).fit(X[:150])
    kept = X[:150]  # others may saturate the code neurons of a model that never saw them
    np.testing.assert_allclose(forgotten.reconstruct(kept), never.reconstruct(kept), atol=1e-8)
    with_ranges = LRNNAutoencoder(3, **SETTINGS).fit(Moment.of(X[:150], scale=fixed))
    # ranges are forgotten too, so codes are smaller; their parts are larger by as much
    factor = with_ranges.encoders_[0] / forgotten.encoders_[0]
    assert (factor >= 1 - 1e-9).all()
    np.testing.assert_allclose(factor, np.broadcast_to(factor[:1], factor.shape), rtol=1e-6)


def test_today_is_added_to_yesterdays_file(rng, tmp_path):
    X = rng.random((100, 5))
    Moment.of(X[:80]).save(tmp_path / "yesterday.safetensors")
    moment = load_moment(tmp_path / "yesterday.safetensors") + Moment.of(X[80:])
    found = LRNNAutoencoder(2, **SETTINGS).fit(moment)
    expected = LRNNAutoencoder(2, **SETTINGS).fit(Moment.of(X))
    np.testing.assert_allclose(found.transform(X), expected.transform(X), atol=1e-9)


def test_sites_that_pool_files_of_sums_have_the_pooled_model(rng, tmp_path):
    X = rng.random((90, 5))
    fixed = Scaling.fit(X, "minmax")
    for i, part in enumerate(np.array_split(X, 3)):
        np.save(tmp_path / f"{i}.npy", part)
        Moment.of(tmp_path / f"{i}.npy", scale=fixed).save(tmp_path / f"{i}.safetensors")
    merged = Moment.merge(load_moment(tmp_path / f"{i}.safetensors") for i in range(3))
    pooled = Moment.of(X, scale=fixed)
    assert_close(merged, pooled)
    models = [LRNNAutoencoder(2, **SETTINGS).fit(m) for m in (merged, pooled)]
    np.testing.assert_allclose(models[0].transform(X), models[1].transform(X), atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"solver": "minibatch"}, "solver='minibatch'"),
        ({"rates": "unit"}, "rates='unit'"),
        ({"fine_tune": 3}, "fine_tune=3"),
        ({"inhibition": True}, "inhibition=True"),
        ({"inhibition": True, "early_stopping": True}, "inhibition=True"),
    ],
)
def test_what_needs_rows_is_refused(rng, parameters, told):
    X = rng.random((20, 4))
    with pytest.raises(ValueError, match=naming(told, "Moment", "solver='gram'")):
        LRNNAutoencoder(2, **parameters).fit(Moment.of(X))
    with pytest.raises(ValueError, match=naming(told, "sample_weight", "solver='gram'")):
        LRNNAutoencoder(2, **parameters).fit(X, sample_weight=np.ones(20))


def test_a_moment_is_no_rows(rng):
    X = rng.random((20, 4))
    moment = Moment.of(X)
    model = LRNNAutoencoder(2, **SETTINGS).fit(moment)
    for method in ("fit_transform", "transform", "reconstruct", "score", "partial_fit", "audit"):
        with pytest.raises(TypeError, match=naming("X", "Moment", "fit")):
            getattr(model, method)(moment)
    with pytest.raises(ValueError, match=naming("sample_weight", "Moment.of")):
        model.fit(moment, sample_weight=np.ones(20))
    with pytest.raises(ValueError, match=naming("moment='implicit'", "Moment", "solver='gram'")):
        LRNNAutoencoder(2, moment="implicit").fit(moment)
    with pytest.raises(ValueError, match=naming("scale='max'", "scale=None", "Moment.of")):
        LRNNAutoencoder(2, scale="max").fit(moment)
    LRNNAutoencoder(2, scale="none", **SETTINGS).fit(moment)


def test_names_come_and_go(rng):
    frame = pd.DataFrame(rng.random((20, 3)), columns=list("abc"))
    model = LRNNAutoencoder(2, **SETTINGS).fit(Moment.of(frame))
    assert list(model.feature_names_in_) == list("abc")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(frame)
    model.fit(Moment.of(frame.to_numpy()))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("X", [[[0.5, 0.25]], [[0.0, 0.0]] * 3, [[1.0, 1.0]] * 3])
def test_worst_ordinary_cases(X):
    model = LRNNAutoencoder(1, **SETTINGS).fit(Moment.of(X))
    rows = LRNNAutoencoder(1, **SETTINGS).fit(X)
    np.testing.assert_allclose(model.reconstruct(X), rows.reconstruct(X), atol=1e-12)
    assert np.isfinite(model.transform(X)).all()


def test_a_moment_on_a_device_is_trained_there(digits, monkeypatch):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    from lrnn.arrays import backend_of

    cpu = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: cpu)
    moment = Moment.of(torch.asarray(digits.copy()))
    assert isinstance(moment.gram, np.ndarray)
    model = LRNNAutoencoder((12, 6), device="cuda", **SETTINGS).fit(moment)
    assert isinstance(model.encoders_[0], np.ndarray)
    host = LRNNAutoencoder((12, 6), **SETTINGS).fit(moment)
    assert model.reconstruction_err_ == pytest.approx(host.reconstruction_err_, rel=1e-6)


def test_scalings_are_told_apart_by_numbers_alone(rng):
    X = rng.random((9, 2))
    one = Scaling.fit(X, "minmax")
    assert module.same_scaling(one, Scaling.from_json(one.to_json()))
    assert module.same_scaling(None, Scaling("none"))
    assert not module.same_scaling(one, None)


@pytest.mark.filterwarnings("default")
@pytest.mark.slow
def test_federated_is_pooled_on_a_cluster_of_processes(digits):
    distributed = pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    import dask.array as da

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=60
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        weights = np.arange(len(digits)) % 3
        on_cluster = Moment.of(da.from_array(digits, chunks=(300, 64)), weights)
        assert_close(on_cluster, Moment.of(digits, weights), slack=1e-10)
        sites = client.map(Moment.of, np.array_split(digits, 5))  # each where its rows are
        merged = Moment.merge(client.gather(sites))
    pooled = LRNNAutoencoder(8, **SETTINGS).fit(Moment.of(digits))
    federated = LRNNAutoencoder(8, **SETTINGS).fit(merged)
    np.testing.assert_allclose(federated.transform(digits), pooled.transform(digits), atol=1e-9)
    of_rows = LRNNAutoencoder(8, **SETTINGS).fit(digits)
    np.testing.assert_allclose(
        federated.reconstruct(digits), of_rows.reconstruct(digits), atol=1e-6
    )


def test_the_name_of_a_moments_file_is_not_the_moment(tmp_path, rng):
    Moment.of(rng.random((20, 4))).save(tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match=naming("m.safetensors", "lrnn.load_moment")):
        LRNNAutoencoder(2).fit(tmp_path / "m.safetensors")
    LRNNAutoencoder(2, max_iter=2, tol=0).fit(load_moment(tmp_path / "m.safetensors"))


def test_what_is_not_in_range_names_its_own_scale(rng):
    with pytest.raises(ValueError, match=naming("Moment", "scale='minmax'")):
        Moment.of(-rng.random((5, 3)))
    assert Moment.of(-rng.random((5, 3)), scale="minmax").n_rows == 5
