"""Kernels for GPUs where there is none: in numba's simulator of one.

It is chosen when numba is imported, so that it takes a process of its own: one for all kernels.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

KERNELS = [
    "tests/functional/test_cuda_adam.py::test_the_kernel_does_what_arrays_do",
    "tests/functional/test_cuda_descent.py::test_the_kernel_does_what_the_definition_says",
    "tests/functional/test_cuda_pivots.py::test_the_kernel_finds_the_anchors_of_the_host",
    "tests/spiking/test_cuda.py",
    "tests/spiking/test_neurons_cuda.py",
]


@pytest.mark.skipif(bool(config.ENABLE_CUDASIM), reason="starts the simulator, and this is it")
def test_kernels_in_the_simulator():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", *KERNELS],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert done.returncode == 0, done.stdout[-5_000:]
    assert "skipped" not in done.stdout
