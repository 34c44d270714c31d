"""Rows on a Dask cluster: work goes to where they are, and only its results travel."""

import hashlib
import os
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial, reduce
from itertools import islice, pairwise
from operator import call
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from scipy import sparse

from lrnn.arrays import HOST, Array, Backend, host_dtype, unmasked
from lrnn.rows.base import Pass, Rows, Work, total_of
from lrnn.rows.checks import FLOATS, check_alike, check_values, narrow, summed, white_of
from lrnn.rows.content import digest
from lrnn.rows.memory import HostRows
from lrnn.rows.stream import first_rows
from lrnn.tables.read import open_source
from lrnn.tables.sources import block_height, read_ahead
from lrnn.tables.types import matrix_of, type_of_columns, types_of

FAN_IN = 4  # results that are combined at a time
EACH = 4  # tasks, at least, that a worker gets where there are enough blocks
AHEAD = 3  # blocks for each worker that are computed before they are asked for
REMEDY = "give the workers more memory, or make blocks of fewer rows, X.rechunk({0: 1_000})"


@contextmanager
def explained() -> Iterator[None]:
    """Say what it means when a cluster fails."""
    try:
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError
    except ImportError:  # Dask alone, without clusters
        yield
        return
    try:
        yield
    except KilledWorker as error:
        raise MemoryError(f"{error} Most often they lack memory: {REMEDY}") from error
    except (TimeoutError, ConnectionError, CancelledError, CommClosedError) as error:
        raise ConnectionError(
            f"the Dask scheduler cannot be reached any more ({type(error).__name__}: "
            f"{error!s:.100}); start it again, and go on from the checkpoint, if there is one"
        ) from error


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
        self._array, self._frame = array, frame
        self._bounds = tuple(np.cumsum([0, *array.chunks[0]]).tolist())
        named = frame is not None and all(isinstance(name, str) for name in frame.columns)
        self.columns = tuple(frame.columns) if named else None
        highest = (part.max().compute() for part in array.blocks)
        self.white = white_of(array.dtype, lambda: highest, before)
        self._sums: list[str | None] = []
        self._check = partial(checked, array.dtype, user, self.white, self.columns)

    @property
    def sparse(self) -> bool:
        """Whether blocks are said to be sparse matrices."""
        return bool(sparse.issparse(self._array._meta))

    @property
    def parts(self) -> Sequence[int]:
        """Where its partitions begin."""
        return self._bounds

    def take(self, rows: Any) -> Array:
        """Rows by their numbers cannot be had."""
        raise NotImplementedError("a Dask collection gives its rows from the first to the last")

    def remember(self) -> None:
        """Sum up what blocks hold where they are."""
        self._sums = self._sums or [None] * len(self._array.chunks[0])

    @explained()
    def identity(self, count: int | None = None) -> str:
        """A sum over what the blocks hold, each by itself; those that are not known are computed.

        Rows are counted in whole blocks.
        """
        self.remember()
        wanted = bisect_left(self._bounds, self.shape[0] if count is None else count)
        self._compute(wanted)
        text = f"{self.shape} {self.white} {self._sums[:wanted]}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _compute(self, wanted: int, *results: Any) -> Any:
        """Results, and in the same pass sums over the first blocks that are asked for."""
        from dask import compute, delayed

        blocks = self._array.to_delayed().ravel()
        unknown = [i for i, known in enumerate(self._sums[:wanted]) if known is None]
        sums = [delayed(digest, pure=False)(blocks[i]) for i in unknown]
        found, sums = compute(results, sums)
        for i, known in zip(unknown, sums, strict=True):
            self._sums[i] = known
        return found

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Array]:
        """Blocks of rows in [0, 1], brought here one after the other.

        While one is worked on here, the next ones are computed on their workers.
        """
        last = self.shape[0] if last is None else last
        for begin, values in read_ahead(self._blocks_as_given(first, last)):
            block = self._check(values, begin).take(slice(None))
            yield block[max(0, first - begin) : last - begin]

    def _blocks_as_given(self, first: int, last: int) -> Iterator[tuple[int, Any]]:
        begin, end = bisect_right(self._bounds, first) - 1, bisect_left(self._bounds, last)
        for i, values in enumerate(in_order(self._array, begin, end), begin):
            if self._sums and self._sums[i] is None:
                self._sums[i] = digest(values)
            yield self._bounds[i], values

    @explained()
    def make(self, one: Pass) -> Any:
        """Make a pass: blocks on workers, results combined in a tree.

        Blocks that are smaller than a result are worked on some at a time, for results have to
        travel. It is all or nothing: no rows can be skipped.
        """
        from dask import delayed

        blocks, bounds = self._array.to_delayed().ravel(), self._bounds
        weights = [None if one.weights is None else one.weights[i:j] for i, j in pairwise(bounds)]
        given = list(zip(blocks, bounds[:-1], weights, strict=True))
        some = self._blocks_of_a_task(one.begin)
        work = partial(_total, self._check, replace(one, reached=None, weights=None))
        shared = delayed(work, pure=False, traverse=False)  # matrices travel once to each worker
        run = delayed(call, pure=False)
        parts = [run(shared, given[i : i + some]) for i in range(0, len(given), some)]
        join = delayed(partial(_combined, one.combine), pure=False)
        while len(parts) > 1:
            parts = [join(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        (total,) = self._compute(len(blocks), parts[0])
        if one.reached is not None:
            one.reached(self.shape[0], total)
        return total

    def _blocks_of_a_task(self, begin: Any) -> int:
        """As many as are about as large as a result, but every worker gets some tasks.

        How large sparse blocks are is not known.
        """
        rows = self._array.chunks[0]
        fair = max(1, len(rows) // (EACH * _worker_count()))
        block = max(rows) * self.shape[1] * self._array.dtype.itemsize
        return fair if self.sparse else min(fair, max(1, _bytes(begin) // block))

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


def _total(check: Callable[..., HostRows], one: Pass, some: list[tuple[Any, int, Any]]) -> Any:
    """What a pass makes of some blocks, each with its first row's number and its weights."""
    results = (
        check(block, first).make(replace(one, before=first, weights=weights))
        for block, first, weights in some
    )
    return reduce(one.combine, results)


def _combined(combine: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    """The total of some results, which stay as they are: they may be needed again."""
    return reduce(combine, parts[1:], deepcopy(parts[0]))


def _client() -> Any:
    """The client of the current cluster, or None."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


def _worker_count() -> int:
    """How many processes there are to work: the workers of the cluster, or this one."""
    client = _client()
    try:
        return 1 if client is None else max(1, len(client.nthreads()))
    except OSError as error:  # the scheduler is gone
        raise ConnectionError(error) from error


def in_order(collection: Any, first: int = 0, last: int | None = None) -> Iterator[Any]:
    """Blocks of a Dask collection, brought here one after the other.

    A cluster computes the next ones meanwhile, as many as keep all workers busy.
    """
    blocks = islice(np.ravel(collection.to_delayed()), first, last)
    client = _client()
    with explained():
        if client is None:
            yield from (block.compute() for block in blocks)
            return
        running = deque(map(client.compute, islice(blocks, AHEAD * _worker_count())))
        while running:
            values = running.popleft().result()
            running.extend(map(client.compute, islice(blocks, 1)))
            yield values


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

    path = Path(path).resolve()
    source = open_source(path)
    rows, width = source.shape
    height = rows_at_once or block_height(width, source.dtype)
    heights = tuple(min(height, rows - first) for first in range(0, rows, height))
    return da.map_blocks(
        partial(_read, path),
        chunks=(heights, (width,)),
        meta=np.empty((0, 0), dtype=source.dtype),
        name=f"read-{uuid4().hex}",  # what a cluster knows by an older name is not read anew
    )


def _read(path: Path, block_info: Any) -> Any:
    first, last = block_info[None]["array-location"][0]
    blocks = open_source(path).blocks(first, last - first)
    return np.concatenate(list(first_rows(blocks, last - first)))


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
    import dask.array

    if hasattr(X, "columns"):
        missing, size = X.isnull().any().any(), X.memory_usage().sum()
    elif X.ndim == 2 and X.dtype.kind == "f" and isinstance(X._meta, np.ndarray):
        missing, size = dask.array.isnan(X).any(), dask.array.ones_like(X).sum() * X.dtype.itemsize
    else:
        return X
    missing, size = dask.compute(missing, size)
    return X.compute() if missing and size <= most else X
