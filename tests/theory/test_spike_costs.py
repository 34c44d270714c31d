"""What models say that their spikes cost, and how many the simulator counts."""

import numpy as np
import pytest

from lrnn import LRNNAutoencoder

ROWS, COPIES, TIME = 6, 30, 15.0
MODELS = {
    "excitatory": {"hidden_layer_sizes": 8},
    "deep": {"hidden_layer_sizes": (12, 6), "fine_tune": 2},
    "unit rates": {"hidden_layer_sizes": 8, "rates": "unit", "max_iter": 5},
    "as printed": {"hidden_layer_sizes": 8, "solver": "minibatch", "max_iter": 5},
    "inhibition": {
        "hidden_layer_sizes": 8, "inhibition": True, "spike_penalty": 1e-4, "fine_tune": 40,
    },
    "deep inhibition": {
        "hidden_layer_sizes": (12, 6), "inhibition": True, "spike_penalty": 1e-4, "fine_tune": 40,
    },
    "one that partial_fit trained": {"hidden_layer_sizes": 8, "inhibition": True},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*too short")
@pytest.mark.parametrize("name", MODELS)
def test_spikes_are_counted_layer_by_layer(digits, name):
    """Means over independent copies differ from the truth as Student says: t > 6 is one in 10⁶."""
    X = 0.8 * digits[:ROWS]
    model = LRNNAutoencoder(random_state=0, **MODELS[name])
    model = model.partial_fit(X) if "partial_fit" in name else model.fit(X)
    network = model.to_network(least_rate=0)
    arrivals = np.tile(model.arrivals(X, network), (COPIES, 1))
    result = network.simulate(
        arrivals, events=None, time=TIME, start="stationary", random_state=0, progress=False
    )
    sizes = [len(rates) for rates in model.firing_rates_]
    fired = result.firing_counts * (network.routed > 0)  # others lead nowhere, and need not fire
    counts = np.split(fired, np.cumsum(sizes)[:-1], axis=1)
    assert len(model.layer_spike_costs_) == len(counts) - 1
    assert model.spike_cost_ == pytest.approx(model.layer_spike_costs_.sum(), rel=1e-12)
    for layer, expected in zip(counts[:-1], model.layer_spike_costs_, strict=True):
        # each copy of all rows together gives one independent number
        found = (layer.sum(axis=1) / result.time).reshape(COPIES, ROWS).mean(axis=1)
        spread = found.std(ddof=1) / np.sqrt(COPIES)
        assert spread > 0
        assert abs(found.mean() - expected) < 6 * spread


def test_files_keep_the_cost_of_each_layer(digits, tmp_path):
    from lrnn import load

    model = LRNNAutoencoder((12, 6), max_iter=5).fit(digits[:50])
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.layer_spike_costs_, model.layer_spike_costs_)
