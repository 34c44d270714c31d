"""The networks of the encoder alone and of the decoder alone."""

import warnings

import numpy as np
import pytest

from lrnn import LRNNAutoencoder, RandomNeuralNetwork
from naming import naming
from nearness import assert_near

KINDS = {
    "shallow": {"hidden_layer_sizes": (5,)},
    "deep": {"hidden_layer_sizes": (8, 6, 3)},
    "unit": {"hidden_layer_sizes": (6, 4), "rates": "unit"},
    "as printed": {"hidden_layer_sizes": (5,), "solver": "minibatch"},
    "inhibitory": {"hidden_layer_sizes": (6, 4), "inhibition": True, "fine_tune": 2},
    "as wide": {"hidden_layer_sizes": (16,)},
    "in own units": {"hidden_layer_sizes": (5,), "scale": "minmax"},
}


@pytest.fixture(scope="module")
def data(digits):
    return digits[:120, 16:32].copy()


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS.keys())
def model(request, data):
    return LRNNAutoencoder(**request.param, max_iter=5, random_state=0).fit(data)


@pytest.mark.parametrize("least", [0, 1, 30])
def test_the_encoder_is_excited_as_transform_says(model, data, least):
    network = model.to_network(least, part="encoder")
    q = network.split(network.steady_state(model.arrivals(data, network)))
    assert network.layer_sizes == model.weights_.sizes[: len(model.encoders_) + 1]
    np.testing.assert_allclose(q[-1], model.transform(data), rtol=0, atol=1e-12)


@pytest.mark.parametrize("least", [0, 1, 30])
def test_the_decoder_is_excited_as_inverse_transform_says(model, data, least):
    codes = model.transform(data)
    network = model.to_network(least, part="decoder")
    q = network.split(network.steady_state(model.arrivals(codes, network)))
    found = q[-1] if model.scaling_ is None else model.scaling_.revert(q[-1])
    assert network.layer_sizes == model.weights_.sizes[len(model.encoders_) :]
    np.testing.assert_allclose(q[0], codes, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found, model.inverse_transform(codes), rtol=0, atol=1e-12)


def test_parts_fire_as_they_do_in_the_whole(model, data):
    whole, encoder, decoder = (
        model.to_network(part=part) for part in ("all", "encoder", "decoder")
    )
    count = encoder.n_neurons
    terms = sum(model.weights_.sizes)
    assert_near(encoder.rates, whole.rates[:count], terms)
    assert_near(decoder.rates, whole.rates[-decoder.n_neurons :], terms)
    assert_near(model.arrivals(data, encoder), model.arrivals(data)[:, :count], terms + 1)


def test_layers_of_parts_say_what_they_are(model):
    names = {part: model.to_network(part=part).layer_names for part in ("encoder", "decoder")}
    assert (names["encoder"][0], names["encoder"][-1]) == ("input", "code")
    assert (names["decoder"][0], names["decoder"][-1]) == ("code", "output")
    assert model.to_network().layer_names[-1] == "output"
    assert not {*names["encoder"][1:-1]} & {*names["decoder"][1:-1]}


def test_data_as_wide_as_codes_are_not_taken_for_them(data):
    """The network knows which part it is, and the same numbers mean different things to each."""
    model = LRNNAutoencoder((16,), max_iter=5, scale="minmax").fit(4 * data)
    encoder, decoder = (model.to_network(part=part) for part in ("encoder", "decoder"))
    assert encoder.layer_sizes == decoder.layer_sizes
    codes = model.transform(4 * data)
    np.testing.assert_allclose(
        model.arrivals(codes, decoder)[:, :16], codes * decoder.rates[:16], rtol=1e-12
    )
    np.testing.assert_allclose(
        model.arrivals(4 * data, encoder)[:, :16],
        model.scaling_.apply(4 * data) * encoder.rates[:16],
        rtol=1e-12,
    )


def test_what_does_not_fit_is_refused(data):
    model = LRNNAutoencoder((5,), max_iter=2).fit(data)
    other = LRNNAutoencoder((6,), max_iter=2).fit(data)
    encoder, decoder = (model.to_network(part=part) for part in ("encoder", "decoder"))
    with pytest.raises(ValueError, match=naming("part", "all", "encoder", "decoder", "code")):
        model.to_network(part="code")
    with pytest.raises(TypeError, match=naming("least_rate", "encoder", "part=")):
        model.to_network("encoder")
    with pytest.raises(ValueError, match=naming("codes", 16, 5)):
        model.arrivals(data, decoder)
    with pytest.raises(ValueError, match=naming("X", 5, 16)):
        model.arrivals(model.transform(data), encoder)
    for part in ("encoder", "decoder"):
        with pytest.raises(ValueError, match=naming("network", 22, part, 21)):
            model.arrivals(data, other.to_network(part=part))
    shuffled = RandomNeuralNetwork(np.ones(37), np.zeros((37, 37)), layer_sizes=(5, 16, 16))
    with pytest.raises(ValueError, match=naming("network", "(5, 16, 16)", "(16, 5, 16)")):
        model.arrivals(data, shuffled)


def test_parts_can_be_simulated(data):
    """Numbers lie in intervals of level 1 − 1e-6 of runs that begin in steady state."""
    model = LRNNAutoencoder((4,), max_iter=20).fit(data)
    codes = model.transform(data[:1])
    for part, rows, expected in (
        ("encoder", data[:1], codes),
        ("decoder", codes, model.inverse_transform(codes)),
    ):
        network = model.to_network(part=part)
        result = network.simulate(
            model.arrivals(rows, network)[0], events=20_000, replicas=30, start="stationary",
            random_state=0,
        )  # fmt: skip
        low, high = result.confidence_interval(1 - 1e-6, "arrivals")
        last = slice(-network.layer_sizes[-1], None)
        assert (low[last] <= expected[0] + 1e-12).all()
        assert (expected[0] <= high[last] + 1e-12).all()
        assert result.layer_names == network.layer_names


def test_the_encoder_fires_the_spikes_that_it_fires_in_the_whole_network(model, data):
    """Nothing leads back, and every neuron has random numbers of its own."""
    count = sum(model.weights_.sizes[: len(model.encoders_) + 1])
    options = {"time": 10.0, "engine": "neurons", "record": range(count), "random_state": 0}
    rasters = []
    for part in ("all", "encoder"):
        network = model.to_network(part=part)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too short to estimate anything
            result = network.simulate(model.arrivals(data[:2], network), **options)
        rasters.append(result.raster)
    assert len(rasters[0]) > 50
    np.testing.assert_array_equal(rasters[0].times, rasters[1].times)
    np.testing.assert_array_equal(rasters[0].neurons, rasters[1].neurons)
