"""Whose arrays, and where: NumPy's, torch's, CuPy's or any other's of the array API."""

import importlib
import sys
from dataclasses import dataclass
from math import inf
from numbers import Integral
from typing import Any, Literal, TypeAlias

import array_api_compat
import numpy as np
from array_api_compat import array_namespace, is_cupy_array, is_numpy_array, is_torch_array
from numpy.typing import NDArray
from scipy import sparse

Array: TypeAlias = Any
"""An array of any namespace of the array API; a SciPy sparse array where a docstring says so."""

Layer: TypeAlias = Any
"""Weights between two layers: a matrix, or a pair of an excitatory and an inhibitory one."""

Floats: TypeAlias = NDArray[np.float64]
"""A NumPy array of float64."""

Rates: TypeAlias = Literal["free", "unit"]
"""Whether firing rates follow from the weights, or are 1 and bind the weights' row sums."""


STAGED = 1 << 24  # bytes that are sent to a GPU at a time


@dataclass(frozen=True)
class Backend:
    """A namespace of the array API, and a device of its."""

    xp: Any
    device: Any

    def array(self, host: NDArray[Any]) -> Array:
        """A NumPy array as one of these."""
        if self.is_numpy:
            return host
        large = host.ndim > 1 and host.nbytes > 2 * STAGED
        if large and self.on_gpu and array_api_compat.is_torch_namespace(self.xp):
            return _staged(host, self.device)
        writable = host if host.flags.writeable else host.copy()
        native = writable.astype(writable.dtype.newbyteorder("="), copy=False)
        return self.xp.asarray(np.ascontiguousarray(native), device=self.device)

    def send(self, array: Array) -> Array:
        """Any array as one of these; itself, if it is."""
        if is_array(array) and backend_of(array) == self:
            return array
        return self.array(to_numpy(array))

    @property
    def is_numpy(self) -> bool:
        """Whether these are NumPy's."""
        return array_api_compat.is_numpy_namespace(self.xp)

    @property
    def on_gpu(self) -> bool:
        """Whether these are in the memory of a GPU."""
        return "cuda" in str(self.device).lower()

    def out_of_memory(self, error: BaseException) -> bool:
        """Whether this error says that the device has no memory left."""
        if array_api_compat.is_torch_namespace(self.xp):
            import torch

            return isinstance(error, torch.OutOfMemoryError)
        if array_api_compat.is_cupy_namespace(self.xp):
            from cupy.cuda.memory import OutOfMemoryError
            from cupy.cuda.runtime import CUDARuntimeError

            lacks = isinstance(error, CUDARuntimeError) and "MemoryAllocation" in str(error)
            return isinstance(error, OutOfMemoryError) or lacks
        return False

    def free_memory(self) -> int | None:
        """Bytes that are free on a GPU; None if this is none."""
        if not self.on_gpu:
            return None
        if array_api_compat.is_torch_namespace(self.xp):
            import torch

            torch.cuda.empty_cache()
            return int(torch.cuda.mem_get_info(self.device)[0])
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        with self.device:
            return int(cupy.cuda.runtime.memGetInfo()[0])


HOST = Backend(array_namespace(np.empty(0)), "cpu")


def backend_of(inputs: Any) -> Backend:
    """The backend of an array; sparse arrays are NumPy's."""
    if not is_array(inputs) or is_numpy_array(inputs):
        return HOST
    return Backend(array_namespace(inputs), array_api_compat.device(inputs))


def is_array(value: Any) -> bool:
    """Whether this is an array of some namespace, and not a sparse one."""
    return not sparse.issparse(value) and bool(array_api_compat.is_array_api_obj(value))


def is_dask(data: Any) -> bool:
    """Whether data are a collection of Dask, which is loaded only by those who use it."""
    if "dask" not in sys.modules:
        return False
    from dask import is_dask_collection

    return bool(is_dask_collection(data))


def to_numpy(array: Array) -> NDArray[Any]:
    """Any array as one of NumPy's, in the memory of the host."""
    if is_numpy_array(array):
        return np.asarray(unmasked(array))
    if is_torch_array(array):
        return np.asarray(detached(array).cpu().numpy())
    if is_cupy_array(array):
        return np.asarray(array.get())
    return np.asarray(array)


def detached(array: Any, what: str = "X") -> Any:
    """A tensor of torch as its numbers alone; whatever else is returned as it is.

    Gradients are left out, and types that NumPy does not know, such as bfloat16, become float32.
    """
    if not is_torch_array(array):
        return array
    wrong = None
    if array.is_nested:
        wrong = "a nested tensor; give one of rows of equal length"
    elif str(array.layout) != "torch.strided":
        wrong = f"a tensor of the layout {array.layout}; give X.to_dense(), or SciPy's sparse array"
    elif array.is_quantized:
        wrong = "a quantised tensor; give X.dequantize()"
    elif array.is_meta:
        wrong = "a tensor of the device meta, which holds no numbers; give one that does"
    if wrong is not None:
        raise TypeError(f"{what} is {wrong}")
    if array.is_complex():
        raise ValueError(f"{what} holds complex numbers; give real ones")
    array = array.detach()
    try:
        known = host_dtype(array.dtype).isbuiltin == 1  # 2: those of ml_dtypes, if loaded
    except TypeError:
        known = False
    return array if known else array.float()


def unmasked(array: Any) -> Any:
    """A masked array of NumPy with NaN where it is masked; whatever else is returned as it is."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.ma.is_masked(array) or array.dtype.kind not in "biuf":
        return array.data
    wide = np.float64 if array.dtype.kind == "b" else np.result_type(array.dtype, np.float32)
    values = array.data.astype(wide)
    values[np.ma.getmaskarray(array)] = np.nan
    return values


def take_rows(inputs: Any, rows: Any) -> Array:
    """Rows of an array: a slice of them, or some in order."""
    if not is_array(inputs) or is_numpy_array(inputs):
        return inputs[rows]
    if isinstance(rows, slice):
        return inputs[rows, ...]
    return array_namespace(inputs).take(inputs, backend_of(inputs).send(rows), axis=0)


def copied(array: Array) -> Array:
    """A copy whose rows lie one after the other: sums over them are then accurate, and fast."""
    if is_numpy_array(array):
        return np.array(array, order="C")
    xp = array_namespace(array)
    copy = xp.empty(tuple(array.shape), dtype=array.dtype, device=backend_of(array).device)
    copy[...] = array
    return copy


def host_dtype(dtype: Any) -> np.dtype[Any]:
    """A type of numbers of any namespace as NumPy calls it."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        found = np.dtype(str(dtype).rsplit(".", 1)[-1])
    return found


def are_levels(dtype: Any) -> bool:
    """Whether numbers of this type are levels: unsigned integers of 8 or 16 bits."""
    kind = host_dtype(dtype)
    return kind.kind == "u" and kind.itemsize <= 2


def beyond_floats(value: Any) -> bool:
    """Whether this is a whole number that no float holds."""
    return isinstance(value, Integral) and abs(int(value)) > sys.float_info.max


def like(array: Array, host: NDArray[Any]) -> Array:
    """Numbers of the host as an array of the kind and type of another."""
    return backend_of(array).array(host.astype(host_dtype(array.dtype), copy=False))


def _staged(host: NDArray[Any], device: Any) -> Array:
    """Many rows as a tensor on a GPU, by way of memory that cannot be swapped out.

    While some are on their way the next are put there, which takes half of the time. No other copy
    of them is made, wherever and in whatever order their bytes lie.
    """
    import torch

    height = max(1, STAGED // (host.nbytes // len(host)))
    native = host.dtype.newbyteorder("=")
    kind = torch.from_numpy(np.empty(0, native)).dtype
    found = torch.empty(host.shape, dtype=kind, device=device)
    with torch.cuda.device(device):
        slots = [torch.empty((height, *host.shape[1:]), dtype=kind, pin_memory=True) for _ in "ab"]
        sent = [torch.cuda.Event() for _ in slots]  # type: ignore[no-untyped-call]
        for number, first in enumerate(range(0, len(host), height)):
            slot, event, part = slots[number % 2], sent[number % 2], host[first : first + height]
            event.synchronize()
            np.copyto(slot.numpy()[: len(part)], part)
            found[first : first + height].copy_(slot[: len(part)], non_blocking=True)
            event.record()
    return found


def backend_named(device: str) -> Backend:
    """The backend for data of the host that should be worked on on ``device``: "cpu" or "cuda".

    PyTorch serves a GPU, or CuPy where that is missing.
    """
    if device == "cpu":
        return HOST
    name, _, number = device.partition(":")
    if name != "cuda" or not (number.isdecimal() or device == "cuda"):
        raise ValueError(f"device={device!r} cannot be used: it must be cpu, cuda or cuda:1 …")
    index = int(number or 0)
    problem = "neither PyTorch nor CuPy is installed: pip install 'lrnn[torch]' or 'lrnn[cuda]'"
    for library in ("torch", "cupy"):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        count = _count(module) if module.cuda.is_available() else 0
        if index < count:
            if library == "torch":
                return backend_of(module.empty(0, device=f"cuda:{index}"))
            with module.cuda.Device(index):
                return backend_of(module.empty(0))
        there = f"only {count} CUDA devices" if count else "no CUDA device"
        problem = f"{library} finds {there}"
    raise ValueError(f"device={device!r} cannot be used: {problem}")


def _count(module: Any) -> int:
    counted = getattr(module.cuda, "device_count", None)
    return int(counted() if counted else module.cuda.runtime.getDeviceCount())


def at_least(array: Array, low: float) -> Array:
    """``max(array, low)``, element by element, by the cheapest function that a library has."""
    xp = array_namespace(array)
    if is_numpy_array(array) and array.dtype.kind == "f":
        return array.clip(low, inf)  # three times as fast as maximum
    if is_numpy_array(array) or is_cupy_array(array):
        return xp.maximum(array, low)
    return xp.clip(array, min=low)


def at_most(array: Array, high: float) -> Array:
    """``min(array, high)``, element by element, by the cheapest function that a library has."""
    xp = array_namespace(array)
    if is_numpy_array(array) and array.dtype.kind == "f":
        return array.clip(-inf, high)  # three times as fast as minimum
    if is_numpy_array(array) or is_cupy_array(array):
        return xp.minimum(array, high)
    return xp.clip(array, max=high)
