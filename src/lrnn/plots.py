"""Figures."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnn.spiking import Simulation
from lrnn.spiking.estimators import ESTIMATORS, Estimator
from lrnn.training import LearningCurve
from lrnn.typing import Vector


def image_grid(axes: Axes, rows: Vector, shape: tuple[int, int], columns: int, title: str) -> None:
    """Rows of data as small images side by side, each scaled to its own maximum."""
    height, width = shape
    lines = -(-len(rows) // columns)
    canvas = np.full((lines * (height + 1) - 1, columns * (width + 1) - 1), np.nan)
    for i, row in enumerate(rows):
        top, left = (i // columns) * (height + 1), (i % columns) * (width + 1)
        canvas[top : top + height, left : left + width] = row.reshape(shape) / (row.max() or 1)
    colours = colormaps["gray_r"].with_extremes(bad="#cfe0ee")
    axes.imshow(canvas, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_axis_off()


def learning_curves(axes: Axes, curves: Iterable[tuple[str, LearningCurve]]) -> None:
    """Error against iterations: on each minibatch (thin) and on all rows (thick)."""
    for name, curve in curves:
        (line,) = axes.plot(curve.iterations, curve.errors, linewidth=1.5, label=name)
        steps = np.arange(1, len(curve.batch_errors) + 1)
        axes.plot(steps, curve.batch_errors, color=line.get_color(), linewidth=0.4, alpha=0.5)
    axes.set_xlabel("iterations", fontsize=8)
    axes.set_ylabel("mean squared error", fontsize=8)
    axes.set_yscale("log")
    _plain(axes)


def overview(
    images: Vector,
    reconstructions: Vector,
    parts: Vector,
    curves: Sequence[tuple[str, LearningCurve]],
    shape: tuple[int, int],
) -> Figure:
    """Images, what the network makes of them, its parts, and how the error fell."""
    figure = Figure(figsize=(11, 3.4), layout="constrained", dpi=150)
    grid: Any = figure.subplot_mosaic("ACD;BCD", width_ratios=[1.25, 1, 1.2])
    image_grid(grid["A"], images, shape, 10, "data")
    image_grid(grid["B"], reconstructions, shape, 10, "reconstruction")
    columns = max(1, round(np.sqrt(len(parts))))
    image_grid(grid["C"], parts, shape, columns, f"{len(parts)} parts it is made of")
    learning_curves(grid["D"], curves)
    return figure


def layer_image(axes: Axes, activations: Vector, shape: tuple[int, int] | None = None) -> Axes:
    """Activations of a layer's neurons as shades, from 0 (white) to 1 (black).

    ``shape`` is by default as square as the number of neurons allows; what is left over is blue.
    """
    height, width = shape or _squarest(len(activations))
    canvas = np.full(height * width, np.nan)
    canvas[: len(activations)] = activations
    colours = colormaps["gray_r"].with_extremes(bad="#cfe0ee")
    axes.imshow(
        canvas.reshape(height, width), cmap=colours, vmin=0, vmax=1, interpolation="nearest"
    )
    axes.set_xticks([])
    axes.set_yticks([])
    return axes


def simulated_layers(
    result: Simulation,
    moments: Sequence[float] = (10_000, 100_000, 1_000_000),
    *,
    shape: tuple[int, int] | None = None,
    row: int = 0,
    estimator: Estimator = "potential",
) -> Figure:
    """The paper's Figure 4: each layer as computed, and as simulated after so many events.

    ``shape`` is that of the images in the first and last layers. Under each picture stands its
    root mean square error.
    """
    network = result.network
    numeric = np.atleast_2d(np.asarray(result.steady))[row]
    estimates = [np.atleast_2d(result.at(m).activation(estimator))[row] for m in moments]
    layers = network.split(numeric) if network.layer_sizes else [numeric]
    columns = 1 + len(moments)
    figure = Figure(
        figsize=(1.9 * columns + 0.4, 2.05 * len(layers)), layout="constrained", dpi=150
    )
    grid = figure.subplots(len(layers), columns, squeeze=False)
    titles = ["numeric", *(f"after {moment:,} {result.unit}" for moment in moments)]
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(title, fontsize=9)
    for i, (line, exact) in enumerate(zip(grid, layers, strict=True)):
        outer = shape if i in (0, len(layers) - 1) else None
        layer_image(line[0], exact, outer)
        line[0].set_ylabel(result.layer_names[i], fontsize=9)
        for axes, estimate in zip(line[1:], estimates, strict=True):
            found = network.split(estimate)[i] if network.layer_sizes else estimate
            layer_image(axes, found, outer)
            error = np.sqrt(((found - exact) ** 2).mean())
            axes.set_xlabel(f"RMSE {error:.4f}", fontsize=8)
    return figure


def convergence(
    axes: Axes,
    result: Simulation,
    *,
    estimators: Sequence[Estimator] = ESTIMATORS,
    layer: str | None = None,
) -> Axes:
    """Error to the numeric solution against events, and the line of 1/√events.

    ``layer`` is one of ``result.layer_names``, by default the last.
    """
    which = result.layer_names.index(layer) if layer else -1
    levels = []
    for estimator in estimators:
        found = result.compare(estimator=estimator)
        errors = found.errors[:, which]
        axes.plot(found.events, errors, linewidth=1.5, label=estimator)
        levels.append(np.log(errors * np.sqrt(found.events)).mean())
    ends = np.array([found.events[0], found.events[-1]])
    level = np.exp(np.mean(levels))
    axes.plot(ends, level / np.sqrt(ends), "k:", linewidth=1, label="1/√events")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("events", fontsize=8)
    axes.set_ylabel(f"RMSE, {result.layer_names[which]} layer", fontsize=8)
    return _plain(axes)


def raster(axes: Axes, result: Simulation) -> Axes:
    """A tick for every spike of the recorded neurons."""
    if result.raster is None:
        raise ValueError("no spikes were recorded; simulate with record=[…]")
    line = np.searchsorted(result.raster.recorded, result.raster.neurons)
    axes.plot(result.raster.times, line, "|", color="black", markersize=3, markeredgewidth=0.6)
    axes.set_xlabel("time", fontsize=8)
    axes.set_ylabel(f"{len(result.raster.recorded)} recorded neurons", fontsize=8)
    axes.set_ylim(-1, len(result.raster.recorded))
    axes.set_xlim(0, result.time if np.ndim(result.time) == 0 else None)
    axes.tick_params(labelsize=7)
    return axes


def _plain(axes: Axes) -> Axes:
    axes.tick_params(which="both", labelsize=7)
    axes.legend(fontsize=7, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def _squarest(count: int) -> tuple[int, int]:
    width = int(np.ceil(np.sqrt(count)))
    return -(-count // width), width
