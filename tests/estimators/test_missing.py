"""``missing="allow"``: cells that are NaN are filled, in training and by every method."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

import lrnn
from lrnn import LRNNAutoencoder, Scaling, checkpoints, frontier, score_entries
from lrnn.arrays import is_dask
from lrnn.functional import code_prior, fill_gaps
from lrnn.moments.known import KnownMoment
from lrnn.storage.model_files import ModelFileError
from lrnn.training import filling as learning
from naming import naming
from nearness import assert_near, of_training

QUICK = {"max_iter": 5, "random_state": 0}


def with_gaps(X, share=0.3, seed=0):
    """X with NaN in place of a share of its cells, and where these are."""
    gone = np.random.default_rng(seed).random(X.shape) < share
    found = np.array(X, dtype=X.dtype if X.dtype.kind == "f" else np.float64)
    found[gone] = np.nan
    return found, gone


@pytest.fixture(scope="module")
def gappy(digits):
    return with_gaps(digits[:400])


@pytest.fixture(scope="module")
def model(gappy):
    return LRNNAutoencoder(16, missing="allow", **QUICK).fit(gappy[0])


# What fills


def test_the_most_probable_codes_are_those_of_linear_algebra():
    """While no code is 0, they solve one linear system for each row."""
    rng = np.random.default_rng(0)
    decoder = rng.random((3, 9)) / 3
    spread = np.diag([0.04, 0.03, 0.05]) + 0.01
    noise, mean = 0.01, np.array([0.5, 0.6, 0.7]) @ decoder
    scatter = spread + noise * np.linalg.inv(decoder @ decoder.T)
    codes, root = code_prior(decoder, mean, scatter, noise)
    np.testing.assert_allclose(codes, [0.5, 0.6, 0.7])
    np.testing.assert_allclose(root @ root.T, noise * np.linalg.inv(spread))
    rows = rng.multivariate_normal(codes, spread / 9, 20) @ decoder
    gaps, gone = with_gaps(rows)
    filled = fill_gaps(gaps, decoder, codes, root)
    for x, lost, found in zip(rows, gone, filled, strict=True):
        known = decoder[:, ~lost]
        left = known @ known.T + root @ root.T
        q = np.linalg.solve(left, known @ x[~lost] + root @ root.T @ codes)
        assert q.min() > 0
        np.testing.assert_allclose(found[lost], (q @ decoder)[lost], atol=1e-4)
        np.testing.assert_array_equal(found[~lost], x[~lost])


@pytest.mark.parametrize("namespace", ["torch", "array_api_strict"])
def test_every_namespace_fills_alike(namespace, model, gappy):
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    block, parts = (
        gappy[0][:20],
        (model.filling_.decoder, model.filling_.codes, model.filling_.root),
    )
    found = fill_gaps(xp.asarray(block), *map(xp.asarray, parts))
    np.testing.assert_allclose(np.asarray(found), fill_gaps(block, *parts), atol=1e-8)


def test_of_complete_rows_the_moment_of_pairs_is_the_second_moment(digits):
    X = digits[:200]
    moment = KnownMoment(X, np.full(X.shape, True), X.mean(axis=0))
    np.testing.assert_allclose(moment.gram, X.T @ X / 200, atol=1e-12)
    np.testing.assert_allclose(moment.dot(np.eye(64)[:, :3]), moment.columns([0, 1, 2]))
    assert moment.trace == pytest.approx(np.trace(moment.gram))


@pytest.mark.parametrize("many", [0, 10**9])
def test_rows_that_are_sums_of_parts_are_found_again(many, monkeypatch):
    """By the moments of pairs, and by rounds of filling."""
    monkeypatch.setattr(learning, "MANY", many)
    rng = np.random.default_rng(1)
    X = rng.random((300, 2)) @ rng.random((2, 10)) / 2
    gaps, gone = with_gaps(X)
    filled = LRNNAutoencoder(2, missing="allow", **QUICK).fit(gaps).impute(gaps)
    assert np.mean((filled - X)[gone] ** 2) < 0.05 * X[gone].var()


def test_it_is_far_better_than_the_means_of_columns(model, gappy, digits):
    gaps, gone = gappy
    X = digits[:400]
    means = np.broadcast_to(np.nanmean(gaps, axis=0), X.shape)
    filled = model.impute(gaps)
    assert np.mean((filled - X)[gone] ** 2) < 0.6 * np.mean((means - X)[gone] ** 2)
    np.testing.assert_array_equal(filled[~gone], X[~gone])
    new, lost = with_gaps(digits[400:500], seed=1)
    means = np.broadcast_to(np.nanmean(gaps, axis=0), new.shape)
    wrong = model.impute(new) - digits[400:500], means - digits[400:500]
    assert np.mean(wrong[0][lost] ** 2) < 0.6 * np.mean(wrong[1][lost] ** 2)


# The estimator


@pytest.mark.parametrize(
    "form", [np.asarray, pd.DataFrame, sparse.csr_array, lambda X: np.float32(X),
             lambda X: np.uint8(255 * X)],
)  # fmt: skip
def test_where_nothing_is_missing_it_changes_nothing(digits, form):
    X = form(digits[:100])
    plain = LRNNAutoencoder(8, **QUICK).fit(X)
    allowing = LRNNAutoencoder(8, missing="allow", **QUICK).fit(X)
    assert allowing.filling_ is None
    assert allowing.reconstruction_err_ == plain.reconstruction_err_
    np.testing.assert_array_equal(allowing.transform(X), plain.transform(X))
    assert allowing.score(X) == plain.score(X)


def test_all_methods_take_rows_with_gaps_as_the_filled_ones(model, gappy):
    gaps, gone = gappy
    filled = model.impute(gaps)
    for name in ("transform", "reconstruct", "arrivals"):
        found, expected = (getattr(model, name)(X) for X in (gaps, filled))
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(model.transform(gaps, refine=1), model.transform(filled, refine=1))
    assert model.audit(gaps).valid
    known = np.mean((model.reconstruct(gaps) - filled)[~gone] ** 2)
    assert -model.score(gaps) == pytest.approx(known)
    assert model.reconstruction_err_ == pytest.approx(known)
    np.testing.assert_array_equal(model.impute(filled), filled)


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden_layer_sizes": (12, 6)},
        {"fine_tune": 1},
        {"rates": "unit"},
        {"solver": "minibatch"},
        {"inhibition": True, "fine_tune": 2},
        {"moment": "implicit"},
    ],
    ids=str,
)
def test_every_network_is_trained_on_filled_rows(gappy, settings):
    settings = {"hidden_layer_sizes": 6, "missing": "allow"} | QUICK | settings
    model = LRNNAutoencoder(**settings).fit(gappy[0][:80])
    assert np.isfinite(model.transform(gappy[0])).all()
    assert -model.score(gappy[0][:80]) == pytest.approx(model.reconstruction_err_)


@pytest.mark.parametrize("scale", ["minmax", "max", "auto"])
def test_raw_data_are_filled_in_their_own_units(scale):
    frame = load_wine(as_frame=True).data
    lost = np.random.default_rng(0).random(frame.shape) < 0.2
    gaps = frame.mask(lost)
    model = LRNNAutoencoder(5, scale=scale, missing="allow", **QUICK).fit(gaps)
    filled = model.impute(gaps)
    assert filled.columns.equals(frame.columns)
    found = filled.to_numpy()
    np.testing.assert_array_equal(found[~lost], frame.to_numpy()[~lost])
    off = ((found - frame) / frame.std()).to_numpy()[lost]
    assert np.mean(off**2) < 0.8  # the mean of a column has 1
    assert (found >= np.nanmin(gaps, axis=0) * (0 if scale == "max" else 1) - 1e-9).all()
    assert (found <= np.nanmax(gaps, axis=0) + 1e-9).all()
    assert np.isfinite(model.reconstruct(gaps)).all()


def test_float32_stays_float32(gappy):
    gaps = gappy[0][:100].astype(np.float32)
    model = LRNNAutoencoder(5, missing="allow", **QUICK).fit(gaps)
    assert model.impute(gaps).dtype == model.transform(gaps).dtype == np.float32


def test_frames_with_nullable_columns_and_masked_arrays(gappy):
    gaps, _ = gappy
    gaps = gaps[:60, 18:30]
    expected = LRNNAutoencoder(4, missing="allow", **QUICK).fit(gaps)
    frame = pd.DataFrame(gaps, columns=[f"c{i}" for i in range(12)])
    for data in (frame, frame.astype("Float64"), np.ma.masked_invalid(gaps), gaps.tolist()):
        model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(data)
        terms = of_training(5, *gaps.shape, 4)
        assert_near(model.transform(data), expected.transform(gaps), terms)
        assert_near(np.asarray(model.impute(data), float), expected.impute(gaps), terms)


def test_tables_with_columns_of_text(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.random(60)
    frame = pd.DataFrame({
        "size": size * 50, "kind": np.where(size > 0.5, "large", "small"), "weight": size * 3 + 1,
    })  # fmt: skip
    gaps = frame.copy()
    gaps.loc[3, "size"] = np.nan
    gaps.loc[5, "kind"] = None
    scaling = Scaling.fit(gaps, "minmax", categories="onehot", missing="allow")
    model = LRNNAutoencoder(2, scale=scaling, missing="allow", **QUICK).fit(gaps)
    filled = model.impute(gaps)
    assert abs(filled["size"][3] - frame["size"][3]) < 10
    assert filled["kind"].equals(frame["kind"])
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    found = LRNNAutoencoder(2, scale=scaling, missing="allow", **QUICK).fit(tmp_path / "gaps.csv")
    np.testing.assert_allclose(found.transform(tmp_path / "gaps.csv"), model.transform(gaps))
    again = Scaling.from_json(scaling.to_json())
    assert again.recipe.missing == "allow"


FRAMES = [
    pytest.param("pandas", id="pandas"),
    pytest.param("arrow", id="pandas of Arrow"),
    pytest.param("polars", id="polars"),
]


def table_with_gaps():
    """Columns of every kind, a gap in each, and one that is not taken."""
    size = np.linspace(0, 1, 40)
    frame = pd.DataFrame(
        {
            "name": [f"n{i}" if i != 2 else None for i in range(40)],
            "size": (50 * size).astype(np.float32),
            "kind": np.where(size > 0.5, "large", "small"),
            "grade": pd.Categorical(np.where(size > 0.5, "b", "a"), categories=["b", "a", "c"]),
            "heavy": pd.array(size > 0.5, dtype="boolean"),
            "count": pd.array(np.round(100 * size), dtype="Int64"),
            "large": pd.array(2**60 + np.round(1e9 * size).astype(int), dtype="Int64"),
            "weight": 3 * size + 1,
            "whole": np.arange(40) % 7,
        },
        index=[f"row {i}" for i in range(40)],
    )
    gaps = frame.copy()
    for row, name in enumerate(frame.columns[1:-1], start=30):
        gaps.loc[f"row {row}", name] = None
    return frame, gaps


@pytest.mark.parametrize("library", FRAMES)
def test_frames_are_filled_to_frames(library):
    frame, gaps = table_with_gaps()
    lost = gaps.isna()
    if library == "polars":
        X = pytest.importorskip("polars", reason="pip install polars").from_pandas(gaps)
    elif library == "arrow":
        X = gaps.convert_dtypes(dtype_backend="pyarrow").astype({"grade": gaps["grade"].dtype})
    else:
        X = gaps
    scaling = Scaling.fit(X, "minmax", index="name", categories="onehot", missing="allow")
    model = LRNNAutoencoder(4, scale=scaling, missing="allow", **QUICK).fit(X)
    model.set_output(transform="pandas")
    filled = model.impute(X)
    assert type(filled) is type(X)
    assert list(filled.columns) == list(X.columns)
    kept = [name for name in X.columns if name != "count"]
    assert [filled[name].dtype for name in kept] == [X[name].dtype for name in kept]
    assert "float64" in str(filled["count"].dtype).lower() or "double" in str(filled["count"].dtype)
    if library != "polars":
        assert filled.index.equals(X.index)
        pd.testing.assert_series_equal(filled["name"], X["name"])
    else:
        filled = filled.to_pandas().set_index(frame.index)
    assert not filled.drop(columns="name").isna().any().any()
    for name in frame.columns:
        known = ~lost[name].to_numpy()
        assert filled[name][known].tolist() == frame[name][known].tolist()
    for name in ("kind", "grade", "heavy"):
        assert filled[name].tolist() == frame[name].tolist()
    for name in ("size", "count", "large", "weight"):
        off = (filled[name].astype(float) - frame[name].astype(float)).abs().max()
        assert off < 0.2 * float(frame[name].max() - frame[name].min())


def test_frames_without_gaps_or_names_come_back_as_they_are(gappy):
    frame = pd.DataFrame(gappy[0][:60, 18:30])
    model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(frame)
    filled = model.impute(frame)
    assert_near(filled.to_numpy(), model.impute(frame.to_numpy()), 12 + 4)
    pd.testing.assert_frame_equal(model.impute(filled), filled)
    assert model.impute(filled) is not filled
    thin = filled.astype(pd.SparseDtype(float, 0.0))
    pd.testing.assert_frame_equal(model.impute(thin), thin)
    holes = frame.astype(pd.SparseDtype(float, np.nan))
    pd.testing.assert_frame_equal(model.impute(holes), filled.astype(holes.dtypes.iloc[0]))


@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
def test_rows_that_a_scaling_leaves_out_are_left_out_of_a_filled_frame():
    frame = pd.DataFrame(load_wine().data[:, :5], columns=list("abcde"))
    frame.loc[[3, 8], "b"] = np.nan
    scaling = Scaling.fit(frame, "minmax", missing="drop")
    model = LRNNAutoencoder(3, scale=scaling, missing="allow", **QUICK).fit(frame)
    pd.testing.assert_frame_equal(model.impute(frame), frame.drop(index=[3, 8]))


def test_a_row_that_is_wholly_missing_becomes_what_is_usual(gappy):
    gaps = gappy[0].copy()
    gaps[7] = np.nan
    model = LRNNAutoencoder(8, missing="allow", **QUICK).fit(gaps)
    usual = np.nanmean(gaps, axis=0)
    assert np.abs(model.impute(gaps)[7] - usual).max() < 0.1
    assert np.isfinite(model.transform(gaps[[7]])).all()


def test_a_column_that_is_wholly_missing_is_refused(gappy):
    gaps = gappy[0].copy()
    gaps[:, [3, 5]] = np.nan
    with pytest.raises(ValueError, match=naming("X", "column 3", "1 more")):
        LRNNAutoencoder(8, missing="allow").fit(gaps)
    with pytest.raises(ValueError, match=naming("column 3")):
        LRNNAutoencoder(8, missing="allow", scale="minmax").fit(gaps)
    named = pd.DataFrame(gaps, columns=[f"c{i}" for i in range(64)])
    with pytest.raises(ValueError, match=naming("X", "column 'c3'")):
        LRNNAutoencoder(8, missing="allow").fit(named)


@pytest.mark.parametrize(
    "X",
    [
        [[0.5, np.nan], [np.nan, 0.25]],
        [[0.0, np.nan, 0.0], [0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]],
        [[1.0, 0.3, np.nan], [1.0, np.nan, 0.2], [1.0, 0.3, 0.2], [np.nan, 0.3, 0.2]],
        [[0.5], [np.nan], [0.7]],
        np.where(np.eye(30, 4) > 0, np.nan, 1.0),
    ],
    ids=["two rows", "zeros", "constant columns", "one column", "ones"],
)
def test_the_least_that_can_be_filled(X):
    model = LRNNAutoencoder(1, missing="allow", **QUICK).fit(X)
    X, filled = np.array(X), model.impute(X)
    assert np.isfinite(filled).all()
    assert filled.min() >= 0
    assert filled.max() <= 1
    for column, found in zip(X.T, filled.T, strict=True):
        known = column[~np.isnan(column)]
        if (known == known[0]).all():
            np.testing.assert_allclose(found, known[0], atol=0.05)


# Sparse rows


def ratings(share=0.5, noise=0.2, seed=0):
    """Ratings from 1 to 5 of rank 3 with noise; those that were given, sparse; which these are."""
    rng = np.random.default_rng(seed)
    X = 1 + 4 * rng.random((200, 3)) @ rng.random((3, 20)) / 3
    given = rng.random(X.shape) < share
    i, j = np.nonzero(given)
    said = np.clip(X + noise * rng.standard_normal(X.shape), 0, 5)
    return X, sparse.csr_array((said[i, j], (i, j)), shape=X.shape), given


def masked_nmf(gaps, parts, steps=300):
    """Multiplicative steps on the known cells."""
    known, X, rng = ~np.isnan(gaps), np.nan_to_num(gaps), np.random.default_rng(0)
    W, H = rng.random((len(X), parts)), rng.random((parts, X.shape[1]))
    for _ in range(steps):
        W *= (X @ H.T) / ((known * (W @ H)) @ H.T)
        H *= (W.T @ X) / (W.T @ (known * (W @ H)))
    return W @ H


@pytest.mark.parametrize("scale", ["max", "minmax"])
def test_ratings_that_nobody_gave_are_missing_and_not_zero(scale):
    X, given, seen = ratings()
    settings = {"scale": scale, "random_state": 0, "max_iter": 20, "tol": 0}
    model = LRNNAutoencoder(6, missing="unstored", **settings).fit(given)

    def error(found):
        return np.mean((found - X)[~seen] ** 2)

    gaps = np.where(seen, given.toarray(), np.nan)
    zeros = LRNNAutoencoder(6, **settings | {"scale": "max"}).fit(given).reconstruct(given)
    assert error(model.impute(given)) < 1.25 * error(masked_nmf(gaps, 3))
    assert error(model.impute(given)) < error(zeros) / 20
    W, H = lrnn.factorize(given, 3, missing="unstored", **QUICK)
    assert error(W @ H) < 1.25 * error(masked_nmf(gaps, 3))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_sparse_rows_with_gaps_are_those_of_full_ones(form, tmp_path):
    _, given, seen = ratings()
    given.data[:5] = 0  # which are known
    gaps = np.where(seen, given.toarray(), np.nan)
    X = given.asformat(form)
    settings = {"scale": "max"} | QUICK
    expected = LRNNAutoencoder(4, missing="allow", **settings).fit(gaps)
    model = LRNNAutoencoder(4, missing="unstored", **settings).fit(X)
    terms = of_training(5, *gaps.shape, 4)
    assert_near(model.reconstruction_err_, expected.reconstruction_err_, terms)
    for name in ("transform", "reconstruct", "impute", "score", "arrivals"):
        assert_near(getattr(model, name)(X), getattr(expected, name)(gaps), terms)
    assert_near(model.transform(X, refine=2), expected.transform(gaps, refine=2), terms)
    assert_near(model.transform(gaps), expected.transform(gaps), terms)  # NaN, too
    model.save(tmp_path / "model.safetensors")
    again = lrnn.load(tmp_path / "model.safetensors")
    assert again.missing == "unstored"
    np.testing.assert_array_equal(again.impute(X), model.impute(X))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_stored_nan_is_missing_and_what_is_not_stored_is_0(form, gappy):
    X = sparse.csr_array(gappy[0]).asformat(form)
    expected = LRNNAutoencoder(4, missing="allow", **QUICK).fit(gappy[0])
    model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(X)
    terms = of_training(5, *X.shape, 4)
    assert_near(model.reconstruction_err_, expected.reconstruction_err_, terms)
    assert_near(model.impute(X), expected.impute(gappy[0]), terms)
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(gappy[0]))
    assert_near(model.transform(frame), expected.transform(gappy[0]), terms)
    whole = sparse.csr_array(np.nan_to_num(gappy[0]))
    np.testing.assert_array_equal(model.impute(whole), whole.toarray())
    W, H = lrnn.factorize(X, 3, missing="allow", **QUICK)
    V, G = lrnn.factorize(gappy[0], 3, missing="allow", **QUICK)
    assert_near(W @ H, V @ G, terms)


def test_several_entries_of_a_cell_are_one_and_whole_numbers_are_no_levels():
    _, given, _ = ratings()
    whole = given.astype(np.uint8)
    halves = sparse.csr_array(  # each entry twice
        (np.repeat(whole.data, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), whole.shape
    )
    halves.data[1::2] = 0
    models = [
        LRNNAutoencoder(4, scale="max", missing="unstored", **QUICK).fit(X)
        for X in (whole.astype(np.float64), whole, halves)
    ]
    assert models[1].white_ is None
    for model in models[1:]:
        terms = of_training(5, *whole.shape, 4)
        assert_near(model.reconstruction_err_, models[0].reconstruction_err_, terms)
        assert_near(model.impute(halves), models[0].impute(whole), terms)


def test_blocks_of_sparse_rows_have_gaps_too(gappy):
    _, given, seen = ratings()
    gaps = np.where(seen, given.toarray(), np.nan)
    settings = {"scale": "max"} | QUICK
    expected = LRNNAutoencoder(4, missing="allow", **settings).fit(gaps)

    def blocks():
        return iter([given[:70], gaps[70:90], given[90:]])

    model = LRNNAutoencoder(4, missing="unstored", **settings).fit(blocks)
    assert_near(model.impute(blocks), expected.impute(gaps), of_training(5, *gaps.shape, 4))
    thin = sparse.csr_array(gappy[0])
    model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(lambda: iter([thin]))
    assert model.filling_ is not None


def test_sparse_rows_that_are_too_large_or_cannot_tell_are_refused(dask_here):
    _, given, _ = ratings()
    model = LRNNAutoencoder(4, scale="max", missing="unstored", **QUICK)
    with pytest.raises(ValueError, match=naming("bsr", "csr_array", "missing='unstored'")):
        model.fit(given.asformat("bsr"))
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    lazy = da.from_array(given.toarray(), chunks=(50, 20)).map_blocks(sparse.csr_array)
    with pytest.raises(ValueError, match=naming("Dask", "missing='unstored'", "X.compute()")):
        model.fit(lazy)
    large = sparse.csr_array(([1.0], ([0], [0])), shape=(1_000_000, 2_000))
    for X in (large, lambda: iter([large])):
        with pytest.raises(ValueError, match=naming("1,000,000 × 2,000", "14.9 GiB", "1.0 GiB")):
            model.fit(X)
    nan = sparse.csr_array(([np.nan], ([0], [0])), shape=(1_000_000, 2_000))
    with pytest.raises(ValueError, match=naming("14.9 GiB", "1.0 GiB")):
        LRNNAutoencoder(4, missing="allow").fit(nan)
    with pytest.raises(ValueError, match=naming("14.9 GiB", "1.0 GiB")):
        lrnn.factorize(large, 3, missing="unstored")


def test_sparse_rows_with_gaps_are_trained_on_in_every_way(tmp_path):
    _, given, seen = ratings()
    given /= 5
    gaps = np.where(seen, given.toarray(), np.nan)
    weights = np.arange(200) % 3
    terms = of_training(10, *gaps.shape, 4)
    sparse_settings, settings = ({"missing": m} | QUICK for m in ("unstored", "allow"))
    for work in (
        lambda model, X: model.partial_fit(X),
        lambda model, X: model.fit(X, sample_weight=weights),
        lambda model, X: checkpoints.fit(model, X, tmp_path / model.missing, every=0),
        lambda model, X: model.set_params(inhibition=True, fine_tune=1).fit(X),
    ):
        found = work(LRNNAutoencoder(4, **sparse_settings), given)
        expected = work(LRNNAutoencoder(4, **settings), gaps)
        assert_near(found.reconstruction_err_, expected.reconstruction_err_, terms)
        assert_near(found.impute(given), expected.impute(gaps), terms)
    lrnn.streaming.encode(found, given, tmp_path / "codes.npy")
    assert_near(np.load(tmp_path / "codes.npy"), expected.transform(gaps), terms)
    found = frontier(given, 4, penalties=2, passes=1, X_test=given, **sparse_settings)
    expected = frontier(gaps, 4, penalties=2, passes=1, X_test=gaps, **settings)
    errors = [[p.error for p in one.points] for one in (found, expected)]
    assert_near(*errors, terms)


def test_where_all_were_stored_nothing_was_learnt_to_fill(digits):
    model = LRNNAutoencoder(4, missing="unstored", **QUICK).fit(np.maximum(digits[:50], 0.01))
    few = sparse.csr_array(digits[:50])
    count = few.shape[0] * few.shape[1] - few.nnz
    for work in (model.transform, model.score, model.impute):
        with pytest.raises(ValueError, match=naming(f"{count:,}", "X.toarray()")):
            work(few)


# Refusals


def test_by_default_missing_cells_are_refused_and_the_remedy_is_named(gappy):
    for X in (gappy[0], pd.DataFrame(gappy[0]), np.ma.masked_invalid(gappy[0])):
        with pytest.raises(ValueError, match=naming("row 0", "column 1", "missing='allow'")):
            LRNNAutoencoder(4).fit(X)
    with pytest.raises(ValueError, match=naming("missing", "drop")):
        LRNNAutoencoder(4, missing="drop").fit(gappy[0])


def refusal(work, *arguments):
    """The text of the error about the first gap of some data."""
    with pytest.raises(ValueError, match=naming("row", "column")) as found:
        work(*arguments)
    return str(found.value)


REMEDIES = r"(SimpleImputer|Scaling\.fit|missing='\w+'|filled\(0\))"


@pytest.mark.parametrize("scale", [None, "auto", "minmax"])
def test_the_first_remedy_is_the_one_most_want_and_all_of_them_exist(gappy, digits, scale):
    gaps = gappy[0]
    model = LRNNAutoencoder(4, scale=scale, **QUICK)
    forms = [np.asarray, pd.DataFrame, sparse.csr_array, np.ma.masked_invalid]
    said = [refusal(model.fit, form(gaps)) for form in (*forms, lambda X: lambda: iter([X]))]
    named = [re.findall(REMEDIES, text) for text in said]
    assert [remedies[0] for remedies in named] == ["missing='allow'"] * 5
    for text, remedies in zip(said, named, strict=True):
        if "missing='median'" in remedies:  # is no parameter of a model
            assert "scale=Scaling.fit(X, missing='median')" in text
    assert "missing='allow'" in re.findall(REMEDIES, refusal(lrnn.factorize, gaps, 3))[0]
    assert "missing='median'" not in refusal(lrnn.factorize, gaps, 3)


def test_what_fills_no_gaps_does_not_offer_it(gappy, digits, monkeypatch):
    gaps, whole = gappy[0], digits[:50]
    for work in (lrnn.widths, lrnn.Moment.of, lrnn.bounds.variance):
        text = refusal(work, gaps)
        assert "LRNNAutoencoder(missing='allow').fit(X).impute(X)" in text
        assert re.findall(REMEDIES, text) == ["missing='allow'", "SimpleImputer"]
    text = refusal(lrnn.widths, np.ma.masked_invalid(gaps))
    assert re.findall(REMEDIES, text) == ["filled(0)"]
    model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(whole)
    assert re.findall(REMEDIES, refusal(model.transform, gaps)) == []
    codes = model.transform(whole)
    codes[0, 0] = np.nan
    assert re.search(naming("column 0", "transform"), refusal(model.inverse_transform, codes))
    monkeypatch.setattr("lrnn.rows.validation.BUFFER_BYTES", 1_000)
    text = refusal(LRNNAutoencoder(4).fit, lambda: iter([gaps]))
    assert re.findall(REMEDIES, text)[0] == "SimpleImputer"
    assert "1,000 bytes" in text


def test_a_model_of_complete_rows_does_not_know_what_to_fill(digits, gappy):
    model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(digits[:50])
    with pytest.raises(ValueError, match=naming("NaN", "row 0", "column 1", "training")):
        model.transform(gappy[0])
    with pytest.raises(ValueError, match=naming("missing='refuse'", "missing='allow'")):
        LRNNAutoencoder(4, **QUICK).fit(digits[:50]).impute(digits)


def test_collections_with_gaps_are_gathered(gappy, dask_here, monkeypatch):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'")
    gaps = gappy[0]
    expected = LRNNAutoencoder(4, missing="allow", **QUICK).fit(gaps)
    frame = pd.DataFrame(gaps, columns=[f"c{i}" for i in range(gaps.shape[1])])
    lazy = da.from_array(gaps, chunks=(100, 64))
    for X in (lazy, dd.from_pandas(frame, npartitions=3)):
        model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(X)
        np.testing.assert_allclose(model.encoders_[0], expected.encoders_[0], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.transform(X), expected.transform(gaps), rtol=1e-6)
        np.testing.assert_allclose(model.impute(X), expected.impute(gaps), rtol=1e-6)
        assert model.score(X) == pytest.approx(expected.score(gaps))
    whole = LRNNAutoencoder(4, missing="allow", **QUICK).fit(da.nan_to_num(lazy))
    assert is_dask(whole.transform(da.nan_to_num(lazy)))  # nothing is missing, and nothing moves
    monkeypatch.setattr("lrnn.rows.validation.BUFFER_BYTES", 1_000)
    with pytest.raises(ValueError, match=naming("NaN", "SimpleImputer", "1,000 bytes")):
        LRNNAutoencoder(4, missing="allow", **QUICK).fit(lazy)


def test_files_blocks_and_tensors_are_brought_to_memory(gappy, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    gaps = gappy[0][:60, 18:30] * 5
    np.save(tmp_path / "gaps.npy", gaps)
    frame = pd.DataFrame(gaps, columns=[f"c{i}" for i in range(12)])
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    settings = {"missing": "allow", "scale": "max"} | QUICK
    expected = LRNNAutoencoder(4, **settings).fit(gaps)
    codes, filled, score = expected.transform(gaps), expected.impute(gaps), expected.score(gaps)
    tensor = torch.asarray(gaps)

    def blocks():
        return iter(np.array_split(gaps, 3))

    for X in (tmp_path / "gaps.npy", tmp_path / "gaps.csv", blocks, tensor):
        model = LRNNAutoencoder(4, **settings).fit(X)
        found = model.transform(X)
        assert isinstance(found, torch.Tensor if X is tensor else np.ndarray)
        np.testing.assert_allclose(np.asarray(found), codes, atol=1e-9)
        np.testing.assert_allclose(model.impute(X), filled, atol=1e-9)
        assert model.score(X) == pytest.approx(score)
        known = ~np.isnan(gaps)
        np.testing.assert_array_equal(model.impute(X)[known], gaps[known])
    monkeypatch.setattr("lrnn.rows.validation.BUFFER_BYTES", 100)
    with pytest.raises(ValueError, match=naming("NaN", "row 0", "column 0", "SimpleImputer")):
        LRNNAutoencoder(4, **settings).fit(tmp_path / "gaps.npy")


@pytest.mark.parametrize(("value", "named"), [(-0.5, -0.5), (np.inf, "inf")])
def test_other_unfit_numbers_are_refused_as_ever(gappy, model, value, named):
    X = gappy[0].copy()
    X[2, 3] = value
    for work in (LRNNAutoencoder(4, missing="allow").fit, model.transform):
        with pytest.raises(ValueError, match=naming(named, "row 2", "column 3")):
            work(X)


def test_what_is_above_1_counts_as_1(gappy):
    X = gappy[0].copy()
    X[np.isnan(X).argmin(axis=0)[5], 5] = 3.0
    with pytest.warns(UserWarning, match=naming("row 0", "column 5", "scale='minmax'")):
        LRNNAutoencoder(4, missing="allow", **QUICK).fit(X)


# Files, and other ways to train


def test_saved_and_pickled_models_fill_alike(model, gappy, tmp_path):
    model.save(tmp_path / "model.safetensors")
    for found in (lrnn.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert found.missing == "allow"
        np.testing.assert_array_equal(found.impute(gappy[0]), model.impute(gappy[0]))


@pytest.mark.parametrize(
    "change",
    [
        {"decoder": np.ones((3, 5))},
        {"codes": np.ones(3)},
        {"root": np.full((32, 32), np.nan)},
        {"decoder": -np.ones((32, 64))},
        {"codes": np.ones(32, np.float32)},
    ],
)
def test_a_filling_that_makes_no_sense_is_not_read(model, tmp_path, change):
    from dataclasses import replace

    broken = pickle.loads(pickle.dumps(model))
    broken.filling_ = replace(model.filling_, **change)
    with pytest.raises(ValueError, match=naming("filling")):
        broken.save(tmp_path / "model.safetensors")
    assert issubclass(ModelFileError, ValueError)


def test_checkpoints_frontiers_and_parts_of_a_stream(gappy, tmp_path):
    gaps = gappy[0][:60, 18:30]
    settings = {"missing": "allow"} | QUICK
    plain = LRNNAutoencoder(4, **settings).fit(gaps)
    kept = checkpoints.fit(LRNNAutoencoder(4, **settings), gaps, tmp_path / "checkpoint", every=0)
    assert kept.reconstruction_err_ == plain.reconstruction_err_
    np.testing.assert_array_equal(kept.impute(gaps), plain.impute(gaps))
    found = frontier(gaps, 4, penalties=2, passes=1, X_test=gaps, **settings)
    np.testing.assert_array_equal(found.points[0].model.impute(gaps), plain.impute(gaps))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = LRNNAutoencoder(4, **settings).partial_fit(gaps[:40]).partial_fit(gaps[40:])
    assert np.isfinite(parts.transform(gaps)).all()


def test_on_a_device(gappy, monkeypatch):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    from lrnn.arrays import backend_of

    cpu = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: cpu)
    gaps = gappy[0][:60]
    plain = LRNNAutoencoder(4, missing="allow", **QUICK).fit(gaps)
    sent = LRNNAutoencoder(4, missing="allow", device="cuda", **QUICK).fit(gaps)
    assert sent.reconstruction_err_ == pytest.approx(plain.reconstruction_err_)
    np.testing.assert_allclose(sent.impute(gaps), plain.impute(gaps), atol=1e-9)
    assert sent.score(gaps) == pytest.approx(plain.score(gaps))


def test_tags_tell_whether_nan_is_taken():
    assert not LRNNAutoencoder().__sklearn_tags__().input_tags.allow_nan
    for missing in ("allow", "unstored"):
        assert LRNNAutoencoder(missing=missing).__sklearn_tags__().input_tags.allow_nan


def test_a_parquet_file_has_gaps_as_a_frame_has(tmp_path):
    frame = pd.DataFrame(load_wine().data[:, :6], columns=list("abcdef"))
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2)
    frame.to_parquet(tmp_path / "gaps.parquet")
    settings = {"scale": "minmax", "missing": "allow"} | QUICK
    of_file, of_frame = (
        LRNNAutoencoder(3, **settings).fit(X) for X in (tmp_path / "gaps.parquet", frame)
    )
    assert list(of_file.feature_names_in_) == list("abcdef")
    assert of_file.reconstruction_err_ == pytest.approx(of_frame.reconstruction_err_)
    assert of_file.score(tmp_path / "gaps.parquet") == pytest.approx(of_frame.score(frame))


@pytest.mark.parametrize("corruption", [("mask", 0.5), ("noise", 0.05)])
def test_errors_of_corrupted_rows_are_those_of_known_cells(corruption, digits):
    gaps = digits.copy()
    gaps[np.random.default_rng(0).random(gaps.shape) < 0.5] = np.nan
    model = LRNNAutoencoder(8, missing="allow", corruption=corruption, **QUICK).fit(gaps)
    known, filled = ~np.isnan(gaps), model.impute(gaps)
    rng, found = np.random.default_rng(1), []
    for _ in range(20):
        seen = filled + corruption[1] * rng.standard_normal(filled.shape)
        if corruption[0] == "mask":
            seen = filled * (rng.random(filled.shape) >= corruption[1])
        missed = model.reconstruct(np.clip(seen, 0, 1)) - gaps
        found.append(np.mean(missed[known] ** 2))
    assert model.corrupted_err_ == pytest.approx(np.mean(found), abs=8 * np.std(found))
    assert model.corrupted_err_ > model.reconstruction_err_ or corruption[0] == "mask"


def test_nothing_known_is_no_perfect_score(digits, gappy):
    model = LRNNAutoencoder(4, missing="allow", **QUICK).fit(gappy[0])
    with pytest.raises(ValueError, match=naming("X", "known")):
        model.score(np.full((3, 64), np.nan))
    with pytest.raises(ValueError, match=naming("score_entries", "missing cells")):
        score_entries(model, gappy[0])


def test_a_small_first_part_is_little_to_fill_by(gappy):
    with pytest.warns(UserWarning, match=naming("40 rows", "64 attributes")):
        LRNNAutoencoder(4, missing="allow", **QUICK).partial_fit(gappy[0][:40])


def test_what_is_cut_off_beside_a_gap_has_a_size():
    X = np.array([[0.1, 0.2], [0.4, 0.3], [0.2, np.nan], [0.3, 0.1]])
    model = LRNNAutoencoder(1, scale="minmax", missing="allow", **QUICK).fit(X)
    with pytest.warns(UserWarning, match=naming("column 0", 5)):
        model.score(np.array([[5.0, 0.2], [np.nan, 0.3]]))


@pytest.mark.parametrize(("count", "width"), [(300, 6), (20, 12)])  # many rows, or few
def test_rows_count_by_their_weights_in_what_fills_cells(count, width):
    rng = np.random.default_rng(0)
    X = rng.random((count, 3)) @ rng.random((3, width)) / 3
    X[rng.random(X.shape) < 0.2] = np.nan
    often = rng.integers(1, 3, count)
    fit = LRNNAutoencoder(3, missing="allow", max_iter=20, random_state=0).fit
    found = fit(X, sample_weight=often).impute(X)
    np.testing.assert_allclose(found, fit(np.repeat(X, often, axis=0)).impute(X), atol=1e-9)
    assert np.abs(found - fit(X).impute(X)).max() > 1e-3
    more = np.vstack([X, rng.random((50, width))])
    kept = np.arange(len(more)) < count
    np.testing.assert_allclose(fit(more, sample_weight=kept).impute(X), fit(X).impute(X), atol=1e-6)


def test_full_matrices_have_no_unstored_cells():
    rng = np.random.default_rng(0)
    ratings = sparse.random_array((60, 8), density=0.5, format="csr", rng=rng)
    model = LRNNAutoencoder(2, missing="unstored", max_iter=5, random_state=0)
    model.fit(ratings)
    zeros = ratings.shape[0] * ratings.shape[1] - ratings.nnz
    for work in (model.transform, model.fit):
        with pytest.warns(UserWarning, match=naming("X", zeros, "missing='unstored'")):
            work(ratings.toarray())


def test_masked_levels_want_to_be_scaled():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 256, (40, 5)).astype(np.uint8)
    masked = np.ma.masked_array(levels, rng.random(levels.shape) < 0.1)
    with pytest.raises(ValueError, match=naming("X", "uint8", "scale='levels'")):
        LRNNAutoencoder(2, missing="allow").fit(masked)
    model = LRNNAutoencoder(2, missing="allow", scale="levels", max_iter=5).fit(masked)
    np.testing.assert_array_equal(model.impute(masked)[~masked.mask], levels[~masked.mask])


def test_a_column_of_text_of_which_nothing_is_known():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(40), "kind": rng.choice(["u", "v"], 40)})
    table.loc[3, "kind"] = None
    scaling = lrnn.Scaling.fit(table, categories="onehot", missing="allow")
    model = LRNNAutoencoder(2, scale=scaling, missing="allow", max_iter=5).fit(table)
    unknown = table.assign(kind=np.nan)  # float64, as pandas reads it from a file
    assert set(model.impute(unknown)["kind"]) <= {"u", "v"}
