"""What is measured: error against time, encoding, events a second, time against size.

One measurement comes after the other, in this process; a peer that fails stops no other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from time import perf_counter, sleep
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from lrnn.arrays import Floats
from lrnn.benchmark.peers import (
    ALL_CORES,
    FINE_TUNED,
    LRNN,
    ONE_CORE,
    Competitor,
    Factorisation,
    FittedModel,
    Matrix,
    Simulator,
)
from lrnn.network import RandomNeuralNetwork

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[int, int, str], None]
PAUSE = 0.1  # seconds in which BLAS threads that wait for more work go to sleep
PATIENCE, MOST = 1.0, 7  # what takes less than a second is repeated, but not more often
LONGEST = 120.0  # seconds that a training may be expected to take
WARM_UP_ROWS = 50
SHARES = (16, 4, 1)  # all rows, a quarter of them, a sixteenth
COMPILE = 1_000  # events before the clock runs
SIZES, RANGE = 6, 32  # the smallest part is a 32nd, but not too narrow for the code


@dataclass(frozen=True)
class Step:
    """A measurement: whose, what is said of it meanwhile, and the rows that it gives."""

    contender: Competitor
    task: str
    measure: Callable[[], list[Row]]


def carry_out(steps: Sequence[Step], progress: Progress) -> tuple[list[Row], dict[str, str]]:
    """Rows of all steps, and the peers that failed, with the reason.

    ``progress`` is told how many of how many steps are done, and what is done next.
    """
    rows: list[Row] = []
    failed: dict[str, str] = {}
    for done, step in enumerate(steps):
        title = step.contender.title
        if title in failed:
            continue
        progress(done, len(steps), f"{title}, {step.task}" if step.task else title)
        sleep(PAUSE)
        try:
            found = step.measure()
        except Exception as error:
            if step.contender.ours:
                raise
            failed[title] = f"failed: {type(error).__name__}: {error}"
        else:
            named = {"contender": step.contender.name, "title": title}
            rows += [{**named, **row} for row in found]
    progress(len(steps), len(steps), "")
    return rows, failed


def repeated(work: Callable[[], T], seconds: Callable[[T], float]) -> list[T]:
    """Several runs of what takes less than a second, of which the fastest counts.

    Other work on the machine, and threads that wait for each other, only ever make a run slower.
    """
    runs = [work()]
    while sum(map(seconds, runs)) < PATIENCE and len(runs) < MOST:
        runs.append(work())
    return runs


def fastest(work: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """How much was done in how many seconds, by the fastest of several runs."""
    return min(repeated(work, itemgetter(1)), key=lambda run: run[1] / run[0])


def trained(contender: Factorisation, X: Matrix, hidden: int, budget: int) -> FittedModel:
    """The fastest of several trainings, which all end at the same."""
    seconds: Callable[[FittedModel], float] = attrgetter("seconds")
    return min(repeated(partial(contender.train, X, hidden, budget), seconds), key=seconds)


def fit_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Error against time: a step for each contender and each of its budgets.

    A peer trains from the beginning for each of them, as long as the next can be expected to take
    no more than two minutes; lrnn tells its learning curve.
    """
    steps = []
    ours = (LRNN,) if sparse.issparse(X) else (LRNN, FINE_TUNED)
    for contender in (*ours, *peers):
        took: list[tuple[int, float]] = []
        for budget in contender.budgets[: 1 if quick else None]:
            task = "" if contender.ours else f"{budget:,} {contender.unit}"
            measure = partial(_fit, contender, X, hidden, budget, took)
            steps.append(Step(contender, task, measure))
    return steps


def warm_up(contender: Factorisation, X: Matrix) -> None:
    """Import and compile what a contender needs, so that its time counts for nobody."""
    contender.train(X[:WARM_UP_ROWS], 1, 1)


def _fit(
    contender: Factorisation, X: Matrix, hidden: int, budget: int, took: list[tuple[int, float]]
) -> list[Row]:
    """The row of one budget, or none if it would take too long, by what the last one took."""
    if not took:
        warm_up(contender, X)
    elif took[-1][1] * budget / took[-1][0] > LONGEST:
        return []
    model = trained(contender, X, hidden, budget)
    took.append((budget, model.seconds))
    return [{"unit": contender.unit, **model.facts(X)}]


def encode_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Time to encode: each contender trains on all rows, then encodes more and more of them.

    That is a matrix product for lrnn, and a problem to solve for each row of an NMF.
    """
    shares = SHARES[-1:] if quick else SHARES
    counts = sorted({max(1, X.shape[0] // share) for share in shares})
    return [
        Step(contender, "", partial(_encode, contender, X, hidden, counts, quick))
        for contender in (LRNN, *peers)
    ]


def _encode(
    contender: Factorisation, X: Matrix, hidden: int, counts: Sequence[int], quick: bool
) -> list[Row]:
    warm_up(contender, X)
    model = contender.train(X, hidden, contender.budget(quick))
    return [_encoded(model, X[:count]) for count in counts]


def _encoded(model: FittedModel, rows: Matrix) -> Row:
    codes = rows

    def encode() -> tuple[float, float]:
        nonlocal codes
        began = perf_counter()
        codes = model.encode(rows)
        return rows.shape[0], perf_counter() - began

    count, seconds = fastest(encode)
    return {
        "rows": rows.shape[0],
        "seconds": seconds,
        "rows_per_second": count / seconds,
        "error": model.error_of(rows, codes),
    }


def simulate_steps(
    X: Matrix, hidden: int, peers: Sequence[Simulator], quick: bool = False
) -> list[Step]:
    """Events a second: all simulate the same trained network, for more and more events."""
    network, arrivals = trained_network(X, hidden)
    steps = []
    for contender in (ONE_CORE, ALL_CORES, *peers):
        for events in contender.budgets[: 1 if quick else None]:
            measure = partial(_simulate, contender, network, arrivals, events)
            steps.append(Step(contender, f"{events:,} events", measure))
    return steps


def trained_network(X: Matrix, hidden: int) -> tuple[RandomNeuralNetwork, Floats]:
    """The network of an autoencoder, and arrivals that present the first row that is not 0."""
    from lrnn.autoencoder import LRNNAutoencoder

    model = LRNNAutoencoder(hidden, random_state=0).fit(X)
    rows = np.flatnonzero((X != 0).sum(axis=1))
    if not len(rows):
        raise ValueError("all rows are 0: no spike would ever come to the network")
    return model.to_network(), model.arrivals(X[rows[:1]])[0]


def _simulate(
    contender: Simulator, network: RandomNeuralNetwork, arrivals: Floats, budget: int
) -> list[Row]:
    if contender.ours:
        contender.run(network, arrivals, COMPILE)
    events, seconds = fastest(lambda: contender.run(network, arrivals, budget))
    return [{"events": round(events), "seconds": seconds, "events_per_second": events / seconds}]


def scale_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Time against size: each trains on ever larger parts of the rows, and of the attributes."""
    shapes = part_shapes(X.shape[0], X.shape[1], hidden, 2 if quick else SIZES)
    return [
        Step(
            contender,
            f"{rows:,} rows × {attributes:,} attributes",
            partial(_scale, contender, X, hidden, (rows, attributes), quick),
        )
        for contender in (LRNN, *peers)
        for rows, attributes in shapes
    ]


def part_shapes(rows: int, attributes: int, hidden: int, count: int) -> list[tuple[int, int]]:
    """Shapes of parts of the data, from small to large.

    >>> part_shapes(1000, 60, 15, 3)
    [(31, 60), (177, 60), (1000, 30), (1000, 42), (1000, 60)]
    """
    fewer = {(size, attributes) for size in sizes(rows, hidden, count)}
    narrower = {(rows, size) for size in sizes(attributes, 2 * hidden, count)}
    return sorted(fewer | narrower)


def sizes(whole: int, least: int, count: int) -> list[int]:
    """So many sizes up to the whole, each the same multiple of the one before."""
    low = min(max(whole / RANGE, least), whole)
    return [round(size) for size in np.geomspace(low, whole, count)]


def part(X: Any, shape: tuple[int, int]) -> Any:
    """So many rows and attributes, spread evenly over the data."""
    rows, attributes = (
        np.linspace(0, whole - 1, count).round().astype(int)
        for whole, count in zip(X.shape, shape, strict=True)
    )
    if sparse.issparse(X):
        return sparse.csr_array(X[rows][:, attributes])
    return np.ascontiguousarray(X[np.ix_(rows, attributes)])


def _scale(
    contender: Factorisation, X: Matrix, hidden: int, shape: tuple[int, int], quick: bool
) -> list[Row]:
    data = part(X, shape)
    warm_up(contender, data)
    model = trained(contender, data, hidden, contender.budget(quick))
    size = dict(zip(("rows", "attributes"), shape, strict=True))
    return [{**size, "unit": contender.unit, **model.facts(data)}]
