"""Sparse matrices, many of whose cells are stored, are worked on in full blocks."""

import numpy as np
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, LRNNClassifier, LRNNOutlierDetector, Moment
from lrnn.rows import HostRows, memory
from nearness import assert_near, of_training

ROWS, WIDTH = 600, 40


def rows_of(fill, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = sparse.random_array((ROWS, WIDTH), density=fill, format="csr", rng=rng)
    if dtype == np.uint8:
        X.data = np.ceil(X.data * 255)
    return X.astype(dtype)


def parts_of(X):
    return lambda: (X[i : i + 150] for i in range(0, ROWS, 150))


both_kinds = pytest.mark.parametrize("fill", [0.05, 1 / 3, 0.9])
every_type = pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])


@pytest.fixture
def full_sizes(monkeypatch):
    """Cells of each block that became full."""
    sizes, real = [], memory.full_rows

    def noted(X, rows):
        found = real(X, rows)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(memory, "full_rows", noted)
    return sizes


@both_kinds
@every_type
def test_blocks_hold_the_same_numbers(fill, dtype):
    X = rows_of(fill, dtype)
    white = 255 if dtype == np.uint8 else None
    thin, full = HostRows(X, white), HostRows(X.toarray(), white)
    assert thin.sparse == (fill < memory.FULL)
    assert thin.cells == (X.nnz if thin.sparse else full.cells)
    every_third = np.arange(ROWS - 1, 0, -3)
    for rows in (slice(7, 90), slice(500, None), slice(0, 0), slice(None, None, 7), every_third):
        block = thin.take(rows)
        assert sparse.issparse(block) == thin.sparse
        np.testing.assert_array_equal(block.toarray() if thin.sparse else block, full.take(rows))
    assert thin.identity() == HostRows(X.copy(), white).identity()


@both_kinds
@every_type
@pytest.mark.parametrize("given", [lambda X: X, parts_of], ids=["memory", "blocks"])
def test_moments_are_those_of_full_rows(fill, dtype, given):
    X, weights = rows_of(fill, dtype), np.random.default_rng(1).random(ROWS)
    for own in (None, weights):
        found, known = Moment.of(given(X), own), Moment.of(X.toarray(), own)
        assert_near(found.gram, known.gram, ROWS)
        assert_near(found.column_sums, known.column_sums, ROWS)
        np.testing.assert_array_equal(found.low, known.low)
        np.testing.assert_array_equal(found.high, known.high)


MODELS = {
    "dense": {"moment": "dense"},
    "implicit": {"moment": "implicit", "init": "random"},
    "minibatch": {"solver": "minibatch"},
    "unit rates": {"rates": "unit"},
    "complement": {"complement": True},
    "fine-tuned": {"hidden_layer_sizes": (6, 3), "fine_tune": 2},
}


@pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS)
def test_models_are_those_of_full_rows(settings):
    X = rows_of(1 / 3)
    settings = {"hidden_layer_sizes": 3, "max_iter": 5, "tol": 0, "random_state": 0} | settings
    found, known = (LRNNAutoencoder(**settings).fit(x) for x in (X, X.toarray()))
    bound = of_training(5 * 8, ROWS, WIDTH, 3)
    for one, other in zip(found.encoders_, known.encoders_, strict=True):
        assert_near(one, other, bound)
    assert_near(found.transform(X), known.transform(X.toarray()), bound)
    assert_near(found.reconstruct(X), known.reconstruct(X.toarray()), bound)
    assert found.score(X) == pytest.approx(known.score(X.toarray()), rel=1e-10)


def test_classifiers_and_detectors_are_those_of_full_rows():
    X, y = rows_of(1 / 3), np.arange(ROWS) % 2
    settings = {"max_iter": 4, "random_state": 0}
    found, known = (LRNNClassifier(3, **settings).fit(x, y) for x in (X, X.toarray()))
    np.testing.assert_allclose(
        found.predict_proba(X), known.predict_proba(X.toarray()), rtol=1e-8, atol=1e-10
    )
    settings["scale"] = "max"  # by default sparse rows are scaled in another way than full ones
    found, known = (LRNNOutlierDetector(3, **settings).fit(x) for x in (X, X.toarray()))
    np.testing.assert_allclose(
        found.score_samples(X), known.score_samples(X.toarray()), rtol=1e-8, atol=1e-10
    )


def test_cells_that_are_not_stored_are_still_known_to_be_missing():
    X = rows_of(1 / 3)
    settings = {"missing": "unstored", "max_iter": 4, "random_state": 0}
    model = LRNNAutoencoder(3, **settings).fit(X)
    filled = model.impute(X)
    np.testing.assert_array_equal(filled[X.nonzero()], X.data)
    whole = LRNNAutoencoder(3, missing="allow", max_iter=4).fit(X)  # where 0 is 0
    np.testing.assert_array_equal(whole.impute(X), X.toarray())


def test_no_more_than_a_block_becomes_full_at_a_time(monkeypatch, full_sizes):
    X = rows_of(1 / 3)
    monkeypatch.setattr(memory, "CELLS_AT_ONCE", 50 * WIDTH)
    monkeypatch.setattr(memory, "CELLS_IN_CACHE", 50 * WIDTH)
    model = LRNNAutoencoder(3, max_iter=3, moment="implicit", init="random").fit(X)
    model.transform(X)
    assert max(full_sizes) <= 50 * WIDTH
    assert sum(full_sizes) > 2 * ROWS * WIDTH
    rows = HostRows(X)
    assert sparse.issparse(rows.take(slice(None)))  # all of them stay sparse
    assert not sparse.issparse(rows.take(slice(0, 50)))


def test_few_stored_cells_never_become_full(full_sizes):
    X = rows_of(0.05)
    LRNNAutoencoder(3, max_iter=3).fit(X).transform(X)
    Moment.of(X)
    assert not full_sizes
