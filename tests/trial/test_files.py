"""Files of every format: as they are, with hostile cells, damaged, and forged to do harm."""

import gzip
import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.io import savemat

import lrnn
from lrnn.datasets import read
from test_grid import npy_path, npy_path_by_columns, parquet_path, zarr_path
from trial.harness import Refusal, answer, cases, check_said, damaged, left_in

SHAPES = [(1, 1), (1, 4), (2, 3), (5, 1), (7, 4), (20, 6)]
DTYPES = ["<f8", "<f4", "<f2", ">f8", ">f4", "|u1", "<u2", ">u2", "<u4", "|i1", "<i2", "<i4", "<i8",
          ">i4", "?"]  # fmt: skip
NAMES = [
    "a",
    "naïve",
    "x y",
    "日本",
    "a,b",
    'say "hi"',
    "=1+1",
    "<b>",
    "[red]",
    "x[/]",
    "@x",
    "a;b",
]


# Formats: functions that write values to a file, or a folder, and return its name


def text(case, values):
    """A .csv or .tsv file as one program or another writes it."""
    width = values.shape[1]
    kind = case.pick(["names", "no names", "numbered"] if width > 2 else ["names", "no names"])
    delimiter, ending = case.pick({",": (",", ".csv"), ";": (";", ".csv"), "tab": ("\t", ".tsv")})
    eol = case.pick({"lf": "\n", "crlf": "\r\n"})
    frame = pd.DataFrame(values.astype(float))
    if kind == "names":
        frame.columns = case.rng.choice(NAMES, width, replace=False)
    said = frame.to_csv(sep=delimiter, index=False, header=kind != "no names", lineterminator=eol,
                        quoting=case.pick({"quoted": 1, "not quoted": 0}))  # fmt: skip
    content = (said.rstrip() + eol * case.pick([0, 1, 3])).encode(case.pick(["utf-8", "utf-8-sig"]))
    if case.chance(0.2):
        content, ending = gzip.compress(content), ending + ".gz"
    return written(case, f"x{ending}", content)


def saved(save, *values, **named):
    file = io.BytesIO()
    save(file, *values, **named)
    return file.getvalue()


def npz(case, values):
    content = saved(case.pick([np.savez, np.savez_compressed]), data=values)
    return written(case, "x.npz", content)


def mat(case, values):
    content = saved(savemat, {"data": values}, do_compression=case.chance(0.5))
    return written(case, "x.mat", content)


def h5(case, values):
    h5py = pytest.importorskip("h5py", reason="pip install h5py")
    with h5py.File(case.folder / "x.h5", "w") as file:
        chunks = case.pick({"whole": None, "chunks": (1, values.shape[1])})
        file.create_dataset("data", data=values, chunks=chunks)
    return case.folder / "x.h5"


def idx(case, values):
    code, dtype = (8, ">u1") if values.dtype == np.uint8 else (14, ">f8")
    content = struct.pack(">HBBII", 0, code, 2, *values.shape) + values.astype(dtype).tobytes()
    name, pack = case.pick({"plain": ("x.idx", bytes), "gz": ("x.idx.gz", gzip.compress)})
    return written(case, name, pack(content))


def of_grid(write):
    return lambda case, values: Path(write(values, case.folder))


FORMATS = {"text": text, "npz": npz, "mat": mat, "h5": h5, "idx": idx} | {
    write.__name__: of_grid(write)
    for write in (npy_path, npy_path_by_columns, zarr_path, parquet_path)
}


def images(case, values):
    """A folder of images of one row of pixels, and the levels that they hold."""
    kind, name = case.pick({"png8": (np.uint8, "png"), "png16": (np.uint16, "png"),
                            "tiff16": (np.uint16, "tiff"), "float": (np.float32, "tiff"),
                            "pgm16": (np.uint16, "pgm"), "bmp": (np.uint8, "bmp")})  # fmt: skip
    white = 1 if kind is np.float32 else np.iinfo(kind).max
    levels = (values if white == 1 else np.rint(values * white)).astype(kind)
    levels[0, 0] = white
    (case.folder / "x").mkdir()
    for i, row in enumerate(levels):
        Image.fromarray(row[None]).save(case.folder / "x" / f"{i:02}.{name}")
    return case.folder / "x", levels.astype(float)


def written(case, name, content):
    (case.folder / name).write_bytes(content)
    return case.folder / name


def numbers(case):
    """Values of one type in one shape."""
    values, dtype = case.rng.random(case.pick(SHAPES)), np.dtype(case.pick(DTYPES))
    if dtype.kind == "f":
        return (values * case.pick([1.0, 1.0, 100.0])).astype(dtype)
    most = 1 if dtype.kind == "b" else min(np.iinfo(dtype).max, 1000)
    return np.rint(values * most).astype(dtype)


def a_file(case):
    """A file, or a folder, and the numbers in it."""
    if case.chance(0.15):
        return images(case, case.rng.random(case.pick(SHAPES)))
    write, kind, values = case.pick(FORMATS), case.about[-1], numbers(case)
    if kind in ("zarr_path", "parquet_path"):  # which know only this machine's order of bytes
        values = values.astype(values.dtype.newbyteorder("="))
    return write(case, values), values.astype(float)


@cases(short=20, full=4_000)
def test_as_they_are(case):
    """What was written is read, by Python and by commands; and codes are those of Python."""
    path, values = a_file(case)
    np.testing.assert_array_equal(np.asarray(read(path).data, dtype=float), values)
    done = case.call("fit", path, "-o", "m.safetensors", "--hidden", 2, "--max-iter", 2, "-q",
                "--scale", case.pick(["auto", "minmax"]), cwd=case.folder)  # fmt: skip
    check_said(done)
    if done.returncode:
        assert values.min() < 0 or not values.any(), done.said
        return
    ending = case.pick([".npy", ".csv", ".npz", ".mat", ".parquet", ".tsv", ".zarr"])
    if ending == ".zarr":
        pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    check_said(case.call("encode", "m.safetensors", path, "-o", f"codes{ending}", "-q",
                    cwd=case.folder), may_fail=False)  # fmt: skip
    expected = lrnn.load(case.folder / "m.safetensors").transform(read(path).data)
    found = np.asarray(read(case.folder / f"codes{ending}").data)
    np.testing.assert_allclose(found, expected, atol=1e-6)


CELLS = {  # and what they are; None is what no number is
    "": None, " ": None, "NA": None, "nan": None, "NULL": None, "inf": None, "-inf": None,
    "1e400": None, "0x1F": None, "1_000": None, "12%": None, "1+2j": None, "2020-01-01": None,
    "True": None, "?": None, "=1+1": None, "--1": None, "1e": None, "1 2": None, "0,5": None,
    "<script>": None, "[/b]": None, "\x1b[31m": None, "+0.5": 0.5, ".5": 0.5, "5.": 5.0,
    "1e2": 100.0, "-0": 0.0, "1e-320": 1e-320, " 0.25 ": 0.25, "00.5": 0.5,
}  # fmt: skip


@cases(short=20, full=4_000)
def test_hostile_cells(case):
    """A cell that is no number is refused, wherever it stands; no row is ever dropped."""
    values = case.rng.random(case.pick([(3, 2), (7, 4), (20, 3), (230, 2)]))
    cells = [[f"{value:.17g}" for value in row] for row in values]
    row, column = case.rng.integers(values.shape)
    cell = case.pick(list(CELLS))
    cells[row][column] = f'"{cell}"' if "," in cell else cell
    named = case.pick({"names": ["a", "b", "c", "d"][: values.shape[1]], "no names": []})
    lines = [",".join(line) for line in ([named] if named else []) + cells]
    path = written(case, "x.csv", "\n".join(lines).encode())
    case.about.append(f"row {row + 1}, column {column + 1}")
    found = answer(read, path)
    done = case.call("fit", path, "-o", "m.safetensors", "--hidden", 1, "--max-iter", 1, "-q",
                cwd=case.folder)  # fmt: skip
    check_said(done)
    if CELLS[cell] is None:
        if isinstance(found, Refusal):  # or it is a missing one, which has its place
            assert str(path) in str(found.error), found
        else:
            assert found.data.shape == values.shape, found.data.shape
            assert not np.isfinite(found.data[row, column])
        assert done.returncode == 1, "taken for a number"
        assert "\x1b[31m" not in done.stderr
        assert left_in(case.folder) == {"x.csv"}
        return
    values[row, column] = CELLS[cell]
    np.testing.assert_array_equal(found.data, values)
    assert done.returncode == 0, done.said


@cases(short=30, full=8_000)
def test_damaged(case):
    """A damaged file gives numbers, or one line that names it; never the error of a library."""
    path, _ = a_file(case)
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    victim = case.any_of(files)
    victim.write_bytes(damaged(case, victim.read_bytes()))
    before = left_in(case.folder)
    found = answer(read, path)
    if isinstance(found, Refusal):
        assert path.name in str(found.error), found
    else:
        assert found.data.ndim == 2
        assert found.data.dtype.kind in "biuf"
    if case.chance(0.3):
        done = case.call("fit", path, "-o", "m.safetensors", "--hidden", 1, "--max-iter", 1,
                         cwd=case.folder)  # fmt: skip
        check_said(done)
        new = left_in(case.folder) - before
        assert new == (set() if done.returncode else {"m.safetensors"}), new


class Explosive:
    """Makes a folder when it is unpickled."""

    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def npy_of_shape(shape):
    said = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode().ljust(118)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(said) + 1) + said + b"\n" + bytes(64)


def zip_of(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


OBJECTS = saved(np.save, np.array([[Explosive()]], dtype=object))
FORGED = {
    "pickle": pickle.dumps(Explosive()), "objects": OBJECTS,
    "calls": npy_of_shape("(__import__('os').mkdir('exploded'), 2)"),
    "huge": npy_of_shape((10**12, 10**6)), "overflow": npy_of_shape((2**62, 4)),
    "negative": npy_of_shape((-1, 3)), "no rows": saved(np.save, np.zeros((0, 3))),
    "no columns": saved(np.save, np.zeros((3, 0))), "scalar": saved(np.save, np.array(0.5)),
    "complex": saved(np.save, np.ones((2, 2), complex)),
    "dates": saved(np.save, np.ones((2, 2), "M8[s]")),
    "records": saved(np.save, np.zeros(2, [("a", "f8"), ("b", "i4")])),
    "zip of objects": zip_of(**{"data.npy": OBJECTS}),
    "zip that leads out": zip_of(**{"../../data.npy": OBJECTS}),
    "zip of text": zip_of(**{"data.npy": b"hello", "x.txt": b"hi"}), "empty": b"",
    "idx of 2^62 cells": struct.pack(">HBBII", 0, 8, 2, 2**31, 2**31),
    "idx of no type": struct.pack(">HBBII", 0, 7, 2, 1, 1), "quotes": b'"' * 9,
    "zero bytes": bytes(300), "only names": b"a,b,c\n", "wide": b"," * 4_000 + b"\n1",
    "gzip of nothing": gzip.compress(b""),
    "matlab": b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + bytes(range(64)),
    "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(64), "parquet": b"PAR1" + bytes(40) + b"PAR1",
    "utf-16": "a,b\n1,2\n".encode("utf-16"),
}  # fmt: skip
ENDINGS = [".csv", ".tsv", ".npy", ".npz", ".mat", ".h5", ".zarr", ".parquet", ".idx", ".csv.gz",
           "-ubyte.gz", ".png", ".safetensors", ""]  # fmt: skip
SPECIAL = {
    "pipe": os.mkfifo,
    "link to nothing": lambda path: path.symlink_to("nothing"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "folder": os.mkdir,
    "no file": lambda path: None,
}


@cases(short=10, full=3_000)
def test_forged(case):
    """Files made to do harm are refused, whatever their name says; they run no code."""
    path = case.folder / f"x{case.pick(ENDINGS)}"
    if case.chance(0.15):
        case.pick(SPECIAL)(path)
    else:
        path.write_bytes(case.pick(FORGED))
    found = answer(read, path)
    assert isinstance(found, Refusal), f"gives {found.data!r:.80}"
    assert path.name in str(found.error), found
    done = case.call("fit", path, "-o", "m.safetensors", "--hidden", 1, cwd=case.folder)
    check_said(done)
    assert done.returncode == 1
    assert left_in(case.folder) <= {path.name}
    assert not os.path.exists("exploded")
