"""A folder of images of one size, each a row."""

from pathlib import Path

import numpy as np

from lrnn.datasets.table import Table

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")


def read_images(folder: Path) -> Table:
    """All images of a folder in the order of their names, as uint8; grey if all of them are."""
    from PIL import Image, UnidentifiedImageError

    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file())
    if not paths:
        raise ValueError(
            f"{str(folder)!r} holds no images (files that end in {', '.join(SUFFIXES)})"
        )
    rows = []
    size = None
    colour = False
    for path in paths:
        try:
            with Image.open(path) as image:
                colour |= image.mode not in ("1", "L", "LA", "I", "I;16", "F")
                if size is None:
                    size = image.size
                if image.size != size:
                    raise ValueError(
                        f"{str(path)!r} has {image.size[0]}×{image.size[1]} pixels, but "
                        f"{str(paths[0])!r} has {size[0]}×{size[1]}; all must be of one size"
                    )
                rows.append(np.asarray(image.convert("RGB")))
        except (
            UnidentifiedImageError,
            SyntaxError,
            EOFError,
            Image.DecompressionBombError,
        ) as error:
            raise ValueError(f"{str(path)!r} is not an image, or damaged: {error}") from None
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(f"{str(path)!r} is not an image, or damaged: {error}") from None
    pixels = np.stack(rows)
    if not colour:
        pixels = pixels[..., 0]
    return Table(pixels.reshape(len(pixels), -1), image_shape=pixels.shape[1:])
