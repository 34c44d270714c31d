"""Errors on held-out entries against the width of the code."""

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from lrnn.plots.axes import COLOURS, axes_or_new, key, logarithmic, plain

if TYPE_CHECKING:
    from lrnn.analysis.widths import WidthPath


def widths(found: "WidthPath", *, ax: Axes | None = None) -> Axes:
    """Error on held-out entries against the number of code neurons, with standard errors.

    Parameters
    ----------
    found : WidthPath
        What `lrnn.widths` has found.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> import lrnn
    >>> from lrnn import plots
    >>> X = lrnn.datasets.load("iris").data
    >>> ax = plots.widths(lrnn.widths(X, folds=1))
    """
    ax = axes_or_new(ax, 4.8, 3.4)
    numbers = [point.width for point in found.points]
    ax.errorbar(
        numbers, [point.error for point in found.points],
        yerr=[point.standard_error for point in found.points],
        fmt="o-", color=COLOURS[0], markersize=3, linewidth=1.2, capsize=2,
        label="held-out entries",
    )  # fmt: skip
    best, chosen = found.best, found.suggested
    ax.axhline(
        best.error + best.standard_error,
        color=COLOURS[5], linewidth=0.8, linestyle=":", label="lowest + one standard error",
    )  # fmt: skip
    ax.plot(
        [chosen.width], [chosen.error],
        "D", color=COLOURS[1], markersize=6, label=f"suggested: {chosen.width}",
    )  # fmt: skip
    if numbers[-1] > numbers[0]:
        logarithmic(ax, "x")
    if min(point.error - point.standard_error for point in found.points) > 0:
        logarithmic(ax, "y")
    key(ax)
    return plain(ax, "code neurons", "mean squared error")
