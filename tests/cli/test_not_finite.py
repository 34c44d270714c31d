"""Cells that are no finite numbers: named by row and column, and nothing of NumPy's own."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from lrnn import LRNNAutoencoder, Scaling

ROW, COLUMN = 34, 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables with one bad cell each, and models of good ones; column 4 is constant."""
    folder = tmp_path_factory.mktemp("a")
    X = np.random.default_rng(0).random((60, 5))
    X[:, 3] = 0.5
    for scale in ("none", "minmax"):
        model = LRNNAutoencoder(2, max_iter=3, random_state=0).fit(X)
        low, span = np.zeros(5), np.array([1, 1, 1, 0, 1])
        model.scaling_ = None if scale == "none" else Scaling("minmax", low, span)
        model.save(folder / f"{scale}.safetensors")
    for value in (np.inf, -np.inf, np.nan):
        for column in (1, 3):
            bad = X.copy()
            bad[ROW, column] = value
            name = f"{value}{column}"
            np.save(folder / f"{name}.npy", bad)
            np.save(folder / f"{name}-single.npy", bad.astype(np.float32))
            frame = pd.DataFrame(bad, columns=list("abcde"))
            frame.to_parquet(folder / f"{name}.parquet")
            frame.to_csv(folder / f"{name}.csv", index=False, na_rep="nan")
    return folder


def cells():
    """All combinations; every other one is quick: any three of the four meet in all ways."""
    kinds = [".npy", "-single.npy", ".parquet", ".csv"], ["inf", "-inf", "nan"], [1, 3]
    everything = product(*map(enumerate, (*kinds, ["in memory", "stream"])))
    for chosen in everything:
        numbers, values = zip(*chosen, strict=True)
        yield pytest.param(*values, marks=pytest.mark.slow if sum(numbers) % 2 else ())


@pytest.mark.parametrize(("ending", "value", "column", "read"), list(cells()))
def test_a_cell_that_is_not_finite_is_named(
    call, folder, tmp_path, monkeypatch, ending, value, column, read
):
    if read == "stream":
        monkeypatch.setattr("lrnn.datasets.open.LARGE", 1_000)
        monkeypatch.setattr("lrnn.tables.sources.BLOCK_BYTES", 10 * 5 * 8)
    data = folder / f"{value}{column}{ending}"
    name = () if ending.endswith("npy") else ("abcde"[column],)
    for command in (
        ("fit", data, "-o", "a.safetensors"),
        ("fit", data, "-o", "a.safetensors", "--scale", "minmax"),
        ("encode", folder / "none.safetensors", data, "-o", "a.npy"),
        ("encode", folder / "minmax.safetensors", data, "-o", "a.npy"),
        ("reconstruct", folder / "minmax.safetensors", data, "-o", "a.npy"),
        ("simulate", folder / "minmax.safetensors", data, "-o", "a.png", "--row", ROW + 1),
        ("report", folder / "none.safetensors", data, "-o", "a.report"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            done = call(*command, "--quiet", cwd=tmp_path)
        assert done.returncode == 1, command
        assert done.names(data.name, f"row {ROW + 1}", f"column {column + 1}", *name)
        assert "Warning" not in done.stderr
        assert not list(tmp_path.glob("a.*"))
