"""When things happened: times for ticks, after the fact.

Ticks are a Poisson process that nothing depends on. So a run only counts them, and their times are
drawn afterwards, and only those that are asked for: sums of exponential gaps between them, that is
gamma variables.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats


@dataclass(frozen=True)
class Raster:
    """Spikes of some neurons, in order of time.

    Attributes
    ----------
    times : ndarray of shape (n_spikes,)
        When they were fired.
    neurons : ndarray of shape (n_spikes,)
        Who fired.
    recorded : ndarray
        Whose spikes were recorded, fired or not.
    """

    times: Floats
    neurons: NDArray[np.int64]
    recorded: NDArray[np.int64]


@dataclass(frozen=True)
class Trace:
    """All potentials added up, in the course of time."""

    times: Floats
    totals: NDArray[np.int64]


def tick_times(
    ticks: NDArray[np.int64],
    ends: NDArray[np.int64],
    end_times: Floats,
    last_is_tick: bool,
    random: np.random.Generator,
) -> Floats:
    """Times of ``ticks`` (ascending) in a run that has made ``ends`` ticks at ``end_times``.

    Between two such times the ticks are uniform. The last of them is at the end itself, if the
    run was stopped by what the tick did (``last_is_tick``) and not by the clock.
    """
    times = np.empty(len(ticks))
    part = np.searchsorted(ends, ticks)
    for i in np.unique(part):
        begin, began = (ends[i - 1], end_times[i - 1]) if i else (0, 0.0)
        mine = part == i
        marks = np.append(ticks[mine] - begin, ends[i] - begin)
        gaps = random.standard_gamma(np.diff(marks, prepend=0))
        after = gaps[-1] if last_is_tick else gaps[-1] + random.standard_exponential()
        passed = np.cumsum(gaps[:-1])
        whole = (passed[-1] if len(passed) else 0.0) + after
        times[mine] = began + (end_times[i] - began) * passed / whole
    return times
