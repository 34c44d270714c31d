"""What an autoencoder is made of, and what it makes of data."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lrnn.plots.axes import TEXT, TITLE, bare
from lrnn.plots.curves import Curves, learning_curves
from lrnn.plots.images import as_images, draw, full_lines, image_grid, in_lines, mosaic
from lrnn.plots.matrix import column_names, matrix
from lrnn.plots.tables import heat_map, scatter
from lrnn.tables.scaling import input_names, input_shape

if TYPE_CHECKING:
    from lrnn.estimators.autoencoder import LRNNAutoencoder

IMAGES = 40  # in an overview


def parts(
    components: Any,
    *,
    shape: Sequence[int] | None = None,
    columns: int | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What each code neuron adds to the output: as images, or as a heat map.

    Parameters
    ----------
    components : fitted LRNNAutoencoder, or array-like of shape (n_parts, n_attributes)
        Its ``components_`` are drawn; also of any other estimator that has them, such as NMF.
    shape : (height, width), (height, width, 3) or (3, height, width), optional
        Of an image. Each part is then drawn as one; without it, parts are rows of a heat map. In
        both, each part is scaled to its own maximum. Where attributes have complements, these are
        drawn below them.
    columns : int, optional
        Images in a line; by default so many that there are about as many lines, and full ones if
        that is possible.
    names : sequence of str, optional
        What attributes are called, in a heat map; by default as in the data that were learnt.
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
    >>> ax = plots.parts(model, shape=(8, 8))
    """
    rows = matrix(_components(components), "components")
    scaling = getattr(components, "scaling_", None)
    shape = input_shape(shape, scaling)
    if shape is not None:
        columns = full_lines(len(rows)) if columns is None else columns
        return image_grid(rows, shape, columns=columns, ax=ax)
    if names is None:
        names = getattr(components, "feature_names_in_", column_names(components))
    if names is not None:
        names = input_names(names, scaling)
    if names is not None and len(names) != rows.shape[1]:
        raise ValueError(f"there are {len(names)} names, but {rows.shape[1]} attributes")
    return heat_map(rows, names, ax)


def reconstructions(
    originals: Any,
    outputs: Any,
    *,
    shape: Sequence[int] | None = None,
    columns: int = 10,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Data, and what a network makes of them.

    Parameters
    ----------
    originals, outputs : array-like of shape (n_rows, n_attributes)
        Data in [0, 1], and ``model.reconstruct`` of them.
    shape : (height, width), (height, width, 3) or (3, height, width), optional
        Of an image. Under each line of data is the line of their reconstructions, on the same
        scale. Without it, each value is a point: the reconstruction against the data.
    columns : int, default=10
        Images in a line.
    names : sequence of str, optional
        What attributes are called; by default as in a data frame of originals.
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
    >>> X = load_digits().data / 16
    >>> model = LRNNAutoencoder(4, max_iter=5, random_state=0).fit(X)
    >>> ax = plots.reconstructions(X[:10], model.reconstruct(X[:10]), shape=(8, 8))
    """
    given, made = matrix(originals, "originals"), matrix(outputs, "outputs")
    if given.shape != made.shape:
        raise ValueError(
            f"originals are {given.shape[0]} × {given.shape[1]}, but outputs {made.shape[0]} × "
            f"{made.shape[1]}; give what was made of the same rows"
        )
    if shape is None:
        return scatter(given, made, names or column_names(originals), ax)
    lines = zip(*(in_lines(as_images(rows, shape), columns) for rows in (given, made)), strict=True)
    canvas, middles = mosaic([line for pair in lines for line in pair], together=2)
    ax = bare(draw(canvas, ax, min(columns, len(given))))
    ax.set_yticks(middles, ["data", "output"] * (len(middles) // 2), fontsize=TEXT)
    ax.tick_params(length=0)
    return ax


def overview(
    model: "LRNNAutoencoder",
    X: Any,
    *,
    shape: Sequence[int] | None = None,
    curves: Curves | None = None,
    bounds: Mapping[str, float] | None = None,
) -> Figure:
    """Data and what the network makes of them, its parts, and how the error fell.

    ``shape`` is that of images, of which the first 40 rows of X are shown. ``curves`` and
    ``bounds`` are those of `learning_curves`, by default the model's own and none.

    Parameters
    ----------
    model : LRNNAutoencoder
        A fitted one.
    X : array-like of shape (n_rows, n_attributes)
        Data in [0, 1].
    shape : sequence of int, optional
        Of an image, as in `image_grid`.
    curves : fitted model, or mapping from names to models, optional
        As in `learning_curves`.
    bounds : mapping from str to float, optional
        As in `learning_curves`.

    Returns
    -------
    figure : Figure
        A new one.
    """
    check_is_fitted(model)
    if shape is not None:
        X = X[:IMAGES]
    figure = Figure(figsize=(11, 3.4), layout="constrained", dpi=150)
    thirds: Any = figure.subfigures(
        1, 3, width_ratios=[1.3, 1.1, 1.2]
    )  # so that none bends another
    left, middle, right = (third.subplots() for third in thirds)
    reconstructions(X, model.reconstruct(X), shape=shape, ax=left)
    parts(model, shape=shape, ax=middle)
    learning_curves(model if curves is None else curves, bounds=bounds, ax=right)
    count = len(model.components_)
    titles = ("data and reconstruction", f"{count} parts", "training")
    for ax, title in zip((left, middle, right), titles, strict=True):
        ax.set_title(title, fontsize=TITLE, loc="left")
        ax.set_anchor("NW")
    return figure


def _components(given: Any) -> Any:
    if not isinstance(given, BaseEstimator):
        return given
    check_is_fitted(given)
    if not hasattr(given, "components_"):
        raise TypeError(
            f"{type(given).__name__} has no components_; give a fitted LRNNAutoencoder (of a "
            "pipeline, that step) or an array of parts × attributes"
        )
    return given.components_
