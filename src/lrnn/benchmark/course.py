"""One measurement after the other, in this process; a peer that fails stops no other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import sleep
from typing import Any, TypeAlias

from lrnn.benchmark.peers import Contender

Row: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[int, int, str], None]
PAUSE = 0.1  # seconds in which BLAS threads that wait for more work go to sleep
PATIENCE, MOST = 1.0, 7  # what takes less than a second is repeated, but not more often


@dataclass(frozen=True)
class Step:
    """A measurement: whose, what is said of it meanwhile, and the rows that it gives."""

    contender: Contender
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


def fastest(work: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """How much was done in how many seconds, by the fastest of several runs.

    Other work on the machine only ever makes a run slower.
    """
    runs = [work()]
    while sum(seconds for _, seconds in runs) < PATIENCE and len(runs) < MOST:
        runs.append(work())
    return min(runs, key=lambda run: run[1] / run[0])
