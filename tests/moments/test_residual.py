"""The second moment of what is left unexplained, against that of the rows X − XED themselves."""

import numpy as np
import pytest

from lrnn.moments import DenseMoment, ImplicitMoment
from lrnn.moments.residual import ResidualMoment
from lrnn.rows import HostRows


@pytest.mark.parametrize("kind", [DenseMoment, ImplicitMoment])
def test_it_is_that_of_the_rows_that_are_left(rng, kind):
    X, encoder, decoder = rng.random((40, 6)), rng.random((6, 3)) / 6, rng.random((3, 6))
    moment = kind(HostRows(X))
    left = ResidualMoment(moment, encoder, decoder, moment.dot(encoder))
    rows = X - X @ encoder @ decoder
    expected = rows.T @ rows / 40
    np.testing.assert_allclose(left.diagonal, np.diagonal(expected), atol=1e-12)
    assert left.trace == pytest.approx(np.trace(expected))
    np.testing.assert_allclose(left.columns(np.array([4, 1])), expected[:, [4, 1]], atol=1e-12)
    matrix = rng.random((6, 2))
    np.testing.assert_allclose(left.dot(matrix), expected @ matrix, atol=1e-12)
    common = rows.T @ (X @ matrix) / 40
    np.testing.assert_allclose(left.common(matrix), common, atol=1e-12)
