"""Any nonnegative weights are firing rates × routing probabilities."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lrnn import RandomNeuralNetwork
from lrnn.functional import activations
from naming import naming
from nearness import assert_near

weight = st.one_of(
    st.just(0.0),
    st.floats(0, 2),
    st.floats(0, 1e6),
    st.sampled_from([5e-324, 1e-300, 1e-160, 1e-153, 1e-12]),
)
excitation = st.one_of(st.sampled_from([0.0, 1.0, 1e-300]), st.floats(0, 1.5))


@st.composite
def layers(draw):
    """Weights A⁺, A⁻ of 1 to 4 connections, some rows and columns dead, and a batch of inputs."""
    sizes = draw(st.lists(st.integers(1, 8), min_size=2, max_size=5))

    def matrix(shape):
        matrix = draw(hnp.arrays(np.float64, shape, elements=weight))
        matrix[draw(hnp.arrays(bool, shape[0])) if draw(st.booleans()) else []] = 0
        matrix[:, draw(hnp.arrays(bool, shape[1])) if draw(st.booleans()) else []] = 0
        return matrix

    shapes = list(pairwise(sizes))
    excitatory = [matrix(shape) for shape in shapes]
    inhibitory = None
    if draw(st.booleans()):
        inhibitory = [matrix(shape) if draw(st.booleans()) else None for shape in shapes]
    rows = draw(st.integers(1, 3))
    return (
        excitatory,
        inhibitory,
        draw(hnp.arrays(np.float64, (rows, sizes[0]), elements=excitation)),
    )


def total_sent(network):
    sent = network.excitatory.sum(axis=1)
    return sent if network.inhibitory is None else sent + network.inhibitory.sum(axis=1)


def fed_with(network, inputs):
    """The steady state with arrivals min(x, 1) · rates at the first layer, layer by layer."""
    n_inputs = network.layer_sizes[0]
    arrivals = np.zeros((len(inputs), network.n_neurons))
    arrivals[:, :n_inputs] = np.minimum(inputs, 1) * network.rates[:n_inputs]
    return network.split(network.steady_state(arrivals))


least_rates = st.sampled_from([0.0, 0.1, 1.0, 7.0])


@given(layers(), least_rates)
@settings(max_examples=300)
@pytest.mark.slow
def test_realised_network_has_the_same_activations(case, least):
    excitatory, inhibitory, inputs = case
    network = RandomNeuralNetwork.from_layers(excitatory, inhibitory, least_rate=least)
    assert network.rates.min() >= least
    expected = activations(inputs, excitatory, inhibitory)
    assert network.layer_sizes == tuple(layer.shape[1] for layer in expected)
    for realised, layer in zip(fed_with(network, inputs), expected, strict=True):
        np.testing.assert_allclose(realised, layer, rtol=0, atol=1e-12)


@given(layers(), least_rates)
@settings(max_examples=300)
def test_realised_network_is_made_of_probabilities(case, least):
    excitatory, inhibitory, _ = case
    network = RandomNeuralNetwork.from_layers(excitatory, inhibitory, least_rate=least)
    rounding = 4 * network.n_neurons * np.finfo(float).eps
    for routes in network.excitatory, network.inhibitory:
        if routes is not None:
            assert routes.min() >= 0
            assert routes.max() <= 1 + rounding
    assert total_sent(network).max() <= 1 + rounding
    assert (network.rates > 0).all()
    assert np.isfinite(network.rates).all()
    outputs = network.split(network.rates)[-1]
    assert (outputs == max(least, 1)).all()


@pytest.mark.parametrize("least", [-1, np.nan, np.inf])
def test_a_least_rate_is_a_rate(least):
    with pytest.raises(ValueError, match=naming("least_rate", least)):
        RandomNeuralNetwork.from_layers([[[1.0]]], least_rate=least)


@given(layers())
@settings(max_examples=100)
def test_unit_rates_take_weights_for_probabilities(case):
    excitatory, inhibitory, inputs = case
    blocking = [None] * len(excitatory) if inhibitory is None else inhibitory
    for plus, minus in zip(excitatory, blocking, strict=True):
        total = np.maximum(plus.sum(axis=1) + (0 if minus is None else minus.sum(axis=1)), 1)
        plus /= total[:, None]
        if minus is not None:
            minus /= total[:, None]
    network = RandomNeuralNetwork.from_layers(excitatory, inhibitory, rates="unit")
    assert (network.rates == 1).all()
    sizes = np.cumsum([0, *network.layer_sizes])
    for i, plus in enumerate(excitatory):
        block = network.excitatory[sizes[i] : sizes[i + 1], sizes[i + 1] : sizes[i + 2]]
        np.testing.assert_array_equal(block.toarray(), plus)
    for realised, layer in zip(
        fed_with(network, inputs), activations(inputs, excitatory, inhibitory), strict=True
    ):
        np.testing.assert_allclose(realised, layer, rtol=0, atol=1e-12)


def test_unit_rates_refuse_rows_above_1_by_neuron():
    with pytest.raises(ValueError, match=naming("neuron 0", "layer 1", 1.3, "rates='free'")):
        RandomNeuralNetwork.from_layers([[[0.5], [0.9]], [[0.7, 0.6]]], rates="unit")
    with pytest.raises(ValueError, match=naming("neuron 1", "layer 0", 1.4)):
        RandomNeuralNetwork.from_layers([[[0.5], [0.9]]], [[[0.5], [0.5]]], rates="unit")


def test_rates_are_free_or_unit():
    with pytest.raises(ValueError, match=naming("rates", "'free'", "'unit'", "'any'")):
        RandomNeuralNetwork.from_layers([[[0.5]]], rates="any")


def test_sparse_and_listed_weights_realise_the_same_network():
    rng = np.random.default_rng(0)
    plus, minus = ([rng.random((4, 3)), rng.random((3, 5))] for _ in range(2))
    network = RandomNeuralNetwork.from_layers(plus, minus)
    for convert in sparse.csr_array, sparse.csr_matrix, np.ndarray.tolist:
        same = RandomNeuralNetwork.from_layers(
            [convert(w) for w in plus], [convert(w) for w in minus]
        )
        terms = 2 * (4 + 3 + 5)  # those of a rate, and of the quotient of a weight by it
        assert_near(same.rates, network.rates, terms)
        assert_near(same.excitatory.toarray(), network.excitatory.toarray(), terms)
        assert_near(same.inhibitory.toarray(), network.inhibitory.toarray(), terms)


@pytest.mark.parametrize(
    ("first", "layer"), [(np.ones((2, 2)), 0), (np.eye(2), 1), (np.zeros((2, 2)), 1)]
)
def test_rates_that_overflow_are_refused_by_neuron_and_layer(first, layer):
    huge = np.full((2, 2), 1e200)
    with pytest.raises(ValueError, match=naming("rate", "neuron 0", f"layer {layer}")):
        RandomNeuralNetwork.from_layers([first, huge, huge])


@pytest.mark.parametrize(
    ("weights", "inhibitory", "told"),
    [
        ([], None, ["weights"]),
        ([np.ones((2, 3)), np.ones((2, 2))], None, ["weights[1]", 2, "weights[0]", 3]),
        ([np.ones(3)], None, ["weights[0]", "(3,)"]),
        ([np.ones((2, 0))], None, ["weights[0]", "(2, 0)"]),
        ([[[1, 1], [0, -3]]], None, ["weights[0]", "neuron 1 to neuron 1", -3]),
        ([np.eye(2), [[0, np.nan], [1, 1]]], None, ["weights[1]", "neuron 0 to neuron 1", "nan"]),
        ([np.eye(2)], [[[0, -1], [0, 0]]], ["inhibitory[0]", "neuron 0 to neuron 1", -1]),
        ([np.eye(2)], [np.ones((2, 3))], ["inhibitory[0]", "(2, 3)", "weights[0]", "(2, 2)"]),
        ([np.eye(2)], [None, None], ["inhibitory", 1, 2]),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_their_place(weights, inhibitory, told):
    with pytest.raises(ValueError, match=naming(*told)):
        RandomNeuralNetwork.from_layers(weights, inhibitory)
