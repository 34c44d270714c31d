"""Complement coding before a classifier: what a network without a bias cannot do, and then can."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from lrnn import LRNNClassifier
from lrnn.functional import complement_coded


def scores(X, y, X_new, y_new):
    """Accuracy on new rows, as they are and beside their complements."""
    return [
        make_pipeline(MinMaxScaler(clip=True), before, LRNNClassifier(50, random_state=0))
        .fit(X, y)
        .score(X_new, y_new)
        for before in ("passthrough", FunctionTransformer(complement_coded))
    ]


def test_a_sum_is_compared_with_a_threshold(rng):
    X = rng.normal(size=(2_000, 3))  # the last column says nothing
    y = X[:, 0] + X[:, 1] > 0
    plain, coded = scores(X[:300], y[:300], X[300:], y[300:])
    assert plain < 0.88
    assert coded > 0.94


def test_rows_of_zeros_make_spikes(rng):
    X = np.vstack([np.zeros((40, 3)), rng.random((60, 3))])
    y = np.repeat(["nothing", "something"], [40, 60])
    model = LRNNClassifier(10, max_iter=50, random_state=0).fit(complement_coded(X), y)
    assert np.isfinite(model.spikes_per_decision(complement_coded(X)))  # and no warning
    assert model.score(complement_coded(X), y) == 1


def test_new_rows_beyond_the_range_are_refused_unless_they_are_clipped(rng):
    X = rng.random((50, 2))
    y = X[:, 0] > 0.5
    model = make_pipeline(
        MinMaxScaler(), FunctionTransformer(complement_coded), LRNNClassifier(5, max_iter=5)
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"MinMaxScaler\(clip=True\)"):
        model.predict([[0.5, 2.0]])
