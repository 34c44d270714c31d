"""Accuracy against events."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from lrnn.plots.axes import axes_or_new, key, literal, logarithmic, plain, style

if TYPE_CHECKING:
    from lrnn.analysis.decisions import EventCurve


def accuracy_by_events(
    curves: "EventCurve | Mapping[str, EventCurve]",
    *,
    stops: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """How many rows are recognised after so many events.

    Parameters
    ----------
    curves : EventCurve or mapping from str to EventCurve
        What `lrnn.decisions.accuracy_by_events` has found, by names. Dotted lines are accuracies
        without spikes; a thin line is what theory expects in steady state, where there is only one
        curve.
    stops : mapping from str to (events, accuracy), optional
        Rules by which each row ends for itself: events on average, and accuracy. One with the name
        of a curve is drawn in its colour.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from lrnn import datasets, decisions, plots
    >>> digits = datasets.load("digits")
    >>> X, y = digits.data, digits.target
    >>> linear = LogisticRegression(max_iter=1000).fit(X[:1000], y[:1000])
    >>> found = decisions.accuracy_by_events(
    ...     None, X[1000:], y[1000:], classifier=linear, events=1_000, random_state=0
    ... )
    >>> ax = plots.accuracy_by_events({"input spikes": found})
    """
    named = curves if isinstance(curves, Mapping) else {"simulated": curves}
    ax = axes_or_new(ax, 4.8, 3.4)
    colours = {}
    for i, (name, curve) in enumerate(named.items()):
        colour, dashes = style(i)
        colours[name] = colour
        ax.plot(
            curve.events, curve.accuracy, "o", linestyle=dashes, color=colour, markersize=3,
            linewidth=1.2, label=literal(name),
        )  # fmt: skip
        ax.axhline(curve.exact, color=colour, linestyle=":", linewidth=0.8)
        if curve.expected is not None and len(named) == 1:
            ax.plot(
                curve.events, curve.expected, "-", color=style(1)[0], linewidth=0.8,
                label="by theory, in steady state",
            )  # fmt: skip
    for i, (name, (events, accuracy)) in enumerate((stops or {}).items()):
        own = colours.get(name)
        label = None if own else literal(name)
        colour = own or style(len(named) + i)[0]
        ax.plot([events], [accuracy], "*", color=colour, markersize=9, label=label)
    logarithmic(ax, "x")
    key(ax)
    return plain(ax, "events", "accuracy")
