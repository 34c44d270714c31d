"""What happens in the course of time, against the exponential of the chain's matrix.

Potentials of small networks are cut off at a number that they hardly ever reach, and the law at any
time is then a vector times a matrix exponential. Every test compares many figures at once, at a
level of 10⁻⁶ for all of them together; seeds are fixed, and nothing is tuned.
"""

import itertools

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import chi2_contingency, t

from lrnn import RandomNeuralNetwork
from theory import reference

LEVEL = 1e-6
pytestmark = pytest.mark.filterwarnings("ignore:.*too short")

LOOP = RandomNeuralNetwork(  # recurrent, inhibitory, with a self-loop
    [1.5, 1.0], [[0.1, 0.4], [0.3, 0.0]], [[0.0, 0.2], [0.3, 0.0]]
)
CHAIN = RandomNeuralNetwork([1.0, 2.0], [[0.0, 0.6], [0.0, 0.0]], [[0.0, 0.3], [0.0, 0.0]])
NETWORKS = {
    "loop, clock": LOOP, "loop, neurons": LOOP, "chain, clock": CHAIN, "chain, neurons": CHAIN,
}  # fmt: skip
PLUS, MINUS = np.array([0.5, 0.2]), np.array([0.1, 0.3])
FILM = np.array([[0.6, 0.0], [0.0, 0.0], [0.1, 0.5]])
FILM_MINUS = np.array([[0.0, 0.2], [0.4, 0.0], [0.0, 0.1]])
ENDS = np.array([1.5, 2.0, 4.5])


def generator(network, plus, minus, cut=14):
    """Rates from state to state of two neurons, with potentials below ``cut``."""
    states = list(itertools.product(range(cut), repeat=2))
    number = {state: i for i, state in enumerate(states)}
    found = np.zeros((len(states), len(states)))

    def add(state, rate, *changes):
        after = list(state)
        for neuron, change in changes:
            after[neuron] = min(max(after[neuron] + change, 0), cut - 1)
        found[number[state], number[tuple(after)]] += rate
        found[number[state], number[state]] -= rate

    for state in states:
        for i in range(2):
            add(state, plus[i], (i, 1))
            add(state, minus[i], (i, -1))
            if state[i]:
                rate = network.rates[i]
                add(state, rate * network.departures[i], (i, -1))
                for j in range(2):
                    add(state, rate * network.excitatory[i, j], (i, -1), (j, 1))
                    add(state, rate * network.inhibitory[i, j], (i, -1), (j, -1))
    return found, np.array(states)


def excited(law, states):
    return law @ (states > 0)


def laws(network, moments, film=None):
    """The law at each moment, from rest; and the mean law of each frame."""
    plus, minus, ends = film or ([PLUS], [MINUS], [moments[-1]])
    law = None
    found, means = {}, []
    begin = 0.0
    for p, m, end in zip(plus, minus, ends, strict=True):
        matrix, states = generator(network, p, m)
        law = np.eye(len(states))[0] if law is None else law
        for moment in moments:
            if begin < moment <= end or moment == 0 == begin:
                found[moment] = law @ expm(matrix * (moment - begin))
        n = len(states)
        wide = np.block([[matrix, np.eye(n)], [np.zeros((n, 2 * n))]])
        means.append(law @ expm(wide * (end - begin))[:n, n:] / (end - begin))
        law = law @ expm(matrix * (end - begin))
        begin = end
    return np.array([found[moment] for moment in moments]), np.array(means), states


def student(found, expected):
    """Two-sided p-value of independent numbers, if ``expected`` is their mean."""
    error = found.std(ddof=1) / np.sqrt(len(found))
    return 2 * t.sf(abs(found.mean() - expected) / error, len(found) - 1)


def engine(name):
    return {"engine": name.split(", ")[1]}


@pytest.mark.parametrize("name", NETWORKS)
def test_activations_at_any_time_are_those_of_the_chain(name):
    moments = np.array([0.0, 0.1, 0.5, 2.0, 6.0])
    result = NETWORKS[name].simulate(
        PLUS, MINUS, time=6.0, watch=[0, 1], watch_at=moments, replicas=3_000, random_state=1,
        snapshot_bytes=0, **engine(name),
    )  # fmt: skip
    law, _, states = laws(NETWORKS[name], moments)
    found = result.transient(1 - LEVEL / 8)
    exact = excited(law, states)
    assert found.activation.shape == (5, 2)
    assert ((found.low <= exact) & (exact <= found.high)).all()
    assert (found.high - found.low).max() < 0.1
    assert (found.activation[0] == 0).all()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_warm_up_takes_the_time_that_was_said(name):
    moments = np.array([0.0, 1.0])
    result = NETWORKS[name].simulate(
        PLUS, MINUS, time=1.0, warm_up=0.3, watch=[0, 1], watch_at=moments, replicas=3_000,
        random_state=2, snapshot_bytes=0, **engine(name),
    )  # fmt: skip
    law, _, states = laws(NETWORKS[name], moments + 0.3)
    found = result.transient(1 - LEVEL / 4)
    exact = excited(law, states)
    assert ((found.low <= exact) & (exact <= found.high)).all()
    assert (found.high - found.low).max() < 0.1


@pytest.mark.parametrize("name", NETWORKS)
def test_films_change_their_arrivals_when_frames_end(name):
    moments = np.array([0.7, 1.5, 1.7, 2.0, 2.2, 3.0, 4.5])
    replicas = 2_000
    result = NETWORKS[name].simulate(
        FILM, FILM_MINUS, frames=ENDS, watch=[0, 1], watch_at=moments, replicas=replicas,
        random_state=2, **engine(name),
    )  # fmt: skip
    law, means, states = laws(NETWORKS[name], moments, (FILM, FILM_MINUS, ENDS))
    found, exact = result.transient(1 - LEVEL / 14), excited(law, states)
    assert ((found.low <= exact) & (exact <= found.high)).all()
    values = []
    for i in range(3):
        frame = result.frame(i)
        assert frame.time == pytest.approx(replicas * np.diff(ENDS, prepend=0)[i])
        share = excited(means[i], states)
        comes = FILM[i] + share * NETWORKS[name].rates @ NETWORKS[name].excitatory
        lasts = np.diff(ENDS, prepend=0)[i]
        for estimator, expected in (("busy", share), ("potential", means[i] @ states)):
            n, d = (v[:, 0] for v in frame._samples(estimator, -1))
            values += [student((n / d)[:, j], expected[j]) for j in range(2)]
        arrived = frame._samples("arrivals", -1)[0][:, 0]
        values += [student(arrived[:, j], comes[j] * lasts) for j in range(2) if comes[j] > 0]
        np.testing.assert_allclose(frame.activation("busy"), share, atol=0.05)
    assert min(values) > LEVEL / len(values)


@pytest.mark.parametrize("name", ["loop, clock", "chain, neurons"])
def test_the_reference_shows_the_same_film(name):
    network, replicas, cut = NETWORKS[name], 800, 4
    result = network.simulate(
        FILM, FILM_MINUS, frames=ENDS, watch=[0, 1], watch_at=[4.5], replicas=4 * replicas,
        random_state=3, **engine(name),
    )  # fmt: skip
    slow = [
        reference.after_film(network, FILM, FILM_MINUS, ENDS, np.random.default_rng((3, i)))
        for i in range(replicas)
    ]
    counts = [
        np.bincount(np.ravel_multi_index(np.minimum(k, cut).T, (cut + 1, cut + 1)), minlength=25)
        for k in (result.potentials[0], np.array(slow))
    ]
    table = np.array(counts)
    often = table.sum(axis=0) >= 50
    table = np.column_stack([table[:, often], table[:, ~often].sum(axis=1)])
    assert table.shape[1] > 4
    assert chi2_contingency(table).pvalue > LEVEL


@pytest.mark.parametrize("end", [0.1, 1.0, 8.0, 40.0])
def test_what_is_seen_of_a_short_run_is_an_average_over_time(end):
    """From rest, clock by clock; also in each run alone, not only in all replicas together."""
    replicas = 2_000
    rows = np.tile(PLUS, (replicas, 1))
    result = LOOP.simulate(rows, MINUS, time=end, engine="clock", snapshots=[end], random_state=4)
    _, means, states = laws(LOOP, np.array([end]))
    share, mean = excited(means[0], states), means[0] @ states
    busy = result.activation("busy")
    values = [student(busy[:, j], share[j]) for j in range(2)]
    values += [student(result.mean_potential[:, j], mean[j]) for j in range(2)]
    assert min(values) > LEVEL / 4


def test_a_single_neuron_is_rarely_excited_at_first():
    """What this was before: 0.42, where 0.033 is right."""
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        [0.7], time=0.1, snapshots=[0.1], replicas=4_000, engine="clock", random_state=1
    )
    # P(t) = 0.7 t − (0.7 · 1.7) t²/2 + O(t³), on average over [0, 0.1]
    exact = 0.7 * 0.1 / 2 - 0.7 * 1.7 * 0.01 / 6
    assert abs(result.activation("busy")[0] - exact) < 0.005
