"""Shares of the output spikes: what they are, and gradients against two independent ways."""

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lrnn.functional import activations, firing_rates
from lrnn.functional.shares import cross_entropy, log_spikes, share_gradients, shares

SIZES = (6, 5, 4, 3)


def problem(seed, rows=7, strength=2.0):
    rng = np.random.default_rng(seed)
    shapes = list(pairwise(SIZES))
    plus = [rng.random(shape) * 0.8 for shape in shapes]
    minus = [rng.random(shape) * strength for shape in shapes]
    X = rng.random((rows, SIZES[0])) * (rng.random((rows, SIZES[0])) < 0.7)
    targets = np.eye(SIZES[-1])[rng.integers(0, SIZES[-1], rows)] * rng.uniform(0.5, 2, (rows, 1))
    return X, plus, minus, targets


def objective(X, plus, minus, targets, penalty):
    layers = activations(X, plus, minus)
    loss = float(cross_entropy(shares(layers[-1]), targets))
    if penalty:
        rates = firing_rates(plus, minus)
        fired = sum(q @ r for q, r in zip(layers[:-1], rates[:-1], strict=True))
        loss += penalty * float(targets.sum(axis=1) @ np.log(fired / layers[-1].sum(axis=1)))
    return loss


@given(arrays(float, (4, 3), elements=st.floats(0, 1)))
def test_shares_are_probabilities(outputs):
    found = shares(outputs)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    silent = outputs.sum(axis=1) == 0
    np.testing.assert_array_equal(found[silent], 1 / 3)


@given(
    arrays(float, (5, SIZES[0]), elements=st.just(0.0) | st.floats(1e-9, 1)),  # no underflow
    st.integers(0, 10),
    st.floats(0, 30),
    st.booleans(),
)
def test_an_output_spike_takes_one_firing_in_each_layer_before_it_at_least(X, seed, strength, both):
    _, plus, minus, _ = problem(seed, strength=strength)
    minus = minus if both else None
    layers = activations(X, plus, minus)
    found = log_spikes(layers, firing_rates(plus, minus)[:-1])
    fires = layers[-1].sum(axis=1) > 0
    assert (found[~fires] == 0).all()
    assert (np.exp(found[fires]) >= (len(SIZES) - 1) * (1 - 1e-9)).all()


@pytest.mark.parametrize("penalty", [None, 0.3])
@pytest.mark.parametrize("inhibition", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_differences(seed, penalty, inhibition):
    X, plus, minus, targets = problem(seed)
    minus = minus if inhibition else None
    if not inhibition:
        plus = [p / 4 for p in plus]  # such that not all saturates
    loss, (by_plus, by_minus) = share_gradients(X, plus, minus, targets, penalty)
    assert float(loss) == pytest.approx(objective(X, plus, minus, targets, penalty), rel=1e-12)
    assert len(by_minus) == (len(SIZES) - 1 if inhibition else 0)
    step = 1e-6
    for matrices, gradients in ((plus, by_plus), (minus or [], by_minus)):
        for matrix, gradient in zip(matrices, gradients, strict=True):
            for place in ((0, 0), (1, 2), (3, 1)):
                ends = []
                for sign in (1, -1):
                    matrix[place] += sign * step
                    ends.append(objective(X, plus, minus, targets, penalty))
                    matrix[place] -= sign * step
                slope = (ends[0] - ends[1]) / (2 * step)
                assert gradient[place] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def by_torch(X, plus, minus, targets, penalty, factors):
    """The loss, and its gradients, as PyTorch finds them; hidden neurons times their factors."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    own = [torch.tensor(m, requires_grad=True) for m in (*plus, *minus)]
    pairs = list(zip(own[: len(plus)], own[len(plus) :], strict=True))
    layers, rate = [torch.tensor(X)], torch.ones(SIZES[-1], dtype=torch.float64)
    for (a, b), factor in zip(pairs, [*factors, np.ones(1)], strict=True):
        reached = ((layers[-1] @ a) / (1 + layers[-1] @ b)).clamp(max=1)
        layers.append(reached * torch.tensor(factor))
    q, t = layers[-1], torch.tensor(targets)
    loss = -(t * (q / q.sum(1, keepdim=True) + 1e-9).log()).sum()
    if penalty:
        fired = 0
        for activation, (a, b) in zip(reversed(layers[:-1]), reversed(pairs), strict=True):
            rate = (a + b) @ rate
            fired = fired + activation @ rate
        loss = loss + penalty * (t.sum(1) * (fired / q.sum(1)).log()).sum()
    loss.backward()
    return loss.item(), [matrix.grad.numpy() for matrix in own]


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("penalty", [None, 0.3])
def test_gradients_are_those_of_torch(penalty, silent):
    """Also where some hidden neurons are silent, and the others fire twice as often."""
    X, plus, minus, targets = problem(5 if silent else 3)
    rng = np.random.default_rng(0)
    factors = [np.ones(1) for _ in SIZES[1:-1]]
    if silent:
        factors = [rng.choice([0.0, 2.0], (len(X), size)) for size in SIZES[1:-1]]
        for factor in factors:
            factor[:, 0] = 2.0  # something fires in each row
    silence = (lambda layer, _: factors[layer - 1]) if silent else None
    found, (by_plus, by_minus) = share_gradients(X, plus, minus, targets, penalty, silence=silence)
    loss, gradients = by_torch(X, plus, minus, targets, penalty, factors)
    assert float(found) == pytest.approx(loss, rel=1e-9)
    for mine, theirs in zip((*by_plus, *by_minus), gradients, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_arrays_of_other_libraries_give_the_same(library):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    X, plus, minus, targets = problem(1)
    known, (by_plus, by_minus) = share_gradients(X, plus, minus, targets, 0.1)
    own = [[xp.asarray(m) for m in matrices] for matrices in (plus, minus)]
    loss, there = share_gradients(xp.asarray(X), *own, xp.asarray(targets), 0.1)
    assert float(loss) == pytest.approx(float(known), rel=1e-12)
    for mine, theirs in zip((*by_plus, *by_minus), (*there[0], *there[1]), strict=True):
        np.testing.assert_allclose(np.asarray(theirs), mine, rtol=1e-9, atol=1e-12)


def test_sparse_rows_give_the_same_as_full_ones():
    X, plus, minus, targets = problem(2)
    full = share_gradients(X, plus, minus, targets, 0.1)
    thin = share_gradients(sparse.csr_array(X), plus, minus, targets, 0.1)
    assert float(thin[0]) == pytest.approx(float(full[0]), rel=1e-12)
    for mine, theirs in zip(chain(*full[1]), chain(*thin[1]), strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-9, atol=1e-12)


def test_layers_that_stay_have_no_gradients_and_those_of_the_others_do_not_change():
    X, plus, minus, targets = problem(4)
    loss, (by_plus, by_minus) = share_gradients(X, plus, minus, targets, 0.1)
    same, (fewer, fewer_minus) = share_gradients(X, plus, minus, targets, 0.1, first=2)
    assert same == loss
    assert (len(fewer), len(fewer_minus)) == (1, 1)
    np.testing.assert_array_equal(fewer[0], by_plus[2])
    np.testing.assert_array_equal(fewer_minus[0], by_minus[2])


def test_a_row_without_spikes_teaches_nothing():
    X, plus, minus, targets = problem(5)
    _, with_it = share_gradients(np.vstack([X, 0 * X[:1]]), plus, minus,
                                 np.vstack([targets, targets[:1]]), 0.1)  # fmt: skip
    _, without = share_gradients(X, plus, minus, targets, 0.1)
    for one, other in zip(chain(*with_it), chain(*without), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
