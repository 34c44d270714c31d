"""Folders of images, each a row; sub-folders are the labels of the images in them."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import in_place
from lrnn.tables.messages import warn
from lrnn.tables.reading import Reading
from lrnn.tables.sources import lacking_memory
from lrnn.tables.table import Table

__all__ = ["check_image_folder", "read_images", "write_images"]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
IGNORED = ("thumbs.db", "desktop.ini", "__macosx")  # what systems leave in folders
GREY = ("1", "L", "LA", "La")  # Pillow's modes of 8 bits without colours
NUMBERS = {"u": "levels", "i": "whole numbers", "f": "floats"}


def read_images(folder: Path, reading: Reading) -> Table:
    """All images of a folder in the order of their names; grey if all of them are.

    If it holds folders of images instead, these are the labels of the images in them. Levels are
    uint8, or uint16 for grey images of more bits, and white is the highest of these; images of
    floats, or of whole numbers of 32 bits, give such numbers. Whatever is not read as it is in the
    files is reported by warnings that count.
    """
    paths, labels = _images(folder)
    try:
        images = _stacked(folder, paths, _rows(folder, paths, reading))
    except MemoryError as error:
        raise lacking_memory(str(folder), error) from None
    return Table(images.reshape(len(images), -1), image_shape=images.shape[1:], labels=labels)


def _images(folder: Path) -> tuple[list[Path], tuple[str, ...] | None]:
    """The images of a folder, or those of the folders in it and their labels."""
    found = _visible(folder)
    inside = [path for inner in found if inner.is_dir() for path in _visible(inner)]
    top, below = list(filter(_is_image, found)), list(filter(_is_image, inside))
    for path in inside:
        if path.is_dir() and any(map(_is_image, path.rglob("*"))):
            raise ValueError(
                f"{str(path)!r} holds images that are too deep: the folders in {str(folder)!r} "
                f"are labels, and hold images only; give {str(path.parent)!r} instead"
            )
    if top and below:
        raise ValueError(
            f"{str(folder)!r} holds {len(top):,} images and folders with {len(below):,} more, such "
            f"as {below[0].parent.name!r}; put all into such folders, whose names are labels, or "
            "all into one"
        )
    if not (top or below):
        raise ValueError(f"{str(folder)!r} holds no images (files that end in {', '.join(IMAGES)})")
    others = [path for path in found + inside if not (_is_image(path) or path.is_dir())]
    if others:
        endings = Counter(path.suffix.lower() or "no ending" for path in others).most_common(10)
        listed = ", ".join(f"{count:,} {ending}" for ending, count in endings)
        warn(f"{str(folder)!r}: {len(others):,} files are no images, and left out: {listed}")
    return top or below, None if top else tuple(path.parent.name for path in below)


def _visible(folder: Path) -> list[Path]:
    """What is in a folder, in the order of names, without hidden files and those of systems."""
    paths = sorted(folder.iterdir())
    return [p for p in paths if not (p.name.startswith(".") or p.name.lower() in IGNORED)]


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in IMAGES and path.is_file() and not path.name.startswith(".")


def _rows(folder: Path, paths: list[Path], reading: Reading) -> list[NDArray[Any]]:
    """The pixels of each image, of height × width or × 3; all are of one size."""
    rows: list[NDArray[Any]] = []
    remarks: Counter[str] = Counter()
    for path in paths:
        pixels, remarked = _pixels(path, reading)
        rows.append(pixels)
        remarks.update(remarked)
        if pixels.shape[:2] != rows[0].shape[:2]:
            raise ValueError(
                f"{str(path)!r} has {_size(pixels)} pixels, but {str(paths[0])!r} has "
                f"{_size(rows[0])}; all must be of one size: {_remedy(paths)}"
            )
    for remark, count in remarks.items():
        warn(f"{str(folder)!r}: {count:,} of {len(rows):,} images: each {remark}")
    return rows


def _pixels(path: Path, reading: Reading) -> tuple[NDArray[Any], list[str]]:
    """The pixels of an image, and remarks on what is not as it is in the file."""
    from PIL import Image

    remarks = []
    try:
        with Image.open(path) as opened:
            if getattr(opened, "n_frames", 1) > 1:
                remarks.append("has several frames or pages: the first is read")
            if _is_deep(opened):
                remarks.append("has colours of 16 bits: the higher 8 are read")
            pixels, transparent = _levels(opened, reading.grey)
    except MemoryError:
        raise
    except Exception as error:  # what damaged images raise is of many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{str(path)!r} is damaged, or cannot be read: {error}") from None
    if transparent:
        remarks.append("has transparent parts: these are white now")
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ValueError(f"{str(path)!r} holds numbers that are not finite")
    if reading.resize is not None:
        (width, height), (tall, wide) = reading.resize, pixels.shape[:2]
        if abs(wide * height - tall * width) > max(wide * height, tall * width) / 100:
            remarks.append("is of another shape, and is stretched by resize")
        levels = pixels.dtype == np.uint8
        image = Image.fromarray(pixels if levels else pixels.astype(np.float32))
        means = np.asarray(image.resize(reading.resize, Image.Resampling.BOX))
        pixels = means if pixels.dtype.kind == "f" else np.rint(means).astype(pixels.dtype)
    return pixels, remarks


def _is_deep(opened: Any) -> bool:
    """Whether an image has colours of 16 bits, of which Pillow reads the higher 8."""
    if not opened.tile or opened.mode[0] in "IF":
        return False
    tile = opened.tile[0]
    if tile.codec_name.startswith("ppm"):
        return bool(tile.args[-1] > 255)  # the level that is white
    deep = re.search(";16[BLN]", str(tile.args)) is not None
    bits = getattr(opened, "tag_v2", {}).get(258, (8,))  # of a TIFF file
    if (deep and "transparency" in opened.info) or (not deep and max(bits) > 8):
        raise ValueError(
            "it has colours of 16 bits, with a transparent one or channel by channel, which Pillow "
            "misreads; save it with 8 bits"
        )
    return deep


def _levels(opened: Any, grey: bool) -> tuple[NDArray[Any], bool]:
    """Levels of an image, or numbers, and whether it has transparent parts; these become white."""
    from PIL import Image, ImageOps

    stored, tags = str(opened.tile), getattr(opened, "tag_v2", {})
    image = ImageOps.exif_transpose(opened)
    mode, transparent = image.mode, False
    if mode == "F":
        return np.asarray(image), False
    if mode == "I" and tags:  # what is white, 32 bits do not tell
        numbers = np.asarray(image)
        unsigned = tags.get(339, 1) in (1, (1,))
        return (numbers.view(np.uint32) if unsigned else numbers).astype(np.int64), False
    if mode[0] == "I":
        levels = np.asarray(image).astype(np.uint16)
        if "I;12" in stored:
            levels = np.rint(levels * (65_535 / 4_095)).astype(np.uint16)
        if tags.get(262) == 0:  # white is 0
            levels = 65_535 - levels
        clear = np.equal(levels, opened.info.get("transparency", -1))
        return np.where(clear, np.uint16(65_535), levels), bool(clear.any())
    if image.has_transparency_data:
        layers = image.convert("RGBA")
        transparent = layers.getchannel("A").getextrema() != (255, 255)
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), layers)
    coloured = mode not in GREY and "LA;16" not in stored
    if coloured:
        image = image.convert("RGB")
    if mode[0] == "P":  # a palette may have no colours
        pixels = np.asarray(image)
        coloured = bool((pixels != pixels[..., :1]).any())
    return np.asarray(image.convert("L" if grey or not coloured else "RGB")), transparent


def _stacked(folder: Path, paths: list[Path], rows: list[NDArray[Any]]) -> NDArray[Any]:
    """Images as one array: of 16 bits if some are, and with colours if some have them."""
    kinds: list[str] = [row.dtype.kind for row in rows]
    found = [kind for kind in NUMBERS if kind in kinds]
    if len(found) > 1:
        one, other = (f"{str(paths[kinds.index(k)])!r} has {NUMBERS[k]}" for k in found[:2])
        raise ValueError(f"{one}, but {other}; these do not go together. Write all in one way")
    deep = sum(row.dtype == np.uint16 for row in rows)
    if 0 < deep < len(rows):
        counted = f"{deep:,} of {len(rows):,} images have 16 bits"
        warn(f"{str(folder)!r}: {counted}: all are read with 16")
        rows = [row if row.dtype == np.uint16 else row * np.uint16(257) for row in rows]
    grey = sum(row.ndim == 2 for row in rows)
    if 0 < grey < len(rows):
        warn(
            f"{str(folder)!r}: {grey:,} of {len(rows):,} images are grey: all are read with "
            "colours; --grey (in Python, Reading(grey=True)) makes all of them grey"
        )
        rows = [row if row.ndim == 3 else np.repeat(row[..., None], 3, axis=2) for row in rows]
    return np.stack(rows)


def _remedy(paths: list[Path]) -> str:
    """The size that most images have, as an option."""
    from PIL import Image

    sizes: Counter[tuple[int, int]] = Counter()
    for path in paths:
        try:
            with Image.open(path) as image:
                turned = image.getexif().get(0x0112, 1) >= 5  # by a quarter
                sizes[image.size[::-1] if turned else image.size] += 1
        except Exception:  # it is named when it is read
            continue
    (width, height), count = sizes.most_common(1)[0]
    return (
        f"--resize {width}x{height} (in Python, Reading(resize=({width}, {height}))) makes them "
        f"that of {count:,} of the {sizes.total():,} images"
    )


def _size(pixels: NDArray[Any]) -> str:
    return f"{pixels.shape[1]}×{pixels.shape[0]}"


def write_images(folder: Path, images: NDArray[np.uint8], labels: Any = None) -> None:
    """Write images as PNG files that are numbered from 1, each in the folder of its label.

    The folder appears when all are written, or not at all. A folder that was there is replaced,
    if it holds nothing but such images.
    """
    from PIL import Image

    check_image_folder(folder)
    digits = len(str(len(images)))
    with in_place(folder, folder=True) as unfinished:
        unfinished.mkdir()
        for i, image in enumerate(images):
            place = unfinished if labels is None else unfinished / str(labels[i])
            place.mkdir(exist_ok=True)
            Image.fromarray(image).save(place / f"{i + 1:0{digits}}.png")


def check_image_folder(folder: Path) -> None:
    """Complain of a name that `write_images` would refuse, before any work is done for it."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{str(folder)!r} is a file; give the name of a folder")
    if not folder.resolve().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder.parent)!r} to write to")
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        numbered = path.suffix == ".png" and path.stem.isdecimal()
        if not ((len(inner.parts) <= 2 and numbered) or (len(inner.parts) == 1 and path.is_dir())):
            raise IsADirectoryError(
                f"{str(folder)!r} holds {str(inner)!r}, which is no numbered image; the folder is "
                "left alone. Give the name of a new one"
            )
