"""Output spikes in steady state are Poisson processes: the theory behind decisions, and the counts.

In a feed-forward network that begins in its steady state the output spikes of the classes are
independent Poisson processes, and the classes of successive ones independent draws from the shares
(docs/recognition.md has the proof). Each statement is held against the simulator, with numbers that
chance passes once in 10⁵ times or less; where a network has a cycle, or begins at rest, the same
numbers do pass: the tests would see it.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from lrnn import RandomNeuralNetwork
from lrnn.analysis.decisions import _Forecast, _Shown
from lrnn.functional.decisions import expected_spikes, first_passage, leading, ruin, two_class_law
from lrnn.rows import held
from lrnn.spiking import SpikeCount

COPIES, UNLIKELY, CHANCE = 700, 5.0, 1e-6
QUIET = pytest.mark.filterwarnings("ignore:.*(too short|came first)")


def layered(inhibition, widths=(3, 4, 3), strength=0.8):
    rng = np.random.default_rng(1)
    shapes = list(pairwise(widths))
    plus = [strength * rng.random(shape) for shape in shapes]
    minus = [inhibition * rng.random(shape) for shape in shapes] if inhibition else None
    return RandomNeuralNetwork.from_layers(plus, minus, least_rate=0.0)


def arrivals_of(network, level=0.4):
    inputs = np.arange(network.n_neurons) < network.layer_sizes[0]
    return level * network.rates * inputs


def forecast_of(network, arrivals, classes):
    inputs = network.layer_sizes[0]
    shown = held(arrivals[None, :inputs] / network.rates[:inputs])
    return _Forecast.of(_Shown(shown, network), classes)


NETWORKS = {
    "excitatory": layered(0.0, strength=0.4),
    "inhibition": layered(3.0, strength=2.0),
    "saturated": layered(1.0, strength=6.0),
    "deep": layered(2.0, (3, 4, 4, 3), strength=2.0),
}


def simulated(network, arrivals, start="stationary", classes=3, **length):
    """Output spikes of independent copies, as lists of times and of classes."""
    outputs = np.arange(network.n_neurons - classes, network.n_neurons)
    how = {"replicas": COPIES} if "until" not in length else {}
    shown = arrivals if how else np.tile(arrivals, (COPIES, 1))
    result = network.simulate(
        shown, start=start, record=outputs, random_state=0, progress=False, **how, **length
    )
    cuts = np.cumsum(result.raster.counts)[:-1]
    times, who = (np.split(v, cuts) for v in (result.raster.times, result.raster.neurons))
    return result, times, [each - outputs[0] for each in who]


def counted(who, classes=3):
    return np.array([np.bincount(each, minlength=classes) for each in who])


@QUIET
@pytest.mark.parametrize("name", NETWORKS)
def test_counts_are_poisson_and_independent_of_each_other(name):
    network = NETWORKS[name]
    arrivals = arrivals_of(network)
    q = np.asarray(network.steady_state(arrivals))
    assert (q.max() >= 1) == (name == "saturated")
    rates = q[-3:] * network.rates[-3:]
    time = 6 / rates.max()
    _, times, who = simulated(network, arrivals, time=time)
    counts = counted(who)
    means = rates * time
    spread = np.sqrt(means / COPIES)
    assert (abs(counts.mean(axis=0) - means) < UNLIKELY * spread).all()
    # the variance of a Poisson law is its mean; of counts it varies by √((2 + 1/mean)/n) of that
    ratio = counts.var(axis=0, ddof=1) / means
    assert (abs(ratio - 1) < UNLIKELY * np.sqrt((2 + 1 / means) / COPIES)).all()
    correlation = np.corrcoef(counts.T)[np.triu_indices(3, 1)]
    assert (abs(correlation) < UNLIKELY / np.sqrt(COPIES)).all()
    # halves of the time are independent, too
    early = counted([w[t < time / 2] for t, w in zip(times, who, strict=True)])
    for c in range(3):
        found = np.corrcoef(early[:, c], counts[:, c] - early[:, c])[0, 1]
        assert abs(found) < UNLIKELY / np.sqrt(COPIES)


@QUIET
def test_a_cycle_breaks_that_and_the_test_sees_it():
    network = RandomNeuralNetwork([1.0, 1.0], [[0.0, 0.5], [0.8, 0.0]])
    arrivals = np.array([0.3, 0.0])
    q = np.asarray(network.steady_state(arrivals))
    time = 6 / q[1]
    counts = counted(simulated(network, arrivals, classes=1, time=time)[2], 1)[:, 0]
    spread = np.sqrt((2 + 1 / 6) / COPIES)
    assert counts.mean() == pytest.approx(6, abs=UNLIKELY * 0.1)
    assert counts.var(ddof=1) / 6 > 1 + 2 * UNLIKELY * spread


@QUIET
@pytest.mark.parametrize("name", NETWORKS)
def test_classes_of_successive_spikes_are_independent_draws_from_the_shares(name):
    network = NETWORKS[name]
    arrivals = arrivals_of(network)
    shares = forecast_of(network, arrivals, 3).shares[0]
    rates = np.asarray(network.steady_state(arrivals))[-3:] * network.rates[-3:]
    _, _, who = simulated(network, arrivals, time=12 / rates.sum())
    long_enough = [each for each in who if len(each) >= 3]
    assert len(long_enough) > 0.99 * COPIES
    first, second, third = np.array([each[:3] for each in long_enough]).T
    for each in (first, second, third):
        expected = shares * len(each)
        assert stats.chisquare(np.bincount(each, minlength=3), expected).pvalue > CHANCE
    together = np.histogram2d(first, second, bins=(3, 3), range=((0, 3), (0, 3)))[0]
    expected = np.outer(shares, shares) * len(first)
    assert stats.chisquare(together.ravel(), expected.ravel()).pvalue > CHANCE


@QUIET
def test_from_rest_the_first_spike_is_another_draw_and_the_test_sees_it():
    """Inhibition comes late: at first classes fire that it will silence."""
    network = NETWORKS["inhibition"]
    arrivals = arrivals_of(network)
    shares = forecast_of(network, arrivals, 3).shares[0]
    rates = np.asarray(network.steady_state(arrivals))[-3:] * network.rates[-3:]
    _, times, who = simulated(network, arrivals, "empty", time=40 / rates.sum())
    first = np.array([each[0] for each in who if len(each)])
    seen = np.bincount(first, minlength=3)
    waited = np.mean([each[0] for each in times if len(each)])
    usual = 1 / rates.sum()
    late = abs(waited / usual - 1) > UNLIKELY / np.sqrt(len(first))
    assert late or stats.chisquare(seen, shares * len(first)).pvalue < CHANCE


@QUIET
@pytest.mark.parametrize("rule", [{"lead": 3}, {"confidence": 0.8}], ids=str)
def test_two_classes_are_decided_as_often_and_as_late_as_theory_says(rule):
    """And events are as many, by Wald's identity, as output spikes times events for each."""
    network = layered(2.0, (3, 4, 2), strength=2.0)
    arrivals = arrivals_of(network)
    forecast = forecast_of(network, arrivals, 2)
    share = float(forecast.shares[0].max())
    assert 0.55 < share < 0.8  # it can go wrong
    error, spikes, still_open = two_class_law(share, most=1500, **rule)
    assert still_open < 1e-6
    if "lead" in rule:
        assert (error, spikes) == pytest.approx([float(v) for v in ruin(forecast.shares[0], 3)])
    time = 30 * spikes / forecast.rates.sum()
    outputs = np.arange(network.n_neurons - 2, network.n_neurons)
    result, times, who = simulated(
        network, arrivals, classes=2, time=time, until=SpikeCount(outputs, **rule),
        snapshots=time * np.geomspace(0.002, 1, 40),
    )  # fmt: skip
    found = [first_passage(each, 2, **rule) for each in who]
    number = np.array([n for n, _ in found])
    assert (number > 0).mean() > 0.998
    wrong = np.array([c.argmax() for _, c in found]) != forecast.shares[0].argmax()
    spread = np.sqrt(error * (1 - error) / len(wrong))
    assert abs(wrong.mean() - error) < UNLIKELY * spread + 0.002
    assert abs(number.mean() - spikes) < UNLIKELY * number.std() / np.sqrt(len(number))
    ends = np.array([t[n - 1] if n else time for t, n in zip(times, number, strict=True)])
    excess = result.events_at(ends) - forecast.events_per_spike[0] * number
    # events are interpolated between snapshots that are 17 % apart: at most a few percent of bias
    typical = forecast.events_per_spike[0] * spikes
    assert abs(excess.mean()) < UNLIKELY * excess.std() / np.sqrt(len(excess)) + 0.03 * typical
    assert expected_spikes(forecast.shares, **rule)[0] == pytest.approx(spikes, rel=0.5)


@QUIET
def test_the_leader_after_some_time_is_as_often_right_as_theory_says():
    network = NETWORKS["inhibition"]
    arrivals = arrivals_of(network)
    forecast = forecast_of(network, arrivals, 3)
    for spikes in (1.0, 5.0):
        time = spikes / forecast.rates.sum()
        counts = counted(simulated(network, arrivals, time=time)[2])
        expected = leading(forecast.rates[0] * time)
        leads = np.bincount(counts.argmax(axis=1)[counts.any(axis=1)], minlength=3) / COPIES
        assert (abs(leads - expected) < UNLIKELY * np.sqrt(expected / COPIES) + 1e-9).all()
