"""Simulations that end when enough is known: they may be wrong as often as they say, not more.

Each row of arrivals is a trial of its own. If a trial errs with a probability of at most 1 − level,
the number of errors is not above the bound of a binomial law at 10⁻⁶.
"""

import numpy as np
import pytest
from scipy.stats import binom

from lrnn import RandomNeuralNetwork
from lrnn.spiking import Decision, Precision
from naming import naming

SURE = 1e-6
LOOP = RandomNeuralNetwork(
    [1.0, 2.0, 1.5],
    [[0.2, 0.4, 0.0], [0.1, 0.0, 0.5], [0.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.4, 0.0, 0.0]],
)
LOOP_ARRIVALS = [0.45, 0.3, 0.35]
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*too short"),
    pytest.mark.filterwarnings("ignore:.*came first"),
]


def most_errors(trials, level):
    return int(binom.isf(SURE, trials, 1 - level))


@pytest.mark.parametrize("replicas", [1, 6])
@pytest.mark.parametrize("engine", ["clock", "neurons"])
@pytest.mark.parametrize("load", [0.05, 0.5])
def test_intervals_of_a_single_neuron_hold_where_it_ends(load, engine, replicas):
    level, trials = 0.8, 100
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        np.full((trials, 1), load), events=200_000, until=Precision(0.1, level=level),
        replicas=replicas, engine=engine, random_state=1,
    )  # fmt: skip
    assert result.reached.all()
    low, high = result.confidence_interval(level, "arrivals")
    assert (high - low).max() <= 0.1
    errors = np.count_nonzero((load < low) | (high < load))
    assert errors <= most_errors(trials, level)
    assert result.events.max() < 20_000 * replicas  # long before the limit


@pytest.mark.parametrize("estimator", ["arrivals", "busy", "potential"])
def test_intervals_of_a_loop_hold_where_it_ends(estimator):
    level, trials = 0.8, 100
    q = np.asarray(LOOP.steady_state(LOOP_ARRIVALS))
    result = LOOP.simulate(
        np.tile(LOOP_ARRIVALS, (trials, 1)), events=100_000, observe_every=20,
        until=Precision(0.15, level=level, estimator=estimator), random_state=2,
    )  # fmt: skip
    assert result.reached.all()
    low, high = result.confidence_interval(level, estimator)
    assert (high - low).max() <= 0.15
    errors = ((q < low) | (high < q)).sum(axis=0)  # each neuron's interval holds for it alone
    assert errors.max() <= most_errors(trials, level)


@pytest.mark.parametrize("replicas", [1, 6])
@pytest.mark.parametrize("estimator", ["arrivals", "busy"])
def test_decisions_are_right_as_often_as_they_say(estimator, replicas):
    """Three neurons close together: to be wrong is easy."""
    level, trials = 0.8, 100
    network = RandomNeuralNetwork([1.0, 2.0, 1.0], np.zeros((3, 3)))
    result = network.simulate(
        np.tile([0.40, 0.86, 0.38], (trials, 1)), events=100_000, replicas=replicas,
        until=Decision([0, 1, 2], level=level, estimator=estimator), random_state=3,
    )  # fmt: skip
    assert result.reached.mean() > 0.8
    errors = np.count_nonzero(result.reached & (result.decision != 1))
    assert errors <= most_errors(trials, level)


def test_nothing_is_decided_between_equals_more_often_than_by_chance():
    """Any decision is an error then; it is told at once that none can be expected."""
    level, trials = 0.8, 100
    network = RandomNeuralNetwork([1.0, 1.0], np.zeros((2, 2)))
    told = naming("candidates", "row 0")
    with pytest.warns(UserWarning, match=told):
        result = network.simulate(
            np.full((trials, 2), 0.4), events=5_000, until=Decision([0, 1], level=level),
            random_state=4,
        )  # fmt: skip
    # either may be taken for the leader, so that there are two ways to err
    assert np.count_nonzero(result.reached) <= most_errors(trials, 1 - 2 * (1 - level))
