"""Nonnegative autoencoders that are also exact spiking networks.

The public names are loaded when they are first used: ``import lrnn`` itself is instant.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

__version__ = "0.2.0.dev0"

__all__ = [
    "LRNNAutoencoder",
    "LRNNClassifier",
    "LRNNOutlierDetector",
    "Moment",
    "RandomNeuralNetwork",
    "Scaling",
    "bounds",
    "checkpoints",
    "datasets",
    "decisions",
    "export",
    "factorize",
    "frontier",
    "functional",
    "load",
    "load_moment",
    "plots",
    "score_entries",
    "streaming",
    "widths",
]

if _TYPE_CHECKING:
    from lrnn import datasets as datasets
    from lrnn import functional as functional
    from lrnn import plots as plots
    from lrnn.analysis import bounds as bounds
    from lrnn.analysis import decisions as decisions
    from lrnn.analysis.factorization import factorize as factorize
    from lrnn.analysis.frontiers import frontier as frontier
    from lrnn.analysis.widths import score_entries as score_entries
    from lrnn.analysis.widths import widths as widths
    from lrnn.estimators.autoencoder import LRNNAutoencoder as LRNNAutoencoder
    from lrnn.estimators.classifier import LRNNClassifier as LRNNClassifier
    from lrnn.estimators.detector import LRNNOutlierDetector as LRNNOutlierDetector
    from lrnn.moments import Moment as Moment
    from lrnn.network import RandomNeuralNetwork as RandomNeuralNetwork
    from lrnn.storage import checkpoints as checkpoints
    from lrnn.storage import export as export
    from lrnn.storage import streaming as streaming
    from lrnn.storage.model_files import load as load
    from lrnn.storage.moment_files import load_moment as load_moment
    from lrnn.tables.scaling import Scaling as Scaling

_NAMES = {
    "LRNNAutoencoder": "lrnn.estimators.autoencoder",
    "LRNNClassifier": "lrnn.estimators.classifier",
    "LRNNOutlierDetector": "lrnn.estimators.detector",
    "Moment": "lrnn.moments",
    "RandomNeuralNetwork": "lrnn.network",
    "Scaling": "lrnn.tables.scaling",
    "factorize": "lrnn.analysis.factorization",
    "frontier": "lrnn.analysis.frontiers",
    "load": "lrnn.storage.model_files",
    "load_moment": "lrnn.storage.moment_files",
    "score_entries": "lrnn.analysis.widths",
    "widths": "lrnn.analysis.widths",
}
_MODULES = {
    "bounds": "lrnn.analysis.bounds",
    "checkpoints": "lrnn.storage.checkpoints",
    "datasets": "lrnn.datasets",
    "decisions": "lrnn.analysis.decisions",
    "export": "lrnn.storage.export",
    "functional": "lrnn.functional",
    "plots": "lrnn.plots",
    "streaming": "lrnn.storage.streaming",
}


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(_import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'lrnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
