"""Which width: errors on held-out entries, a suggestion, and a score that finds it."""

import json
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import lrnn
from lrnn import LRNNAutoencoder, plots, score_entries
from lrnn.analysis.widths import WidthPath, WidthPoint
from lrnn.moments import DenseMoment, ImplicitMoment, MomentWithout
from lrnn.rows import held
from lrnn.training.held_out import Sample, column_groups, entry_errors
from naming import naming


def made_of(parts, rows=150, attributes=30, noise=0.05, seed=0):
    """Rows that are sums of so many parts, and noise of this share of their spread."""
    random = np.random.RandomState(seed)
    codes = random.gamma(1, 1, (rows, parts)) * (random.rand(rows, parts) > 0.5)
    X = codes @ (random.rand(parts, attributes) * (random.rand(parts, attributes) > 0.6))
    X /= X.max()
    return np.clip(X + noise * 2 * X.std() * random.randn(*X.shape), 0, 1)


@pytest.fixture(scope="module")
def four():
    return made_of(4)


@pytest.fixture(scope="module")
def path(four):
    return lrnn.widths(four, [2, 3, 4, 5, 8], folds=2)


def test_the_number_of_parts_is_found(path):
    assert path.suggested.width == 4
    assert path.best.width in (4, 5)
    assert [point.width for point in path.points] == [2, 3, 4, 5, 8]
    assert path.points[-1].error > path.best.error  # too many are worse again


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "noise", "seed"), [(5, 0.05, 0), (10, 0.05, 1), (10, 0.3, 2)])
def test_known_ranks_are_found_as_nmf_finds_them(parts, noise, seed):
    X = made_of(parts, rows=1_000, attributes=60, noise=noise, seed=seed)
    tried = sorted({parts + by for by in (-4, -2, -1, 0, 1, 2, 6, 14)})
    assert lrnn.widths(X, tried).suggested.width == parts


def test_noise_has_no_parts():
    X = np.random.RandomState(0).rand(100, 10)
    assert lrnn.widths(X, [1, 2, 4], folds=2).suggested.width == 1


def test_rows_held_out_are_not_learnt_from(four):
    """The error on them is what one has who never saw them."""
    sample = Sample.of(held(four), np.random.RandomState(0))
    test, others = sample.split(1)
    assert len(test) + len(others) == len(four)
    assert not (test[:, None] == others[None]).all(axis=2).any()
    left = MomentWithout(DenseMoment(held(four)), test)
    np.testing.assert_allclose(left.gram, others.T @ others / len(others), atol=1e-14)


def test_entries_held_out_are_not_seen(four):
    """They are foretold as p, whatever they are: their squared error is a quadratic of them."""
    parts = NMF(4, init="nndsvda", max_iter=500, random_state=0).fit(four).components_
    groups = column_groups(30, np.random.RandomState(0))
    assert sorted(np.concatenate(groups)) == list(range(30))

    def error(value):
        changed = four.copy()
        changed[:, groups[2]] = value
        return 30 * entry_errors(changed, parts, groups[2:3])

    expected = (error(0.0) + error(1.0)) / 2 - len(groups[2]) / 4
    np.testing.assert_allclose(error(0.5), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "implicit"])
def test_moments_without_some_rows_are_those_of_the_others(four, kind):
    all_of_it = {"dense": DenseMoment, "implicit": ImplicitMoment}[kind]
    left, others = MomentWithout(all_of_it(held(four)), four[:40]), all_of_it(held(four[40:]))
    matrix = np.random.RandomState(0).rand(30, 3)
    assert left.n_rows == others.n_rows == 110
    assert left.trace == pytest.approx(others.trace, rel=1e-12)
    np.testing.assert_allclose(left.diagonal, others.diagonal, atol=1e-14)
    np.testing.assert_allclose(left.dot(matrix), others.dot(matrix), atol=1e-13)
    chosen = np.array([3, 17])
    np.testing.assert_allclose(left.columns(chosen), others.columns(chosen), atol=1e-14)


def test_of_many_rows_some_are_held_out_once(monkeypatch):
    monkeypatch.setattr("lrnn.training.held_out.SAMPLE", 100)
    monkeypatch.setattr("lrnn.analysis.widths.SAMPLE", 100)
    path = lrnn.widths(made_of(3, rows=300), [2, 3, 5])
    assert (path.rows, path.suggested.width) == (20, 3)


ODD = {
    "two rows": np.random.RandomState(0).rand(2, 5),
    "two attributes": np.random.RandomState(0).rand(20, 2),
    "nothing at all": np.zeros((12, 4)),
    "constant columns": np.c_[np.random.RandomState(0).rand(20, 3), np.ones((20, 2))],
    "float32": made_of(2, rows=30, attributes=6).astype(np.float32),
    "levels": (255 * made_of(2, rows=30, attributes=6)).astype(np.uint8),
    "sparse": sparse.csr_array(made_of(2, rows=40, attributes=8)),
    "wider than long": made_of(2, rows=8, attributes=40),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_data(name):
    path = lrnn.widths(ODD[name], [1, 2] if name == "wider than long" else None, folds=1)
    errors = [(point.error, point.standard_error) for point in path.points]
    assert np.isfinite(errors).all()
    assert path.points[-1].width <= path.attributes - 1
    assert path._repr_html_().startswith("<table>")


def test_sparse_rows_are_as_full_ones(four):
    wanted = {"widths": [2, 4], "folds": 1}
    full, thin = (
        [p.error for p in lrnn.widths(X, **wanted).points] for X in (four, sparse.csr_array(four))
    )
    np.testing.assert_allclose(full, thin, rtol=1e-6)


def test_raw_tables_are_scaled(four):
    raw = 7 * four + 3
    scaled = lrnn.widths(raw, [2, 4], folds=1, scale="minmax")
    low, high = four.min(axis=0), four.max(axis=0)
    expected = lrnn.widths((four - low) / (high - low), [2, 4], folds=1)
    np.testing.assert_allclose(
        [p.error for p in scaled.points], [p.error for p in expected.points], rtol=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"widths": []}, ValueError, ("widths", "[8, 16, 32]")),
        ({"widths": [0, 4]}, ValueError, ("widths", 0, 30, 1, 29)),
        ({"widths": [4, 30]}, ValueError, ("widths", 30, 1, 29)),
        ({"widths": 8}, TypeError, ("widths", "[8, 16, 32]", 8)),
        ({"widths": [2.5]}, TypeError, ("widths", 2.5)),
        ({"widths": "8,16"}, TypeError, ("widths", "[8, 16, 32]", "8,16")),
        ({"folds": 6}, ValueError, ("folds", 6)),
        ({"folds": 0}, ValueError, ("folds", 0)),
        ({"max_iter": 0}, ValueError, ("max_iter", 0)),
        ({"fine_tune": 3, "inhibition": True}, TypeError, ("widths()", "fine_tune", "inhibition")),
        ({"missing": "allow"}, TypeError, ("widths()", "missing")),
    ],
)
def test_wrong_arguments_are_refused(four, arguments, error, named):
    with pytest.raises(error, match=naming(*named)):
        lrnn.widths(four, **arguments)


def test_what_has_nothing_to_hold_out_is_refused():
    with pytest.raises(ValueError, match=naming("X", "one row")):
        lrnn.widths(np.ones((1, 4)))
    with pytest.raises(ValueError, match=naming("X", "one attribute")):
        lrnn.widths(np.ones((9, 1)))


def test_the_rule_of_one_standard_error():
    errors = [(2, 9.0, 1.0), (4, 5.2, 0.9), (8, 5.0, 0.3), (16, 6.0, 1.0)]
    path = WidthPath(40, 100, tuple(WidthPoint(*e) for e in errors), 1.0)
    assert (path.best.width, path.suggested.width, path.remark) == (8, 4, "")
    widest = WidthPath(40, 100, path.points[:2], 1.0)
    assert "wider" in widest.remark
    assert WidthPath.from_json(json.loads(json.dumps(path.to_json()))) == path
    with pytest.raises(ValueError, match=naming("widths")):
        WidthPath.from_json({"points": []})


def test_a_table_and_a_plot(path):
    assert "<td>suggested" in path._repr_html_()
    from matplotlib.figure import Figure

    ax = plots.widths(path, ax=Figure().add_subplot())
    assert "suggested: 4" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_xlabel() == "code neurons"


# Searches of scikit-learn


def search(X, scoring):
    model = LRNNAutoencoder(max_iter=20, tol=0)
    grid = {"hidden_layer_sizes": [2, 4, 6, 12]}
    return GridSearchCV(model, grid, scoring=scoring, cv=2).fit(X).best_params_


def test_a_search_by_score_takes_the_widest_and_by_entries_the_right_one(four):
    assert search(four, None) == {"hidden_layer_sizes": 12}
    assert search(four, score_entries) == {"hidden_layer_sizes": 4}


def test_a_score_of_entries_is_negative_and_its_own(four):
    model = LRNNAutoencoder(4, max_iter=20, tol=0).fit(four[:100])
    found = score_entries(model, four[100:])
    assert found == score_entries(model, four[100:])
    assert -0.001 < found < 0


def test_networks_without_parts_have_no_such_score(four):
    inhibitory = LRNNAutoencoder(4, inhibition=True, fine_tune=1, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match=naming("score_entries", "inhibition=False")):
        score_entries(inhibitory.fit(four), four)
    other = NMF(2, max_iter=500)
    for model in (other, make_pipeline(MinMaxScaler(), other)):
        with pytest.raises(TypeError, match=naming("LRNNAutoencoder", "Pipeline", "NMF")):
            score_entries(model.fit(four), four)


def test_a_search_over_a_pipeline_finds_the_right_width(four):
    raw = 50 * four
    pipeline = make_pipeline(
        MinMaxScaler(clip=True), make_pipeline("passthrough", LRNNAutoencoder(max_iter=20, tol=0))
    )
    grid = {"pipeline__lrnnautoencoder__hidden_layer_sizes": [2, 4, 6, 12]}
    search = GridSearchCV(pipeline, grid, scoring=score_entries, cv=2, error_score="raise").fit(raw)
    assert search.best_params_ == {"pipeline__lrnnautoencoder__hidden_layer_sizes": 4}
    scaler, model = search.best_estimator_[0], search.best_estimator_[1][-1]
    expected = score_entries(model, scaler.transform(raw))
    assert score_entries(search.best_estimator_, raw) == expected
    alone = make_pipeline(model)
    assert score_entries(alone, scaler.transform(raw)) == expected


def test_a_path_is_a_table_in_words():
    points = (WidthPoint(4, 0.5, 0.01), WidthPoint(8, 0.25, 0.01), WidthPoint(16, 0.25, 0.01))
    lines = str(WidthPath(20, 100, points, 1.0)).splitlines()
    assert lines[2].split()[:3] == ["8", "0.25", "0.01"]
    assert re.search(naming("suggested", "lowest"), lines[2])
    assert len(lines) == 4
