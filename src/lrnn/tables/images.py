"""Folders of images, each a row; sub-folders are the labels of the images in them."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.atomic import in_place
from lrnn.tables.messages import warn
from lrnn.tables.reading import Reading
from lrnn.tables.sources import lacking_memory
from lrnn.tables.table import Table

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["check_image_folder", "read_images", "write_images"]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
IGNORED = ("thumbs.db", "desktop.ini", "__macosx")  # what systems leave in folders
GREY = ("1", "L", "LA", "La")  # Pillow's modes of 8 bits without colours
DEEP = re.compile(r"(RGB|LA|CMYK).*;16[BLN]")  # what Pillow reads with 8 bits, not 16
TURNED = {"B": "L", "L": "B", "N": "B" if sys.byteorder == "little" else "L"}  # orders of bytes
NUMBERS = {"u": "levels", "i": "whole numbers", "f": "floats"}
TOLD = {
    "transparent": "has transparent parts: these are white now",
    "frames": "has several frames or pages: the first is read",
    "deep": "has colours of 16 bits in a way of which 8 are read",
    "stretched": "is of another shape, and is stretched by resize",
}


def read_images(folder: Path, reading: Reading) -> Table:
    """All images of a folder in the order of their names; grey if all of them are.

    If it holds folders of images instead, these are the labels of the images in them. Levels are
    those of the files, uint8 or uint16, and white is the highest of these; images of floats, or of
    whole numbers of 32 bits, give such numbers. What is not as it was in the files is told by
    warnings that count.
    """
    try:
        return _read_images(folder, reading)
    except MemoryError as error:
        raise lacking_memory(str(folder), error) from None


def _read_images(folder: Path, reading: Reading) -> Table:
    paths, labels = _images(folder)
    rows: list[NDArray[Any]] = []
    told: Counter[str] = Counter()
    for path in paths:
        pixels, seen = _pixels(path, reading)
        rows.append(pixels)
        told.update(seen)
        if pixels.shape[:2] != rows[0].shape[:2]:
            raise ValueError(
                f"{str(path)!r} has {_size(pixels)} pixels, but {str(paths[0])!r} has "
                f"{_size(rows[0])}; all must be of one size: {_remedy(paths)}"
            )
    for what, count in told.items():
        _tell(folder, f"{count:,} of {len(rows):,} images: each {TOLD[what]}")
    images = _stacked(folder, paths, rows)
    return Table(images.reshape(len(images), -1), image_shape=images.shape[1:], labels=labels)


def _images(folder: Path) -> tuple[list[Path], tuple[str, ...] | None]:
    """The images of a folder, or those of the folders in it and their labels."""
    found = list(_seen(folder))
    inside = {path: list(_seen(path)) for path in found if path.is_dir()}
    for path in (path for inner in inside.values() for path in inner if path.is_dir()):
        if any(map(_is_image, path.rglob("*"))):
            raise ValueError(
                f"{str(path)!r} holds images that are too deep: the folders in {str(folder)!r} "
                f"are labels, and hold images only; give {str(path.parent)!r} instead"
            )
    top = [path for path in found if _is_image(path)]
    below = [path for inner in inside.values() for path in inner if _is_image(path)]
    if top and below:
        raise ValueError(
            f"{str(folder)!r} holds {len(top):,} images and folders with {len(below):,} more, such "
            f"as {below[0].parent.name!r}; put all into such folders, whose names are labels, or "
            "all into one"
        )
    if not (top or below):
        raise ValueError(f"{str(folder)!r} holds no images (files that end in {', '.join(IMAGES)})")
    others = [*found, *(path for inner in inside.values() for path in inner)]
    _tell_others(folder, [p for p in others if not (_is_image(p) or p.is_dir())])
    return top or below, None if top else tuple(path.parent.name for path in below)


def _seen(folder: Path) -> Iterator[Path]:
    """What is in a folder, in the order of names, without what is hidden."""
    for path in sorted(folder.iterdir()):
        if not (path.name.startswith(".") or path.name.lower() in IGNORED):
            yield path


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in IMAGES and path.is_file() and not path.name.startswith(".")


def _tell_others(folder: Path, paths: list[Path]) -> None:
    if paths:
        endings = Counter(path.suffix.lower() or "no ending" for path in paths).most_common()
        listed = ", ".join(f"{count:,} {ending}" for ending, count in endings[:10])
        _tell(folder, f"{len(paths):,} files are no images, and left out: {listed}")


def _tell(folder: Path, what: str) -> None:
    warn(f"{str(folder)!r}: {what}")


def _pixels(path: Path, reading: Reading) -> tuple[NDArray[Any], list[str]]:
    """An image's pixels, of height × width or × 3, and what is to be told of it."""
    from PIL import Image

    told = []
    try:
        with Image.open(path) as opened:
            if getattr(opened, "n_frames", 1) > 1:
                told.append("frames")
            deep = _is_deep(opened)
            pixels = _of_16_bits(path, opened) if deep else None
            if pixels is not None:
                pixels, transparent = _on_white(pixels, opened.info.get("transparency"))
                pixels = _grey(pixels) if reading.grey else pixels
            else:
                told += ["deep"] * deep
                pixels, transparent = _levels(opened, reading.grey)
    except MemoryError:
        raise
    except Image.DecompressionBombError as error:
        raise ValueError(f"{str(path)!r} is too large: {error}") from None
    except Exception as error:  # what damaged images raise is of many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{str(path)!r} is not an image, or damaged: {error}") from None
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ValueError(f"{str(path)!r} holds numbers that are not finite")
    if transparent:
        told.append("transparent")
    if reading.resize is not None:
        (width, height), (tall, wide) = reading.resize, pixels.shape[:2]
        if abs(wide * height - tall * width) > max(wide * height, tall * width) / 100:
            told.append("stretched")
        pixels = _resized(pixels, reading.resize)
    return pixels, told


def _tile(opened: Any) -> tuple[str, int, Any, Any]:
    """How a part of a file is stored: codec, where, as what mode, and the last of what is told."""
    if not opened.tile:
        return "", 0, "", None
    codec, _, offset, arguments = opened.tile[0]
    arguments = arguments if isinstance(arguments, tuple) else (arguments,)
    return codec, offset, str(arguments[0]) if arguments else "", arguments[-1:]


def _is_deep(opened: "Image") -> bool:
    """Whether a file has colours of more bits than Pillow gives."""
    codec, _, stored, last = _tile(opened)
    if codec.startswith("ppm"):
        return bool(opened.mode == "RGB" and last[0] > 255)
    return DEEP.match(stored) is not None


def _of_16_bits(path: Path, opened: "Image") -> NDArray[Any] | None:
    """Colours of 16 bits of which Pillow gives the higher 8, and how opaque they are; or None.

    Read with their bytes in the other order, it gives the lower 8.
    """
    codec, offset, stored, last = _tile(opened)
    if codec == "ppm":
        width, height = opened.size
        levels = np.fromfile(path, ">u2", 3 * width * height, offset=offset)
        return _widened(levels.reshape(height, width, 3), last[0])
    if stored == "LA;16B":  # four bytes a pixel
        return _as_stored(path, "RGBA").view(">u2").astype(np.uint16)
    if re.fullmatch("RGB[AX]?;16[BLN]", stored):
        high, low = (_as_stored(path, s) for s in (stored, stored[:-1] + TURNED[stored[-1]]))
        return np.left_shift(high, 8, dtype=np.uint16) | low
    return None


def _as_stored(path: Path, stored: str) -> NDArray[np.uint8]:
    """The pixels of a file as if they were stored in that way."""
    from PIL import Image, ImageOps

    with Image.open(path) as image:
        opened: Any = image
        for i, part in enumerate(opened.tile):
            now = (stored, *part[3][1:]) if isinstance(part[3], tuple) else stored
            named = hasattr(part, "_replace")  # not before Pillow 11
            opened.tile[i] = part._replace(args=now) if named else (*part[:3], now)
        return np.ascontiguousarray(ImageOps.exif_transpose(opened))


def _widened(levels: NDArray[Any], white: int) -> NDArray[Any]:
    """Levels of which ``white`` is the highest as such of 16 bits."""
    if white == 65_535:
        return levels.astype(np.uint16)
    return np.asarray(np.rint(np.minimum(levels, white) * (65_535 / white)), dtype=np.uint16)


def _on_white(levels: NDArray[Any], key: Any) -> tuple[NDArray[Any], bool]:
    """Grey levels or colours without their last channel, if that tells how opaque they are.

    Also parts of the colour ``key`` are transparent.
    """
    if levels.ndim == 3 and levels.shape[2] != 3:
        opaque = levels[..., -1:] / 65_535
        levels = levels[..., :-1]
    elif isinstance(key, int | tuple):
        differs = levels.reshape(*levels.shape[:2], -1) != np.array(key)
        opaque = differs.any(axis=2, keepdims=True).astype(np.float64)
    else:
        return levels, False
    opaque = opaque.reshape(opaque.shape[: levels.ndim])
    seen = np.rint(levels * opaque + 65_535 * (1 - opaque)).astype(np.uint16)
    return (seen[..., 0] if seen.ndim == 3 and seen.shape[2] == 1 else seen), opaque.min() < 1


def _grey(pixels: NDArray[Any]) -> NDArray[Any]:
    """Colours as grey levels, weighted as Pillow does."""
    if pixels.ndim == 2:
        return pixels
    return np.asarray(np.rint(pixels @ np.array([0.299, 0.587, 0.114])), dtype=np.uint16)


def _levels(opened: "Image", grey: bool) -> tuple[NDArray[Any], bool]:
    """Levels of an image, or numbers, and whether it has transparent parts; these become white."""
    from PIL import Image, ImageOps

    stored, tags = _tile(opened)[2], getattr(opened, "tag_v2", {})
    image = ImageOps.exif_transpose(opened)
    if image.mode == "F":
        return np.asarray(image), False
    if image.mode == "I" and tags:  # what is white, 32 bits do not tell
        numbers = np.asarray(image)
        unsigned = tags.get(339, 1) in (1, (1,))
        return (numbers.view(np.uint32) if unsigned else numbers).astype(np.int64), False
    if image.mode[0] == "I":
        levels = _widened(np.asarray(image), 4_095 if stored == "I;12" else 65_535)
        if tags and tags.get(262) == 0:
            levels = 65_535 - levels  # white is 0
        return _on_white(levels, opened.info.get("transparency"))
    mode, transparent = image.mode, image.has_transparency_data
    if transparent:
        layers = image.convert("RGBA")
        alpha = layers.getchannel("A")
        transparent = alpha.getextrema() != (255, 255)
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, layers).convert("RGB")
    elif mode not in GREY:
        image = image.convert("RGB")
    coloured = mode not in GREY
    if mode[0] == "P":  # a palette may have no colours
        pixels = np.asarray(image)
        coloured = bool((pixels != pixels[..., :1]).any())
    return np.asarray(image.convert("L" if grey or not coloured else "RGB")), transparent


def _resized(pixels: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Pixels of another size; each is the mean of what it covers, which stays in its range."""
    from PIL import Image

    if pixels.dtype == np.uint8:
        return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
    if pixels.ndim == 3:
        return np.stack([_resized(channel, size) for channel in np.moveaxis(pixels, 2, 0)], axis=2)
    floats = Image.fromarray(pixels.astype(np.float32))
    means = np.asarray(floats.resize(size, Image.Resampling.BOX))
    return means if pixels.dtype.kind == "f" else np.rint(means).astype(pixels.dtype)


def _stacked(folder: Path, paths: list[Path], rows: list[NDArray[Any]]) -> NDArray[Any]:
    """Images as one array: of 16 bits if some are, and with colours if some have them."""
    kinds: list[str] = [row.dtype.kind for row in rows]
    found = [kind for kind in NUMBERS if kind in kinds]
    if len(found) > 1:
        one, other = (f"{str(paths[kinds.index(k)])!r} has {NUMBERS[k]}" for k in found[:2])
        raise ValueError(f"{one}, but {other}; these do not go together. Write all in one way")
    deep = sum(row.dtype == np.uint16 for row in rows)
    if 0 < deep < len(rows):
        _tell(folder, f"{deep:,} of {len(rows):,} images have 16 bits: all are read with 16")
        rows = [row if row.dtype == np.uint16 else row * np.uint16(257) for row in rows]
    grey = sum(row.ndim == 2 for row in rows)
    if 0 < grey < len(rows):
        _tell(
            folder,
            f"{grey:,} of {len(rows):,} images are grey: all are read with colours; --grey (in "
            "Python, Reading(grey=True)) makes all of them grey",
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
