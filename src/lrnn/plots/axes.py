"""Axes: where to draw, how it looks in print, and how a figure becomes a file."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    EngFormatter,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
)

from lrnn.progress import printable
from lrnn.tables.atomic import write_atomically
from lrnn.tables.marks import figure_metadata

# those of Okabe and Ito, which colour-blind readers can tell apart, without the yellow
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")  # for more lines than there are colours
GROUND = "#cfe0ee"  # behind images: neither black nor white
SHADES = colormaps["gray_r"].with_extremes(bad=GROUND)  # from 0 (white) to 1 (black)
SMALL, TEXT, TITLE = 7, 8, 9  # points


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """``ax`` itself, or those of a new figure of pyplot of this size in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # here, for it chooses a display

    _, new = plt.subplots(figsize=(width, height), dpi=150, layout="constrained")
    return new


def literal(text: str) -> str:
    """``text`` as it is: Matplotlib takes dollars for formulas, and hides labels with a ``_``.

    It has no letters for control characters.
    """
    text = printable(text).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def style(i: int) -> tuple[str, str]:
    """Colour and dashes of the line number ``i``."""
    return COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]


def plain(ax: Axes, x: str, y: str) -> Axes:
    """Small type, no frame at the top and the right."""
    ax.set_xlabel(x, fontsize=TEXT)
    ax.set_ylabel(y, fontsize=TEXT)
    ax.tick_params(which="both", labelsize=SMALL)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def key(ax: Axes, markers: float = 1) -> None:
    """A legend, where more than one thing has a name; its markers are so many times larger."""
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(fontsize=SMALL, frameon=False, markerscale=markers)


def levels(
    ax: Axes,
    lines: Mapping[str, float],
    side: Literal["left", "right"] = "right",
    log: bool = True,
) -> None:
    """Dotted lines to compare with, and their names at one end; the axis is then ``log`` or not.

    Names of lines that are close to each other stand above the highest of them, in their order.
    """
    for value in lines.values():
        ax.axhline(value, color="0.3", linestyle=":", linewidth=1)
    if log:
        logarithmic(ax, "y")
    low, high = ax.get_ylim()
    ends = ax.transScale.transform([(1, low), (1, high)])[:, 1]
    apart = 1.4 * SMALL / 72 / size(ax)[1] * (ends[1] - ends[0])  # a line of text
    groups: list[tuple[list[str], float, float]] = []  # names, height of the highest line, and top
    for label, value in sorted(lines.items(), key=lambda line: line[1]):
        height = ax.transScale.transform((1, value))[1]
        if groups and height < groups[-1][2]:
            names, _, top = groups.pop()
            groups.append(([label, *names], value, max(top, height + apart * len(names)) + apart))
        else:
            groups.append(([label], value, height + apart))
    for names, value, _ in groups:
        ax.text(
            0.01 if side == "left" else 1, value, "\n".join(map(literal, names)),
            transform=ax.get_yaxis_transform(), ha=side, va="bottom", fontsize=SMALL, color="0.3",
        )  # fmt: skip


def bare(ax: Axes, title: str | None = None) -> Axes:
    """Neither ticks nor frame: for images."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    if title is not None:
        ax.set_title(title, fontsize=TITLE, loc="left")
    return ax


def logarithmic(ax: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic scale, with numbers written out (0.02, 0.05, 20k) where they are few."""
    ax.set_xscale("log") if which == "x" else ax.set_yscale("log")
    low, high = ax.get_xlim() if which == "x" else ax.get_ylim()
    if high < 1_000 * low:
        axis = ax.xaxis if which == "x" else ax.yaxis
        axis.set_major_locator(_few_marks(high / low, which))
        axis.set_major_formatter(FuncFormatter(lambda x, _: written_out(x)))
        axis.set_minor_formatter(NullFormatter())


def written_out(x: float) -> str:
    """A tick's number; large ones in thousands or millions, beyond these as a power of ten.

    >>> written_out(0.02), written_out(6000.0), written_out(20_000.0), written_out(1e6)
    ('0.02', '6000', '20k', '1M')
    >>> written_out(2.5e8), written_out(3e12), written_out(1e40)
    ('250M', '3e+12', '1e+40')
    """
    large = 10_000 <= abs(x) < 1e9
    return EngFormatter(sep="").format_eng(x) if large else f"{x:g}"


def _few_marks(ratio: float, which: Literal["x", "y"]) -> Locator:
    """Marks of an axis that ends at so many times its beginning; side by side fewer have room."""
    if ratio <= 2.5:
        return MaxNLocator(5)
    if which == "y":
        return LogLocator(subs=(1, 2, 5) if ratio > 10 else (1, 1.5, 2, 3, 4, 6, 8))
    return LogLocator(subs=(1, 2, 4, 7) if ratio <= 10 else (1, 2, 5) if ratio <= 60 else (1, 3))


def tick_step(ax: Axes, count: int, which: Literal["x", "y"], inches: float = 0.14) -> int:
    """Every how many of ``count`` evenly spaced labels fit on an axis."""
    fit = max(1, int(size(ax)[which == "y"] / inches))
    return -(-count // fit)


def size(ax: Axes) -> tuple[float, float]:
    """Width and height in inches."""
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, as its path ends: the whole file, or nothing."""
    kind = path.suffix[1:].lower()
    content = io.BytesIO()
    figure.savefig(content, format=kind, metadata=figure_metadata(kind))
    write_atomically(path, content.getvalue())
