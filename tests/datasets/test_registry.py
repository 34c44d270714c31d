"""The registry: what it says of the data sets, against the manifest and the paper."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lrnn import datasets
from lrnn.datasets import DATA_SETS, find
from lrnn.datasets.formats import FORMATS
from naming import naming

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

ERRORS = {  # section 5.2: the lowest errors
    "mnist": {"50": 0.0204, "1000-500-250-50": 0.0190},
    "cifar10": {"150": 0.0082, "1000-500-150": 0.0082},
}


def test_the_paper_s_sets_are_all_there_and_where_counts_differ_it_is_said():
    assert set(DATA_SETS) == {*PAPER, "digits"}
    for name, (attributes, rows) in PAPER.items():
        entry = DATA_SETS[name]
        assert entry.attributes == attributes
        assert (entry.paper_rows or entry.rows) == rows
        assert (entry.rows != rows) == (f"the paper counts {rows}" in entry.notes)
    assert {name: entry.errors for name, entry in DATA_SETS.items() if entry.errors} == ERRORS


@pytest.mark.parametrize("entry", DATA_SETS.values(), ids=list(DATA_SETS))
def test_an_entry_is_complete(entry):
    assert find(entry.name) is entry
    assert entry.format in FORMATS or entry.embedded
    assert bool(entry.format) == bool(entry.files)
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
    assert set(stated) == {*known, archive.repacked}
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
    with pytest.raises(ValueError, match=naming(repr(name), f"{meant!r}?", "mnist, yale")):
        find(name)


def test_a_name_like_none_is_answered_with_all():
    with pytest.raises(ValueError, match=naming("'qqqq'", ", ".join(DATA_SETS))) as caught:
        find("qqqq")
    assert "?" not in str(caught.value)


def test_the_registry_is_read_when_it_is_used_first():
    code = """
import lrnn.datasets
from lrnn.datasets.dataset import data_sets
before = data_sets.cache_info().currsize
print(before, len(lrnn.datasets.DATA_SETS), lrnn.datasets.DATA_SETS is data_sets())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "20", "True"]
    assert "DATA_SETS" in dir(datasets)
    with pytest.raises(AttributeError, match="nothing"):
        datasets.nothing  # noqa: B018
