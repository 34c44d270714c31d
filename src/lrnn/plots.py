"""Figures."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
    axes.tick_params(which="both", labelsize=7)
    axes.legend(fontsize=7, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


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
