"""The gram solver on sparse rows in memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

from lrnn import LRNNAutoencoder, checkpoints
from lrnn.moments import SparseMoment, second_moment
from lrnn.moments import sparse as moments
from lrnn.network.weights import Weights
from lrnn.rows import WeightedRows, held
from lrnn.rows.checks import check_values
from lrnn.training import Observer, Run, Settings
from lrnn.training.evaluation import evaluate, evaluate_unsaturated, not_cancelled
from lrnn.training.sparse import Factors, SparseSearch, _anchored, _replaced
from nearness import assert_near, of_training


def documents(rows=300, terms=400, topics=6, seed=0, dtype=np.float64):
    """Some words of a topic or two in each row, whose length is 1."""
    rng = np.random.default_rng(seed)
    mixed = rng.dirichlet(np.full(topics, 0.2), rows) @ rng.dirichlet(np.full(terms, 0.05), topics)
    counts = rng.poisson(15 * mixed).astype(dtype)
    counts[3], counts[:, 7] = 0, 0
    return sparse.csr_array(counts / np.maximum(np.linalg.norm(counts, axis=1)[:, None], 1))


@pytest.fixture(autouse=True)
def _all_are_enough(monkeypatch):
    monkeypatch.setattr(moments, "ENOUGH", 0)


@pytest.fixture(scope="module", name="X")
def _documents():
    return documents()


def run(**settings):
    return Run(Settings(**settings), np.random.RandomState(0), Observer())


def fitted(X, hidden=6, **settings):
    return LRNNAutoencoder(hidden, random_state=0, **settings).fit(X)


def relative(X, codes, components):
    full = X.toarray()
    return np.linalg.norm(full - codes @ components) / np.linalg.norm(full)


def test_sparse_rows_are_solved_by_it(X, capsys):
    assert isinstance(second_moment(held(X), 6), SparseMoment)
    model = fitted(X, verbose=1)
    assert "sparse" in capsys.readouterr().err
    assert model.audit(X).valid
    assert model.transform(X).max() <= 1
    assert model.reconstruction_err_ == pytest.approx(-model.score(X), rel=1e-9)


def test_it_comes_near_free_codes_and_below_the_products_alone(X):
    ours = fitted(X)
    nmf = NMF(6, max_iter=20, tol=0, random_state=0)
    free = relative(X, nmf.fit_transform(X), nmf.components_)
    assert relative(X, ours.transform(X), ours.components_) < free + 0.01
    assert ours.reconstruction_err_ < 1.01 * fitted(X, moment="implicit").reconstruction_err_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_error_on_the_way_is_the_direct_one_and_falls(dtype):
    X = documents(dtype=dtype)
    search = SparseSearch(SparseMoment(held(X)), 6, run(max_iter=8, tol=0))
    curve = search.curve(None, run().train(search, "training"))
    W, D = (weight.astype(float) for weight in (search.pair.encoder, search.pair.decoder))
    assert W.min() >= 0
    assert D.min() >= 0
    full = X.toarray().astype(float)
    tolerance = 1e-10 if dtype is np.float64 else 1e-4
    assert curve.lowest == pytest.approx(((full - full @ W @ D) ** 2).mean(), rel=tolerance)
    assert (np.diff(curve.errors) <= 0).all()
    assert search.steps == 8


def test_it_does_not_matter_where_attributes_stand(X):
    place = np.random.default_rng(1).permutation(X.shape[1])
    one, other = fitted(X), fitted(sparse.csr_array(X[:, place]))
    assert other.reconstruction_err_ == pytest.approx(one.reconstruction_err_, rel=1e-6)
    np.testing.assert_allclose(other.components_, one.components_[:, place], atol=1e-4)


def test_the_number_of_threads_changes_nothing(X, monkeypatch):
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(moments, "threads_for", lambda work, threads=threads: threads)
        found.append(fitted(X, max_iter=3).components_)
    assert_near(*found, of_training(3, *X.shape, 6))


@pytest.mark.parametrize("init", ["random", "given"])
def test_other_starts(X, rng, init):
    given = "random" if init == "random" else (rng.random((400, 6)), rng.random((6, 400)))
    begin, end = (fitted(X, init=given, max_iter=n, tol=0) for n in (1, 15))
    assert end.reconstruction_err_ < begin.reconstruction_err_
    assert end.reconstruction_err_ < 1.05 * fitted(X).reconstruction_err_


def test_weights_count_rows_several_times(X, rng):
    times = rng.integers(0, 3, X.shape[0])
    repeated = sparse.csr_array(X[np.repeat(np.arange(X.shape[0]), times)])
    weighted = LRNNAutoencoder(6, random_state=0, max_iter=5).fit(X, sample_weight=times)
    expected = fitted(repeated, max_iter=5)
    assert weighted.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-6)


def test_levels_are_divided(X):
    levels = sparse.csr_array((X.toarray() * 255).round().astype(np.uint8))
    expected = fitted(sparse.csr_array(levels.astype(np.float32) / np.float32(255)))
    assert fitted(levels).reconstruction_err_ == pytest.approx(expected.reconstruction_err_)


@pytest.mark.parametrize("after", [0, 1, 4])
def test_training_goes_on_from_a_checkpoint(X, tmp_path, after):
    path = tmp_path / "checkpoint"
    model = LRNNAutoencoder(6, max_iter=6, tol=0, random_state=0)
    straight = fitted(X, max_iter=6, tol=0)
    with pytest.MonkeyPatch.context() as patch:
        step, made = Factors.step, []

        def failing(self):
            if len(made) == after:
                raise RuntimeError("the machine went down")
            made.append(step(self))

        patch.setattr(Factors, "step", failing)
        with pytest.raises(RuntimeError, match="went down"):
            checkpoints.fit(model, X, path, every=0)
    resumed = checkpoints.fit(model, X, path, every=0)
    np.testing.assert_array_equal(resumed.components_, straight.components_)
    assert resumed.n_iter_ == 6


@pytest.mark.parametrize("place", ["sweep", "follow"])
def test_ctrl_c_in_a_step_leaves_the_weights_before_it(X, monkeypatch, place):
    plain, step, steps = getattr(Factors, place), Factors.step, []

    def counted(self):
        steps.append(0)
        step(self)

    def pressed(self):
        plain(self)
        if len(steps) == 2:  # after the work was done, and before anybody has looked at it
            self.decoder[:] = 0
            raise KeyboardInterrupt

    search = SparseSearch(SparseMoment(held(X)), 6, run(max_iter=9))
    monkeypatch.setattr(Factors, "step", counted)
    monkeypatch.setattr(Factors, place, pressed)
    assert run().train(search, "training") == "interrupted"
    full, pair = X.toarray(), search.pair
    error = ((full - full @ pair.encoder @ pair.decoder) ** 2).mean()
    assert search.steps == 1
    assert error <= search.error() * (1 + 1e-9)


def test_ctrl_c_before_there_are_weights_is_passed_on(X, monkeypatch):
    def pressed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("lrnn.training.sparse.from_anchors", pressed)
    with pytest.raises(KeyboardInterrupt):
        fitted(X)


@pytest.mark.parametrize(
    ("shape", "hidden"), [((1, 40), 3), ((5, 60), 20), ((200, 30), 29), ((40, 50), 1)]
)
def test_few_rows_many_codes_and_one(shape, hidden):
    X = documents(*shape, topics=3) if shape[0] > 4 else sparse.csr_array(np.eye(1, 40))
    moment = SparseMoment(held(X))
    search = SparseSearch(moment, hidden, run(max_iter=5))
    run().train(search, "training")
    assert np.isfinite(search.pair.encoder).all()
    assert np.isfinite(search.pair.decoder).all()
    assert search.error() <= moment.trace / moment.n_attributes


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float32, 1e-20), (np.float32, 1e-42), (np.float64, 1e-160), (np.float64, 1e-310)],
)
def test_data_next_to_zero(dtype, scale):
    X = documents(60, 80) * scale
    X = sparse.csr_array(X.astype(dtype))
    model = fitted(X, 4, max_iter=3)
    for weights in (*model.encoders_, *model.decoders_):
        assert np.isfinite(weights).all()
    assert model.audit(X).valid


# Evaluation in sparse terms


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("strength", [0.1, 1.0, 30.0])  # no output saturates, some, most
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dense", "identity"), [(False, True), (False, False), (True, True)])
def test_outputs_that_saturate_are_all_that_has_to_be_formed(
    rng, dtype, strength, weighted, dense, identity
):
    X = documents(120, 50, dtype=dtype)
    X.data[::7] = 1
    encoder = (rng.random((50, 4)) * strength).astype(dtype)
    decoder = rng.random((4, 50)).astype(dtype)
    encoder[:, 3] = 0
    weights = rng.integers(0, 3, 120).astype(float) if weighted else np.ones(120)
    full = X.toarray().astype(float)
    unsaturated = full @ encoder @ decoder
    known = (weights @ ((full - unsaturated) ** 2).sum(axis=1)) / weights.sum() / 50
    given = full.astype(dtype) if dense else X
    rows = WeightedRows(held(given), weights) if weighted else held(given)
    peak, found = evaluate_unsaturated(
        rows.fold, rows.weight, encoder, decoder, known if identity else None, None, not dense
    )
    drive = full @ encoder
    outputs = np.minimum(drive @ decoder, 1)
    counted = weights > 0
    tolerance = 1e-10 if dtype is np.float64 else 2e-4
    error = (weights @ ((full - outputs) ** 2).sum(axis=1)) / weights.sum() / 50
    assert found.error == pytest.approx(error, rel=tolerance)
    np.testing.assert_allclose(peak, drive[counted].max(axis=0), rtol=tolerance)
    divisor = np.where(peak > 0, peak, 1)
    expected = [full, drive / divisor, outputs]
    for mean, layer in zip(found.mean_activations, expected, strict=True):
        np.testing.assert_allclose(mean, weights @ layer / weights.sum(), rtol=tolerance)


def test_an_error_next_to_zero_is_not_lost_in_cancellation(rng):
    parts = (rng.random((60, 3)) * (rng.random((60, 3)) < 0.4)).astype(np.float32) / 4
    X = sparse.csr_array(np.hstack([parts, np.zeros((60, 40), np.float32)]))
    encoder = np.eye(43, 3, dtype=np.float32)
    decoder = (encoder * np.float32(1.001)).T.copy()
    rows = held(X)
    known = not_cancelled(1e-6, 1.0, np.float32)
    assert known is None
    _, found = evaluate_unsaturated(rows.fold, rows.weight, encoder, decoder, known, None, True)
    expected = evaluate(rows, Weights.of([encoder, decoder])).error
    assert found.error == pytest.approx(expected, rel=1e-5)


def test_rows_in_any_order_of_their_columns_are_taken_as_they_are(X):
    mixed = X.copy()
    for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        mixed.indices[first:last] = X.indices[first:last][::-1]
        mixed.data[first:last] = X.data[first:last][::-1]
    mixed.has_sorted_indices = mixed.has_canonical_format = False
    given = mixed.indices.copy()
    assert np.shares_memory(held(check_values(mixed, None, "test")).matrix().data, mixed.data)
    model = fitted(mixed, max_iter=3)
    np.testing.assert_array_equal(mixed.indices, given)
    np.testing.assert_allclose(model.components_, fitted(X, max_iter=3).components_, atol=1e-9)


def test_the_codes_that_are_kept_are_those_that_are_missed_the_most(rng):
    codes = rng.random((50, 6))
    codes[:, 4] = codes[:, 1] + codes[:, 2]  # others can replace it
    codes[:, 5] *= 1e-3  # nothing is lost without it
    decoder = rng.random((30, 6))
    kept, change = _replaced(codes.T @ codes, decoder, 4)
    assert 5 not in kept
    before, after = codes @ decoder.T, codes[:, kept] @ (decoder @ change).T
    best = codes[:, kept] @ np.linalg.lstsq(codes[:, kept], before, rcond=None)[0]
    np.testing.assert_allclose(after, best, atol=1e-3)
    np.testing.assert_allclose(after, before, atol=1e-2)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_encoder_for_free_codes_has_their_scale(X, rng, weighted):
    rows = WeightedRows(held(X), rng.integers(0, 3, X.shape[0])) if weighted else held(X)
    moment = SparseMoment(rows)
    found = _anchored(moment, 6)
    found.turn()
    found.encode()
    np.testing.assert_allclose(found.codes, moment.forth(found.encoder), rtol=1e-9)
    errors = []
    for scale in (0.7, 1.0, 1.4):
        other = Factors(moment, found._order)
        errors.append(other.resume(scale * found.encoder, found.decoder.T))
    assert errors[1] == min(errors)


@pytest.mark.parametrize("codes", [3, 40])
def test_a_fit_holds_one_copy_of_the_rows_and_some_codes(codes):
    """And no more than twice as many codes and weights as there are to be, but for blocks."""
    X = sparse.random_array((6_000, 8_000), density=5e-3, format="csr", rng=0, dtype=np.float32)
    model = LRNNAutoencoder(codes, max_iter=12, random_state=0).fit(X)  # what is compiled is
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nnz + 4 * 2.2 * codes * sum(X.shape) + 3e6


def test_no_full_matrix_arises():
    X = sparse.random_array((2_000, 20_000), density=5e-4, format="csr", rng=0, dtype=np.float32)
    model = LRNNAutoencoder(3, max_iter=1, random_state=0).fit(X)  # what is compiled is
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2_000 * 20_000 / 10
