"""From what runs have counted to what can be asked of them."""

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.spiking.plan import BUSY, LOOKS, OBSERVATIONS, OBSERVED, TICKS, Plan, Statistics
from lrnn.spiking.raster import Raster
from lrnn.spiking.simulation import Simulation, Trace
from lrnn.spiking.until import Decision, Precision, SpikeCount, added_up
from lrnn.tables.messages import warn

UNITS_OF_TIME = 2.0**40  # of a short run
CELLS_AT_ONCE = 1 << 22  # of runs and neurons, where it is asked whether enough is known


def result_of(
    plan: Plan, statistics: Statistics, one: bool, recorded: NDArray[np.bool_] | None
) -> Simulation:
    """All that is known at the end."""
    if plan.dense.any():
        even_gaps(plan, statistics)
    rates = plan.tick_rates
    times = _times(plan, statistics, np.repeat(rates, plan.replicas))
    raster = trace = None
    if recorded is not None:
        if not plan.by_neuron:
            for run, (ticks, neurons) in statistics.spikes.items():
                when = _tick_times(plan, statistics, times, ticks, run)
                statistics.spikes[run] = (when, neurons)
        raster = Raster.collect(
            statistics.spikes, np.flatnonzero(recorded), plan.replicas, times[-1]
        )
    if statistics.trace is not None:
        trace = _trace(plan, statistics, times)
    upto = slice(None)
    if plan.until is not None and (statistics.stopped >= 0).all():
        upto = slice(int(statistics.stopped.max()) + 1)  # nobody came to the others
    return _simulation(plan, statistics, None, upto, times[upto], one, raster, trace)


def even_gaps(plan: Plan, statistics: Statistics) -> None:
    """Make looks at every tick of a short run, and at its snapshots, averages over time.

    In a time with n ticks, which may be anywhere, n + 1 states follow each other, and each lasts
    for the (n + 1)-th part of it on average. So the mean of what is seen right before the ticks,
    and at the end, is an average over time without any bias, however few they are. Sums become
    integrals, in small units of time.
    """
    runs = _parts(np.flatnonzero(plan.dense), plan.replicas)
    spans = np.diff(plan.snapshots, prepend=0.0) / plan.snapshots[-1] * UNITS_OF_TIME
    for kind, counted in ((BUSY, LOOKS), (OBSERVED, OBSERVATIONS)):
        states = np.diff(statistics.counts[:, counted, runs], axis=0, prepend=0)
        seen = np.diff(statistics.sums[:, kind, runs].astype(np.float64), axis=0, prepend=0)
        share = seen / np.maximum(states, 1)[..., None]
        lasted = np.where(states > 0, spans[:, None], 0.0)
        statistics.sums[:, kind, runs] = np.cumsum(share * lasted[..., None], axis=0)
        statistics.counts[:, counted, runs] = np.round(np.cumsum(lasted, axis=0))


def judge(plan: Plan, statistics: Statistics, rows: NDArray[np.intp], snapshot: int) -> Any:
    """Which of these rows are known well enough at a snapshot; that is also written down."""
    at_once = max(1, CELLS_AT_ONCE // (plan.replicas * plan.network.n_neurons))
    found = [
        seen_so_far(plan, statistics, rows[i : i + at_once], snapshot)._settled
        for i in range(0, len(rows), at_once)
    ]
    reached = np.concatenate(found) if found else np.zeros(0, dtype=np.bool_)
    statistics.stopped[rows[reached]] = snapshot
    return reached


def seen_so_far(
    plan: Plan, statistics: Statistics, rows: NDArray[np.intp], snapshot: int
) -> Simulation:
    """Some rows as they stand at a snapshot, while runs go on; times are about right."""
    runs, upto = _parts(rows, plan.replicas), slice(snapshot + 1)
    rates = np.repeat(plan.tick_rates[rows], plan.replicas)
    times = statistics.counts[upto, TICKS][:, runs] / rates
    return _simulation(plan, statistics, rows, upto, times, False, None, None)


def _parts(rows: NDArray[np.intp], each: int) -> NDArray[np.intp]:
    """Where the parts of rows are, of which each row has so many."""
    return np.asarray((rows[:, None] * each + np.arange(each)).ravel())


def _simulation(
    plan: Plan,
    statistics: Statistics,
    some: NDArray[np.intp] | None,
    upto: slice,
    times: Floats,
    one: bool,
    raster: Raster | None,
    trace: Trace | None,
) -> Simulation:
    """Some rows, or all; up to a snapshot."""
    rows: Any = slice(None) if some is None else some
    runs: Any = rows if some is None else _parts(some, plan.replicas)
    scenes: Any = rows if some is None else _parts(some, plan.n_frames)
    of_row: Any = 0 if one else slice(None)
    potentials = None
    if len(plan.watched):
        seen = statistics.potentials[:, runs]
        potentials = seen.reshape(len(seen), -1, plan.replicas, seen.shape[2])[:, of_row]
    return Simulation(
        network=plan.network,
        replicas=plan.replicas,
        unit=plan.unit,
        snapshots=plan.snapshots[upto],
        interrupted=statistics.interrupted,
        arrival_counts=statistics.arrivals[rows][of_row],
        firing_counts=statistics.firings[rows][of_row],
        raster=raster,
        trace=trace,
        until=plan.until,
        watched=plan.watched,
        moments=plan.moments,
        potentials=potentials,
        frames=None if plan.frames is None else plan.snapshots[plan.frames],
        _steady=plan.steady[scenes],
        _counts=statistics.counts[upto][:, :, runs],
        _sums=statistics.sums[upto][:, :, runs],
        _times=times,
        _total_rates=plan.tick_rates[rows],
        _every=plan.every,
        _one=one,
        _theory=plan.uncertainty
        if some is None or plan.uncertainty is None
        else plan.uncertainty.rows(some),
        _reviews=len(plan.reviews) or 1,
        _stopped=statistics.stopped[rows],
    )


def warn_if_short(result: Simulation) -> None:
    """Tell of estimates that mean nothing yet, and how long a simulation would be long enough."""
    shares = result._shares
    count = int((shares < 1).sum())
    if not count:
        return
    row, neuron = np.unravel_index(shares.argmin(), shares.shape)
    place = "" if result.steady.ndim == 1 else f" in row {row} (from 0)"
    enough = ""
    if not result.interrupted:
        needed = float(result.snapshots[-1]) / shares.min()
        enough = f"; about {_about(needed, result.unit)} would be enough"
    such = f"{count} neurons, such as" if count > 1 else "one neuron,"
    rate = f"with a firing rate of {result.network.rates[neuron]:.3g}"
    warn(
        f"the simulated time is too short for {such} number {neuron}{place} {rate}: estimates may "
        f"be far off{enough}"
    )


def warn_if_not_reached(result: Simulation) -> None:
    """Tell how much is still unknown where the limit came before that, and how long would do."""
    if result.until is None or result.interrupted or np.all(result.reached):
        return
    unknown = np.flatnonzero(~np.atleast_1d(result.reached))
    where = "" if result._one else f" in {len(unknown)} of {len(result._stopped)} rows"
    if isinstance(result.until, SpikeCount):
        row = int(unknown[0])
        first, second = np.sort(np.append(result._fired[row], 0))[-2:][::-1]
        who = "" if result._one else f" in row {row} (from 0)"
        warn(
            f"the limit came first{where}: the leader has fired {first:,.0f} times and the next "
            f"{second:,.0f} times{who}, which does not decide"
        )
        return
    if isinstance(result.until, Precision):
        widths = result._widths[unknown]
        row, neuron = (int(i) for i in np.unravel_index(np.nanargmax(widths), widths.shape))
        width = float(widths[row, neuron])
        factor = (width / result.until.width) ** 2
        still = f"an interval is {width:.3g} wide, not {result.until.width:.3g}"
        who = f"neuron {neuron}" + ("" if result._one else f" in row {unknown[row]} (from 0)")
    else:
        lead = result._lead
        exact = added_up(np.asarray(result._steady), result.until.groups())[unknown]
        best, other = (exact[range(len(exact)), i[unknown]] for i in (lead.leader, lead.rival))
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = (lead.uncertain[unknown] / (best - other)) ** 2
        factors[result.until.tied(np.asarray(result._steady))[unknown]] = np.inf
        row = int(np.argmax(np.nan_to_num(factors, nan=np.inf)))
        factor, at = float(factors[row]), unknown[row]
        first, second = (result.until.neurons[int(i[at])] for i in (lead.leader, lead.rival))
        still = f"a lead is {lead.ahead[at]:.3g}, of which {lead.uncertain[at]:.3g} may be chance"
        who = f"{first} before {second}" + ("" if result._one else f" in row {at} (from 0)")
    if factor <= 1:
        still, factor = "it is narrow enough, but the simulated time is too short to trust it", 4.0
    needed = _about(float(result.snapshots[-1]) * factor, result.unit)
    enough = "no length will do" if not np.isfinite(factor) else f"about {needed} would do"
    if result.replicas > 1 and np.isfinite(factor):
        enough += " in each run"
    warn(f"the limit came first{where}: {still} ({who}); {enough}")


def warn_of_ties(plan: Plan) -> None:
    """Tell at once of decisions that no simulation can make."""
    if isinstance(plan.until, Decision):
        tied = np.flatnonzero(plan.until.tied(np.asarray(plan.steady)))
        if len(tied):
            where = "" if plan.n_rows == 1 else f" in row {tied[0]} (from 0)"
            warn(
                f"two candidates have the same numeric activation{where} (saturated ones have 1): "
                "no simulation will tell them apart, and this one goes to its limit"
            )


def _about(length: float, unit: str) -> str:
    """A length in words, rounded up to one digit."""
    if not np.isfinite(length):
        return f"no number of {unit}"
    power = 10.0 ** np.floor(np.log10(length))
    length = ceil(length / power) * power
    if unit == "time":
        return f"a time of {length:g}"
    return f"{length:,.0f} events" if length < 1e7 else f"{length:.0e} events"


def _trace(plan: Plan, statistics: Statistics, times: Floats) -> Trace:
    assert statistics.trace is not None
    ticks, totals = statistics.trace[statistics.trace[:, 0] >= 0].T
    if plan.unit == "time":
        return Trace(plan.moments[: len(ticks)], totals)
    if plan.by_neuron:
        return Trace(ticks / plan.tick_rates[0], totals)
    return Trace(_tick_times(plan, statistics, times, ticks), totals)


def _times(plan: Plan, statistics: Statistics, rates: Floats) -> Floats:
    """Simulated time at every snapshot of every run."""
    ticks = statistics.counts[:, TICKS]
    if plan.by_neuron:
        return np.asarray(ticks / rates)
    if plan.unit == "events":
        gaps = np.diff(ticks, axis=0, prepend=0)
        return np.cumsum(plan.generator("time").standard_gamma(gaps), axis=0) / rates
    last = len(plan.snapshots) - 1
    ended = np.repeat(np.where(statistics.stopped < 0, last, statistics.stopped), plan.replicas)
    upto = np.minimum(np.arange(last + 1)[:, None], ended)
    times = np.asarray(plan.snapshots[upto])
    if not statistics.interrupted:
        return times
    kept = plan.snapshot_of >= 0
    due = np.stack([plan.tick_ends(run)[kept] for run in range(plan.n_runs)], axis=1)
    due = np.take_along_axis(due, upto, axis=0)
    return np.where(ticks < due, ticks / rates, times)


def _tick_times(
    plan: Plan, statistics: Statistics, times: Floats, ticks: NDArray[np.int64], run: int = 0
) -> Floats:
    """Times of ``ticks`` (ascending) of a run, given the ``times`` of all runs' snapshots.

    Ticks are a Poisson process that nothing depends on. So a run only counts them, and the times of
    those that are asked for are drawn afterwards, as sums of exponential gaps. Between two
    snapshots the ticks are uniform; the last of them is at the snapshot itself, if that was taken
    after so many events and not after so much time.
    """
    random = plan.generator("when", run)
    ends, end_times = statistics.counts[:, TICKS, run], times[:, run]
    found = np.empty(len(ticks))
    upto = np.searchsorted(ticks, ends, side="right")
    for i in np.flatnonzero(np.diff(upto, prepend=0)):
        begin, began = (ends[i - 1], end_times[i - 1]) if i else (0, 0.0)
        mine = slice(upto[i - 1] if i else 0, upto[i])
        marks = np.append(ticks[mine] - begin, ends[i] - begin)
        gaps = random.standard_gamma(np.diff(marks, prepend=0))
        after = gaps[-1] if plan.unit == "events" else gaps[-1] + random.standard_exponential()
        passed = np.cumsum(gaps[:-1])
        whole = (passed[-1] if len(passed) else 0.0) + after
        found[mine] = began + (end_times[i] - began) * passed / whole
    return found
