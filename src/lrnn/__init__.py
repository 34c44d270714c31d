"""Nonnegative autoencoders that are also exact spiking networks."""

from lrnn.network import RandomNeuralNetwork

__version__ = "0.1.0.dev0"

__all__ = ["RandomNeuralNetwork", "__version__"]
