"""What commands write never costs the user what they read, nor what was there and is good."""

import os
import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lrnn
from lrnn import LRNNAutoencoder, streaming
from lrnn.tables.atomic import check_apart, put_in_place, sole_writer

pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.fixture
def folder(tmp_path, digits):
    """A model, data in several formats, a folder of images, links to all of them."""
    from PIL import Image

    rows = digits[:60]
    LRNNAutoencoder(4, max_iter=5).fit(rows).save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", rows)
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",")
    (tmp_path / "images").mkdir()
    for i, row in enumerate(rows[:5]):
        pixels = np.round(255 * row.reshape(8, 8)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / f"{i}.png")
    for name, target in {
        "link.npy": "x.npy", "link.csv": "x.csv", "link.safetensors": "x.npy",
        "link.onnx": "m.safetensors", "link.png": "x.npy", "link": "images",
    }.items():  # fmt: skip
        (tmp_path / name).symlink_to(target)
    for name in ("report", "frontier"):
        (tmp_path / name).mkdir()
    (tmp_path / "report" / "index.html").symlink_to("../x.csv")
    np.savetxt(tmp_path / "frontier" / "frontier.csv", rows, delimiter=",")
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        "encode m.safetensors x.npy -o x.npy",
        "encode m.safetensors x.npy -o link.npy",
        "encode m.safetensors link.npy -o x.npy",
        "encode m.safetensors x.csv -o x.csv",
        "classify m.safetensors x.csv -o x.csv",
        "detect x.csv -o x.csv",
        "detect images -o scores.csv --save images/a.safetensors",
        "detect images -o scores.csv --report images",
        "encode m.safetensors ./x.csv -o images/../x.csv",
        "encode m.safetensors images -o images/codes.npy",
        "reconstruct m.safetensors x.npy -o x.npy",
        "reconstruct m.safetensors x.csv -o link.csv",
        "fit x.npy -o link.safetensors --hidden 4",
        "fit images -o images/a.safetensors --hidden 4",
        "simulate m.safetensors x.npy -o link.png",
        "simulate m.safetensors images -o images/0.png",
        "simulate m.safetensors x.csv --no-figure --raster link.csv",
        "simulate m.safetensors images -o link/0.png",
        "export m.safetensors -o link.onnx",
        "report m.safetensors images -o images",
        "report m.safetensors x.csv -o report",
        "frontier frontier/frontier.csv -o frontier --hidden 4",
        "frontier x.csv --test frontier/frontier.csv -o frontier --hidden 4",
        "frontier images -o link --hidden 4",
        "width images -o images/0.png",
    ],
)
def test_no_command_writes_to_what_it_reads(call, folder, command):
    before = contents(folder)
    done = call(*command.split(), cwd=folder)
    assert done.returncode == 1
    one, other = ((folder / name).resolve() for name in re.findall("'(.*?)'", done.said)[:2])
    assert one == other or one in other.parents or other in one.parents
    assert contents(folder) == before


def test_nor_does_python(folder):
    model = lrnn.load(folder / "m.safetensors")
    mapped = np.load(folder / "x.npy", mmap_mode="r")
    for data in (folder / "x.npy", str(folder / "link.npy"), mapped):
        for write in (streaming.encode, streaming.reconstruct):
            with pytest.raises(ValueError, match=r"x\.npy"):
                write(model, data, folder / "x.npy")
    check_apart(folder / "new.npy", folder / "x.npy", "digits", None, np.zeros(3))


def test_a_report_may_stand_beside_the_data(call, folder):
    done = call("report", "m.safetensors", "x.csv", "-o", ".", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "index.html").exists()


KILLED = """
    import os, shutil, signal
    import numpy as np, lrnn

    rows = np.random.default_rng(0).random((50, 4))
    model = lrnn.LRNNAutoencoder(2, random_state=0).fit(rows)
    lrnn.streaming.encode(model, rows, "codes.zarr")

    def die(*arguments, **options):
        os.kill(os.getpid(), signal.SIGKILL)

    shutil.rmtree = die  # the moment at which the old array is removed
    lrnn.streaming.encode(model, rows[:20], "codes.zarr")
"""


def test_a_kill_before_the_old_zarr_array_is_removed_loses_neither(tmp_path):
    zarr = pytest.importorskip("zarr", reason="pip install zarr")
    command = [sys.executable, "-c", textwrap.dedent(KILLED)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert zarr.open(str(tmp_path / "codes.zarr"), mode="r").shape == (20, 2)  # the new one, whole
    (rest,) = [path for path in tmp_path.iterdir() if path.name != "codes.zarr"]
    (old,) = [path for path in rest.iterdir() if path.is_dir()]
    assert zarr.open(str(old), mode="r").shape == (50, 2)


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "kept").touch()
    with pytest.raises(FileNotFoundError):
        put_in_place(new, old)  # which is not there
    assert os.listdir(old) == ["kept"]


def test_a_model_that_is_not_finite_is_never_written(digits, tmp_path):
    path = tmp_path / "m.safetensors"
    model = LRNNAutoencoder(3, max_iter=2).fit(digits)
    model.save(path)
    good = path.read_bytes()
    for spoil in (
        lambda m: m.encoders_[0].__setitem__((0, 0), np.nan),
        lambda m: m.decoders_[0].__setitem__((0, 0), np.inf),
        lambda m: m.decoders_[0].__setitem__((0, 0), -1.0),
        lambda m: setattr(m, "reconstruction_err_", float("nan")),
        lambda m: setattr(m, "spike_cost_", float("inf")),
    ):
        bad = lrnn.load(path)
        spoil(bad)
        with pytest.raises(ValueError, match="saved"):
            bad.save(path)
        assert path.read_bytes() == good
    assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]


@pytest.mark.parametrize("scale", [1e-26, 1e-33])
def test_fit_on_tiny_numbers_writes_a_model_that_can_be_read(call, tmp_path, scale):
    X = np.random.default_rng(0).random((200, 10))
    X[:, 8] *= scale
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    done = call("fit", "x.npy", "-o", "m.safetensors", "--hidden", 3, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert call("inspect", "m.safetensors", cwd=tmp_path).returncode == 0


# Scaling that would cut numbers off


@pytest.fixture(params=["in memory", "stream"])
def raw(request, tmp_path, monkeypatch, digits):
    """Writes a .npy file that is read at once, or block by block."""
    if request.param == "stream":
        monkeypatch.setattr("lrnn.datasets.open.LARGE", 1_000)
        monkeypatch.setattr("lrnn.tables.sources.BLOCK_BYTES", 10 * 3 * 8)

    def write(**cells):
        X = np.random.default_rng(0).random((50, 3))
        for value, places in cells.values():
            for place in places:
                X[place] = value
        np.save(tmp_path / "x.npy", X)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("value", "places", "scale", "named"),
    [
        (-0.5, [(40, 1), (42, 1), (44, 1), (45, 2)], "max", ["row 41", "column 2", -0.5, 3, 1]),
        (-0.5, [(40, 1)], "levels", ["row 41", "column 2", -0.5]),
        (7e4, [(3, 0), (40, 0)], "levels", ["row 4", "column 1", 70000, 65535, 2]),
        (np.inf, [(40, 1)], "max", ["row 41", "column 2", "inf"]),
        (np.inf, [(40, 1)], "levels", ["row 41", "column 2", "inf"]),
        (-np.inf, [(40, 1)], "minmax", ["row 41", "column 2", "-inf"]),
        (np.nan, [(40, 1), (41, 1), (43, 1)], "minmax", ["row 41", "column 2", 3, "--missing"]),
        (np.nan, [(40, 1)], "max", ["row 41", "column 2", "--missing"]),
        (np.nan, [(40, 1)], "levels", ["row 41", "column 2", "--missing"]),
    ],
)  # fmt: skip
def test_a_scaling_that_would_cut_data_off_is_refused(call, raw, value, places, scale, named):
    folder = raw(bad=(value, places))
    done = call("fit", "x.npy", "-o", "m.safetensors", "--hidden", 2, "--scale", scale, cwd=folder)
    assert done.returncode == 1
    assert done.names("x.npy", *named)
    assert not (folder / "m.safetensors").exists()


@pytest.mark.filterwarnings("default")
def test_a_range_beyond_all_numbers_is_refused(call, raw):
    folder = raw(low=(-1e308, [(0, 1)]), high=(1e308, [(1, 1)]))
    done = call("fit", "x.npy", "-o", "m.safetensors", "--scale", "minmax", cwd=folder)
    assert done.returncode == 1
    assert done.names("column 2", "-1e+308", "1e+308")


@pytest.mark.filterwarnings("default")
def test_what_a_scaling_can_take_is_not_refused(call, raw):
    folder = raw(high=(255.0, [(3, 1)]), low=(0.0, [(4, 1)]))
    for scale in ("levels", "max", "minmax"):
        command = ["fit", "x.npy", "-o", "m.safetensors", "--hidden", 2, "--scale", scale, "-q",
                   "--force"]  # fmt: skip
        assert call(*command, cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("value", "offered"), [(200.0, "minmax, max or levels"), (300.0, "minmax or max")]
)
def test_only_scalings_that_help_are_offered(call, tmp_path, value, offered):
    X = np.full((20, 3), 0.5)
    X[6, 2] = value
    np.save(tmp_path / "x.npy", X)
    done = call("fit", "x.npy", "-o", "m.safetensors", "--scale", "none", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("row 7", "column 3", "--scale")
    assert done.said.endswith(offered)


def test_a_cell_that_is_no_number_is_named_without_scaling_too(call, tmp_path):
    X = np.full((20, 3), 0.5)
    X[6, 2] = np.nan
    np.save(tmp_path / "x.npy", X)
    done = call("fit", "x.npy", "-o", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("x.npy", "row 7", "column 3", "--missing")


# One writer at a time


def test_only_one_works_on_a_file_and_no_lock_is_left(tmp_path):
    path = tmp_path / "m.safetensors"
    for _ in range(2):
        with sole_writer(path):
            with pytest.raises(BlockingIOError, match=r"m\.s"), sole_writer(path):
                pass
            assert (tmp_path / ".m.safetensors.lock").exists()
        assert not list(tmp_path.iterdir())


def test_nor_does_another_one_through_a_link(tmp_path):
    path, link = tmp_path / "m.safetensors", tmp_path / "link.safetensors"
    path.touch()
    link.symlink_to(path)
    with sole_writer(path), pytest.raises(BlockingIOError), sole_writer(link):
        pass
