"""Simulations: single spikes, and layers as simulated beside layers as computed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.network.weights import CODE
from lrnn.plots.axes import SMALL, TEXT, TITLE, axes_or_new, plain, size, style, tick_step
from lrnn.plots.images import layer_image
from lrnn.plots.tables import named_bars

if TYPE_CHECKING:
    from lrnn.spiking import Simulation
    from lrnn.spiking.estimators import Estimator
    from lrnn.spiking.raster import Raster

MOST_NAMED = 40  # neurons of a layer that are drawn as bars
EVENTS_SHOWN = (10_000, 100_000, 1_000_000)
"""After how many events a simulation is shown: as in the paper's Figure 4."""


def raster(result: "Simulation", *, row: int = 0, replica: int = 0, ax: Axes | None = None) -> Axes:
    """A tick for every spike of the recorded neurons in one run, by default the first.

    Neurons are numbered from 0 in each layer. Where those of several layers were recorded, each
    layer has its colour.

    Parameters
    ----------
    result : Simulation
        With ``record=[…]``.
    row, replica : int, default=0
        Which run: of which row of arrivals, and which replica of it.
    ax : matplotlib Axes, optional
        Where to draw it; by default in a figure of its own.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from lrnn import RandomNeuralNetwork, plots
    >>> network = RandomNeuralNetwork([1.0], [[0.0]])
    >>> ax = plots.raster(network.simulate([0.5], time=20, record=[0], random_state=0))
    """
    if result.raster is None:
        raise ValueError("no spikes were recorded; simulate with record=[…]")
    spikes = result.raster.of(row, replica)
    count = len(spikes.recorded)
    ax = axes_or_new(ax, 5, float(np.clip(0.5 + 0.1 * count, 1.5, 5)))
    ax.set_ylim(-0.75, count - 0.25)
    points = float(np.clip(0.9 * 72 * size(ax)[1] / count, 2, 8))
    line = np.searchsorted(spikes.recorded, spikes.neurons)
    layers = _layers(result, spikes.recorded)
    several = len(np.unique(layers)) > 1
    for layer in np.unique(layers):
        mine = layers[line] == layer
        colour = style(int(layer))[0] if several else "black"
        ax.plot(
            spikes.times[mine],
            line[mine],
            "|",
            color=colour,
            markersize=points,
            markeredgewidth=0.7,
        )
    _label_neurons(ax, result, spikes, layers)
    ax.set_xlim(0, float(spikes.durations[0]) or 1.0)  # of a run that did not begin: anything
    return ax


def simulated_layers(
    result: "Simulation",
    moments: Sequence[float] | None = None,
    *,
    shape: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    row: int = 0,
    estimator: "Estimator" = "potential",
) -> Figure:
    """The paper's Figure 4: each layer as computed, and as simulated after so many events.

    Under each picture stands its root mean square error. Layers are drawn as images or, where the
    attributes have names, as bars; marks on the bars are where the computed ones end.

    Parameters
    ----------
    result : Simulation
        Of a network in layers, or of any other: its neurons are then one layer.
    moments : sequence of float, optional
        After how many events (or how much time). By default 10,000, 100,000 and 1,000,000 events,
        as far as the simulation has come.
    shape : (height, width), (height, width, 3) or (3, height, width), optional
        Of the images in the first and last layers (unless that is the code, in the network of a
        part of a model).
    names : sequence of str, optional
        What attributes are called; then bars take the place of images, in layers that are not too
        wide for that.
    classes : sequence, optional
        What the output neurons of a classifier stand for; they are then drawn as bars, unless they
        are too many.
    row : int, default=0
        Which row of arrivals.
    estimator : {"potential", "busy", "arrivals", "events"}, default="potential"
        Where estimates are from.

    Returns
    -------
    figure : Figure
        A new one.
    """
    moments = _moments(result) if moments is None else moments
    if result.frames is not None and len(result.frames) > 1:
        raise ValueError("this is a film; draw one frame of it, such as result.frame(0)")
    numeric = np.atleast_2d(np.asarray(result.steady))
    if not -len(numeric) <= row < len(numeric):
        raise ValueError(f"row is {row}, but there are {len(numeric)} rows of arrivals")
    exact = _split(result, numeric[row])
    estimates = [np.atleast_2d(result.at(m).activation(estimator))[row] for m in moments]
    data = [i in (0, len(exact) - 1) and result.layer_names[i] != CODE for i in range(len(exact))]
    named = None if shape else names
    data[-1] &= classes is None
    called = [_names(len(layer), outer, named) for layer, outer in zip(exact, data, strict=True)]
    if classes is not None and len(classes) == len(exact[-1]) <= MOST_NAMED:
        called[-1] = [*map(str, classes)]
    columns = 1 + len(moments)
    heights = [0.55 + 0.15 * len(c) if c else 2.05 for c in called]
    margin = 0.4 + (1.2 if any(called) else 0)
    size = (1.9 * columns + margin, sum(heights))
    figure = Figure(figsize=size, layout="constrained", dpi=150)
    grid = figure.subplots(len(exact), columns, squeeze=False, height_ratios=heights)
    titles = ["numeric", *(_after(result, moment) for moment in moments)]
    for ax, title in zip(grid[0], titles, strict=True):
        ax.set_title(title, fontsize=TITLE)
    pictures = zip(*(_split(result, values) for values in estimates), strict=True)
    for i, (line, computed, simulated) in enumerate(zip(grid, exact, pictures, strict=True)):
        outer = shape if data[i] else None
        if called[i]:
            named_bars(computed, called[i], line[0])
        else:
            layer_image(computed, shape=outer, ax=line[0])
        line[0].set_ylabel(result.layer_names[i], fontsize=TITLE)
        for ax, values in zip(line[1:], simulated, strict=True):
            if called[i]:
                named_bars(values, None, ax, computed)
            else:
                layer_image(values, shape=outer, ax=ax)
            error = np.sqrt(((values - computed) ** 2).mean())
            ax.set_xlabel(f"RMSE {error:.4f}", fontsize=TEXT)
    figure.align_ylabels(grid[:, 0])
    return figure


def _names(width: int, of_data: bool, names: Sequence[str] | None) -> Sequence[str] | None:
    """What the neurons of a layer are called, if those of the data are and there are not many."""
    if names is None or width > MOST_NAMED:
        return None
    if of_data:
        return [*map(str, names)] if len(names) == width else None
    return [str(i + 1) for i in range(width)]


def _label_neurons(
    ax: Axes, result: "Simulation", spikes: "Raster", layers: NDArray[np.int64]
) -> None:
    """Numbers of the neurons of one layer, or names of several."""
    groups = np.unique(layers)
    if len(groups) > 1:
        lines = [np.flatnonzero(layers == layer) for layer in groups]
        names = [result.layer_names[layer] for layer in groups]
        plain(ax, "time", "")
        ax.set_yticks([line.mean() for line in lines], names, fontsize=TEXT)
        ax.tick_params(axis="y", length=0)
        for line in lines[1:]:
            ax.axhline(line[0] - 0.5, color="0.7", linewidth=0.5)
        return
    first = sum((result.network.layer_sizes or ())[: groups[0]])
    name = result.layer_names[groups[0]]
    plain(ax, "time", "neuron" if name == "all" else f"{name} neuron")
    shown = np.arange(0, len(spikes.recorded), tick_step(ax, len(spikes.recorded), "y", 0.2))
    ax.set_yticks(shown, [str(n - first) for n in spikes.recorded[shown]], fontsize=SMALL)


def _layers(result: "Simulation", neurons: NDArray[np.int64]) -> NDArray[np.int64]:
    """In which layer each neuron is."""
    sizes = result.network.layer_sizes
    if sizes is None or result.layer_names == ("all",):
        return np.zeros(len(neurons), dtype=np.int64)
    return np.searchsorted(np.cumsum(sizes), neurons, side="right")


def _split(result: "Simulation", values: Floats) -> list[Floats]:
    return [values] if result.layer_names == ("all",) else result.network.split(values)


def _moments(result: "Simulation") -> Sequence[float]:
    """Those of the paper that there are snapshots of, or the last snapshot."""
    there = [m for m in EVENTS_SHOWN if result.unit == "events" and m in result.snapshots]
    return there or result.snapshots[-1:].tolist()


def _after(result: "Simulation", moment: float) -> str:
    return f"after {moment:,} events" if result.unit == "events" else f"after time {moment:g}"
