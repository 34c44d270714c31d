"""How figures look: colours, small type, numbers of logarithmic axes written out."""

from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

# those of Okabe and Ito, which colour-blind readers can tell apart, without the yellow
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SMALL, TEXT, TITLE = 7, 8, 9  # points


def plain(ax: Axes, x: str, y: str) -> None:
    """Small type, no frame at the top and the right."""
    ax.set_xlabel(x, fontsize=TEXT)
    ax.set_ylabel(y, fontsize=TEXT)
    ax.tick_params(which="both", labelsize=SMALL)
    ax.spines[["top", "right"]].set_visible(False)


def logarithmic(ax: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic scale, with numbers written out (0.02, 0.05, 20k) where they are few."""
    ax.set(**{f"{which}scale": "log"})
    low, high = ax.get_xlim() if which == "x" else ax.get_ylim()
    axis = ax.xaxis if which == "x" else ax.yaxis
    if high < 1_000 * low:
        few = which == "x" or high > 10 * low
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1, 1.5, 2, 3, 4, 6, 8)))
    if high < 1_000 * low or which == "x":
        axis.set_major_formatter(lambda value, _: written_out(value))
        axis.set_minor_formatter(NullFormatter())


def written_out(value: float) -> str:
    """A tick's number; large ones in thousands or millions.

    >>> written_out(0.02), written_out(6000.0), written_out(20_000.0)
    ('0.02', '6000', '20k')
    """
    return EngFormatter(sep="").format_eng(value) if value >= 10_000 else f"{value:g}"


def key_below(figure: Figure, ax: Axes) -> None:
    """What lines are, under the whole figure."""
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=SMALL,
        frameon=False,
    )  # fmt: skip
