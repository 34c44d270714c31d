"""Error against time: lrnn's learning curve, and its peers after several numbers of iterations."""

from collections.abc import Sequence
from functools import partial

from lrnn.benchmark.course import Row, Step
from lrnn.benchmark.peers import FINE_TUNED, LRNN, Factorisation
from lrnn.benchmark.trained import Matrix

WARM_UP_ROWS = 50


def fit_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """Each contender trains from the beginning for each of its budgets."""
    steps = []
    for contender in (LRNN, FINE_TUNED, *peers):
        for budget in contender.budgets[: 1 if quick else None]:
            task = "" if contender.ours else f"{budget} {contender.unit}"
            steps.append(Step(contender, task, partial(_measure, contender, X, hidden, budget)))
    return steps


def warm_up(contender: Factorisation, X: Matrix) -> None:
    """Import and compile what a contender needs, so that its time counts for nobody."""
    contender.train(X[:WARM_UP_ROWS], 1, 1)


def _measure(contender: Factorisation, X: Matrix, hidden: int, budget: int) -> list[Row]:
    if budget == contender.budgets[0]:
        warm_up(contender, X)
    trained = contender.train(X, hidden, budget)
    row: Row = {
        "iterations": trained.iterations,
        "unit": contender.unit,
        "seconds": trained.seconds,
        "error": trained.error(X),
    }
    if trained.curve:
        row["curve"] = [list(point) for point in trained.curve] + [[row["seconds"], row["error"]]]
    return [row]
