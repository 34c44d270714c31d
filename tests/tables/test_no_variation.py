"""Data from which nothing can be learnt are told, not "trained" with an error of 0."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, Scaling
from lrnn.tables.messages import TableWarning
from naming import naming

CONSTANT = np.tile([1.0, 2.0, 3.0], (10, 1))
KINDS = {
    "array": np.asarray,
    "frame": lambda X: pd.DataFrame(X, columns=list("abc")),
    "one row": lambda X: X[:1],
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_none_of_whose_columns_varies(kind):
    X = KINDS[kind](CONSTANT)
    with pytest.warns(TableWarning, match=naming("3 columns", "scale='max'")):
        model = LRNNAutoencoder(2, scale="minmax").fit(X)
    assert model.reconstruction_err_ == 0
    LRNNAutoencoder(2, scale="max").fit(X)  # the remedy, without a warning


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("kind", ["auto", "max"])
def test_zeros_alone(make, kind):
    with pytest.warns(TableWarning, match=naming(0)) as told:
        Scaling.fit(make(np.zeros((5, 4))), kind)
    assert "scale=" not in str(told[0].message)  # none would do


def test_one_column_that_varies_is_enough():
    X = CONSTANT.copy()
    X[3, 1] = 7
    assert Scaling.fit(X, "minmax").span.tolist() == [0, 5, 0]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("rows", [1, 10])
def test_the_command_line_says_it(call, tmp_path, rows):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "1,2,3\n" * rows)
    done = call("fit", "t.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert done.names("3 columns", "--scale max")
    done = call("simulate", "t.safetensors", "t.csv", cwd=tmp_path)
    assert done.names("arrivals", 0)
    done = call("fit", "t.csv", "--scale", "max", "--force", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = call("simulate", "t.safetensors", "t.csv", "--events", "1e4", cwd=tmp_path)
    assert done.returncode == 0


@pytest.mark.parametrize("command", ["fit", "data describe"])
def test_a_vector_is_neither_a_row_nor_a_column(call, tmp_path, command):
    np.save(tmp_path / "v.npy", np.linspace(0, 1, 10))
    done = call(*command.split(), "v.npy", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("v.npy", 10, "reshape(1, -1)", "reshape(-1, 1)")
    with pytest.raises(ValueError, match=naming("v.npy", "(10,)")):
        LRNNAutoencoder(2).fit(str(tmp_path / "v.npy"))


def test_a_scale_that_would_cut_off_names_one_remedy():
    with pytest.raises(ValueError, match=naming("row 0", "column 0", -1, 10, 20, "scale='minmax'")):
        LRNNAutoencoder(2, scale="max").fit(-CONSTANT)
