"""A digit is recognised spike by spike, until the network is sure
===============================================================

    python examples/spike_by_spike.py [FIGURE]

The neurons at the end of a classifier's network stand for the classes, and in steady state their
spikes are independent draws from the probabilities of these. So one can count, and stop as soon as
the leader can hardly be another one by chance. How many spikes that takes, theory knows beforehand.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from lrnn import LRNNClassifier, decisions, plots
from lrnn.functional.decisions import enough_evidence, log_evidence

CONFIDENCE = 0.95


def evidence(counts):
    """How sure the counts are, as a share of what is enough for a decision."""
    second, first = np.sort(counts)[-2:]
    return max(0.0, float(log_evidence(first, second)) / enough_evidence(CONFIDENCE, len(counts)))


def trace(model, digit):
    """Count the output spikes for one digit, and tell of each until they decide."""
    network = model.to_network(least_rate=0)
    n_classes = len(model.classes_)
    first = network.n_neurons - n_classes
    result = network.simulate(
        model.arrivals(digit[None], network)[0], events=100_000, start="stationary",
        record=range(first, network.n_neurons), random_state=0, progress=False,
    )  # fmt: skip
    counts = np.zeros(n_classes, dtype=int)
    for time, neuron in zip(result.raster.times, result.raster.neurons, strict=True):
        counts[neuron - first] += 1
        sure = evidence(counts)
        events = result.events_at(time)
        bar = "#" * min(20, round(20 * sure))
        print(f"{events:7,.0f} events: a spike of {neuron - first}   {counts}   {bar}")
        if sure >= 1:
            print(f"sure: it is a {model.classes_[counts.argmax()]}")
            return


def main(figure_path="spike_by_spike.png"):
    """Train at a price of spikes, follow one digit, decide on many, draw accuracy."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = LRNNClassifier(50, spike_penalty=0.1, label_smoothing=0.1, random_state=0)
    model.fit(X[:1_200], y[:1_200])
    new, truth = X[1_200:1_300], y[1_200:1_300]
    found = model.decide(
        new, lead=6, events=1e7, start="stationary", random_state=0, progress=False
    )
    some = int(np.argsort(found.expected_events)[len(new) // 3])  # neither easy nor hard
    print(f"a digit whose probabilities are {model.predict_proba(new)[some].round(2)}\n")
    trace(model, new[some])

    spikes, expected = found.spikes.mean(), found.expected_spikes.mean()
    print(f"\n100 digits, until one class leads by 6: {spikes:.0f} output spikes (by theory about")
    print(f"{expected:.0f}) and {found.events.mean():,.0f} events each, on average")
    same, right = 100 * found.agreement, 100 * found.score(truth)
    print(f"{same:.0f} % are what the numbers say without spikes, and {right:.0f} % are right")
    curve = decisions.accuracy_by_events(
        model, new, truth, events=100_000, start="stationary", random_state=0, progress=False
    )
    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    plots.accuracy_by_events(curve, ax=figure.add_subplot())
    figure.savefig(figure_path)
    print(f"accuracy against events: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
