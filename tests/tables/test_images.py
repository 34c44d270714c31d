"""Folders of images: every depth as it is, and what is not as it was is told."""

import warnings

import numpy as np
import pytest
from PIL import Image

from lrnn.datasets import Reading, read


def save(path, pixels, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(np.asarray(pixels))
    image.save(path, **more)


def levels(kind=np.uint8, shape=(4, 5), seed=0):
    most = np.iinfo(kind).max
    return np.random.default_rng(seed).integers(0, most, shape, dtype=kind, endpoint=True)


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
    with pytest.raises(ValueError, match=r"b\.tif' has levels, but .*a\.tif' has floats"):
        read(tmp_path)
    pixels[2, 2] = np.nan
    save(tmp_path / "a.tif", pixels)
    with pytest.raises(ValueError, match=r"a\.tif' holds numbers that are not finite"):
        read(tmp_path)


def test_levels_beyond_16_bits(tmp_path):
    save(tmp_path / "a.tif", np.array([[0, 70_000]], dtype=np.int32))
    with pytest.raises(ValueError, match=r"a\.tif.*levels are from 0 to 70000, not from 0 to 65"):
        read(tmp_path)


def test_levels_of_8_and_16_bits(tmp_path):
    few, many = levels(), levels(np.uint16)
    save(tmp_path / "a.png", few)
    save(tmp_path / "b.png", many)
    with pytest.warns(UserWarning, match="1 of 2 images have 16 bits: all are read with 16"):
        table = read(tmp_path)
    np.testing.assert_array_equal(table.data / 65535, [few.ravel() / 255, many.ravel() / 65535])


def test_colours_of_16_bits_are_told(tmp_path):
    header = b"P6 1 1 65535\n"
    (tmp_path / "a.ppm").write_bytes(header + bytes([255, 255, 128, 0, 0, 1]))
    with pytest.warns(UserWarning, match="1 of 1 images: each has colours of 16 bits: 8 of"):
        assert read(tmp_path).data.tolist() == [[255, 128, 0]]


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
    with pytest.warns(UserWarning, match="1 of 1 images: each has transparent parts: these are"):
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
    with pytest.warns(UserWarning, match="1 of 1 images: each has several frames or pages"):
        assert not read(tmp_path).data.any()


def test_grey_and_coloured_images(tmp_path):
    grey, coloured = levels(), levels(shape=(4, 5, 3))
    save(tmp_path / "a.png", grey)
    save(tmp_path / "b.png", coloured)
    with pytest.warns(UserWarning, match="1 of 2 images are grey: all are read with colours; --gr"):
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
    with pytest.raises(ValueError, match=r"b\.png' has 5×5 pixels, but .*a\.png' has 5×4") as error:
        read(tmp_path)
    assert "--resize 5x5 (in Python, Reading(resize=(5, 5))) makes" in str(error.value)
    assert "that of 2 of the 3 images" in str(error.value)
    with pytest.warns(UserWarning, match="1 of 3 images: each is of another shape"):
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
    with pytest.raises(ValueError, match=r"holds 1 images and folders with 3 more, such as 'cat'"):
        read(tmp_path)


def test_folders_of_folders(tmp_path):
    save(tmp_path / "train" / "cat" / "a.png", levels())
    with pytest.raises(ValueError, match=r"cat' holds images that are too deep.*train' instead"):
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
    with pytest.warns(UserWarning, match=r"3 files are no images, .* 2 \.txt, 1 no ending"):
        read(tmp_path)
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:40])
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ValueError, match=r"b\.png' is not an image, or damaged"),
    ):
        read(tmp_path)
