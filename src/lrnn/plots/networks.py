"""Networks: neurons as circles, weights as lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lrnn.analysis.frontiers import readable
from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.plots.axes import COLOURS, SMALL, TEXT, axes_or_new, bare, size
from lrnn.plots.tables import shorten
from lrnn.tables.scaling import input_names

if TYPE_CHECKING:
    from lrnn.estimators.autoencoder import LRNNAutoencoder
    from lrnn.estimators.classifier import LRNNClassifier

Integers = NDArray[np.int64]
KINDS: tuple[tuple[str, str, Any], ...] = (
    ("excitatory", COLOURS[0], "-"),
    ("inhibitory", COLOURS[1], (0, (3, 1.5))),
)
INK = "0.3"  # of neurons
LARGEST, LEAST = 15.0, 0.1  # diameter of a circle in points, and the least share of its area
WIDEST = 2.5  # line in points
FEW = 0.05  # of the neurons have the smallest circles, where areas show logarithms of rates
FURNITURE = 0.85  # of the height, about, is left by what stands above and below


@dataclass(frozen=True)
class Connections:
    """Weights above 0, as rates × probabilities, and the neurons between which they are."""

    source: Integers
    target: Integers
    weight: Floats
    inhibitory: NDArray[np.bool_]

    @classmethod
    def of(cls, network: RandomNeuralNetwork) -> "Connections":
        """All of a network."""
        found = []
        for inhibits, routes in enumerate((network.excitatory, network.inhibitory)):
            if routes is not None:
                entries = sparse.coo_array(routes)
                weight = network.rates[entries.row] * entries.data
                kind = np.full(len(weight), bool(inhibits))
                found.append((entries.row, entries.col, weight, kind))
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        return cls(*columns)[columns[2] > 0]

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, which: Any) -> "Connections":
        return Connections(
            self.source[which], self.target[which], self.weight[which], self.inhibitory[which]
        )


def network(
    model: Union["LRNNAutoencoder", "LRNNClassifier", RandomNeuralNetwork],
    *,
    names: Sequence[str] | None = None,
    neurons: int = 30,
    lines: int = 500,
    ax: Axes | None = None,
) -> Axes:
    """The paper's Figure 1, of any network: neurons as circles, weights as lines.

    The area of a circle shows the neuron's firing rate; or its logarithm, if the largest rate is
    more than ten times that of half of the neurons. The width and darkness of a line show the
    weight: the firing rate times the probability that the spike goes there, as a share of the
    largest between the same two layers. Inhibitory weights are dashed and end in a bar. How much
    is left out is said.

    Layers stand from left to right. A network without layers, or one that has other connections
    than from layer to layer, is drawn as a circle with arrows.

    Parameters
    ----------
    model : fitted LRNNAutoencoder or LRNNClassifier, or RandomNeuralNetwork
        A model is drawn with the lowest rates that its weights need, its ``firing_rates_``.
    names : sequence of str, optional
        What the neurons of the first and of the last layer are called, or all neurons of a
        network without layers; by default, a model's attributes as in the data that were learnt.
        The last layer of a classifier are its classes.
    neurons : int, default=30
        How many neurons of a layer are drawn at most: those with the strongest weights.
    lines : int, default=500
        How many weights are drawn at most: the strongest between these neurons, of each two
        layers as many.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import RandomNeuralNetwork, plots
    >>> ax = plots.network(RandomNeuralNetwork([1, 1], np.zeros((2, 2)), [[0, 1], [1, 0]]))
    """
    for argument, value in (("neurons", neurons), ("lines", lines)):
        if value < 1:
            raise ValueError(f"{argument} must be 1 or more, got {value!r}")
    drawn = _network(model)
    weights = Connections.of(drawn)
    layers = _layers(drawn, weights)
    names = getattr(model, "feature_names_in_", None) if names is None else names
    if names is not None:
        names = input_names(names, getattr(model, "scaling_", None))
    if names is not None and len(names) != len(layers[0]):
        raise ValueError(f"there are {len(names)} names, but {len(layers[0])} neurons to name")
    shown, chosen, strength = _strongest(layers, weights, neurons, lines)
    silent = _silent(drawn, layers, weights)
    rates = np.where(silent, 0, drawn.rates)
    there = np.concatenate(shown)
    several = len(layers) > 1
    ax = axes_or_new(ax, *figure_size([len(layer) for layer in shown]))
    bare(ax)
    places, room = _columns(ax, shown) if several else _ring(ax, shown[0])
    circles = Circles.of(rates[there], room)
    areas = circles.areas(rates)
    if several:
        _draw_lines(ax, places, chosen, strength)
        _name_layers(ax, drawn.layer_names, shown, layers)
        ends = getattr(model, "classes_", names)
        for at, called in ((0, names), (-1, ends)):
            if called is not None and len(called) == len(layers[at]):
                _name_column(ax, places, shown[at], layers[at], called, room, last=at < 0)
    else:
        _draw_arrows(ax, places, chosen, strength, areas)
        _name_ring(ax, places, shown[0], names, chosen)
    for layer in shown:
        _draw_neurons(ax, places[layer], areas[layer], silent[layer])
    _tell_widest(ax, shown, chosen)
    entries = [*_lines_explained(chosen, weights), circles.explained(rates[there])]
    if silent[there].any():
        entries.append((_circle(LEAST * circles.largest, "white"), "silent: sends no spike"))
    _explain(ax, entries)
    return ax


def figure_size(sizes: Sequence[int]) -> tuple[float, float]:
    """Width and height in inches for layers of so many neurons, or for one circle of them."""
    if len(sizes) == 1:
        return 4.6, 4.6
    return min(2.4 + 1.2 * len(sizes), 10), float(np.clip(1.3 + 0.22 * max(sizes), 2.6, 5.2))


def _network(model: Any) -> RandomNeuralNetwork:
    if isinstance(model, RandomNeuralNetwork):
        return model
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if not hasattr(model, "to_network"):
        raise TypeError(
            f"{type(model).__name__} is no network; give a fitted LRNNAutoencoder (of a pipeline, "
            "that step) or a RandomNeuralNetwork"
        )
    found: RandomNeuralNetwork = model.to_network(least_rate=0)
    return found


def _layers(network: RandomNeuralNetwork, weights: Connections) -> list[Integers]:
    """The neurons of each layer; all of them, unless weights lead only to the next layer."""
    everyone = np.arange(network.n_neurons)
    if network.layer_sizes is None:
        return [everyone]
    layer = np.repeat(np.arange(len(network.layer_sizes)), network.layer_sizes)
    if (layer[weights.target] != layer[weights.source] + 1).any():
        return [everyone]
    return np.split(everyone, np.cumsum(network.layer_sizes)[:-1])


def _strongest(
    layers: Sequence[Integers], weights: Connections, neurons: int, lines: int
) -> tuple[list[Integers], Connections, Floats]:
    """Neurons and weights to draw, and these as shares of the strongest between their layers."""
    layer = np.repeat(np.arange(len(layers)), [len(each) for each in layers])
    between = layer[weights.source]
    largest = np.zeros(len(layers))
    np.maximum.at(largest, between, weights.weight)
    strength = weights.weight / largest[between]
    best = np.zeros(len(layer))
    for ends in (weights.source, weights.target):
        np.maximum.at(best, ends, strength)
    shown = [np.sort(each[np.argsort(-best[each], kind="stable")[:neurons]]) for each in layers]
    there = np.isin(np.arange(len(layer)), np.concatenate(shown))
    candidates = np.flatnonzero(there[weights.source] & there[weights.target])
    if len(candidates) > lines:
        share = max(1, lines // max(1, len(layers) - 1))
        order = candidates[np.argsort(-strength[candidates], kind="stable")]
        gaps = [order[between[order] == gap][:share] for gap in range(len(layers))]
        candidates = np.concatenate(gaps)
    weakest_first = candidates[np.argsort(strength[candidates], kind="stable")]
    return shown, weights[weakest_first], strength[weakest_first]


def _columns(ax: Axes, shown: Sequence[Integers]) -> tuple[Floats, float]:
    """Where neurons of layers are (of others, NaN), and the points that there are for each."""
    most = max(map(len, shown))
    places = np.full((max(layer.max() for layer in shown) + 1, 2), np.nan)
    for x, layer in enumerate(shown):
        step = min(1 / len(layer), 1.6 / most)
        places[layer, 0] = x
        places[layer, 1] = step * ((len(layer) - 1) / 2 - np.arange(len(layer)))
    ax.set(xlim=(-0.1, len(shown) - 0.9), ylim=(-0.58, 0.54))
    return places, 72 * FURNITURE * size(ax)[1] / most


def _ring(ax: Axes, shown: Integers) -> tuple[Floats, float]:
    """The same of neurons on a circle, clockwise from the top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(shown)) / len(shown)
    places = np.full((shown.max() + 1, 2), np.nan)
    places[shown] = np.column_stack([np.cos(angle), np.sin(angle)])
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.7, 1.4))
    return places, 72 * FURNITURE * min(size(ax)) * 1.5 / max(4, len(shown))


@dataclass(frozen=True)
class Circles:
    """Areas of circles for firing rates, from ``low`` (or less) to ``high``."""

    low: float
    high: float
    largest: float
    logarithmic: bool

    @classmethod
    def of(cls, rates: Floats, room: float) -> "Circles":
        """For these rates, if there are so many points for each."""
        firing = rates[rates > 0] if (rates > 0).any() else np.ones(1)
        few, half, high = map(float, np.quantile(firing, [FEW, 0.5, 1]))
        logarithmic = half < LEAST * high
        low = few if logarithmic else max(float(firing.min()), LEAST * high)
        return cls(low, high, min(0.9 * room, LARGEST) ** 2, logarithmic)

    def areas(self, rates: Floats) -> Floats:
        """In square points."""
        if self.logarithmic:
            low, high = np.log(self.low), np.log(self.high)
            share = (np.log(np.maximum(rates, self.low)) - low) / (high - low)
            return np.asarray(self.largest * (LEAST + (1 - LEAST) * np.minimum(share, 1)))
        return np.asarray(self.largest * np.clip(rates / self.high, LEAST, 1))

    def explained(self, rates: Floats) -> tuple[tuple[Line2D, ...], str]:
        """Examples, and what they mean."""
        same = self.high <= 1.01 * self.low
        shown = [self.high] if same else [self.low, (self.low * self.high) ** 0.5, self.high]
        less = "≤ " if ((rates > 0) & (rates < 0.99 * self.low)).any() else ""
        said = ", ".join(map(_short, shown))
        how = "area by its logarithm" if self.logarithmic else "area ∝ rate"
        circles = tuple(_circle(area) for area in self.areas(np.array(shown)))
        return circles, f"firing rate {less}{said} ({how})"


def _silent(
    network: RandomNeuralNetwork, layers: Sequence[Integers], weights: Connections
) -> NDArray[np.bool_]:
    """Neurons that need not fire: those of rate 0 or, in layers, that lead nowhere."""
    silent: NDArray[np.bool_] = network.rates == 0
    if len(layers) > 1:
        inner = np.concatenate(layers[:-1])
        silent[inner] |= ~np.isin(inner, weights.source)
    return silent


def _draw_lines(ax: Axes, places: Floats, weights: Connections, strength: Floats) -> None:
    """From layer to layer; inhibitory ones a little lower, with a bar before their end."""
    for inhibits, (name, colour, dashes) in enumerate(KINDS):
        mine = weights.inhibitory == bool(inhibits)
        if not mine.any():
            continue
        ends = np.stack([places[weights.source[mine]], places[weights.target[mine]]], axis=1)
        ends[:, :, 1] -= 0.006 * inhibits
        look = {"linewidths": _widths(strength[mine]), "alpha": _darkness(strength[mine])}
        ax.add_collection(
            LineCollection(
                list(ends), colors=colour, linestyles=[dashes], zorder=1 + inhibits, label=name,
                **look,
            ),
            autolim=False,
        )  # fmt: skip
        if inhibits:
            x, y = (0.13 * ends[:, 0] + 0.87 * ends[:, 1]).T
            ax.scatter(x, y, s=5 + 30 * strength[mine], marker="|", color=colour, zorder=2, **look)


def _draw_arrows(
    ax: Axes, places: Floats, weights: Connections, strength: Floats, areas: Floats
) -> None:
    """From any neuron to any other, or to itself."""
    radii = np.sqrt(areas) / 2
    for i, j, inhibits, share in zip(
        weights.source, weights.target, weights.inhibitory, strength, strict=True
    ):
        name, colour, dashes = KINDS[int(inhibits)]
        style = "-[,widthB=0.45,lengthB=0" if inhibits else "-|>,head_length=0.5,head_width=0.25"
        ends: dict[str, Any]
        if i == j:
            ends = {"path": _loop(places[i], inhibits)}
        else:
            bend = 0.3 if inhibits else 0.12  # so that all four between two neurons are apart
            ends = {
                "posA": places[i], "posB": places[j], "connectionstyle": f"arc3,rad={bend}",
                "shrinkA": radii[i], "shrinkB": radii[j] + 1,
            }  # fmt: skip
        ax.add_patch(
            FancyArrowPatch(
                **ends, arrowstyle=style, mutation_scale=8, color=colour, linestyle=dashes,
                linewidth=_widths(share), alpha=_darkness(share), label=name, zorder=1,
            )
        )  # fmt: skip


def _loop(place: Floats, inhibits: bool) -> Path:
    """Out of the circle of neurons and back to the same one; inhibitory ones are wider."""
    outwards, along = place, np.array([-place[1], place[0]])
    far, wide = (0.42, 0.3) if inhibits else (0.3, 0.18)
    near = place + 0.07 * outwards
    corners = [
        near + 0.05 * along, place + far * outwards + wide * along,
        place + far * outwards - wide * along, near - 0.05 * along,
    ]  # fmt: skip
    return Path(corners, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])


def _draw_neurons(ax: Axes, places: Floats, areas: Floats, silent: NDArray[np.bool_]) -> None:
    """Circles; those that need not fire are hollow."""
    faces = np.where(silent, "white", INK)
    x, y = places.T
    ax.scatter(x, y, s=areas, c=faces, edgecolors=INK, linewidths=0.6, zorder=3, clip_on=False)


def _name_layers(
    ax: Axes, names: Sequence[str], shown: Sequence[Integers], layers: Sequence[Integers]
) -> None:
    """Above each layer what it is, how many neurons it has, and how many of them are drawn."""
    labels = []
    whole = sum(map(len, shown)) == sum(map(len, layers))
    named = zip(names, shown, layers, strict=True)
    for x, (name, some, every) in enumerate(named):
        labels.append(f"{name}\n{len(every):,} neuron{'s' * (len(every) > 1)}")
        if not whole:
            labels[-1] += "\nall shown" if len(some) == len(every) else f"\n{len(some)} shown"
        if len(some) < len(every):
            ax.text(x, -0.55, "⋮", ha="center", va="center", fontsize=TEXT, color=INK)
    ax.set_xticks(range(len(layers)), labels, fontsize=TEXT)
    ax.tick_params(top=False, labeltop=True, bottom=False, labelbottom=False, length=0)


def _tell_widest(ax: Axes, shown: Sequence[Integers], weights: Connections) -> None:
    """Between layers or under a circle, the weight that the widest line there has."""
    several = len(shown) > 1
    for gap, layer in enumerate(shown[:-1] if several else shown):
        mine = weights.weight[np.isin(weights.source, layer)]
        if len(mine):
            x, y = (gap + 0.5, -0.55) if several else (0, -1.65)
            ax.text(
                x, y, f"widest: {_short(mine.max())}", ha="center", va="center",
                fontsize=SMALL, color=INK,
            )  # fmt: skip


def _name_column(
    ax: Axes,
    places: Floats,
    shown: Integers,
    layer: Integers,
    names: Sequence[Any],
    room: float,
    *,
    last: bool,
) -> None:
    """Names beside the first or the last layer, as many as fit."""
    step = int(np.ceil(1.1 * SMALL / room))
    side, points = ("left", 10) if last else ("right", -10)
    for neuron in shown[::step]:
        ax.annotate(
            shorten(str(names[neuron - layer[0]])), places[neuron], ha=side, va="center",
            fontsize=SMALL, xytext=(points, 0), textcoords="offset points",
            annotation_clip=False,
        )  # fmt: skip


def _name_ring(
    ax: Axes, places: Floats, shown: Integers, names: Sequence[str] | None, weights: Connections
) -> None:
    """Names, or numbers from 0, around a circle of neurons and their loops."""
    looped = weights.source[weights.source == weights.target]
    for neuron in shown:
        x, y = places[neuron] * (1.42 if neuron in looped else 1.14)
        side = ("right", "center", "left")[int(np.sign(np.round(x, 1))) + 1]
        name = str(neuron) if names is None else shorten(names[neuron])
        ax.text(x, y, name, ha=side, va="center", fontsize=TEXT)


def _lines_explained(chosen: Connections, weights: Connections) -> Iterator[tuple[Any, str]]:
    """What lines are, and how many weights are drawn of how many."""
    for inhibits, (name, colour, dashes) in enumerate(KINDS):
        some, every = (int((w.inhibitory == bool(inhibits)).sum()) for w in (chosen, weights))
        if every or not inhibits:
            line = Line2D(
                [], [], color=colour, linestyle=dashes, linewidth=1.5,
                marker="|" if inhibits else None,
            )  # fmt: skip
            left_out = f"\n{some:,} of {every:,}, the strongest between these neurons"
            count = f" all {every:,}" if some == every else left_out
            yield line, f"{name} weights (rate × probability):{count}"


def _explain(ax: Axes, entries: Sequence[tuple[Any, str]]) -> None:
    """A legend under the network."""
    handles, labels = zip(*entries, strict=True)
    ax.legend(
        handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), fontsize=SMALL,
        frameon=False, handlelength=7.5, handler_map={tuple: HandlerTuple(ndivide=None, pad=0.6)},
    )  # fmt: skip


def _short(value: float) -> str:
    return readable(float(f"{value:.2g}"))


def _circle(area: float, face: str = INK) -> Line2D:
    return Line2D(
        [], [], linestyle="", marker="o", markersize=float(np.sqrt(area)), markerfacecolor=face,
        markeredgecolor=INK, markeredgewidth=0.6,
    )  # fmt: skip


def _widths(strength: Any) -> Any:
    return 0.35 + (WIDEST - 0.35) * strength


def _darkness(strength: Any) -> Any:
    return 0.2 + 0.75 * strength
