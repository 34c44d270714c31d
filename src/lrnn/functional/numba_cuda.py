"""numba's CUDA compiler, and all that lrnn knows of its insides.

Tried with numba 0.68, numba-cuda and NumPy 2.5 on a GPU, and with NumPy 2.4 in numba's simulator of
one (NUMBA_ENABLE_CUDASIM=1). NumPy, the warnings and numba's settings are left as they were.
"""

import sys
import warnings
from typing import Any

import numpy as np

PLAIN_SHARED_MEMORY = 48 << 10  # bytes of a block that need not be asked for


def _load() -> Any:
    """``numba.cuda`` with all its parts, some of which it only loads with the first kernel.

    One of them asks NumPy for ``row_stack``, a name of ``vstack`` that NumPy 2.5 no longer has.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, at what numba-cuda does
        missing = not hasattr(np, "row_stack")
        if missing:
            setattr(np, "row_stack", np.vstack)  # noqa: B010
        try:
            from numba import cuda

            if cuda.is_available():
                cuda.jit("void(int64[:])")(_nothing)
        finally:
            if missing:
                delattr(np, "row_stack")
    return cuda


def _nothing(numbers: Any) -> None:
    """Does nothing."""


cuda = _load()
_LOW_OCCUPANCY = "CUDA_LOW_OCCUPANCY_WARNINGS"
_CONFIGS = [  # numba's, and numba-cuda's own where it has one
    sys.modules[name]
    for name in ("numba.core.config", "numba.cuda.core.config")
    if hasattr(sys.modules.get(name), _LOW_OCCUPANCY)
]


def configured(kernel: Any, *shape: Any) -> Any:
    """``kernel[shape]``, without a warning that few blocks keep no GPU busy.

    They are meant, and to say so takes time at every launch.
    """
    before = [getattr(config, _LOW_OCCUPANCY) for config in _CONFIGS]
    try:
        for config in _CONFIGS:
            setattr(config, _LOW_OCCUPANCY, 0)
        return kernel[shape]
    finally:
        for config, value in zip(_CONFIGS, before, strict=True):
            setattr(config, _LOW_OCCUPANCY, value)


def kernel_of(registers: int) -> Any:
    """``cuda.jit`` for a kernel whose threads have so many registers at most."""
    if sys.modules[cuda.jit.__module__].__name__.startswith("numba.cuda.simulator"):
        return cuda.jit
    return cuda.jit(max_registers=registers)


def shared_memory() -> int:
    """Bytes of shared memory that a block can have, with asking."""
    try:  # whether this numba is known to let us ask for more: it has no public way to
        from numba.cuda.cudadrv.driver import binding, driver
    except (ImportError, AttributeError):
        return PLAIN_SHARED_MEMORY
    if not (hasattr(driver, "cuKernelSetAttribute") and hasattr(binding, "CUfunction_attribute")):
        return PLAIN_SHARED_MEMORY
    device = cuda.current_context().device
    return int(getattr(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", PLAIN_SHARED_MEMORY))


def allow_shared_memory(kernel: Any, arguments: tuple[Any, ...], size: int) -> None:
    """Ask for more shared memory than a block has as a rule."""
    from numba import typeof
    from numba.cuda.cudadrv.driver import binding, driver

    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    kernel.compile(tuple(getattr(a, "_numba_type_", None) or typeof(a) for a in arguments))
    for overload in kernel.overloads.values():
        loaded = overload._codelibrary.get_cufunc()
        driver.cuKernelSetAttribute(attribute, size, loaded.handle, loaded.device.id)


def multiprocessors() -> int:
    """How many the device has: so many blocks work at once, and can wait for each other."""
    return int(getattr(cuda.current_context().device, "MULTIPROCESSOR_COUNT", 1))
