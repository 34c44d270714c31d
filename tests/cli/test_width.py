"""``lrnn width``: the table, the document and the plot."""

import json

import pytest

import lrnn

FEW = ("width", "iris", "--folds", "1")


def test_a_width_is_suggested_and_written(call, tmp_path):
    outputs = ("-o", "w.json", "-o", "w.png", "-o", "w.svg")
    done = call(*FEW, *outputs, cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert done.shows("w.json", "w.png", "w.svg")
    found = json.loads((tmp_path / "w.json").read_text())
    assert [point["width"] for point in found["points"]] == [1, 2, 3]
    assert done.shows(f"--hidden {found['suggested']}")
    assert (tmp_path / "w.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (tmp_path / "w.svg").read_bytes()


def test_it_is_the_library(call, tmp_path):
    done = call(*FEW, "--widths", "1,3", "--seed", "5", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    data = lrnn.datasets.load("iris", scaled=False).data
    path = lrnn.widths(data, [1, 3], folds=1, random_state=5, scale="minmax")
    assert [p["error"] for p in found["points"]] == pytest.approx([p.error for p in path.points])
    assert found["suggested"] == path.suggested.width
    assert done.stderr == ""
    assert not list(tmp_path.iterdir())


def test_a_single_width_will_do(call, tmp_path):
    done = call(*FEW, "--widths", "3", cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert done.shows("--hidden 3")


@pytest.mark.parametrize(
    ("more", "status", "named"),
    [
        ("--widths 8;16", 2, "--widths 8;16"),
        ("--widths 0,2", 2, "--widths 0,2"),
        ("--widths 2,9", 2, "--widths 4 'iris' 1 3"),
        ("--widths 4", 2, "--widths 4 'iris'"),
        ("-o w.txt", 2, "w.txt .json .png .svg .pdf"),
        ("-o no/w.json", 1, "'no'"),
    ],
)
def test_wrong_words_are_refused(call, tmp_path, more, status, named):
    done = call(*FEW, *more.split(), cwd=tmp_path)
    assert done.returncode == status
    assert done.names(*named.split())
