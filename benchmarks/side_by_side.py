"""lrnn beside other libraries, on this machine: error against time, and speed against size.

    pip install 'lrnn[torch]' torchnmf                        # contenders of fit, encode, scale
    pip install ciw brian2 cython 'numpy<2.4'                 # contenders of simulate
    LRNN_DATA_DIR=... python benchmarks/side_by_side.py fit encode simulate scale
    python benchmarks/side_by_side.py fit --data table.csv --label class -o found
    python benchmarks/side_by_side.py fit simulate --data digits --quick

fit is error against time of training, encode the time to encode rows, simulate events a second of
the trained network, scale the time to train against the number of rows and of attributes. All run
in this process, one after the other, on the same data in float32 and on all cores. Contenders are
nmf-cd, nmf-mu and minibatch-nmf (scikit-learn), torchnmf, and adam (an autoencoder in PyTorch); for
simulate ciw and brian2. A contender that fails stops no other.

Without options the data are those of docs/benchmarks.md (digits for fit, otherwise MNIST), all
contenders must be installed (for scale NMF alone), and results go to benchmarks/results. With
options they are printed, and go to the folder of -o with a figure; contenders that are not
installed are left out. A sparse matrix (.npz) stays sparse, and contenders that need full ones are
left out.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from common import report, show, write
from lrnn import LRNNAutoencoder, RandomNeuralNetwork, Scaling, plots
from lrnn.datasets import DATA_SETS, load, open_table
from peers import (
    ALL_CORES,
    FACTORISATIONS,
    FINE_TUNED,
    LRNN,
    ONE_CORE,
    SIMULATORS,
    Competitor,
    Factorisation,
    FittedModel,
    Floats,
    Matrix,
    Simulator,
    reached,
)

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]
PAUSE = 0.1  # seconds; BLAS threads that wait for more work go to sleep meanwhile
PATIENCE, MOST = 1.0, 7  # runs are repeated until they took a second, at most seven times
LONGEST = 120.0  # seconds that a training may be expected to take
WARM_UP_ROWS = 50
SHARES = (16, 4, 1)  # a sixteenth of the rows, a quarter of them, all
COMPILE = 1_000  # events before the clock runs
SIZES, RANGE = 6, 32  # the smallest part is a 32nd, but not too narrow for the code
WIDEST = 16  # code neurons of other data, unless more are asked for
QUICK_ROWS = 1_000  # of data that are cut down
FULL = "needs full matrices, and the data are sparse"


@dataclass(frozen=True)
class Step:
    """One measurement: of which contender, what is printed meanwhile, and its function."""

    contender: Competitor
    task: str
    measure: Callable[[], list[Row]]


def carry_out(steps: Sequence[Step]) -> tuple[list[Row], dict[str, str]]:
    """Rows of all steps, and the peers that failed, with the reason."""
    rows: list[Row] = []
    failed: dict[str, str] = {}
    for number, step in enumerate(steps, 1):
        title = step.contender.title
        if title in failed:
            continue
        task = f"{title}, {step.task}" if step.task else title
        print(f"{number} of {len(steps)}: {task}", file=sys.stderr)
        sleep(PAUSE)
        try:
            found = step.measure()
        except Exception as error:
            if step.contender.ours:
                raise
            failed[title] = f"failed: {type(error).__name__}: {error}"
        else:
            rows += [{"contender": step.contender.name, "title": title, **row} for row in found]
    return rows, failed


def repeated(work: Callable[[], T], seconds: Callable[[T], float]) -> list[T]:
    """Several runs of work that takes less than a second, of which the fastest counts.

    Other work on the machine, and threads that wait for each other, only make a run slower.
    """
    runs = [work()]
    while sum(map(seconds, runs)) < PATIENCE and len(runs) < MOST:
        runs.append(work())
    return runs


def fastest(work: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """How much was done in how many seconds, by the fastest of several runs."""
    return min(repeated(work, itemgetter(1)), key=lambda run: run[1] / run[0])


def trained(contender: Factorisation, X: Matrix, hidden: int, budget: int) -> FittedModel:
    """The fastest of several trainings, which all give the same model."""
    seconds: Callable[[FittedModel], float] = attrgetter("seconds")
    return min(repeated(partial(contender.train, X, hidden, budget), seconds), key=seconds)


def warm_up(contender: Factorisation, X: Matrix) -> None:
    """Import and compile what a contender needs, outside of what is measured."""
    contender.train(X[:WARM_UP_ROWS], 1, 1)


def fit_steps(X: Matrix, hidden: int, peers: Sequence[Any], quick: bool) -> list[Step]:
    """Error against time: a step for each contender and each of its budgets.

    A peer trains from the beginning for each of them, as long as the next can be expected to take
    no more than two minutes; lrnn has a learning curve.
    """
    steps = []
    ours = (LRNN,) if sparse.issparse(X) else (LRNN, FINE_TUNED)
    for contender in (*ours, *peers):
        took: list[tuple[int, float]] = []
        for budget in contender.budgets[: 1 if quick else None]:
            task = "" if contender.ours else f"{budget:,} {contender.unit}"
            steps.append(Step(contender, task, partial(_fit, contender, X, hidden, budget, took)))
    return steps


def _fit(
    contender: Factorisation, X: Matrix, hidden: int, budget: int, took: list[tuple[int, float]]
) -> list[Row]:
    """The row of one budget, or none if it would take too long, judged by the last one."""
    if not took:
        warm_up(contender, X)
    elif took[-1][1] * budget / took[-1][0] > LONGEST:
        return []
    model = trained(contender, X, hidden, budget)
    took.append((budget, model.seconds))
    return [{"unit": contender.unit, **model.facts(X)}]


def encode_steps(X: Matrix, hidden: int, peers: Sequence[Any], quick: bool) -> list[Step]:
    """Time to encode: each contender trains on all rows, then encodes more and more of them.

    That is a matrix product for lrnn, and a problem to solve for each row of an NMF.
    """
    counts = sorted({max(1, X.shape[0] // share) for share in SHARES[-1 if quick else 0 :]})
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


def simulate_steps(X: Matrix, hidden: int, peers: Sequence[Any], quick: bool) -> list[Step]:
    """Events a second: all simulate the same trained network, for more and more events."""
    network, arrivals = trained_network(X, hidden)
    return [
        Step(
            contender,
            f"{events:,} events",
            partial(_simulate, contender, network, arrivals, events),
        )
        for contender in (ONE_CORE, ALL_CORES, *peers)
        for events in contender.budgets[: 1 if quick else None]
    ]


def trained_network(X: Matrix, hidden: int) -> tuple[RandomNeuralNetwork, Floats]:
    """The network of an autoencoder, and arrivals that present the first row that is not 0."""
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


def scale_steps(X: Matrix, hidden: int, peers: Sequence[Any], quick: bool) -> list[Step]:
    """Time against size: each trains on larger and larger parts of the rows and attributes."""
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
    """Shapes of parts of the data, from small to large."""
    fewer = {(size, attributes) for size in sizes(rows, hidden, count)}
    narrower = {(rows, size) for size in sizes(attributes, 2 * hidden, count)}
    return sorted(fewer | narrower)


def sizes(whole: int, least: int, count: int) -> list[int]:
    """A number of sizes up to the whole, each the same multiple of the one before."""
    low = min(max(whole / RANGE, least), whole)
    return [round(size) for size in np.geomspace(low, whole, count)]


def part(X: Any, shape: tuple[int, int]) -> Any:
    """Some rows and attributes, spread evenly over the data."""
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


def compare_training(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with the time at which lrnn had reached their error, and the ratio of both.

    Where sizes differ, each is compared with lrnn on data of the same size.
    """
    curves = {_size(row): row["curve"] for row in rows if row["contender"] == "lrnn"}
    compared = []
    for row in rows:
        after = None if _ours(row) else reached(curves[_size(row)], row["error"])
        ratio = None if after is None else row["seconds"] / after
        compared.append({**row, "lrnn_seconds": after, "times_faster": ratio})
    return compared


def compare_encoding(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with how many times faster lrnn encodes as many rows."""
    ours = {row["rows"]: row["seconds"] for row in rows if _ours(row)}
    return [
        {**row, "times_faster": None if _ours(row) else row["seconds"] / ours[row["rows"]]}
        for row in rows
    ]


def compare_simulation(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with how many times faster lrnn is on one core, in its longest run."""
    _, speed = max(
        (row["events"], row["events_per_second"]) for row in rows if row["contender"] == "lrnn"
    )
    return [
        {**row, "times_faster": None if _ours(row) else speed / row["events_per_second"]}
        for row in rows
    ]


def _ours(row: Row) -> bool:
    return bool(row["contender"].startswith("lrnn"))


def _size(row: Row) -> tuple[int | None, int | None]:
    return row.get("rows"), row.get("attributes")


class Kind(NamedTuple):
    """What is measured, how it is compared, and on what docs/benchmarks.md shows it."""

    data: str
    hidden: int
    peers: Sequence[Competitor]
    shown: Sequence[Competitor]  # those that docs/benchmarks.md has
    steps: Callable[[Matrix, int, Sequence[Any], bool], list[Step]]
    compared: Callable[[Sequence[Row]], list[Row]]


KINDS = {
    "fit": Kind("digits", 16, FACTORISATIONS, FACTORISATIONS, fit_steps, compare_training),
    "encode": Kind("mnist", 100, FACTORISATIONS, FACTORISATIONS, encode_steps, compare_encoding),
    "simulate": Kind("mnist", 100, SIMULATORS, SIMULATORS, simulate_steps, compare_simulation),
    "scale": Kind("mnist", 100, FACTORISATIONS, FACTORISATIONS[:1], scale_steps, compare_training),
}


def chosen(kind: str, names: Sequence[str] | None) -> tuple[list[Competitor], dict[str, str]]:
    """The contenders that take part, and those that are not installed, with the remedy.

    By default they are those of docs/benchmarks.md.
    """
    known, shown = KINDS[kind].peers, KINDS[kind].shown
    wanted = [peer for peer in known if peer.name in names] if names else shown
    if not wanted:
        listed = ", ".join(peer.name for peer in known)
        raise ValueError(f"{kind} has no contender {', '.join(names or ())}; it has {listed}")
    missing = {peer.title: peer.missing for peer in wanted if peer.missing is not None}
    return [peer for peer in wanted if peer.missing is None], missing


def rows_of(source: str, **scaling: Any) -> Any:
    """Rows in [0, 1] in float32, as all contenders are given them.

    Parameters
    ----------
    source : str
        The name of a data set, a file of numbers, or a folder of images.
    **scaling
        Parameters of `Scaling.fit`; without any, data sets have their own scaling.
    """
    if source in DATA_SETS and not scaling and not Path(source).exists():
        return load(source).data.astype(np.float32)
    table = open_table(source, stream=True)
    X = Scaling.fit(table.data, names=table.names, **scaling).apply(table.data)
    if not (isinstance(X, np.ndarray) or sparse.issparse(X)):  # rows of a large file
        X = np.concatenate(list(X.blocks(0, X.shape[0])))
    levels = X.dtype.kind == "u" and X.max() > 1
    white = np.float32(np.iinfo(X.dtype).max if levels else 1)
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float32) / white
    return np.ascontiguousarray(X, dtype=np.float32) / white


def measured(
    kind: str, X: Any, hidden: int, peers: Sequence[Competitor], quick: bool = False
) -> tuple[list[Row], dict[str, str]]:
    """Rows of lrnn and its peers, and the peers that could not take part, with the reason."""
    left_out = {}
    if sparse.issparse(X):
        ours = [FINE_TUNED] if kind == "fit" else []
        full = [p for p in (*ours, *peers) if isinstance(p, Factorisation) and not p.sparse]
        left_out = {peer.title: FULL for peer in full}
        peers = [peer for peer in peers if peer not in full]
    rows, failed = carry_out(KINDS[kind].steps(X, hidden, peers, quick))
    return KINDS[kind].compared(rows), {**left_out, **failed}


def figure(kind: str, title: str, rows: Sequence[Row]) -> Figure:
    """Error against time ("fit"), or time against size."""
    sizes = {"fit": [""], "encode": ["rows"], "simulate": ["events"]}
    panels = sizes.get(kind, ["rows", "attributes"])
    canvas = Figure(figsize=(4.8 * len(panels), 3.4), dpi=150, layout="constrained")
    axes = canvas.subplots(1, len(panels), squeeze=False)[0]
    for ax, size in zip(axes, panels, strict=True):
        if kind == "fit":
            plots.error_against_time(errors(rows), ax=ax)
        else:
            plots.time_against_size(times(rows, size), size=size, ax=ax)
    canvas.suptitle(title.replace("$", r"\$"), fontsize=9)
    return canvas


def errors(rows: Sequence[Row]) -> dict[str, list[tuple[float, float]]]:
    """For each contender its points of (seconds, error)."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        curve = row.get("curve") or [(row["seconds"], row["error"])]
        points.setdefault(row["title"], []).extend((x, y) for x, y in curve)
    return points


def times(rows: Sequence[Row], size: str) -> dict[str, list[tuple[float, float]]]:
    """For each contender its points of (size, seconds), where other sizes are at their largest.

    Where trainings are compared, there is a line more for each peer: when lrnn had its error.
    """
    for other in {"rows", "attributes"} - {size}:
        largest = max(row.get(other, 0) for row in rows)
        rows = [row for row in rows if row.get(other, 0) == largest]
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        points.setdefault(row["title"], []).append((row[size], row["seconds"]))
    for row in rows:
        if row.get("lrnn_seconds") is not None:
            line = points.setdefault(f"lrnn, to the error of {row['title']}", [])
            line.append((row[size], row["lrnn_seconds"]))
    return points


def without_curves(rows: Sequence[Row]) -> list[Row]:
    """Rows for a table."""
    return [{k: v for k, v in row.items() if k != "curve"} for row in rows]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    names = [peer.name for peer in (*FACTORISATIONS, *SIMULATORS)]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="+", choices=KINDS)
    parser.add_argument("--data", help="a data set's name, a file of numbers, a folder of images")
    parser.add_argument("--hidden", type=int, help="code neurons; 16 or less for other data")
    parser.add_argument("--against", action="append", choices=names, help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="few rows and short runs, as a trial")
    parser.add_argument("-o", "--output", type=Path, help="folder for results and figures")
    table = parser.add_argument_group("a table of --data", "As the parameters of lrnn.Scaling.fit.")
    kinds = ("auto", "none", "levels", "max", "minmax")
    table.add_argument("--scale", choices=kinds, help="the kind of scaling; auto by default")
    table.add_argument("--label", help="the column with the class of each row")
    table.add_argument("--drop", action="append", help="a column to leave out; may be repeated")
    table.add_argument("--missing", choices=("drop", "median"), help="what becomes of empty cells")
    table.add_argument("--categories", choices=("onehot",), help="what becomes of text")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write."""
    options = parsed(arguments)
    asked = {name: value for name, value in vars(options).items() if value}
    of_docs = asked.keys() == {"kinds"}
    named = {"kind": "scale"} | {name: name for name in ("label", "drop", "missing", "categories")}
    scaling = {name: asked[option] for name, option in named.items() if option in asked}
    taking_part = {kind: chosen(kind, options.against) for kind in options.kinds}
    for kind, (_, missing) in taking_part.items():
        if missing and (of_docs or options.against):
            remedy = "; or -o FOLDER, which leaves them out" if of_docs else ""
            lines = [f"{title} is {reason}" for title, reason in missing.items()]
            raise SystemExit(f"{kind}: {', '.join(lines)}{remedy}")
    for kind, (peers, missing) in taking_part.items():
        source = options.data or KINDS[kind].data
        X = rows_of(source, **scaling)
        widest = WIDEST if options.data else KINDS[kind].hidden
        hidden = options.hidden or min(widest, (X.shape[1] + 1) // 2)
        if options.quick:
            X = X[:: -(-X.shape[0] // QUICK_ROWS)].copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that trainings could go on, and runs are short
            rows, left_out = measured(kind, X, hidden, peers, options.quick)
        size = f"{X.shape[0]:,} rows, {X.shape[1]:,} → {hidden} neurons, {X.dtype}"
        title = f"{Path(source).name}, {size}" + " (QUICK RUN)" * options.quick
        if of_docs and left_out:
            raise SystemExit(f"{kind}: all contenders must take part, but: {left_out}")
        if of_docs:
            report(f"side_by_side_{kind}", title, without_curves(rows))
            continue
        show(f"{kind}: {title}", without_curves(rows))
        for name, reason in {**missing, **left_out}.items():
            print(f"{name}: {reason}")
        if options.output is not None:
            options.output.mkdir(parents=True, exist_ok=True)
            write(options.output / f"{kind}.json", title, rows)
            for suffix in ("png", "svg"):
                figure(kind, title, rows).savefig(options.output / f"{kind}.{suffix}")


if __name__ == "__main__":
    main()
