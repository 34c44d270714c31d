"""A benchmark from data to result: what was measured, and how lrnn compares with each peer."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from scipy import sparse

from lrnn.benchmark.measurements import (
    Progress,
    Row,
    Step,
    carry_out,
    encode_steps,
    fit_steps,
    scale_steps,
    simulate_steps,
)
from lrnn.benchmark.peers import FINE_TUNED, PEERS, Competitor, Factorisation, Kind, Matrix
from lrnn.notebook import table

QUICK_ROWS = 1_000  # of cut-down data
FULL = "needs full matrices, and the data are sparse"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def machine() -> dict[str, Any]:
    """The processor and the system, and how many threads linear algebra may use."""
    from threadpoolctl import threadpool_info

    from lrnn.report.machine import machine as facts

    known = dict(facts())
    threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    return {"processor": known["processor"], "system": known["system"], "threads": threads}


def versions() -> dict[str, str]:
    """Versions of lrnn, of what it uses, and of the peers that are installed."""
    from lrnn.report.machine import machine as facts

    known = {name: text for name, text in facts() if name not in ("processor", "system")}
    for package in dict.fromkeys(m for peers in PEERS.values() for p in peers for m in p.needs):
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            continue
    return known


def _figures(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


Show = Callable[[Any], str]
COLUMNS: dict[str, tuple[tuple[str, str, Show], ...]] = {
    "fit": (
        ("iterations or passes", "iterations", "{:,}".format),
        ("seconds", "seconds", _figures),
        ("error", "error", "{:.5f}".format),
        ("lrnn there after s", "lrnn_seconds", _figures),
        ("times faster", "times_faster", _figures),
    ),
    "encode": (
        ("rows", "rows", "{:,}".format),
        ("seconds", "seconds", _figures),
        ("rows/s", "rows_per_second", "{:,.0f}".format),
        ("error", "error", "{:.5f}".format),
        ("times faster", "times_faster", _figures),
    ),
    "simulate": (
        ("events", "events", "{:,}".format),
        ("seconds", "seconds", _figures),
        ("events/s", "events_per_second", "{:,.0f}".format),
        ("one core is faster by", "times_faster", "{:,.0f}".format),
    ),
    "scale": (
        ("rows", "rows", "{:,}".format),
        ("attributes", "attributes", "{:,}".format),
        ("seconds", "seconds", _figures),
        ("error", "error", "{:.5f}".format),
        ("lrnn there after s", "lrnn_seconds", _figures),
        ("times faster", "times_faster", _figures),
    ),
}


@dataclass(frozen=True)
class Result:
    """Measured numbers, with all that is needed to judge them.

    Attributes
    ----------
    kind : {"fit", "encode", "simulate", "scale"}
        What was measured.
    data : str
        What the data are called.
    shape : tuple of int
        How many rows and attributes they have.
    dtype : str
        The type of their numbers.
    hidden : int
        Width of the code.
    quick : bool
        Whether the data were cut down and the runs short: numbers that say little.
    rows : list of dict
        One for each measurement; times are in seconds.
    left_out : dict
        Contenders that did not take part, with the reason.
    machine, versions : dict
        Where it was measured, and with what.
    date : str
        When, in ISO 8601.
    """

    kind: Kind
    data: str
    shape: tuple[int, int]
    dtype: str
    hidden: int
    quick: bool
    rows: list[Row]
    left_out: dict[str, str]
    machine: dict[str, Any] = field(default_factory=machine)
    versions: dict[str, str] = field(default_factory=versions)
    date: str = field(default_factory=_now)

    @property
    def title(self) -> str:
        """The data, and the width of the code."""
        rows, attributes = self.shape
        return f"{self.data}, {rows:,} rows, {attributes:,} → {self.hidden} neurons, {self.dtype}"

    @property
    def heading(self) -> str:
        """The same, what was measured, and whether it was in earnest."""
        return f"{self.kind}: {self.title}" + (" (QUICK RUN)" if self.quick else "")

    @property
    def header(self) -> list[str]:
        """What is in the columns of a table of it."""
        return ["", *(header for header, _, _ in COLUMNS[self.kind])]

    def lines(self) -> list[list[str]]:
        """The measurements as a table for a person has them."""

        def shown(row: Row, name: str, show: Show) -> str:
            return "" if row[name] is None else show(row[name])

        columns = COLUMNS[self.kind]
        return [
            [row["title"], *(shown(row, name, show) for _, name, show in columns)]
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        notes = [f"{title}: {reason}" for title, reason in self.left_out.items()]
        return table(self.heading, self.header, self.lines(), notes)

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"title": self.title, **asdict(self)}


def compare_training(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with when lrnn had reached their error, and the ratio of the two times.

    Where sizes differ, each is compared with lrnn on data of the same size.
    """
    curves = {_size(row): row["curve"] for row in rows if row["contender"] == "lrnn"}
    compared = []
    for row in rows:
        after = None if _ours(row) else reached(curves[_size(row)], row["error"])
        ratio = None if after is None else row["seconds"] / after
        compared.append({**row, "lrnn_seconds": after, "times_faster": ratio})
    return compared


def reached(curve: Sequence[Sequence[float]], error: float) -> float | None:
    """When a curve of (seconds, error) first was as low as an error.

    >>> reached([(1.0, 0.3), (2.0, 0.1)], 0.2)
    2.0
    """
    return next((seconds for seconds, found in curve if found <= error), None)


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


STEPS: dict[str, Callable[[Matrix, int, Sequence[Any], bool], list[Step]]] = {
    "fit": fit_steps,
    "encode": encode_steps,
    "simulate": simulate_steps,
    "scale": scale_steps,
}
COMPARISONS: dict[str, Callable[[Sequence[Row]], list[Row]]] = {
    "fit": compare_training,
    "encode": compare_encoding,
    "simulate": compare_simulation,
    "scale": compare_training,
}


def run(
    kind: Kind,
    X: Matrix,
    hidden: int,
    peers: Sequence[Competitor],
    left_out: dict[str, str],
    *,
    name: str,
    quick: bool = False,
    progress: Progress = lambda done, total, task: None,
) -> Result:
    """Measure lrnn and its peers, one after the other.

    Parameters
    ----------
    kind : {"fit", "encode", "simulate", "scale"}
        What to measure.
    X : ndarray or csr_array of float32, of shape (n_samples, n_features)
        Data in [0, 1]. Of a sparse matrix those are left out that take none.
    hidden : int
        Width of the code.
    peers, left_out : list and dict
        What `chosen` gave.
    name : str
        What the data are called.
    quick : bool, default=False
        Whether to cut down the data and the runs, only to see it run.
    progress : callable, optional
        Is told how many of how many measurements are done, and which is next.
    """
    if quick:
        X = X[:: -(-X.shape[0] // QUICK_ROWS)].copy()
    if sparse.issparse(X):
        ours = [FINE_TUNED] if kind == "fit" else []
        full = [p for p in (*ours, *peers) if isinstance(p, Factorisation) and not p.sparse]
        left_out = {**left_out, **{peer.title: FULL for peer in full}}
        peers = [peer for peer in peers if peer not in full]
    rows, failed = carry_out(STEPS[kind](X, hidden, peers, quick), progress)
    return Result(
        kind,
        name,
        (X.shape[0], X.shape[1]),
        str(X.dtype),
        hidden,
        quick,
        COMPARISONS[kind](rows),
        {**left_out, **failed},
    )
