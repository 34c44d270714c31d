"""numba's CUDA compiler, as it can be used with the NumPy at hand."""

import sys
import warnings

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda asks for a name that NumPy 2.5 no longer has
    setattr(np, "row_stack", np.vstack)  # noqa: B010

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, at what numba-cuda does
    from numba import cuda as cuda

    if cuda.is_available():  # the compiler loads the rest of its parts with the first kernel

        @cuda.jit("void(int64[:])")
        def _nothing(numbers: object) -> None:
            """Does nothing."""


for _module in ("numba.core.config", "numba.cuda.core.config"):
    if _module in sys.modules:  # kernels of few blocks are meant; saying so takes time each time
        setattr(sys.modules[_module], "CUDA_LOW_OCCUPANCY_WARNINGS", 0)  # noqa: B010
