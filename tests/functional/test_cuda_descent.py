"""Coordinate descent on a GPU: the kernel against its definition, also in the simulator."""

import numpy as np
import pytest
from numba.core import config

from lrnn.functional import descend_decoder

SIMULATED = bool(config.ENABLE_CUDASIM)


def problem(seed, hidden, width):
    rng = np.random.default_rng(seed)
    codes = rng.random((50, hidden)) * (rng.random((50, hidden)) < 0.5)
    codes[:, hidden // 2] = 0  # a neuron that is never excited
    data = rng.random((50, width))
    return codes.T @ data, codes.T @ codes, rng.random((hidden, width))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (34, 2)])
def test_the_kernel_does_what_the_definition_says(shape):
    from lrnn.functional.cuda_descent import kernel_for, threads_for
    from lrnn.functional.numba_cuda import configured, cuda

    if not (SIMULATED or cuda.is_available()):
        pytest.skip("there is no CUDA device")
    given = problem(0, *shape)
    expected = descend_decoder(*given, sweeps=2, upper=0.5)
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-4))[: 1 if SIMULATED else 2]:
        arrays = [cuda.to_device(a.astype(dtype)) for a in (*given, np.empty(shape))]
        launch = configured(kernel_for(dtype, shape[0]), shape[1], threads_for(shape[0]))
        launch(*arrays, 2, 0.5)
        np.testing.assert_allclose(arrays[3].copy_to_host(), expected, atol=tolerance)


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED, reason="torch and CuPy need a real device")
@pytest.mark.parametrize("hidden", [60, 1100])  # one row for each thread, or more
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_arrays_of_any_layout(library, hidden):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "torch" and not xp.cuda.is_available():
        pytest.skip("there is no CUDA device")
    send = (lambda a: xp.asarray(a, device="cuda")) if library == "torch" else xp.asarray
    moments, gram, decoder = problem(1, hidden, 50)
    found = descend_decoder(send(moments.T.copy()).T, send(gram), send(decoder.T.copy()).T, 3)
    np.testing.assert_allclose(
        found.cpu() if library == "torch" else found.get(),
        descend_decoder(moments, gram, decoder, 3),
        atol=1e-11,
    )
