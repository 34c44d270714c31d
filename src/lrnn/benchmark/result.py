"""What a benchmark has measured, and where."""

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lrnn.benchmark.course import Row
from lrnn.benchmark.peers import Kind

PACKAGES = ("torch", "torchnmf", "ciw", "brian2")


@dataclass(frozen=True)
class Result:
    """Measured numbers, with all that is needed to judge them.

    Attributes
    ----------
    kind : {"fit", "encode", "simulate", "scale"}
        What was measured.
    title : str
        On what data, and with what width of the code.
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
    title: str
    quick: bool
    rows: list[Row]
    left_out: dict[str, str]
    machine: dict[str, Any] = field(default_factory=lambda: machine())
    versions: dict[str, str] = field(default_factory=lambda: versions())
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


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
    for package in PACKAGES:
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            continue
    return known
