"""Steps of Adam on a GPU: the kernel against the same step with arrays, also in the simulator."""

import numpy as np
import pytest
from numba.core import config

from lrnn.training.adam import LARGEST, MEAN, ROOTS, SQUARE, TINY, Adam, smallest

SIMULATED = bool(config.ENABLE_CUDASIM)


def problem(shape=(7, 5)):
    rng = np.random.default_rng(0)
    weight = np.exp(3 * rng.standard_normal(shape))
    weight[0, 0], weight[1, 1] = smallest(weight), LARGEST  # which are not left
    return weight, [rng.standard_normal(shape) * 10.0 ** rng.integers(-9, 3) for _ in range(4)]


@pytest.mark.gpu
@pytest.mark.parametrize("roots", [False, True])
def test_the_kernel_does_what_arrays_do(roots):
    from lrnn.functional.cuda_adam import kernel_for
    from lrnn.functional.numba_cuda import configured, cuda

    if not (SIMULATED or cuda.is_available()):
        pytest.skip("there is no CUDA device")
    weight, gradients = problem()
    adam = Adam([weight.copy()], "free", roots)
    own = [cuda.to_device(one.reshape(-1)) for one in (weight, 0 * weight, 0 * weight)]
    least = np.sqrt(smallest(weight)) if roots else smallest(weight)
    for gradient in gradients:
        scale = adam.scale(0.1)
        adam.step([gradient], scale)
        size = cuda.to_device(np.array([scale * (ROOTS.unit(weight) if roots else 1.0)]))
        launch = configured(kernel_for("float64"), 2, 8)
        launch(own[0], cuda.to_device(gradient.reshape(-1)), *own[1:], size, roots,
               MEAN, SQUARE, TINY, least, LARGEST)  # fmt: skip
    found = [one.copy_to_host().reshape(weight.shape) for one in own]
    for mine, theirs in zip(found, (adam.weights[0], *adam._means, *adam._squares), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED, reason="torch and CuPy need a real device")
@pytest.mark.parametrize("roots", [False, True])
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_arrays_of_other_libraries_move_alike(library, roots):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "torch" and not xp.cuda.is_available():
        pytest.skip("there is no CUDA device")
    send = (lambda a: xp.asarray(a, device="cuda")) if library == "torch" else xp.asarray
    weight, gradients = problem((300, 1000))
    ours, theirs = Adam([weight.copy()], "free", roots), Adam([send(weight)], "free", roots)
    for gradient in gradients:
        ours.step([gradient], ours.scale(0.1))
        theirs.step([send(gradient)], theirs.scale(0.1))
    back = theirs.weights[0].cpu() if library == "torch" else theirs.weights[0].get()
    np.testing.assert_allclose(back, ours.weights[0], rtol=1e-10)
