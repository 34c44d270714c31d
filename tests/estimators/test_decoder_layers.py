"""Networks whose decoding layers do not mirror the encoding ones."""

import numpy as np
import pytest

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Moment, checkpoints, frontier
from naming import naming

LAYERS = {"hidden_layer_sizes": 8, "decoder_layer_sizes": (40, 30), "random_state": 0}
WIDTHS = (64, 8, 40, 30, 64)
TRAININGS = [
    {},
    {"fine_tune": 3},
    {"inhibition": True, "fine_tune": 3},
    {"inhibition": True, "fine_tune": 3, "spike_penalty": 1e-4, "early_stopping": True},
    {"corruption": ("mask", 0.3)},
    {"missing": "allow"},
    {"stacking": "layerwise", "fine_tune": 2},
]


@pytest.mark.parametrize("settings", TRAININGS)
def test_they_are_trained_saved_and_simulated_like_others(digits, settings, tmp_path):
    X = digits[:300]
    model = LRNNAutoencoder(**LAYERS, **settings).fit(X)
    assert model.weights_.sizes == WIDTHS
    assert (len(model.encoders_), len(model.decoders_)) == (1, 3)
    assert model.transform(X).shape == (300, 8)
    outputs = model.reconstruct(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), outputs, rtol=1e-12)
    assert model.reconstruction_err_ == pytest.approx(((X - outputs) ** 2).mean(), rel=1e-9)
    shallow = LRNNAutoencoder(8, random_state=0, **settings).fit(X)
    if not settings.get("spike_penalty"):
        assert model.reconstruction_err_ < 1.05 * shallow.reconstruction_err_
    assert model.audit(X).valid
    network = model.to_network()
    q = network.split(network.steady_state(model.arrivals(X[:5])))
    np.testing.assert_allclose(q[-1], outputs[:5], atol=1e-9)
    assert model.to_network(part="encoder").layer_sizes == (64, 8)
    assert model.to_network(part="decoder").layer_sizes == (8, 40, 30, 64)
    model.save(tmp_path / "model")
    again = lrnn.load(tmp_path / "model")
    np.testing.assert_array_equal(again.reconstruct(X), outputs)
    assert again.decoder_layer_sizes == (40, 30)


def test_a_split_network_does_what_the_shallow_one_does(digits):
    deep, shallow = (
        LRNNAutoencoder(8, decoder_layer_sizes=layers, random_state=0).fit(digits)
        for layers in ((40, 30), None)
    )
    np.testing.assert_allclose(deep.reconstruct(digits), shallow.reconstruct(digits), atol=1e-9)
    np.testing.assert_allclose(deep.components_, shallow.components_, atol=1e-9)
    flat = LRNNAutoencoder((20, 8), decoder_layer_sizes=(), random_state=0).fit(digits)
    assert flat.weights_.sizes == (64, 20, 8, 64)


def test_streams_and_moments(digits):
    streamed = LRNNAutoencoder(**LAYERS)
    for part in np.array_split(digits, 3):
        streamed.partial_fit(part)
    summed = LRNNAutoencoder(**LAYERS).fit(Moment.of(digits))
    inhibited = LRNNAutoencoder(**LAYERS, inhibition=True).partial_fit(digits[:200])
    for model in (streamed, summed, inhibited.partial_fit(digits[200:400])):
        assert model.weights_.sizes == WIDTHS
        assert model.audit().valid
    assert -streamed.score(digits) < 1.1 * -summed.score(digits)


def test_a_run_that_was_interrupted_goes_on(digits, tmp_path):
    settings = LAYERS | {"inhibition": True, "fine_tune": 3}
    path = tmp_path / "c"
    first = checkpoints.fit(LRNNAutoencoder(**settings), digits[:200], path, every=0)
    again = checkpoints.fit(LRNNAutoencoder(**settings), digits[:200], path)
    np.testing.assert_array_equal(again.reconstruct(digits), first.reconstruct(digits))
    other = LRNNAutoencoder(**settings | {"decoder_layer_sizes": (40, 31)})
    with pytest.raises(checkpoints.CheckpointError, match=naming("decoder_layer_sizes", [40, 31])):
        checkpoints.fit(other, digits[:200], path)


def test_other_libraries_run_them(digits):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    model = LRNNAutoencoder(**LAYERS, inhibition=True, fine_tune=2).fit(digits[:200])
    found = model.to_torch()(torch.tensor(digits[:9]))
    np.testing.assert_allclose(found.detach(), model.reconstruct(digits[:9]), atol=1e-9)


def test_their_encoder_may_be_a_classifiers_first_layers(digits):
    codes = LRNNAutoencoder(**LAYERS).fit(digits)
    labels = (digits[:, 20] > 0.5).astype(int)
    model = LRNNClassifier(5, pretrain=codes, freeze=True, max_iter=2, random_state=0)
    assert model.fit(digits, labels).weights_.sizes == (64, 8, 5, 2)


def test_they_are_a_structure_of_a_frontier(digits):
    structures = [8, {"hidden_layer_sizes": 8, "decoder_layer_sizes": 40}]
    found = frontier(digits[:300], structures=structures, penalties=2, passes=10, random_state=0)
    assert found.structures == ((64, 8), (64, 8, 40, 64))
    for point in found.points:
        widths = point.sizes if len(point.sizes) > 2 else (64, 8, 64)
        assert point.model.weights_.sizes == widths
    with pytest.raises(ValueError, match=naming("structures", "layers", "decoder_layer_sizes")):
        frontier(digits[:30], structures=[{"layers": 8}])


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"solver": "minibatch"}, ("decoder_layer_sizes=(40, 30)", "solver='gram'")),
        ({"rates": "unit"}, ("decoder_layer_sizes=(40, 30)", "rates='free'")),
        ({"decoder_layer_sizes": (5, 0)}, ("decoder_layer_sizes[1]", 0)),
        ({"init": (np.ones((64, 8)), np.ones((8, 64)))}, ("init", "decoder_layer_sizes")),
    ],
)
def test_what_does_not_go_with_them(digits, settings, named):
    with pytest.raises(ValueError, match=naming(*named)):
        LRNNAutoencoder(**LAYERS | settings).fit(digits[:50])
