"""One pass over the rows, whatever they are: work on blocks of them, and its results combined."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from lrnn.arrays import Array, backend_of, take_rows
from lrnn.rows.encoded import EncodedRows
from lrnn.rows.parallel import CELLS_AT_ONCE, map_rows

Result = TypeVar("Result")

ROWS_TO_SUM = 4_096  # rows over which sums are taken in the precision of the data
CELLS_ON_DEVICE = 1 << 27  # rows × the widest layer that a GPU works on at once
FEWEST_ROWS = 64  # of a block on a GPU whose memory is short


def unheard(rows: int, total: Any) -> None:
    """Nobody wants to know."""


def fold_rows(
    work: Callable[[Array], Result],
    combine: Callable[[Any, Result], Any],
    inputs: Any,
    widest: int,
    *,
    most: int | None = None,
    begin: Any = None,
    skip: int = 0,
    threads: bool = True,
    heard: Callable[[int, Any], None] = unheard,
) -> Any:
    """``combine`` the results of ``work`` on blocks of consecutive rows.

    Blocks are so short that ``widest`` numbers for each of their rows stay small, and not longer
    than ``most`` rows. The first ``skip`` rows are passed over. ``combine(total, result)`` may
    change its first argument, which is ``begin`` (or ``begin()``) at first, if that is given: a
    total that is nothing, or that of the rows that are passed over. ``heard(rows,
    total)`` is told how many rows have been read. On a CPU several blocks are worked on at the
    same time, unless ``threads`` is False; then the work itself may use all cores.

    Rows that are not in memory have their own way to do this, in a method ``fold``.
    """
    if isinstance(inputs, EncodedRows):
        return fold_rows(
            inputs.behind(work), combine, inputs.inputs, max(widest, inputs.inputs.shape[1]),
            most=most, begin=begin, skip=skip, threads=threads, heard=heard,
        )  # fmt: skip
    if hasattr(inputs, "fold"):
        folded = partial(fold_rows, work, combine, widest=widest, most=most, threads=threads)
        return inputs.fold(folded, combine, begin, skip, heard)
    total, seen = begin() if callable(begin) else begin, skip
    for rows, result in _results(work, inputs, widest, most, skip, threads):
        total = result if total is None else combine(total, result)
        seen += rows
        heard(seen, total)
    return total


def _results(
    work: Callable[[Array], Result],
    inputs: Any,
    widest: int,
    most: int | None,
    skip: int,
    threads: bool,
) -> Iterator[tuple[int, Result]]:
    backend = backend_of(inputs)
    if not backend.is_numpy:
        yield from on_device(work, inputs, widest, most, skip)
    elif threads:
        yield from map_rows(lambda part: _counted(work, inputs, part), inputs, widest, most, skip)
    else:
        height = max(1, CELLS_AT_ONCE // widest)
        height = height if most is None else min(height, most)
        for first in range(skip, inputs.shape[0], height):
            yield _counted(work, inputs, slice(first, min(first + height, inputs.shape[0])))


def _counted(work: Callable[[Array], Result], inputs: Any, part: slice) -> tuple[int, Result]:
    return part.stop - part.start, work(take_rows(inputs, part))


def on_device(
    work: Callable[[Array], Result], inputs: Any, widest: int, most: int | None, skip: int
) -> Iterator[tuple[int, Result]]:
    """Results of one block after the other; blocks become shorter where memory is short."""
    backend = backend_of(inputs)
    first, count = skip, inputs.shape[0]
    height = min(max(1, CELLS_ON_DEVICE // widest), most or count)
    while first < count:
        part = slice(first, min(first + height, count))
        lacking = ""
        try:
            result = work(take_rows(inputs, part))
        except Exception as error:
            if not backend.out_of_memory(error):
                raise
            lacking = str(error)
        if not lacking:
            yield part.stop - part.start, result
            first = part.stop
            continue
        height = min(height, part.stop - part.start) // 2
        if height < FEWEST_ROWS:
            raise MemoryError(
                f"the memory of {backend.device} is too small even for {2 * height} rows of "
                f"{inputs.shape[1]} attributes with {widest} neurons: {lacking:.200}. Free some, "
                "or train on the CPU (device=None)"
            )
        backend.free_memory()


def is_resident(inputs: Any) -> bool:
    """Whether rows are in memory and can be taken in any order."""
    return not hasattr(inputs, "fold") or bool(getattr(inputs, "in_any_order", False))
