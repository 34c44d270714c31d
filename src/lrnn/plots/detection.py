"""Why a row is strange, and how strange rows are."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from lrnn.analysis.explanations import told
from lrnn.arrays import Floats
from lrnn.plots.axes import COLOURS, SMALL, TEXT, axes_or_new, literal, logarithmic, plain
from lrnn.progress import printable

if TYPE_CHECKING:
    from lrnn.analysis.explanations import Explanation
    from lrnn.estimators.detector import LRNNOutlierDetector

BINS = 30
LONGEST = 28  # letters of a name or a value


def explanation(
    explanation: "Explanation", row: int = 0, *, count: int = 10, ax: Axes | None = None
) -> Axes:
    """What makes a row strange: the share of each attribute, what it is, and what was expected.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain`` gave.
    row : int, default=0
        Which of its rows, from 0.
    count : int, default=10
        How many attributes, at most; what all others make is one bar more.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import LRNNOutlierDetector, plots
    >>> X = np.random.default_rng(0).random((200, 1)) * [1.0, 2.0, 3.0]
    >>> model = LRNNOutlierDetector(random_state=0).fit(X)
    >>> ax = plots.explanation(model.explain([[0.5, 1.0, 9.0]]))
    """
    if not 0 <= row < len(explanation):
        raise ValueError(f"row is {row}, and {len(explanation)} rows are explained, from 0")
    if count < 1:
        raise ValueError(f"count is {count}; at least one attribute is shown")
    shown = explanation.strongest(row, count)
    shares = [explanation.share(row, i) for i in shown]
    names = [_short(explanation.names[i]) for i in shown]
    texts = [
        f"{_short(told(explanation.values[i][row]))} "
        f"(expected {_short(told(explanation.expected[i][row]))})"
        for i in shown
    ]
    others = len(explanation.names) - len(shown)
    if others:
        names.append(f"{others} other{'s' * (others > 1)}")
        shares.append(max(0.0, 1 - sum(shares)) if sum(shares) > 0 else 0.0)
        texts.append("")
    ax = axes_or_new(ax, 4.8, 0.7 + 0.24 * len(names))
    places = np.arange(len(names))
    colours = [COLOURS[0]] * len(shown) + ["0.7"] * bool(others)
    ax.barh(places, 100 * np.array(shares), height=0.7, color=colours)
    for place, share, text in zip(places, shares, texts, strict=True):
        ax.annotate(
            literal(text), (100 * share, place), (3, 0), textcoords="offset points",
            va="center", fontsize=SMALL,
        )  # fmt: skip
    ax.set_yticks(places, [literal(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlim(0, 185 * (max(shares) or 1))  # what is written beside the longest has room
    ticks = [tick for tick in ax.get_xticks() if tick <= 100]
    ax.set_xticks(ticks)
    plain(ax, "share of the strangeness (%)", "")
    ax.set_title(
        f"row {explanation.rows[row] + 1}: strangeness {explanation.strangeness[row]:.3g}, "
        f"p-value {explanation.p_values[row]:.2g}",
        loc="left",
        fontsize=TEXT,
    )
    return ax


def strangeness(model: "LRNNOutlierDetector", X: Any = None, *, ax: Axes | None = None) -> Axes:
    """How strange rows are that were held out, and others; and beyond what they are outliers.

    The axis is logarithmic; rows that are not strange at all are at its beginning.

    Parameters
    ----------
    model : LRNNOutlierDetector
        A fitted one.
    X : as for ``model.fit``, optional
        Rows that are shown beside those that were held out.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import LRNNOutlierDetector, plots
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> model = LRNNOutlierDetector(random_state=0).fit(X)
    >>> ax = plots.strangeness(model, X + [0, 0, 0, 1])
    """
    check_is_fitted(model)
    found = None if X is None else -model.score_samples(X)
    return draw_strangeness(model, found, axes_or_new(ax, 4.8, 3.0))


def draw_strangeness(model: "LRNNOutlierDetector", found: Floats | None, ax: Axes) -> Axes:
    """The same, of rows whose strangeness is known."""
    held = -model.held_out_scores_
    line = -model.offset_
    values = held if found is None else np.concatenate([held, found])
    values = np.append(values, line)
    above = values[values > 0]
    log = bool(len(above)) and above.max() > above.min()
    if log:
        low, high = float(above.min()), float(above.max())
        edges = np.geomspace(low, high, BINS + 1)
        edges[[0, -1]] = low, high  # whatever rounding says
    else:
        low, high = 0.0, max(1.0, float(values.max()))
        edges = np.linspace(low, high, BINS + 1)
    beyond = float(model.held_out_weights_[held > line].sum() / model.held_out_weights_.sum())
    label = (
        f"{model.held_out_weights_.sum():,.0f} rows held out: {100 * beyond:.3g} % beyond the line"
    )
    weights = model.held_out_weights_
    _shares(ax, held, weights, edges, label, fill=True, color=COLOURS[5], alpha=0.6)
    if found is not None and len(found):
        share = 100 * float(np.mean(found > line))
        label = f"{len(found):,} rows: {share:.3g} %"
        _shares(ax, found, None, edges, label, color=COLOURS[1], linewidth=1.2)
    ax.axvline(line, color="black", linestyle=":", linewidth=1)
    ax.set_ylim(0)
    if log:
        logarithmic(ax, "x")
    ax.legend(fontsize=SMALL, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
    return plain(ax, "strangeness (1 is usual); outliers are right of the line", "share of rows")


def _shares(
    ax: Axes, values: Floats, weights: Floats | None, edges: Floats, label: str, **how: Any
) -> None:
    """Shares of rows in each bin; what is below the first is in it."""
    counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges, weights=weights)[0]
    ax.stairs(counts / (counts.sum() or 1), edges, label=label, **how)


def _short(text: str) -> str:
    """A name or a value that is not too long for a figure."""
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
