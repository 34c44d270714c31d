"""Readers: what was written is read, and what cannot be read is named."""

import gzip
import io
import os
import re
import struct
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pyarrow import parquet
from scipy import sparse
from scipy.io import savemat

import lrnn
from lrnn.cli.inputs import DataOf
from lrnn.datasets import read
from lrnn.tables.read import READERS, open_source, read_idx
from lrnn.tables.reading import ENDINGS
from naming import naming

NUMBERS = np.array([[0.5, 1.25, 3e-7], [0, -2, 1e20]])


def test_numpy_and_matlab_files(tmp_path):
    np.save(tmp_path / "a.npy", NUMBERS)
    np.savez_compressed(tmp_path / "a.npz", labels=np.arange(2), images=NUMBERS.reshape(2, 3, 1))
    savemat(tmp_path / "a.mat", {"fea": NUMBERS})
    np.testing.assert_array_equal(read(tmp_path / "a.npy").data, NUMBERS)
    np.testing.assert_array_equal(read(tmp_path / "a.mat").data, NUMBERS)
    table = read(tmp_path / "a.npz")
    np.testing.assert_array_equal(table.data, NUMBERS)
    assert table.image_shape == (3, 1)


def test_the_type_of_the_numbers_is_kept(tmp_path):
    for kind in ("u1", "f4", "f8", "i8"):
        np.save(tmp_path / "a.npy", np.ones((2, 2), kind))
        assert read(tmp_path / "a.npy").data.dtype == kind
    np.save(tmp_path / "a.npy", np.array([[True, False]]))
    assert read(tmp_path / "a.npy").data.tolist() == [[1, 0]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("names", [None, ("age", "größe, cm", "x")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_text(tmp_path, delimiter, names, end, pack):
    lines = [delimiter.join(repr(float(cell)) for cell in row) for row in NUMBERS]
    if names:
        lines.insert(0, delimiter.join(f'"{name}"' for name in names))
    path = tmp_path / ("a.csv.gz" if pack is gzip.compress else "a.tsv")
    path.write_bytes(pack(("\ufeff" + end.join([*lines, "", ""])).encode()))
    table = read(path)
    np.testing.assert_array_equal(table.data, NUMBERS)
    assert table.names == names


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pip install 'lrnn[test]'")
    pandas.DataFrame(NUMBERS, columns=list("abc")).to_parquet(tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    np.testing.assert_array_equal(table.data, NUMBERS)
    assert table.names == ("a", "b", "c")


def test_the_index_of_a_pandas_table_is_no_column(tmp_path):
    frame = pd.DataFrame(NUMBERS, columns=list("abc"))
    frame[frame.a > 0].to_parquet(tmp_path / "rows.parquet")
    np.testing.assert_array_equal(read(tmp_path / "rows.parquet").data, NUMBERS[:1])
    frame.set_index("b").to_parquet(tmp_path / "named.parquet")
    assert read(tmp_path / "named.parquet").names == ("a", "c")
    assert open_source(tmp_path / "named.parquet").shape == (2, 2)


def test_folders_of_parquet_files_and_arrays_on_disk(tmp_path):
    (tmp_path / "year=3").mkdir()
    for i in range(2):
        frame = pd.DataFrame(NUMBERS + i, columns=list("abc"))
        frame.to_parquet(tmp_path / "year=3" / f"{i}.parquet")
    table = read(tmp_path)
    np.testing.assert_array_equal(table.data, np.concatenate([NUMBERS, NUMBERS + 1]))
    assert table.names == ("a", "b", "c")
    h5py = pytest.importorskip("h5py", reason="pip install h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"], file["vector"] = NUMBERS, np.arange(3)
    np.testing.assert_array_equal(read(tmp_path / "a.h5").data, NUMBERS)


def test_parquet_files_that_are_no_table_of_numbers(tmp_path):
    path = tmp_path / "a.parquet"
    for columns, names, told in [
        ([["x"]], ["a"], ["column 'a'", "string"]),
        ([[1.0], [2.0]], ["a", "a"], ["column 'a'"]),
        ([[]], ["a"], ["(0, 1)"]),
        ([], [], ["(0, 0)"]),
    ]:
        arrays = [pa.array(c, pa.string() if c == ["x"] else pa.float64()) for c in columns]
        parquet.write_table(pa.Table.from_arrays(arrays, names=names), path)
        with pytest.raises(ValueError, match=naming(path, *told)):
            read(path)


def test_idx_files_are_images(tmp_path):
    content = bytes([0, 0, 8, 3]) + struct.pack(">III", 2, 2, 3) + bytes(range(12))
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(content))
    table = read(tmp_path / "t10k-images-idx3-ubyte.gz")
    assert table.data.shape == (2, 6)
    assert table.image_shape == (2, 3)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"", ["empty"]),
        ("a.csv", b"\n \n", ["empty"]),
        ("a.csv", b"a,b\n", ["names", "no rows"]),
        ("a.csv", b"a,b\n1,2\n3,x\n", ["column 'b'", "'x'", "row 1", "categories='onehot'"]),
        ("a.csv", b"1,2\n\n3,\n", ["row 1", "column 1", "missing='allow'", "missing='median'"]),
        ("a.csv", b"1,2\n3,4,5\n", ["line 2", 3]),
        ("a.csv", b"a,b,c\n1,2\n", ["line 2", 3]),
        ("a.csv", b"1,2\nnan,4\n", ["row 1", "column 0", "missing='allow'", "missing='drop'"]),
        ("a.csv", b"a,b\n1,2\n\n3,inf\n", ["row 1", "column 'b'", "inf", "drop='b'"]),
        ("a.csv", b"1,2\n\xff,4\n", ["0xff", "line 2", "utf-8", "encoding='cp1252'"]),
        ("a.csv", b"1,2\n\x00,4\n", ["line 2", "zero bytes"]),
        ("a.csv.gz", gzip.compress(b"1,2\n", mtime=0)[:-5], ["gzip", "damaged"]),
        ("a.npy", b"no array", [".npy", "damaged"]),
        ("a.npz", b"no zip", [".npz", "damaged"]),
        ("a.mat", b"no matrix" * 50, ["MATLAB", "damaged"]),
        ("a.txt", b"1 2", [".npy", ".csv", ".parquet", "-ubyte", "images"]),
        ("a-ubyte", b"\x00\x00", ["idx"]),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=naming(path, *told)):
        read(path)


def test_what_is_no_table_of_numbers(tmp_path):
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    with pytest.raises(ValueError, match=naming("words.npy", "<U1")):
        read(tmp_path / "words.npy")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=naming("objects.npy", "object")):
        read(tmp_path / "objects.npy")
    np.save(tmp_path / "none.npy", np.zeros((0, 3)))
    with pytest.raises(ValueError, match=naming("none.npy", "(0, 3)")):
        read(tmp_path / "none.npy")
    np.savez(tmp_path / "two.npz", a=NUMBERS, b=NUMBERS)
    with pytest.raises(ValueError, match=naming("a (2, 3)", "b (2, 3)", "--key a")):
        read(tmp_path / "two.npz")
    with pytest.raises(FileNotFoundError, match=naming("nowhere.csv")):
        read(tmp_path / "nowhere.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match=naming(tmp_path / "folder", ".png", ".tiff")):
        read(tmp_path / "folder")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    for opened in (read, open_source):
        with pytest.raises(ValueError, match=naming("a.csv", "pipe")):
            opened(tmp_path / "a.csv")
    os.mkfifo(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=naming("a.parquet", "pipe")):
        read(tmp_path)
    os.mkfifo(tmp_path / "a.idx")
    with pytest.raises(ValueError, match=naming("a.idx", "pipe")):
        read_idx(tmp_path / "a.idx")
    os.mkfifo(tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=naming("a.safetensors", "pipe")):
        lrnn.load(tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=naming("a.safetensors", "pipe")):
        lrnn.checkpoints.fit(lrnn.LRNNAutoencoder(1), np.eye(3), tmp_path / "a.safetensors")


def npy_of(shape, content=bytes(100)):
    header = io.BytesIO()
    facts = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, facts)
    return header.getvalue() + content


def forged_sizes(path):
    """Files that promise far more numbers than any memory holds."""
    h5py = pytest.importorskip("h5py", reason="pip install 'lrnn[files]'")
    zarr = pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    shape = 10**6, 10**8
    if path.suffix == ".npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data.npy", npy_of(shape))
    elif path.suffix == ".zarr":
        zarr.create_array(store=str(path), shape=shape, dtype="f8", chunks=(1, 1000))
    else:
        block = 512 if path.suffix == ".mat" else 0
        with h5py.File(path, "w", userblock_size=block) as file:
            file.create_dataset("data", shape=shape, dtype="f8", chunks=(1, 1000))
        if block:
            with open(path, "r+b") as file:
                file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


@pytest.mark.parametrize("name", ["a.npz", "a.h5", "a.zarr", "a.mat"])
def test_memory_that_does_not_suffice_is_no_damage(tmp_path, name):
    forged_sizes(tmp_path / name)
    size = "728. TiB" if name == "a.npz" else "727.6 TiB"
    with pytest.raises(MemoryError, match=naming(name, size, ".npy", ".parquet", ".zarr", ".h5")):
        read(tmp_path / name)


def test_a_row_that_no_memory_holds(tmp_path):
    h5py = pytest.importorskip("h5py", reason="pip install 'lrnn[files]'")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("data", shape=(2, 10**14), dtype="f8", chunks=(1, 1000))
    with pytest.raises(MemoryError, match=naming("a.h5", "728. TiB")):
        next(open_source(tmp_path / "a.h5").blocks(0, 1))


def test_memory_is_told_with_the_size(tmp_path, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    np.save(tmp_path / "a.npy", np.zeros((1024, 1024)))
    monkeypatch.setattr(np, "load", full)
    with pytest.raises(MemoryError, match=naming("a.npy", "8.0 MiB")):
        read(tmp_path / "a.npy")
    (tmp_path / "a.idx").write_bytes(bytes([0, 0, 8, 2, 0, 0, 4, 0, 0, 0, 4, 0]) + bytes(1 << 20))
    monkeypatch.setattr(lrnn.tables.idx, "min", full, raising=False)
    with pytest.raises(MemoryError, match=naming("a.idx", "1.0 MiB")):
        read(tmp_path / "a.idx")
    (tmp_path / "images").mkdir()
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(tmp_path / "images" / "a.png")
    monkeypatch.setattr(np, "stack", full)
    with pytest.raises(MemoryError, match=naming(tmp_path / "images")):
        read(tmp_path / "images")


def test_a_header_that_promises_more_than_there_is(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy_of((10**9, 1000)))
    with pytest.raises(ValueError, match=naming("a.npy", "8,000,000,000,128 bytes", 228)):
        read(tmp_path / "a.npy")


def image(kind, dtype=np.uint8, mode=None, **more):
    content = io.BytesIO()
    pixels = Image.fromarray(np.arange(48, dtype=dtype).reshape(6, 8))
    pixels.convert(mode or pixels.mode).save(content, kind, **more)
    return content.getvalue()


@cache
def originals():
    """A valid file of each format; those of images are in a folder."""
    npy, npz, mat, table, few = (io.BytesIO() for _ in range(5))
    np.save(npy, NUMBERS)
    sparse.save_npz(few, sparse.csr_array(NUMBERS), compressed=False)
    np.savez_compressed(npz, data=NUMBERS)
    savemat(mat, {"fea": NUMBERS}, do_compression=True)
    pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).to_parquet(table)
    return {
        "a.parquet": table.getvalue(),
        "png/a.png": image("PNG"),
        "jpeg/a.jpg": image("JPEG"),
        "pgm/a.pgm": image("PPM"),
        "gif/a.gif": image("GIF"),
        "tiff/a.tif": image("TIFF"),
        "bmp/a.bmp": image("BMP"),
        "webp/a.webp": image("WEBP"),
        "png-16/a.png": image("PNG", np.uint16),
        "png-alpha/a.png": image("PNG", mode="RGBA"),
        "gif-frames/a.gif": image("GIF", save_all=True, append_images=[Image.new("L", (8, 6))]),
        "tiff-float/a.tif": image("TIFF", np.float32),
        "few.npz": few.getvalue(),
        "a.npy": npy.getvalue(),
        "a.npz": npz.getvalue(),
        "a.mat": mat.getvalue(),
        "a.csv": b'a,"b",c\n1,2,3\n4,5,6\n',
        "a.tsv.gz": gzip.compress(b"1\t2\n3\t4\n", mtime=0),
        "a-ubyte": bytes([0, 0, 8, 2]) + struct.pack(">II", 2, 3) + bytes(6),
        "a-ubyte.gz": gzip.compress(
            bytes([0, 0, 8, 2]) + struct.pack(">II", 2, 3) + bytes(6), mtime=0
        ),
    }


@st.composite
def damaged(draw):
    """A file with some bytes changed, cut out or put in; or any bytes at all."""
    name = draw(st.sampled_from(sorted(originals())))
    if draw(st.integers(0, 9)) == 0:
        return name, draw(st.binary(max_size=200))
    content = bytearray(originals()[name])
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(["change", "cut", "insert"]))
        piece = draw(st.binary(min_size=1, max_size=8))
        if kind == "change":
            content[place : place + len(piece)] = piece
        elif kind == "cut":
            del content[place : place + draw(st.integers(1, 50))]
        else:
            content[place:place] = piece
    return name, bytes(content)


@given(damaged())
@settings(max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::Warning")
def test_any_file_gives_a_table_or_one_clear_error(tmp_path_factory, case):
    name, content = case
    path = tmp_path_factory.getbasetemp() / f"fuzz-{name}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    if "/" in name:
        path = path.parent
    try:
        table = read(path)
    except ValueError as error:
        message = str(error)
    else:
        message = str(path)
        assert table.data.ndim == 2
        assert table.data.size
    assert str(path) in message


def test_archives_may_hold_what_is_no_array(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("../../evil.npy", b"\x93NUMPY")
    with pytest.raises(ValueError, match=naming("a.npz", "damaged")):
        read(tmp_path / "a.npz")


def test_true_is_one_in_every_format(tmp_path):
    zarr, h5py = (
        pytest.importorskip("zarr", reason="pip install 'lrnn[files]'"),
        pytest.importorskip("h5py", reason="pip install 'lrnn[files]'"),
    )
    bits = np.array([[True, False, True], [False, True, True]])
    frame = pd.DataFrame(bits, columns=list("abc"))
    np.save(tmp_path / "a.npy", bits)
    np.savez(tmp_path / "a.npz", data=bits)
    savemat(tmp_path / "a.mat", {"data": bits})
    frame.to_parquet(tmp_path / "a.parquet")
    zarr.create_array(store=str(tmp_path / "a.zarr"), data=bits)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = bits
    for path in sorted(tmp_path.iterdir()):
        found = read(path).data
        assert found.dtype == np.float64, path.name  # 8 bits would be levels
        np.testing.assert_array_equal(found, bits)
    assert open_source(tmp_path / "a.parquet").dtype == np.float64
    frame.astype({"b": np.uint8}).to_parquet(tmp_path / "mixed.parquet")
    assert read(tmp_path / "mixed.parquet").data.dtype == np.float64
    holes = pa.table({"a": [True, None], "b": [False, True]})
    parquet.write_table(holes, tmp_path / "holes.parquet")
    np.testing.assert_array_equal(read(tmp_path / "holes.parquet").data, [[1, 0], [np.nan, 1]])


def test_one_of_several_matrices(tmp_path):
    h5py = pytest.importorskip("h5py", reason="pip install 'lrnn[files]'")
    others = {"labels": np.arange(2), "other": NUMBERS[:, :1]}
    for name, arrays in (("X", {"X": NUMBERS, **others}), ("bad", {"a": NUMBERS, **others})):
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file.update(arrays)
    for suffix in ("npz", "h5"):
        np.testing.assert_array_equal(read(tmp_path / f"X.{suffix}").data, NUMBERS)
        with pytest.raises(ValueError, match=naming("a (2, 3)", "other (2, 1)", "--key a")):
            read(tmp_path / f"bad.{suffix}")


def test_matlab_numbers_are_of_the_class_they_have(tmp_path):
    """Not of the few bits in which MATLAB stores whole numbers: these would be levels."""
    counts = np.array([[0.0, 3.0], [7.0, 1.0]])
    savemat(tmp_path / "a.mat", {"data": counts.astype(np.uint8)})
    assert read(tmp_path / "a.mat").data.dtype == np.uint8
    flags = bytes([6, 0, 0, 0, 8, 0, 0, 0])  # of an array; its class follows
    whole, double = flags + bytes([9]), flags + bytes([6])
    stored = (tmp_path / "a.mat").read_bytes()
    assert whole in stored
    (tmp_path / "b.mat").write_bytes(stored.replace(whole, double))  # class double, stored as uint8
    assert read(tmp_path / "b.mat").data.dtype == np.float64
    np.testing.assert_array_equal(read(tmp_path / "b.mat").data, counts)


def test_every_format_is_named_where_formats_are_listed():
    assert tuple(READERS) == ENDINGS
    shown = {suffix for suffix in READERS if suffix.startswith(".")} - {".idx"}
    root = Path(__file__).parents[2]
    text = (root / "docs/command-line.md").read_text()
    listed = re.search(r"Data\S* are (a|the name of a) .*?[Ii]mages", text, re.DOTALL)
    assert not [suffix for suffix in shown if suffix not in listed[0]]
    assert "idx" in listed[0]
    help_ = DataOf.__metadata__[0].help
    assert all(suffix in help_ for suffix in READERS)


def test_a_comma_in_the_only_name_of_a_file_of_tabs(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a,b\n1\n2\n3\n")
    assert read(path).data.ravel().tolist() == [1, 2, 3]
