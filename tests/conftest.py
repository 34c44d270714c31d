import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn checks more with it; before SciPy

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits

settings.register_profile("lrnn", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lrnn")


@pytest.fixture(scope="session")
def digits():
    """scikit-learn's 1,797 digits of 64 pixels in [0, 1]; not to be written to."""
    data = load_digits().data / 16
    data.flags.writeable = False
    return data


@pytest.fixture
def rng():
    return np.random.default_rng(20161)
