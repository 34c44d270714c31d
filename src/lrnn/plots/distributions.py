"""How firing rates and codes are distributed."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from lrnn.arrays import Floats
from lrnn.network import layer_names
from lrnn.plots.axes import COLOURS, SMALL, axes_or_new, key, logarithmic, plain, style
from lrnn.plots.matrix import matrix

if TYPE_CHECKING:
    from lrnn.autoencoder import LRNNAutoencoder

BINS = 20
NEARLY_ZERO = 0.01  # a code below it


def firing_rates(model: "LRNNAutoencoder", *, ax: Axes | None = None) -> Axes:
    """Firing rates of each layer's neurons, on a logarithmic scale; the output's are all 1.

    Neurons without outgoing weights never send a spike that matters: they are counted as silent in
    the legend and left out.
    """
    check_is_fitted(model)
    ax = axes_or_new(ax, 3.6, 2.6)
    weights = [*model.encoders_, *model.decoders_]
    layers = [
        rates[(w.sum(axis=1) > 0) & (rates > 0)]
        for rates, w in zip(model.firing_rates_, weights, strict=False)
    ]
    bins = _bins(np.concatenate([*layers, np.ones(1)]))
    names = layer_names(len(layers) + 1)
    for i, (rates, w) in enumerate(zip(layers, weights, strict=True)):
        name = names[i]
        silent = len(w) - len(rates)
        label = f"{name} ({len(w)}{f', {silent} silent' if silent else ''})"
        shares = np.histogram(rates, bins)[0] / max(len(rates), 1)
        colour, dashes = style(i)
        ax.stairs(shares, bins, color=colour, linestyle=dashes, linewidth=1.2, label=label)
    ax.axvline(1, color="black", linestyle=":", linewidth=1, label=f"output ({w.shape[1]}): 1")
    ax.set_ylim(0)
    logarithmic(ax, "x")
    key(ax)
    return plain(ax, "firing rate", "share of a layer's neurons")


def codes(codes: Any, *, ax: Axes | None = None) -> Axes:
    """How sparse codes are: their values, and the share of them that is (nearly) 0."""
    values = matrix(codes, "codes")
    ax = axes_or_new(ax, 3.6, 2.6)
    edges = np.linspace(min(values.min(), 0), max(values.max(), 1), 51)
    shares = np.histogram(values, edges)[0] / values.size
    ax.stairs(shares, edges, fill=True, color=COLOURS[0])
    low = values < NEARLY_ZERO
    active = values.shape[1] * (1 - low.mean())
    stated = (
        f"{100 * low.mean():.0f} % below {NEARLY_ZERO}; "
        f"{active:.3g} of {values.shape[1]} neurons above, per row"
    )
    ax.set_title(stated, loc="right", fontsize=SMALL)
    ax.set_xlim(edges[0], edges[-1])
    logarithmic(ax, "y")
    return plain(ax, "code", "share of all values")


def _bins(rates: Floats) -> Floats:
    low, high = rates.min(), rates.max()
    if low == high:
        low, high = low / 2, high * 2
    return np.geomspace(low, high, BINS + 1)
