"""Streams: the moment that is kept is that of all rows, and what is learnt from it is as good."""

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

import lrnn
from lrnn import LRNNAutoencoder, Moment
from lrnn.rows import HostRows
from lrnn.storage.model_files import ModelFileError
from lrnn.training import evaluate, incremental
from lrnn.training.gram import Company, GramDescent
from naming import naming

DIGITS = load_digits().data / 16
LOST = naming("second moment", "partial_fit", "fit(lrnn.Moment.of(X))")


def streamed(parts, sizes=10, **more):
    model = LRNNAutoencoder(sizes, random_state=0, **more)
    for part in parts:
        model.partial_fit(part)
    return model


def thirds(X):
    return np.array_split(X, 3)


@pytest.fixture(scope="module")
def best():
    """The error of a fit on all digits."""
    return LRNNAutoencoder(10, random_state=0).fit(DIGITS).reconstruction_err_


@settings(max_examples=8)
@given(st.lists(st.integers(0, 400), max_size=6), st.sampled_from(["float64", "float32"]))
def test_the_moment_is_that_of_all_rows(cuts, dtype):
    X = DIGITS[:400, 20:40].astype(dtype)
    parts = [part for part in np.split(X, sorted(cuts)) if len(part)]
    found, expected = streamed(parts, 4).moment_, Moment.of(X)
    for name in ("gram", "column_sums", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    assert (found.n_rows, found.weight) == (expected.n_rows, expected.weight) == (400, 400)
    assert found.dtype == expected.dtype


def test_older_rows_weigh_half_after_so_many_rows(digits):
    one, other, last = digits[:30], digits[30:40], digits[40:60]
    found = streamed([one, other, last], forget=10).moment_
    expected = Moment.of(one) * 0.125 + Moment.of(other) * 0.25 + Moment.of(last)
    np.testing.assert_allclose(found.gram, expected.gram, rtol=1e-12)
    assert found.weight == pytest.approx(30 / 8 + 10 / 4 + 20)
    assert found.n_rows == 60


@pytest.mark.parametrize("order", [1, -1])
def test_with_steps_enough_it_is_as_good_as_a_fit_on_all(digits, best, order):
    """More passes add nothing to the moment but weight, and give time for steps."""
    model = streamed(thirds(digits)[::order])
    assert -model.score(digits) < 1.1 * best
    for _ in range(14):
        for part in thirds(digits)[::order]:
            model.partial_fit(part)
    assert -model.score(digits) < 1.02 * best


def test_what_is_told_is_of_all_rows(digits):
    """The error is at most as high, for outputs may saturate; spikes are exact."""
    for sizes in (10, (24, 10)):
        model = streamed(thirds(digits), sizes)
        found = evaluate(HostRows(digits), model.weights_)
        assert 0.97 * model.reconstruction_err_ < found.error <= model.reconstruction_err_
        spikes = model.weights_.spikes(found.mean_activations)
        np.testing.assert_allclose(model.layer_spike_costs_, spikes, rtol=1e-9)
        assert model.error_is_bound_
        assert model.n_iter_ == len(model.history_) == 3


@pytest.mark.parametrize("sizes", [10, (24, 10), (10, 24), (30, 24, 10)])
def test_no_row_that_was_seen_saturates_a_hidden_neuron(digits, sizes):
    model = streamed(np.array_split(digits, 8), sizes)
    layer = digits
    for weight in model.encoders_:
        layer = layer @ weight
        assert layer.max() <= 1 + 1e-12
    assert layer.max() > 0.5


def test_several_layers_are_the_shallow_network_split(digits):
    shallow, deep = (streamed(thirds(digits), sizes) for sizes in (10, (24, 10)))
    np.testing.assert_allclose(deep.reconstruct(digits), shallow.reconstruct(digits), atol=1e-9)
    before = deep.encoders_[0] > 0
    deep.partial_fit(digits[:200])
    again = deep.encoders_[0] > 0
    assert (before == again).mean() > 0.95  # neurons keep their parts


@pytest.mark.parametrize(
    "first",
    [np.zeros((5, 64)), DIGITS[:1], np.zeros((1, 64)), DIGITS[:7]],
    ids=["zeros", "one row", "one row of zeros", "fewer rows than code neurons"],
)
def test_any_first_part_will_do(digits, best, first):
    model = streamed([first, *thirds(digits)])
    assert -model.score(digits) < 1.1 * best


def test_rows_may_come_one_by_one(digits):
    model = streamed(np.split(digits[:300], 300))
    assert model.score(digits[:300]) > 1.2 * streamed([digits[:300]]).score(digits[:300])
    np.testing.assert_allclose(model.moment_.gram, Moment.of(digits[:300]).gram, rtol=1e-12)
    assert sum(len(curve.batch_errors) == 0 for curve in model.history_) > 200  # that waited


def test_attributes_that_appear_late_are_learnt(digits, best):
    early = np.where(np.arange(64) < 32, digits, 0)
    model = streamed([early[:300], *np.array_split(digits, 10)])
    assert -model.score(digits) < 1.2 * best
    assert (model.encoders_[0][digits.max(axis=0) > 0].max(axis=1) > 0).all()


def test_attributes_that_vanish_are_not_lost(digits, best):
    """After many parts without them, and with forgetting, they are learnt again."""
    late = np.where(np.arange(64) < 32, digits, 0)
    model = streamed([digits, *[late[:600]] * 12], forget=200)
    without = -model.score(digits)
    for _ in range(8):
        model.partial_fit(digits)
    assert (
        -model.score(digits) < 1.1 * LRNNAutoencoder(10).fit(digits).reconstruction_err_ < without
    )


def test_forgetting_follows_what_changes(digits):
    labels = load_digits().target
    old, new = digits[labels < 5], digits[labels >= 5]
    parts = [*np.array_split(old, 8), *np.array_split(new, 8)]
    keeping, forgetting = streamed(parts), streamed(parts, forget=150)
    assert forgetting.score(new) > keeping.score(new)
    assert forgetting.score(old) < keeping.score(old)


def test_code_neurons_that_do_nothing_become_others(digits):
    moment = Moment.of(digits)
    start = LRNNAutoencoder(10, max_iter=20, random_state=0).fit(moment)._memory
    dead = start.encoder.copy()
    dead[:, 3:6] = 0
    memory = replace(start, encoder=dead, decoder=start.decoder.copy())
    view = incremental.moment_of(memory.kept, np.float64)
    plain = GramDescent(view, dead, start.decoder)
    found = incremental.ContinuedDescent(view, memory)
    assert found.error() < 0.95 * plain.error()
    assert (found.state.encoder.max(axis=0) > 0).all()
    assert (found.state.decoder.max(axis=1) > 0).all()


def test_no_start_is_worse_for_reviving(digits):
    """Where all code neurons are of use, nothing changes but faint weights."""
    memory = LRNNAutoencoder(10, max_iter=60, random_state=0).fit(Moment.of(digits))._memory
    found = incremental.ContinuedDescent(incremental.moment_of(memory.kept, np.float64), memory)
    assert found.error() == pytest.approx(memory.error, rel=1e-4)


def test_what_a_part_costs_does_not_depend_on_those_before(digits, monkeypatch):
    """Products with G are what it costs; and what is kept does not grow."""
    products = []
    dot = incremental.DenseMoment.dot
    monkeypatch.setattr(
        incremental.DenseMoment, "dot", lambda self, m: products.append(m.shape) or dot(self, m)
    )
    monkeypatch.setattr("lrnn.estimators.autoencoder.PARTS", 4)
    model, sizes, costs = LRNNAutoencoder(10, random_state=0), [], []
    for part in [*np.array_split(digits, 6)] * 3:
        products.clear()
        model.partial_fit(part)
        costs.append(len(products))
        sizes.append(len(pickle.dumps(model)))
    assert max(costs[-6:]) <= max(costs[:6])
    assert sizes[-1] < 1.02 * sizes[4]
    assert len(model.history_) == 4
    assert model.n_iter_ == 18


def test_copies_and_pickles_go_on_alike_and_clones_begin_anew(digits):
    model = streamed(thirds(digits)[:2])
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.copy(model)]
    model.partial_fit(digits[1200:])
    for other in others:
        assert other.moment_.n_rows == 1198
        other.partial_fit(digits[1200:])
        np.testing.assert_array_equal(other.transform(digits), model.transform(digits))
    assert not hasattr(clone(model), "weights_")
    assert clone(model).partial_fit(digits[:9]).moment_.n_rows == 9


def test_a_pickle_of_before_still_learns(digits):
    model = LRNNAutoencoder(4, max_iter=2).fit(digits)
    del model._memory
    with pytest.warns(UserWarning, match=LOST):
        model.partial_fit(digits[:100])
    assert model.moment_.n_rows == 100


@pytest.mark.parametrize("sizes", [10, (24, 10), 64, (70, 64)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_file_keeps_all_that_a_stream_needs(digits, tmp_path, sizes, dtype):
    parts = thirds(digits.astype(dtype))
    model = streamed(parts[:2], sizes, forget=1_000)
    model.save(tmp_path / "m.safetensors")
    found = lrnn.load(tmp_path / "m.safetensors")
    assert found.moment_ == model.moment_
    for one in (model, found):
        one.partial_fit(parts[2])
    np.testing.assert_array_equal(found.transform(digits), model.transform(digits))
    assert found.reconstruction_err_ == model.reconstruction_err_
    assert found.moment_ == model.moment_


def test_a_file_without_the_moment_is_small_and_its_loss_is_told(digits, tmp_path):
    model = streamed(thirds(digits))
    model.save(tmp_path / "m.safetensors")
    whole = (tmp_path / "m.safetensors").stat().st_size
    model.save(tmp_path / "m.safetensors", moment=False)
    assert (tmp_path / "m.safetensors").stat().st_size < whole - 64 * 64 * 8
    found = lrnn.load(tmp_path / "m.safetensors")
    assert found.moment_ is None
    np.testing.assert_array_equal(found.transform(digits), model.transform(digits))
    with pytest.warns(UserWarning, match=LOST):
        found.partial_fit(digits)
    found.partial_fit(digits)  # told once
    assert found.moment_.n_rows == 2 * 1797


def test_a_moment_that_was_given_is_only_written_if_asked_for(digits, tmp_path):
    model = LRNNAutoencoder(4, max_iter=2, random_state=0).fit(Moment.of(digits))
    for asked, kept in ((None, False), (False, False), (True, True)):
        model.save(tmp_path / "m.safetensors", moment=asked)
        assert (lrnn.load(tmp_path / "m.safetensors").moment_ is not None) is kept
    model.partial_fit(digits[:100]).save(tmp_path / "m.safetensors")
    assert lrnn.load(tmp_path / "m.safetensors").moment_.n_rows == 1897


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda facts, tensors: facts.update(error=-1.0), ["stream.error", -1.0]),
        (lambda facts, tensors: facts.update(momentum=float("inf")), ["stream.momentum", "inf"]),
        (lambda facts, tensors: facts.update(rows=True), ["stream.rows", True]),
        (lambda facts, tensors: facts.update(seed=1 << 40), ["stream.seed", 1 << 40]),
        (lambda facts, tensors: facts["moment"].update(weight=0.0), ["weigh"]),
        (lambda facts, tensors: tensors.pop("stream.gram"), ["stream.gram"]),
        (lambda facts, tensors: tensors["stream.gram"].fill(np.nan), ["stream.gram", "finite"]),
        (lambda facts, tensors: tensors["stream.before"].fill(-1), ["stream.before"]),
        (
            lambda facts, tensors: tensors.update({"stream.before": np.ones((3, 3))}),
            ["stream.before", "(3, 3)"],
        ),
        (lambda facts, tensors: tensors.update({"stream.before": np.ones((64, 3))}), ["stream"]),
    ],
)
def test_a_stream_that_cannot_be_is_refused(digits, tmp_path, change, named):
    from lrnn.storage.codec import read_tensors, write_tensors

    path = tmp_path / "m.safetensors"
    streamed(thirds(digits)[:2], 4).save(path)
    document, tensors = read_tensors(path, lambda document: None)
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    change(document["stream"], tensors)
    write_tensors(path, document, tensors)
    with pytest.raises(ModelFileError, match=naming(path, *named)):
        lrnn.load(path)


def test_a_fit_on_a_moment_goes_on_exactly(digits, recwarn):
    one, other = digits[:900], digits[900:]
    for sizes in (10, (24, 10)):
        model = LRNNAutoencoder(sizes, max_iter=20, tol=0, stacking="joint", random_state=0)
        model.fit(Moment.of(one))
        before = -model.score(digits)
        model.partial_fit(other)
        np.testing.assert_allclose(model.moment_.gram, Moment.of(digits).gram, rtol=1e-12)
        assert -model.score(digits) < before
    assert not recwarn.list
    assert LRNNAutoencoder(10, max_iter=2).fit(digits).moment_ is None


def test_a_stream_goes_on_from_a_fit_and_says_what_is_lost(digits, best):
    model = LRNNAutoencoder(10, max_iter=50, init="random", random_state=0).fit(digits)
    model.set_params(init=None)
    with pytest.warns(UserWarning, match=LOST):
        model.partial_fit(digits[:600])
    assert model.moment_.n_rows == 600
    assert -model.score(digits) < 1.1 * best


def test_wide_sparse_streams_keep_some_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("lrnn.moments.reservoir.ROOM", 3_000)
    random = np.random.RandomState(0)
    topics = sparse.random_array((5, 3_000), density=0.01, rng=np.random.default_rng(0)).toarray()
    mixtures = np.eye(5)[random.randint(5, size=400)]
    X = sparse.csr_array(mixtures @ topics)
    model = streamed([X[i : i + 40] for i in range(0, 400, 40)], 5)
    assert model.moment_ is None
    assert model._memory.kept.matrix.nnz <= 3_000
    zero = X.power(2).sum() / 400 / 3_000
    assert -model.score(X) < 0.05 * zero
    assert (X @ model.encoders_[0]).max() <= 1 + 1e-12
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:40])
    assert -again.score(X) < 0.05 * zero
    model.save(tmp_path / "m.safetensors")
    with pytest.warns(UserWarning, match=LOST):
        lrnn.load(tmp_path / "m.safetensors").partial_fit(X[:40])


@pytest.mark.parametrize(
    "settings", [{"solver": "minibatch"}, {"rates": "unit"}, {"inhibition": True}], ids=str
)
def test_other_training_forgets_by_itself(digits, settings):
    with pytest.raises(ValueError, match=naming("forget=100", "solver='gram'", "rates='free'")):
        LRNNAutoencoder(4, forget=100, **settings).partial_fit(digits)
    model = LRNNAutoencoder(4, random_state=0, **settings).partial_fit(digits[:200])
    assert model.moment_ is None
    assert not model.error_is_bound_


@pytest.mark.parametrize("forget", [0, -3, "week"])
def test_a_half_life_is_a_positive_number(digits, forget):
    with pytest.raises(ValueError, match=naming("forget", repr(forget))):
        LRNNAutoencoder(4, forget=forget).partial_fit(digits)


def test_a_solver_may_change_and_the_moment_begins_anew(digits):
    model = streamed(thirds(digits)[:1])
    model.set_params(solver="minibatch").partial_fit(digits[:100])
    assert model.moment_ is None
    with pytest.warns(UserWarning, match=LOST):
        model.set_params(solver="gram").partial_fit(digits[:100])


def test_ctrl_c_while_steps_are_taken_keeps_the_part(digits, monkeypatch):
    model = streamed(thirds(digits)[:1])

    def pressed(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Company, "step", pressed)
        with pytest.warns(UserWarning, match="interrupted"):
            model.partial_fit(digits[600:900])
    assert model.moment_.n_rows == 899
    before = -model.score(digits)
    for _ in range(3):
        model.partial_fit(digits[900:])
    assert -model.score(digits) < before


def test_ctrl_c_while_a_part_is_read_leaves_all_as_it_was(digits, monkeypatch):
    model = streamed(thirds(digits)[:1])
    before = model.transform(digits)

    def pressed(*given, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(incremental, "sums_of", pressed)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(digits[600:])
    assert model.moment_.n_rows == 599
    np.testing.assert_array_equal(model.transform(digits), before)


def test_where_nothing_is_to_be_learnt_the_moment_is_kept(digits):
    model = streamed(thirds(digits), 64)
    assert -model.score(digits) == model.reconstruction_err_ == 0
    np.testing.assert_allclose(model.moment_.gram, Moment.of(digits).gram, rtol=1e-12)


def test_constant_columns_single_columns_and_levels(rng):
    X = np.c_[np.full(60, 0.5), rng.random((60, 3)), np.zeros(60)]
    with warnings.catch_warnings(action="error"):
        for data in (X, X.astype(np.float32), (255 * X).astype(np.uint8), X[:, 1:2]):
            model = streamed(np.array_split(data, 4), 2)
            assert np.isfinite(model.transform(data)).all()
            assert -model.score(data) < 0.05
