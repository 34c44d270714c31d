"""How handwriting lies in images, so that what is drawn by hand can be laid out alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lrnn.arrays import Floats

INK = 0.1  # of the brightest pixel: what belongs to a stroke
MOST_ROWS = 1000
BY_MASS, BY_BOX = "mass", "box"
USUAL = {"box": 20 / 28, "centre": BY_MASS, "white": 1.0}  # as in MNIST
USUAL_WIDTH = 2.3 / 28  # of a stroke, beside the image's


def frame_of(rows: Floats, shape: Sequence[int]) -> dict[str, Any] | None:
    """Size, centre and width of strokes, as shares of pixels, in images of handwriting.

    ``box`` is the longer side of what is drawn as a share of the image, ``centre`` what lies in the
    middle (the centre of mass as in MNIST, or that of the box), ``width`` that of a stroke in
    pixels, ``white`` how dark ink is. None where images are no ink on paper: those are painted
    over. Without any rows it is as in MNIST.

    Examples
    --------
    >>> image = np.zeros((1, 10, 10))
    >>> image[0, 1:9, 4:6] = 1.0  # a stroke of width 2, 8 long
    >>> frame = frame_of(image.reshape(1, 100), (10, 10))
    >>> frame["box"], round(frame["width"], 1), frame["white"]
    (0.8, 1.6, 1.0)
    """
    if len(shape) != 2 or (len(rows) and np.median(rows) >= INK * rows.max() > 0):
        return None
    height, width = shape
    if not len(rows):
        return {**USUAL, "width": max(1.0, USUAL_WIDTH * width)}
    images = rows[:MOST_ROWS].reshape(-1, height, width)
    images = images[images.max(axis=(1, 2)) > 0]
    if not len(images):
        return None
    peak = images.max(axis=(1, 2), keepdims=True)
    drawn = images > INK * peak
    top, bottom = _ends(drawn.any(axis=2))
    left, right = _ends(drawn.any(axis=1))
    sides = np.maximum((bottom - top) / height, (right - left) / width)
    mass = images.sum(axis=(1, 2))
    centre = [
        images.sum(axis=2 - i) @ (np.arange(size) + 0.5) / mass
        for i, size in enumerate((height, width))
    ]
    spread = {
        BY_MASS: _spread(centre[0] / height, centre[1] / width),
        BY_BOX: _spread((top + bottom) / 2 / height, (left + right) / 2 / width),
    }
    return {
        "box": float(np.median(sides)),
        "centre": min(spread, key=lambda name: spread[name]),
        "width": float(np.median(2 * mass / _outline(images))),
        "white": float(np.median(peak)),
    }


def _ends(used: Any) -> tuple[Any, Any]:
    """The first pixel that is used, and the one behind the last, of each image."""
    return used.argmax(axis=1), used.shape[1] - used[:, ::-1].argmax(axis=1)


def _spread(down: Floats, right: Floats) -> float:
    """By how much centres miss the middle of the image."""
    return float(np.mean((down - 0.5) ** 2 + (right - 0.5) ** 2))


def _outline(images: Floats) -> Floats:
    """The length of all edges: the total variation."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    down, right = np.diff(padded, axis=1)[:, :, 1:], np.diff(padded, axis=2)[:, 1:]
    return np.asarray(np.sqrt(down**2 + right**2).sum(axis=(1, 2)))
