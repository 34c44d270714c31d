"""A deep network built around a shallow one does exactly what that does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrnn.functional import activations, adjust_rows
from lrnn.rows import held
from lrnn.training.evaluation import evaluate
from lrnn.training.inhibition import inhibited
from lrnn.training.split import on_the_verge, split


def problem(seed, attributes, code, rates):
    rng = np.random.default_rng(seed)
    X = rng.random((20, attributes))
    encoder = rng.random((attributes, code)) * (rng.random((attributes, code)) < 0.6)
    decoder = rng.random((code, attributes)) * (rng.random((code, attributes)) < 0.6)
    if rates == "unit":
        return X, adjust_rows(encoder), adjust_rows(decoder)
    return X, encoder / np.maximum((X @ encoder).max(axis=0), 1e-9), decoder


@given(
    seed=st.integers(0, 10**6),
    attributes=st.integers(1, 9),
    code=st.integers(1, 5),
    extra=st.lists(st.integers(0, 12), min_size=1, max_size=4),
    rates=st.sampled_from(["free", "unit"]),
    scaled=st.booleans(),
    gain=st.sampled_from([1.0, 3.0]),
)
def test_it_does_what_the_shallow_one_does(seed, attributes, code, extra, rates, scaled, gain):
    X, encoder, decoder = problem(seed, attributes, code, rates)
    if rates == "free":
        encoder = encoder * gain  # code neurons may saturate, too
    hidden = [code + n for n in extra]
    weights = split(encoder, decoder, hidden, rates, np.random.RandomState(seed))
    if scaled and rates == "free":
        weights = on_the_verge(held(X), weights)
    assert [w.shape[1] for w in weights.encoders] == hidden
    shallow = activations(X, [encoder, decoder])
    deep = activations(X, weights.layers)
    np.testing.assert_allclose(deep[-1], shallow[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(deep[len(hidden)][:, :code], shallow[1], rtol=0, atol=1e-12)
    assert not deep[len(hidden)][:, code:].any()
    assert min(w.min() for w in weights.layers) >= 0
    if rates == "unit":
        assert max(w.sum(axis=1).max() for w in weights.layers) <= 1 + 1e-12


def test_every_neuron_of_a_free_network_is_on_the_verge_of_saturation():
    X, encoder, decoder = problem(0, 30, 3, "free")
    weights = split(encoder, decoder, [12, 6, 3], "free", np.random.RandomState(0))
    weights = on_the_verge(held(X), weights)
    for layer in activations(X, weights.encoders)[1:]:
        np.testing.assert_allclose(layer.max(axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize("rates", ["free", "unit"])
def test_the_parts_share_inputs_and_outputs(rates):
    _, encoder, decoder = problem(1, 30, 3, rates)
    weights = split(encoder, decoder, [12, 3], rates, np.random.RandomState(0))
    first, last = weights.encoders[0], weights.decoders[-1]
    for h in range(3):  # each attribute belongs to at most one of the parts of a code neuron
        assert ((first[:, h::3] > 0).sum(axis=1) <= 1).all()
        assert ((last[h::3] > 0).sum(axis=0) <= 1).all()
    assert ((first > 0).sum(axis=0) > 0).all()


def spikes(X, weights):
    return float(weights.spikes(evaluate(held(X), weights).mean_activations).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("faint", [1e-12, 1e-20, 1e-30])
def test_weights_that_are_nothing_beside_others_are_not_raised(dtype, faint):
    """Alone in a part they were raised to the edge, and noise then made the network fire wildly."""
    rng = np.random.default_rng(0)
    X = rng.random((50, 60)).astype(dtype)
    encoder = (rng.random((60, 3)) / 30).astype(dtype)
    encoder[::2] *= faint
    decoder = rng.random((3, 60)).astype(dtype)
    weights = split(encoder, decoder, [60, 30, 3], "free", np.random.RandomState(0))
    verge = on_the_verge(held(X), weights)
    assert max(w.max() for w in verge.excitatory) < 100
    shallow = np.minimum(np.minimum(X @ encoder, 1) @ decoder, 1)
    deep = activations(X, verge.layers)[-1]
    np.testing.assert_allclose(deep, shallow, rtol=0, atol=30 * np.finfo(dtype).eps)
    start = inhibited(verge, np.random.RandomState(0), 1.0)
    assert spikes(X, start) < 1.1 * spikes(X, verge)


def test_weights_of_bright_attributes_count_beside_large_ones_of_dim_attributes():
    rng = np.random.default_rng(0)
    X = rng.random((50, 8)) * np.where(np.arange(8) < 4, 1e-20, 1.0)
    encoder = rng.random((8, 2)) * np.where(np.arange(8) < 4, 1e20, 1.0)[:, None] / 10
    decoder = rng.random((2, 8))
    weights = split(encoder, decoder, [8, 4, 2], "free", np.random.RandomState(0))
    deep = activations(X, on_the_verge(held(X), weights).layers)
    np.testing.assert_allclose(deep[-1], activations(X, [encoder, decoder])[-1], atol=1e-12)
