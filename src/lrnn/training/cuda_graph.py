"""Steps that are made over and over: on a GPU recorded once, and then played back.

A step is some dozens of small kernels. Launching them one by one takes longer than they run; a
recording is launched as a whole. Data that come from the host step by step do without. CuPy cannot
record products of matrices: there, what is between them is recorded.
"""

import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from threading import Lock
from typing import Any, TypeAlias

from array_api_compat import is_cupy_namespace, is_torch_namespace

from lrnn.arrays import Backend, is_array

Step: TypeAlias = Callable[..., Any]
_one_at_a_time = Lock()  # recordings, on one stream


def as_graph(step: Step, backend: Backend, lent: int = 0) -> Step:
    """``step``, which makes arrays of arrays and numbers, as one that may be played back.

    It is made once as it is, and then recorded. Arrays that it holds, and is not given, it may
    change in place. The first few results are only ``lent``: the next step overwrites them.
    """
    if not (backend.on_gpu and is_torch_namespace(backend.xp)):
        return step
    return _played(step, partial(_record, lent=lent))


def between_products(step: Step, backend: Backend) -> Step:
    """The same for a step without products of matrices, where these cannot be recorded with it.

    Numbers become of the type of the first array.
    """
    if not (backend.on_gpu and is_cupy_namespace(backend.xp)):
        return step
    return _played(step, _record_cupy)


def _played(step: Step, record: Callable[[Step, tuple[Any, ...]], Step]) -> Step:
    recordings: dict[Any, Step | None] = {}

    def play(*given: Any) -> Any:
        shapes = tuple(tuple(getattr(one, "shape", ())) for one in given)
        if shapes not in recordings:
            recordings[shapes] = None
            return step(*given)
        found = recordings[shapes] = recordings[shapes] or record(step, given)
        return found(*given)

    return play


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage is collected meanwhile: an old recording that went now would spoil the new one."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _record(step: Step, given: tuple[Any, ...], lent: int) -> Step:
    """A recording for such arrays and numbers; it is made without doing anything.

    Where it cannot be made, as for lack of memory, the step itself takes its place.
    """
    import torch

    device = next(one.device for one in given if isinstance(one, torch.Tensor))
    own = [
        one.clone() if isinstance(one, torch.Tensor)
        else torch.ones((), dtype=torch.float64, device=device)
        for one in given
    ]  # fmt: skip
    graph = torch.cuda.CUDAGraph()
    stream = _own_stream(device)
    torch.cuda.synchronize(device)
    with _one_at_a_time, _no_collection(), torch.cuda.stream(stream):
        graph.capture_begin()
        try:
            result = step(*own)
        except Exception:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the recording is empty, or not complete
                with suppress(RuntimeError):
                    graph.capture_end()
            return step
        graph.capture_end()

    def play(*given: Any) -> Any:
        for mine, one in zip(own, given, strict=True):
            if isinstance(one, torch.Tensor):
                mine.copy_(one)
            else:
                mine.fill_(one)
        graph.replay()
        if isinstance(result, torch.Tensor):
            return result.clone()
        copies = {id(one): one.clone() for one in result[lent:]}  # what is one array stays one
        return [*result[:lent], *(copies[id(one)] for one in result[lent:])]

    return play


@cache
def _own_stream(device: Any) -> Any:
    """A stream to record on, always the same: each one's memory for products stays for good."""
    import torch

    found = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    with torch.cuda.stream(found):
        some = torch.ones((2, 2), device=device)
        some @ some  # that memory is taken now, and not from a recording's
    return found


def _record_cupy(step: Step, given: tuple[Any, ...]) -> Step:
    """A recording by CuPy. The memory that it needs stays its own."""
    import cupy

    kind = given[0].dtype
    own = [one.copy() if is_array(one) else cupy.asarray(one, dtype=kind) for one in given]
    pool, stream = cupy.cuda.MemoryPool(), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.get_current_stream().synchronize()
    with _no_collection(), cupy.cuda.using_allocator(pool.malloc), stream:
        step(*own)  # what must be allocated is allocated now
        stream.synchronize()
        stream.begin_capture()
        try:
            result = step(*own)
        finally:
            graph = stream.end_capture()

    def play(*given: Any) -> Any:
        for mine, one in zip(own, given, strict=True):
            mine[...] = one
        graph.launch(cupy.cuda.get_current_stream())
        return result.copy() if is_array(result) else [one.copy() for one in result]

    return play
