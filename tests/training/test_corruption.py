"""Networks that learn to give back rows from corrupted ones, whatever trains them."""

import copy
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from lrnn import LRNNAutoencoder, Moment, checkpoints, frontier, load
from lrnn.functional.gradients import error_gradients, penalised_gradients
from lrnn.moments import Corruption
from lrnn.network.weights import Weights
from lrnn.rows import HostRows
from lrnn.training import evaluate
from lrnn.training.inhibition import pruned
from naming import naming

CASES = [("mask", 0.5), ("noise", 0.3)]
LEVEL = 1e-6


def error(found, wanted):
    return float(np.mean((found - wanted) ** 2))


def damaged(X, corruption, seed=1):
    """By other random numbers than lrnn's."""
    kind, level = corruption
    random = np.random.default_rng(seed)
    if kind == "mask":
        return X * (random.random(X.shape) >= level)
    return np.clip(X + level * random.standard_normal(X.shape), 0, 1)


def moments(X, corruption):
    """S and C of what a linear map sees and wants, by thousands of samples' worth of algebra."""
    kind, level = corruption
    if kind == "mask":
        G = X.T @ X / len(X)
        kept = 1 - level
        return kept**2 * G + kept * level * np.diag(np.diag(G)), kept * G
    drawn = [damaged(X, corruption, seed) for seed in range(30)]
    S = sum(one.T @ one for one in drawn) / len(X) / len(drawn)
    return S, sum(one.T @ X for one in drawn) / len(X) / len(drawn)


@pytest.fixture(scope="module")
def split(digits):
    return digits[:1300], digits[1300:]


@pytest.fixture(scope="module")
def plain(split):
    return LRNNAutoencoder(16, random_state=0).fit(split[0])


@pytest.fixture(scope="module")
def trained(split):
    return {
        case: LRNNAutoencoder(16, corruption=case, random_state=0).fit(split[0]) for case in CASES
    }


@pytest.mark.parametrize("case", CASES, ids=str)
def test_new_rows_are_given_back_from_corrupted_ones(case, split, plain, trained):
    X, new = split
    seen = damaged(new, case)
    found = error(trained[case].reconstruct(seen), new)
    assert found < 0.8 * error(plain.reconstruct(seen), new)
    # but no linear map of this rank does better on average: reduced-rank regression
    S, C = moments(X, case)
    full = np.linalg.solve(S + 1e-9 * np.eye(64), C)
    lowest = np.trace(X.T @ X / len(X)) - np.linalg.eigvalsh(C.T @ full)[-16:].sum()
    expected = trained[case].history_[-1].errors[-1]
    assert lowest / 64 < expected < 1.5 * lowest / 64


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_errors_are_what_they_are_said_to_be(case, split, trained):
    X, _ = split
    model = trained[case]
    assert model.reconstruction_err_ == pytest.approx(error(model.reconstruct(X), X), rel=1e-9)
    assert model.reconstruction_err_ == pytest.approx(-model.score(X), rel=1e-9)
    sample = Corruption.of(case, 0).of_rows(X, 0)
    assert model.corrupted_err_ == pytest.approx(error(model.reconstruct(sample), X), rel=1e-9)
    # the solver's own error is the expectation, of the network before its outputs saturate
    linear = [
        error(Corruption.of(case, seed).of_rows(X, 0) @ model.encoders_[0] @ model.decoders_[0], X)
        for seed in range(20)
    ]
    slack = 5 * np.std(linear, ddof=1) / sqrt(20)
    assert np.mean(linear) == pytest.approx(model.history_[-1].errors[-1], abs=slack)
    assert model.corrupted_err_ < model.history_[-1].errors[-1] + 20 * slack


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"fine_tune": 2}, {"inhibition": True, "fine_tune": 2},
        {"rates": "unit", "max_iter": 2}, {"hidden_layer_sizes": (12, 8)},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kind", ["mask", "noise"])
def test_a_level_of_zero_is_the_plain_fit(settings, kind, digits):
    settings = {"hidden_layer_sizes": 8, "max_iter": 5, "random_state": 0} | settings
    one = LRNNAutoencoder(**settings).fit(digits)
    other = LRNNAutoencoder(**settings, corruption=(kind, 0.0)).fit(digits)
    for a, b in zip(one.weights_.excitatory, other.weights_.excitatory, strict=True):
        assert (a == b).all()
    assert other.reconstruction_err_ == one.reconstruction_err_
    assert other.corrupted_err_ is one.corrupted_err_ is None


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("moment", ["dense", "implicit"])
def test_sparse_rows_and_tensors_give_the_same(case, moment, digits):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    X = digits[:60]
    settings = {"corruption": case, "moment": moment, "max_iter": 8, "random_state": 3}
    expected = LRNNAutoencoder(5, **settings).fit(X)
    for rows in (sparse.csr_array(X), torch.tensor(X), lambda: iter(np.array_split(X, 3))):
        found = LRNNAutoencoder(5, **settings).fit(rows)
        for name in ("reconstruction_err_", "corrupted_err_", "spike_cost_"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6)


@pytest.mark.parametrize("level", [0.05, 0.3, 1.0])
def test_noise_does_not_saturate_code_neurons(level, digits):
    for hidden in (16, (20, 16)):
        settings = {"corruption": ("noise", level), "max_iter": 20, "stacking": "joint"}
        model = LRNNAutoencoder(hidden, random_state=0, **settings).fit(digits)
        for seed in range(3):
            layer = damaged(digits, ("noise", level), seed)
            for encoder in model.encoders_:
                layer = layer @ encoder
                assert layer.max() <= 1 + 1e-9


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_deep_network_starts_from_the_shallow_one(case, digits):
    settings = {"corruption": case, "max_iter": 20, "random_state": 0}
    shallow = LRNNAutoencoder(8, **settings).fit(digits)
    joint = LRNNAutoencoder((30, 8), stacking="joint", **settings).fit(digits)
    assert joint.corrupted_err_ == pytest.approx(shallow.corrupted_err_, rel=1e-9)
    layered = LRNNAutoencoder((30, 8), **settings).fit(digits)
    assert layered.corrupted_err_ <= joint.corrupted_err_ * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("hidden", [6, 9, (9, 7)], ids=str)
def test_a_wide_code_does_not_just_pass_on_what_is_corrupted(case, hidden, rng):
    X = rng.random((300, 2)) @ rng.random((2, 6)) / 2
    model = LRNNAutoencoder(hidden, corruption=case, random_state=0).fit(X)
    assert model.weights_.sizes[1] == (hidden if isinstance(hidden, int) else hidden[0])
    sample = Corruption.of(case, 0).of_rows(X, 0)
    assert model.corrupted_err_ < 0.7 * error(sample, X)
    unit = LRNNAutoencoder(6, rates="unit", corruption=case, max_iter=20, random_state=0).fit(X)
    assert unit.corrupted_err_ < error(sample, X)
    assert unit.audit().valid


@pytest.mark.parametrize("case", CASES, ids=str)
def test_training_end_to_end_goes_on(case, split, trained):
    X, new = split
    tuned = LRNNAutoencoder(16, corruption=case, fine_tune=15, random_state=0).fit(X)
    assert tuned.corrupted_err_ < trained[case].corrupted_err_
    assert tuned.history_[-1].errors[0] == pytest.approx(trained[case].corrupted_err_)
    assert tuned.corrupted_err_ == pytest.approx(tuned.history_[-1].lowest)
    seen = damaged(new, case)  # rows that were not trained on: better, or about as good
    assert error(tuned.reconstruct(seen), new) < 1.01 * error(trained[case].reconstruct(seen), new)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_inhibition_does_better(case, split, trained):
    X, new = split
    full = LRNNAutoencoder(16, corruption=case, inhibition=True, fine_tune=25, random_state=0)
    full.fit(X)
    seen = damaged(new, case)
    assert full.corrupted_err_ < 0.9 * trained[case].corrupted_err_
    assert error(full.reconstruct(seen), new) < error(trained[case].reconstruct(seen), new)


@pytest.mark.parametrize(
    "settings",
    [{"fine_tune": 2}, {"inhibition": True, "fine_tune": 2, "early_stopping": True}],
    ids=str,
)
def test_samples_are_fixed_by_random_state(settings, digits):
    def learnt(seed):
        model = LRNNAutoencoder(
            6, corruption=("mask", 0.5), max_iter=5, random_state=seed, **settings
        )
        return model.fit(digits[:200])

    one, same, other = learnt(1), learnt(1), learnt(2)
    assert (one.encoders_[0] == same.encoders_[0]).all()
    assert one.corrupted_err_ == same.corrupted_err_ != other.corrupted_err_


def test_gradients_are_those_to_the_targets(rng):
    """Against differences of the error itself."""
    inputs, targets = rng.random((7, 5)), rng.random((7, 5))
    weights = [rng.random((5, 3)) / 4, rng.random((3, 5)) / 2]
    minus = [rng.random((5, 3)), rng.random((3, 5))]

    def squared(plus, minus=None):
        network = Weights.of(plus, minus)
        layer = inputs
        for one in network.layers:
            a, b = one if isinstance(one, tuple) else (one, 0 * one)
            layer = np.minimum(layer @ a / (1 + layer @ b), 1)
        return ((layer - targets) ** 2).sum()

    found, gradients = error_gradients(inputs, weights, targets)
    full, _, (by_plus, by_minus) = penalised_gradients(inputs, weights, minus, targets=targets)
    assert found == pytest.approx(squared(weights))
    assert full == pytest.approx(squared(weights, minus))
    step = 1e-6
    for of, matrices, blocking in (
        (gradients, weights, None), (by_plus, weights, minus), (by_minus, minus, minus)
    ):  # fmt: skip
        for i, matrix in enumerate(matrices):
            before = matrix[1, 2]
            ends = []
            for side in (step, -step):
                matrix[1, 2] = before + side
                ends.append(squared(weights, blocking))
            matrix[1, 2] = before
            assert 2 * of[i][1, 2] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)


def test_minibatches_get_new_samples_in_each_step():
    wanted, batch = Corruption.of(("mask", 0.5), 0), np.ones((20, 30))
    samples = [wanted.of_batch(batch, step) for step in range(40)]
    agreeing = [(a == b).mean() for a, b in pairwise(samples)]
    slack = sqrt(log(2 * 39 / LEVEL) / (2 * batch.size))
    assert all(abs(share - 0.5) < slack for share in agreeing)
    assert not (wanted.of_rows(batch, 0) == samples[0]).all()
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    number = torch.tensor(7.0, dtype=torch.float64)  # as steps that are played back have it
    assert (wanted.of_batch(torch.tensor(batch), number).numpy() == samples[7]).all()


def test_connections_from_neurons_that_only_noise_excites_are_kept(rng):
    X = rng.random((50, 4))
    X[:, 3] = 0
    plus = [rng.random((4, 2)), rng.random((2, 4))]
    weights = Weights.of(plus, [rng.random((4, 2)), rng.random((2, 4))])
    rows = HostRows(X)
    assert (pruned(rows, weights).encoders[0][3] == 0).all()
    noise = pruned(rows, weights, Corruption("noise", 0.1))
    assert (noise.encoders[0][3] > 0).all()
    assert (noise.decoders[0][:, 3] == 0).all()  # nobody wants that output
    before, after = (evaluate(rows, w, Corruption("noise", 0.1)).error for w in (weights, noise))
    assert after <= before


# Ordinary data at their worst


@pytest.mark.parametrize("case", [("mask", 0.5), ("noise", 0.1), ("mask", 0.999), ("noise", 1.0)])
@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.2, 0.9, 0.0]]),
        np.zeros((4, 3)),
        np.full((5, 4), 0.5),
        np.eye(6),
        np.ones((3, 5), dtype=np.float32),
        np.array([[0, 255, 51], [255, 0, 0]], dtype=np.uint8),
        np.array([[0.5], [0.2]]),
        sparse.csr_array((5, 4)),
        np.random.default_rng(0).random((3, 20)),
    ],
    ids=[
        "one row",
        "zeros",
        "constant",
        "identity",
        "ones",
        "levels",
        "one column",
        "empty",
        "few",
    ],
)
@pytest.mark.parametrize("settings", [{}, {"fine_tune": 2}, {"inhibition": True, "fine_tune": 2}])
def test_small_data(case, X, settings):
    model = LRNNAutoencoder(2, corruption=case, max_iter=20, random_state=0, **settings).fit(X)
    assert np.isfinite([model.reconstruction_err_, model.corrupted_err_, model.spike_cost_]).all()
    assert all(np.isfinite(w).all() and w.min() >= 0 for w in model.weights_.excitatory)
    assert model.corrupted_err_ <= 1
    assert model.encoders_[0].dtype == (X.dtype if X.dtype.kind == "f" else np.float32)
    assert model.audit(X).valid


def test_refusals(digits, tmp_path):
    X = digits[:50]
    with pytest.raises(ValueError, match=naming("corruption=('mask', 0.5)", "solver='gram'")):
        LRNNAutoencoder(4, solver="minibatch", corruption=("mask", 0.5)).fit(X)
    with pytest.raises(ValueError, match=naming("corruption=('mask', 0.5)", "fit", "partial_fit")):
        LRNNAutoencoder(4, corruption=("mask", 0.5)).partial_fit(X)
    with pytest.raises(ValueError, match=naming("corruption=('mask', 1.0)", 1)):
        LRNNAutoencoder(4, corruption=("mask", 1.0)).fit(X)
    with pytest.raises(ValueError, match=naming("corruption", "'mask'")):
        LRNNAutoencoder(4, corruption="mask").fit(X)
    with pytest.raises(ValueError, match=naming("frontier()", "corruption")):
        frontier(X, 4, corruption=("mask", 0.5))


def test_parts_of_a_stream_with_inhibition(digits):
    model = LRNNAutoencoder(6, corruption=("mask", 0.5), inhibition=True, random_state=0)
    errors = [model.partial_fit(digits).corrupted_err_ for _ in range(5)]
    assert errors[-1] < errors[0]


# Moments and weights


@pytest.mark.parametrize("hidden", [5, 70, (9, 5)], ids=str)
def test_a_moment_is_enough_for_masks(hidden, digits):
    settings = {"corruption": ("mask", 0.5), "max_iter": 10, "random_state": 0}
    by_rows = LRNNAutoencoder(hidden, **settings).fit(digits)
    model = LRNNAutoencoder(hidden, **settings).fit(Moment.of(digits))
    assert model.weights_.sizes == by_rows.weights_.sizes
    linear = by_rows.weights_.excitatory
    if hidden == 5:
        expected = linear[0] @ linear[1]
        np.testing.assert_allclose(model.encoders_[0] @ model.decoders_[0], expected, atol=1e-9)
        assert model.corrupted_err_ == pytest.approx(by_rows.history_[-1].errors[-1])
        assert model.corrupted_err_ == pytest.approx(by_rows.corrupted_err_, rel=0.1)
    assert model.corrupted_err_ < model.reconstruction_err_
    with pytest.raises(ValueError, match=naming("corruption=('noise', 0.1)", "Moment")):
        LRNNAutoencoder(5, corruption=("noise", 0.1)).fit(Moment.of(digits))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("moment", ["dense", "implicit"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_weight_of_two_is_a_row_twice(case, moment, make, digits):
    X, weights = digits[:60], np.arange(60) % 3
    settings = {"corruption": case, "moment": moment, "max_iter": 5, "random_state": 0}
    weighed = LRNNAutoencoder(5, **settings).fit(make(X), sample_weight=weights)
    doubled = LRNNAutoencoder(5, **settings).fit(make(np.repeat(X, weights, axis=0)))
    for one, other in zip(weighed.weights_.excitatory, doubled.weights_.excitatory, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    assert weighed.reconstruction_err_ == pytest.approx(doubled.reconstruction_err_)
    assert weighed.corrupted_err_ == pytest.approx(doubled.corrupted_err_, rel=0.2)  # samples


# Files


@pytest.mark.parametrize(
    "settings",
    [{"max_iter": 40}, {"max_iter": 5, "fine_tune": 5},
     {"max_iter": 5, "inhibition": True, "fine_tune": 4}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", [0, None])
def test_a_training_that_was_interrupted_goes_on(settings, case, seed, digits, tmp_path):
    X, path = digits[:150], tmp_path / "checkpoint"

    def model():
        return LRNNAutoencoder(5, corruption=case, tol=0, random_state=seed, **settings)

    written = []
    real = checkpoints.write

    def counted(*arguments):
        real(*arguments)
        written.append(1)
        if len(written) == 4:
            raise ZeroDivisionError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lrnn.storage.checkpoints.write", counted)
        with pytest.raises(ZeroDivisionError):
            checkpoints.fit(model(), X, path, every=0)
    resumed = checkpoints.fit(model(), X, path, every=0)
    if seed is None:  # other minibatches, but the same corrupted rows
        assert np.isfinite(resumed.corrupted_err_)
        return
    whole = model().fit(X)
    assert resumed.corrupted_err_ == whole.corrupted_err_
    assert (resumed.encoders_[0] == whole.encoders_[0]).all()
    with pytest.raises(checkpoints.CheckpointError, match=naming(path, "corruption", 0.25)):
        checkpoints.fit(model().set_params(corruption=("mask", 0.25)), X, path)


def test_model_files(trained, split, tmp_path):
    for case, found in trained.items():
        model = copy.copy(found)
        model.save(tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert again.corruption == case
        assert again.corrupted_err_ == model.corrupted_err_
        assert (again.transform(split[1]) == model.transform(split[1])).all()
    model.corrupted_err_ = None
    with pytest.raises(ValueError, match=naming("corrupted_err", "corruption")):
        model.save(tmp_path / "model.safetensors")


@pytest.mark.parametrize("kind", ["mask", "noise"])
def test_a_level_of_0_is_none_everywhere(kind, digits):
    for settings in ({"solver": "minibatch", "max_iter": 2}, {"max_iter": 5}):
        one, other = (
            LRNNAutoencoder(4, corruption=corruption, tol=0, random_state=0, **settings)
            for corruption in ((kind, 0), None)
        )
        assert one.fit(digits).reconstruction_err_ == other.fit(digits).reconstruction_err_
        parts = [clone(model).partial_fit(digits).reconstruction_err_ for model in (one, other)]
        assert parts[0] == parts[1]
