"""What lrnn's use of CUDA leaves behind: nothing."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys, warnings
import numpy as np
from numba import cuda
from numba.core import config
from lrnn import RandomNeuralNetwork

seen, is_available = [], cuda.is_available
cuda.is_available = lambda: seen.append(hasattr(np, "row_stack")) or is_available()

def state():
    settings = {name: value for name, value in vars(config).items() if name.isupper()}
    return dict(vars(np)), settings, list(warnings.filters)

network = RandomNeuralNetwork([1.0], [[0.0]])
expected = network.simulate([0.5], events=50, random_state=0)
if sys.argv[1] == "2.5":
    vars(np).pop("row_stack", None)
    assert not hasattr(np, "row_stack")
before = state()
found = network.simulate([0.5], events=50, random_state=0, device="cuda", engine="clock")
from lrnn.functional.cuda_descent import kernel_for
from lrnn.functional.numba_cuda import configured
arrays = np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1))
configured(kernel_for("float64", 1), 1, 32)(*arrays, 1, 9.0)
assert all(was == now for was, now in zip(before, state()))

assert config.CUDA_LOW_OCCUPANCY_WARNINGS == 1
assert seen[0]  # while numba's parts were loaded, the name was there
assert (found.firing_counts == expected.firing_counts).all() and arrays[3][0, 0] == 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("numpy", ["as it is", "2.5"])
def test_numpy_and_numba_are_as_before(numpy):
    """Also if there is no ``np.row_stack``, as in NumPy 2.5.

    In a process of its own, since numba's simulator is chosen when numba is imported.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CODE, numpy],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert done.returncode == 0, done.stderr[-5_000:]
