"""Rows of numbers as small images."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike

from lrnn.arrays import Floats
from lrnn.plots.axes import GROUND, SHADES, axes_or_new, bare
from lrnn.plots.matrix import matrix

GAP = 1 / 20  # between images, as a share of their size


def image_grid(
    rows: Any,
    shape: Sequence[int],
    *,
    columns: int,
    title: str | None = None,
    own_scale: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Rows of data as small images side by side, from 0 (white) to the darkest (black).

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_attributes)
        Nonnegative numbers. (Others are shown as 0.)
    shape : (height, width), (height, width, 3) or (3, height, width)
        Of an image; with three channels it is drawn in colour, and 0 is black.
    columns : int
        Images in a line.
    title : str, optional
        Written above.
    own_scale : bool, default=True
        Whether each image is scaled to its own maximum; else what is 1 or more is darkest.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import plots
    >>> ax = plots.image_grid(load_digits().data[:20], (8, 8), columns=10)
    """
    images = as_images(matrix(rows, "rows"), shape)
    if own_scale:
        images = scaled(images)
    canvas, _ = mosaic(in_lines(images, columns))
    return bare(draw(canvas, ax, min(columns, len(images))), title)


def layer_image(
    activations: ArrayLike, *, shape: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Activations of a layer's neurons as shades, from 0 (white) to 1 (black).

    ``shape`` is as in `image_grid`, and by default as square as the number of neurons allows;
    what is left over is blue.

    Parameters
    ----------
    activations : array-like of shape (n_neurons,)
        Of one layer.
    shape : sequence of int, optional
        As in `image_grid`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from lrnn import plots
    >>> ax = plots.layer_image([0.1, 0.9, 0.4, 1.0], shape=(2, 2))
    """
    values = np.asarray(activations, dtype=np.float64).ravel()
    if shape is None:
        width = max(1, int(np.ceil(np.sqrt(len(values)))))
        shape = (-(-len(values) // width), width)
        values = np.pad(values, (0, prod(shape) - len(values)), constant_values=np.nan)
    ax = bare(draw(as_images(matrix(values, "activations"), shape)[0], ax))
    for spine in ax.spines.values():
        spine.set(visible=True, linewidth=0.5)
    return ax


def as_images(rows: Floats, shape: Sequence[int]) -> Floats:
    """Rows as images: rows × height × width, and × 3 if they have colours."""
    dimensions = tuple(int(n) for n in shape)
    colour = len(dimensions) == 3 and 3 in (dimensions[0], dimensions[-1])
    if not colour and len(dimensions) != 2:
        raise ValueError(
            f"shape must be (height, width), (height, width, 3) or (3, height, width), got {shape}"
        )
    if prod(dimensions) != rows.shape[1]:
        raise ValueError(
            f"shape {dimensions} has {prod(dimensions)} pixels, but there are {rows.shape[1]} "
            "attributes in a row"
        )
    images = rows.reshape(-1, *dimensions)
    return np.moveaxis(images, 1, -1) if colour and dimensions[-1] != 3 else images


def scaled(images: Floats) -> Floats:
    """Each image divided by its maximum, if that is positive."""
    largest = images.max(axis=tuple(range(1, images.ndim)), keepdims=True)
    return images / np.where(largest > 0, largest, 1)


def in_lines(images: Floats, columns: int) -> list[Floats]:
    """Images in lines of ``columns``; the last may be shorter."""
    if columns < 1:
        raise ValueError(f"columns must be 1 or more, got {columns}")
    return [images[i : i + columns] for i in range(0, len(images), columns)]


def full_lines(count: int) -> int:
    """How many images to put in a line: √count or up to twice as many, if that fills all lines."""
    root = max(1, int(np.ceil(np.sqrt(count))))
    return next((n for n in range(root, int(2 * np.sqrt(count)) + 1) if count % n == 0), root)


def mosaic(lines: Sequence[Floats], together: int = 1) -> tuple[Floats, list[float]]:
    """Lines of images as one large image, and at what height in it their middles are.

    What is between images is NaN; every ``together`` lines there is more of it.
    """
    zoom = int(np.ceil(1 / GAP / max(lines[0].shape[1:3])))  # that a gap is a pixel or more
    lines = [line.repeat(zoom, axis=1).repeat(zoom, axis=2) for line in lines]
    height, width, *channels = lines[0].shape[1:]
    gap = round(GAP * max(height, width))
    tops = [
        i * (height + gap) + i // together * (2 * gap * (together > 1)) for i in range(len(lines))
    ]
    columns = max(map(len, lines))
    canvas = np.full((tops[-1] + height, columns * (width + gap) - gap, *channels), np.nan)
    for top, line in zip(tops, lines, strict=True):
        for i, image in enumerate(line):
            left = i * (width + gap)
            canvas[top : top + height, left : left + width] = image
    return canvas, [top + (height - 1) / 2 for top in tops]


def draw(canvas: Floats, ax: Axes | None, columns: int = 1) -> Axes:
    """Draw an image with values from 0 to 1, of so many columns; NaN is the ground behind it."""
    width = float(np.clip(0.6 * columns, 2, 6.5))
    ax = axes_or_new(ax, width, width * min(canvas.shape[0] / canvas.shape[1], 2))
    if canvas.ndim == 2:
        ax.imshow(canvas, cmap=SHADES, vmin=0, vmax=1, interpolation="nearest")
    else:
        colours = np.where(np.isnan(canvas), to_rgb(GROUND), np.clip(canvas, 0, 1))
        ax.imshow(colours, interpolation="nearest")
    return ax
