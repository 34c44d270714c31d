"""The simulation as a whole: check the arguments, plan the runs, make them, sum up."""

import warnings
from math import ceil, isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork, SteadyState
from lrnn.network.checks import check_arrivals
from lrnn.progress import work_bar
from lrnn.spiking.by_neuron import faster
from lrnn.spiking.estimators import BATCHES, probability
from lrnn.spiking.on_cpu import simulate_on_cpu
from lrnn.spiking.on_dask import simulate_on_dask
from lrnn.spiking.partitioned import check_partition, simulate_in_parts
from lrnn.spiking.plan import (
    OBSERVATIONS,
    OBSERVED,
    SEEN,
    TICKS,
    ClockWork,
    Plan,
    Start,
    Statistics,
    clockwork_of,
)
from lrnn.spiking.simulation import Raster, Simulation, Trace
from lrnn.spiking.wiring import Wiring, wiring_of
from lrnn.tables.words import warn

MOST_EVENTS = 10**15  # a year, at 30 million a second
RINGS_BETWEEN_LOOKS = 4  # of each clock, about: denser looks hardly know more
FEW_BATCHES = 8  # of one of several replicas, or of a run with few observations
FAR_OFF = 0.25  # an error after which an estimate tells nothing
ENGINES = ("auto", "clock", "neurons")
FINE = 2.0**46  # ticks of a run that go neuron by neuron: they tell the time
WATCHED = 16  # runs whose error the progress bar shows


def simulate(
    network: RandomNeuralNetwork,
    arrivals: ArrayLike,
    inhibitory_arrivals: ArrayLike | None = None,
    *,
    events: float | None,
    time: float | None,
    observe_every: int,
    at_events: bool,
    replicas: int,
    start: Start,
    warm_up: float,
    record: ArrayLike | None,
    trace: bool,
    snapshot_bytes: int,
    engine: str,
    device: str,
    threads: int | None,
    partition: Any,
    progress: bool | None,
    random_state: Any,
) -> Simulation:
    """Simulate; see :meth:`lrnn.RandomNeuralNetwork.simulate`."""
    if device not in ("cpu", "cuda", "dask"):
        raise ValueError(f"device must be 'cpu', 'cuda' or 'dask', got {device!r}")
    if device != "cpu" and (record is not None or trace):
        raise ValueError("record and trace need device='cpu'")
    if threads is not None:
        threads = whole_number(threads, "threads")
    if partition is not None:
        check_partition(partition, network, engine, device, threads, at_events)
        engine = "neurons"
    plan = make_plan(
        network, arrivals, inhibitory_arrivals, events=events, time=time,
        observe_every=observe_every, replicas=replicas, warm_up=warm_up, start=start,
        snapshot_bytes=snapshot_bytes, random_state=random_state, at_events=at_events,
        engine=engine, device=device,
    )  # fmt: skip
    recorded = _recorded(network, record)
    statistics = Statistics.of(plan)

    def error() -> str:
        now = error_so_far(plan, statistics)
        return "" if np.isnan(now) else f"error {now:.4f}"

    with work_bar("simulating", plan.n_runs, progress, error) as report:
        if partition is not None:
            simulate_in_parts(plan, statistics, partition, recorded, trace, report)
        elif device == "cpu":
            simulate_on_cpu(plan, statistics, threads, recorded, trace, report)
        elif device == "dask":
            simulate_on_dask(plan, statistics, report)
        else:
            _gpu()(plan, statistics, report)
    if statistics.interrupted and not statistics.counts.any():
        raise KeyboardInterrupt
    result = _result(plan, statistics, np.ndim(arrivals) == 1, recorded)
    _warn_if_short(result)
    return result


def make_plan(
    network: RandomNeuralNetwork,
    arrivals: ArrayLike,
    inhibitory_arrivals: ArrayLike | None,
    *,
    events: float | None,
    time: float | None,
    observe_every: int,
    replicas: int,
    warm_up: float,
    start: Start,
    snapshot_bytes: int,
    random_state: Any,
    at_events: bool = False,
    engine: str = "auto",
    device: str = "cpu",
) -> Plan:
    """The plan that these arguments describe, or an error that names what is wrong with them."""
    plus, minus = check_arrivals(network.n_neurons, arrivals, inhibitory_arrivals)
    rows = np.atleast_2d(plus)
    minus = None if minus is None or not minus.any() else np.broadcast_to(minus, rows.shape)
    total = rows.sum(axis=1) + (0 if minus is None else minus.sum(axis=1))
    if not (total > 0).all():
        where = f" in row {int(np.flatnonzero(total == 0)[0]) + 1}" if plus.ndim > 1 else ""
        raise ValueError(
            f"arrivals are all 0{where}: no event would ever happen, and all activations are 0"
        )
    if start not in ("empty", "stationary"):
        raise ValueError(f"start must be 'empty' or 'stationary', got {start!r}")
    if events is not None and time is not None:
        raise ValueError(f"give events or time, not both (events={events!r}, time={time!r})")
    observe_every = whole_number(observe_every, "observe_every")
    replicas = whole_number(replicas, "replicas")

    steady = _steady_state(network, rows, minus)
    happening = total + np.asarray(steady) @ network.rates  # events per unit time
    if time is None:
        length: float = whole_number(1_000_000 if events is None else events, "events")
        duration = length / happening
        skipped = _number(warm_up, "warm_up") / happening
        first: float = observe_every
    else:
        length = _number(time, "time", positive=True)
        duration = np.full(len(rows), length)
        skipped = np.full(len(rows), _number(warm_up, "warm_up"))
        first = length / 10_000
    rings = ((np.asarray(steady) > 0) @ network.rates + total).mean() / happening.mean()
    made = (duration * happening).mean()
    wiring = _wiring(network, engine, device, at_events, faster(network.n_neurons, made, rings))
    spikes_from: ClockWork | Wiring
    if wiring is None:
        spikes_from = clockwork_of(network, rows, minus)
        ticks = np.array([c.total_rate for c in spikes_from.clocks])  # per unit time
        sizes = np.array([max(1, len(c.excitable)) for c in spikes_from.clocks])
        most = (duration * ticks).max()
    else:
        spikes_from, ticks, sizes = wiring, FINE / duration, np.ones(len(rows), dtype=np.intp)
        most = (duration * happening).max()
    if most > MOST_EVENTS:
        what = f"events={length:,}" if time is None else f"time={time!r}"
        raise ValueError(f"{what} would take more than {MOST_EVENTS:.0e} ticks")
    expected = duration * ticks
    # a run that is short is observed more often, lest chance decide whether it is at all
    between = np.minimum(observe_every * ticks / happening, expected / FEW_BATCHES)
    between = np.maximum(1, between)
    looks = np.ceil(between / (RINGS_BETWEEN_LOOKS * sizes)).astype(np.int64)
    look = np.maximum(1, np.round(between / looks)).astype(np.int64)
    cells = len(rows) * replicas * network.n_neurons * (SEEN + 1 if at_events else SEEN)
    parts = BATCHES if replicas == 1 else FEW_BATCHES
    if time is None:
        parts = min(parts, max(FEW_BATCHES, int(length) // observe_every))
    return Plan(
        network,
        rows,
        minus,
        steady,
        happening,
        ticks,
        spikes_from,
        replicas,
        "events" if time is None else "time",
        snapshot_grid(length, first, parts, max(1, snapshot_bytes // (4 * cells))),
        look,
        look * looks,
        observe_every if at_events else None,
        np.round(skipped * ticks).astype(np.int64),
        start,
        seed_sequence(random_state),
    )


def _wiring(
    network: RandomNeuralNetwork, engine: str, device: str, at_events: bool, by_neuron: bool
) -> Wiring | None:
    """What a simulation neuron by neuron needs; None, if it is to be clock by clock.

    ``by_neuron`` is the faster one for "auto".
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}")
    if engine == "clock" or (engine == "auto" and not by_neuron):
        return None
    found = None if device == "cuda" or at_events else wiring_of(network)
    if found is None and engine == "neurons":
        why = "device='cuda'" if device == "cuda" else "at_events=True" if at_events else "cycles"
        raise ValueError(f"engine='neurons' is not for {why}; engine='clock' is")
    return found


def snapshot_grid(length: float, first: float, parts: int, most: int) -> NDArray[Any]:
    """Where snapshots are taken: the ends of equal parts, and 1, 2 and 5 times powers of ten.

    If those are more than ``most``, only the ends of so many equal parts.
    """
    whole_numbers = isinstance(length, int)
    parts = min(parts, most, int(length) if whole_numbers else parts)
    ends = length * np.arange(1, parts + 1) / parts
    low = int(np.floor(np.log10(first)))
    high = ceil(np.log10(length))
    decades = np.array([m * 10.0**k for k in range(low, high + 1) for m in (1, 2, 5)])
    decades = decades[(decades >= first) & (decades < length)]
    if len(decades) + parts <= most:
        ends = np.concatenate([ends, decades])
    if whole_numbers:
        return np.unique(np.round(ends).astype(np.int64))
    return np.unique(ends)


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Where all randomness comes from."""
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(1 << 63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(1 << 31)))
    if random_state is None or (isinstance(random_state, int | np.integer) and random_state >= 0):
        return np.random.SeedSequence(None if random_state is None else int(random_state))
    raise ValueError(
        f"random_state must be None, a whole number ≥ 0 or one of NumPy's generators, "
        f"got {random_state!r}"
    )


def whole_number(value: Any, name: str) -> int:
    """A count: a whole number from 1 to 10¹⁵, also if written as 1e6."""
    number = _number(value, name, positive=True)
    if number != int(number) or number > MOST_EVENTS:
        raise ValueError(
            f"{name} must be a whole number from 1 to {MOST_EVENTS:.0e}, got {value!r}"
        )
    return int(value)


def _number(value: Any, name: str, positive: bool = False) -> float:
    if (
        not isinstance(value, Real)
        or isinstance(value, bool)
        or not isfinite(value)
        or value < 0
        or (positive and value == 0)
    ):
        above = "above 0" if positive else "0 or more"
        raise ValueError(f"{name} must be a finite number {above}, got {value!r}")
    return float(value)


def _steady_state(network: RandomNeuralNetwork, rows: Floats, minus: Floats | None) -> SteadyState:
    with warnings.catch_warnings():  # here it only tells how often things happen
        warnings.simplefilter("ignore")
        return network.steady_state(rows, minus)


def error_so_far(plan: Plan, statistics: Statistics) -> float:
    """Root mean square error of the first runs to the numeric solution, while they go on."""
    squares = []
    for run in range(min(plan.n_runs, WATCHED)):
        observed = statistics.counts[:, OBSERVATIONS, run]
        if observed.any():
            last = int(observed.argmax())
            mean = statistics.sums[last, OBSERVED, run] / float(observed[last])
            exact = np.asarray(plan.steady)[run // plan.replicas]
            squares.append((probability(mean, "potential") - exact) ** 2)
    return float(np.sqrt(np.mean(squares))) if squares else np.nan


def _gpu() -> Any:
    try:
        from lrnn.spiking.on_gpu import simulate_on_gpu
    except ImportError as error:
        raise RuntimeError(
            f"device='cuda' needs numba-cuda (pip install 'lrnn[cuda]'): {error}; device='cpu' "
            "gives the same results"
        ) from error
    return simulate_on_gpu


def _recorded(network: RandomNeuralNetwork, record: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Which nodes' spikes are to be recorded."""
    if record is None:
        return None
    chosen = np.asarray(record)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise ValueError(f"record must be a list of neurons' numbers, got {record!r}")
    n = network.n_neurons
    wrong = chosen[(chosen < 0) | (chosen >= n)]
    if len(wrong):
        raise ValueError(f"record names neuron {wrong[0]}, but they are numbered 0 to {n - 1}")
    recorded = np.zeros(3 * n + 1, dtype=np.bool_)
    recorded[chosen] = True
    return recorded


def _result(
    plan: Plan, statistics: Statistics, one: bool, recorded: NDArray[np.bool_] | None
) -> Simulation:
    rates = plan.tick_rates
    times = _times(plan, statistics, np.repeat(rates, plan.replicas))
    of_row: Any = 0 if one else slice(None)
    raster = trace = None
    if statistics.spikes is not None and recorded is not None:
        when, neurons = statistics.spikes
        if not plan.by_neuron:
            when = _tick_times(plan, statistics, times, when)
        raster = Raster(when, neurons, np.flatnonzero(recorded))
    if statistics.trace is not None:
        ticks, totals = statistics.trace.T
        known = plan.by_neuron
        when = ticks / rates[0] if known else _tick_times(plan, statistics, times, ticks)
        trace = Trace(when, totals)
    return Simulation(
        network=plan.network,
        replicas=plan.replicas,
        unit=plan.unit,
        snapshots=plan.snapshots,
        interrupted=statistics.interrupted,
        arrival_counts=statistics.arrivals[of_row],
        firing_counts=statistics.firings[of_row],
        raster=raster,
        trace=trace,
        _steady=plan.steady,
        _counts=statistics.counts,
        _sums=statistics.sums,
        _times=times,
        _total_rates=rates,
        _every=plan.every,
        _one=one,
        _enough=enough_time(plan),
        _begun=None if plan.start == "stationary" else plan.warm_up / rates,
    )


def enough_time(plan: Plan) -> Floats:
    r"""The time in which an estimate comes near, for each neuron of each row (0: at once).

    A neuron at which spikes come or go at rate :math:`a` is estimated with a standard error of
    about :math:`\sqrt{q/aT}` after time T, and with an error of q if T is shorter still. And by
    Little's law a spike stays, with all firings that it leads to, for :math:`\sum_i q_i/\Lambda`
    or longer where :math:`\Lambda` spikes come from outside per unit time; a network that begins
    at rest is filled no faster.
    """
    network, q = plan.network, np.asarray(plan.steady)
    fired = q * network.rates
    comes = plan.arrivals + fired @ network.excitatory
    goes = np.broadcast_to(network.rates, q.shape)
    if plan.inhibitory_arrivals is not None:
        goes = goes + plan.inhibitory_arrivals
    if network.inhibitory is not None:
        goes = goes + fired @ network.inhibitory
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        settled = q / (np.maximum(comes, goes) * FAR_OFF**2)
        passed = q.sum(axis=1) / (plan.arrivals.sum(axis=1) * FAR_OFF)
    matters = (q > FAR_OFF) & np.isfinite(passed)[:, None]
    if plan.start == "stationary":  # where those that saturate begin excited
        matters &= ~np.asarray(plan.steady.saturated)
    return np.where(matters, np.maximum(settled, passed[:, None]), 0)


def _warn_if_short(result: Simulation) -> None:
    """Tell of estimates that mean nothing yet, and how long a simulation would be long enough."""
    count = int(result.short.sum())
    if not count:
        return
    shares = result._shares
    row, neuron = np.unravel_index(shares.argmin(), shares.shape)
    place = "" if result.steady.ndim == 1 else f" in row {row + 1}"
    needed = float(result.snapshots[-1]) / shares.min()
    power = 10.0 ** np.floor(np.log10(needed))
    needed = ceil(needed / power) * power
    enough = f"{needed:,.0f} events" if needed < 1e7 else f"{needed:.0e} events"
    if result.unit == "time":
        enough = f"a time of {needed:g}"
    such = f"{count} neurons, such as" if count > 1 else "one neuron,"
    rate = f"with a firing rate of {result.network.rates[neuron]:.3g}"
    warn(
        f"the simulated time is too short for {such} number {neuron}{place} {rate}: estimates may "
        f"be far off; about {enough} would be enough"
    )


def _times(plan: Plan, statistics: Statistics, rates: Floats) -> Floats:
    """Simulated time at every snapshot of every run."""
    ticks = statistics.counts[:, TICKS]
    if plan.by_neuron:
        return np.asarray(ticks / rates)
    if plan.unit == "events":
        gaps = np.diff(ticks, axis=0, prepend=0)
        return np.cumsum(plan.generator("time").standard_gamma(gaps), axis=0) / rates
    times = np.broadcast_to(plan.snapshots[:, None], ticks.shape)
    if not statistics.interrupted:
        return times
    due = np.stack([plan.tick_ends(run) for run in range(plan.n_runs)], axis=1)
    return np.where(ticks < due, ticks / rates, times)


def _tick_times(
    plan: Plan, statistics: Statistics, times: Floats, ticks: NDArray[np.int64]
) -> Floats:
    """Times of ``ticks`` (ascending) of the first run, given the ``times`` of its snapshots.

    Ticks are a Poisson process that nothing depends on. So a run only counts them, and the times of
    those that are asked for are drawn afterwards, as sums of exponential gaps. Between two
    snapshots the ticks are uniform; the last of them is at the snapshot itself, if that was taken
    after so many events and not after so much time.
    """
    random = plan.generator("when")
    ends, end_times = statistics.counts[:, TICKS, 0], times[:, 0]
    found = np.empty(len(ticks))
    part = np.searchsorted(ends, ticks)
    for i in np.unique(part):
        begin, began = (ends[i - 1], end_times[i - 1]) if i else (0, 0.0)
        mine = part == i
        marks = np.append(ticks[mine] - begin, ends[i] - begin)
        gaps = random.standard_gamma(np.diff(marks, prepend=0))
        after = gaps[-1] if plan.unit == "events" else gaps[-1] + random.standard_exponential()
        passed = np.cumsum(gaps[:-1])
        whole = (passed[-1] if len(passed) else 0.0) + after
        found[mine] = began + (end_times[i] - began) * passed / whole
    return found
