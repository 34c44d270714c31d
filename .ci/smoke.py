"""A small use of an installed lrnn, from anywhere; with the name of an extra, what that is for."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Moment

X = np.random.default_rng(0).random((60, 6))
PLACE = Path(tempfile.mkdtemp())


def base():
    """Train, save, load, simulate."""
    model = LRNNAutoencoder(3, max_iter=20, tol=0, random_state=0).fit(X)
    model.save(PLACE / "model.safetensors")
    again = lrnn.load(PLACE / "model.safetensors")
    assert np.array_equal(again.transform(X), model.transform(X))
    assert again.audit().valid
    network = again.to_network()
    result = network.simulate(again.arrivals(X)[0], events=2_000_000, random_state=0)
    assert (
        np.abs(result.activation("arrivals") - network.steady_state(again.arrivals(X)[0])).max()
        < 0.05
    )
    assert Moment.of(X).n_rows == 60
    classifier = LRNNClassifier(4, max_iter=20, random_state=0).fit(X, X[:, 0] > 0.5)
    assert classifier.score(X, X[:, 0] > 0.5) > 0.6


def dask():
    import dask.array

    assert LRNNAutoencoder(2, max_iter=5, tol=0).fit(dask.array.from_array(X, 20)).n_iter_ == 5


def files():
    import h5py

    with h5py.File(PLACE / "x.h5", "w") as file:
        file["data"] = X
    LRNNAutoencoder(2, max_iter=5, tol=0).fit(str(PLACE / "x.h5"))
    import zarr  # noqa: F401


def neo():
    network = lrnn.RandomNeuralNetwork([1.0], [[0.0]])
    assert network.simulate([0.5], events=1000, record=[0], random_state=0).raster.to_neo().segments


def torch():
    import torch

    model = LRNNAutoencoder(2, max_iter=5, tol=0).fit(torch.from_numpy(X))
    assert model.to_torch()(torch.from_numpy(X)).shape[0] == 60


def onnx():
    import onnxruntime

    model = LRNNAutoencoder(2, max_iter=5, tol=0).fit(X)
    lrnn.export.to_onnx(model, PLACE / "m.onnx")
    onnxruntime.InferenceSession(PLACE / "m.onnx", providers=["CPUExecutionProvider"])


def browser():
    import playwright.sync_api  # noqa: F401


def docs():
    import sphinx  # noqa: F401


def test():
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401


if __name__ == "__main__":
    assert "site-packages" in lrnn.__file__, lrnn.__file__
    wanted = sys.argv[1:] or ["base"]
    for name in wanted:
        globals()[name]()
    print(f"lrnn {lrnn.__version__}, Python {sys.version.split()[0]}: {' '.join(wanted)} works")
