"""Pivots on a GPU: the kernel against the host's, also in the simulator."""

import numpy as np
import pytest
from numba.core import config

from lrnn.moments import DenseMoment
from lrnn.rows import held
from lrnn.training.anchors import TIED, find_anchors

SIMULATED = bool(config.ENABLE_CUDASIM)


def data(kind, rows=30, width=9):
    rng = np.random.default_rng(0)
    X = rng.random((rows, width)) * rng.random(width)
    if kind == "alike":
        X[:, 3:6] = X[:, :3]
    if kind == "of low rank":
        X = rng.random((rows, 2)) @ rng.random((2, width)) / 2
    if kind == "black":
        X[:, 2:] = 0
    return X


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["random", "alike", "of low rank", "black"])
def test_the_kernel_finds_the_anchors_of_the_host(kind):
    from lrnn.functional.cuda_pivots import _kernel, threads_for
    from lrnn.functional.numba_cuda import configured, cuda

    if not (SIMULATED or cuda.is_available()):
        pytest.skip("there is no CUDA device")
    moment = DenseMoment(held(data(kind)))
    expected = find_anchors(moment, 6)
    order, lengths = expected.order, moment.diagonal[expected.order].copy()
    given = moment.gram, order.astype(np.int64), lengths, lengths.copy(), np.empty((6, 9))
    arrays = [cuda.to_device(array) for array in (*given, np.zeros(6, dtype=np.int64))]
    launch = configured(_kernel("float64"), 1, threads_for(9))
    launch(*arrays, 1e-10 * lengths.max(), 1 - TIED)
    np.testing.assert_array_equal(order[arrays[-1].copy_to_host()], expected.attributes)


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED, reason="torch and CuPy need a real device")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_more_attributes_than_threads(library, dtype):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "torch" and not xp.cuda.is_available():
        pytest.skip("there is no CUDA device")
    X = data("random", 300, 1_500).astype(dtype)
    sent = xp.asarray(X, device="cuda") if library == "torch" else xp.asarray(X)
    here, there = (find_anchors(DenseMoment(held(rows)), 40) for rows in (X, sent))
    np.testing.assert_array_equal(there.attributes, here.attributes)
    for name in ("products", "correlations"):
        found = getattr(there, name)
        found = found.cpu().numpy() if library == "torch" else found.get()
        np.testing.assert_allclose(found, getattr(here, name), rtol=1e-4)
