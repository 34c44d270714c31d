"""A table that fits in memory is read no more often than it must be."""

import numpy as np
import pytest

import lrnn
from lrnn.tables.ledger import Ledger
from lrnn.tables.read import open_columns
from lrnn.tables.recipe import Recipe, TableSource
from lrnn.tables.text import TextFile


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i % 7}\n" if i % 5 else f",{i}\n" for i in range(40)))
    return path


@pytest.fixture
def passes(monkeypatch):
    """How often rows of a text were read."""
    seen, frames = [], TextFile.frames
    monkeypatch.setattr(TextFile, "frames", lambda *a, **k: seen.append(1) or frames(*a, **k))
    return seen


@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
@pytest.mark.parametrize("missing", ["median", "drop"])
def test_one_pass_for_the_scaling_and_one_for_the_rows(path, passes, missing):
    scaling = lrnn.Scaling.fit(open_columns(path), "minmax", missing=missing)
    surveys = 2 if missing == "drop" else 1  # of the rows that are left, too
    assert len(passes) == surveys
    model = lrnn.LRNNAutoencoder(1, scale=scaling, max_iter=2).fit(str(path))
    assert len(passes) == surveys + 1
    assert len(model.transform(str(path))) == (32 if missing == "drop" else 40)
    assert len(passes) == surveys + 2


def test_parquet_files_with_text(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pip install 'lrnn[test]'")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]})
    frame.to_parquet(tmp_path / "a.parquet")
    scaling = lrnn.Scaling.fit(open_columns(tmp_path / "a.parquet"), categories="onehot")
    assert scaling.names == ("a", "b=x", "b=y")
    model = lrnn.LRNNAutoencoder(1, scale=scaling, max_iter=2).fit(tmp_path / "a.parquet")
    np.testing.assert_array_equal(model.transform(tmp_path / "a.parquet"), model.transform(frame))


def test_what_is_too_large_is_not_held_and_counted_once(path, monkeypatch):
    monkeypatch.setattr("lrnn.tables.text.BLOCK", 20)
    recipe, _ = Recipe.fit(open_columns(path), missing="drop")
    cut = Ledger()
    source = TableSource(open_columns(path), recipe, cut)
    assert source.held(40) is None
    assert not cut
    assert source.shape == (32, 2)
    held = source.held(64)
    assert len(cut.dropped) == 8
    np.testing.assert_array_equal(held, np.concatenate(list(source.blocks(0, 7))))
    assert len(cut.dropped) == 8


def test_rows_that_are_known_are_not_counted(tmp_path, path, passes):
    pandas = pytest.importorskip("pandas", reason="pip install 'lrnn[test]'")
    pandas.DataFrame({"a": [1.0, 2.0, 4.0]}).to_parquet(tmp_path / "a.parquet")
    assert open_columns(tmp_path / "a.parquet").rows == 3
    table = open_columns(path)
    assert table.rows is None
    list(table.frames())
    assert table.rows == 40
    recipe, _ = Recipe.fit(table, missing="median")
    before = len(passes)
    assert TableSource(table, recipe).shape == (40, 2)
    assert TableSource(table, recipe).held(79) is None
    assert len(passes) == before
