"""A spiking network for handwritten digits, from training to single spikes
========================================================================

    python examples/spiking_digits.py [FIGURE]

An autoencoder is trained on images and audited: is it a valid random neural network? Then one image
is shown to that network, as spikes that arrive at its input neurons at random, each neuron the
more often the darker its pixel. Nothing is left of the numbers that trained it but firing rates and
the probabilities by which spikes are routed; and yet, how often its neurons are excited gives back
the code, and at the other end the image.

Uses scikit-learn's digits; MNIST, if LRNN_DATA_DIR is a folder that has it.
"""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from lrnn import LRNNAutoencoder, plots
from lrnn.datasets import read_idx

EVENTS = 1_000_000


def load():
    """Images as rows in [0, 1], their shape, and how many code neurons to give them."""
    mnist = Path(os.environ.get("LRNN_DATA_DIR", ""), "mnist", "train-images-idx3-ubyte.gz")
    if mnist.exists():
        images = read_idx(mnist)
        return images.reshape(len(images), -1), images.shape[1:], 100
    return load_digits().data / 16, (8, 8), 16


def main(figure_path="spiking_digits.png"):
    """Train, audit, simulate, and draw the layers and (in a file beside it) a raster."""
    X, shape, hidden = load()
    model = LRNNAutoencoder((hidden,), random_state=0).fit(X)
    print(f"{len(X):,} images of {shape[0]}×{shape[1]} pixels, {hidden} code neurons:")
    print(f"mean squared error {model.reconstruction_err_:.4f}, and an audit of the network:\n")
    audit = model.audit()
    print(audit, "\n")

    network = model.to_network()
    arrivals = model.arrivals(X[:1])[0]
    numeric = network.split(network.steady_state(arrivals))
    forward = model.reconstruct(X[:1])[0]
    gap = abs(numeric[-1] - forward).max()
    print(f"the network's steady state differs from the forward pass by {gap:.0e}")

    result = network.simulate(arrivals, events=EVENTS, random_state=0)
    print(f"simulated {result.events:,} events: {result.time:,.0f} units of time")
    for estimator in ("potential", "arrivals"):
        errors = result.compare(estimator=estimator).errors[-1]
        listed = zip(result.layer_names, errors, strict=True)
        print(f"    RMSE by {estimator}:", ", ".join(f"{name} {e:.4f}" for name, e in listed))

    # what theory promises: probabilities sum to 1 at most, and the network computes the same
    assert audit.valid
    assert gap < 1e-5

    figure_path = Path(figure_path)
    plots.simulated_layers(result, shape=shape).savefig(figure_path)

    busiest = [np.sort(np.argsort(-layer)[:12]) for layer in numeric]
    starts = np.cumsum([0, *network.layer_sizes[:-1]])
    record = np.concatenate([s + neurons for s, neurons in zip(starts, busiest, strict=True)])
    short = network.simulate(arrivals, time=20, start="stationary", record=record, random_state=0)
    ax = plots.raster(short)
    ax.set_title("the 12 busiest neurons of each layer", fontsize=9, loc="left")
    raster_path = figure_path.with_stem(f"{figure_path.stem}_raster")
    ax.figure.savefig(raster_path)
    print(f"figures: {figure_path}, {raster_path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
