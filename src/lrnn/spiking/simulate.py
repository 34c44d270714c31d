"""The simulation as a whole: check the arguments, plan the runs, make them, sum up."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrnn.arrays import Floats, is_array, to_numpy
from lrnn.network import RandomNeuralNetwork, SteadyState
from lrnn.network.checks import check_arrivals
from lrnn.progress import work_bar
from lrnn.spiking.by_neuron import faster
from lrnn.spiking.estimators import probability
from lrnn.spiking.on_cpu import simulate_on_cpu
from lrnn.spiking.on_dask import simulate_on_dask
from lrnn.spiking.partitioned import check_partition, simulate_in_parts
from lrnn.spiking.plan import (
    NOTHING,
    OBSERVATIONS,
    OBSERVED,
    SEEN,
    ClockWork,
    Plan,
    Start,
    Statistics,
    clockwork_of,
)
from lrnn.spiking.raster import BYTES_PER_SPIKE
from lrnn.spiking.results import result_of, warn_if_not_reached, warn_if_short, warn_of_ties
from lrnn.spiking.schedule import (
    MOST_EVENTS,
    Schedule,
    frame_ends,
    number,
    schedule_of,
    watched_moments,
    whole_number,
)
from lrnn.spiking.simulation import Simulation
from lrnn.spiking.uncertainty import Late
from lrnn.spiking.until import Until, check_neurons, check_until
from lrnn.spiking.wiring import Wiring, wiring_of
from lrnn.tables.messages import in_bytes, warn

RINGS_BETWEEN_LOOKS = 4  # of each clock, about: denser looks hardly know more
LOOKS_AT_LEAST = 64  # of a run, unless it has fewer ticks
LOOKS_OF_A_FRAME = 16
ENGINES = ("auto", "clock", "neurons")
MANY_ROWS, MANY_REPLICAS = 100, 64  # of each: a GPU makes these faster clock by clock,
IDLE_RINGS, LONG = 100.0, 1e9  # rings for an event, and in a run, that a user will want to know
TOO_LONG = 1e10  # rings in a run, most of them idle: ten minutes that another engine does not take
MANY_RINGS = 4.0  # unless clocks ring so often for each event
FINE = 2.0**46  # ticks of a run that go neuron by neuron: they tell the time
WATCHED = 16  # runs whose error the progress bar shows


def simulate(
    network: RandomNeuralNetwork,
    arrivals: ArrayLike,
    inhibitory_arrivals: ArrayLike | None = None,
    *,
    device: str,
    record: ArrayLike | None,
    record_bytes: float,
    trace: bool,
    threads: int | None,
    partition: Any,
    progress: bool | None,
    **arguments: Any,
) -> Simulation:
    """Simulate; see :meth:`lrnn.RandomNeuralNetwork.simulate`."""
    if device not in ("cpu", "cuda", "dask"):
        raise ValueError(f"device must be 'cpu', 'cuda' or 'dask', got {device!r}")
    if device != "cpu" and trace:
        raise ValueError(f"trace needs device='cpu', got device={device!r}")
    if threads is not None:
        threads = whole_number(threads, "threads")
    if partition is not None:
        check_partition(partition, network, device, threads, arguments)
        arguments["engine"] = "neurons"
    plan = make_plan(
        network, arrivals, inhibitory_arrivals, trace=trace, device=device,
        record=record is not None, **arguments,
    )  # fmt: skip
    recorded = _recorded(plan, record, record_bytes)
    statistics = Statistics.of(plan)
    warn_of_ties(plan)

    def error() -> str:
        now = error_so_far(plan, statistics)
        return "" if np.isnan(now) else f"error {now:.4f}"

    with work_bar("simulating", plan.n_runs, progress, error) as report:
        if partition is not None:
            simulate_in_parts(plan, statistics, partition, recorded, trace, report)
        elif device == "cpu":
            simulate_on_cpu(plan, statistics, threads, recorded, trace, report)
        elif device == "dask":
            simulate_on_dask(plan, statistics, recorded, report)
        else:
            _gpu(plan, statistics, recorded, report)
    if statistics.interrupted and not statistics.counts.any():
        raise KeyboardInterrupt
    one = np.ndim(arrivals) == (1 if plan.frames is None else 2)
    result = result_of(plan, statistics, one, recorded)
    warn_if_short(result)
    warn_if_not_reached(result)
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
    snapshots: ArrayLike | None = None,
    until: float | Until | None = None,
    frames: ArrayLike | None = None,
    watch: ArrayLike | None = None,
    watch_at: ArrayLike | None = None,
    trace: bool = False,
    record: bool = False,
) -> Plan:
    """The plan that these arguments describe, or an error that names what is wrong with them."""
    plus, minus, ends = _arrivals(network.n_neurons, arrivals, inhibitory_arrivals, frames)
    n_frames = 1 if ends is None else len(ends)
    n_rows = len(plus) // n_frames
    if start not in ("empty", "stationary"):
        raise ValueError(f"start must be 'empty' or 'stationary', got {start!r}")
    observe_every = whole_number(observe_every, "observe_every")
    replicas = whole_number(replicas, "replicas")
    rule = None if until is None else check_until(until, network.n_neurons)
    if ends is not None and rule is not None:
        raise ValueError("until is not for a film, whose activations change; leave until out")
    cells = n_rows * replicas * network.n_neurons * (SEEN + 1 if at_events else SEEN)
    schedule = schedule_of(
        events, time, ends, snapshots, rule is not None, observe_every, replicas,
        max(1, snapshot_bytes // (4 * cells)),
    )  # fmt: skip
    watched = NOTHING if watch is None else check_neurons(watch, network.n_neurons, "watch")
    if watch_at is not None and not len(watched) and not trace:
        raise ValueError("watch_at is when potentials are written down; give watch, too")

    steady = _steady_state(network, plus, minus)
    rates = network.rates
    comes = plus.sum(axis=1) + (0 if minus is None else minus.sum(axis=1))
    # events per unit time; of a film on average
    happening = _average(comes + np.asarray(steady) @ rates, ends)
    scale = 1 / happening if schedule.unit == "events" else np.ones(n_rows)
    duration, skipped = schedule.length * scale, number(warm_up, "warm_up") * scale
    cyclic = any(stage.feedback for stage in network.stages)
    made, late = duration * happening, None  # events of a run, and what one that begins empty lacks
    if cyclic and ends is None and start == "empty":
        # where a spike goes round for long, to fill the network may take longer than all the rest
        late = Late.of(network, plus, minus, np.asarray(steady), duration, True)
        firings = late.firings(rates, duration)
        if schedule.unit == "events":
            duration = np.minimum(duration + firings / happening, schedule.length / comes)
        else:
            made = np.maximum(made - firings, duration * comes)
    excitable = (np.asarray(steady) > 0).reshape(n_rows, n_frames, -1).any(axis=1)
    rings = excitable @ rates + comes.reshape(n_rows, n_frames).max(axis=1)
    per_event = float((rings * duration).mean() / made.mean())
    by_neuron = faster(network.n_neurons, float(made.mean()), per_event, cyclic)
    if device == "cuda":
        few = n_rows < MANY_ROWS or replicas < MANY_REPLICAS
        by_time = schedule.unit == "time"  # of a film, too
        by_neuron = not cyclic and (few or per_event > MANY_RINGS or record or by_time)
        if cyclic and engine == "neurons":
            raise ValueError(
                "engine='neurons' with device='cuda' is not for cycles; engine='clock' is, with "
                "events=, and so is device='cpu'"
            )
    wiring = _wiring(network, engine, at_events, by_neuron)
    if wiring is None and device == "cuda" and (record or by_time):
        what = "record" if record else "a film" if n_frames > 1 else f"time={time!r}"
        why = "engine='clock'" if engine == "clock" else "at_events" if at_events else "cycles"
        raise ValueError(
            "clock by clock runs on a GPU end after so many events, and are not recorded: "
            f"{what} with {why} is not for device='cuda'; device='cpu' and 'dask' are"
        )
    spikes_from: ClockWork | Wiring
    if wiring is None:
        spikes_from = clockwork_of(network, plus, minus, n_frames)
        clocks = spikes_from.clocks[::n_frames]
        ticks = np.array([c.total_rate for c in clocks])  # per unit time
        sizes = np.array([max(1, len(c.excitable)) for c in clocks])
        pace = ticks
    else:
        spikes_from, ticks, sizes = wiring, FINE / duration, np.ones(n_rows, dtype=np.intp)
        pace = happening
    most = (duration * ticks).max() if wiring is None else made.max()
    if most > MOST_EVENTS:
        length = schedule.length.item()
        what = f"events={length:,}" if schedule.unit == "events" else f"time={length!r}"
        raise ValueError(f"{what} would take more than {MOST_EVENTS:.0e} ticks")
    if (skipped * pace).max() > MOST_EVENTS:
        raise ValueError(f"warm_up={warm_up!r} would take more than {MOST_EVENTS:.0e} ticks")
    asked = engine == "clock" or at_events or device == "cuda"
    if wiring is None and asked and per_event > IDLE_RINGS and most > LONG:
        why = (
            f"clock by clock this takes {most:.1e} rings a run, {per_event:,.0f} for each event, "
            "because most neurons are at rest; use engine='neurons'"
            + (" without at_events=True" if at_events else "")
            + (" with device='cpu'" if device == "cuda" else "")
            + ", which takes time for events alone"
        )
        if most > TOO_LONG:
            raise ValueError(why)
        warn(why)
    look, observe = _looks(schedule, duration * ticks, observe_every * ticks / happening, sizes)
    return Plan(
        network=network,
        arrivals=plus,
        inhibitory_arrivals=minus,
        steady=steady,
        happening=happening,
        tick_rates=ticks,
        spikes_from=spikes_from,
        replicas=replicas,
        unit=schedule.unit,
        snapshots=schedule.snapshots,
        look=look,
        observe=observe,
        every=observe_every if at_events else None,
        warm_up=skipped,
        start=start,
        seed=seed_sequence(random_state),
        frames=schedule.frames,
        watched=watched,
        moments=watched_moments(watch_at, schedule.length) if len(watched) or trace else NOTHING,
        until=rule,
        reviews=schedule.reviews,
        duration=duration,
        late=late,
    )


def _arrivals(
    n_neurons: int, arrivals: ArrayLike, inhibitory: ArrayLike | None, frames: ArrayLike | None
) -> tuple[Floats, Floats | None, Floats | None]:
    """Vectors of arrivals, those of a film one below the other; and when its frames end."""
    ends = None
    n_frames = 1
    if frames is not None:
        film = np.asarray(to_numpy(arrivals) if is_array(arrivals) else arrivals, dtype=np.float64)
        if film.ndim not in (2, 3) or not film.size:
            raise ValueError(
                f"arrivals has shape {film.shape}; with frames it must be (frames, {n_neurons}) or "
                f"(rows, frames, {n_neurons})"
            )
        n_frames = film.shape[-2]
        ends = frame_ends(frames, n_frames)
        arrivals = film.reshape(-1, film.shape[-1])
        if inhibitory is not None and np.shape(inhibitory) == film.shape:
            inhibitory = np.reshape(np.asarray(inhibitory), arrivals.shape)
    plus, minus = check_arrivals(n_neurons, arrivals, inhibitory)
    rows = np.atleast_2d(plus)
    if not len(rows):
        raise ValueError("arrivals has no rows: there is nothing to simulate")
    minus = None if minus is None or not minus.any() else np.broadcast_to(minus, rows.shape)
    total = rows.sum(axis=1) + (0 if minus is None else minus.sum(axis=1))
    total = total.reshape(-1, n_frames).sum(axis=1)
    if not (total > 0).all():
        dark = np.flatnonzero(total == 0)
        where = f" in row {dark[0]} (from 0)" if len(total) > 1 else ""
        raise ValueError(
            f"arrivals are all 0{where}: no event would ever happen, and all activations are 0"
            + (
                "; leave such rows out"
                if len(total) > 1
                else "; give a row that is not 0 throughout"
            )
        )
    return rows, minus, ends


def _average(values: Floats, ends: Floats | None) -> Floats:
    """Of each row, over its frames."""
    if ends is None:
        return values
    return np.asarray(values.reshape(-1, len(ends)) @ np.diff(ends, prepend=0.0) / ends[-1])


def _looks(
    schedule: Schedule, expected: Floats, between: Floats, sizes: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ticks between looks, and between observations, of each row.

    A run that is short is looked at more often, lest chance decide whether it is at all.
    """
    between = np.minimum(between, expected / LOOKS_AT_LEAST)
    if schedule.frames is not None:
        shortest = np.diff(schedule.snapshots[schedule.frames], prepend=0.0).min()
        between = np.minimum(between, expected * shortest / schedule.length / LOOKS_OF_A_FRAME)
    between = np.maximum(1, between)
    looks = np.ceil(between / (RINGS_BETWEEN_LOOKS * sizes)).astype(np.int64)
    look = np.maximum(1, np.round(between / looks)).astype(np.int64)
    return look, look * looks


def _wiring(
    network: RandomNeuralNetwork, engine: str, at_events: bool, by_neuron: bool
) -> Wiring | None:
    """What a simulation neuron by neuron needs; None, if it is to be clock by clock.

    ``by_neuron`` is the faster one for "auto".
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}")
    if engine == "clock" or (engine == "auto" and not by_neuron):
        return None
    if at_events and engine == "neurons":
        raise ValueError("engine='neurons' is not for at_events=True; engine='clock' is")
    return None if at_events else wiring_of(network)


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


def _steady_state(network: RandomNeuralNetwork, rows: Floats, minus: Floats | None) -> SteadyState:
    with warnings.catch_warnings():  # here it only tells how often things happen
        warnings.simplefilter("ignore")
        return network.steady_state(rows, minus)


def error_so_far(plan: Plan, statistics: Statistics) -> float:
    """Root mean square error of the first runs to the numeric solution, while they go on."""
    squares = []
    for run in range(0 if plan.frames is not None else min(plan.n_runs, WATCHED)):
        observed = statistics.counts[:, OBSERVATIONS, run]
        if observed.any():
            last = int(observed.argmax())
            mean = statistics.sums[last, OBSERVED, run] / float(observed[last])
            exact = np.asarray(plan.steady)[run // plan.replicas]
            squares.append((probability(mean, "potential") - exact) ** 2)
    return float(np.sqrt(np.mean(squares))) if squares else np.nan


def _gpu(
    plan: Plan,
    statistics: Statistics,
    recorded: NDArray[np.bool_] | None,
    report: Callable[[float], None],
) -> None:
    try:
        from lrnn.spiking import neurons_on_gpu, on_gpu
    except ImportError as error:
        raise RuntimeError(
            f"device='cuda' needs numba-cuda (pip install 'lrnn[cuda]'): {error}; device='cpu' "
            "gives the same results"
        ) from error
    if plan.by_neuron:
        neurons_on_gpu.simulate_on_gpu(plan, statistics, recorded, report)
    else:
        on_gpu.simulate_on_gpu(plan, statistics, report)


def _recorded(plan: Plan, record: ArrayLike | None, most_bytes: float) -> NDArray[np.bool_] | None:
    """Which nodes' spikes are to be recorded; an error if there would be too many for memory."""
    most_bytes = number(most_bytes, "record_bytes")
    if record is None:
        return None
    n = plan.network.n_neurons
    recorded = np.zeros(3 * n + 1, dtype=np.bool_)
    recorded[check_neurons(record, n, "record")] = True
    spikes = expected_firings(plan)[:, recorded[:n]].sum()
    if spikes * BYTES_PER_SPIKE > most_bytes:
        most = " at its limit" if plan.until is not None else ""
        raise ValueError(
            f"record would keep about {spikes:,.0f} spikes{most}, "
            f"{in_bytes(spikes * BYTES_PER_SPIKE)}, and record_bytes allows "
            f"{in_bytes(most_bytes)}; record fewer neurons, make fewer or shorter runs, or raise "
            "record_bytes"
        )
    return recorded


def expected_firings(plan: Plan) -> Floats:
    """How often the neurons of each row fire in all of its runs together, in the steady state."""
    length, fired = float(plan.snapshots[-1]), np.asarray(plan.steady) * plan.network.rates
    if plan.frames is not None:
        spans = np.diff(plan.snapshots[plan.frames], prepend=0.0)
        fired = np.einsum("f,rfn->rn", spans, fired.reshape(plan.n_rows, len(spans), -1))
        return np.asarray(plan.replicas * fired)
    durations = length / plan.happening if plan.unit == "events" else np.full(plan.n_rows, length)
    return np.asarray(plan.replicas * durations[:, None] * fired)
