"""Data with a cell that is no finite number, of every kind: one error that names it, no warning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder
from lrnn.tables.messages import UnfitNumbersError
from naming import naming

ROW, COLUMN = 34, 1


def _blocks(X):
    return lambda: (X[i : i + 20] for i in range(0, 60, 20))


def _torch(X):
    return pytest.importorskip("torch", reason="torch is not installed").tensor(X)


def _dask(X):
    return pytest.importorskip("dask.array", reason="pip install dask").from_array(X, (20, 5))


KINDS = {
    "dense": lambda X: X,
    "csr": sparse.csr_array,
    "frame": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "torch": _torch,
    "stream": _blocks,
    "sparse stream": lambda X: _blocks(sparse.csr_array(X)),
    "dask": _dask,
}


@pytest.mark.usefixtures("dask_here")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_that_is_not_finite_is_named_and_nothing_else_is_said(rng, kind, value, dtype):
    X = rng.random((60, 5)).astype(dtype)
    model = LRNNAutoencoder(2, max_iter=1, random_state=0).fit(KINDS[kind](X))
    X[ROW, COLUMN] = value
    bad = KINDS[kind](X)
    what = "NaN" if np.isnan(value) else "inf"
    column = "column 'b'" if kind == "frame" else "column 1"
    told = naming("X", what, "row 34", column)
    for method in ("transform", "reconstruct", "score", "partial_fit", "fit"):
        with (
            warnings.catch_warnings(action="error"),
            pytest.raises(UnfitNumbersError, match=told),
        ):
            _computed(getattr(model, method)(bad))


def _computed(found):
    return found.compute()  # Dask computes nothing before
