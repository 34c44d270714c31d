"""The registry: what it says of the data sets, against the manifest and the paper."""

import csv
import os
from pathlib import Path

import pytest

from lrnn.datasets import DATA_SETS, find

FOLDER = Path(os.environ.get("LRNN_DATA_DIR", "nowhere"))
has_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="LRNN_DATA_DIR names no folder")

PAPER = {  # Table 1: attributes and instances
    "iris": (4, 150),
    "teaching_assistant": (5, 151),
    "liver": (5, 345),
    "seeds": (7, 210),
    "pima": (8, 768),
    "breast_cancer_wisconsin": (9, 699),
    "glass": (9, 214),
    "wine": (13, 178),
    "zoo": (16, 100),
    "parkinsons": (22, 195),
    "wall_following": (24, 5456),
    "ionosphere": (34, 351),
    "soybean": (35, 186),
    "theorem_proving": (51, 6118),
    "sonar": (60, 208),
    "arrhythmia": (279, 452),
    "mnist": (784, 60_000),
    "yale": (1024, 165),
    "cifar10": (3072, 60_000),
}


def test_the_paper_s_sets_are_all_there_and_where_counts_differ_it_is_said():
    assert set(DATA_SETS) == {*PAPER, "digits"}
    for name, (attributes, rows) in PAPER.items():
        entry = DATA_SETS[name]
        assert entry.attributes == attributes
        assert (entry.paper_rows or entry.rows) == rows
        assert (entry.rows != rows) == (f"where the paper counts {rows}" in entry.notes)


@pytest.mark.parametrize("entry", DATA_SETS.values(), ids=list(DATA_SETS))
def test_an_entry_is_complete(entry):
    assert find(entry.name) is entry
    assert entry.files or entry.embedded
    assert len(entry.feature_names) == len(set(entry.feature_names)) == entry.attributes
    assert len(entry.class_names) == len(set(entry.class_names))
    assert entry.default_split in entry.splits
    for file in entry.files:
        folder, name = file.path.split("/")
        assert folder == entry.name
        assert file.address.startswith("http")
        assert file.address.endswith(f"/{name}")
        for piece in (file, *file.members):
            assert len(bytes.fromhex(piece.sha256)) == 32
            assert piece.size > 0


@has_data
def test_files_and_counts_are_those_of_the_manifest():
    with open(FOLDER / "MANIFEST.tsv", newline="") as manifest:
        rows = list(csv.DictReader(manifest, delimiter="\t"))
    stated = {row["file"]: row for row in rows}
    known = {file.path: file for entry in DATA_SETS.values() for file in entry.files}
    archive = known.pop("cifar10/cifar-10-binary.tar.gz")
    (repacked,) = archive.repacked
    assert set(stated) == {*known, repacked}
    for path, file in known.items():
        assert file.sha256 == stated[path]["sha256"]
        assert file.size == (FOLDER / path).stat().st_size
    for name in PAPER:
        first = next(row for row in rows if row["dataset"] == name)
        assert DATA_SETS[name].attributes == int(first["attributes"])
        if name != "soybean":
            assert DATA_SETS[name].rows == int(first["rows"])
    assert "266 complete rows" in stated["soybean/soybean-large.data"]["note"]
    assert DATA_SETS["soybean"].rows == 266


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mnits", "mnist"),
        ("MNIST", "mnist"),
        ("cifar-10", "cifar10"),
        ("breast-cancer-wisconsin", "breast_cancer_wisconsin"),
        ("parkinson", "parkinsons"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, meant):
    message = f"there is no data set '{name}'; did you mean '{meant}'\\? Known are mnist, yale"
    with pytest.raises(ValueError, match=message):
        find(name)


def test_a_name_like_none_is_answered_with_all():
    with pytest.raises(ValueError, match="there is no data set 'qqqq'; Known are mnist, yale"):
        find("qqqq")
