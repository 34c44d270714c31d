"""A sketch of the second moment is near it where it matters, and only where steps begin."""

import numpy as np
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder
from lrnn.moments import DenseMoment, ImplicitMoment, SketchedMoment, sketch_pays
from lrnn.moments.sketched import rank_for
from lrnn.rows import Rows, held
from lrnn.rows.stream import Stream
from lrnn.tables.sources import Blocks


@pytest.fixture
def parts(rng):
    """Rows of 400 attributes that are made of five parts, and a little of everything."""
    mixed = rng.random((300, 5)) ** 3 @ (rng.random((5, 400)) ** 6 / 5)
    return mixed + 0.01 * rng.random((300, 400))


@pytest.mark.parametrize("kind", [DenseMoment, ImplicitMoment])
def test_what_has_few_parts_is_known_exactly(rng, kind):
    X = rng.random((200, 6)) @ rng.random((6, 90)) / 6
    moment, E = kind(held(X)), rng.random((90, 3))
    sketch = SketchedMoment(moment, 6)
    np.testing.assert_allclose(sketch.dot(E), moment.dot(E), rtol=1e-6)
    some = np.array([3, 80, 41])
    np.testing.assert_allclose(sketch.columns(some), moment.columns(some), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_diagonal_is_always_exact(rng, dtype):
    X = (rng.random((500, 300)) * (rng.random((500, 300)) < 0.02)).astype(dtype)
    sketch = SketchedMoment(ImplicitMoment(held(sparse.csr_array(X))), 10)
    every = np.arange(300)
    found = np.diagonal(sketch.columns(every))
    np.testing.assert_allclose(found, np.diagonal(X.T @ X) / 500, rtol=1e-5)
    assert sketch.dot(np.ones((300, 1), dtype)).dtype == dtype


def test_no_product_is_negative(rng):
    X = rng.random((400, 250)) * (rng.random((400, 250)) < 0.05)
    sketch = SketchedMoment(DenseMoment(held(X)), 4)
    assert sketch.dot(rng.random((250, 7))).min() >= 0
    assert sketch.columns(np.arange(250)).min() >= 0


@pytest.mark.parametrize("constant", [0.0, 0.5])
def test_data_without_any_content(constant):
    sketch = SketchedMoment(ImplicitMoment(held(np.full((30, 20), constant))), 3)
    assert np.isfinite(sketch.dot(np.ones((20, 2)))).all()
    X = np.full((30, 20), constant)
    model = LRNNAutoencoder(3, moment="implicit", max_iter=5).fit(lambda: iter([X]))
    assert model.audit(X).valid


def test_where_it_pays(rng):
    wide = rng.random((20, 3_000)).astype(np.float32)
    assert sketch_pays(DenseMoment(held(wide)), 10)  # V² against 2·60·V
    assert not sketch_pays(DenseMoment(held(wide[:, :400])), 10)
    assert not sketch_pays(ImplicitMoment(held(wide)), 10)  # 20 rows are fewer than directions
    stream = Stream(Blocks(lambda: iter([wide[:, :400]])))
    assert not sketch_pays(ImplicitMoment(stream), 10)  # of which a matrix would do
    assert rank_for(10) == 60


def counted(monkeypatch):
    """How many products with the rows are made."""
    products, real = [], ImplicitMoment.dot

    def dot(self, matrix):
        products.append(matrix.shape[1])
        return real(self, matrix)

    monkeypatch.setattr(ImplicitMoment, "dot", dot)
    return products


def test_rows_that_are_not_in_memory_are_read_a_few_times(parts, monkeypatch):
    whole = LRNNAutoencoder(5, moment="implicit", random_state=0).fit(parts)
    products = counted(monkeypatch)
    model = LRNNAutoencoder(5, moment="implicit", random_state=0)
    model.fit(lambda: iter(np.array_split(parts, 7)))
    assert model.reconstruction_err_ < 1.02 * whole.reconstruction_err_
    assert model.reconstruction_err_ == pytest.approx(-model.score(parts), rel=1e-9)
    exact = model.n_iter_
    assert exact <= 200
    assert len(products) <= 2 + 1 + 4 * exact  # each step at most four times: three tries
    assert products[0] == rank_for(5)


def test_steps_on_the_sketch_and_on_the_rows_are_no_more_than_asked_for(parts):
    stream = lambda: iter(np.array_split(parts, 3))  # noqa: E731
    for most in (1, 2, 15):
        model = LRNNAutoencoder(5, moment="implicit", max_iter=most, tol=0).fit(stream)
        assert model.n_iter_ == max(1, most // 10)


def test_weights_that_are_given_are_where_it_begins(parts):
    encoder, decoder = np.full((400, 5), 0.01), np.full((5, 400), 0.1)
    model = LRNNAutoencoder(5, moment="implicit", init=(encoder, decoder), max_iter=3)
    model.fit(lambda: iter([parts]))
    assert model.n_iter_ == 3


def test_ctrl_c_on_the_sketch_leaves_what_was_found(parts, monkeypatch):
    real, steps = SketchedMoment.dot, []

    def dot(self, matrix):
        steps.append(1)
        if len(steps) == 40:
            raise KeyboardInterrupt
        return real(self, matrix)

    monkeypatch.setattr(SketchedMoment, "dot", dot)
    model = LRNNAutoencoder(5, moment="implicit", random_state=0)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(lambda: iter([parts]))
    assert model.history_[-1].stopped == "interrupted"
    assert model.reconstruction_err_ == pytest.approx(-model.score(parts), rel=1e-9)
    assert model.reconstruction_err_ < parts.var(axis=0).mean()


def test_where_attributes_stand_does_not_matter(parts, rng):
    order = rng.permutation(400)
    errors = [
        LRNNAutoencoder(5, moment="implicit", random_state=0)
        .fit(lambda X=X: iter([X]))
        .reconstruction_err_
        for X in (parts, parts[:, order])
    ]
    assert errors[1] == pytest.approx(errors[0], rel=1e-6)


def test_rows_know_whether_they_are_in_memory(parts):
    rows = held(parts)
    assert isinstance(rows, Rows)
    assert ImplicitMoment(rows).effort == 2 * parts.size
