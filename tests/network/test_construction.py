"""A random neural network is made of finite rates and of probabilities, or not at all."""

import re

import numpy as np
import pytest
from scipy import sparse

from lrnn import RandomNeuralNetwork
from naming import naming

NO_ROUTES = np.zeros((3, 3))

storages = pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.coo_array])


def routes(entries, n=3):
    """A matrix of probabilities from {(source, target): probability}."""
    matrix = np.zeros((n, n))
    for place, probability in entries.items():
        matrix[place] = probability
    return matrix


# Rates


SINGLE = RandomNeuralNetwork([1.0], [[0.0]])


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([1, 2, -0.5], ["rate", "neuron 2", -0.5]),
        ([1, np.nan, 1], ["rate", "neuron 1", "nan"]),
        ([np.inf, 1, -1], ["rate", "neuron 0", "inf", 1]),
        ([[1.0, 1.0, 1.0]], ["rates", "(1, 3)"]),
        ([], ["rates", "(0,)"]),
        (1.0, ["rates", "()"]),
    ],
)
def test_rate_that_is_none_is_refused(rates, told):
    with pytest.raises(ValueError, match=naming(*told)):
        RandomNeuralNetwork(rates, NO_ROUTES)


def test_rates_whose_sum_overflows_are_rates():
    rates = np.full(3, 1e308)
    assert (RandomNeuralNetwork(rates, NO_ROUTES).rates == rates).all()


# Probabilities


@storages
@pytest.mark.parametrize("sign", ["excitatory", "inhibitory"])
@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({(2, 1): -0.1}, ["neuron 2 to neuron 1", -0.1]),
        ({(0, 2): 0.5, (1, 0): np.nan}, ["neuron 1 to neuron 0", "nan"]),
        ({(1, 2): -5, (2, 0): np.nan, (2, 1): -1, (2, 2): np.inf}, ["neuron 1 to neuron 2", -5, 3]),
    ],
)
def test_number_that_is_no_probability_is_refused_by_its_place(storage, sign, entries, told):
    matrices = {"excitatory": NO_ROUTES, sign: storage(routes(entries))}
    with pytest.raises(ValueError, match=naming(sign, *told)):
        RandomNeuralNetwork(np.ones(3), **matrices)


@storages
@pytest.mark.parametrize(
    ("excitatory", "inhibitory"),
    [
        ({(1, 0): 0.75, (1, 1): 0.75}, None),
        ({(1, 0): 1.5}, {}),
        ({}, {(1, 2): 1.5}),
        ({(0, 1): 1, (1, 2): 0.75}, {(1, 2): 0.75, (2, 0): 1}),
    ],
)
def test_neuron_cannot_send_more_spikes_than_it_fires(storage, excitatory, inhibitory):
    minus = None if inhibitory is None else storage(routes(inhibitory))
    with pytest.raises(ValueError, match=naming("neuron 1", 1.5, "excitatory", "inhibitory")):
        RandomNeuralNetwork(np.ones(3), storage(routes(excitatory)), minus)


def test_all_neurons_that_send_too_much_are_counted():
    with pytest.raises(ValueError, match=naming("neuron 0", 1.5, "excitatory", 2)):
        RandomNeuralNetwork(np.ones(3), np.full((3, 3), 0.5))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [30, 300])
def test_rows_normalised_to_rounding_are_accepted(storage, dtype, n):
    rng = np.random.default_rng(0)
    weights = rng.random((n, n)).astype(dtype)
    weights /= weights.sum(axis=1, keepdims=True)
    assert (weights.astype(np.float64).sum(axis=1) > 1).any()
    network = RandomNeuralNetwork(np.ones(n), storage(weights))
    assert network.departures.min() == 0
    split = rng.random((n, n)) < 0.5
    RandomNeuralNetwork(np.ones(n), storage(weights * split), storage(weights * ~split))


@pytest.mark.parametrize(
    ("dtype", "total"), [(np.float64, 1 + 1e-9), (np.float32, 1.001), (np.float16, 1.5)]
)
def test_excess_beyond_rounding_is_refused(dtype, total):
    n = 300
    with pytest.raises(ValueError, match=naming("neuron 0", "excitatory")):
        RandomNeuralNetwork(np.ones(n), np.full((n, n), total / n, dtype=dtype))


@storages
def test_matrix_of_another_size_is_refused(storage):
    with pytest.raises(ValueError, match=naming("excitatory", "(2, 2)", "(3, 3)")):
        RandomNeuralNetwork(np.ones(3), storage(np.zeros((2, 2))))
    with pytest.raises(ValueError, match=naming("inhibitory", "(3, 2)", "(3, 3)")):
        RandomNeuralNetwork(np.ones(3), NO_ROUTES, storage(np.zeros((3, 2))))


# What is kept


def test_network_neither_changes_nor_is_changed_by_what_it_was_given():
    rates, dense = np.ones(3), routes({(0, 1): 0.5})
    stored = sparse.csr_array(dense)
    network = RandomNeuralNetwork(rates, dense, stored)
    rates[0], dense[0, 1], stored.data[0] = 7, 0.9, 0.8
    assert network.rates[0] == 1
    assert network.excitatory[0, 1] == 0.5
    assert network.inhibitory[0, 1] == 0.5


def test_rates_and_probabilities_are_read_only():
    dense = routes({(0, 1): 0.5})
    network = RandomNeuralNetwork(np.ones(3), dense, sparse.csr_array(dense))
    with pytest.raises(ValueError, match="read-only"):
        network.rates[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        network.excitatory[0, 1] = 2
    with pytest.raises(ValueError, match="read-only"):
        network.inhibitory.data[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        network.inhibitory[0, 1] = 2


def test_lists_and_whole_numbers_are_taken_as_float64():
    network = RandomNeuralNetwork([1, 2], [[0, 1], [0, 0]], sparse.csr_array([[0, 0], [1, 0]]))
    assert network.rates.dtype == network.excitatory.dtype == network.inhibitory.dtype == np.float64


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_departures_are_what_is_not_sent(storage):
    network = RandomNeuralNetwork(
        np.ones(3), storage(routes({(0, 1): 0.5, (1, 1): 1})), storage(routes({(0, 2): 0.25}))
    )
    assert network.departures.tolist() == [0.25, 0, 1]
    assert network.n_neurons == 3


def test_network_tells_its_size():
    excitatory, inhibitory = routes({(0, 1): 0.5, (0, 2): 0.1}), routes({(1, 2): 0.5})
    told = naming("RandomNeuralNetwork", "3 neurons", "1 → 2", "2 excitatory", "1 inhibitory")
    for storage in np.asarray, sparse.csr_array:
        network = RandomNeuralNetwork(
            np.ones(3), storage(excitatory), storage(inhibitory), layer_sizes=[1, 2]
        )
        assert re.search(told, repr(network))
    without = repr(RandomNeuralNetwork(np.ones(3), NO_ROUTES))
    assert re.search(naming("3 neurons", "0 excitatory", "0 inhibitory"), without)
    assert "layers" not in without


# Layers


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), ()])
def test_layers_hold_every_neuron(sizes):
    with pytest.raises(ValueError, match=naming("layer_sizes", sizes, sum(sizes), 3)):
        RandomNeuralNetwork(np.ones(3), NO_ROUTES, layer_sizes=sizes)


@pytest.mark.parametrize("sizes", [(4, -1), (1.5, 1.5)])
def test_layer_has_a_whole_number_of_neurons(sizes):
    with pytest.raises(ValueError, match=naming("layer_sizes", sizes)):
        RandomNeuralNetwork(np.ones(3), NO_ROUTES, layer_sizes=sizes)


def test_values_of_all_neurons_are_split_by_layer():
    network = RandomNeuralNetwork(np.ones(4), np.zeros((4, 4)), layer_sizes=(1, 3))
    values = np.arange(8).reshape(2, 4)
    first, second = network.split(values)
    assert first.tolist() == [[0], [4]]
    assert second.tolist() == [[1, 2, 3], [5, 6, 7]]
    assert [len(part) for part in network.split(network.rates)] == [1, 3]


def test_network_without_layers_cannot_be_split():
    with pytest.raises(ValueError, match="layer_sizes"):
        RandomNeuralNetwork(np.ones(3), NO_ROUTES).split(np.ones(3))


# Arrivals


@pytest.mark.parametrize(
    ("arrivals", "told"),
    [
        ([1, -2, 0], ["neuron 1", -2]),
        ([[0, 0, 0], [0, 0, np.nan]], ["neuron 2", "row 2", "nan"]),
        ([[0, -5, 0], [-1, np.inf, np.nan], [-1, 0, 0]], ["neuron 1", "row 1", -5, 4]),
        ([1, 2], ["(2,)", "(3,)"]),
        (np.ones((3, 2)), ["(3, 2)", "(3,)"]),
        (np.ones((1, 1, 3)), ["(1, 1, 3)", "(3,)"]),
        (1.0, ["()", "(3,)"]),
    ],
)
def test_arrivals_are_one_rate_per_neuron(arrivals, told):
    network = RandomNeuralNetwork(np.ones(3), NO_ROUTES)
    with pytest.raises(ValueError, match=naming("arrivals", *told)):
        network.steady_state(arrivals)
    with pytest.raises(ValueError, match=naming("inhibitory_arrivals", *told)):
        network.steady_state(np.ones(3), arrivals)
    with pytest.raises(ValueError, match=naming("arrivals", *told)):
        network.residual(np.ones(3), arrivals)


@pytest.mark.parametrize("arrivals", [np.ones(3), np.ones((4, 3))])
def test_inhibitory_arrivals_have_as_many_rows_as_the_excitatory(arrivals):
    network = RandomNeuralNetwork(np.ones(3), NO_ROUTES)
    with pytest.raises(ValueError, match=naming("inhibitory_arrivals", "(2, 3)", "(3,)")):
        network.steady_state(arrivals, np.ones((2, 3)))


def test_layers_have_names():
    rates, routes = np.ones(4), np.zeros((4, 4))
    assert RandomNeuralNetwork(rates, routes).layer_names == ("all",)
    assert RandomNeuralNetwork(rates, routes, layer_sizes=(4,)).layer_names == ("all",)
    two = RandomNeuralNetwork(rates, routes, layer_sizes=(1, 3))
    assert two.layer_names == ("input", "output")
    named = RandomNeuralNetwork(rates, routes, layer_sizes=(1, 3), layer_names=["eye", "brain"])
    assert named.layer_names == ("eye", "brain")


@pytest.mark.parametrize(
    ("sizes", "names", "told"),
    [
        ((1, 3), ["eye"], [1, 2]),
        (None, ["eye", "brain"], [2, 0, "layer_sizes"]),
        ((4,), ["eye"], [1, "layer_sizes"]),
        ((1, 3), ["eye", "eye"], ["['eye', 'eye']"]),
        ((1, 3), ["eye", 1], ["['eye', 1]"]),
        ((1, 3), "ab", ["'ab'"]),
    ],
)
def test_names_that_are_not_one_for_each_layer_are_refused(sizes, names, told):
    with pytest.raises(ValueError, match=naming("layer_names", *told)):
        RandomNeuralNetwork(np.ones(4), np.zeros((4, 4)), layer_sizes=sizes, layer_names=names)


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (lambda: RandomNeuralNetwork([1.0, 10**400], np.zeros((2, 2))), r"rates\[1\]"),
        (lambda: RandomNeuralNetwork([1.0], [[10**400]]), r"excitatory\[0, 0\]"),
        (lambda: RandomNeuralNetwork.from_layers([[[1.0, "a"]]]), r"weights\[0\]\[0, 1\]"),
        (lambda: RandomNeuralNetwork.from_layers([[[1.0]]], least_rate=10**400), "least_rate"),
        (lambda: SINGLE.steady_state([[0.5], [10**400]]), r"arrivals\[1, 0\]"),
        (lambda: SINGLE.steady_state([0.5], [10**400]), r"inhibitory_arrivals\[0\]"),
        (lambda: SINGLE.gradient([0.5], of=[10**400]), r"of\[0\]"),
    ],
)
def test_what_no_float_holds_is_refused_by_its_place(wrong, place):
    with pytest.raises(ValueError, match=place):
        wrong()
