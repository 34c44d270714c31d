"""Pieces of work: each is run on its own, and its result is kept."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, Literal

from lrnn.datasets import DATA_SETS
from lrnn.paper.contenders import CONTENDERS
from lrnn.paper.structures import STRUCTURES

Kind = Literal["training", "recognition", "spiking", "inhibition"]
METHODS = ("printed", "lrnn")
RATES = ("free", "unit")
QUICK_ROWS = 1_000  # of cut-down data
SPIKING = "mnist-100"  # the network of the paper's Figure 4
INHIBITION = "mnist-50"  # the network that gets inhibition
FEATURES = ("raw", "PCA", "NMF", "lrnn", "inhibition", "inhibition_modest")  # to recognise by
BEYOND = ("inhibition",)  # experiments that are not the paper's: run if they are named


@dataclass(frozen=True)
class Settings:
    """What all experiments have in common."""

    seeds: int = 3
    quick: bool = False


@dataclass(frozen=True)
class Task:
    """One experiment: a structure trained in one way from one seed, a data set, a simulation.

    ``method`` is the way of training or, where inhibition is the question, the contender.
    """

    kind: Kind
    subject: str
    quick: bool
    method: str = ""
    rates: str = ""
    seed: int = 0

    @property
    def name(self) -> str:
        """What its files are called."""
        parts = (self.kind, self.subject, self.method, self.rates, str(self.seed))
        return "_".join(filter(None, parts))

    @property
    def data(self) -> str:
        """The data set it needs."""
        return self.subject if self.kind == "recognition" else STRUCTURES[self.subject].data

    def facts(self) -> dict[str, Any]:
        """All of it, as a result remembers it."""
        facts = asdict(self)
        if self.kind == "recognition":
            return facts | {"features": list(FEATURES)}
        facts |= {"structure": repr(STRUCTURES[self.subject])}
        if self.kind == "inhibition":
            facts |= {"contender": repr(CONTENDERS[self.method])}
        return facts


def chosen_tasks(names: Sequence[str], settings: Settings) -> list[Task]:
    """The experiments on some data sets or structures; all of the paper's, if none are named.

    They are in the order of the data sets, so that each is read once.
    """
    paper = [name for name in names if name not in BEYOND]
    wanted = _wanted(paper) if paper or not names else set()
    tasks = []
    for data in DATA_SETS:
        structures = [s for s in STRUCTURES.values() if s.data == data and s.name in wanted]
        for structure in structures:
            seeds = settings.seeds if structure.cheap and not settings.quick else 1
            tasks += [
                Task("training", structure.name, settings.quick, method, rates, seed)
                for rates in RATES
                for method in METHODS
                for seed in range(seeds)
            ]
        if SPIKING in wanted and data == STRUCTURES[SPIKING].data:
            tasks.append(Task("spiking", SPIKING, settings.quick))
        if structures and DATA_SETS[data].class_names:
            tasks.append(Task("recognition", data, settings.quick))
        if "inhibition" in names and data == STRUCTURES[INHIBITION].data:
            tasks += [Task("inhibition", INHIBITION, settings.quick, m) for m in CONTENDERS]
    return tasks


def _wanted(names: Sequence[str]) -> set[str]:
    if not names or "all" in names:
        return set(STRUCTURES)
    wanted: set[str] = set()
    for name in names:
        found = {
            s.name for s in STRUCTURES.values() if name in (s.name, s.data, f"figure{s.figure}")
        }
        if not found:
            known = list(dict.fromkeys(s.data for s in STRUCTURES.values()))
            alike = get_close_matches(name.lower(), [*known, *STRUCTURES, *BEYOND], n=1)
            meant = f"did you mean {alike[0]!r}? " if alike else ""
            raise ValueError(
                f"there is no experiment {name!r}; {meant}Known are all, figure2a, figure2b, "
                f"figure2c, figure3, {', '.join((*known, *BEYOND))}"
            )
        wanted |= found
    return wanted
