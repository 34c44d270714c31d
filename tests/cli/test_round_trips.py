"""From raw files to models and back, in the data's own units, on the command line and in Python."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_wine

import lrnn
from lrnn.datasets import read
from lrnn.tables.writers import write
from naming import naming

KINDS = ("npy", "npz", "csv", "tsv", "csv.gz", "mat", "parquet", "zarr", "h5", "idx")
NEEDED = {"parquet": "pyarrow", "zarr": "zarr", "h5": "h5py"}


def written(folder, kind, X, names):
    """A file of this kind."""
    if kind in NEEDED:
        pytest.importorskip(NEEDED[kind], reason=f"{NEEDED[kind]} is not installed")
    path = folder / f"t.{kind}"
    if kind == "csv.gz":
        pd.DataFrame(X, columns=names).to_csv(path, index=False)
    elif kind == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["data"] = X
    elif kind == "idx":
        head = bytes([0, 0, 0x0E, 2]) + np.array(X.shape, dtype=">u4").tobytes()
        path.write_bytes(head + X.astype(">f8").tobytes())
    else:
        write(path, X, names)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_raw_units_go_in_and_come_out(call, tmp_path, kind):
    wine = load_wine()
    X = wine.data[:60]
    path = written(tmp_path, kind, X, wine.feature_names)
    done = call("fit", path.name, "-o", "m.safetensors", "--max-iter", 5, cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert done.shows("--scale")
    for command, output in (("encode", "codes.npy"), ("reconstruct", "back.csv")):
        done = call(command, "m.safetensors", path.name, "-o", output, cwd=tmp_path)
        assert done.returncode == 0, done.said
    model = lrnn.load(tmp_path / "m.safetensors")
    raw = read(path).data
    np.testing.assert_allclose(np.load(tmp_path / "codes.npy"), model.transform(raw), rtol=1e-6)
    np.testing.assert_allclose(read(tmp_path / "back.csv").data, model.reconstruct(raw), rtol=1e-6)
    scaling = model.scaling_
    np.testing.assert_allclose(scaling.revert(scaling.apply(raw)), X, rtol=1e-6)


def test_one_array_of_several_is_remembered(call, tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    X = load_wine().data[:40]
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["deep/inside/first"], file["deep/inside/second"] = X, X[:, :3]
    done = call("fit", "t.h5", "-o", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("deep/inside/first", "--key")
    key = ("--key", "deep/inside/second")
    assert call("fit", "t.h5", *key, "-o", "m.safetensors", cwd=tmp_path).returncode == 0
    done = call("encode", "m.safetensors", "t.h5", "-o", "codes.npy", cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert np.load(tmp_path / "codes.npy").shape == (40, 2)
    np.savez(tmp_path / "plain.npz", X[:, :3])  # another kind of file has no such key
    done = call("encode", "m.safetensors", "plain.npz", "-o", "others.npy", cwd=tmp_path)
    assert done.names("deep/inside/second") or done.returncode == 0


@pytest.mark.filterwarnings("default")
def test_folders_of_images_with_labels(call, tmp_path):
    rng = np.random.default_rng(0)
    for label in ("cats", "dogs"):
        (tmp_path / "pets" / label).mkdir(parents=True)
        for i in range(4):
            size = (8 + i % 2, 8)
            pixels = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "pets" / label / f"{i}.png")
    done = call("fit", "pets", "-o", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("--resize 8x8")
    fit = ("fit", "pets", "-o", "m.safetensors", "--resize", "4x4", "--grey", "--hidden", 2)
    done = call(*fit, cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert done.names("pets", "resize")
    assert lrnn.load(tmp_path / "m.safetensors").n_features_in_ == 16
    done = call("encode", "m.safetensors", "pets", "-o", "codes.csv", cwd=tmp_path)
    assert done.returncode == 0, done.said
    codes = pd.read_csv(tmp_path / "codes.csv")
    assert list(codes.columns) == ["code0", "code1", "label"]
    assert codes["label"].tolist() == ["cats"] * 4 + ["dogs"] * 4


@pytest.mark.filterwarnings("default")
def test_a_large_table_goes_block_by_block(call, tmp_path, monkeypatch):
    monkeypatch.setattr("lrnn.rows.validation.IN_MEMORY", 10)
    monkeypatch.setattr("lrnn.tables.text.BLOCK", 400)
    frame = pd.DataFrame(
        {
            "id": [f"r{i:03}" for i in range(90)],
            "x": np.random.default_rng(0).random(90) * 50,
            "y": np.random.default_rng(1).random(90),
            "kind": ["a", "b", "c"] * 30,
        }
    )
    frame.loc[[5, 40], "x"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("--index", "id", "--label", "kind", "--missing", "drop", "--hidden", 2)
    done = call("fit", "t.csv", *options, "-o", "m.safetensors", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.said
    if find_spec("distributed") is not None:
        done = call("fit", "t.csv", *options, "-o", "n.safetensors", "--workers", 1, cwd=tmp_path)
        assert done.names("t.csv", "workers", ".npy")
    done = call("encode", "m.safetensors", "t.csv", "-o", "codes.csv", cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert done.names("2 rows")
    codes = pd.read_csv(tmp_path / "codes.csv")
    kept = frame.dropna()
    assert codes["id"].tolist() == kept["id"].tolist()
    assert codes["kind"].tolist() == kept["kind"].tolist()
    monkeypatch.undo()
    model = lrnn.load(tmp_path / "m.safetensors")
    with pytest.warns(UserWarning, match=naming("2 rows")):
        expected = model.transform(frame)
    np.testing.assert_allclose(codes[["code0", "code1"]], expected, atol=1e-12)
