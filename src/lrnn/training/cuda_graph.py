"""Steps that are made over and over: on a GPU recorded once, and then played back.

A step is a hundred small kernels. Launching them one by one takes longer than they run; a recording
is launched as a whole. CuPy's arrays and data that come from the host step by step do without.
"""

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from array_api_compat import is_torch_namespace

from lrnn.arrays import Array, Backend

Step: TypeAlias = Callable[..., Array]
PLAIN = 3  # steps that are made as they are, before they are recorded


def as_graph(step: Step, backend: Backend) -> Step:
    """``step(rows, *numbers)``, which changes its state in place, as one that may be played back.

    ``rows`` are the numbers of the rows that it works on; it returns an array.
    """
    if not is_torch_namespace(backend.xp):
        return step
    made: Counter[int] = Counter()
    recordings: dict[int, Step] = {}

    def play(rows: Array, *numbers: float) -> Array:
        size = int(rows.shape[0])
        made[size] += 1
        if made[size] <= PLAIN:
            return step(rows, *numbers)
        if size not in recordings:
            recordings[size] = _record(step, rows, len(numbers))
        return recordings[size](rows, *numbers)

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


def _record(step: Step, rows: Array, count: int) -> Step:
    """A recording for so many rows; it is made without doing anything."""
    import torch

    its_rows = rows.clone()
    its_numbers = torch.ones(count, dtype=torch.float64, device=rows.device).unbind()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize(rows.device)
    with _no_collection(), torch.cuda.graph(graph):
        result = step(its_rows, *its_numbers)

    def play(rows: Array, *numbers: float) -> Array:
        its_rows.copy_(rows)
        for its_number, number in zip(its_numbers, numbers, strict=True):
            its_number.fill_(number)
        graph.replay()
        return result.clone()

    return play
