"""Contenders side by side: error against time, and time against size."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from matplotlib.axes import Axes

from lrnn.plots.axes import axes_or_new, key, literal, logarithmic, plain, style

Points: TypeAlias = Sequence[tuple[float, float]]
FEW = 12  # points that are marked one by one


def error_against_time(curves: Mapping[str, Points], *, ax: Axes | None = None) -> Axes:
    """How low each contender is after how many seconds, on logarithmic axes.

    A curve of many points is a line, whose end is marked; a few points are marked each.

    Parameters
    ----------
    curves : mapping from str to sequence of (seconds, error)
        For each contender's name, its points.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from lrnn import plots
    >>> ax = plots.error_against_time({"one": [(0.1, 0.3), (1.0, 0.2)], "other": [(0.5, 0.25)]})
    """
    ax = axes_or_new(ax, 4.8, 3.4)
    _draw(ax, curves)
    return plain(ax, "seconds", "mean squared error")


def time_against_size(
    curves: Mapping[str, Points], *, size: str = "rows", ax: Axes | None = None
) -> Axes:
    """How long each contender takes for how much, on logarithmic axes.

    Parameters
    ----------
    curves : mapping from str to sequence of (size, seconds)
        For each contender's name, its points.
    size : str, default="rows"
        What the size is counted in.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from lrnn import plots
    >>> ax = plots.time_against_size({"one": [(100, 0.1), (1_000, 0.9)]}, size="rows")
    """
    ax = axes_or_new(ax, 4.8, 3.4)
    _draw(ax, curves)
    return plain(ax, size, "seconds")


def _draw(ax: Axes, curves: Mapping[str, Points]) -> None:
    if not any(curves.values()):
        raise ValueError("there are no points to draw")
    for i, (name, points) in enumerate(curves.items()):
        colour, dashes = style(i)
        few = len(points) <= FEW
        x, y = zip(*points, strict=True) if points else ((), ())
        ax.plot(
            x, y, color=colour, linestyle=dashes, linewidth=1.2, marker="o", markersize=3,
            markevery=None if few else [-1], label=literal(name),
        )  # fmt: skip
    logarithmic(ax, "x")
    logarithmic(ax, "y")
    key(ax)
