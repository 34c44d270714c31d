"""The gram solver: it descends, it ends, and it copes with any data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

from lrnn import LRNNAutoencoder
from lrnn.moments import DenseMoment, ImplicitMoment, MaskedMoment
from lrnn.rows import held
from lrnn.training import Observer, Run, Settings, evaluate, train_gram
from lrnn.training.anchors import anchor_weights, find_anchors, one_hot_weights
from lrnn.training.evaluation import largest_drives
from lrnn.training.gram import GramDescent, GramSearch, starts, unsaturated


def run(**settings):
    return Run(Settings(**settings), np.random.RandomState(0), Observer())


def dense(X):
    return DenseMoment(held(X))


def solved(X, hidden, **parameters):
    return LRNNAutoencoder(hidden, solver="gram", random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("init", ["anchors", "random"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_recorded_error_never_rises(digits, init, dtype):
    model = solved(digits.astype(dtype), (20, 8), init=init, tol=0)
    for curve in model.history_:
        assert (np.diff(curve.errors) <= 0).all()
        assert (np.diff(curve.seconds) > 0).all()


def test_it_is_better_than_the_printed_algorithm_and_near_nmf(digits):
    printed = LRNNAutoencoder(16, solver="minibatch", random_state=0).fit(digits)
    nmf = NMF(16, max_iter=2000, init="nndsvda", random_state=0)
    free = ((digits - nmf.fit_transform(digits) @ nmf.components_) ** 2).mean()
    ours = solved(digits, 16).reconstruction_err_
    assert ours < 0.85 * printed.reconstruction_err_
    assert ours < 1.2 * free  # which may choose each row's codes freely, not by one matrix


def test_the_error_on_the_way_is_the_direct_one_of_the_linear_network(digits):
    search = GramSearch(starts(dense(digits), 8, run()), run(max_iter=20))
    curve = search.curve(None, run().train(search, "training"))
    state = search.best.state
    W, D = unsaturated(largest_drives(held(digits), state.encoder), state).layers
    direct = ((digits - digits @ W @ D) ** 2).mean()
    assert curve.lowest == state.error == pytest.approx(direct, rel=1e-10)
    np.testing.assert_allclose((digits @ W).max(axis=0), 1, rtol=1e-12)


def test_no_code_neuron_saturates_and_saturated_outputs_only_help(digits):
    model = solved(digits, 10)
    assert model.transform(digits).max() <= 1
    assert model.reconstruction_err_ <= model.history_[0].lowest
    assert model.reconstruction_err_ == pytest.approx(-model.score(digits), rel=1e-12)


def test_dense_and_implicit_moments_lead_to_the_same_weights(digits):
    start = anchor_weights(dense(digits), find_anchors(dense(digits), 6), 4.0)
    states = []
    for kind in (DenseMoment, ImplicitMoment):
        for data in (digits, sparse.csr_array(digits)):
            descent = GramDescent(kind(held(data)), *start[:2])
            for _ in range(10):
                descent.step()
            states.append(descent.state)
    for state in states[1:]:
        np.testing.assert_allclose(state.encoder, states[0].encoder, rtol=1e-6, atol=1e-9)
        assert state.error == pytest.approx(states[0].error, rel=1e-9)


def test_float32_reaches_what_float64_does(digits):
    wide, narrow = solved(digits, 12), solved(digits.astype(np.float32), 12)
    assert narrow.reconstruction_err_ == pytest.approx(wide.reconstruction_err_, rel=0.02)


def test_rows_in_another_order_give_the_same_error(digits):
    shuffled = digits[np.random.default_rng(0).permutation(len(digits))]
    a, b = solved(digits, 12, max_iter=20), solved(shuffled, 12, max_iter=20)
    assert a.reconstruction_err_ == pytest.approx(b.reconstruction_err_, rel=1e-6)


def binary_tables():
    """Attributes that are alike: many of the same size, copies, constants, flags."""
    random = np.random.default_rng(0)
    flags = np.zeros((60, 12))
    for i in range(12):
        flags[random.permutation(60)[:20], i] = 1
    return {
        "flags of equal sizes": flags,
        "copies": np.repeat(random.random((40, 8)), 3, axis=1),
        "one of twelve": np.eye(12)[random.integers(12, size=90)],
        "with constants": np.c_[random.random((50, 6)), np.ones((50, 3)), np.zeros((50, 2))],
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*binary_tables(), "digits", "few steps"])
def test_attributes_in_another_order_give_the_same_error(digits, name, dtype):
    X = binary_tables().get(name, digits[:300]).astype(dtype)
    X = np.tile(X, (1, 4)) if name == "few steps" else X  # for which starts are given up
    orders = [np.random.RandomState(seed).permutation(X.shape[1]) for seed in range(3)]
    steps = {"max_iter": 20 if name == "few steps" else 60}
    errors = [
        solved(np.ascontiguousarray(X[:, order]), 5, **steps).reconstruction_err_
        for order in (slice(None), *orders)
    ]
    assert max(errors) - min(errors) < 1e-3 * max(errors) + np.finfo(dtype).eps


def mixtures(pixels, noise, seed=0):
    """Spectra of four materials, mixed in pixels of which some are pure: bands by pixels."""
    random = np.random.default_rng(seed)
    materials = np.abs(np.cumsum(random.normal(size=(4, 60)), axis=1))
    materials /= materials.max()
    shares = random.dirichlet([0.5] * 4, pixels)
    shares[:4] = np.eye(4)
    X = shares @ materials + noise * random.normal(size=(pixels, 60))
    return np.clip(X, 0, 1).T, materials


def angles(found, known):
    """Of each known direction to the nearest that was found, in degrees."""
    unit = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in (found, known)]
    return np.degrees(np.arccos(np.clip(unit[1] @ unit[0].T, -1, 1).max(axis=1)))


@pytest.mark.parametrize("pixels", [100, 700])  # all starts go to the end; one is chosen before
def test_separable_mixtures_are_unmixed(pixels):
    X, materials = mixtures(pixels, noise=1e-3)
    model = solved(X, 4)
    assert model.reconstruction_err_ < 2e-6  # the noise has 1e-6
    assert angles(model.transform(X).T, materials).max() < 1


def test_one_hot_codes_are_anchors_and_fitted():
    X, _ = mixtures(50, noise=0.0)
    moment = dense(X)
    anchors = find_anchors(moment, 4)
    encoder, decoder, (product, target) = one_hot_weights(moment, anchors)
    assert target is product
    assert sorted(anchors.attributes) == [0, 1, 2, 3]  # the pure pixels
    np.testing.assert_array_equal(np.argmax(encoder, axis=0), anchors.attributes)
    np.testing.assert_allclose(product, moment.dot(encoder), rtol=1e-10)
    assert ((X - X @ encoder @ decoder) ** 2).mean() < 1e-4 * (X**2).mean()


@pytest.mark.parametrize("power", [2.0, 16.0])
def test_profiles_come_with_their_product(digits, power):
    moment = dense(digits)
    encoder, _, (product, target) = anchor_weights(moment, find_anchors(moment, 6), power)
    np.testing.assert_allclose(product, moment.dot(encoder), rtol=1e-12)
    assert target is product
    masked = MaskedMoment(moment, 0.5)
    encoder, _, driven = anchor_weights(masked, find_anchors(masked, 6), power)
    np.testing.assert_allclose(driven, masked.driven(encoder), rtol=1e-12)
    assert one_hot_weights(masked, find_anchors(masked, 6))[2] is None


@pytest.mark.parametrize("hidden", [64, 65, 150])
def test_enough_code_neurons_reconstruct_exactly(digits, hidden):
    assert solved(digits, hidden).reconstruction_err_ < 1e-8


@pytest.mark.parametrize("init", ["anchors", "random"])
@pytest.mark.parametrize(
    ("name", "data", "hidden"),
    [
        ("one code neuron", np.random.default_rng(0).random((30, 5)), 1),
        ("a single row", np.random.default_rng(0).random((1, 5)), 3),
        ("fewer rows than attributes", np.random.default_rng(0).random((4, 30)), 8),
        ("a constant column", np.c_[np.random.default_rng(0).random((30, 3)), np.ones(30)], 2),
        ("a zero column", np.c_[np.random.default_rng(0).random((30, 3)), np.zeros(30)], 2),
        ("equal columns", np.repeat(np.random.default_rng(0).random((30, 2)), 3, axis=1), 4),
        ("zero rows", np.r_[np.zeros((9, 4)), np.random.default_rng(0).random((9, 4))], 2),
        ("nothing at all", np.zeros((5, 4)), 2),
        ("one cell", np.array([[0.7]]), 1),
    ],
)
def test_odd_data_are_learnt(name, data, hidden, init):
    model = solved(data, hidden, init=init)
    assert np.isfinite(model.reconstruction_err_)
    assert model.reconstruction_err_ <= (data**2).mean() + 1e-15
    assert model.audit(data).valid
    if name in ("a single row", "equal columns"):  # of a rank that fits the code
        assert model.reconstruction_err_ < 1e-3


def test_anchors_of_an_exhausted_rank_are_still_different_attributes():
    data = np.repeat(np.random.default_rng(0).random((30, 2)), 4, axis=1)
    correlations = find_anchors(dense(data), 6).correlations
    assert correlations.shape == (8, 6)
    assert np.isfinite(correlations).all()
    assert len(np.unique(np.argmax(correlations, axis=0))) >= 2


def test_it_stops_by_tol_and_by_max_iter(digits):
    assert solved(digits, 5, tol=0.01).history_[0].stopped == "tol"
    model = solved(digits, 5, tol=0, max_iter=7)
    assert (model.history_[0].stopped, model.n_iter_) == ("max_iter", 7)


def test_ctrl_c_keeps_what_was_found(digits, ctrl_c):
    wide = np.tile(digits, (1, 6))
    ctrl_c(2.0)
    trained = train_gram(held(wide), run(sizes=(384, 100, 20), max_iter=10**6, tol=0))
    assert trained.interrupted
    assert np.isfinite(evaluate(held(wide), trained.weights).error)


def test_scales_that_drift_are_brought_back(digits):
    moment = dense(digits)
    start = starts(moment, 5, run())[1].state
    far = np.array([1e-40, 1e60, 1.0, 1e9, 1e-9])
    plain = GramDescent(moment, start.encoder, start.decoder)
    drifted = GramDescent(moment, start.encoder * far, start.decoder / far[:, None])
    for _ in range(20):
        plain.step()
        drifted.step()
    assert drifted.error() == pytest.approx(plain.error(), rel=1e-9)
    assert drifted.state.encoder.max(axis=0).min() > 1e-7
    assert drifted.state.encoder.max() < 1e7


@pytest.mark.parametrize(
    "place", ["lrnn.training.gram.evaluate_unsaturated", "lrnn.training.split.largest_drives"]
)
def test_ctrl_c_while_neurons_are_rescaled_loses_nothing(digits, monkeypatch, place):
    def pressed(*args):
        raise KeyboardInterrupt

    settings = {"sizes": (64, 20, 8), "max_iter": 30, "layerwise": False}
    complete = train_gram(held(digits), run(**settings))
    monkeypatch.setattr(place, pressed)
    trained = train_gram(held(digits), run(**settings))
    assert trained.interrupted
    expected = evaluate(held(digits), complete.weights).error
    assert evaluate(held(digits), trained.weights).error == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("smallest", [5e-324, 2e-311, 1e-160])
def test_data_next_to_zero_overflow_nowhere(smallest):
    X = np.full((2, 3), smallest)
    model = LRNNAutoencoder((1,), random_state=0).fit(X)
    for weights in (*model.encoders_, *model.decoders_):
        assert np.isfinite(weights).all()
    assert model.audit(X).valid


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float32, 1e-20), (np.float32, 1e-26), (np.float32, 1e-42), (np.float64, 1e-160),
     (np.float64, 1e-300)],
)  # fmt: skip
@pytest.mark.parametrize("tiny", ["one column", "all but one column", "all"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"moment": "implicit"},
        {"hidden_layer_sizes": (5, 3), "fine_tune": 1},
        {"rates": "unit", "max_iter": 2},
        {"inhibition": True, "fine_tune": 2},
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")  # so dim that it is told
def test_numbers_whose_squares_underflow_give_finite_weights(dtype, scale, tiny, settings):
    X = np.random.default_rng(0).random((60, 6))
    columns = {"one column": [4], "all but one column": range(1, 6), "all": range(6)}[tiny]
    X[:, columns] *= scale
    X = X.astype(dtype)
    model = LRNNAutoencoder(**{"hidden_layer_sizes": 3, "random_state": 0} | settings).fit(X)
    for weights in (*model.encoders_, *model.decoders_):
        assert np.isfinite(weights).all()
    assert model.reconstruction_err_ <= np.mean(X.astype(float) ** 2) * (1 + 1e-6)
    assert model.audit(X).valid


@pytest.mark.filterwarnings("error")
def test_steps_on_a_sketch_that_overflow_are_not_taken_and_not_told_of():
    X = sparse.random_array((400, 3000), density=0.01, rng=np.random.default_rng(20161)).toarray()
    found = LRNNAutoencoder(4, max_iter=5, tol=0, random_state=0).fit(X)
    assert np.isfinite(found.reconstruction_err_)
    assert found.reconstruction_err_ < (X**2).mean()
