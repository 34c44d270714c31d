"""The simulation against theory.

Every test makes one number per independent seed, so that the law of the statistic is known, and
compares it with a bound of that law at LEVEL; nothing is tuned. With fixed seeds each test passes
or fails for good.
"""

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, chi2, chi2_contingency, combine_pvalues, kstest, norm, t

from lrnn import RandomNeuralNetwork
from lrnn.spiking.by_neuron import NeuronRun
from lrnn.spiking.estimators import potential_at_events
from lrnn.spiking.on_cpu import Run
from lrnn.spiking.plan import FIRED, SEEN
from lrnn.spiking.simulate import make_plan
from theory import reference

LEVEL = 1e-6
ESTIMATORS = ("potential", "busy", "arrivals")


def potentials_after(network, plus, minus, time, replicas, seed=0, engine="auto"):
    """Potentials of independent runs from rest, after so much time."""
    plan = make_plan(
        network, plus, minus, events=None, time=time, observe_every=1_000, replicas=replicas,
        warm_up=0, start="empty", snapshot_bytes=0, random_state=seed, engine=engine,
    )  # fmt: skip
    found = np.empty((replicas, network.n_neurons), dtype=np.int64)
    for number in range(replicas):
        run = (NeuronRun if plan.by_neuron else Run).of(plan, number)
        for _ in run.go_on(run.stops[-1], None, []):
            pass
        found[number] = run.potentials
    return found


def chi_square(observed, expected):
    """Pearson's statistic, cells that expect fewer than 5 put together; degrees of freedom."""
    order = np.argsort(expected)
    small = np.cumsum(expected[order]) < 5
    small[np.flatnonzero(~small)[0]] = True  # the one that lifts them above 5
    few, many = order[small], order[~small]
    observed = np.append(observed[many], observed[few].sum())
    expected = np.append(expected[many], expected[few].sum())
    return ((observed - expected) ** 2 / expected).sum(), len(expected) - 1


@pytest.mark.parametrize("load", [0.2, 0.6, 0.85])
def test_the_potential_of_a_single_neuron_is_geometric(load):
    """After 40 relaxation times, e⁻⁴⁰ is left of the beginning."""
    network = RandomNeuralNetwork([1.0], [[0.0]])
    relaxation = 1 / (1 - np.sqrt(load)) ** 2
    found = potentials_after(network, [load], None, 40 * relaxation, 4_000)[:, 0]
    k = np.arange(found.max() + 1)
    law = np.append((1 - load) * load**k, load ** (k[-1] + 1))
    statistic, freedom = chi_square(np.append(np.bincount(found), 0), 4_000 * law)
    assert statistic < chi2.isf(LEVEL, freedom)


def test_firings_of_a_stable_neuron_are_poisson():
    """Burke's theorem: as regular, or irregular, as the arrivals."""
    load, time, replicas = 0.7, 50.0, 3_000
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        [load], time=time, replicas=replicas, start="stationary", snapshot_bytes=0, random_state=1
    )
    fired = result._sums[-1, FIRED, :, 0].astype(float)
    mean = load * time
    dispersion = ((fired - mean) ** 2).sum() / mean
    # for Poisson counts its mean is R and its variance R (2 + 1/mean): a scaled χ² of the same
    freedom = 2 * replicas / (2 + 1 / mean)
    low, high = chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], freedom) * replicas / freedom
    assert low < dispersion < high


def test_gaps_between_firings_are_exponential_and_independent():
    load = 0.7
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate([load], time=30_000.0, start="stationary", record=[0], random_state=2)
    gaps = np.diff(result.raster.times)
    assert kstest(gaps, "expon", args=(0, 1 / load)).pvalue > LEVEL
    # correlation of neighbours: 0 ± 1/√n
    next_to = np.corrcoef(gaps[:-1], gaps[1:])[0, 1]
    assert abs(next_to) < 5 / np.sqrt(len(gaps))


@pytest.mark.parametrize("seed", [11, 15, 18])
def test_the_joint_law_is_of_product_form(random_network, seed):
    """A recurrent network with inhibition and self-loops: all potentials at once."""
    network, plus, minus = random_network(seed, n=3)
    q = np.asarray(network.steady_state(plus, minus))
    assert q.min() > 0.1  # else there is nothing to see
    replicas, cut = 6_000, 4
    # 200 units of time are over 60 times the slowest mean service
    found = np.minimum(potentials_after(network, plus, minus, 200.0, replicas), cut)
    law = np.array([[(1 - p) * p**k for k in range(cut)] + [p**cut] for p in q])
    expected = np.einsum("i,j,k->ijk", *law).ravel() * replicas
    cells = np.ravel_multi_index(found.T, (cut + 1,) * 3)
    observed = np.bincount(cells, minlength=len(expected))
    statistic, freedom = chi_square(observed, expected)
    assert freedom > 20
    assert statistic < chi2.isf(LEVEL, freedom)


@pytest.fixture(scope="module")
def forty_networks(random_network):
    """Simulations, and their exact answers, which every estimator is held to."""
    found = []
    for seed in range(40):
        network, plus, minus = random_network(200 + seed, n=int(3 + seed % 8))
        result = network.simulate(
            plus, minus, events=100_000, observe_every=100, replicas=20, start="stationary",
            random_state=seed,
        )  # fmt: skip
        neuron = seed % network.n_neurons
        found.append((result, neuron, float(network.steady_state(plus, minus)[neuron])))
    return found


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_random_networks_meet_their_steady_states(forty_networks, estimator):
    """One neuron of each of 40 networks: p-values of Student's t, combined by Fisher's method."""
    values, widths = [], []
    for result, neuron, q in forty_networks:
        low, high = (end[neuron] for end in result.confidence_interval(0.5, estimator))
        # an interval at 50 % is the estimate ± t(0.75) standard errors of the ratio
        ratio = (lambda p: p / (1 - p)) if estimator == "potential" else (lambda p: p)
        low, high, exact = ratio(low), ratio(high), ratio(q)
        error = (high - low) / 2 / t.ppf(0.75, 19)
        values.append(2 * t.sf(abs((low + high) / 2 - exact) / error, 19))
        sure = result.confidence_interval(1 - LEVEL, estimator)
        assert sure[0][neuron] <= q <= sure[1][neuron]
        widths.append(high - low)
    assert max(widths) < 0.05
    assert LEVEL < combine_pvalues(values).pvalue < 1 - LEVEL


@pytest.fixture(scope="module")
def many_runs(random_network):
    """The steady state of a network, and 300 simulations of it, which all estimators share."""

    @cache
    def simulated(way):
        network, plus, minus = random_network(11)
        runs = {"events": 60_000} if way == "batch means" else {"events": 8_000, "replicas": 8}
        runs["observe_every"] = 50
        return np.asarray(network.steady_state(plus, minus)), [
            network.simulate(plus, minus, random_state=seed, **runs) for seed in range(300)
        ]

    return simulated


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("way", ["batch means", "replicas"])
def test_intervals_cover_as_often_as_they_say(many_runs, estimator, way):
    """Of 300 intervals at 95 %, 90 % must contain q: 1 in 4,000 sets of 300 would not.

    They may be somewhat wider than the spread of all 300 estimates, as they never are narrower than
    theory has it.
    """
    assert binom.cdf(269, 300, 0.95) < 1 / 2_000
    q, results = many_runs(way)
    intervals = np.array([result.confidence_interval(0.95, estimator) for result in results])
    estimates = np.array([result.activation(estimator) for result in results])
    covered = (intervals[:, 0] <= q) & (q <= intervals[:, 1])
    assert covered[np.arange(300), np.arange(300) % 5].mean() >= 0.90
    needed = 2 * norm.ppf(0.975) * estimates.std(axis=0)
    assert (np.diff(intervals, axis=1).mean(axis=0) <= 1.5 * needed).all()


def test_the_reference_and_the_kernel_have_the_same_law(random_network):
    """On the way to the steady state, where no formula is known: a two-sample test."""
    network, plus, minus = random_network(5, n=3)
    time, replicas, cut = 4.0, 3_000, 3
    kernel = potentials_after(network, plus, minus, time, 4 * replicas)
    slow = np.zeros((replicas, 3), dtype=np.int64)
    for number in range(replicas):
        events = reference.events(network, plus, minus, np.random.default_rng((5, number)))
        for _, potentials in itertools.takewhile(lambda event: event[0] < time, events):
            slow[number] = potentials
    counts = [
        np.bincount(np.ravel_multi_index(np.minimum(k, cut).T, (cut + 1,) * 3), minlength=64)
        for k in (kernel, slow)
    ]
    table = np.array(counts)
    often = table.sum(axis=0) >= 50  # at least 10 expected in the smaller sample
    table = np.column_stack([table[:, often], table[:, ~often].sum(axis=1)])
    assert table.shape[1] > 15
    assert chi2_contingency(table).pvalue > LEVEL


def student(found, expected):
    """Two-sided p-value of independent numbers, if ``expected`` is their mean."""
    error = found.std(ddof=1) / np.sqrt(len(found))
    return 2 * t.sf(abs(found.mean() - expected) / error, len(found) - 1)


@pytest.mark.parametrize("seed", [3, 11, 12, 18])
def test_events_see_a_state_as_often_as_things_happen_in_it(random_network, seed):
    """The estimator of the paper, to the letter: its mean potential is q/(1 − q) + qr/E[R]."""
    network, plus, minus = random_network(seed, n=4)
    q = np.asarray(network.steady_state(plus, minus))
    result = network.simulate(
        plus, minus, events=40_000, observe_every=21, at_events=True, replicas=60,
        start="stationary", warm_up=500, random_state=seed,
    )  # fmt: skip
    neuron = int(np.argmax(q * network.rates))  # it is in most of the events
    numerator, denominator = (v[:, 0, neuron] for v in result._samples("events", -1))
    assert (denominator == 40_000 // 21).all()
    expected = potential_at_events(q, network.rates, np.asarray(plus.sum() + minus.sum()))[neuron]
    assert student(numerator / denominator, expected) > LEVEL
    assert student(numerator / denominator, q[neuron] / (1 - q[neuron])) < LEVEL
    low, high = result.confidence_interval(1 - LEVEL)  # while ours is right
    assert low[neuron] < q[neuron] < high[neuron]


@pytest.mark.parametrize("every", [10, 11])
def test_a_lone_neuron_is_seen_with_an_even_potential_after_an_even_number_of_events(every):
    r"""States that events meet, (1 − q) qᵏ R(k)/E[R], fall into even and odd ones.

    Of the even ones the mean is 2q/(1 − q²), of all of them q/(1 − q) + 1/2.
    """
    load, replicas = 0.6, 400
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        [load], events=1_100, warm_up=0, observe_every=every, at_events=True, replicas=replicas,
        snapshot_bytes=1 << 24, random_state=6,
    )  # fmt: skip
    at = {int(s): result._sums[i, SEEN, :, 0] for i, s in enumerate(result.snapshots)}
    seen = at[1_100] - at[result.snapshots[-2]]  # long after the start
    number = 1_100 // every - int(result.snapshots[-2]) // every
    exact = load / (1 - load) + 0.5 if every % 2 else 2 * load / (1 - load**2)
    assert student(seen / number, exact) > LEVEL
    assert student(seen / number, load / (1 - load)) < LEVEL
    if every % 2 == 0:
        assert (at[1_100] % 2 == 0).all()


@pytest.mark.filterwarnings("ignore:.*too short")
def test_the_reference_and_the_kernel_observe_the_same_after_events(random_network):
    """The sum of four observations, one every three events, has one law in both."""
    network, plus, minus = random_network(5, n=3)
    replicas, often = 1_500, 4
    kernel = network.simulate(
        plus, minus, events=12, observe_every=3, at_events=True, replicas=often * replicas,
        snapshot_bytes=0, random_state=5,
    )._sums[-1, SEEN].astype(int)  # fmt: skip
    slow = [
        4 * reference.mean_potentials(network, plus, minus, np.random.default_rng((9, i)), 4, 3)
        for i in range(replicas)
    ]
    values = []
    for neuron in range(3):
        sums = [kernel[:, neuron], np.round(np.array(slow)[:, neuron]).astype(int)]
        table = np.array([np.bincount(np.minimum(s, 8), minlength=9) for s in sums])
        table = table[:, table.sum(axis=0) >= 50]
        assert table.shape[1] > 3
        values.append(chi2_contingency(table).pvalue)
    assert min(values) > LEVEL / 3


def test_arrivals_know_more_than_busy_time():
    r"""Variances for one neuron under load ρ, per tick; p is the share of ticks that are arrivals.

    Let A be the arrivals, D the firings, B the ticks for which it is excited, and M = D − (1 − p)B.
    A − pn and M are martingales with variances p(1 − p) and p(1 − p)ρ and covariance −p(1 − p)ρ per
    tick (a tick is not both an arrival and a firing). In the long run D is A, so that
    (1 − p)B = A − M has the variance p(1 − p)(1 + 3ρ): the busy time is 1 + 3ρ times as uncertain.
    Looks at some ticks only cannot know more than looks at all.
    """
    load, replicas = 0.6, 4_000
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        [load], time=2_000.0, replicas=replicas, start="stationary", snapshot_bytes=0,
        random_state=4,
    )  # fmt: skip
    variances = {}
    for estimator in ("busy", "arrivals"):
        numerator, denominator = result._samples(estimator, -1)
        variances[estimator] = np.var(numerator / denominator, ddof=1)
    n = 2_000 * (1 + load)  # ticks
    expected = load / n  # p / (1 − p) per tick is the load
    low, high = chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], replicas - 1) / (replicas - 1)
    assert low < variances["arrivals"] / expected < high
    at_least = expected * (1 + 3 * load) * low
    # over 3,200 ticks the ends, 2 Var(k) at most, are worth a share of 2ρ/(1 − ρ)²/(p(1 − p) n)
    share = load / (1 + load) ** 2
    ends = 2 * load / (1 - load) ** 2 / (share * n)
    assert variances["busy"] > at_least * (1 - ends)
