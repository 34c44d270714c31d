"""A benchmark from data to result."""

from collections.abc import Callable, Sequence
from typing import Any

from lrnn.benchmark import comparison
from lrnn.benchmark.course import Progress, Row, Step, carry_out
from lrnn.benchmark.encode import encode_steps
from lrnn.benchmark.fit import fit_steps
from lrnn.benchmark.peers import Contender, Kind
from lrnn.benchmark.result import Result
from lrnn.benchmark.scale import scale_steps
from lrnn.benchmark.simulate import simulate_steps
from lrnn.benchmark.trained import Matrix

QUICK_ROWS = 1_000  # of cut-down data
STEPS: dict[str, Callable[[Matrix, int, Sequence[Any], bool], list[Step]]] = {
    "fit": fit_steps,
    "encode": encode_steps,
    "simulate": simulate_steps,
    "scale": scale_steps,
}
COMPARISONS: dict[str, Callable[[Sequence[Row]], list[Row]]] = {
    "fit": comparison.compare_training,
    "encode": comparison.compare_encoding,
    "simulate": comparison.compare_simulation,
    "scale": comparison.compare_training,
}


def run(
    kind: Kind,
    X: Matrix,
    hidden: int,
    peers: Sequence[Contender],
    left_out: dict[str, str],
    *,
    name: str,
    quick: bool = False,
    progress: Progress = lambda done, total, task: None,
) -> Result:
    """Measure lrnn and its peers, one after the other.

    Parameters
    ----------
    kind : {"fit", "encode", "simulate", "scale"}
        What to measure.
    X : ndarray of float32, of shape (n_samples, n_features)
        Data in [0, 1].
    hidden : int
        Width of the code.
    peers, left_out : list and dict
        What `chosen` gave.
    name : str
        What the data are called.
    quick : bool, default=False
        Whether to cut down the data and the runs, only to see it run.
    progress : callable, optional
        Is told how many of how many measurements are done, and which is next.
    """
    if quick:
        X = X[:: -(-len(X) // QUICK_ROWS)].copy()
    rows, failed = carry_out(STEPS[kind](X, hidden, peers, quick), progress)
    return Result(
        kind,
        name,
        (X.shape[0], X.shape[1]),
        str(X.dtype),
        hidden,
        quick,
        COMPARISONS[kind](rows),
        {**left_out, **failed},
    )
