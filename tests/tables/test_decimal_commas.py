"""Where the comma is the mark of decimals: what a point may be, and what is refused."""

import numpy as np
import pytest

from lrnn.tables.messages import TableError
from lrnn.tables.reading import Reading
from lrnn.tables.text import TextFile
from naming import naming

COMMAS = Reading(decimal=",", header=True)


def read(path, *cells, reading=COMMAS, **more):
    path.write_text("name;price\n" + "".join(f"{i};{cell}\n" for i, cell in enumerate(cells)))
    return np.concatenate([f.columns[1] for f in TextFile(path, reading).frames(**more)]).tolist()


@pytest.mark.parametrize("cell", ["1.778", "-12.000", "+999.999", " 1.778 ", '"1.778"'])
def test_what_may_be_thousands_is_refused(tmp_path, monkeypatch, cell):
    monkeypatch.setattr("lrnn.tables.text.BLOCK", 9)  # blocks of a row or two
    told = naming("row 3", "column 'price'", repr(cell.strip(' "')), "decimal")
    with pytest.raises(TableError, match=told):
        read(tmp_path / "a.csv", "1,5", "2", "0,25", cell, "7")


def test_what_cannot_be_thousands_is_read(tmp_path):
    numbers = {"1,5": 1.5, "1,778": 1.778, "0.125": 0.125, "0,125": 0.125, "1.5": 1.5, "1778": 1778}
    assert read(tmp_path / "a.csv", *numbers) == list(numbers.values())
    plain = Reading(delimiter=";", header=True)
    assert read(tmp_path / "a.csv", "1.778", "2", reading=plain) == [1.778, 2]


@pytest.mark.parametrize("cell", ["1.778,5", "1.778.000", "12.03.2024", "10.200.100.255", "v1"])
def test_text_stays_text(tmp_path, cell):
    assert read(tmp_path / "a.csv", "1.778", cell) == ["1.778", cell]
    assert read(tmp_path / "a.csv", "1.778", "2", text=["price"]) == ["1.778", "2"]


def test_commands_refuse_it_before_they_write(call, tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n" + "1,5;2,5\n" * 8 + "1.778;3,5\n")
    (tmp_path / "new.csv").write_text("a;b\n1,5;2,5\n0,5;1.778\n")
    comma = ("--decimal", ",")
    assert call("fit", "t.csv", *comma, "--drop", "b", cwd=tmp_path).returncode == 1
    for line in (("data", "describe", "t.csv"), ("fit", "t.csv"), ("detect", "t.csv")):
        done = call(*line, *comma, cwd=tmp_path)
        assert done.returncode == 1
        assert done.names("t.csv", "row 9", "column 1", "'a'", 1.778, "--decimal")
    (tmp_path / "t.csv").write_text("a;b\n" + "1,5;2,5\n2;1\n" * 8)
    assert call("fit", "t.csv", *comma, cwd=tmp_path).returncode == 0
    done = call("encode", "t.safetensors", "new.csv", "-o", "codes.csv", cwd=tmp_path)
    assert done.names("new.csv", "row 2", "column 2", "'b'", 1.778)  # the model remembers the mark
    assert not (tmp_path / "codes.csv").exists()
