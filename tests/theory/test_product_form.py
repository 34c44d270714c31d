r"""The potentials' joint law, from the Markov chain itself, is the product of geometric laws.

The chain of potentials k ∈ ℕⁿ has generator Q, written out here event by event. It is cut to the
box k ≤ K by forbidding every transition that leaves it, which gives a finite generator Q̂, and
the stationary law π̂ of that follows from linear algebra alone; the steady-state equation plays no
part in it.

**How far π̂ may be from the product form π.** Let v be π on the box, with mass c = 1 − τ, where
τ = 1 − ∏(1 − qᵢ^{K+1}) is the mass of the tail. If π is stationary for Q, then inside the box
v Q̂ = ε only misses the flow that left the box (and no longer does) and the flow that came back.
Both are the same in steady state, and at most τR, R = Σ(rᵢ + Λᵢ + λᵢ) being the largest rate at
which anything happens. So ‖ε‖₁ ≤ 2Rτ. With the deviation matrix D = (1π̂ − Q̂)⁻¹ − 1π̂, for which
Q̂D = 1π̂ − I, we have εD = vQ̂D = cπ̂ − v, hence

    ‖v − π̂‖₁ ≤ ‖v − cπ̂‖₁ + τ ≤ τ (2R ‖D‖ + 1),      ‖D‖ the largest absolute row sum.

Nothing in this bound is tuned. The linear algebra adds rounding errors of a unit per state,
amplified by R‖D‖, which is also far above what the solver's tolerance of 1e-12 for q can do.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

from lrnn import RandomNeuralNetwork


@dataclass(frozen=True)
class Case:
    largest_potential: int
    rates: list[float]
    arrivals: list[float]
    inhibitory_arrivals: list[float]
    excitatory: list[list[float]]
    inhibitory: list[list[float]]

    def steady_state(self):
        network = RandomNeuralNetwork(self.rates, self.excitatory, self.inhibitory)
        return network.steady_state(self.arrivals, self.inhibitory_arrivals)


CASES = {
    "excitatory loop": Case(
        40, [1.0, 1.5], [0.3, 0.2], [0.0, 0.0], [[0, 0.6], [0.4, 0]], [[0, 0], [0, 0]]
    ),
    "mutual inhibition": Case(
        40, [1.0, 2.0], [0.6, 0.9], [0.0, 0.0], [[0, 0], [0, 0]], [[0, 1.0], [0.7, 0]]
    ),
    "excites and is inhibited, self-loops, inhibition from outside": Case(
        40, [1.0, 1.2], [0.45, 0.3], [0.1, 0.2], [[0.2, 0.5], [0, 0.1]], [[0.1, 0], [0.6, 0.2]]
    ),
    "inhibitory self-loops that nothing leaves": Case(
        40, [1.0, 0.8], [0.5, 0.1], [0.0, 0.05], [[0, 0.5], [0, 0]], [[0.5, 0], [0.3, 0.7]]
    ),
    "three neurons in a ring of mixed sign": Case(
        11,
        [1.0, 1.5, 2.0],
        [0.15, 0.1, 0.2],
        [0.1, 0.0, 0.3],
        [[0.1, 0.6, 0], [0, 0, 0], [0.2, 0, 0]],
        [[0, 0, 0.2], [0, 0.3, 0.7], [0, 0.5, 0.1]],
    ),
}


def generator(case):
    """Q̂: what can happen to the potentials, and how often."""
    n, side = len(case.rates), case.largest_potential + 1
    potentials = np.indices((side,) * n).reshape(n, -1).T
    number = side ** np.arange(n)[::-1]  # state k has index k @ number
    transitions = []

    def event(rates, happens, after):
        inside = happens & (after.max(axis=1) < side) & (after != potentials).any(axis=1)
        transitions.append((potentials[inside] @ number, after[inside] @ number, rates))

    always = np.ones(len(potentials), dtype=bool)
    one = np.eye(n, dtype=int)
    for i in range(n):
        event(case.arrivals[i], always, potentials + one[i])
        event(case.inhibitory_arrivals[i], always, np.maximum(potentials - one[i], 0))
        excited = potentials[:, i] > 0
        fired = potentials - one[i] * excited[:, None]
        for j in range(n):
            event(case.rates[i] * case.excitatory[i][j], excited, fired + one[j])
            event(case.rates[i] * case.inhibitory[i][j], excited, np.maximum(fired - one[j], 0))
        lost = 1 - sum(case.excitatory[i]) - sum(case.inhibitory[i])
        event(case.rates[i] * lost, excited, fired)

    source = np.concatenate([s for s, _, _ in transitions])
    target = np.concatenate([t for _, t, _ in transitions])
    rate = np.concatenate([np.full(len(s), r) for s, _, r in transitions])
    size = len(potentials)
    moves = sparse.csr_array((rate, (source, target)), shape=(size, size))
    return moves - sparse.diags_array(moves.sum(axis=1)), potentials


def stationary_law(Q):
    """π̂ with π̂Q̂ = 0 and π̂1 = 1; the last balance equation follows from the others."""
    equations = sparse.vstack([sparse.csr_array(Q.T)[:-1], np.ones((1, Q.shape[0]))])
    return splu(sparse.csc_array(equations)).solve(np.eye(1, Q.shape[0], Q.shape[0] - 1)[0])


def largest_distance(case, Q, law, q):
    """The bound τ(2R‖D‖ + 1), and rounding."""
    tail = 1 - np.prod(1 - q ** (case.largest_potential + 1))
    events = sum(case.rates) + sum(case.arrivals) + sum(case.inhibitory_arrivals)
    deviation = np.linalg.inv(law - Q.toarray()) - law
    norm = np.abs(deviation).sum(axis=1).max()
    rounding = len(law) * np.finfo(float).eps * events * norm
    return tail * (2 * events * norm + 1) + rounding


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_markov_chain_of_the_potentials_has_the_product_form(case):
    steady = case.steady_state()
    q = np.asarray(steady)
    assert not steady.saturated.any()
    Q, potentials = generator(case)
    law = stationary_law(Q)
    bound = largest_distance(case, Q, law, q)
    assert bound < 1e-2 * law.max()  # the comparison says something

    product = np.prod((1 - q) * q**potentials, axis=1)
    assert np.abs(law - product).sum() <= bound
    for i in range(len(q)):
        busy = law[potentials[:, i] > 0].sum()
        assert abs(busy - q[i]) <= bound
        mean = law @ np.minimum(potentials[:, i], 5)  # a bounded function of the potential
        expected = sum(k * steady.probability(k)[i] for k in range(5)) + 5 * q[i] ** 5
        assert abs(mean - expected) <= 5 * (2 * bound)


def test_another_activation_would_not_pass():
    """The comparison is sharp: q off by a thousandth is far outside the bound."""
    case = CASES["mutual inhibition"]
    Q, potentials = generator(case)
    law = stationary_law(Q)
    q = np.asarray(case.steady_state())
    wrong = q * 1.001
    product = np.prod((1 - wrong) * wrong**potentials, axis=1)
    assert np.abs(law - product).sum() > 10 * largest_distance(case, Q, law, q)
