"""Does a trained network keep the constraints of a random neural network? An audit in numbers.

The algorithm as printed divides weights by the largest drive they cause, which may scale rows
past a sum of 1: such weights are no probabilities. With firing rates they are realised as rate ×
probability, and it is the probabilities that must keep the bound. The audit shows both.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lrnn.analysis import bounds
from lrnn.arrays import Floats, Rates
from lrnn.functional.shares import LEAST_SHARE
from lrnn.network import layer_names
from lrnn.network.weights import Weights
from lrnn.notebook import table
from lrnn.rows import Rows
from lrnn.training import evaluate


@dataclass(frozen=True)
class LayerAudit:
    """One layer of neurons, and the weights that lead on from it (the output layer has none).

    Attributes
    ----------
    name : str
        "input", "hidden" (or "hidden 1", …), "output".
    neurons : int
        How many there are.
    rates : (float, float, float)
        Lowest, median and highest firing rate.
    row_sums : (float, float) or None
        Mean and largest sum of a neuron's effective weights.
    rows_above_one : int or None
        Rows of effective weights that sum to more than 1: under unit rates they would violate
        the paper's constraint.
    routed : float or None
        Largest sum of a neuron's routing probabilities: at most 1 in a valid network.
    silent : int or None
        Neurons without any outgoing weight.
    saturated : int or None
        Neurons that saturate for at least one row of the data given.
    """

    name: str
    neurons: int
    rates: tuple[float, float, float]
    row_sums: tuple[float, float] | None
    rows_above_one: int | None
    routed: float | None
    silent: int | None
    saturated: int | None


@dataclass(frozen=True)
class Standing:
    """Where an error stands between what is trivial and what is possible, per attribute.

    Attributes
    ----------
    error : float
        Mean squared error on the data.
    variance : float
        The data's variance: the error of always giving back the mean.
    bound : float
        What no network of this width with unit rates can beat, or no linear map (free rates).
    rates : {"free", "unit"}
        Which of the two.
    n_hidden : int
        Width of the narrowest layer.
    """

    error: float
    variance: float
    bound: float
    rates: Rates
    n_hidden: int

    @property
    def explained(self) -> float:
        """How far the error has come from the variance down to the bound: 1 is all the way.

        Negative where the network cannot even give back the mean (unit rates and few neurons).
        """
        way = self.variance - self.bound
        return (self.variance - self.error) / way if way > 0 else -np.inf

    def __str__(self) -> str:
        best = (
            f"no network with unit rates and {self.n_hidden} hidden neurons has less than"
            if self.rates == "unit"
            else f"no linear map of rank {self.n_hidden} has less than"
        )
        way = f" ({100 * self.explained:.0f} % of the way)" if self.explained >= 0 else ""
        return (
            f"mean squared error {self.error:.4g}{way}: the data's variance is "
            f"{self.variance:.4g},\n{best} {self.bound:.4g}"
        )


@dataclass(frozen=True)
class Recognised:
    """How well rows are recognised, beside what one gets without looking at them.

    Attributes
    ----------
    accuracy : float
        The share of rows whose class is told right.
    loss : float
        Mean cross-entropy.
    commonest : float
        The accuracy of always naming the commonest class.
    entropy : float
        The cross-entropy of always telling how common each class is.
    spikes : float
        Firings per output spike.
    """

    accuracy: float
    loss: float
    commonest: float
    entropy: float
    spikes: float

    @classmethod
    def of(cls, probabilities: Floats, numbers: NDArray[np.int64], spikes: float) -> "Recognised":
        """From the probabilities of classes, and the numbers of the true ones."""
        own = probabilities[np.arange(len(numbers)), numbers]
        common = np.bincount(numbers, minlength=probabilities.shape[1]) / len(numbers)
        seen = common[common > 0]
        return cls(
            accuracy=float(np.mean(probabilities.argmax(axis=1) == numbers)),
            loss=float(-np.log(own + LEAST_SHARE).mean()),
            commonest=float(common.max()),
            entropy=float(-(seen * np.log(seen)).sum()),
            spikes=spikes,
        )

    @property
    def explained(self) -> float:
        """How far the loss has come from the entropy down to 0: 1 is all the way."""
        return 1 - self.loss / self.entropy if self.entropy > 0 else -np.inf

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.4f} (always naming the commonest class: "
            f"{self.commonest:.4f}),\ncross-entropy {self.loss:.4g} (telling how common each class "
            f"is: {self.entropy:.4g}),\n{self.spikes:.4g} firings per output spike"
        )


@dataclass(frozen=True)
class Audit:
    """The audit of a network, layer by layer; ``print`` it.

    Attributes
    ----------
    layers : tuple of LayerAudit
        From the input to the output.
    standing : Standing, Recognised or None
        How good its error is on the data given, or how well a classifier recognises them.
    """

    layers: tuple[LayerAudit, ...]
    standing: Standing | Recognised | None = None

    @property
    def largest_row_sum(self) -> float:
        """Largest sum of a neuron's effective weights (excitatory and inhibitory), in any layer.

        Under unit rates these are probabilities, and it is at most 1; with free rates neurons with
        larger sums fire faster, and it may be any number.
        """
        return max(layer.row_sums[1] for layer in self.layers if layer.row_sums is not None)

    @property
    def largest_routed(self) -> float:
        """Largest sum of a neuron's routing probabilities, in any layer."""
        return max(layer.routed for layer in self.layers if layer.routed is not None)

    @property
    def valid(self) -> bool:
        """Whether this is a random neural network: no neuron sends on more than all its spikes.

        That is, every row of routing probabilities sums to at most 1, but for rounding.
        """
        return self.largest_routed <= 1 + 1e-9

    def __str__(self) -> str:
        rows = [*HEADER, *map(_row, self.layers)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else " "
        lines = [
            gap.join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        words, *verdict = self._notes
        return "\n".join([*lines, *textwrap.wrap(words, WIDTH), *verdict])

    def _repr_html_(self) -> str:
        header = [" ".join(filter(None, words)) for words in zip(*HEADER, strict=True)]
        return table("", header, map(_row, self.layers), self._notes)

    @property
    def _notes(self) -> list[str]:
        """What its words mean, and what comes of it."""
        verdict = f"random neural network: {'valid' if self.valid else 'NOT valid'}"
        return [WORDS, verdict, *([] if self.standing is None else [str(self.standing)])]


WIDTH = 80  # of a terminal
HEADER = (
    ("", "", "rate", "rate", "rate", "row sum", "rows", "prob.", "", ""),
    ("layer", "neurons", "low", "median", "high", "max", "> 1", "max", "silent", "saturated"),
)
WORDS = (
    "(A weight is rate × probability: row sums of weights may be above 1, the sums of a neuron's "
    "probabilities, prob., may not. Rates are 1 at least. Silent: passes nothing on. Saturated: "
    "is excited all the time, for some row of the data.)"
)


def stand(rows: Rows, weights: Weights, rates: Rates) -> Standing:
    """Where a network stands on these rows."""
    hidden = min(weights.sizes)
    bound = bounds.unit_rate if rates == "unit" else bounds.svd
    error = evaluate(rows, weights).error
    return Standing(error, bounds.variance(rows), bound(rows, hidden), rates, hidden)


def audit(
    weights: Weights,
    rates: Rates,
    saturated: Sequence[int] | None = None,
    standing: Standing | Recognised | None = None,
) -> Audit:
    """Audit the network of ``weights``: with unit rates these are its probabilities themselves."""
    own = weights.realised(rates)
    matrices = list(own.excitatory)
    if own.inhibitory is not None:
        matrices = [a + b for a, b in zip(matrices, own.inhibitory, strict=True)]
    if rates == "unit":
        fired = weights.firing_rates(rates)
        routed = [matrix.sum(axis=1) for matrix in matrices]
    else:
        network = weights.to_network(rates)
        fired, routed = network.split(network.rates), network.split(network.routed)
    last = len(matrices)
    names = layer_names(last + 1)
    layers = []
    for i, rate in enumerate(fired):
        sums = matrices[i].sum(axis=1, dtype=np.float64) if i < last else None
        layers.append(
            LayerAudit(
                name=names[i],
                neurons=len(rate),
                rates=(float(rate.min()), float(np.median(rate)), float(rate.max())),
                row_sums=None if sums is None else (float(sums.mean()), float(sums.max())),
                rows_above_one=None if sums is None else int((sums > 1 + 1e-6).sum()),
                routed=None if sums is None else float(routed[i].max()),
                silent=None if sums is None else int((sums == 0).sum()),
                saturated=None if saturated is None else int(saturated[i]),
            )
        )
    return Audit(tuple(layers), standing)


def _row(layer: LayerAudit) -> tuple[str, ...]:
    return (
        layer.name,
        str(layer.neurons),
        *map(_number, layer.rates),
        _number(layer.row_sums and layer.row_sums[1]),
        _number(layer.rows_above_one),
        _number(layer.routed),
        _number(layer.silent),
        _number(layer.saturated),
    )


def _number(value: float | None) -> str:
    """In 7 letters or less."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.4g}" if value < 1e5 else f"{value:.1e}"
