import gzip
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from lrnn.datasets import read_idx
from naming import naming


def idx(array, code, kind):
    shape = b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    return bytes([0, 0, code, array.ndim]) + shape + array.astype(kind).tobytes()


@pytest.mark.parametrize(
    ("code", "kind"),
    [(8, "u1"), (9, "i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_was_written_is_read(tmp_path, code, kind, pack):
    array = np.arange(24).reshape(2, 3, 4)
    path = tmp_path / "file"
    path.write_bytes(pack(idx(array, code, kind)))
    np.testing.assert_array_equal(read_idx(path), array)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", ["idx"]),
        (b"\x89PNG", ["idx"]),
        (idx(np.arange(6), 8, "u1")[:-1], ["damaged", "(6,)", 5]),
        (idx(np.arange(6), 8, "u1") + b"x", ["damaged", "(6,)", "6 bytes"]),
        (bytes([0, 0, 8, 3, 0, 0]), ["damaged", "shape"]),
        (b"\x00\x00\x08\x02" + b"\xff" * 8, ["damaged", f"({2**32 - 1}, {2**32 - 1})"]),
        (gzip.compress(idx(np.arange(600), 8, "u1"), mtime=0)[:-9], ["damaged", "gzip"]),
    ],
)
def test_a_damaged_or_foreign_file_is_named(tmp_path, content, told):
    path = tmp_path / "file.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=naming(path, *told)):
        read_idx(path)


@pytest.mark.skipif(
    "LRNN_DATA_DIR" not in os.environ,
    reason="LRNN_DATA_DIR, the folder of the data sets, is not set",
)
def test_mnist_is_mnist():
    folder = Path(os.environ["LRNN_DATA_DIR"]) / "mnist"
    images = read_idx(folder / "train-images-idx3-ubyte.gz")
    labels = read_idx(folder / "train-labels-idx1-ubyte.gz")
    assert images.shape == (60_000, 28, 28)
    assert images.mean() / 255 == pytest.approx(0.13066, abs=5e-6)
    assert (labels == 1).sum() == 6742


def test_a_bomb_is_not_unpacked(tmp_path):
    """A header that promises little, or too much, and gigabytes of zeros behind it."""
    path = tmp_path / "bomb.gz"
    for size, most in ((5, 2e7), (2**32 - 1, 1e8)):
        with gzip.open(path, "wb", compresslevel=9) as file:
            file.write(b"\0\0\x08\x01" + size.to_bytes(4, "big"))
            for _ in range(40):
                file.write(bytes(1 << 20))
        tracemalloc.start()
        with pytest.raises(ValueError, match=naming(path, f"({size},)")):
            read_idx(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < most
