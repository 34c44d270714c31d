"""Training the whole saturating network: it never gets worse, and a deep one gets better."""

import numpy as np
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, training
from lrnn.network.weights import Weights, random_weights
from lrnn.rows import held
from lrnn.training import Observer, Run, Settings, train_end_to_end
from lrnn.training.adam import Adam
from lrnn.training.end_to_end import large_batches, loosened
from lrnn.training.history import Batches


def tuned(X, weights, passes, rates="free", seed=0, **settings):
    settings = Settings(max_iter=passes, rates=rates, **({"tol": 0} | settings))
    run = Run(settings, np.random.RandomState(seed), Observer())
    return train_end_to_end(held(X), weights, run)


def evaluate(X, weights):
    return training.evaluate(held(X), weights)


@pytest.fixture(scope="module")
def shallow(digits):
    model = LRNNAutoencoder(16, random_state=0).fit(digits)
    return Weights(tuple(model.encoders_), tuple(model.decoders_))


@pytest.mark.parametrize("rates", ["free", "unit"])
@pytest.mark.parametrize("sizes", [(64, 16), (64, 24, 8)])
def test_it_descends_and_keeps_the_best(digits, sizes, rates):
    start = random_weights(sizes, np.random.RandomState(0))
    trained = tuned(digits, start, 6, rates)
    (curve,) = trained.curves
    before, after = evaluate(digits, start).error, evaluate(digits, trained.weights).error
    assert curve.errors[0] == pytest.approx(before, rel=1e-12)
    assert curve.lowest == pytest.approx(after, rel=1e-12)
    assert after < 0.8 * before
    assert min(w.min() for w in trained.weights.layers) >= 0
    assert (curve.passes, len(curve.batch_errors)) == (6, 6 * 18)


def test_what_is_already_best_is_not_made_worse(shallow, rng):
    codes = rng.random((200, 16)) * 0.5
    X = np.minimum(codes @ shallow.decoders[0], 1)
    ideal = Weights((np.eye(64),), (np.eye(64),))  # reconstructs exactly
    trained = tuned(X, ideal, 2)
    assert trained.curves[0].lowest == 0
    for found, given in zip(trained.weights.layers, ideal.layers, strict=True):
        np.testing.assert_array_equal(found, given)


def test_fine_tuning_makes_use_of_saturation(digits, shallow):
    """The gram solver's optimum is that of a linear network; the saturating one can do better."""
    before = evaluate(digits, shallow).error
    trained = tuned(digits, shallow, 20)
    assert trained.curves[0].lowest < 0.95 * before


@pytest.mark.slow
def test_a_deep_network_is_never_worse_than_a_shallow_one_and_better_when_tuned(digits):
    def error(sizes, **settings):
        return LRNNAutoencoder(sizes, random_state=0, **settings).fit(digits).reconstruction_err_

    assert error((64, 32, 16)) <= error(16) * (1 + 1e-9)
    assert error((64, 32, 16), stacking="joint") <= error(16) * (1 + 1e-9)
    assert error((64, 32, 16), rates="unit") <= error(16, rates="unit") * (1 + 1e-9)
    assert error((64, 32, 16), fine_tune=2) <= error(16, fine_tune=2) * (1 + 1e-9)
    assert error((64, 32, 16), fine_tune=40) < 0.98 * error(16, fine_tune=40)


def test_unit_rows_sum_to_at_most_one_after_every_step(digits, monkeypatch):
    sums = []
    step = Adam.step

    def watched(self, gradients, size):
        step(self, gradients, size)
        sums.append(max(w.sum(axis=1, dtype=np.float64).max() for w in self.weights))

    monkeypatch.setattr(Adam, "step", watched)
    for dtype in (np.float64, np.float32):
        LRNNAutoencoder(16, rates="unit", max_iter=10, random_state=0).fit(digits.astype(dtype))
    assert len(sums) == 2 * 10 * 18
    assert max(sums[:180]) <= 1 + 1e-14
    assert max(sums[180:]) <= 1 + 1e-6


def test_unit_rates_descend_well_below_the_printed_algorithm(digits):
    ours = LRNNAutoencoder(16, rates="unit", random_state=0).fit(digits)
    printed = LRNNAutoencoder(16, rates="unit", solver="minibatch", random_state=0).fit(digits)
    assert ours.reconstruction_err_ < 0.6 * printed.reconstruction_err_
    at_random = LRNNAutoencoder(16, rates="unit", init="random", random_state=0).fit(digits)
    assert at_random.reconstruction_err_ == pytest.approx(ours.reconstruction_err_, rel=0.05)


def test_weights_of_zero_may_grow(rng):
    X = rng.random((200, 4))
    start = Weights((np.eye(4) * [1, 1, 1, 0],), (np.eye(4) * [1, 1, 1, 0],))
    assert tuned(X, start, 60, batch_size=20).curves[0].lowest < 0.2 * evaluate(X, start).error


@pytest.mark.parametrize("rates", ["free", "unit"])
def test_loosened_weights_are_nearly_the_same(digits, rates):
    start = LRNNAutoencoder((20, 5), rates=rates, max_iter=5, random_state=0).fit(digits).weights_
    loose = loosened(start, rates, np.random.RandomState(0))
    assert min(w.min() for w in loose.layers) > 0
    assert evaluate(digits, loose).error == pytest.approx(evaluate(digits, start).error, rel=0.02)
    if rates == "unit":
        assert max(w.sum(axis=1).max() for w in loose.layers) <= 1 + 1e-12


def test_sparse_and_dense_data_train_alike(digits):
    start = random_weights((64, 5), np.random.RandomState(0))
    dense, thin = tuned(digits, start, 2), tuned(sparse.csr_array(digits), start, 2)
    for a, b in zip(dense.weights.layers, thin.weights.layers, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)


def test_steps_shrink_once_progress_stalls(digits):
    start = random_weights((64, 5), np.random.RandomState(0))
    (curve,) = tuned(digits, start, 500, tol=1e-2).curves
    assert curve.stopped == "tol"
    assert curve.passes < 100


def test_batches_grow_with_the_rows_but_not_beyond_memory():
    def sizes(rows, widest, batch_size=100):
        data = held(np.broadcast_to(0.0, (rows, 1)))
        size = large_batches(rows, widest, batch_size)
        return np.array([len(batch) for batch in Batches(data, size, np.random.RandomState(0))])

    assert set(sizes(1_000, 64)) == {100}
    assert len(sizes(60_000, 784)) == pytest.approx(128, abs=1)
    assert max(sizes(200_000, 50_000)) <= 101
    assert sizes(7, 3).tolist() == [7]
    assert sizes(60_000, 784, 10_000).tolist() == [10_000] * 6


def test_ctrl_c_keeps_the_best_so_far(digits, shallow, ctrl_c):
    ctrl_c(1.0)
    trained = tuned(digits, shallow, 10**6)
    assert trained.interrupted
    assert evaluate(digits, trained.weights).error <= evaluate(digits, shallow).error


def test_rows_of_float32_weights_sum_to_one_in_float64(rng):
    """Also where the data are wide: sums over rows are as accurate as sums of float32 can be."""
    X = rng.random((400, 700)).astype(np.float32)
    model = LRNNAutoencoder(5, rates="unit", max_iter=3, random_state=0).fit(X)
    for weight in (*model.encoders_, *model.decoders_):
        assert weight.dtype == np.float32
        assert weight.flags.c_contiguous
        assert weight.sum(axis=1, dtype=float).max() <= 1 + 1e-6
