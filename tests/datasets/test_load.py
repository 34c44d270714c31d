"""Data sets by name, against what plain Python makes of the same files."""

import os
import statistics
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from sklearn import datasets as sklearn_datasets

from lrnn.datasets import DATA_SETS, load, open_table, read_idx
from naming import naming

FOLDER = Path(os.environ.get("LRNN_DATA_DIR", "nowhere"))
has_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="LRNN_DATA_DIR names no folder")

FILES = {  # the file, its columns that are no attributes, and the one that is the class
    "iris": ("iris.data", {4}, 4),
    "teaching_assistant": ("tae.data", {5}, 5),
    "liver": ("bupa.data", {5, 6}, None),
    "seeds": ("seeds_dataset.txt", {7}, 7),
    "pima": ("pima-indians-diabetes.data", {8}, 8),
    "breast_cancer_wisconsin": ("breast-cancer-wisconsin.data", {0, 10}, 10),
    "glass": ("glass.data", {0, 10}, 10),
    "wine": ("wine.data", {0}, 0),
    "zoo": ("zoo.data", {0, 17}, 17),
    "parkinsons": ("parkinsons.data", {0, 17}, 17),
    "wall_following": ("sensor_readings_24.data", {24}, 24),
    "ionosphere": ("ionosphere.data", {34}, 34),
    "soybean": ("soybean-large.data", {0}, 0),
    "theorem_proving": ("first-order-theorem-proving.csv", {51}, 51),
    "sonar": ("sonar.all-data", {60}, 60),
    "arrhythmia": ("arrhythmia.data", {279}, 279),
}


@pytest.fixture
def nothing_here(monkeypatch, tmp_path):
    """No folder is named, and the cache folder is empty."""
    monkeypatch.delenv("LRNN_DATA_DIR", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)


def plain(name):
    """Columns and labels of a file, with medians for missing cells; no NumPy."""
    file, others, label = FILES[name]
    text = (FOLDER / name / file).read_text().replace("\t", " ")
    rows = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    header = rows.pop(0) if name in ("parkinsons", "theorem_proving") else None
    if name == "soybean":
        rows = [row for row in rows if "?" not in row]
    columns = []
    for i in sorted(set(range(len(rows[0]))) - others):
        known = [float(row[i]) for row in rows if row[i] != "?"]
        middle = statistics.median(known)
        columns.append([middle if row[i] == "?" else float(row[i]) for row in rows])
    labels = None if label is None else [row[label] for row in rows]
    names = header and [cell for i, cell in enumerate(header) if i not in others]
    return columns, labels, names


@has_data
@pytest.mark.parametrize("name", FILES)
def test_uci_sets_are_their_files(name):
    columns, labels, names = plain(name)
    raw, scaled = load(name, scaled=False), load(name)
    assert raw.data.shape == (DATA_SETS[name].rows, DATA_SETS[name].attributes)
    assert raw.data.T.tolist() == columns
    assert raw.source == scaled.source == DATA_SETS[name].files[0].address
    for column, found in zip(columns, scaled.data.T, strict=True):
        low, high = min(column), max(column)
        wanted = [(x - low) / (high - low) if high > low else 0.0 for x in column]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)
    if labels is None:
        assert raw.target is None
    else:
        assert [raw.target_names[code] for code in raw.target] == labels
        assert set(labels) == set(raw.target_names)
    if names is not None:
        assert raw.feature_names == names


@has_data
def test_missing_cells_and_constant_columns_are_as_the_notes_say():
    for name, cells, rows, constant in (
        ("breast_cancer_wisconsin", 16, 16, 0),
        ("arrhythmia", 408, 384, 17),
    ):
        file = FOLDER / name / FILES[name][0]
        missing = Counter(line.count("?") for line in file.read_text().splitlines())
        assert sum(k * n for k, n in missing.items()) == cells
        assert sum(n for k, n in missing.items() if k) == rows
        data = load(name).data
        assert np.isfinite(data).all()
        assert (data == 0).all(axis=0).sum() == constant
        assert f"{cells} cells in {rows} rows are missing" in load(name).notes


@has_data
def test_soybean_comes_in_two_parts_of_one_scale():
    parts = {split: load("soybean", split=split) for split in ("train", "test", "all")}
    assert [len(part.data) for part in parts.values()] == [266, 296, 562]
    np.testing.assert_array_equal(
        np.concatenate([parts["train"].data, parts["test"].data]), parts["all"].data
    )
    np.testing.assert_array_equal(
        np.concatenate([parts["train"].target, parts["test"].target]), parts["all"].target
    )
    assert "paper counts 186" in parts["train"].notes


@has_data
def test_mnist():
    train = load("mnist")
    assert train.data.shape == (60_000, 784)
    assert train.data.dtype == np.float32
    assert (train.data.min(), train.data.max()) == (0, 1)
    assert train.data.mean(dtype=float) == pytest.approx(0.13066, abs=5e-6)
    assert train.target[:5].tolist() == [5, 0, 4, 1, 9]
    assert Counter(train.target.tolist())[1] == 6742
    test = load("mnist", split="test", scaled=False)
    images = read_idx(FOLDER / "mnist" / "t10k-images-idx3-ubyte.gz")
    assert test.data.dtype == np.uint8
    np.testing.assert_array_equal(test.data.reshape(-1, *test.image_shape), images)
    every = load("mnist", split="all", scaled=False)
    assert every.data.shape == (70_000, 784)
    np.testing.assert_array_equal(every.data[60_000:], test.data)
    np.testing.assert_array_equal(every.target, np.concatenate([train.target, test.target]))


@has_data
def test_yale_s_faces_are_upright():
    yale = load("yale")
    stored = loadmat(FOLDER / "yale" / "Yale_32x32.mat")["fea"]
    faces = yale.data.reshape(-1, *yale.image_shape)
    for face, row in zip(faces, stored, strict=True):
        np.testing.assert_array_equal(face, row.reshape(32, 32, order="F") / np.float32(255))
    assert Counter(yale.target.tolist()) == dict.fromkeys(range(15), 11)
    face = faces.mean(axis=0)  # like its mirror image, and unlike itself upside down
    mirrored, turned = (np.corrcoef(face.flat, np.flip(face, axis).flat)[0, 1] for axis in (1, 0))
    assert mirrored > 0.8 > 0.4 > turned


@has_data
@pytest.mark.slow
def test_cifar10():
    levels = load("cifar10", scaled=False)
    assert levels.data.shape == (60_000, 3072)
    assert levels.data.dtype == np.uint8
    assert Counter(levels.target.tolist()) == dict.fromkeys(range(10), 6000)
    images = levels.data.reshape(-1, *levels.image_shape)
    means = images[:50_000].mean(axis=(0, 1, 2)) / 255
    np.testing.assert_allclose(means, [0.49140, 0.48216, 0.44653], atol=5e-6)
    assert levels.target_names[levels.target[0]] == "frog"
    assert images[0, 0, 0].tolist() == [59, 62, 63]


def test_digits_need_nothing(nothing_here):
    digits, raw = load("digits"), load("digits", scaled=False)
    original = sklearn_datasets.load_digits()
    np.testing.assert_array_equal(raw.data, original.data)
    np.testing.assert_array_equal(digits.data, original.data / 16)
    np.testing.assert_array_equal(digits.target, original.target)
    assert digits.image_shape == (8, 8)
    assert digits.feature_names == original.feature_names


@pytest.mark.parametrize(("name", "differing"), [("iris", 3), ("wine", 0)])
def test_iris_and_wine_are_scikit_learn_s_copy_set_right(nothing_here, name, differing):
    found = load(name, scaled=False)
    original = getattr(sklearn_datasets, f"load_{name}")()
    rows, _ = np.nonzero(found.data != original.data)
    assert len(rows) == differing
    assert set(rows + 1) <= {35, 38}  # counted from 1, as the notes do
    np.testing.assert_array_equal(found.target, original.target)
    assert found.feature_names == list(original.feature_names)
    assert "scikit-learn" in found.source


@has_data
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_embedded_copy_is_the_uci_file(monkeypatch, tmp_path, name):
    published = load(name)
    monkeypatch.setenv("LRNN_DATA_DIR", str(tmp_path))
    embedded = load(name)
    np.testing.assert_array_equal(published.data, embedded.data)
    np.testing.assert_array_equal(published.target, embedded.target)
    assert {k: published[k] for k in published if k not in ("data", "target", "source")} == {
        k: embedded[k] for k in embedded if k not in ("data", "target", "source")
    }
    assert published.source != embedded.source


def test_a_split_that_there_is_not(nothing_here):
    with pytest.raises(ValueError, match=naming("'digits'", "'test'", "'all'")):
        load("digits", split="test")
    with pytest.raises(ValueError, match=naming("'mnist'", "'val'", "'train'", "'test'", "'all'")):
        load("mnist", split="val")


def test_a_table_by_name(nothing_here):
    table = open_table("digits")
    assert table.data.max() == 16
    assert table.image_shape == (8, 8)
    assert table.names is None
    table = open_table("wine")
    assert table.data.max() == 1680
    assert table.names[12] == "proline"


@has_data
def test_a_table_of_levels():
    assert open_table("yale").data.dtype == np.uint8
    assert open_table("sonar").names is None


def test_a_file_comes_before_a_data_set_of_its_name(nothing_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.eye(3))
    assert open_table("a.npy").data.shape == (3, 3)
    assert open_table(Path("a.npy")).data.shape == (3, 3)
    Path("iris").write_text("mine")
    with pytest.raises(ValueError, match=naming("'iris'", "format")):
        open_table("iris")


@pytest.mark.parametrize(
    ("text", "error", "meant"),
    [
        ("faces.npy", FileNotFoundError, None),
        ("./mnist", FileNotFoundError, None),
        ("mnits", ValueError, "'mnist'?"),
    ],
)
def test_what_is_neither_a_file_nor_a_data_set(tmp_path, monkeypatch, text, error, meant):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=naming(repr(text), meant or "")) as caught:
        open_table(text)
    assert ("data set" in str(caught.value)) == (meant is not None)
