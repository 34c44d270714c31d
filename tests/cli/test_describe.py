"""``lrnn data describe``: what it says of a file is so, and its command runs."""

import json
import shlex

import numpy as np
import pytest
from scipy import io, sparse

from lrnn import LRNNAutoencoder

KINDS = {
    "csr.npz": lambda X, path: sparse.save_npz(path, sparse.csr_array(X)),
    "csc.npz": lambda X, path: sparse.save_npz(path, sparse.csc_array(X)),
    "coo.npz": lambda X, path: sparse.save_npz(path, sparse.coo_array(X)),
    "counts.npz": lambda X, path: sparse.save_npz(path, sparse.csr_array(X.astype(np.int64))),
    "sparse.mat": lambda X, path: io.savemat(path, {"X": sparse.csc_array(X)}),
}


@pytest.fixture
def cells():
    """Mostly zeros, with a column that counts the rows, one full, one empty."""
    rng = np.random.default_rng(0)
    X = np.floor(9 * rng.random((40, 6)) * (rng.random((40, 6)) < 0.2))
    X[:, 1] = np.arange(40)
    X[:, 2] = 3 + rng.integers(0, 5, 40)
    X[:, 3] = 0
    X[7, 4] = 9999
    return X


def fitted(call, line, folder):
    """The command that was told, run."""
    return call(*shlex.split(line)[1:], "--max-iter", "2", "--hidden", "2", cwd=folder)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", KINDS)
def test_a_sparse_matrix_is_described_as_the_full_one_is(call, cells, tmp_path, name):
    KINDS[name](cells, tmp_path / name)
    np.save(tmp_path / "full.npy", cells)
    told = {
        file: json.loads(call("data", "describe", file, "--json", cwd=tmp_path).stdout)
        for file in (name, "full.npy")
    }
    own, full = told[name], told["full.npy"]
    assert own["rows"] == full["rows"] == 40
    for key in ("name", "kind", "low", "high", "missing"):
        assert [c[key] for c in own["columns"]] == [c[key] for c in full["columns"]]
    assert fitted(call, own["command"], tmp_path).returncode == 0


@pytest.mark.filterwarnings("default")
def test_missing_cells_of_a_sparse_matrix_are_counted_and_the_command_fills_them(
    call, cells, tmp_path
):
    cells[3, 2] = cells[5, 2] = cells[8, 0] = np.nan
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(cells))
    told = json.loads(call("data", "describe", "x.npz", "--json", cwd=tmp_path).stdout)
    assert [c["missing"] for c in told["columns"]] == [1, 0, 2, 0, 0, 0]
    assert "--missing allow" in told["command"]
    assert fitted(call, told["command"], tmp_path).returncode == 0


def test_a_column_that_names_each_of_few_rows_is_an_index(call, tmp_path):
    rows = "".join(f"p{i},{i * i % 7},{i % 3}\n" for i in range(6))
    (tmp_path / "t.csv").write_text("id,a,b\n" + rows)
    told = json.loads(call("data", "describe", "t.csv", "--json", cwd=tmp_path).stdout)
    assert told["columns"][0]["option"] == "index"
    assert fitted(call, told["command"], tmp_path).returncode == 0


def test_a_model_is_not_described_but_inspected(call, tmp_path):
    LRNNAutoencoder(2, max_iter=5).fit(np.eye(4)).save(tmp_path / "m.safetensors")
    done = call("data", "describe", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("m.safetensors", "lrnn inspect m.safetensors")
