"""When runs end, when snapshots are taken, when those that are watched are looked at."""

from dataclasses import dataclass
from math import ceil, isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats, beyond_floats
from lrnn.spiking.estimators import BATCHES

MOST_EVENTS = 10**15  # a year, at 30 million a second
FEW_BATCHES = 8  # of one of several replicas, or of a run with few observations
FIRST_REVIEW = 1 << 14  # of the limit: the first time to ask whether enough is known, about
FEW_OCTAVES = 6  # over which it is asked, at least: else batches are fewer
FEWEST = 50  # events, after which that can be asked at all
WATCHED_POINTS = 1_000


@dataclass(frozen=True)
class Schedule:
    """Moments of a run, as numbers of events or as times.

    Attributes
    ----------
    unit : "events" or "time"
        What they are.
    snapshots : ndarray of shape (n_snapshots,)
        The last is the end.
    reviews : tuple of int
        At which snapshots it is asked whether the run may end.
    frames : ndarray of shape (n_frames,) or None
        Which snapshots are the ends of frames.
    """

    unit: str
    snapshots: NDArray[Any]
    reviews: tuple[int, ...] = ()
    frames: NDArray[np.intp] | None = None

    @property
    def length(self) -> Any:
        """Of a run."""
        return self.snapshots[-1]


def schedule_of(
    events: float | None,
    time: float | None,
    frames: Floats | None,
    snapshots: ArrayLike | None,
    asked: bool,
    observe_every: int,
    replicas: int,
    most: int,
) -> Schedule:
    """The schedule that these arguments describe; ``most`` snapshots fit into memory.

    ``asked`` is whether runs may end before their time.
    """
    if events is not None and time is not None:
        raise ValueError(f"give events or time, not both (events={events!r}, time={time!r})")
    if frames is not None:
        if events is not None or time is not None:
            raise ValueError("a film ends with its last frame; leave out events and time")
        ends = np.unique(np.concatenate([frames, chosen(snapshots, "snapshots", frames[-1])]))
        return Schedule("time", ends, frames=np.searchsorted(ends, frames))
    length: float
    if time is None:
        unit, length = "events", whole_number(1_000_000 if events is None else events, "events")
        first: float = observe_every
    else:
        unit, length = "time", number(time, "time", positive=True)
        first = length / 10_000
    if snapshots is not None:
        ends = np.union1d(chosen(snapshots, "snapshots", length), [length]).astype(
            np.array(length).dtype
        )
        return Schedule(unit, ends, tuple(range(len(ends))) if asked else ())
    if asked:
        return Schedule(unit, *grid_with_reviews(length, first, replicas == 1, most))
    parts = BATCHES if replicas == 1 else FEW_BATCHES
    if time is None:
        parts = min(parts, max(FEW_BATCHES, int(length) // observe_every))
    return Schedule(unit, snapshot_grid(length, first, parts, most))


def snapshot_grid(length: float, first: float, parts: int, most: int) -> NDArray[Any]:
    """Where snapshots are taken: the ends of equal parts, and 1, 2 and 5 times powers of ten.

    If those are more than ``most``, only the ends of so many equal parts.
    """
    parts = min(parts, most, int(length) if isinstance(length, int) else parts)
    ends = length * np.arange(1, parts + 1) / parts
    round_ones = decades(length, first)
    if len(round_ones) + parts <= most:
        ends = np.concatenate([ends, round_ones])
    return _ascending(ends, length)


def grid_with_reviews(
    length: float, first: float, lone: bool, most: int
) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Where snapshots are taken in runs that may end early, and at which of them that is asked.

    Reviews are after 3/4 and all of the length, of half of it, of a quarter, and so on. A ``lone``
    run also needs its parts, for batch means: 1/32 of what a review sees. If there is too little
    memory, parts are fewer, and reviews.
    """
    least = max(length / FIRST_REVIEW, min(FEWEST, length) if isinstance(length, int) else 0)
    octaves = length / 2.0 ** np.arange(np.log2(FIRST_REVIEW) + 1)
    batches = BATCHES if lone else 4  # of which two or more are in each octave
    while batches > FEW_BATCHES and most < FEW_OCTAVES * batches // 2:
        batches //= 2
    shares = np.arange(batches // 2 + 1, batches + 1) / batches
    if most < len(shares):
        raise ValueError(
            f"until needs snapshots, {len(shares)} of them at least, and snapshot_bytes has room "
            f"for {most} only; raise snapshot_bytes, or simulate fewer rows at once"
        )
    octaves = octaves[: max(1, most // len(shares))]
    ends = np.outer(octaves, shares).ravel()
    reviews = np.outer(octaves, [0.75, 1]).ravel()
    round_ones = decades(length, first)
    if len(ends) + len(round_ones) <= most:
        ends = np.concatenate([ends, round_ones])
    grid = _ascending(ends[ends >= least], length)
    asked = _ascending(reviews[reviews >= least], length)
    return grid, tuple(int(i) for i in np.searchsorted(grid, asked))


def decades(length: float, first: float) -> Floats:
    """1, 2 and 5 times powers of ten, from ``first`` on and below ``length``."""
    powers = range(int(np.floor(np.log10(first))), ceil(np.log10(length)) + 1)
    found = np.array([m * 10.0**k for k in powers for m in (1, 2, 5)])
    return found[(found >= first) & (found < length)]


def chosen(moments: ArrayLike | None, name: str, length: float, from_0: bool = False) -> Any:
    """Moments that were asked for: in order, within the length, and whole numbers of events."""
    found = np.atleast_1d(np.asarray([] if moments is None else moments))
    if found.ndim != 1 or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise ValueError(f"{name} must be a list of finite numbers, got {moments!r}")
    unit = "events" if isinstance(length, int) else "time"
    wrong = (found < 0 if from_0 else found <= 0) | (found > length)
    if wrong.any():
        raise ValueError(
            f"{name} has {found[wrong][0]:g}, but the simulation goes from 0 to {length:g} ({unit})"
        )
    if (np.diff(found) <= 0).any():
        at = int(np.argmax(np.diff(found) <= 0))
        raise ValueError(
            f"{name} must ascend, but {found[at + 1]:g} comes after {found[at]:g}; sort it"
        )
    if unit == "events" and (found != np.round(found)).any():
        part = found[found != np.round(found)][0]
        raise ValueError(f"{name} has {part:g}, but events are counted in whole numbers")
    return found.astype(np.int64 if unit == "events" else np.float64)


def watched_moments(watch_at: ArrayLike | None, length: Any) -> NDArray[Any]:
    """When potentials are written down: as asked for, or a thousand times."""
    whole = isinstance(length, int | np.integer)
    length = int(length) if whole else float(length)
    if watch_at is not None:
        return np.asarray(chosen(watch_at, "watch_at", length, from_0=True))
    points = np.linspace(0, length, WATCHED_POINTS + 1)
    return np.unique(points.astype(np.int64 if whole else np.float64))


def frame_ends(frames: Any, n_frames: int) -> Floats:
    """When the frames of a film end; a single number is how long each of them lasts."""
    if np.ndim(frames) == 0:
        return number(frames, "frames", positive=True) * np.arange(1.0, n_frames + 1)
    ends = np.asarray(frames)
    if ends.shape != (n_frames,):
        raise ValueError(
            f"frames has shape {ends.shape}, but arrivals has {n_frames} frames; give the end of "
            "each, or one number for how long each of them lasts"
        )
    return np.asarray(chosen(ends, "frames", np.inf), dtype=np.float64)


def whole_number(value: Any, name: str) -> int:
    """A count: a whole number from 1 to 10¹⁵, also if written as 1e6."""
    found = number(value, name, positive=True)
    if found != int(found) or found > MOST_EVENTS:
        raise ValueError(
            f"{name} must be a whole number from 1 to {MOST_EVENTS:.0e}, got {value!r}"
        )
    return int(value)


def number(value: Any, name: str, positive: bool = False) -> float:
    """A finite number that is not negative."""
    if (
        not isinstance(value, Real)
        or isinstance(value, bool)
        or beyond_floats(value)
        or not isfinite(value)
        or value < 0
        or (positive and value == 0)
    ):
        above = "above 0" if positive else "0 or more"
        raise ValueError(f"{name} must be a finite number {above}, got {value!r}")
    return float(value)


def _ascending(ends: Floats, length: float) -> NDArray[Any]:
    if isinstance(length, int):
        return np.unique(np.round(ends).astype(np.int64))
    return np.unique(ends)
