"""A recurrent network learns to tell flowers and wines
====================================================

    python examples/recurrent_learning.py [FIGURE]

Attributes of a flower or a wine arrive as spikes at the first neurons; the last ones, one for each
class, are to be excited with probability 0.9 for their own class and 0.1 for others. All neurons
excite and inhibit each other and themselves, so that the activations are the solution of nonlinear
equations. `network.gradient` differentiates it, and any optimiser can use that: here L-BFGS. What
is learnt are logarithms of firing rates and logits of routes. The way out of the network is one of
these, so rows of probabilities never sum to more than 1: it is a valid network at every step.
"""

import sys
import time

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from lrnn import RandomNeuralNetwork

HIDDEN = 6
DECAY = 0.01  # price of the mean square of what is learnt


def network_of(learnt, n):
    """A network of n neurons from n logarithms of rates and n × (2 n + 1) logits."""
    routes = softmax(learnt[n:].reshape(n, 2 * n + 1), axis=1)
    return RandomNeuralNetwork(np.exp(learnt[:n]), routes[:, :n], routes[:, n:-1])


def arrivals(X, n):
    """Attributes in [0, 1] as spikes per unit time at the first neurons."""
    return np.pad(X, ((0, 0), (0, n - X.shape[1])))


def loss(learnt, n, X, targets):
    """Mean squared error of the last neurons, and its gradient by all that is learnt."""
    network, spikes = network_of(learnt, n), arrivals(X, n)
    q = network.steady_state(spikes)
    error = q[:, -targets.shape[1] :] - targets
    of = np.pad(2 * error / len(X), ((0, 0), (n - targets.shape[1], 0)))
    by = network.gradient(spikes, of=of, q=q)
    routes = np.hstack([network.excitatory, network.inhibitory, network.departures[:, None]])
    by_routes = np.hstack([by.excitatory, by.inhibitory, np.zeros((n, 1))])
    by_logits = routes * (by_routes - (routes * by_routes).sum(axis=1, keepdims=True))
    by_learnt = np.concatenate([network.rates * by.rates, by_logits.ravel()])
    value = (error**2).sum() / len(X) + DECAY * np.mean(learnt**2)
    return value, by_learnt + 2 * DECAY * learnt / len(learnt)


def train(X, y, steps):
    """A network that knows the classes of the rows of X."""
    targets = 0.1 + 0.8 * np.eye(y.max() + 1)[y]
    n = X.shape[1] + HIDDEN + targets.shape[1]
    start = np.random.default_rng(0).normal(scale=0.1, size=n + n * (2 * n + 1))
    start[:n] = 0  # all rates are 1
    bounds = [(-8, 8)] * len(start)
    options = {"maxiter": steps}
    found = minimize(loss, start, (n, X, targets), "L-BFGS-B", True, bounds=bounds, options=options)
    return network_of(found.x, n)


def main(figure_path="recurrent_learning.png", folds=5, steps=100):
    """Cross-validate on both data sets, and draw what the networks say of rows they never saw."""
    figure = Figure(figsize=(7.5, 2.8), layout="constrained", dpi=150)
    for axes, load in zip(figure.subplots(1, 2), (load_iris, load_wine), strict=True):
        X, y = load(return_X_y=True)
        name, classes = load.__name__.removeprefix("load_"), y.max() + 1
        outputs, seconds = np.empty((len(y), classes)), []
        parts = StratifiedKFold(int(folds), shuffle=True, random_state=0).split(X, y)
        for seen, new in parts:
            begin = time.perf_counter()
            scaler = MinMaxScaler(clip=True).fit(X[seen])
            network = train(scaler.transform(X[seen]), y[seen], int(steps))
            seconds.append(time.perf_counter() - begin)
            q = network.steady_state(arrivals(scaler.transform(X[new]), network.n_neurons))
            outputs[new] = q[:, -classes:]
        accuracy = np.mean(outputs.argmax(axis=1) == y)
        print(f"{name}: {network}")
        print(f"    accuracy on new rows {accuracy:.3f}, {np.mean(seconds):.2f} seconds to train")
        print(f"    of a neuron's spikes {network.departures.min():.2g} or more leave the network")
        axes.plot(outputs, ".", markersize=2, label=[f"of class {c}" for c in range(classes)])
        axes.set_title(f"{name}: {accuracy:.3f} right", fontsize=9)
        axes.set_xlabel("row, in the order of classes", fontsize=8)
        axes.set_ylabel("probability to be excited", fontsize=8)
        axes.tick_params(labelsize=7)
    axes.legend(fontsize=6, title="neuron", title_fontsize=6)
    figure.savefig(figure_path)
    print(f"figure: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
