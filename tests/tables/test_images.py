"""Folders of images: every depth as it is, and what is not as it was is told."""

import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from lrnn.datasets import Reading, read
from naming import naming


def save(path, pixels, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(np.asarray(pixels))
    image.save(path, **more)


def levels(kind=np.uint8, shape=(4, 5), seed=0):
    most = np.iinfo(kind).max
    return np.random.default_rng(seed).integers(0, most, shape, dtype=kind, endpoint=True)


def png(pixels, *more):
    """A PNG file of 16 bits, whose rows are filtered by what is to the left of a pixel."""
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[pixels.shape[2]]
    content = pixels.astype(">u2").view(np.uint8).reshape(len(pixels), -1)
    step = 2 * pixels.shape[2]
    content[:, step:] -= content[:, :-step].copy()
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 16, kind, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\1" + row.tobytes() for row in content))
    parts = ((b"IHDR", header), *more, (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )


def tiff(content, shape, bits, *, order="<", photometric=1, form=1, zipped=False, planes=False):
    """A TIFF file of one strip, or of one for each channel."""
    height, width, channels = shape
    data = zlib.compress(content) if zipped else content
    strips = channels if planes else 1
    size = len(data) // strips
    tags = {256: [width], 257: [height], 258: [bits] * channels, 259: [8 if zipped else 1],
            262: [photometric], 273: [8 + i * size for i in range(strips)], 277: [channels],
            278: [height], 279: [size] * strips, 284: [1 + planes],
            339: [form] * channels}  # fmt: skip
    entries, values = b"", b""
    for tag, numbers in tags.items():
        packed = struct.pack(f"{order}{len(numbers)}I", *numbers)
        if len(numbers) > 1:
            place = 8 + len(data + values)
            values, packed = values + packed, struct.pack(f"{order}I", place)
        entries += struct.pack(f"{order}HHI", tag, 4, len(numbers)) + packed
    mark = b"II" if order == "<" else b"MM"
    start = mark + struct.pack(f"{order}HI", 42, 8 + len(data + values))
    return start + data + values + struct.pack(f"{order}H", len(tags)) + entries + bytes(4)


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
def test_images_are_rows(tmp_path, shape):
    pixels = levels(shape=(3, *shape))
    for i, image in enumerate(pixels):
        save(tmp_path / f"{i}.png", image)
    table = read(tmp_path)
    np.testing.assert_array_equal(table.data, pixels.reshape(3, -1))
    assert table.image_shape == shape
    assert table.labels is None


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.pgm"])
def test_levels_of_16_bits(tmp_path, name):
    pixels = levels(np.uint16, (4, 4))
    save(tmp_path / name, pixels)
    table = read(tmp_path)
    assert table.data.dtype == np.uint16
    np.testing.assert_array_equal(table.data, pixels.reshape(1, -1))
    smaller = read(tmp_path, Reading(resize=(1, 1))).data
    assert smaller.dtype == np.uint16
    assert smaller == pytest.approx(pixels.mean(), abs=1)


def test_images_of_floats_keep_their_numbers(tmp_path):
    pixels = np.linspace(-3, 7, 20, dtype=np.float32).reshape(4, 5)
    save(tmp_path / "a.tif", pixels)
    np.testing.assert_array_equal(read(tmp_path).data, pixels.reshape(1, -1))
    save(tmp_path / "b.tif", levels())
    with pytest.raises(ValueError, match=naming("b.tif", "levels", "a.tif", "floats")):
        read(tmp_path)
    pixels[2, 2] = np.nan
    save(tmp_path / "a.tif", pixels)
    with pytest.raises(ValueError, match=naming("a.tif", "finite")):
        read(tmp_path)


@pytest.mark.parametrize(
    ("numbers", "form"),
    [
        (np.array([0, 255, 70_000, -3], np.int32), 2),
        (np.array([0, 2**31, 2**32 - 1, 7], np.uint32), 1),
        (np.array([0, -32_768, 32_767, 7], np.int16), 2),
    ],
)
def test_numbers_that_are_no_levels(tmp_path, numbers, form):
    """Of which no depth tells what is white."""
    content = tiff(numbers.tobytes(), (2, 2, 1), 8 * numbers.itemsize, form=form)
    (tmp_path / "a.tif").write_bytes(content)
    found = read(tmp_path).data
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [numbers])
    save(tmp_path / "b.tif", np.zeros((2, 2), np.uint8))
    with pytest.raises(ValueError, match=naming("b.tif", "levels", "a.tif", "whole")):
        read(tmp_path)


def test_levels_of_12_bits(tmp_path):
    pairs = [(0, 4_095), (2_048, 100)]
    content = b"".join(bytes([a >> 4, (a & 15) << 4 | b >> 8, b & 255]) for a, b in pairs)
    (tmp_path / "a.tif").write_bytes(tiff(content, (2, 2, 1), 12))
    expected = np.ravel(pairs) / 4_095
    np.testing.assert_allclose(read(tmp_path).data[0] / 65_535, expected, atol=1e-5)
    (tmp_path / "a.tif").unlink()
    (tmp_path / "a.pgm").write_bytes(b"P5 2 2 4095\n" + np.ravel(pairs).astype(">u2").tobytes())
    np.testing.assert_allclose(read(tmp_path).data[0] / 65_535, expected, atol=1e-5)


def test_levels_of_16_bits_where_white_is_0(tmp_path):
    pixels = levels(np.uint16, (2, 2))
    content = tiff(pixels.astype("<u2").tobytes(), (2, 2, 1), 16, photometric=0)
    (tmp_path / "a.tif").write_bytes(content)
    np.testing.assert_array_equal(read(tmp_path).data[0], 65_535 - pixels.ravel())


def test_levels_of_8_and_16_bits(tmp_path):
    few, many = levels(), levels(np.uint16)
    save(tmp_path / "a.png", few)
    save(tmp_path / "b.png", many)
    with pytest.warns(UserWarning, match=naming("1 of 2", "16 bits")):
        table = read(tmp_path)
    np.testing.assert_array_equal(table.data / 65535, [few.ravel() / 255, many.ravel() / 65535])


COLOURS = levels(np.uint16, (4, 4, 3))
WIDE = COLOURS.astype(">u2").tobytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.png", png(COLOURS)),
        ("a.ppm", b"P6 4 4 65535\n" + WIDE),
        *(
            ("a.tif", tiff(COLOURS.astype(f"{order}u2").tobytes(), COLOURS.shape, 16, order=order,
                           photometric=2, zipped=zipped))
            for order in "<>" for zipped in (False, True)
        ),
    ],
    ids=["png", "ppm", "tiff", "zipped tiff", "big-endian tiff", "zipped big-endian tiff"],
)  # fmt: skip
def test_colours_of_16_bits_are_read_with_8_and_reported(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    reported = naming("1 of 1", "16 bits", 8)
    with pytest.warns(UserWarning, match=reported):
        table = read(tmp_path)
    assert table.data.dtype == np.uint8
    assert table.image_shape == (4, 4, 3)
    rounded = name == "a.ppm"
    expected = np.rint(COLOURS / 257) if rounded else COLOURS // 256
    np.testing.assert_array_equal(table.data[0], expected.ravel())
    luma = COLOURS / 257 @ np.array([0.299, 0.587, 0.114])
    with pytest.warns(UserWarning, match=reported):
        grey = read(tmp_path, Reading(grey=True)).data[0]
    np.testing.assert_allclose(grey, luma.ravel(), atol=1.5)


@pytest.mark.parametrize("channels", [2, 4])
def test_transparent_parts_of_16_bits(tmp_path, channels):
    pixels = np.full((1, 3, channels), 1_000, np.uint16)
    pixels[0, :, -1] = [0, 65_535, 32_768]
    (tmp_path / "a.png").write_bytes(png(pixels))
    with (
        pytest.warns(UserWarning, match=naming("1 of 1", "transparent")),
        pytest.warns(UserWarning, match=naming("1 of 1", "16 bits", 8)),
    ):
        table = read(tmp_path)
    assert table.image_shape == ((1, 3) if channels == 2 else (1, 3, 3))
    expected = np.repeat([255, 1_000 / 257, 33_267 / 257], 1 if channels == 2 else 3)
    np.testing.assert_allclose(table.data[0], expected, atol=1)


def test_a_transparent_level_of_16_bits(tmp_path):
    pixels = np.array([[[1_001], [1_000]]], np.uint16)
    (tmp_path / "a.png").write_bytes(png(pixels, (b"tRNS", struct.pack(">H", 1_000))))
    with pytest.warns(UserWarning, match=naming("1 of 1", "transparent")):
        assert read(tmp_path).data.tolist() == [[1_001, 65_535]]


def test_colours_of_16_bits_that_pillow_misreads_are_refused(tmp_path):
    key = struct.pack(">HHH", 1_000, 1_000, 1_000)
    (tmp_path / "a.png").write_bytes(png(COLOURS, (b"tRNS", key)))
    with pytest.raises(ValueError, match=naming("a.png", "16 bits", "8 bits")):
        read(tmp_path)
    (tmp_path / "a.png").unlink()
    channels = np.moveaxis(COLOURS, 2, 0).astype("<u2").tobytes()
    content = tiff(channels, COLOURS.shape, 16, photometric=2, planes=True)
    (tmp_path / "b.tif").write_bytes(content)
    with pytest.raises(ValueError, match=naming("b.tif", "16 bits", "8 bits")):
        read(tmp_path)


def test_colours_of_16_bits_beside_grey_levels_of_16_bits(tmp_path):
    grey = levels(np.uint16, (4, 4))
    (tmp_path / "a.png").write_bytes(png(COLOURS))
    save(tmp_path / "b.png", grey)
    with (
        pytest.warns(UserWarning, match=naming("1 of 2", "colours of 16 bits", 8)),
        pytest.warns(UserWarning, match=naming("1 of 2", "read with 16")),
        pytest.warns(UserWarning, match=naming("1 of 2", "--grey")),
    ):
        table = read(tmp_path)
    np.testing.assert_array_equal(table.data[0], COLOURS.ravel() // 256 * 257)
    np.testing.assert_array_equal(table.data[1], np.repeat(grey, 3))


def test_colours_of_16_bits_that_pillow_halves(tmp_path):
    (tmp_path / "a.ppm").write_bytes(b"P3 1 1 65535\n65535 32768 1\n")
    with pytest.warns(UserWarning, match=naming("1 of 1", "16 bits", 8)):
        assert read(tmp_path).data.tolist() == [[255, 128, 0]]


def test_too_many_pixels_are_no_damage(tmp_path, monkeypatch):
    save(tmp_path / "a.png", levels())
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 5)
    with pytest.raises(ValueError, match=naming("a.png", "20 pixels")):
        read(tmp_path)


def test_black_and_white_and_palettes(tmp_path):
    bits = np.array([[True, False], [False, True]])
    save(tmp_path / "bits" / "a.png", bits)
    assert read(tmp_path / "bits").data.tolist() == [[255, 0, 0, 255]]
    coloured = levels(shape=(4, 5, 3)) // 128 * 255
    save(tmp_path / "palette" / "a.png", Image.fromarray(coloured).quantize(8))
    table = read(tmp_path / "palette")
    assert table.image_shape == (4, 5, 3)
    np.testing.assert_array_equal(table.data.reshape(4, 5, 3), coloured)
    grey = np.repeat(levels()[..., None] // 64 * 85, 3, axis=2)
    save(tmp_path / "grey" / "a.png", Image.fromarray(grey).quantize(4))
    assert read(tmp_path / "grey").image_shape == (4, 5)


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_transparent_parts_are_white(tmp_path, mode):
    image = Image.new(mode, (2, 1), (0, 255) if mode == "LA" else (0, 0, 0, 255))
    save(tmp_path / "opaque" / "a.png", image)
    assert not read(tmp_path / "opaque").data.any()
    image.putalpha(Image.fromarray(np.array([[0, 255]], np.uint8)))
    save(tmp_path / "clear" / "a.png", image)
    with pytest.warns(UserWarning, match=naming("1 of 1", "transparent")):
        table = read(tmp_path / "clear")
    channels = len(mode[:-1])
    assert table.data.tolist() == [[255] * channels + [0] * channels]


def test_the_side_that_is_up(tmp_path):
    pixels = levels()
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned
    save(tmp_path / "a.png", pixels, exif=exif)
    table = read(tmp_path)
    assert table.image_shape == (5, 4)
    np.testing.assert_array_equal(table.data.reshape(5, 4), np.rot90(pixels, -1))


@pytest.mark.parametrize("name", ["a.gif", "a.tif"])
def test_the_first_of_several_frames(tmp_path, name):
    first, second = np.zeros((4, 5), np.uint8), np.full((4, 5), 255, np.uint8)
    save(tmp_path / name, first, save_all=True, append_images=[Image.fromarray(second)])
    with pytest.warns(UserWarning, match=naming("1 of 1", "frames")):
        assert not read(tmp_path).data.any()


def test_grey_and_coloured_images(tmp_path):
    grey, coloured = levels(), levels(shape=(4, 5, 3))
    save(tmp_path / "a.png", grey)
    save(tmp_path / "b.png", coloured)
    with pytest.warns(UserWarning, match=naming("1 of 2", "--grey", "Reading(grey=True)")):
        table = read(tmp_path)
    assert table.image_shape == (4, 5, 3)
    np.testing.assert_array_equal(table.data[0].reshape(4, 5, 3), grey[..., None].repeat(3, 2))
    table = read(tmp_path, Reading(grey=True))
    assert table.image_shape == (4, 5)
    np.testing.assert_array_equal(table.data[0], grey.ravel())
    luma = coloured @ np.array([0.299, 0.587, 0.114])
    np.testing.assert_allclose(table.data[1], luma.ravel(), atol=1)


def test_images_of_several_sizes(tmp_path):
    for name, size in (("a.png", 4), ("b.png", 5), ("c.png", 5)):
        save(tmp_path / name, levels(shape=(size, 5)))
    remedies = "--resize 5x5", "Reading(resize=(5, 5))"
    with pytest.raises(ValueError, match=naming("b.png", "5×5", "a.png", "5×4", 2, 3, *remedies)):
        read(tmp_path)
    with pytest.warns(UserWarning, match=naming("1 of 3", "resize")):
        table = read(tmp_path, Reading(resize=(5, 5)))
    assert table.image_shape == (5, 5)
    np.testing.assert_array_equal(table.data[1], levels(shape=(5, 5)).ravel())


def test_a_smaller_image_has_the_means_of_a_larger_one(tmp_path):
    pixels = levels(shape=(4, 6))
    save(tmp_path / "a.png", pixels)
    means = pixels.reshape(2, 2, 3, 2).mean(axis=(1, 3))
    table = read(tmp_path, Reading(resize=(3, 2)))
    np.testing.assert_allclose(table.data, means.reshape(1, -1), atol=1)  # rounded twice
    assert table.image_shape == (2, 3)


def test_folders_are_labels(tmp_path):
    for i, name in enumerate(["dog/b.png", "dog/a.png", "cat/z.png", ".hidden/x.png"]):
        save(tmp_path / name, levels(seed=i))
    (tmp_path / "empty").mkdir()
    table = read(tmp_path)
    assert table.labels == ("cat", "dog", "dog")
    expected = [levels(seed=i).ravel() for i in (2, 1, 0)]
    np.testing.assert_array_equal(table.data, expected)
    save(tmp_path / "a.png", levels())
    with pytest.raises(ValueError, match=naming(tmp_path, 1, 3, "cat")):
        read(tmp_path)


def test_folders_of_folders(tmp_path):
    save(tmp_path / "train" / "cat" / "a.png", levels())
    with pytest.raises(ValueError, match=naming("train/cat'", "train'")):
        read(tmp_path)
    assert read(tmp_path / "train").labels == ("cat",)


def test_what_is_no_image(tmp_path):
    save(tmp_path / "a.png", levels())
    for name in (".DS_Store", "._a.png", "Thumbs.db"):
        (tmp_path / name).write_bytes(b"of a system")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(tmp_path).data.shape == (1, 20)
    for name in ("notes.txt", "more.TXT", "LICENSE"):
        (tmp_path / name).write_text("words")
    told = naming(3, "2 .txt", 1)
    with pytest.warns(UserWarning, match=told):
        read(tmp_path)
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:40])
    with (
        pytest.warns(UserWarning, match=told),
        pytest.raises(ValueError, match=naming("b.png", "damaged")),
    ):
        read(tmp_path)
