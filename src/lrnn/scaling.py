"""Data into [0, 1] and back, in a way that a model file can remember."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lrnn.rows.stream import BLOCK_BYTES, Stream, read_ahead
from lrnn.typing import Vector

Kind = Literal["none", "255", "max", "minmax"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(x − low) / span``, column by column or the same for all.

    "none" leaves numbers as they are, "255" divides by 255, "max" divides each column by its
    maximum, "minmax" maps each column's range to [0, 1]. A constant column becomes 0 (with "max",
    only one that is 0 throughout).
    """

    kind: str
    low: Vector | float
    span: Vector | float

    @classmethod
    def fit(cls, kind: str, data: Any) -> "Scaling":
        """The scaling that takes this data, an array or a source of rows, to [0, 1]."""
        if kind == "none":
            return cls(kind, 0.0, 1.0)
        if kind == "255":
            return cls(kind, 0.0, 255.0)
        if kind not in KINDS:
            raise ValueError(f"the scaling must be one of {', '.join(KINDS)}; got {kind!r}")
        low, high = (np.asarray(ends, dtype=np.float64) for ends in limits(data))
        if kind == "max":
            low = np.zeros_like(high)
        return cls(kind, low, high - low)

    def apply(self, data: Any) -> Any:
        """The data in [0, 1]; numbers beyond the range that was seen by `fit` are cut off.

        Without scaling they are returned untouched, and of the type they have. A source of rows
        becomes a stream that is scaled as it is read.
        """
        if not isinstance(data, np.ndarray) and not hasattr(data, "compute"):
            return Stream(data, prepare=None if self.kind == "none" else self.apply)
        if self.kind == "none":
            return data
        self._check(data)
        span = np.where(self.span == 0, np.inf, self.span)
        return np.clip((data - self.low) / span, 0, 1)

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
                return cls.fit(stored["kind"], np.empty((0, 0)))
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

    def _check(self, data: NDArray[Any]) -> None:
        width = np.size(self.low)
        if np.ndim(self.low) and data.shape[1] != width:
            raise ValueError(
                f"the scaling is for {width} attributes, but the data have {data.shape[1]}"
            )


def limits(data: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The lowest and the highest number of each column, of an array or a source of rows."""
    if hasattr(data, "compute"):
        from dask import compute

        low, high = compute(data.min(axis=0), data.max(axis=0))
        return np.asarray(low), np.asarray(high)
    if isinstance(data, np.ndarray):
        return data.min(axis=0), data.max(axis=0)
    height = max(1, BLOCK_BYTES // (data.shape[1] * data.dtype.itemsize))
    low, high = np.full(data.shape[1], np.inf), np.full(data.shape[1], -np.inf)
    for block in read_ahead(data.blocks(0, height)):
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    return low, high
