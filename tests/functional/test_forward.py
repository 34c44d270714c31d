"""The forward pass and the realisation, on arrays of every kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lrnn.functional import (
    activations,
    complement_coded,
    firing_rates,
    propagate,
    routing,
    saturate,
)
from naming import naming

namespaces = pytest.mark.parametrize("namespace", ["numpy", "torch", "array_api_strict"])
precisions = pytest.mark.parametrize(("precision", "rtol"), [("float64", 1e-13), ("float32", 1e-5)])


def converter(namespace, precision):
    """How to bring a NumPy array into a namespace, and the data type it then has."""
    xp = pytest.importorskip(namespace, reason=f"{namespace} is not installed")
    dtype = getattr(xp, precision)
    return lambda array: None if array is None else xp.asarray(array, dtype=dtype), xp, dtype


def assert_same(array, expected, dtype, rtol):
    assert array.dtype == dtype
    np.testing.assert_allclose(np.asarray(array), expected, rtol=rtol)


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    excitatory = [rng.exponential(size=s) * 0.4 for s in ((6, 4), (4, 5), (5, 3))]
    inhibitory = [rng.exponential(size=(6, 4)), None, rng.exponential(size=(5, 3))]
    return rng.random((7, 6)) * 1.3, excitatory, inhibitory


def forward_by_hand(inputs, excitatory, inhibitory):
    """Eqs. 3, 4 and 8 neuron by neuron."""
    layers = [[[min(x, 1) for x in row] for row in inputs]]
    for plus, minus in zip(excitatory, inhibitory, strict=True):
        layer = []
        for row in layers[-1]:
            excite = [sum(q * w for q, w in zip(row, column, strict=True)) for column in plus.T]
            inhibit = [0.0] * len(excite)
            if minus is not None:
                inhibit = [sum(q * w for q, w in zip(row, c, strict=True)) for c in minus.T]
            layer.append([min(e / (1 + i), 1) for e, i in zip(excite, inhibit, strict=True)])
        layers.append(layer)
    return layers


@namespaces
@precisions
def test_forward_pass_is_the_equation_in_every_namespace(network, namespace, precision, rtol):
    inputs, excitatory, inhibitory = network
    convert, _, dtype = converter(namespace, precision)
    layers = activations(
        convert(inputs), [convert(w) for w in excitatory], [convert(w) for w in inhibitory]
    )
    expected = forward_by_hand(inputs, excitatory, inhibitory)
    computed = {q for layer in expected[1:] for row in layer for q in row}
    assert 1 in computed
    assert len(computed) > 50  # and most do not saturate
    for layer, by_hand in zip(layers, expected, strict=True):
        assert_same(layer, by_hand, dtype, rtol)


@namespaces
@precisions
def test_rates_and_probabilities_realise_the_weights_in_every_namespace(
    network, namespace, precision, rtol
):
    _, excitatory, inhibitory = network
    excitatory[1][2] = 0  # a neuron without successors fires at rate 1
    convert, xp, dtype = converter(namespace, precision)
    plus, minus = [convert(w) for w in excitatory], [convert(w) for w in inhibitory]
    rates = firing_rates(plus, minus)
    assert_same(rates[-1], [1, 1, 1], dtype, 0)
    assert float(rates[1][2]) == 1
    for layer, (plus_weights, minus_weights) in enumerate(zip(plus, minus, strict=True)):
        needs = excitatory[layer] @ np.asarray(rates[layer + 1], dtype=np.float64)
        if minus_weights is not None:
            needs += inhibitory[layer] @ np.asarray(rates[layer + 1], dtype=np.float64)
        assert_same(rates[layer], np.where(needs > 0, needs, 1), dtype, rtol)
        total = xp.zeros_like(rates[layer])
        for weights in plus_weights, minus_weights:
            if weights is not None:
                sends = routing(weights, rates[layer], rates[layer + 1])
                total = total + xp.sum(sends, axis=1)
                back = sends * rates[layer][:, None] / rates[layer + 1][None, :]
                assert_same(back, np.asarray(weights), dtype, rtol)
        assert float(xp.max(total)) <= 1 + 10 * rtol


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_inputs_have_the_activations_of_dense_ones(network, kind):
    inputs, excitatory, inhibitory = network
    inputs = inputs * (inputs > 0.6)
    first, *rest = activations(kind(inputs), excitatory, inhibitory)
    assert sparse.issparse(first)
    np.testing.assert_array_equal(first.toarray(), np.minimum(inputs, 1))
    for layer, expected in zip(rest, activations(inputs, excitatory, inhibitory)[1:], strict=True):
        assert type(layer) is np.ndarray
        np.testing.assert_allclose(layer, expected, rtol=1e-14)


def test_sparse_inputs_keep_their_precision(network):
    inputs, excitatory, _ = network
    weights = [w.astype(np.float32) for w in excitatory]
    layers = activations(sparse.csr_array(inputs.astype(np.float32)), weights)
    assert {layer.dtype for layer in layers} == {np.dtype(np.float32)}


def test_inhibition_needs_a_matrix_or_none_for_every_layer(network):
    inputs, excitatory, inhibitory = network
    with pytest.raises(ValueError, match="shorter"):
        activations(inputs, excitatory, inhibitory[:-1])


nonnegative = st.one_of(st.sampled_from([0.0, 1.0, 5e-324, 1e6]), st.floats(0, 1e6))


@given(
    hnp.arrays(np.float64, (3, 4), elements=nonnegative),
    hnp.arrays(np.float64, (4, 5), elements=nonnegative),
    hnp.arrays(np.float64, (4, 5), elements=nonnegative),
)
@settings(max_examples=100)
def test_activations_are_probabilities_and_inhibition_only_lowers_them(inputs, plus, minus):
    q = saturate(inputs)
    assert q.min() >= 0
    assert q.max() <= 1
    excited, inhibited = propagate(q, plus), propagate(q, plus, minus)
    assert inhibited.min() >= 0
    assert excited.max() <= 1
    assert (inhibited <= excited).all()


def test_with_their_complements_all_rows_drive_a_network_alike(rng):
    X = rng.random((20, 7)).astype(np.float32)
    both = complement_coded(X)
    assert (both.shape, both.dtype) == ((20, 14), np.float32)
    np.testing.assert_array_equal(both[:, :7], X)
    np.testing.assert_allclose(both.sum(axis=1), 7, rtol=1e-6)
    weights = 0.01 * np.ones((14, 1), np.float32)  # a bias, for neurons that take all alike
    np.testing.assert_allclose(propagate(both, weights), 0.07, rtol=1e-5)


@pytest.mark.parametrize("bad", [-0.5, 1.5, np.nan])
def test_complements_are_those_of_values_from_0_to_1(bad):
    with pytest.raises(ValueError, match=naming(f"{bad:g}", "[0, 1]", "MinMaxScaler(clip=True)")):
        complement_coded(np.array([[0.5, bad]]))
