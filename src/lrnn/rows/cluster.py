"""Rows on a Dask cluster: work goes to where they are, and only its results travel."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lrnn.arrays import HOST, Array, Backend, host_dtype
from lrnn.rows.levels import ScaledRows
from lrnn.rows.values import FLOATS, LEVELS, check_values

FAN_IN = 4  # results that are combined at a time
REMEDY = "give the workers more memory, or make blocks of fewer rows, X.rechunk({0: 1_000})"


class DaskRows:
    """A Dask array (or dataframe) whose blocks hold whole rows."""

    backend = HOST

    def __init__(self, array: Any, user: str, frame: Any = None) -> None:
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        narrow = array.dtype in LEVELS or array.dtype == np.float32
        self.dtype = np.dtype(np.float32 if narrow else np.float64)
        self._array, self._frame, self._user = array, frame, user

    def identity(self) -> str:
        """What Dask calls these blocks."""
        return str(self._array.name)

    def blocks(self) -> Iterator[Array]:
        """Blocks of rows in [0, 1], brought here one after the other."""
        first = 0
        for part in self._array.blocks:
            block = checked(part.compute(), self.dtype, self._user, first)[:]
            first += block.shape[0]
            yield block

    def fold(
        self,
        folded: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        begin: Any,
        skip: int,
        heard: Callable[[int, Any], None],
    ) -> Any:
        """See `lrnn.rows.fold_rows`: each block on a worker, results combined in a tree."""
        from dask import compute, delayed

        work = partial(_work_on, folded, begin, self.dtype, self._user)
        shared = delayed(work, pure=False, traverse=False)  # with its weights, once for each worker
        run = delayed(_called, pure=False)
        first = np.cumsum([0, *self._array.chunks[0][:-1]])
        blocks = self._array.to_delayed().ravel()
        parts = [run(shared, b, int(row)) for b, row in zip(blocks, first, strict=True)]
        join = delayed(partial(_combined, combine), pure=False)
        while len(parts) > 1:
            parts = [join(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        self._check_memory(begin)
        with explained(self._needed(begin)):
            (total,) = compute(parts[0])
        heard(self.shape[0], total)
        return total

    def _needed(self, begin: Any) -> int:
        """Bytes that a worker needs for a block, as it is and as floats, and for a result."""
        rows, width = max(self._array.chunks[0]), self.shape[1]
        held = rows * width * (self._array.dtype.itemsize + self.dtype.itemsize)
        total = begin() if callable(begin) else begin  # zeros take no memory until they are used
        return int(held + 2 * getattr(total, "nbytes", 0))

    def _check_memory(self, begin: Any) -> None:
        """Complain of blocks that no worker could hold, before they try."""
        limits = worker_memory()
        needed = self._needed(begin)
        if limits and needed > max(limits.values()):
            worker, limit = max(limits.items(), key=lambda pair: pair[1])
            raise MemoryError(
                f"a block of {max(self._array.chunks[0])} rows needs {needed:,} bytes on a worker, "
                f"and none has more than {limit:,} ({worker}); {REMEDY}"
            )

    def transmit(self, work: Callable[[Array], Array], width: int, dtype: Any) -> Any:
        """Activations of all rows, as a Dask collection that is computed when it is needed."""
        through = partial(_transmitted, work, self.dtype, self._user)
        kind = host_dtype(dtype)
        if self._frame is not None:
            meta = dict.fromkeys(_code_names(width), kind)
            return self._frame.map_partitions(partial(_as_frame, through), meta=meta)
        chunks = (self._array.chunks[0], (width,))
        empty = np.empty((0, width), dtype=kind)
        return self._array.map_blocks(through, chunks=chunks, dtype=kind, meta=empty)


def worker_memory() -> dict[str, int]:
    """Bytes that each worker of the current client may use; nothing is known without a client."""
    try:
        from distributed import default_client

        workers = default_client().scheduler_info(n_workers=-1)["workers"]
    except (ImportError, ValueError, TypeError):
        return {}
    return {name: int(w["memory_limit"]) for name, w in workers.items() if w["memory_limit"]}


@contextmanager
def explained(needed: int = 0) -> Iterator[None]:
    """Say what it means when a cluster fails."""
    try:
        yield
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":
            least = f" (a block needs at least {needed:,} bytes)" if needed else ""
            raise MemoryError(
                f"workers died again and again over the same work, most likely for lack of "
                f"memory{least}; {REMEDY}"
            ) from error
        lost = ("CommClosedError", "FutureCancelledError", "CancelledError", "SchedulerClosed")
        if name in lost or isinstance(error, TimeoutError | ConnectionError):
            raise ConnectionError(
                f"the Dask scheduler cannot be reached any more ({name}: {error!s:.100}); "
                "start it again, and go on from the checkpoint, if there is one"
            ) from error
        raise


def dask_rows(X: Any, user: str, device: Backend | None) -> DaskRows:
    """Rows of a Dask array or dataframe; the lengths of its blocks are computed if unknown."""
    if device is not None and not device.is_numpy:
        raise ValueError("Dask collections are worked on where they are; leave device=None")
    frame = None
    if hasattr(X, "to_dask_array"):
        frame, X = X, X.to_dask_array(lengths=True)
    elif X.ndim == 2 and any(np.isnan(n) for n in X.chunks[0]):
        X = X.compute_chunk_sizes()
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: {X!r}")
    return DaskRows(X.rechunk({1: -1}), user, frame)


def checked(block: Any, dtype: np.dtype[Any], user: str, first: int = 0) -> Any:
    """A block as rows in [0, 1]."""
    if hasattr(block, "to_numpy"):
        block = block.to_numpy()
    if getattr(block, "dtype", None) in LEVELS:
        return ScaledRows(block)
    if block.dtype not in FLOATS:
        block = block.astype(dtype)
    return check_values(block, block, user, first)


def _work_on(
    folded: Callable[..., Any],
    begin: Any,
    dtype: np.dtype[Any],
    user: str,
    block: Any,
    first: int,
) -> Any:
    return folded(checked(block, dtype, user, first), begin=begin)


def _called(work: Callable[..., Any], block: Any, first: int) -> Any:
    return work(block, first)


def _combined(combine: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    total = deepcopy(parts[0])  # it may be needed again, if a worker is lost
    for part in parts[1:]:
        total = combine(total, part)
    return total


def _transmitted(
    work: Callable[[Array], Array], dtype: np.dtype[Any], user: str, block: Any
) -> Any:
    return work(checked(block, dtype, user)[:])


def _code_names(width: int) -> list[str]:
    return [f"code{i}" for i in range(width)]


def _as_frame(through: Callable[[Any], Any], frame: Any) -> Any:
    import pandas

    codes = through(frame)
    return pandas.DataFrame(codes, index=frame.index, columns=_code_names(codes.shape[1]))


def dask_array_of(path: str | os.PathLike[str], rows_at_once: int | None = None) -> Any:
    """A file that `lrnn.tables.read.open_source` can read, as a Dask array.

    Workers read their blocks themselves, so the file must be where they can find it.
    """
    import dask.array as da
    from dask import delayed

    from lrnn.tables.read import open_source
    from lrnn.tables.sources import block_height

    path = Path(path).resolve()
    source = open_source(path)
    rows, width = source.shape
    height = rows_at_once or block_height(width, source.dtype)
    read = delayed(_read, pure=True)
    token = hashlib.sha256(source.identity().encode()).hexdigest()[:16]
    parts = [
        da.from_delayed(
            read(path, first, min(first + height, rows), dask_key_name=f"read-{token}-{first}"),
            shape=(min(first + height, rows) - first, width),
            dtype=source.dtype,
        )
        for first in range(0, rows, height)
    ]
    return da.concatenate(parts)


def _read(path: Path, first: int, last: int) -> Any:
    from lrnn.tables.read import open_source

    found: list[Any] = []
    for block in open_source(path).blocks(first, last - first):
        found.append(block[: last - first])
        first += found[-1].shape[0]
        if first >= last:
            break
    return np.concatenate(found)
