"""Tables, whose attributes are no pixels: parts as a heat map, reconstructions as points."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from lrnn.arrays import Floats
from lrnn.plots.axes import COLOURS, SMALL, axes_or_new, key, literal, plain, tick_step

MOST_POINTS = 50_000  # of a scatter plot


def heat_map(components: Floats, names: Sequence[str] | None, ax: Axes | None) -> Axes:
    """Parts × attributes, each part from 0 (white) to its largest weight."""
    count, width = components.shape
    names = None if names is None else [shorten(name) for name in names]
    longest = max(map(len, names or ["", ""]))
    ax = axes_or_new(ax, min(1.6 + 0.2 * width, 7), min(0.5 + 0.2 * count + 0.06 * longest, 7))
    largest = components.max(axis=1, keepdims=True)
    shares = components / np.where(largest > 0, largest, 1)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.04, pad=0.02, ticks=[0, 1])
    bar.ax.set_yticklabels(["0", "largest"], fontsize=SMALL)
    bar.ax.tick_params(length=0)
    ax.set_yticks(np.arange(0, count, tick_step(ax, count, "y")))
    shown = range(0, width, tick_step(ax, width, "x"))
    labels = [str(i) if names is None else names[i] for i in shown]
    ax.set_xticks(shown, labels, rotation=90 if longest > 3 else 0)
    ax.tick_params(length=0)
    return plain(ax, "" if names is not None else "attribute", "part")


def scatter(
    originals: Floats, outputs: Floats, names: Sequence[str] | None, ax: Axes | None
) -> Axes:
    """Outputs against originals: on the diagonal they are equal.

    Few attributes have colours of their own. Of many points only every so-manieth row is drawn;
    the errors that are stated are those of all.
    """
    ax = axes_or_new(ax, 3.2, 3.2)
    width = originals.shape[1]
    rows = slice(None, None, -(-originals.size // MOST_POINTS))
    few = width <= len(COLOURS)
    groups = [[i] for i in range(width)] if few else [list(range(width))]
    for i, columns in enumerate(groups):
        x, y = originals[rows, columns].ravel(), outputs[rows, columns].ravel()
        ax.plot(
            x, y, ".", color=COLOURS[i], markersize=4 if few else 3, markeredgewidth=0,
            alpha=float(np.clip(3_000 / originals.size, 0.15, 0.7)), rasterized=True,
            label=_name(columns[0], names) if few else None,
        )  # fmt: skip
    low, high = min(originals.min(), outputs.min()), max(originals.max(), outputs.max())
    margin = 0.03 * (high - low) or 0.5
    ends = (low - margin, high + margin)
    ax.plot(ends, ends, color="black", linewidth=0.7, linestyle=":")
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    errors = np.sqrt(((originals - outputs) ** 2).mean(axis=0))
    stated = f"RMSE {np.sqrt((errors**2).mean()):.3g}"
    if width > 1:
        worst = int(errors.argmax())
        stated += f"\nworst {errors[worst]:.3g}:\n{_name(worst, names)}"
    ax.text(0.03, 0.97, stated, transform=ax.transAxes, va="top", fontsize=SMALL)
    plain(ax, "data", "reconstruction")
    key(ax, markers=3)
    return ax


def named_bars(
    values: Floats, names: Sequence[str] | None, ax: Axes, exact: Floats | None = None
) -> Axes:
    """Values in [0, 1] as bars, one below the other, and marks where they should end.

    Without names there are none: those of the bars on the left hold for all in a line.
    """
    places = np.arange(len(values))
    ax.barh(places, values, height=0.7, color=COLOURS[5])
    if exact is not None:
        ax.plot(exact, places, "|", color="black", markersize=6, markeredgewidth=1)
    plain(ax, "", "")
    ax.set(xlim=(0, 1), ylim=(len(values) - 0.4, -0.6), xticks=(0, 0.5, 1))
    ax.set_xticklabels(["0", "0.5", "1"])
    ax.set_yticks(places if names is not None else [])
    if names is not None:
        ax.set_yticklabels(map(shorten, names))
    ax.tick_params(axis="y", length=0)
    return ax


def shorten(name: str) -> str:
    """At most 24 letters of a name."""
    return literal(name if len(name) <= 24 else f"{name[:23]}…")


def _name(i: int, names: Sequence[str] | None) -> str:
    return f"attribute {i}" if names is None else shorten(names[i])
