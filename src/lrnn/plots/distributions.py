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
    from lrnn.estimators.autoencoder import LRNNAutoencoder
    from lrnn.estimators.classifier import LRNNClassifier

BINS = 20
NEARLY_ZERO = 0.01  # a code below it
MOST_POINTS = 5_000


def firing_rates(model: "LRNNAutoencoder | LRNNClassifier", *, ax: Axes | None = None) -> Axes:
    """Firing rates of each layer's neurons, on a logarithmic scale; the output's are all 1.

    Neurons without outgoing weights never send a spike that matters: they are counted as silent in
    the legend and left out.

    Parameters
    ----------
    model : LRNNAutoencoder or LRNNClassifier
        A fitted one.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import LRNNAutoencoder, plots
    >>> model = LRNNAutoencoder(4, max_iter=5, random_state=0).fit(load_digits().data / 16)
    >>> ax = plots.firing_rates(model)
    """
    check_is_fitted(model)
    ax = axes_or_new(ax, 3.6, 2.6)
    weights = model.weights_.excitatory
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
    """How sparse codes are: their values, and the share of them that is (nearly) 0.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_code)
        What ``model.transform`` gave.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import plots
    >>> ax = plots.codes(np.random.default_rng(0).random((50, 3)) ** 2)
    """
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


def classes(codes: Any, labels: Any, *, ax: Axes | None = None) -> Axes:
    """Codes of rows, coloured by their class: the plane in which they vary most.

    Of more than 5,000 rows so many are shown, chosen evenly; classes beyond the seventh are grey.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_code)
        Codes, or whatever else rows are told apart by.
    labels : array-like of shape (n_rows,)
        The class of each.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lrnn import plots
    >>> ax = plots.classes(load_iris().data / 8, load_iris().target)
    """
    values, names = matrix(codes, "codes"), np.asarray(labels)
    if len(names) != len(values):
        raise ValueError(f"there are {len(values)} rows of codes, but {len(names)} labels")
    ax = axes_or_new(ax, 3.6, 2.8)
    chosen = np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))
    centred = values - values.mean(axis=0)
    _, strengths, axes = np.linalg.svd(centred[chosen], full_matrices=False)
    axes = axes[:2] if len(axes) > 1 else np.vstack([axes, np.zeros_like(axes)])
    plane, texts = centred[chosen] @ axes.T, np.array([str(name) for name in names[chosen]])
    found, counts = np.unique(texts, return_counts=True)
    order = found[np.argsort(-counts, kind="stable")]
    total = float((strengths**2).sum()) or 1.0
    shares = 100 * np.pad(strengths**2, (0, 2))[:2] / total
    for i, name in enumerate(order):
        here = texts == name
        colour = COLOURS[i] if i < len(COLOURS) else "0.6"
        label = name if i < len(COLOURS) else "others" if i == len(COLOURS) else None
        ax.plot(*plane[here].T, ".", markersize=3, color=colour, alpha=0.7, label=label)
    key(ax)
    return plain(
        ax, f"first direction ({shares[0]:.0f} % of the variance)", f"second ({shares[1]:.0f} %)"
    )


def _bins(rates: Floats) -> Floats:
    low, high = rates.min(), rates.max()
    if low == high:
        low, high = low / 2, high * 2
    return np.geomspace(low, high, BINS + 1)
