"""Nonnegative autoencoders that are also exact spiking networks.

The public names are loaded when they are first used: ``import lrnn`` itself is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

__all__ = [
    "LRNNAutoencoder",
    "RandomNeuralNetwork",
    "bounds",
    "checkpoints",
    "datasets",
    "export",
    "frontier",
    "functional",
    "load",
    "plots",
    "streaming",
]

_HOMES = {
    "LRNNAutoencoder": "lrnn.autoencoder",
    "RandomNeuralNetwork": "lrnn.network",
    "frontier": "lrnn.trade_off",
    "load": "lrnn.files",
}
_MODULES = ("bounds", "checkpoints", "datasets", "export", "functional", "plots", "streaming")

if TYPE_CHECKING:
    from lrnn import bounds as bounds
    from lrnn import checkpoints as checkpoints
    from lrnn import datasets as datasets
    from lrnn import export as export
    from lrnn import functional as functional
    from lrnn import plots as plots
    from lrnn import streaming as streaming
    from lrnn.autoencoder import LRNNAutoencoder as LRNNAutoencoder
    from lrnn.files import load as load
    from lrnn.network import RandomNeuralNetwork as RandomNeuralNetwork
    from lrnn.trade_off import frontier as frontier


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"lrnn.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'lrnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
