"""Two groups of neurons that compete, solved exactly and simulated
================================================================

    python examples/steady_state_and_simulation.py [FIGURE]

In Gelenbe's random neural network neurons exchange single spikes. One that is excited fires at its
rate, and each spike goes on as an excitatory or an inhibitory one, or is lost. Here three neurons
excite each other and inhibit three others, which do the same to them. Both groups have some input,
the first a little more, and so it holds the second down. How much each neuron is excited
follows from a system of nonlinear equations with one solution, which `steady_state` finds; a
simulation takes a million events to find the same numbers, and says how sure it is of them.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from lrnn import RandomNeuralNetwork, plots


def competition(members=3, support=0.4, inhibition=0.5):
    """Two groups: of a neuron's spikes so many go to its own group, and so many to the other."""
    own = np.kron(np.eye(2), np.ones((members, members)) - np.eye(members))
    other = np.kron(1 - np.eye(2), np.ones((members, members)))
    return RandomNeuralNetwork(
        rates=np.linspace(1, 2, 2 * members),
        excitatory=support * own / (members - 1),
        inhibitory=inhibition * other / members,
    )


def main(figure_path="steady_state_and_simulation.png"):
    """Solve, simulate, and compare."""
    network = competition()
    arrivals = np.array([0.8, 0.8, 0.8, 0.7, 0.7, 0.7])
    print(network)

    q = network.steady_state(arrivals)
    alone = network.steady_state(arrivals * (np.arange(6) >= 3))
    print("second group, alone:          ", np.asarray(alone)[3:].round(3))
    print("second group, held down:      ", np.asarray(q)[3:].round(3))
    print("mean potentials of all:       ", q.mean_potential.round(3))

    result = network.simulate(arrivals, events=1_000_000, random_state=0)
    low, high = result.confidence_interval(0.95, "arrivals")
    print(f"simulated {result.events:,} events, {result.time:,.0f} units of time")
    for i, found in enumerate(result.activation("arrivals")):
        print(f"    neuron {i}: {q[i]:.4f}, simulated {found:.4f} in [{low[i]:.4f}, {high[i]:.4f}]")
    inside = np.sum((low <= q) & (q <= high))
    print(f"{inside} of {len(q)} intervals of 95 % contain the exact value")

    # what theory promises: q solves the equations, and potentials are geometric
    assert network.residual(q, arrivals).max() < 1e-10
    np.testing.assert_allclose(q.mean_potential, q / (1 - q))

    figure = Figure(figsize=(7.5, 3), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    plots.convergence(result, ax=left)
    for events, colour, shift in ((10_000, "0.6", -0.1), (100_000, "black", 0.1)):
        low, high = result.at(events).confidence_interval(0.95, "arrivals")
        right.vlines(np.arange(6) + shift, low, high, colour, label=f"95 %, {events:,} events")
    right.plot(np.arange(6), q, "_", markersize=16, label="steady state")
    right.set_xlabel("neuron", fontsize=8)
    right.set_ylabel("probability of being excited", fontsize=8)
    right.tick_params(labelsize=7)
    right.spines[["top", "right"]].set_visible(False)
    right.legend(fontsize=7, frameon=False)
    figure.savefig(figure_path)
    print(f"figure: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
