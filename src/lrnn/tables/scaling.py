"""Data into [0, 1] and back, in a way that a model file can remember."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats, is_dask
from lrnn.tables.places import column_at, place
from lrnn.tables.sources import Source, block_height, read_ahead

__all__ = ["KINDS", "Kind", "ScaledSource", "Scaling"]

Kind = Literal["none", "255", "max", "minmax"]
KINDS: tuple[str, ...] = get_args(Kind)
ALLOWED = {"max": (0.0, np.inf), "255": (0.0, 255.0)}  # what these take to [0, 1], and no more


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(x − low) / span``, column by column or the same for all.

    "none" leaves numbers as they are, "255" divides by 255, "max" divides each column by its
    maximum, "minmax" maps each column's range to [0, 1]. A constant column becomes 0 (with "max",
    only one that is 0 throughout).
    """

    kind: str
    low: Floats | float
    span: Floats | float

    @classmethod
    def fit(cls, kind: str, data: Any, names: Sequence[str] | None = None) -> "Scaling":
        """The scaling that takes this data, an array or a source of rows, to [0, 1].

        Numbers that it would cut off are refused, as are those that are not finite. ``names`` are
        those of the columns, for messages.
        """
        if kind not in KINDS:
            raise ValueError(f"the scaling must be one of {', '.join(KINDS)}; got {kind!r}")
        if kind == "none":
            return cls(kind, 0.0, 1.0)
        if kind == "255" and data.dtype == np.uint8:
            return cls(kind, 0.0, 255.0)
        low, high = found = limits(data)
        check_within(data, found, kind, names)
        if kind == "255":
            return cls(kind, 0.0, 255.0)
        if kind == "max":
            low = np.zeros_like(high)
        with np.errstate(over="ignore"):
            span = high - low
        if not np.isfinite(span).all():
            column = int(np.flatnonzero(~np.isfinite(span))[0])
            raise ValueError(
                f"the range of {column_at(column, names)}, from {low[column]:g} to "
                f"{high[column]:g}, is beyond all numbers; divide that column by some large one"
            )
        return cls(kind, low, span)

    def apply(self, data: Any) -> Any:
        """The data in [0, 1]; numbers beyond the range that was seen by `fit` are cut off.

        Without scaling they are returned untouched, and of the type they have. A source of rows
        is scaled as it is read.
        """
        if self.kind == "none":
            return data
        self._check(data)
        if isinstance(data, Source):
            return ScaledSource(data, self)
        span = np.where(self.span == 0, np.inf, self.span)
        with np.errstate(invalid="ignore"):
            scaled = np.clip((data - self.low) / span, 0, 1)
        return np.where(np.isfinite(data), scaled, data)  # what is no number stays none

    def revert(self, scaled: NDArray[Any]) -> NDArray[Any]:
        """Numbers in [0, 1] in the units of the data."""
        if self.kind == "none":
            return scaled
        self._check(scaled)
        return scaled * self.span + self.low

    def to_json(self) -> dict[str, Any]:
        """As a model file holds it."""
        if np.ndim(self.low) == 0:
            return {"kind": self.kind}
        return {
            "kind": self.kind,
            "low": np.asarray(self.low).tolist(),
            "span": np.asarray(self.span).tolist(),
        }

    @classmethod
    def from_json(cls, stored: Any) -> "Scaling":
        """What `to_json` gave; None is no scaling."""
        if stored is None:
            return cls("none", 0.0, 1.0)
        try:
            if stored["kind"] in ("none", "255"):
                return cls(stored["kind"], 0.0, 255.0 if stored["kind"] == "255" else 1.0)
            low = np.array(stored["low"], dtype=np.float64)
            span = np.array(stored["span"], dtype=np.float64)
            known = stored["kind"] in KINDS and low.ndim == 1 and low.shape == span.shape
            if known and np.isfinite(low).all() and np.isfinite(span).all() and (span >= 0).all():
                return cls(stored["kind"], low, span)
        except (KeyError, TypeError, ValueError):
            pass
        raise ValueError(
            f"the model remembers a scaling that is not one of {', '.join(KINDS)}: {stored!r:.200}"
            ". Scale the data in that way in Python, and use lrnn.load there"
        )

    def _check(self, data: Any) -> None:
        width = np.size(self.low)
        if np.ndim(self.low) and data.shape[1] != width:
            raise ValueError(
                f"the scaling is for {width} attributes, but the data have {data.shape[1]}"
            )


class ScaledSource(Source):
    """Rows of a source that are scaled as they are read."""

    def __init__(self, source: Source, scaling: Scaling) -> None:
        self.name, self.shape, self.columns = source.name, source.shape, source.columns
        self.in_any_order = source.in_any_order
        self.dtype = scaling.apply(np.zeros((1, self.shape[1]), source.dtype)).dtype
        self._source, self._scaling = source, scaling

    @property
    def parts(self) -> tuple[int, ...]:
        """Those of the source."""
        return self._source.parts

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows in [0, 1]."""
        return map(self._scaling.apply, self._source.blocks(first, height))

    def take(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Some rows in [0, 1]."""
        return np.asarray(self._scaling.apply(self._source.take(rows)))

    def identity(self) -> str:
        """That of the source, and the scaling."""
        return f"{self._source.identity()} {self._scaling.to_json()}"


def limits(data: Any) -> tuple[Floats, Floats]:
    """The lowest and the highest number of each column, of an array or a source of rows."""
    if is_dask(data):
        from dask import compute

        low, high = compute(data.min(axis=0), data.max(axis=0))
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    low, high = np.full(data.shape[1], np.inf), np.full(data.shape[1], -np.inf)
    for block in _blocks(data):
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    return low, high


def check_within(
    data: Any, limits: tuple[Floats, Floats], kind: str, names: Sequence[str] | None
) -> None:
    """Refuse cells that are not finite, or that a scaling of this kind would cut off.

    The first one is named, and those of its column are counted; only then are the data read again.
    """
    names = data.columns if names is None and isinstance(data, Source) else names
    least, most = ALLOWED.get(kind, (-np.inf, np.inf))
    low, high = limits
    if ((low >= least) & (high <= most) & np.isfinite(low) & np.isfinite(high)).all():
        return
    count, seen, first = np.zeros(data.shape[1], dtype=np.int64), 0, None
    for block in _blocks(data):
        wrong = ~((block >= least) & (block <= most) & np.isfinite(block))
        if first is None and wrong.any():
            row, column = np.argwhere(wrong)[0]
            first = seen + int(row), int(column), float(block[row, column])
        count += wrong.sum(axis=0)
        seen += block.shape[0]
    if first is None:
        raise ValueError("the data changed while they were read")
    row, column, value = first
    others = int(count.sum() - count[column])
    also = f"{count[column]:,} such in this column{f', {others:,} in others' if others else ''}"
    where = place(row, column, names)
    if not np.isfinite(value):
        raise ValueError(
            f"{where} is {value}, not a finite number ({also}); fill or drop such cells"
        )
    beyond = f"below {least:g}" if value < least else f"above {most:g}"
    raise ValueError(
        f"{where} is {value:g}, {beyond} ({also}): scaling by {kind} would cut that off; scale by "
        "minmax"
    )


def first_cell(data: Any, wanted: Callable[[Any], Any]) -> tuple[int, int, float]:
    """Row, column and value of the first cell that is ``wanted``; block by block, all are asked."""
    seen = 0
    for block in _blocks(data):
        cells = np.argwhere(wanted(block))
        if len(cells):
            row, column = cells[0]
            return seen + int(row), int(column), float(block[row, column])
        seen += block.shape[0]
    raise ValueError("the data changed while they were read")


def _blocks(data: Any) -> Iterator[NDArray[Any]]:
    """Blocks of raw rows, one after the other; an array in memory is one."""
    if is_dask(data):
        for part in data.rechunk({1: -1}).blocks:
            yield np.asarray(part.compute())
        return
    if isinstance(data, Source):
        yield from read_ahead(data.blocks(0, block_height(data.shape[1], data.dtype)))
    else:
        yield data
