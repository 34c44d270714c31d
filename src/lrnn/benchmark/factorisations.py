"""How the contenders train on rows of data: lrnn, scikit-learn, torchnmf, and Adam in PyTorch.

Each function is given the data, the width of the code, and how many iterations (or passes over the
data) to make. The clock runs while it trains, and for nothing else.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from lrnn.benchmark.trained import Matrix, Trained

SEED = 0
ADAM_STEPS, ADAM_ROWS = 120, (20, 500)  # in a pass; and rows in a minibatch, least and most


def train_lrnn(X: Matrix, hidden: int, iterations: int, fine_tune: int = 0) -> Trained:
    """`LRNNAutoencoder` with its defaults, and its learning curve."""
    from lrnn.autoencoder import LRNNAutoencoder

    model = LRNNAutoencoder(hidden, max_iter=iterations, fine_tune=fine_tune, random_state=SEED)
    began = perf_counter()
    model.fit(X)
    seconds = perf_counter() - began
    if model.history_[-1].stopped == "interrupted":
        raise KeyboardInterrupt  # half a training is no result
    return Trained(
        seconds,
        sum(curve.passes for curve in model.history_),
        model.transform,
        model.inverse_transform,
        curve=learning_curve(model.history_, seconds),
    )


def train_fine_tuned(X: Matrix, hidden: int, iterations: int) -> Trained:
    """`LRNNAutoencoder` with three passes of training end to end."""
    return train_lrnn(X, hidden, iterations, fine_tune=3)


def learning_curve(stages: Sequence[Any], seconds: float) -> tuple[tuple[float, float], ...]:
    """Errors against the clock on the wall.

    Learning curves leave out some of the work: reading the data, evaluations, the last passes. All
    of it counts here, and as if it were done before the first iteration.
    """
    begin = seconds - sum(float(stage.seconds[-1]) for stage in stages)
    points: list[tuple[float, float]] = []
    for stage in stages:
        points += zip((begin + stage.seconds).tolist(), stage.errors.tolist(), strict=True)
        begin += float(stage.seconds[-1])
    return tuple(points)


def train_nmf_cd(X: Matrix, hidden: int, iterations: int) -> Trained:
    """scikit-learn's `NMF` by coordinate descent, its default."""
    from sklearn.decomposition import NMF

    return _train_sklearn(NMF(hidden, max_iter=iterations, tol=0, random_state=SEED), X)


def train_nmf_mu(X: Matrix, hidden: int, iterations: int) -> Trained:
    """scikit-learn's `NMF` by multiplicative updates, which a zero could never leave."""
    from sklearn.decomposition import NMF

    init = "nndsvda" if hidden <= min(X.shape) else "random"
    model = NMF(hidden, solver="mu", init=init, max_iter=iterations, tol=0, random_state=SEED)
    return _train_sklearn(model, X)


def train_minibatch_nmf(X: Matrix, hidden: int, passes: int) -> Trained:
    """scikit-learn's `MiniBatchNMF`."""
    from sklearn.decomposition import MiniBatchNMF

    model = MiniBatchNMF(
        hidden,
        max_iter=passes,
        tol=0,
        max_no_improvement=None,
        transform_max_iter=200,
        random_state=SEED,
    )
    return _train_sklearn(model, X)


def _train_sklearn(model: Any, X: Matrix) -> Trained:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = perf_counter()
        codes = model.fit_transform(X)
        seconds = perf_counter() - began
    made = model.n_iter_
    model.set_params(max_iter=200, tol=1e-4)  # scikit-learn's own, for the codes of new rows

    def encode(rows: Matrix) -> Matrix:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found: Matrix = model.transform(rows)
        return found

    return Trained(seconds, made, encode, lambda c: c @ model.components_, codes=codes)


def train_torchnmf(X: Matrix, hidden: int, iterations: int) -> Trained:
    """The `NMF` of torchnmf, with the squared error (beta = 2)."""
    import torch
    from torchnmf.nmf import NMF

    torch.manual_seed(SEED)
    with _flushed_denormals():
        began = perf_counter()
        model = NMF(X.shape, hidden)
        made = model.fit(torch.from_numpy(X), beta=2, tol=0, max_iter=iterations)
        seconds = perf_counter() - began
    parts = model.W.detach()  # attributes × code

    def encode(rows: Matrix) -> Matrix:
        torch.manual_seed(SEED)
        coder = NMF(W=parts, H=(len(rows), hidden), trainable_W=False)
        with _flushed_denormals():
            coder.fit(torch.from_numpy(rows), beta=2)  # until torchnmf's own tolerance
        return _numpy(coder.H)

    return Trained(seconds, made, encode, lambda c: c @ _numpy(parts).T, codes=_numpy(model.H))


@contextmanager
def _flushed_denormals() -> Iterator[None]:
    """Tiny numbers become 0, which torchnmf's authors advise for speed."""
    import torch

    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def train_adam(X: Matrix, hidden: int, passes: int) -> Trained:
    """A saturating autoencoder with softplus weights, by Adam: what one would write by hand."""
    import torch
    from torch.nn.functional import softplus

    torch.manual_seed(SEED)
    data = torch.from_numpy(X)
    began = perf_counter()
    shapes = (X.shape[1], hidden), (hidden, X.shape[1])
    weights = [(torch.randn(shape) - math.log(shape[0])).requires_grad_() for shape in shapes]
    adam = torch.optim.Adam(weights, lr=0.02)

    def layer(rows: Any, i: int) -> Any:
        return (rows @ softplus(weights[i])).clamp(max=1)

    count = min(max(len(X) // ADAM_STEPS, ADAM_ROWS[0]), ADAM_ROWS[1])
    for _ in range(passes):
        for rows in torch.split(data[torch.randperm(len(data))], count):
            adam.zero_grad()
            ((rows - layer(layer(rows, 0), 1)) ** 2).mean().backward()
            adam.step()
    seconds = perf_counter() - began

    def through(i: int, rows: Matrix) -> Matrix:
        with torch.no_grad():
            return _numpy(layer(torch.from_numpy(rows), i))

    return Trained(seconds, passes, lambda r: through(0, r), lambda c: through(1, c))


def _numpy(tensor: Any) -> Matrix:
    array: Matrix = tensor.detach().numpy()
    return array
