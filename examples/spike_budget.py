"""How much is an error worth in spikes?
=====================================

    python examples/spike_budget.py [FIGURE]

With inhibition a network can be far more accurate, and fires far more spikes. The frontier shows
what is to be had for how much; from it a budget picks a network, and the simulator counts what that
network really fires.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from lrnn import frontier, plots


def main(figure_path="spike_budget.png"):
    """Draw the frontier, pick a network from it, and count its spikes."""
    X = load_digits().data / 16
    seen, new = X[:1_200], X[1_200:]
    found = frontier(seen, 12, X_test=new, penalties=6, passes=40, random_state=0)
    print("spikes per unit time   error   on new digits")
    for point in found.points:
        print(f"{point.spikes:20.3g} {point.error:7.4f} {point.test_error:15.4f}   {point.name}")
    print(f"no linear map of rank 12 is below {found.svd:.4f}")
    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    plots.frontier(found, ax=figure.add_subplot())
    figure.savefig(figure_path)

    budget = 10 * found.excitatory.spikes
    model = found.within(budget).model
    network = model.to_network(least_rate=0)
    digit = seen[:1]
    result = network.simulate(
        model.arrivals(digit, network)[0], events=1_000_000, start="stationary", random_state=0
    )
    n_output = seen.shape[1]
    fired = result.firing_counts[:-n_output].sum() / result.time
    error = np.sqrt(np.mean((result.activation("arrivals") - np.asarray(result.steady)) ** 2))
    print(f"\nwithin {budget:.0f} spikes: error {model.reconstruction_err_:.4f}")
    print(f"for one digit it fires {fired:.1f} spikes per unit time, as counted")
    print(f"and its activations are those of the formula to {error:.4f} (root mean square)")
    print(f"error against spikes: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
