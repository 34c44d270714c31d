"""Intervals hold what they say, or are marked as short: corners of the grid of the benchmark."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from lrnn import RandomNeuralNetwork
from lrnn.network.gradient import drive
from lrnn.network.response import own_response, response

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import intervals

CHEAP = 2e6  # events of all seeds of a cell
SINGLE = RandomNeuralNetwork([1.0], [[0.0]])


def corners():
    """What has 1,000 seeds, by cost."""
    for cell in intervals.cells(intervals.LONG):
        if cell["seeds"] == intervals.MANY:
            cheap = cell["events"] * cell["runs"] * cell["seeds"] <= CHEAP
            name = "-".join(str(cell[key]) for key in list(cell)[:6])
            yield pytest.param(cell, id=name, marks=() if cheap else pytest.mark.slow)


@pytest.mark.parametrize("cell", list(corners()))
def test_intervals_hold_or_are_marked(cell):
    assert not intervals.wrong([intervals.measure(cell)])


@pytest.mark.filterwarnings("ignore:.*too short")
@pytest.mark.parametrize(("q", "replicas", "events"), [(0.9, 100, 1_000), (0.97, 50, 2_000)])
def test_many_runs_that_are_not_filled_yet_are_marked(q, replicas, events):
    """Their bias is the same in all: no average over runs makes it smaller."""
    result = SINGLE.simulate([[q]] * 200, events=events, replicas=replicas, random_state=0)
    assert result.short.all()
    begun = SINGLE.simulate([q], events=events, replicas=replicas, start="stationary")
    assert not begun.short.any()


def test_one_that_was_never_seen_excited_has_an_interval():
    """Most of these runs look at it while it is at rest each time, though 10,000 spikes came."""
    dim = SINGLE.simulate([[0.01]] * 100, events=20_000, engine="clock", random_state=0)
    assert (dim.activation("potential") == 0).sum() > 25
    for estimator in intervals.ESTIMATORS:
        low, high = dim.confidence_interval(0.95, estimator)
        assert (low < high).all()
        held = ((low <= 0.01) & (high >= 0.01)).sum()
        assert binom.cdf(held, 100, 0.95) > 1e-3


@pytest.mark.filterwarnings("ignore:.*too short")
def test_intervals_of_saturated_neurons_end_at_1():
    for load in (1.0, 3.0):
        result = SINGLE.simulate([[load]] * 50, events=5_000, replicas=5, random_state=0)
        for estimator in intervals.ESTIMATORS:
            assert (result.confidence_interval(0.95, estimator)[1] == 1).all()


def test_the_mark_does_not_depend_on_chance():
    """Else those that are not marked would be a choice by their results."""
    for start in ("empty", "stationary"):
        for q in (0.01, 0.3, 0.9):
            result = SINGLE.simulate([[q]] * 300, events=60, replicas=5, start=start)
            assert len(np.unique(result.short)) == 1


def test_responses_are_the_gradients_of_the_steady_state(random_network):
    """Forwards, and each neuron's own, against the adjoint way and a difference quotient."""
    for seed in range(5):
        network, plus, minus = random_network(seed)
        q = np.asarray(network.steady_state(plus, minus))[None]
        _, total = drive(network.stages, network.rates, plus[None], minus[None], q)
        gradient = np.array([network.gradient(plus, minus, of=u).arrivals for u in np.eye(5)])
        own = own_response(network.stages, network.rates, q, total)[0]
        np.testing.assert_allclose(own, np.diag(gradient), rtol=1e-9)
        more = np.random.default_rng(seed).random((1, 5))
        found = response(network.stages, network.rates, q, total, more, np.zeros((1, 5)))[0]
        np.testing.assert_allclose(found, gradient @ more[0], rtol=1e-9)
        step = 1e-6
        moved = np.asarray(network.steady_state(plus + step * more[0], minus))
        np.testing.assert_allclose((moved - q[0]) / step, found, rtol=1e-4)
