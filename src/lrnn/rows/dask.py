"""Rows on a Dask cluster: work goes to where they are, and only its results travel."""

import hashlib
import os
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from scipy import sparse

from lrnn.arrays import HOST, Array, Backend, Floats, host_dtype, unmasked
from lrnn.rows.base import Pass, Rows, Work, total_of
from lrnn.rows.checks import FLOATS, check_alike, check_values, narrow, summed, white_of
from lrnn.rows.content import digest
from lrnn.rows.memory import HostRows
from lrnn.tables.read import open_source
from lrnn.tables.sources import block_height, read_ahead
from lrnn.tables.types import matrix_of, type_of_columns, types_of

FAN_IN = 4  # results that are combined at a time
EACH = 4  # tasks, at least, that a worker gets where there are enough blocks
AHEAD = 3  # blocks of results for each worker that are computed before they are asked for
REMEDY = "give the workers more memory, or make blocks of fewer rows, X.rechunk({0: 1_000})"


class DaskRows(Rows):
    """A Dask array (or dataframe) whose blocks hold whole rows."""

    backend = HOST
    resident = in_any_order = False
    on_workers = True

    def __init__(
        self, array: Any, user: str, frame: Any = None, before: float | None = None
    ) -> None:
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = narrow(array.dtype)
        self._array, self._frame, self._user = array, frame, user
        self._bounds = tuple(np.cumsum([0, *array.chunks[0]]).tolist())
        named = frame is not None and all(isinstance(name, str) for name in frame.columns)
        self.columns = tuple(frame.columns) if named else None
        highest = (part.max().compute() for part in array.blocks)
        self.white = white_of(array.dtype, lambda: highest, before)
        self._sums: list[str | None] = []
        self._check = partial(checked, array.dtype, self._user, self.white, self.columns)

    @property
    def sparse(self) -> bool:
        """Whether blocks are said to be sparse matrices."""
        return bool(sparse.issparse(self._array._meta))

    def remember(self) -> None:
        """Sum up what blocks hold where they are."""
        self._sums = self._sums or [None] * len(self._array.chunks[0])

    def identity(self, count: int | None = None) -> str:
        """A sum over what the blocks hold, each by itself; those that are not known are computed.

        Rows are counted in whole blocks.
        """
        from dask import compute, delayed

        self.remember()
        wanted = bisect_left(self._bounds, self.shape[0] if count is None else count)
        blocks = self._array.to_delayed().ravel()
        unknown = [i for i in range(wanted) if self._sums[i] is None]
        with explained():
            found = compute(*(delayed(digest, pure=False)(blocks[i]) for i in unknown))
        for i, known in zip(unknown, found, strict=True):
            self._sums[i] = known
        text = f"{self.shape} {self.white} {self._sums[:wanted]}"
        return hashlib.sha256(text.encode()).hexdigest()

    def take(self, rows: Any) -> Array:
        """Rows by their numbers cannot be had."""
        raise NotImplementedError("a Dask collection gives its rows from the first to the last")

    @property
    def parts(self) -> Sequence[int]:
        """Where its partitions begin."""
        return self._bounds

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """Blocks of rows in [0, 1], brought here one after the other.

        While one is worked on here, the next one is computed on its worker.
        """
        last = self.shape[0] if last is None else last
        for begin, values in read_ahead(self._brought(first, last)):
            block = self._check(values, begin).take(slice(None))
            yield block[max(0, first - begin) : last - begin]

    def _brought(self, first: int, last: int) -> Iterator[tuple[int, Any]]:
        i = bisect_right(self._bounds, first) - 1
        while i < len(self._bounds) - 1 and self._bounds[i] < last:
            with explained():
                values = self._array.blocks[i].compute()
            if self._sums and self._sums[i] is None:
                self._sums[i] = digest(values)
            yield self._bounds[i], values
            i += 1

    def make(self, one: Pass) -> Any:
        """Make a pass: blocks on workers, results combined in a tree.

        Blocks that are smaller than a result are worked on some at a time, for results have to
        travel. It is all or nothing: no rows can be skipped.
        """
        from dask import compute, delayed

        summing = None in self._sums
        weights, bounds = one.weights, self._bounds
        of_block = partial(_work_on, self._check, replace(one, reached=None, weights=None), summing)
        shared = delayed(of_block, pure=False, traverse=False)  # with its weights, once a worker
        run = delayed(_called, pure=False)
        blocks = self._array.to_delayed().ravel()
        own = [None if weights is None else weights[i:j] for i, j in pairwise(bounds)]
        combine = partial(_both, one.combine) if summing else one.combine
        given = list(zip(blocks, bounds[:-1], own, strict=True))
        with explained():
            limits = worker_memory()
        together = self._together(one.begin, limits)
        parts = [
            run(shared, combine, *map(list, zip(*given[i : i + together], strict=True)))
            for i in range(0, len(given), together)
        ]
        join = delayed(partial(_combined, combine), pure=False)
        while len(parts) > 1:
            parts = [join(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        self._check_memory(one.begin, limits)
        with explained(self._needed(one.begin)):
            (total,) = compute(parts[0])
        if summing:
            total, self._sums = total
        if one.reached is not None:
            one.reached(self.shape[0], total)
        return total

    def _needed(self, begin: Any) -> int:
        """Bytes that a worker needs for a block, as it is and as floats, and for a result."""
        rows, width = max(self._array.chunks[0]), self.shape[1]
        held = rows * width * (self._array.dtype.itemsize + self.dtype.itemsize)
        return int(held + 2 * _bytes(begin))

    def _together(self, begin: Any, limits: dict[str, int]) -> int:
        """How many blocks are worked on at a time: as many as are about as large as a result.

        They have to be on one worker then, and leave three quarters of its memory free. How much
        sparse blocks take is not known; of these every worker gets a few times what it can do.
        """
        count = len(self._array.chunks[0])
        fair = max(1, count // (EACH * max(1, len(limits))))
        if self.sparse:
            return fair
        block = max(self._array.chunks[0]) * self.shape[1] * self._array.dtype.itemsize
        room = min(limits.values(), default=1 << 32) // 4 // block
        return int(max(1, min(_bytes(begin) // block, room, fair)))

    def _check_memory(self, begin: Any, limits: dict[str, int]) -> None:
        """Complain of blocks that no worker could hold, before they try."""
        needed = self._needed(begin)
        if limits and needed > max(limits.values()):
            worker, limit = max(limits.items(), key=lambda pair: pair[1])
            raise MemoryError(
                f"a block of {max(self._array.chunks[0])} rows needs {needed:,} bytes on a worker, "
                f"and none has more than {limit:,} ({worker}); {REMEDY}"
            )

    def transmit(self, work: Work, width: int, dtype: Any, widest: int) -> Any:
        """What ``work`` makes of all rows, a Dask collection that is computed when it is needed."""
        through = partial(_transmitted, self._check, work)
        kind = host_dtype(dtype)
        if self._frame is not None:
            meta = dict.fromkeys(_code_names(width), kind)
            return self._frame.map_partitions(partial(_as_frame, through), meta=meta)
        chunks = (self._array.chunks[0], (width,))
        empty = np.empty((0, width), dtype=kind)
        return self._array.map_blocks(through, chunks=chunks, dtype=kind, meta=empty)


def _bytes(begin: Any) -> int:
    """What a result takes; zeros take no memory until they are used."""
    total = total_of(begin)
    arrays = total if isinstance(total, list) else [total]
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))


def in_order(results: Any) -> Iterator[Any]:
    """The blocks of a Dask collection, brought here one after the other.

    Meanwhile the next ones are computed, as many as keep all workers busy.
    """
    from dask import compute

    blocks = deque(np.ravel(results.to_delayed()))
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):  # no cluster
        with explained():
            yield from (values for block in blocks for values in compute(block))
        return
    with explained():
        ahead = AHEAD * max(1, len(worker_memory()))
    running: deque[Any] = deque()
    while blocks or running:
        while blocks and len(running) < ahead:
            running.append(client.compute(blocks.popleft()))
        with explained():
            values = running.popleft().result()
        yield values


def worker_memory() -> dict[str, int]:
    """Bytes that each worker of the current client may use; nothing is known without a client."""
    try:
        from distributed import default_client

        known = default_client().scheduler_info(n_workers=-1)
    except (ImportError, ValueError, TypeError):
        return {}
    if "workers" not in known:
        raise ConnectionError("no answer")
    workers = known["workers"]
    return {name: int(w["memory_limit"]) for name, w in workers.items() if w["memory_limit"]}


@contextmanager
def explained(needed: int = 0) -> Iterator[None]:
    """Say what it means when a cluster fails."""
    killed, lost = _failures()
    try:
        yield
    except killed as error:
        least = f" (a block needs at least {needed:,} bytes)" if needed else ""
        raise MemoryError(
            f"workers died again and again over the same work, most likely for lack of "
            f"memory{least}; {REMEDY}"
        ) from error
    except lost as error:
        raise ConnectionError(
            f"the Dask scheduler cannot be reached any more ({type(error).__name__}: "
            f"{error!s:.100}); start it again, and go on from the checkpoint, if there is one"
        ) from error


def _failures() -> tuple[tuple[type[Exception], ...], tuple[type[BaseException], ...]]:
    """What a cluster raises when workers die, and when its scheduler is lost."""
    lost: tuple[type[BaseException], ...] = (TimeoutError, ConnectionError, CancelledError)
    try:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
    except ImportError:  # Dask alone, without clusters
        return (), lost
    return (KilledWorker,), (*lost, FutureCancelledError, CommClosedError)


def dask_rows(X: Any, user: str, device: Backend | None, before: float | None = None) -> DaskRows:
    """Rows of a Dask array or dataframe; the lengths of its blocks are computed if unknown."""
    from dask.array import Array as DaskArray

    if device is not None and not device.is_numpy:
        raise ValueError("Dask collections are worked on where they are; leave device=None")
    frame = None
    if not isinstance(X, DaskArray):
        frame, X = X, _matrix(X)
    elif X.ndim == 2 and any(np.isnan(n) for n in X.chunks[0]):
        X = X.compute_chunk_sizes()
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: {X!r}")
    if 0 in X.shape:
        raise ValueError(f"X has no {'columns' if X.shape[0] else 'rows'}: its shape is {X.shape}")
    return DaskRows(X.rechunk({1: -1}), user, frame, before)


def _matrix(frame: Any) -> Any:
    """A dataframe as an array, one block for each of its partitions."""
    kinds = types_of(frame)
    for name, own, found in zip(frame.columns, frame.dtypes, kinds, strict=True):
        if found.kind not in "biuf":
            raise ValueError(f"column {name!r} of X holds {own}, not numbers; drop or encode it")
    kind = type_of_columns(kinds, list(frame.columns))
    empty = np.empty((0, len(frame.columns)), dtype=kind)
    array = frame.map_partitions(matrix_of, meta=empty)
    lengths = tuple(int(n) for n in frame.map_partitions(len).compute())
    array._chunks = (lengths, (len(frame.columns),))
    return array


def checked(
    dtype: np.dtype[Any],
    user: str,
    white: float | None,
    names: Any,
    block: Any,
    first: int | None = None,
) -> HostRows:
    """A block, an array or a frame, as rows in [0, 1]."""
    values = (
        summed(sparse.csr_array(block)) if sparse.issparse(block) else np.asarray(unmasked(block))
    )
    check_alike(values, dtype, names, user, first, "X")
    if white is not None:
        return HostRows(values, white)
    if values.dtype not in FLOATS:
        values = values.astype(narrow(dtype))
    return HostRows(check_values(values, names, user, first))


def _work_on(
    check: Callable[..., HostRows],
    one: Pass,
    summing: bool,
    block: Any,
    first: int,
    weights: Floats | None,
) -> Any:
    total = check(block, first).make(replace(one, before=first, weights=weights))
    return (total, [digest(block)]) if summing else total


def _called(
    work: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    blocks: list[Any],
    firsts: list[int],
    weights: list[Floats | None],
) -> Any:
    """What is made of some blocks, one after the other."""
    return reduce(combine, map(work, blocks, firsts, weights))


def _both(combine: Callable[[Any, Any], Any], a: Any, b: Any) -> tuple[Any, list[str]]:
    """Totals combined, and sums over content one after the other."""
    return combine(a[0], b[0]), a[1] + b[1]


def _combined(combine: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    total = deepcopy(parts[0])  # it may be needed again, if a worker is lost
    for part in parts[1:]:
        total = combine(total, part)
    return total


def _transmitted(
    check: Callable[..., HostRows], work: Work, block: Any, block_info: Any = None
) -> Any:
    """Dask tells, in ``block_info``, where the block is, if it is one of an array."""
    first = block_info[0]["array-location"][0][0] if block_info else None
    return work(check(block, first).take(slice(None)))


def _code_names(width: int) -> list[str]:
    return [f"code{i}" for i in range(width)]


def _as_frame(through: Callable[[Any], Any], frame: Any) -> Any:
    import pandas

    codes = through(matrix_of(frame))
    return pandas.DataFrame(codes, index=frame.index, columns=_code_names(codes.shape[1]))


def dask_array_of(path: str | os.PathLike[str], rows_at_once: int | None = None) -> Any:
    """A file that `lrnn.tables.read.open_source` can read, as a Dask array.

    Workers read their blocks themselves, so the file must be where they can find it.
    """
    import dask.array as da
    from dask import delayed

    path = Path(path).resolve()
    source = open_source(path)
    rows, width = source.shape
    height = rows_at_once or block_height(width, source.dtype)
    read = delayed(_read, pure=False)
    token = uuid4().hex  # what a cluster remembers under these names was not read anew
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
    found: list[Any] = []
    for block in open_source(path).blocks(first, last - first):
        found.append(block[: last - first])
        first += found[-1].shape[0]
        if first >= last:
            break
    return np.concatenate(found)


def gathered(X: Any, most: int, unstored: bool = False) -> Any:
    """A Dask collection with missing cells (NaN) in memory, if it takes no more bytes than that.

    All others stay what they are. Blocks that are sparse must not have ``unstored`` cells that are
    missing.
    """
    if unstored and sparse.issparse(getattr(X, "_meta", None)):
        raise ValueError(
            "X is a Dask array of sparse blocks, and missing='unstored' takes sparse matrices in "
            "memory; give X.compute()"
        )
    if hasattr(X, "columns"):
        if not X.isnull().any().any().compute():
            return X
        size = X.memory_usage().sum().compute()
    else:
        if X.ndim != 2 or X.dtype.kind != "f" or not isinstance(X._meta, np.ndarray):
            return X
        import dask.array

        missing, size = dask.compute(dask.array.isnan(X).any(), dask.array.ones_like(X).sum())
        if not missing:
            return X
        size *= X.dtype.itemsize
    return X.compute() if size <= most else X
