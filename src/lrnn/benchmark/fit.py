"""Error against time: lrnn's learning curve, and its peers after several numbers of iterations.

A peer trains from the beginning for each of its budgets, which grow, as long as the next can be
expected to take no more than two minutes.
"""

from collections.abc import Sequence
from functools import partial

from lrnn.benchmark.course import Row, Step
from lrnn.benchmark.peers import FINE_TUNED, LRNN, Factorisation
from lrnn.benchmark.trained import Matrix

LONGEST = 120.0  # seconds
WARM_UP_ROWS = 50


def fit_steps(
    X: Matrix, hidden: int, peers: Sequence[Factorisation], quick: bool = False
) -> list[Step]:
    """A step for each contender and each of its budgets."""
    steps = []
    for contender in (LRNN, FINE_TUNED, *peers):
        took: list[tuple[int, float]] = []
        for budget in contender.budgets[: 1 if quick else None]:
            task = "" if contender.ours else f"{budget:,} {contender.unit}"
            measure = partial(_measure, contender, X, hidden, budget, took)
            steps.append(Step(contender, task, measure))
    return steps


def warm_up(contender: Factorisation, X: Matrix) -> None:
    """Import and compile what a contender needs, so that its time counts for nobody."""
    contender.train(X[:WARM_UP_ROWS], 1, 1)


def _measure(
    contender: Factorisation, X: Matrix, hidden: int, budget: int, took: list[tuple[int, float]]
) -> list[Row]:
    """The row of one budget, or none if it would take too long, by what the last one took."""
    if not took:
        warm_up(contender, X)
    elif took[-1][1] * budget / took[-1][0] > LONGEST:
        return []
    trained = contender.train(X, hidden, budget)
    took.append((budget, trained.seconds))
    return [{"unit": contender.unit, **trained.facts(X)}]
