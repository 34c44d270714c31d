"""Who takes part: each contender's name, what it needs installed, and how it is run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Literal, TypeAlias

from lrnn.arrays import Floats
from lrnn.benchmark import factorisations, simulators
from lrnn.benchmark.trained import Matrix, Trained
from lrnn.network import RandomNeuralNetwork

Kind: TypeAlias = Literal["fit", "encode", "simulate", "scale"]


@dataclass(frozen=True)
class Contender:
    """A way to do the work.

    Attributes
    ----------
    name : str
        As the command line knows it.
    title : str
        As tables and figures show it.
    needs : tuple of str
        What must be installed besides lrnn: modules, and packages of the same names.
    """

    name: str
    title: str
    needs: tuple[str, ...]

    @property
    def missing(self) -> str | None:
        """What to say if it is not installed."""
        absent = [module for module in self.needs if find_spec(module) is None]
        return f"not installed: pip install {' '.join(absent)}" if absent else None

    @property
    def ours(self) -> bool:
        """Whether it is lrnn itself."""
        return self.name.startswith("lrnn")


@dataclass(frozen=True)
class Factorisation(Contender):
    """Trains on rows of data, for so many iterations (or passes over the data).

    Longer budgets are for small data, see :mod:`lrnn.benchmark.fit`.
    """

    train: Callable[[Matrix, int, int], Trained]
    unit: str
    budgets: tuple[int, ...]

    def budget(self, quick: bool) -> int:
        """Its second budget (the only one, if it has no more), or the first to be quick."""
        return self.budgets[0 if quick else min(1, len(self.budgets) - 1)]


@dataclass(frozen=True)
class Simulator(Contender):
    """Simulates a network for about so many events."""

    run: Callable[[RandomNeuralNetwork, Floats, int], tuple[float, float]]
    budgets: tuple[int, ...]


LRNN = Factorisation("lrnn", "lrnn", (), factorisations.train_lrnn, "iterations", (200,))
FINE_TUNED = Factorisation(
    "lrnn-fine-tuned",
    "lrnn, fine_tune=3",
    (),
    factorisations.train_fine_tuned,
    "iterations",
    (200,),
)
FACTORISATIONS = (
    Factorisation(
        "nmf-cd", "NMF (cd)", (), factorisations.train_nmf_cd, "iterations", (5, 20, 80, 320, 1_280)
    ),
    Factorisation(
        "nmf-mu", "NMF (mu)", (), factorisations.train_nmf_mu, "iterations", (20, 80, 320, 1_280)
    ),
    Factorisation(
        "minibatch-nmf",
        "MiniBatchNMF",
        (),
        factorisations.train_minibatch_nmf,
        "passes",
        (1, 4, 16, 64, 256),
    ),
    Factorisation(
        "torchnmf",
        "torchnmf",
        ("torch", "torchnmf"),
        factorisations.train_torchnmf,
        "iterations",
        (20, 80, 320, 1_280),
    ),
    Factorisation(
        "adam", "torch, Adam", ("torch",), factorisations.train_adam, "passes", (2, 8, 32, 128)
    ),
)

ONE_CORE = Simulator(
    "lrnn", "lrnn, one core", (), simulators.simulate_on_one_core, (10**6, 10**7, 10**8)
)
ALL_CORES = Simulator(
    "lrnn-all-cores", "lrnn, all cores", (), simulators.simulate_on_all_cores, ONE_CORE.budgets
)
SIMULATORS = (
    Simulator("ciw", "Ciw", ("ciw",), simulators.simulate_with_ciw, (300, 1_000, 3_000)),
    Simulator(
        "brian2",
        "Brian2 (steps of time)",
        ("brian2",),
        simulators.simulate_with_brian2,
        (3_000, 10_000, 100_000),
    ),
)

PEERS: dict[str, tuple[Contender, ...]] = {
    "fit": FACTORISATIONS,
    "encode": FACTORISATIONS,
    "scale": FACTORISATIONS,
    "simulate": SIMULATORS,
}
DEFAULT_OF_SCALE = ("nmf-cd",)


def chosen(
    kind: Kind, names: Sequence[str] | None = None
) -> tuple[list[Contender], dict[str, str]]:
    """The peers that take part, and those that do not, with the reason.

    By default all that are installed do (in "scale", one); of those that are named, all must be.

    >>> [peer.name for peer in chosen("fit", ["nmf-mu", "nmf-cd"])[0]]
    ['nmf-mu', 'nmf-cd']
    """
    known = {peer.name: peer for peer in PEERS[kind]}
    if names:
        peers = [_find(name, kind, known) for name in dict.fromkeys(names)]
        for peer in peers:
            if peer.missing is not None:
                raise ModuleNotFoundError(f"{peer.name} is {peer.missing}")
        return peers, {}
    peers = [known[name] for name in (DEFAULT_OF_SCALE if kind == "scale" else known)]
    left_out = {peer.title: peer.missing for peer in peers if peer.missing is not None}
    return [peer for peer in peers if peer.missing is None], left_out


def _find(name: str, kind: Kind, known: dict[str, Contender]) -> Contender:
    if name not in known:
        alike = get_close_matches(name.lower(), known, n=1)
        meant = f"did you mean {alike[0]!r}? " if alike else ""
        raise ValueError(f"{kind} has no contender {name!r}; {meant}Known are {', '.join(known)}")
    return known[name]
