"""MNIST for the benchmarks."""

import os
import sys
from pathlib import Path

import numpy as np

from lrnn.datasets import read_idx


def load_mnist(part: str = "train", dtype: type = np.float64) -> np.ndarray:
    """Images of MNIST ("train" or "t10k") as rows in [0, 1], from the folder LRNN_DATA_DIR."""
    folder = os.environ.get("LRNN_DATA_DIR")
    if not folder:
        sys.exit("set LRNN_DATA_DIR to the folder that holds mnist/train-images-idx3-ubyte.gz")
    images = read_idx(Path(folder) / "mnist" / f"{part}-images-idx3-ubyte.gz")
    return images.reshape(len(images), -1) / dtype(255)
