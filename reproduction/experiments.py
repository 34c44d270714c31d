"""The experiments, as data: structures, contenders, and the tasks that are run one by one."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from lrnn.datasets import DATA_SETS

Estimator = Literal["potential", "events"]
Kind = Literal[
    "training", "recognition", "spiking", "inhibition", "robustness", "stalled", "classifiers"
]
LAYERWISE = "printed-layerwise"  # Algorithm 2; "printed" is Algorithm 1, of deep structures 3
METHODS = ("printed", LAYERWISE, "lrnn")
RATES = ("free", "unit")
QUICK_ROWS = 200  # of cut-down data: codes of 150 neurons need as many
SPIKING = "mnist-100"  # the network of the paper's Figure 4
SIMULATED = {  # its weights: by the algorithm as printed, kept to unit rates, and by our solver
    "printed": ("printed", "free"),
    "unit": ("printed", "unit"),
    "lrnn": ("lrnn", "free"),
}
OBSERVED_AT: tuple[Estimator, ...] = ("potential", "events")  # ours, and the paper's to the letter
EVENTS_SHOWN = (10_000, 100_000, 1_000_000)  # after which simulations are looked at
INHIBITION = "mnist-50"  # the network that gets inhibition
FEATURES = ("raw", "PCA", "NMF", "printed", "lrnn", "inhibition", "inhibition_modest")
"""What is recognised by; from deep networks only "printed" and "lrnn"."""
STALLED_SEEDS = {"yale": 10}  # how stable it is takes more of them than 5
BEYOND = (
    "inhibition",
    "stalled",
    "classifiers",
)  # run only if they are named: not the paper's, or too long
MODEST = 0.014  # spends about four times the spikes of the excitatory network on MNIST
AMPLE = 0.0021  # about fifty times as many


@dataclass(frozen=True)
class Structure:
    """An autoencoder of the paper.

    Attributes
    ----------
    data : str
        The data set's name.
    hidden : tuple of int
        Widths of its encoding layers.
    figure : str
        Where the paper shows it: "2a", "2b", "2c" or "3".
    batch_size : int
        Rows in a minibatch.
    passes : int
        Of Algorithm 1 or, if it is deep, 3 over the data. (The paper does not say how many it
        makes.)
    passes_unit : int
        Most passes of our solver if all rates are 1.
    fine_tune : int
        Passes with which our solver ends.
    passes_layerwise : int
        Of Algorithm 2, for each layer pair: as many as are affordable. 0: it is not deep.
    """

    data: str
    hidden: tuple[int, ...]
    figure: str
    batch_size: int
    passes: int
    passes_unit: int
    fine_tune: int
    passes_layerwise: int = 0

    @property
    def paper(self) -> float | None:
        """The lowest error that the paper reports, if it does."""
        return DATA_SETS[self.data].errors.get("-".join(map(str, self.hidden)))

    @property
    def name(self) -> str:
        """Such as ``mnist-100`` or ``mnist-1000-500-250-50``."""
        return "-".join((self.data, *map(str, self.hidden)))

    @property
    def label(self) -> str:
        """Such as ``784→100``."""
        return "→".join(map(str, (DATA_SETS[self.data].attributes, *self.hidden)))

    @property
    def n_weights(self) -> int:
        """Of all its layers, there and back."""
        sizes = (DATA_SETS[self.data].attributes, *self.hidden)
        return 2 * sum(a * b for a, b in pairwise(sizes))

    @property
    def deep(self) -> bool:
        """Whether it has several encoding layers."""
        return len(self.hidden) > 1

    def algorithm(self, method: str) -> str:
        """What a way of training is called, such as ``Algorithm 3``."""
        printed = {"printed": f"Algorithm {3 if self.deep else 1}", LAYERWISE: "Algorithm 2"}
        return printed.get(method, method)

    @property
    def cheap(self) -> bool:
        """Whether several seeds are affordable."""
        return DATA_SETS[self.data].rows * DATA_SETS[self.data].attributes < 1e6


IMAGES = (
    Structure("mnist", (100,), "2a", 100, 10, 30, 10),
    Structure("mnist", (50,), "2a", 100, 10, 30, 10),
    Structure("mnist", (1000, 500, 250, 50), "2a", 100, 8, 30, 5, 4),
    Structure("yale", (50,), "2b", 5, 60, 200, 60),
    Structure("yale", (500, 100, 50), "2b", 5, 40, 200, 20, 30),
    Structure("cifar10", (150,), "2c", 100, 10, 10, 2),
    Structure("cifar10", (1000, 500, 150), "2c", 100, 4, 10, 0, 3),
)
UCI = tuple(
    Structure(entry.name, ((entry.attributes + 1) // 2,), "3", 50, 200, 200, 100)
    for entry in DATA_SETS.values()
    if entry.image_shape is None
)
STRUCTURES: dict[str, Structure] = {s.name: s for s in (*IMAGES, *UCI)}
"""All of them, by name."""


@dataclass(frozen=True)
class Contender:
    """One way to give back 50 numbers' worth of an image.

    Attributes
    ----------
    title : str
        What it is called in tables.
    network : bool
        Whether it is a random neural network, and not PCA.
    share : float or None
        What a spike costs a network with inhibition: this share of the excitatory network's error
        per spike. 0: nothing. None: there is no inhibition.
    passes : int
        Of training end to end over the data; 0: as many as are good.
    simulated : bool
        Whether it is simulated, spike by spike.
    clipped : bool
        Whether what PCA gives back is clipped to [0, 1].
    """

    title: str
    network: bool = True
    share: float | None = None
    passes: int = 0
    simulated: bool = False
    clipped: bool = False


CONTENDERS: dict[str, Contender] = {
    "excitatory": Contender("excitatory", passes=10),
    "modest": Contender("inhibition, modest", share=MODEST, simulated=True),
    "ample": Contender("inhibition, ample", share=AMPLE, simulated=True),
    "free": Contender("inhibition, free", share=0.0),
    "pca": Contender("PCA", network=False),
    "pca-clipped": Contender("PCA, clipped to [0, 1]", network=False, clipped=True),
}
"""All of them, by the name of their task."""

FOR_DAMAGE: dict[str, Contender] = {
    "excitatory": Contender("excitatory, trained for it"),
    "free": Contender("inhibition, free, trained for it", share=0.0, passes=10),
}
"""Those of which there is one for each damage, trained for that."""


@dataclass(frozen=True)
class Recipe:
    """How a classifier made of spikes is trained, on tables or on images.

    Attributes
    ----------
    hidden : int
        Neurons of its one hidden layer; a perceptron beside it has as many.
    complement : bool
        Whether it sees every attribute x beside 1 − x.
    noise : float
        Standard deviation of what is added to inputs in training.
    smoothing : float
        Of labels.
    price : float
        What spikes cost where they are not free.
    """

    hidden: int
    complement: bool
    noise: float = 0.05
    smoothing: float = 0.1
    price: float = 0.03


RECIPES: dict[str, Recipe] = {"tables": Recipe(100, True), "images": Recipe(300, False)}
"""Chosen once for all data, by rows that were held out of those to learn from."""
CLASSIFIERS = {
    "linear": "logistic regression", "perceptron": "perceptron", "5-NN": "5-NN",
    "spikes": "LRNNClassifier", "spikes_priced": "LRNNClassifier at a price",
}  # fmt: skip
"""What is compared, and what it is called in tables; those of spikes are of `LRNNClassifier`."""
SEEN_BY = {"raw": "attributes", "lrnn": "codes"}
"""What classifiers see: data as they are, or codes of an autoencoder."""


@dataclass(frozen=True)
class Reading:
    """What the paper leaves open, read in one way.

    Attributes
    ----------
    title : str
        What it is called in tables.
    initial : callable
        Initial weights before the check-and-adjust of rows, from numbers uniform in [0, 1].
    order : {"each pass", "once", "never"}
        When rows are shuffled.
    keeps_absent : bool
        Whether an attribute that is 0 in a whole minibatch keeps its weights. As printed, their
        numerators are 0, and they are lost for good.
    """

    title: str
    initial: Callable[[Any], Any] = np.asarray
    order: str = "each pass"
    keeps_absent: bool = False


READINGS: dict[str, Reading] = {
    "": Reading("uniform weights, rows shuffled in each pass"),
    "nearly-equal": Reading("weights nearly equal", initial=lambda u: 1 + u / 100),
    "uneven": Reading("few weights large", initial=lambda u: u**8),
    "shuffled-once": Reading("rows shuffled once", order="once"),
    "not-shuffled": Reading("rows in the order of the file", order="never"),
    "keeps-absent": Reading("weights of absent attributes kept", keeps_absent=True),
}
"""All of them, by the name of their task; the first is that of all other experiments."""


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
    reading: str = ""

    @property
    def name(self) -> str:
        """What its files are called."""
        parts = (
            self.kind, self.subject, self.method, self.rates, self.reading, str(self.seed),
        )  # fmt: skip
        return "_".join(filter(None, parts))

    @property
    def data(self) -> str:
        """The data set it needs."""
        return self.subject if self.subject in DATA_SETS else STRUCTURES[self.subject].data

    @property
    def images(self) -> int:
        """How many are simulated, where that is the question; and so many replicas of one."""
        return 10 if self.quick else 100

    def facts(self) -> dict[str, Any]:
        """All of it, as a result remembers it: by these very texts it is known again."""
        structure = STRUCTURES.get(self.subject)
        known = [s for s in STRUCTURES.values() if s.data == self.subject]
        settings: dict[str, Callable[[], object]] = {
            "training": lambda: structure,
            "recognition": lambda: (FEATURES, known),
            "classifiers": lambda: (recipe_for(self.subject), tuple(CLASSIFIERS)),
            "stalled": lambda: (  # whatever else is done with this structure
                STRUCTURES[self.subject].hidden,
                STRUCTURES[self.subject].batch_size,
                READINGS[self.reading].title,
            ),
            "spiking": lambda: (structure, tuple(SIMULATED), OBSERVED_AT),
            "inhibition": lambda: (structure, CONTENDERS[self.method]),
            "robustness": lambda: (structure, FOR_DAMAGE[self.method]),
        }
        return asdict(self) | {"images": self.images, "settings": repr(settings[self.kind]())}


def some(rows: Any, quick: bool) -> Any:
    """All rows; of a quick run few, from the first to the last."""
    count = rows.shape[0]
    chosen = np.linspace(0, count - 1, min(count, QUICK_ROWS)).astype(int)
    return rows[chosen] if quick else rows


def recipe_for(data: str) -> Recipe:
    """Images have one, all other data another."""
    return RECIPES["tables" if DATA_SETS[data].image_shape is None else "images"]


def chosen_tasks(names: Sequence[str], seeds: int = 3, quick: bool = False) -> list[Task]:
    """The experiments on some data sets or structures; all of the paper's, if none are named.

    Small ones are run from several seeds. All are in the order of the data sets, so that each is
    read once. "figure4" is the simulation alone, which trains the networks that it needs. Where
    classifiers are compared, it is after all others, on small data first.
    """
    compared = _compared(names)
    paper = [name for name in names if name not in (*BEYOND, *compared, "figure4")]
    wanted = _wanted(paper) if paper or not names else set()
    tasks = []
    for data in DATA_SETS:
        structures = [s for s in STRUCTURES.values() if s.data == data and s.name in wanted]
        for structure in structures:
            tasks += [
                Task("training", structure.name, quick, method, rates, seed)
                for rates in RATES
                for method in methods(structure, rates)
                for seed in range(seeds if structure.cheap and not quick else 1)
            ]
        simulated = SPIKING in wanted or "figure4" in names
        if simulated and data == STRUCTURES[SPIKING].data:
            tasks.append(Task("spiking", SPIKING, quick))
        if structures and DATA_SETS[data].class_names:
            tasks.append(Task("recognition", data, quick))
        if "inhibition" in names and data == STRUCTURES[INHIBITION].data:
            tasks += [Task("inhibition", INHIBITION, quick, m) for m in CONTENDERS]
            tasks += [Task("robustness", INHIBITION, quick, m) for m in FOR_DAMAGE]
        if "stalled" in names:
            tasks += stalled_tasks(data, quick)
    return tasks + [Task("classifiers", data, quick) for data in compared.values()]


def _compared(names: Sequence[str]) -> dict[str, str]:
    """Data sets on which classifiers are compared, by names such as classifiers-wine; small first.

    "classifiers" is all that have labels.
    """
    known = dict.fromkeys(s.data for s in STRUCTURES.values() if DATA_SETS[s.data].class_names)
    order = sorted(known, key=lambda data: DATA_SETS[data].rows * DATA_SETS[data].attributes)
    everything = "classifiers" in names
    found = {f"classifiers-{data}": data for data in order}
    return {name: data for name, data in found.items() if everything or name in names}


def stalled_tasks(data: str, quick: bool) -> list[Task]:
    """The printed algorithms until they stall, on images, and under all readings where one is open.

    A reading is tried where the paper gives an error of a shallow network.
    """
    tasks: list[Task] = []
    for structure in (s for s in IMAGES if s.data == data):
        deep = structure.deep
        methods = ("algorithm2", "algorithm3") if deep else ("algorithm1",)
        tasks += [
            Task("stalled", structure.name, quick, method, seed=seed)
            for method in methods
            for seed in range(1 if quick else STALLED_SEEDS.get(data, 5))
        ]
        if structure.paper is not None and not deep:
            tasks += [
                Task("stalled", structure.name, quick, "algorithm1", reading=reading)
                for reading in READINGS
                if reading
            ]
    return tasks


def methods(structure: Structure, rates: str) -> list[str]:
    """How a structure is trained; Algorithm 2 takes long, and is run with free rates only."""
    return [m for m in METHODS if m != LAYERWISE or (structure.deep and rates == "free")]


def known_names() -> list[str]:
    """What can be named besides all: figures, data sets, and what is not the paper's."""
    figures = ("figure2a", "figure2b", "figure2c", "figure3", "figure4")
    return [*figures, *dict.fromkeys(s.data for s in STRUCTURES.values()), *BEYOND]


def _wanted(names: Sequence[str]) -> set[str]:
    if not names or "all" in names:
        return set(STRUCTURES)
    wanted: set[str] = set()
    for name in names:
        found = {
            s.name for s in STRUCTURES.values() if name in (s.name, s.data, f"figure{s.figure}")
        }
        if not found:
            alike = get_close_matches(name.lower(), [*known_names(), *STRUCTURES], n=1)
            meant = f"did you mean {alike[0]!r}? " if alike else ""
            raise ValueError(
                f"there is no experiment {name!r}; {meant}Known are all, {', '.join(known_names())}"
            )
        wanted |= found
    return wanted
