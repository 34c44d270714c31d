"""The frontier of error against spikes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from lrnn.plots.axes import COLOURS, axes_or_new, key, levels, logarithmic, plain

if TYPE_CHECKING:
    from lrnn.analysis.frontiers import Frontier


def frontier(
    found: "Frontier",
    *,
    known: Mapping[str, float] | None = None,
    point: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Error against spikes, from the cheapest network to those with the lowest errors.

    Parameters
    ----------
    found : Frontier
        What `lrnn.frontier` has found.
    known : mapping from str to float, optional
        Errors to compare with, such as ``{"Yin & Gelenbe 2016": 0.0204}``, as dotted lines. That of
        the best linear map is drawn in any case, and so is that of the network whose spikes are
        free: its spikes have no place on a reasonable axis.
    point : (spikes, error), optional
        A network to be shown beside the frontier.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> import lrnn
    >>> from lrnn import plots
    >>> X = lrnn.datasets.load("digits").data
    >>> found = lrnn.frontier(X, 16, penalties=4, passes=5, random_state=0)
    >>> ax = plots.frontier(found)
    """
    ax = axes_or_new(ax, 4.8, 3.4)
    inhibitory = [p for p in found.points if p.penalty]
    spikes = [p.spikes for p in inhibitory]
    ax.plot(
        spikes, [p.error for p in inhibitory],
        "o-", color=COLOURS[0], markersize=3, linewidth=1.2, label="with inhibition",
    )  # fmt: skip
    if len(found.structures) > 1:
        for number, sizes in enumerate(found.structures):
            own = [p for p in inhibitory if p.sizes == sizes]
            ax.plot(
                [p.spikes for p in own], [p.error for p in own],
                "so^vDP"[number % 6], color=COLOURS[0], markersize=4,
                label="→".join(map(str, sizes)),
            )  # fmt: skip
    tested = [p.test_error for p in inhibitory if p.test_error is not None]
    if len(tested) == len(spikes):
        ax.plot(
            spikes, tested,
            "o--", color=COLOURS[5], markersize=2, linewidth=1, label="on test data",
        )  # fmt: skip
    ax.plot(
        [found.excitatory.spikes], [found.excitatory.error],
        "D", color=COLOURS[1], markersize=5, label="excitatory",
    )  # fmt: skip
    if point is not None:
        ax.plot(*point, "*", color=COLOURS[2], markersize=10, label="this model")
    logarithmic(ax, "x")
    lines = {"no linear map is below": found.svd, **(known or {})}
    lines |= {p.name: p.error for p in found.points if p.penalty == 0}
    levels(ax, {name: error for name, error in lines.items() if error > 0}, side="left")
    key(ax)
    return plain(ax, "spikes per unit time", "mean squared error")
