"""Algorithms 1–3 against a literal transcription of the paper, and the laws they must keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lrnn.network.weights import Weights, random_weights
from lrnn.rows import held
from lrnn.training import Observer, Run, Settings, evaluate, train_jointly, train_layerwise
from lrnn.training.minibatch import joint_step, pair_step
from nearness import assert_near, of_training

EPS = np.finfo(float).eps


def run(seed=0, observer=None, **settings):
    return Run(Settings(**settings), np.random.RandomState(seed), observer or Observer())


def error(X, weights):
    return evaluate(held(X), weights).error


def printed_adjustment(W):
    """Check-and-adjust, row by row as printed."""
    W = W.copy()
    for v in range(len(W)):
        if W[v].sum() > 1:
            W[v] = W[v] / W[v].sum()
    return W


def printed_pair(X, W, V):
    """The body of Algorithm 1 with V for W̄, every matrix as printed, nothing rearranged."""
    denominator = X.T @ X @ W @ V @ V.T
    W = W * (X.T @ X @ V.T) / np.where(denominator == 0, EPS, denominator)
    W = printed_adjustment(W)
    W = W / np.max(X @ W)
    denominator = W.T @ X.T @ X @ W @ V
    V = V * (W.T @ X.T @ X) / np.where(denominator == 0, EPS, denominator)
    V = printed_adjustment(V)
    H = np.minimum(X @ W, 1)
    return W, V / np.max(H @ V)


def batches_of(digits, size, count):
    return [digits[i * size : (i + 1) * size] for i in range(count)]


@pytest.mark.parametrize("hidden", [3, 16, 90])
def test_algorithm_1_is_the_printed_one(digits, hidden):
    weights = random_weights([64, hidden], np.random.RandomState(0))
    W, V = weights.layers
    for batch in batches_of(digits, 50, 30):
        weights, _ = joint_step(batch, weights, "free")
        W, V = printed_pair(batch, W, V)
        np.testing.assert_allclose(weights.encoders[0], W, rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(weights.decoders[0], V, rtol=1e-8, atol=1e-14)


def test_algorithm_3_is_the_printed_one(digits):
    weights = random_weights([64, 30, 20, 10], np.random.RandomState(0))
    encoders, decoders = list(weights.encoders), list(weights.decoders)
    for batch in batches_of(digits, 50, 20):
        weights, outputs = joint_step(batch, weights, "free")
        Q = np.minimum(batch, 1)
        for m in range(3):
            encoders[m], decoders[2 - m] = printed_pair(Q, encoders[m], decoders[2 - m])
            Q = np.minimum(Q @ encoders[m], 1)
        for ours, printed in zip(weights.layers, encoders + decoders, strict=True):
            np.testing.assert_allclose(ours, printed, rtol=1e-8, atol=1e-14)
        for V in decoders:
            Q = np.minimum(Q @ V, 1)
        np.testing.assert_allclose(outputs, Q, atol=1e-12)


def test_algorithm_2_trains_each_pair_on_the_layer_before(digits):
    settings = {"batch_size": 100, "max_iter": 3, "tol": 0}
    start = random_weights([64, 20, 8], np.random.RandomState(0))
    trained = train_layerwise(held(digits), start, run(1, **settings))
    same = run(1, **settings)
    first = train_jointly(held(digits), Weights(start.encoders[:1], start.decoders[1:]), same)
    layer = np.minimum(digits @ first.weights.encoders[0], 1)
    second = train_jointly(held(layer), Weights(start.encoders[1:], start.decoders[:1]), same)
    expected = [
        first.weights.encoders[0],
        second.weights.encoders[0],
        second.weights.decoders[0],
        first.weights.decoders[0],
    ]
    terms = of_training(3 * 18, 100, 64, 20)
    for ours, separate in zip(trained.weights.layers, expected, strict=True):
        assert_near(ours, separate, terms)  # its layers are computed block by block
    assert [curve.layer for curve in trained.curves] == [1, 2]


unit_floats = st.floats(0, 1, allow_subnormal=False)


@st.composite
def problems(draw):
    """Data in [0, 1] and weights that keep the unit-rate constraint, dead units included."""
    rows, attributes, hidden = (draw(st.integers(1, 6)) for _ in range(3))
    data = draw(arrays(np.float64, (rows, attributes), elements=unit_floats))
    weights = random_weights(
        [attributes, hidden], np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    )
    encoder, decoder = (w.copy() for w in weights.layers)
    encoder[draw(arrays(np.bool_, attributes))] = 0
    encoder[:, draw(arrays(np.bool_, hidden))] = 0
    decoder[draw(arrays(np.bool_, hidden))] = 0
    return data, encoder, decoder


@settings(max_examples=200)
@given(problems(), st.sampled_from(["free", "unit"]))
def test_every_step_keeps_weights_valid_and_activations_probabilities(problem, rates):
    data, encoder, decoder = problem
    for _ in range(5):
        encoder, decoder, codes, outputs = pair_step(data, encoder, decoder, rates)
        for weights in (encoder, decoder):
            assert np.isfinite(weights).all()
            assert weights.min() >= 0
            if rates == "unit":
                assert weights.sum(axis=1).max() <= 1 + 8 * EPS
        for values in (codes, outputs):
            assert values.min() >= 0
            assert values.max() <= 1


@pytest.mark.parametrize("train", [train_jointly, train_layerwise])
def test_the_error_falls_and_the_best_weights_are_kept(digits, train):
    start = random_weights([64, 20, 10], np.random.RandomState(0))
    settings = {"batch_size": 60, "max_iter": 8, "tol": 0, "evaluate_every": 7}
    trained = train(held(digits), start, run(**settings))
    for curve in trained.curves:
        assert len(curve.batch_errors) == 8 * 30
        assert set(curve.iterations) == {*range(7, 241, 7), *range(30, 241, 30)}
        assert curve.passes == 8
        assert curve.stopped == "max_iter"
        assert (np.diff(curve.seconds) > 0).all()
        assert curve.batch_errors[-30:].mean() < curve.batch_errors[0]
    if train is train_jointly:
        assert error(digits, trained.weights) == trained.curves[0].lowest
    assert error(digits, trained.weights) < 0.5 * error(digits, start)


def test_batch_errors_are_those_of_the_minibatch_after_its_step(digits):
    start = random_weights([64, 5], np.random.RandomState(0))
    once = run(batch_size=2000, max_iter=2, tol=0)  # one batch: all rows
    trained = train_jointly(held(digits), start, once)
    np.testing.assert_allclose(trained.curves[0].batch_errors, trained.curves[0].errors, rtol=1e-12)


def test_training_stops_when_there_is_no_more_progress():
    data = np.tile([[0.2, 0.4], [0.4, 0.8]], (20, 1))  # of rank 1: soon solved
    start = random_weights([2, 1], np.random.RandomState(0))
    trained = train_jointly(held(data), start, run(batch_size=40, max_iter=1000, tol=0.01))
    assert trained.curves[0].stopped == "tol"
    assert trained.curves[0].passes < 1000


@pytest.mark.parametrize("train", [train_jointly, train_layerwise])
def test_ctrl_c_keeps_the_best_weights_so_far(digits, train, ctrl_c):
    start = random_weights([64, 20, 10], np.random.RandomState(0))
    ctrl_c(1.0)
    trained = train(held(digits), start, run(max_iter=10**6, tol=0))
    curve = trained.curves[-1]
    assert trained.interrupted
    assert curve.stopped == "interrupted"
    assert curve.lowest == curve.errors.min()
    assert error(digits, trained.weights) < error(digits, start)


def test_batches_without_spikes_change_nothing():
    data = np.zeros((20, 4))
    start = random_weights([4, 2], np.random.RandomState(0))
    trained = train_jointly(held(data), start, run(batch_size=5, max_iter=2))
    for ours, before in zip(trained.weights.layers, start.layers, strict=True):
        np.testing.assert_array_equal(ours, before)
    assert trained.curves[0].lowest == 0


@pytest.mark.parametrize(("rows", "size", "count"), [(100, 30, 3), (101, 100, 1), (7, 100, 1)])
def test_minibatches_are_as_equal_as_can_be(rows, size, count):
    seen = []

    class Watcher(Observer):
        def iteration(self):
            seen.append(1)

    data = np.random.RandomState(0).uniform(size=(rows, 3))
    start = random_weights([3, 2], np.random.RandomState(0))
    train_jointly(held(data), start, run(observer=Watcher(), batch_size=size, max_iter=1))
    assert len(seen) == count


def test_sparse_rows_are_evaluated_like_dense_ones(digits):
    weights = random_weights([64, 20, 10], np.random.RandomState(0))
    thick, thin = (evaluate(held(X), weights) for X in (digits, sparse.csr_array(digits)))
    assert thin.error == pytest.approx(thick.error, rel=1e-12)
    for a, b in zip(thick.mean_activations, thin.mean_activations, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
