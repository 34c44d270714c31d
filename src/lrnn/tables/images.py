"""Folders of images, each a row."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.reading import Reading
from lrnn.tables.table import Table

__all__ = ["read_images"]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
GREY = ("1", "L", "LA", "I", "I;16", "F")  # Pillow's modes without colours


def read_images(folder: Path, reading: Reading) -> Table:
    """All images of a folder in the order of their names, as uint8; grey if all of them are."""
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGES and p.is_file())
    if not paths:
        raise ValueError(f"{str(folder)!r} holds no images (files that end in {', '.join(IMAGES)})")
    rows = []
    colour = False
    for path in paths:
        pixels, grey = _pixels(path)
        colour |= not grey
        rows.append(pixels)
        if pixels.shape != rows[0].shape:
            raise ValueError(
                f"{str(path)!r} has {_size(pixels)} pixels, but {str(paths[0])!r} has "
                f"{_size(rows[0])}; all must be of one size"
            )
    images = np.stack(rows)
    if not colour:
        images = images[..., 0]
    return Table(images.reshape(len(images), -1), image_shape=images.shape[1:])


def _pixels(path: Path) -> tuple[NDArray[np.uint8], bool]:
    """An image's pixels as red, green and blue, and whether it is grey."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB")), image.mode in GREY
    except Exception as error:  # what damaged images raise is of many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{str(path)!r} is not an image, or damaged: {error}") from None


def _size(pixels: NDArray[np.uint8]) -> str:
    return f"{pixels.shape[1]}×{pixels.shape[0]}"
