"""What a benchmark has measured, and where."""

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lrnn.benchmark.course import Row
from lrnn.benchmark.peers import Kind

PEERS = ("torch", "torchnmf", "ciw", "brian2")


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
    for package in PEERS:
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            continue
    return known


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

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"title": self.title, **asdict(self)}
