"""Sweeps over codes, compiled: one row after the other, without Python's lock."""

from functools import partial
from typing import Any

from numpy.typing import NDArray

from lrnn.functional.compiled import compiled

UNORDERED = {"reassoc", "contract", "nsz"}  # sums may be taken in any order


@compiled
def by_gram(
    codes: NDArray[Any],
    slope: NDArray[Any],
    gram: NDArray[Any],
    sweeps: int,
    upper: float,
    least: float,
) -> None:
    """``slope`` is (x − q·decoder)·decoderᵀ; both change together."""
    rows, hidden = codes.shape
    for i in range(rows):
        for _ in range(sweeps):
            moved = False
            for h in range(hidden):
                if gram[h, h] > least:
                    before = codes[i, h]
                    after = min(max(before + slope[i, h] / gram[h, h], 0 * least), upper)
                    step = after - before
                    if step != 0:
                        moved = True
                        codes[i, h] = after
                        for k in range(hidden):
                            slope[i, k] -= step * gram[h, k]
            if not moved:
                break


@partial(compiled, fastmath=UNORDERED)
def by_residuals(
    codes: NDArray[Any],
    residual: NDArray[Any],
    mask: NDArray[Any],
    decoder: NDArray[Any],
    lengths: NDArray[Any],
    sweeps: int,
    upper: float,
    least: float,
) -> None:
    """``residual`` is x − q·decoder in known cells, 0 in others; both change together."""
    rows, hidden = codes.shape
    width = decoder.shape[1]
    for i in range(rows):
        for _ in range(sweeps):
            moved = False
            for h in range(hidden):
                if lengths[i, h] > least:
                    slope = 0 * least
                    for v in range(width):
                        slope += residual[i, v] * decoder[h, v]
                    before = codes[i, h]
                    after = min(max(before + slope / lengths[i, h], 0 * least), upper)
                    step = after - before
                    if step != 0:
                        moved = True
                        codes[i, h] = after
                        for v in range(width):
                            residual[i, v] -= step * decoder[h, v] * mask[i, v]
            if not moved:
                break
