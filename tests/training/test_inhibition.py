"""Autoencoders of the full random neural network: valid, simulated as computed, never worse."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

from lrnn import LRNNAutoencoder, bounds, checkpoints, export, load
from lrnn.cli.commands import OPTIONS
from lrnn.functional.gradients import penalised_gradients
from lrnn.network.weights import Weights
from lrnn.rows import held
from lrnn.tables.messages import SettingWarning
from lrnn.training import evaluate, inhibition
from naming import naming
from nearness import assert_near

QUICK = {"fine_tune": 6, "batch_size": 100, "random_state": 0}


@pytest.fixture(scope="module")
def model(digits):
    return LRNNAutoencoder(16, inhibition=True, fine_tune=60, random_state=0).fit(digits)


@pytest.fixture(scope="module")
def frugal(digits):
    return LRNNAutoencoder(
        16, inhibition=True, spike_penalty=1e-5, fine_tune=60, random_state=0
    ).fit(digits)


def test_it_is_far_below_the_excitatory_network(digits, model):
    excitatory = LRNNAutoencoder(16, random_state=0).fit(digits)
    assert model.reconstruction_err_ < 0.8 * excitatory.reconstruction_err_
    assert model.inhibitory_encoders_[0].shape == (64, 16)
    assert model.inhibitory_decoders_[0].shape == (16, 64)
    assert excitatory.inhibitory_encoders_ is None


def test_a_price_for_spikes_saves_spikes(digits, model, frugal):
    excitatory = LRNNAutoencoder(16, random_state=0).fit(digits)
    assert model.reconstruction_err_ < frugal.reconstruction_err_ < excitatory.reconstruction_err_
    assert excitatory.spike_cost_ < frugal.spike_cost_ < 0.01 * model.spike_cost_


@pytest.mark.parametrize("which", ["model", "frugal"])
def test_it_is_a_valid_random_neural_network(digits, which, request):
    model = request.getfixturevalue(which)
    network = model.to_network()
    assert network.routed.max() <= 1 + 1e-12
    for weight in (*model.weights_.excitatory, *model.weights_.inhibitory):
        assert np.isfinite(weight).all()
        assert weight.min() >= 0
    q = network.steady_state(model.arrivals(digits[:30]))
    layers = network.split(np.asarray(q))
    np.testing.assert_allclose(layers[1], model.transform(digits[:30]), atol=1e-9)
    np.testing.assert_allclose(layers[2], model.reconstruct(digits[:30]), atol=1e-9)
    assert model.audit(digits).valid


def test_its_spikes_are_those_of_the_simulator(digits, frugal):
    """And so are its activations: within the confidence intervals, as often as these promise."""
    network = frugal.to_network(least_rate=0)
    result = network.simulate(
        frugal.arrivals(digits[:1], network)[0], events=3_000_000, random_state=0
    )
    assert result.coverage() > 0.9
    n_output = 64
    fired = result.firing_counts[:-n_output].sum() / result.time
    rates, layers = frugal.firing_rates_, network.split(np.asarray(result.steady))
    cost = sum(r @ q for r, q in zip(rates[:-1], layers[:-1], strict=True))
    # Poisson-like counts: five standard deviations of a sum of that many spikes, with room for
    # their dependence (a spike that enters passes several layers)
    spread = 5 * 3 * np.sqrt(result.firing_counts.sum()) / result.time
    assert fired == pytest.approx(cost, abs=float(spread))


@pytest.mark.parametrize("name", ["iris", "wine", "deep digits", "zero columns"])
def test_it_is_never_worse_than_the_excitatory_network(digits, name):
    X, hidden = {
        "iris": (minmax_scale(load_iris().data), 2),
        "wine": (minmax_scale(load_wine().data), 7),
        "deep digits": (digits[:600], (20, 8)),
        "zero columns": (np.hstack([digits[:300], np.zeros((300, 3))]), 8),
    }[name]
    for penalty in (0.0, 1e-3):
        settings = {"max_iter": 20, **QUICK, "fine_tune": 3}
        plain = LRNNAutoencoder(hidden, **settings | {"fine_tune": 0}).fit(X)
        full = LRNNAutoencoder(hidden, inhibition=True, spike_penalty=penalty, **settings).fit(X)
        price = plain.reconstruction_err_ + penalty * plain.spike_cost_
        assert full.reconstruction_err_ + penalty * full.spike_cost_ <= price * (1 + 1e-9)


def test_the_excitatory_model_is_the_special_case_without_inhibition(digits, model):
    plain = LRNNAutoencoder(16, max_iter=5).fit(digits)
    none = [np.zeros_like(w) for w in plain.encoders_ + plain.decoders_]
    plain_codes, plain_error = plain.transform(digits), plain.score(digits)
    plain.weights_ = replace(plain.weights_, inhibitory=tuple(none))
    assert_near(plain.transform(digits), plain_codes, 64 + 1)
    assert_near(plain.score(digits), plain_error, digits.size)
    same = LRNNAutoencoder(16, max_iter=5).fit(digits)
    assert_near(plain.to_network().rates, same.to_network().rates, 64 + 16)


def test_what_does_nothing_is_removed(digits, model):
    never = digits.max(axis=0) == 0
    assert never.any()
    for weight in (model.encoders_[0], model.inhibitory_encoders_[0]):
        assert (weight[never] == 0).all()
    for weight in (model.decoders_[0], model.inhibitory_decoders_[0]):
        assert (weight[:, never] == 0).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_many_layers_of_small_numbers(digits):
    """Their rates multiply to more than 32 bits can hold, but are numbers of 64."""
    model = LRNNAutoencoder(
        (20,) * 12 + (8,), inhibition=True, spike_penalty=1e-30, stacking="joint", max_iter=5,
        **QUICK,
    ).fit(digits[:200].astype(np.float32))  # fmt: skip
    assert np.isfinite(model.spike_cost_)
    assert all(np.isfinite(w).all() for w in (*model.weights_.excitatory, *model.encoders_))
    assert model.audit().valid


def test_a_hidden_neuron_that_leads_nowhere_is_cut_off(rng):
    weights = Weights(
        (rng.random((4, 3)),), (np.array([[0.0] * 4, [1.0] * 4, [1.0, 0.0, 1.0, 1.0]]),),
        (rng.random((4, 3)), np.array([[0.0] * 4, [0.5] * 4, [1e-12] * 4])),
    )  # fmt: skip
    X = rng.random((20, 4))
    thin = inhibition.pruned(held(X), weights)
    for weight in (thin.encoders[0], thin.inhibitory[0]):
        assert (weight[:, 0] == 0).all()
        assert (weight[:, 1:] > 0).all()
    assert (thin.inhibitory[1][2] == 0).all()
    before = evaluate(held(X), weights).error
    assert evaluate(held(X), thin).error == pytest.approx(before, rel=1e-9)


def test_a_saved_model_is_the_same(digits, model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.reconstruct(digits), model.reconstruct(digits))
    assert again.inhibition
    assert again.spike_cost_ == model.spike_cost_


def test_other_programs_give_the_same(digits, model, tmp_path):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    there = model.to_torch()(torch.tensor(np.array(digits))).detach().numpy()
    np.testing.assert_allclose(there, model.reconstruct(digits), atol=1e-12)
    runtime = pytest.importorskip("onnxruntime", reason="pip install 'lrnn[onnx]'")
    export.to_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    codes, back = session.run(None, {"data": np.array(digits)})
    np.testing.assert_allclose(codes, model.transform(digits), atol=1e-9)
    np.testing.assert_allclose(back, model.reconstruct(digits), atol=1e-9)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_resumed_training_ends_as_an_undisturbed_one(
    digits, tmp_path, monkeypatch, early_stopping
):
    X = digits[:400]
    settings = {"hidden_layer_sizes": 6, "inhibition": True, "max_iter": 5, **QUICK}
    settings |= {"early_stopping": early_stopping}
    expected = LRNNAutoencoder(**settings).fit(X)

    class StoppedError(Exception):
        pass

    plain, count = checkpoints.Checkpoint.checkpoint, 0

    def until(most):
        def checkpoint(self, state, finished=False):
            nonlocal count
            plain(self, state, finished)
            count += 1
            if count == most:
                raise StoppedError

        return checkpoint

    for most in (2, 4, 6):
        count = 0
        with monkeypatch.context() as patch:
            patch.setattr(checkpoints.Checkpoint, "checkpoint", until(most))
            with pytest.raises(StoppedError):
                checkpoints.fit(LRNNAutoencoder(**settings), X, tmp_path / "c", every=0)
    model = checkpoints.fit(LRNNAutoencoder(**settings), X, tmp_path / "c", every=0)
    np.testing.assert_array_equal(model.reconstruct(X), expected.reconstruct(X))


def test_the_same_seed_gives_the_same_model(digits):
    settings = {"hidden_layer_sizes": 6, "inhibition": True, "max_iter": 5, **QUICK}
    one, two = (LRNNAutoencoder(**settings).fit(digits[:300]) for _ in range(2))
    np.testing.assert_array_equal(one.encoders_[0], two.encoders_[0])


@pytest.mark.parametrize("steps", [0, 100])  # with inhibition; without it all have been made
def test_ctrl_c_keeps_the_best(digits, monkeypatch, steps):
    rest = iter(range(steps))

    def pressed(*arguments):
        if next(rest, None) is None:
            raise KeyboardInterrupt
        return penalised_gradients(*arguments)

    monkeypatch.setattr(inhibition, "penalised_gradients", pressed)
    with pytest.warns(UserWarning, match="interrupted"):
        model = LRNNAutoencoder(16, inhibition=True, fine_tune=100_000, random_state=0).fit(digits)
    assert model.reconstruction_err_ <= LRNNAutoencoder(16).fit(digits).reconstruction_err_ + 1e-9


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"spike_penalty": 1.0}, ["spike_penalty=1.0", "inhibition=True"]),
        ({"inhibition": True, "rates": "unit"}, ["inhibition=True", "rates='free'", "'unit'"]),
        ({"inhibition": True, "solver": "minibatch"}, ["inhibition=True", "solver='gram'"]),
        ({"inhibition": True, "spike_penalty": -1.0}, ["spike_penalty", -1.0]),
        ({"early_stopping": True}, ["early_stopping=True", "inhibition=True"]),
        ({"inhibition": True, "validation_fraction": 1.0}, ["validation_fraction", 1.0]),
    ],
)
def test_settings_that_do_not_go_together(digits, settings, told):
    with pytest.raises(ValueError, match=naming(*told)):
        LRNNAutoencoder(4, **settings).fit(digits)


def test_a_stream_is_learnt_part_by_part(digits):
    """Whole passes of parts come near what fit reaches, and far below the excitatory network."""
    model = LRNNAutoencoder(16, inhibition=True, batch_size=50, random_state=0)
    for _ in range(40):
        for part in np.array_split(digits, 3):
            model.partial_fit(part)
    assert model.n_iter_ == 120
    excitatory = LRNNAutoencoder(16, random_state=0).fit(digits)
    assert -model.score(digits) < 0.9 * excitatory.reconstruction_err_
    assert model.audit(digits).valid


def test_a_stream_goes_on_from_a_fit(digits):
    model = LRNNAutoencoder(6, inhibition=True, max_iter=5, **QUICK).fit(digits[:300])
    before = model.reconstruction_err_
    model.partial_fit(digits[:300])
    assert model.reconstruction_err_ <= before  # the best weights on the part are kept


def test_a_stream_brings_inhibition_to_an_excitatory_network(digits):
    model = LRNNAutoencoder(6, max_iter=50, random_state=0).fit(digits[:300])
    before = model.reconstruction_err_
    model.set_params(inhibition=True)
    for _ in range(60):
        model.partial_fit(digits[:300])
    assert model.inhibitory_encoders_ is not None
    assert model.reconstruction_err_ < before


def test_rows_that_are_held_out_end_the_training(rng):
    """Noise can be learnt by heart, but nothing of it is true of rows that were not seen."""
    X = rng.random((60, 12))
    settings = {"inhibition": True, "max_iter": 20, "fine_tune": 300, "random_state": 0}
    whole = LRNNAutoencoder(6, batch_size=10, **settings).fit(X)
    stopped = LRNNAutoencoder(
        6, batch_size=10, early_stopping=True, validation_fraction=0.3, **settings
    ).fit(X)
    assert whole.n_iter_ == 300
    assert stopped.history_[-1].stopped == "tol"
    assert stopped.history_[-1].passes < 300
    assert whole.reconstruction_err_ < stopped.reconstruction_err_


def test_the_best_on_rows_held_out_is_kept(digits):
    model = LRNNAutoencoder(
        8, inhibition=True, early_stopping=True, max_iter=20, fine_tune=100, random_state=0
    ).fit(digits[:300])
    assert model.history_[-1].lowest < model.history_[-1].errors[0]
    # these errors are those on 30 rows, the model's own is that on all of them
    assert model.history_[-1].lowest != pytest.approx(model.reconstruction_err_, rel=1e-6)


def test_inhibition_that_gains_nothing_is_told_once_with_the_remedy():
    X = minmax_scale(load_iris().data)
    few = LRNNAutoencoder(2, inhibition=True, fine_tune=20, random_state=0)
    with pytest.warns(SettingWarning, match=naming("inhibition", 20, "fine_tune=100")) as said:
        model = few.fit(X)
    assert "spike_penalty" not in str(said[-1].message)
    assert model.inhibitory_encoders_ is None
    assert len([w for w in said if issubclass(w.category, SettingWarning)]) == 1
    assert "--fine-tune 100" in said[-1].message.worded(OPTIONS)
    dear = LRNNAutoencoder(
        2, inhibition=True, spike_penalty=1e-6, fine_tune=1, early_stopping=True, random_state=0
    )
    with pytest.warns(SettingWarning, match=naming("fine_tune=5", "spike_penalty", 1e-06, "rows")):
        dear.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SettingWarning)
        better = LRNNAutoencoder(2, inhibition=True, fine_tune=200, random_state=0).fit(X)
        LRNNAutoencoder(2, inhibition=True, fine_tune=1).fit(np.zeros((9, 3)))  # is 0 already
    assert better.inhibitory_encoders_ is not None
    assert better.reconstruction_err_ < model.reconstruction_err_


def test_held_out_rows_must_leave_some():
    with pytest.raises(ValueError, match=naming("validation_fraction=0.9", "n_samples=2")):
        LRNNAutoencoder(1, inhibition=True, early_stopping=True, validation_fraction=0.9).fit(
            np.ones((2, 3))
        )


def test_a_training_that_is_not_told_how_long_reads_few_rows_more_often():
    """It takes about as many steps on 150 rows as on four copies of each, and learns as much."""
    X = minmax_scale(load_iris().data)
    few, many = (
        LRNNAutoencoder(2, inhibition=True, random_state=0).fit(data)
        for data in (X, np.repeat(X, 4, axis=0))
    )
    assert few.history_[-1].passes > 2 * many.history_[-1].passes
    steps = [len(model.history_[-1].batch_errors) for model in (few, many)]
    assert steps[0] == pytest.approx(steps[1], rel=0.1)
    assert few.reconstruction_err_ == pytest.approx(many.reconstruction_err_, rel=0.02)
    told = LRNNAutoencoder(2, inhibition=True, fine_tune=20, random_state=0).fit(X)
    assert few.reconstruction_err_ < 0.99 * told.reconstruction_err_


@pytest.mark.slow
def test_mnist_below_every_linear_map():
    from lrnn.datasets import load as load_data

    X, X_new = (load_data("mnist", split=part, scaled=False).data for part in ("train", "test"))
    for hidden, most in ((50, 0.0080), (100, 0.0039)):
        model = LRNNAutoencoder(hidden, inhibition=True, random_state=0).fit(X)
        assert model.reconstruction_err_ <= most < bounds.svd(X, hidden)
        assert -model.score(X_new) <= most
