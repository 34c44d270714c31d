"""Time to encode rows: one matrix product for lrnn, a problem to solve for each row of an NMF."""

from collections.abc import Sequence
from functools import partial
from time import perf_counter

from lrnn.benchmark.course import Row, Step, fastest
from lrnn.benchmark.fit import warm_up
from lrnn.benchmark.peers import LRNN, Factorisation
from lrnn.benchmark.trained import Matrix, mean_squared_error

SHARES = (16, 4, 1)  # all rows, a quarter of them, a sixteenth


def encode_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Each contender trains on all rows, and then encodes more and more of them."""
    counts = sorted({max(1, len(X) // share) for share in SHARES[-1 if quick else 0 :]})
    return [
        Step(contender, "", partial(_measure, contender, X, hidden, counts, quick))
        for contender in (LRNN, *peers)
    ]


def _measure(
    contender: Factorisation, X: Matrix, hidden: int, counts: Sequence[int], quick: bool
) -> list[Row]:
    warm_up(contender, X)
    trained = contender.train(X, hidden, contender.budget(quick))
    measured = []
    for count in counts:
        rows = X[:count]

        def encode(rows: Matrix = rows) -> tuple[float, float]:
            began = perf_counter()
            trained.encode(rows)
            return len(rows), perf_counter() - began

        _, seconds = fastest(encode)
        measured.append(
            {
                "rows": count,
                "seconds": seconds,
                "rows_per_second": count / seconds,
                "error": mean_squared_error(rows, trained.decode(trained.encode(rows))),
            }
        )
    return measured
