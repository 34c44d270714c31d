"""The paper's structures on all of MNIST. Minutes each."""

import os
from pathlib import Path

import numpy as np
import pytest

from lrnn import LRNNAutoencoder
from lrnn.datasets import read_idx
from lrnn.functional import activations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "LRNN_DATA_DIR" not in os.environ,
        reason="LRNN_DATA_DIR, the folder of the data sets, is not set",
    ),
]

DEEP = (1000, 500, 250, 50)


@pytest.fixture(scope="module")
def mnist():
    path = Path(os.environ["LRNN_DATA_DIR"]) / "mnist" / "train-images-idx3-ubyte.gz"
    return read_idx(path).reshape(-1, 784) / 255


def assert_valid_network(model, rows):
    network = model.to_network()
    assert network.routed.max() <= 1 + 1e-12
    assert network.excitatory.data.max() <= 1
    layers = network.split(network.steady_state(model.arrivals(rows)))
    expected = activations(rows, model.encoders_ + model.decoders_)
    for q, forward in zip(layers, expected, strict=True):
        np.testing.assert_allclose(q, forward, rtol=0, atol=1e-12)
    np.testing.assert_allclose(layers[-1], model.reconstruct(rows), rtol=0, atol=1e-12)
    assert model.audit(rows).valid


@pytest.mark.parametrize(("hidden", "target"), [(100, 0.0185), (50, 0.025)])
def test_the_printed_algorithm_reaches_the_papers_error(mnist, hidden, target):
    model = LRNNAutoencoder(
        hidden, solver="minibatch", max_iter=10, tol=0, evaluate_every=200, random_state=0
    )
    model.fit(mnist)
    assert len(model.history_[0].batch_errors) == 6_000
    assert model.reconstruction_err_ <= target
    assert_valid_network(model, mnist[:3_000])


@pytest.mark.parametrize("stacking", ["layerwise", "joint"])
def test_the_deep_network_trains_to_the_end_with_falling_error(mnist, stacking):
    small = mnist.astype(np.float32)
    model = LRNNAutoencoder(
        DEEP, solver="minibatch", stacking=stacking, max_iter=3, tol=0, random_state=0
    ).fit(small)
    for curve in model.history_:
        assert curve.stopped == "max_iter"
        assert curve.batch_errors[-100:].mean() < 0.7 * curve.batch_errors[:10].mean()
    # the same network in float64, to compare exactly
    model.weights_ = model.weights_.each(lambda weight: weight.astype(np.float64))
    assert_valid_network(model, mnist[:3_000])


@pytest.mark.parametrize(
    ("sizes", "settings", "target"),
    [
        ((100,), {}, 0.0103),
        ((100,), {"fine_tune": 3}, 0.0099),
        ((50,), {"max_iter": 1_000, "tol": 1e-5, "fine_tune": 3}, 0.0176),
        (DEEP, {"stacking": "joint", "fine_tune": 2}, 0.0170),
        ((100,), {"rates": "unit", "max_iter": 6}, 0.046),
    ],
)
def test_the_default_solver_goes_well_below_the_paper(mnist, sizes, settings, target):
    levels = (mnist * 255).round().astype(np.uint8)
    model = LRNNAutoencoder(sizes, random_state=0, **settings).fit(levels)
    assert model.reconstruction_err_ <= target
    assert model.audit(levels).valid
    if "rates" in settings:
        assert max(w.sum(axis=1, dtype=float).max() for w in model.weights_.layers) <= 1 + 1e-6


def test_simulated_spikes_give_back_the_activations_of_every_layer(mnist):
    model = LRNNAutoencoder((100,), random_state=0).fit(mnist)
    path = Path(os.environ["LRNN_DATA_DIR"]) / "mnist" / "t10k-images-idx3-ubyte.gz"
    images = read_idx(path)[:20].reshape(-1, 784) / 255
    result = model.to_network().simulate(model.arrivals(images), events=10**7, random_state=0)
    found = result.compare()
    errors = dict(zip(found.events, found.errors, strict=True))
    assert errors[10**6].max() <= 0.02
    assert errors[10**7].max() <= 0.006
    slope = np.log(errors[10**7] / errors[10**5]) / np.log(100)
    assert (np.abs(slope + 0.5) < 0.1).all()
