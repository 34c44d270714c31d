"""Time to encode rows: one matrix product for lrnn, a problem to solve for each row of an NMF."""

from collections.abc import Sequence
from functools import partial
from time import perf_counter

from lrnn.benchmark.course import Row, Step, fastest
from lrnn.benchmark.fit import warm_up
from lrnn.benchmark.peers import LRNN, Factorisation
from lrnn.benchmark.trained import Matrix, Trained, mean_squared_error

SHARES = (16, 4, 1)  # all rows, a quarter of them, a sixteenth


def encode_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Each contender trains on all rows, and then encodes more and more of them."""
    shares = SHARES[-1:] if quick else SHARES
    counts = sorted({max(1, len(X) // share) for share in shares})
    return [
        Step(contender, "", partial(_measure, contender, X, hidden, counts, quick))
        for contender in (LRNN, *peers)
    ]


def _measure(
    contender: Factorisation, X: Matrix, hidden: int, counts: Sequence[int], quick: bool
) -> list[Row]:
    warm_up(contender, X)
    trained = contender.train(X, hidden, contender.budget(quick))
    return [_encoded(trained, X[:count]) for count in counts]


def _encoded(trained: Trained, rows: Matrix) -> Row:
    codes = rows

    def encode() -> tuple[float, float]:
        nonlocal codes
        began = perf_counter()
        codes = trained.encode(rows)
        return len(rows), perf_counter() - began

    count, seconds = fastest(encode)
    return {
        "rows": len(rows),
        "seconds": seconds,
        "rows_per_second": count / seconds,
        "error": mean_squared_error(rows, trained.decode(codes)),
    }
