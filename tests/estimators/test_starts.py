"""Weights to start from, and what is said when training ends before its time."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import lrnn
from lrnn import LRNNAutoencoder, checkpoints
from lrnn.functional import adjust_rows
from lrnn.storage.checkpoints import CheckpointError
from naming import naming


@pytest.fixture(scope="module")
def rows(digits):
    return digits[:200]


@pytest.fixture(scope="module")
def few(rows):
    """A model that has made a few steps."""
    return LRNNAutoencoder(6, max_iter=3, random_state=0).fit(rows)


def start_of(model):
    return model.encoders_[0], model.decoders_[0]


def test_training_goes_on_from_the_weights_of_a_model(rows, few):
    more = LRNNAutoencoder(6, init=start_of(few), max_iter=60).fit(rows)
    assert more.reconstruction_err_ < 0.98 * few.reconstruction_err_
    assert more.history_[0].errors[0] <= few.history_[0].errors[-1] * (1 + 1e-9)


def test_lists_of_one_matrix_are_that_matrix(rows, few):
    once, twice = (
        LRNNAutoencoder(6, init=init, max_iter=5).fit(rows)
        for init in (start_of(few), (few.encoders_, few.decoders_))
    )
    np.testing.assert_array_equal(once.encoders_[0], twice.encoders_[0])


WAYS = {
    "gram": {},
    "fine-tuned": {"fine_tune": 1},
    "printed": {"solver": "minibatch"},
    "unit": {"rates": "unit"},
    "implicit": {"moment": "implicit"},
    "float32": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_error_is_never_above_that_of_the_start(rows, way):
    X = rows.astype(np.float32) if way == "float32" else rows
    good = LRNNAutoencoder(6, random_state=0, rates=WAYS[way].get("rates", "free")).fit(X)
    again = LRNNAutoencoder(6, init=start_of(good), max_iter=1, random_state=0, **WAYS[way]).fit(X)
    assert again.reconstruction_err_ <= good.reconstruction_err_ * (1 + 1e-6)
    assert again.reconstruction_err_ == pytest.approx(-again.score(X), rel=1e-6)


def test_a_start_whose_codes_saturate_is_kept_where_it_is_better():
    """One code neuron that says whether a row is empty: as a linear network it is far worse."""
    X = np.repeat([[0.0, 0.0], [0.1, 0.1], [1.0, 1.0]], [20, 20, 1], axis=0)
    X[20:40, 0] = 0.5
    given = np.array([[100.0], [0.0]]), np.array([[0.5, 0.1]])
    model = LRNNAutoencoder(1, init=given, max_iter=1).fit(X)
    seen = ((X - np.minimum(np.minimum(X @ given[0], 1) @ given[1], 1)) ** 2).mean()
    assert model.reconstruction_err_ <= seen * (1 + 1e-12)


def test_zeros_of_a_given_encoder_stay(rows, few):
    encoder, decoder = start_of(few)
    chosen = encoder * (np.arange(64)[:, None] % 6 == np.arange(6))
    model = LRNNAutoencoder(6, init=(chosen, decoder), max_iter=10).fit(rows)
    assert not model.encoders_[0][chosen == 0].any()


def test_several_layers_go_on_end_to_end(rows):
    deep = LRNNAutoencoder((10, 4), max_iter=2, random_state=0).fit(rows)
    given = (deep.encoders_, deep.decoders_)
    for settings in ({"fine_tune": 1}, {"solver": "minibatch", "max_iter": 1}):
        model = LRNNAutoencoder((10, 4), init=given, random_state=0, **settings).fit(rows)
        assert model.reconstruction_err_ <= deep.reconstruction_err_ * (1 + 1e-12)
    unit = [adjust_rows(w) for w in (*given[0], *given[1])]
    start = (unit[:2], unit[2:])
    model = LRNNAutoencoder((10, 4), init=start, rates="unit", max_iter=1, random_state=0).fit(rows)
    assert model.audit().valid


def test_partial_fit_begins_with_them(rows, few):
    good = LRNNAutoencoder(6, random_state=0).fit(rows)
    model = LRNNAutoencoder(6, init=start_of(good), solver="minibatch", random_state=0)
    plain = LRNNAutoencoder(6, solver="minibatch", random_state=0)
    assert model.partial_fit(rows).score(rows) > plain.partial_fit(rows).score(rows)


@pytest.mark.parametrize("kind", ["sparse", "lists", "torch", "float32"])
def test_matrices_of_any_kind_are_taken(rows, few, kind):
    make = {
        "sparse": sparse.csr_array,
        "lists": np.ndarray.tolist,
        "torch": lambda w: pytest.importorskip(
            "torch", reason="pip install 'lrnn[torch]'"
        ).from_numpy(w),
        "float32": lambda w: w.astype(np.float32),
    }[kind]
    model = LRNNAutoencoder(6, init=tuple(map(make, start_of(few))), max_iter=2).fit(rows)
    expected = LRNNAutoencoder(6, init=start_of(few), max_iter=2).fit(rows)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-5)


def test_components_of_nmf_are_a_start(rows):
    nmf = NMF(6, init="nndsvda", max_iter=200, tol=1e-3, random_state=0).fit(rows)
    parts = nmf.components_
    model = LRNNAutoencoder(6, init=(parts.T / (parts**2).sum(axis=1), parts)).fit(rows)
    assert model.reconstruction_err_ < 1.05 * LRNNAutoencoder(6).fit(rows).reconstruction_err_


def change(matrix, value):
    changed = matrix.copy()
    changed[2, 1] = value
    return changed


W, D = np.full((64, 6), 0.1), np.full((6, 64), 0.1)
DEEP = [W, W[:6, :3]], [D[:3, :6], D]


@pytest.mark.parametrize(
    ("init", "settings", "named"),
    [
        ((W,), {}, (1, "init=(encoder, decoder)", (64, 6), (6, 64))),
        ((W.T, D), {}, ("encoder", (6, 64), (64, 6), "transpose")),
        ((W, D[:5]), {}, ("decoder", (5, 64), (6, 64), "hidden_layer_sizes")),
        ((W, D, W), {}, (3, "init=(encoder, decoder)", (64, 6), (6, 64))),
        ((change(W, np.nan), D), {}, ("encoder", "nan", "row 2", "column 1")),
        ((W, change(D, -0.5)), {}, ("decoder", -0.5, "row 2", "column 1")),
        ((change(W, np.inf), D), {}, ("encoder", "inf", "row 2", "column 1")),
        ((W, "zeros"), {}, ("decoder", "zeros")),
        ((W, 3), {}, (3,)),
        (([W, W], [D]), {}, ("2 encoders", "1 hidden layer", "hidden_layer_sizes")),
        ((W, D), {"hidden_layer_sizes": (6, 3)}, ("1 encoder", "2 hidden layers")),
        ((10 * W, D), {"rates": "unit"}, ("rates='unit'", 2, "rates='free'")),
        (DEEP, {"hidden_layer_sizes": (6, 3)}, ("fine_tune=10",)),
        (DEEP, {"hidden_layer_sizes": (6, 3), "inhibition": True}, ("inhibition=True",)),
        ("zeros", {}, ("zeros",)),
        (7, {}, (7,)),
    ],
)
def test_what_cannot_be_a_start_is_refused(rows, init, settings, named):
    model = LRNNAutoencoder(**{"hidden_layer_sizes": 6, "init": init} | settings)
    with pytest.raises(ValueError, match=naming("init", *named)):
        model.fit(rows)


def test_a_start_goes_through_clones_files_and_searches(rows, few, tmp_path):
    model = LRNNAutoencoder(6, init=start_of(few), max_iter=2)
    np.testing.assert_array_equal(clone(model).get_params()["init"][0], few.encoders_[0])
    model.fit(rows).save(tmp_path / "model.safetensors")
    again = lrnn.load(tmp_path / "model.safetensors")
    for given, kept in zip(model.init, again.init, strict=True):
        np.testing.assert_array_equal(given, kept)
    np.testing.assert_array_equal(clone(again).fit(rows).encoders_[0], model.encoders_[0])
    found = GridSearchCV(model, {"max_iter": [1, 2]}, cv=2).fit(rows)
    assert found.best_params_ == {"max_iter": 2}


def test_lists_of_several_layers_go_through_files(rows, tmp_path):
    deep = LRNNAutoencoder((10, 4), max_iter=2, random_state=0).fit(rows)
    model = clone(deep).set_params(init=(deep.encoders_, deep.decoders_), fine_tune=1).fit(rows)
    model.save(tmp_path / "model.safetensors")
    encoders, decoders = lrnn.load(tmp_path / "model.safetensors").init
    assert [w.shape for w in (*encoders, *decoders)] == [(64, 10), (10, 4), (4, 10), (10, 64)]


def test_a_checkpoint_of_another_start_is_refused(rows, few, tmp_path):
    path = tmp_path / "checkpoint"
    encoder, decoder = start_of(few)
    settings = {"max_iter": 2, "random_state": 0}
    checkpoints.fit(LRNNAutoencoder(6, init=(encoder, decoder), **settings), rows, path, every=0)
    same = LRNNAutoencoder(6, init=(encoder.copy(), decoder), **settings)
    checkpoints.fit(same, rows, path)
    other = LRNNAutoencoder(6, init=(2 * encoder, decoder), **settings)
    with pytest.raises(CheckpointError, match=naming("init")):
        checkpoints.fit(other, rows, path)


# What is said when max_iter ends it


@pytest.mark.parametrize("settings", [{}, {"solver": "minibatch"}, {"fine_tune": 1}])
def test_training_that_max_iter_ends_says_so(rows, settings):
    model = LRNNAutoencoder(6, max_iter=3, random_state=0, **settings)
    with pytest.warns(ConvergenceWarning, match=naming("max_iter=3", "tol=0.0001")) as caught:
        model.fit(rows)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "settings",
    [
        {"tol": 0},
        {"tol": 0.1, "max_iter": 200},
        {"hidden_layer_sizes": 64},
        {"tol": 0, "fine_tune": 1},
        {"rates": "unit", "max_iter": 4},
    ],
)
def test_what_ends_as_it_was_asked_to_is_not_warned_of(rows, settings):
    model = LRNNAutoencoder(
        **{"hidden_layer_sizes": 6, "max_iter": 3, "random_state": 0} | settings
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(rows)


def test_a_part_of_a_stream_is_not_warned_of(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        LRNNAutoencoder(6, random_state=0).partial_fit(rows[:100]).partial_fit(rows[100:])


def test_a_search_has_ended_when_its_best_start_has(digits):
    """Of small networks all starts go on to the end; those that lag behind do not matter."""
    model = LRNNAutoencoder(16).fit(digits)
    assert (model.n_iter_, model.history_[0].stopped) == (200, "tol")


def test_zeros_lead_nowhere(digits):
    decoder = np.ones((4, 64))
    with pytest.raises(ValueError, match=naming("encoder", "init", "zeros")):
        LRNNAutoencoder(4, init=(np.zeros((64, 4)), decoder)).fit(digits)


def test_only_the_network_that_is_kept_is_said_to_fall(digits, recwarn):
    """The layers that were trained one after the other may have had too few steps."""
    model = LRNNAutoencoder((32, 8), max_iter=60, tol=3e-3, random_state=0).fit(digits)
    kept = model.history_[0]
    assert kept.stopped == "tol"
    assert not [w for w in recwarn.list if issubclass(w.category, ConvergenceWarning)]
