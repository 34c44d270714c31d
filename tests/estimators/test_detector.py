"""The outlier detector: what it calls strange, how sure it is, and why it says so."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from lrnn import LRNNAutoencoder, LRNNOutlierDetector, Scaling, load
from lrnn.estimators.detector import share_beyond
from lrnn.functional import complement_coded, complement_decoded
from lrnn.functional.open_scale import open_coded, open_evidence
from lrnn.functional.strangeness import nearest_mean, nearest_shares, squared_distances
from lrnn.moments import Sums, sums_of
from lrnn.rows import ComplementedRows, WeightedRows, held
from naming import naming


def sums_of_parts(rng, rows, noise=0.05):
    """Rows that are sums of three parts in other units for each attribute."""
    parts = np.random.default_rng(7).random((3, 8))
    clean = rng.random((rows, 3)) @ parts + noise * rng.normal(size=(rows, 8))
    return clean * 10.0 ** np.arange(-2, 6) + 100


@pytest.fixture
def table(rng):
    return sums_of_parts(rng, 300)


@pytest.fixture
def model(table):
    return LRNNOutlierDetector(random_state=0).fit(table)


# The score


def test_strangeness_is_what_is_not_given_back_and_how_far_other_rows_are(model, rng):
    X = sums_of_parts(rng, 20, noise=0.2)
    coded = model.scaling_.apply(X)
    given = complement_decoded(
        np.minimum(
            np.minimum(complement_coded(coded) @ model.autoencoder_.encoders_[0], 1)
            @ model.autoencoder_.decoders_[0],
            1,
        )
    )
    rows, back = open_evidence(coded), open_evidence(given)
    typical = open_evidence(model.scaling_.apply(model.typical_rows_))
    counts = model.typical_counts_
    near = []
    for row in rows:  # one row after the other, neighbour by neighbour
        apart = ((typical - row) ** 2).sum(axis=1)
        left, total = 5.0, 0.0
        for group in np.argsort(apart):
            taken = min(left, counts[group])
            total, left = total + taken * apart[group], left - taken
        near.append(total / 5)
    scale = model._held.scales
    expected = ((rows - back) ** 2).sum(axis=1) / scale[0] / 5 + 4 * np.array(near) / scale[1] / 5
    np.testing.assert_allclose(-model.score_samples(X), expected, rtol=1e-9)


def test_distances_and_neighbours_are_those_of_a_loop(rng):
    rows, others = rng.random((9, 4)), rng.random((6, 4))
    counts, cells = rng.random(6) * 3, rng.random((9, 4))
    direct = ((rows[:, None] - others) ** 2 * cells[:, None]).sum(axis=2)
    np.testing.assert_allclose(squared_distances(rows, others, cells), direct, atol=1e-12)
    shares = nearest_shares(direct, counts, 2.5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares * 2.5 <= counts + 1e-12).all()
    np.testing.assert_allclose(nearest_mean(direct, counts, 2.5), (shares * direct).sum(axis=1))
    ones = np.ones(6)
    mean_of_two = np.sort(direct, axis=1)[:, :2].mean(axis=1)
    np.testing.assert_allclose(nearest_mean(direct, ones, 2), mean_of_two)


def test_nothing_is_beyond_an_open_scale_and_what_is_far_grows_slowly():
    positions = np.r_[-1e9, -3.0, np.linspace(0, 1, 5), 3.0, 1e9]
    coded = open_coded(positions)
    assert (np.diff(coded) > 0).all()
    assert coded.min() > 0
    assert coded.max() < 1
    evidence = open_evidence(coded)
    np.testing.assert_allclose(evidence[2:7], positions[2:7], atol=1e-12)
    assert 5 < evidence[-1] < 15
    slopes = np.diff(open_coded(np.array([1 - 1e-6, 1.0, 1 + 1e-6])))
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-4)  # it is smooth


def test_what_is_far_beyond_the_range_is_seen_among_hundreds_of_columns(rng):
    X = rng.random((200, 300))
    model = LRNNOutlierDetector(4, random_state=0).fit(X)
    new = rng.random((50, 300))
    assert (model.predict(new) == 1).mean() > 0.8
    new[:, 17] = 1e6
    assert (model.predict(new) == -1).all()
    assert model.scaling_.revert(model.scaling_.apply(new))[0, 17] == pytest.approx(1e6)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_finds_what_other_classes_are(digits, seed):
    from sklearn.datasets import load_digits

    y = load_digits().target
    for digit in (0, 4):
        own = np.random.default_rng(seed).permutation(np.flatnonzero(y == digit))
        model = LRNNOutlierDetector(random_state=seed).fit(digits[own[:90]])
        new = np.r_[own[90:], np.flatnonzero(y != digit)]
        assert roc_auc_score(y[new] == digit, model.score_samples(digits[new])) > 0.95


def test_rows_that_are_given_back_well_may_be_strange(rng):
    """Two groups on a line: between them the error is as low as in them."""
    t = np.r_[rng.normal(0.2, 0.03, 150), rng.normal(0.8, 0.03, 150)]
    X = np.c_[t, 2 * t, 3 * t] + 0.002 * rng.normal(size=(300, 3))
    between = [[0.5, 1.0, 1.5]]
    alone = LRNNOutlierDetector(2, n_typical=0, random_state=0).fit(X)
    assert alone.predict(between) == [1]
    assert LRNNOutlierDetector(2, random_state=0).fit(X).predict(between) == [-1]


# How sure it is


@pytest.mark.parametrize("kind", ["parts", "heavy tails", "few values", "more columns than rows"])
@pytest.mark.parametrize("rows", [40, 150, 800])
def test_a_share_of_normal_rows_has_p_values_below_it(kind, rows):
    """Over many splits. The bound is binomial, with as many trials as there are trainings."""

    def drawn(rng, count):
        if kind == "parts":
            return sums_of_parts(rng, count)
        if kind == "heavy tails":
            return rng.standard_t(2, size=(count, 4))
        if kind == "few values":
            return rng.integers(0, 4, size=(count, 3)).astype(float)
        return rng.normal(size=(count, 60))

    trainings, level = 30 if rows < 500 else 8, 0.2
    shares, flagged = [], []
    for seed in range(trainings):
        rng = np.random.default_rng(seed)
        model = LRNNOutlierDetector(2, max_iter=10, random_state=seed).fit(drawn(rng, rows))
        new = drawn(rng, 100)
        shares.append(np.mean(model.p_values(new) <= level))
        flagged.append(np.mean(model.predict(new) == -1))
    # each training's share varies by its own rows and the new ones: as binomials of both
    spread = np.sqrt(level * (1 - level) * (1 / rows + 1 / 100) / trainings)
    assert np.mean(shares) < level + 4 * spread
    if kind != "few values":  # of which many rows are equally strange
        assert np.mean(shares) > 0.4 * level
    spread = np.sqrt(0.05 * 0.95 * (1 / rows + 1 / 100) / trainings)
    assert np.mean(flagged) < 0.05 + 4 * spread


def test_of_many_rows_some_are_held_out_and_p_values_are_exact(rng):
    X = sums_of_parts(rng, 7000)
    model = LRNNOutlierDetector(3, max_iter=10, random_state=0).fit(X)
    assert len(model.held_out_scores_) == 1000
    new = sums_of_parts(rng, 4000)
    below = np.mean(model.p_values(new) <= 0.1)
    spread = np.sqrt(0.1 * 0.9 * (1 / 1000 + 1 / 4000))
    assert abs(below - 0.1) < 4 * spread


def test_p_values_are_ranks_among_rows_held_out(model, table):
    scores = model.score_samples(table[:50])
    held_out = np.repeat(model.held_out_scores_, model.held_out_weights_.astype(int))
    expected = [(1 + np.sum(held_out <= s)) / (1 + len(held_out)) for s in scores]
    np.testing.assert_allclose(model.p_values(table[:50]), expected)
    assert model.flagged_share_ == pytest.approx(np.mean(held_out < model.offset_))
    assert model.flagged_share_ <= 0.05


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")
def test_contamination_is_the_share_of_the_rows_of_fit(table, share):
    model = LRNNOutlierDetector(contamination=share, random_state=0).fit(table)
    assert np.mean(model.predict(table) == -1) == pytest.approx(share)


def test_a_share_that_differs_on_held_out_rows_is_reported(rng):
    X = rng.normal(size=(60, 40))  # each row is its own neighbour
    with pytest.warns(UserWarning, match=naming("contamination=0.1", 60, "contamination='auto'")):
        model = LRNNOutlierDetector(8, contamination=0.1, n_neighbors=1, random_state=0).fit(X)
    assert model.flagged_share_ > 0.2
    assert np.mean(model.predict(rng.normal(size=(200, 40))) == -1) > 0.2


def test_strange_rows_in_training_are_found(rng):
    X = sums_of_parts(rng, 400)
    strange = rng.choice(400, 30, replace=False)
    X[strange] = X[strange][:, ::-1] * 10.0 ** (2 * np.arange(-2, 6) - 3)  # in a group of their own
    known = np.isin(np.arange(400), strange)
    model = LRNNOutlierDetector(contamination=0.08, random_state=0)
    verdict = model.fit_predict(X)
    assert roc_auc_score(known, -model.score_samples(X)) > 0.95
    right = np.sum((verdict == -1) & known)
    assert right > binom.ppf(0.999, 32, 0.08)  # more than by chance, by far
    assert right >= 25


# Why


def test_contributions_sum_to_the_strangeness(model, table):
    found = model.explain(table[:40])
    np.testing.assert_allclose(found.contributions.sum(axis=1), -model.score_samples(table[:40]))
    assert (found.contributions >= 0).all()
    np.testing.assert_array_equal(found.outliers, model.predict(table[:40]) == -1)
    np.testing.assert_allclose(found.p_values, model.p_values(table[:40]))


@pytest.mark.parametrize("column", range(8))
def test_a_planted_change_of_one_attribute_is_named_first(model, rng, column):
    clean = sums_of_parts(rng, 40)
    planted = clean.copy()
    width = np.ptp(clean[:, column])
    planted[:, column] += np.where(rng.random(40) < 0.5, 1, -1) * 1.2 * width
    found = model.explain(planted)
    named = np.array([found.strongest(row)[0] for row in range(40)])
    assert np.mean(named == column) >= 0.95
    assert found.outliers.mean() >= 0.95
    # what was expected is nearer to what was there before
    missed = np.abs(found.expected[column] - clean[:, column])
    assert np.median(missed) < 0.5 * np.median(np.abs(planted - clean)[:, column])
    np.testing.assert_array_equal(found.values[column], planted[:, column])


def test_text_is_explained_in_its_own_words(rng):
    a = rng.random(300)
    frame = pd.DataFrame({f"size {i}": i * a for i in range(1, 21)})
    frame["kind"] = np.where(a > 0.5, "large", "small")
    scaling = Scaling.fit(frame, "open", categories="onehot")
    model = LRNNOutlierDetector(2, scale=scaling, random_state=0).fit(frame)
    new = pd.DataFrame({f"size {i}": [0.95 * i] for i in range(1, 21)}).assign(kind="small")
    found = model.explain(new)
    assert found.names == tuple(frame.columns)
    assert found.names[found.strongest(0)[0]] == "kind"
    assert found.values[20][0] == "small"
    assert found.expected[20][0] == "large"
    assert re.search(naming("kind", "small", "large"), found.sentence(0, 1))
    with pytest.warns(UserWarning, match=naming("kind", "huge")):
        unseen = model.explain(new.assign(kind="huge")).values[20][0]
    assert unseen not in ("small", "large", "huge")


def test_where_rows_alike_differ_in_a_text_its_words_are_expected_with_their_shares(rng):
    a = rng.random(60)
    kinds = np.where(np.arange(60) < 3, "rare", "common")  # fewer than a row's neighbours
    frame = pd.DataFrame({"size": a, "weight": 3 * a, "kind": kinds})
    scaling = Scaling.fit(frame, "open", categories="onehot")
    model = LRNNOutlierDetector(1, scale=scaling, random_state=0)
    found = model.fit(frame).explain(frame)
    mixed = re.compile(r"(common|rare) (\d+) %, (common|rare) (\d+) %")
    shares = [mixed.fullmatch(text) for text in found.expected[2]]
    assert any(shares[:3])
    for match in filter(None, shares):
        first, more, other, less = match.groups()
        assert first != other
        assert int(more) >= int(less) >= 10
        assert 99 <= int(more) + int(less) <= 101
    assert not any(
        match is None and text not in ("common", "rare")
        for match, text in zip(shares, found.expected[2], strict=True)
    )


def test_an_explanation_reads_as_a_table(model, table):
    absurd = table[:3].copy()
    absurd[1, 4] = 1e9
    found = model.explain(absurd)
    assert "1e+09" in str(found).splitlines()[1]
    assert "column 5" in str(found)
    assert repr(found).startswith("Explanation(3 rows, ")
    assert "<table" in found._repr_html_()
    assert found.share(1, 4) == pytest.approx(found.contributions[1, 4] / found.strangeness[1])


# Odd data


def test_a_constant_column_counts_when_it_changes(table):
    X = np.c_[table, np.full(len(table), 7.0), np.zeros(len(table))]
    model = LRNNOutlierDetector(random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    for column, value in ((8, 7.5), (9, 1.0)):
        changed = X[:5].copy()
        changed[:, column] = value
        assert (model.predict(changed) == -1).all()
        assert model.explain(changed).strongest(0)[0] == column


def test_rows_that_are_all_the_same_make_any_other_strange():
    model = LRNNOutlierDetector(random_state=0).fit(np.full((20, 3), 5.0))
    assert (model.predict(np.full((4, 3), 5.0)) == 1).all()
    assert (model.predict([[5.0, 5.0, 6.0]]) == -1).all()


def test_known_cells_alone_count(rng):
    X = sums_of_parts(rng, 400)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.1] = np.nan
    model = LRNNOutlierDetector(missing="allow", random_state=0).fit(holes)
    new = sums_of_parts(rng, 200)
    new[rng.random(new.shape) < 0.2] = np.nan
    assert np.mean(model.predict(new) == -1) < 0.15
    odd = sums_of_parts(rng, 10)
    odd[:, 2] = 1e6
    odd[:, 5] = np.nan
    assert (model.predict(odd) == -1).all()
    found = model.explain(odd)
    assert (found.contributions[:, 5] == 0).all()
    assert {found.strongest(row)[0] for row in range(10)} == {2}
    np.testing.assert_allclose(found.contributions.sum(axis=1), -model.score_samples(odd))
    with pytest.warns(UserWarning, match=naming("row 1")):
        scores = model.score_samples(np.r_[new[:1], np.full((1, 8), np.nan)])
    assert scores[1] == 0


def test_cells_may_be_missing_where_none_was_in_training(table, rng):
    model = LRNNOutlierDetector(missing="allow", random_state=0).fit(table)
    new = sums_of_parts(rng, 50)
    new[:, 3] = np.nan
    assert np.mean(model.predict(new) == -1) < 0.3
    with pytest.raises(ValueError, match="missing='allow'"):
        LRNNOutlierDetector(random_state=0).fit(np.where(table > table.max() - 1, np.nan, table))


def test_absurd_cells_in_training_do_not_hide_all_others(table):
    dirty = table.copy()
    dirty[5, 1] = 1e12
    model = LRNNOutlierDetector(random_state=0).fit(dirty)
    odd = table[:5].copy()
    odd[:, 1] += 3 * np.ptp(table[:, 1])
    assert (model.predict(odd) == -1).all()


@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
def test_sparse_rows_stay_sparse(rng):
    X = sparse.random_array((400, 3000), density=0.01, format="csr", rng=rng)
    model = LRNNOutlierDetector(4, max_iter=5, random_state=0).fit(X)
    assert not model.scaling_.complemented
    assert model.scaling_.kind == "max"
    new = sparse.random_array((100, 3000), density=0.01, format="csr", rng=rng)
    full = new.toarray()
    np.testing.assert_allclose(model.score_samples(new), model.score_samples(full), rtol=1e-6)
    dense = sparse.random_array((20, 3000), density=0.1, format="csr", rng=rng)
    assert model.score_samples(dense).max() < np.median(model.score_samples(new))


def test_levels_are_taken_as_they_are(digits):
    levels = np.round(digits[:300] * 255).astype(np.uint8)
    model = LRNNOutlierDetector(8, random_state=0).fit(levels)
    assert model.white_ == 255
    floats = LRNNOutlierDetector(8, scale=None, random_state=0).fit(levels.astype(np.float32) / 255)
    np.testing.assert_allclose(
        model.score_samples(levels), floats.score_samples(levels / np.float32(255)), rtol=1e-3
    )


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match=naming("n_samples=1")):
        LRNNOutlierDetector().fit([[1.0, 2.0]])
    with pytest.warns(UserWarning, match=naming("2 rows", "p-value", 0.33)):
        two = LRNNOutlierDetector(1).fit([[1.0, 2.0], [2.0, 4.0]])
    assert two.predict([[1.5, 3.0]]).shape == (1,)


@pytest.mark.parametrize("rows", [5, 12, 18, 19, 40])
def test_rows_that_are_too_few_for_the_line_are_reported(rows, rng, recwarn):
    X = rng.random((rows, 3))
    model = LRNNOutlierDetector(1, random_state=0).fit(X)
    warned = [w for w in recwarn if "p-value" in str(w.message)]
    far = np.array([[9.0, -9.0, 9.0]])
    (p,) = model.p_values(far)
    assert model.predict(far) == -1
    assert len(warned) == (p > 0.05)
    assert bool(warned) == (rows < 19)
    assert share_beyond(model) >= 1 / (rows + 1)


# Weights, streams, files, spikes


def test_a_weight_is_a_number_of_rows(table, rng):
    weights = rng.integers(0, 4, len(table))
    one = LRNNOutlierDetector(random_state=0).fit(table, sample_weight=weights)
    other = LRNNOutlierDetector(random_state=0).fit(np.repeat(table, weights, axis=0))
    np.testing.assert_allclose(one.score_samples(table), other.score_samples(table), rtol=1e-7)
    np.testing.assert_allclose(one.p_values(table), other.p_values(table))


def test_a_stream_is_measured_before_it_is_learnt(rng):
    model = LRNNOutlierDetector(random_state=0).partial_fit(sums_of_parts(rng, 200))
    part = sums_of_parts(rng, 50)
    before = model._normality_.measured(_rows(model, part))
    model.partial_fit(part)
    np.testing.assert_array_equal(model._held.parts[-50:], before)
    assert model.typical_counts_.sum() == pytest.approx(250)
    assert model.autoencoder_.moment_.n_rows == 250
    model.partial_fit(part[:1])
    assert model.held_out_weights_.sum() == 251


def _rows(model, X):
    from lrnn.rows.validation import check_data

    return check_data(model, X, reset=False)


def test_a_stream_that_drifts_is_normal_again_after_a_while(rng):
    def drawn(count, shift):
        return sums_of_parts(rng, count) * (1 + shift)

    models = [LRNNOutlierDetector(random_state=0, forget=f) for f in (200, None)]
    for model in models:
        model.partial_fit(drawn(400, 0))
    new = drawn(200, 1.0)
    first = [np.mean(model.predict(new) == -1) for model in models]
    for _ in range(8):
        part = drawn(200, 1.0)
        for model in models:
            model.partial_fit(part)
    last = [np.mean(model.predict(new) == -1) for model in models]
    assert min(first) > 0.9
    assert last[0] < 0.12
    old = [np.median(-model.score_samples(drawn(100, 0))) for model in models]
    assert old[0] > old[1]  # what was before is forgotten, or it is not


def test_a_file_holds_all_of_it(model, table, tmp_path, rng):
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    new = sums_of_parts(rng, 30, noise=0.3)
    np.testing.assert_array_equal(again.score_samples(new), model.score_samples(new))
    np.testing.assert_array_equal(again.p_values(new), model.p_values(new))
    np.testing.assert_array_equal(
        again.explain(new).contributions, model.explain(new).contributions
    )
    assert again.offset_ == model.offset_
    assert again.width_path_.suggested.width == model.width_path_.suggested.width
    assert (tmp_path / "model.safetensors").stat().st_size < 200_000


def test_the_network_of_spikes_gives_back_what_the_score_sees(model, table):
    network = model.to_network()
    steady = network.split(network.steady_state(model.arrivals(table[:5])))[-1]
    given = model.autoencoder_.reconstruct(table[:5])
    back = model.scaling_.revert(complement_decoded(steady))
    np.testing.assert_allclose(back, given, rtol=1e-6)
    assert model.audit(table).valid


def test_an_open_scale_is_not_taken_for_a_plain_one(model, table):
    with pytest.raises(ValueError, match=naming("open")):
        model.autoencoder_.live(table)
    pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    with pytest.raises(ValueError, match=naming("open")):
        model.autoencoder_.to_torch(scaling=True)


def test_the_width_is_chosen_and_reported(model):
    assert model.width_path_ is not None
    chosen = model.autoencoder_.hidden_layer_sizes
    assert chosen == (model.width_path_.suggested.width,)
    assert LRNNOutlierDetector(5, random_state=0).fit(np.eye(20)).width_path_ is None


# What it stands on


@pytest.mark.parametrize("weights", [None, np.arange(1, 31) / 7])
def test_a_moment_with_complements_is_made_of_half_of_it(rng, weights):
    X = rng.random((30, 300))
    rows = ComplementedRows(held(X))
    rows = rows if weights is None else WeightedRows(rows, weights)
    each = np.ones(30) if weights is None else weights
    both = complement_coded(X)
    found = sums_of(rows, whole=False)
    assert isinstance(found, Sums)
    np.testing.assert_allclose(found.gram, both.T @ (both * each[:, None]), rtol=1e-12)


def test_scores_of_rows_are_their_errors(digits, rng):
    model = LRNNAutoencoder(8, random_state=0).fit(digits)
    scores = model.score_samples(digits)
    direct = -((model.reconstruct(digits) - digits) ** 2).mean(axis=1)
    np.testing.assert_allclose(scores, direct, rtol=1e-9)
    assert scores.mean() == pytest.approx(model.score(digits))
    thin = model.score_samples(sparse.csr_array(digits))
    np.testing.assert_allclose(thin, scores, rtol=1e-9)
    holes = digits.copy()
    holes[rng.random(digits.shape) < 0.1] = np.nan
    holes[3] = np.nan
    filled = LRNNAutoencoder(8, missing="allow", random_state=0).fit(holes)
    found = filled.score_samples(holes)
    known = ~np.isnan(holes)
    missed = np.where(known, filled.reconstruct(holes) - np.nan_to_num(holes), 0)
    with np.errstate(invalid="ignore"):
        expected = -(missed**2).sum(axis=1) / known.sum(axis=1)
    assert np.isnan(found[3])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("scale", ["auto", "none"])
def test_a_stream_of_frames_keeps_the_names_of_its_columns(rng, scale):
    frame = pd.DataFrame(rng.random((120, 3)), columns=list("abc"))
    model = LRNNOutlierDetector(2, scale=scale, random_state=0)
    model.partial_fit(frame[:60]).partial_fit(frame[60:])
    assert model.autoencoder_.feature_names_in_.tolist() == list("abc")
    assert model.audit(frame).valid
