"""How many spikes a decision takes, and whose they are: what a classifier says, and the simulator.

With output rates 1 the firings of the input and hidden layers, F, and of the outputs, Q, have the
means S·Q and p_c·Q by the closed form, so that F − S·Q and Q_c − p_c·Q have the mean 0. Each
independent copy gives one such number; their mean, beside its own spread, follows Student's law,
of which 6 is passed once in 10⁶ times (29 degrees of freedom).
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from lrnn import LRNNClassifier
from lrnn.functional.shares import log_spikes
from lrnn.network.weights import activations

ROWS, COPIES, TIME, UNLIKELY = 3, 30, 1000.0, 6.0
MODELS = {
    "excitatory": {"inhibition": False, "hidden_layer_sizes": 8},
    "inhibition": {"spike_penalty": 0.3, "hidden_layer_sizes": 12},
    "deep": {"spike_penalty": 0.3, "hidden_layer_sizes": (12, 8)},
}


def is_zero(numbers):
    """Whether independent numbers have the mean 0, for all that can be said."""
    spread = numbers.std(ddof=1) / np.sqrt(len(numbers))
    return spread > 0 and abs(numbers.mean()) < UNLIKELY * spread


@pytest.mark.filterwarnings("ignore:.*too short")
@pytest.mark.parametrize("name", MODELS)
def test_the_simulator_counts_as_many_spikes_for_a_decision(digits, name):
    y = load_digits().target
    model = LRNNClassifier(random_state=0, max_iter=60, **MODELS[name]).fit(digits[:300], y[:300])
    network, X = model.to_network(least_rate=0), 0.8 * digits[:ROWS]
    while np.asarray(network.steady_state(model.arrivals(X, network))).max() > 0.95:
        X = 0.9 * X  # so faint that no neuron saturates: the stationary law is known
    arrivals = model.arrivals(X, network)
    result = network.simulate(
        np.tile(arrivals, (COPIES, 1)), events=None, time=TIME, start="stationary",
        random_state=0, progress=False,
    )  # fmt: skip
    classes = len(model.classes_)
    fired, outputs = result.firing_counts[:, :-classes], result.firing_counts[:, -classes:]
    each = np.exp(log_spikes(activations(model.weights_.layers, X), model.firing_rates_[:-1]))
    assert model.spikes_per_decision(X) == pytest.approx(np.exp(np.log(each).mean()), rel=1e-9)
    probabilities = model.predict_proba(X)
    for row in range(ROWS):
        own = slice(row, None, ROWS)
        total = outputs[own].sum(axis=1)
        assert total.sum() > 500  # it says something
        assert is_zero(fired[own].sum(axis=1) - each[row] * total)
        best = probabilities[row].argmax()
        assert is_zero(outputs[own][:, best] - probabilities[row, best] * total)
        assert not is_zero(fired[own].sum(axis=1) - 1.5 * each[row] * total)
