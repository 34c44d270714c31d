"""Gradients of the full network: against finite differences, and against torch's own."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from lrnn.functional import activations, firing_rates, propagate
from lrnn.functional.gradients import penalised_gradients
from nearness import assert_near

SIZES = (6, 4, 3, 4, 6)


def problem(seed, strength=0.5, rows=7):
    rng = np.random.default_rng(seed)
    shapes = list(pairwise(SIZES))
    plus = [rng.random(shape) * 1.2 for shape in shapes]
    minus = [rng.random(shape) * strength for shape in shapes]
    return rng.random((rows, SIZES[0])) * (rng.random((rows, SIZES[0])) < 0.7), plus, minus


def objective(X, plus, minus):
    layers = activations(X, plus, minus)
    rates = firing_rates(plus, minus)
    spikes = sum((q @ r).sum() for q, r in zip(layers[:-1], rates[:-1], strict=True))
    return ((X - layers[-1]) ** 2).sum(), spikes


def test_a_pair_is_a_layer():
    X, plus, minus = problem(0)
    expected = np.minimum(X @ plus[0] / (1 + X @ minus[0]), 1)
    assert_near(propagate(X, (plus[0], minus[0])), expected, 2 * SIZES[0] + 2)


@pytest.mark.parametrize("penalty", [None, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_differences(seed, penalty):
    X, plus, minus = problem(seed)
    error, spikes, (by_plus, by_minus) = penalised_gradients(X, plus, minus, penalty)
    known_error, known_spikes = objective(X, plus, minus)
    assert float(error) == pytest.approx(known_error, rel=1e-12)
    assert float(spikes) == pytest.approx(known_spikes if penalty else 0, rel=1e-12)
    step = 1e-6
    for matrices, gradients in ((plus, by_plus), (minus, by_minus)):
        for matrix, gradient in zip(matrices, gradients, strict=True):
            for place in ((0, 0), (1, 2), (2, 1)):
                ends = []
                for sign in (1, -1):
                    matrix[place] += sign * step
                    e, s = objective(X, plus, minus)
                    ends.append(e / 2 + (penalty or 0) * s)
                    matrix[place] -= sign * step
                assert gradient[place] == pytest.approx(
                    (ends[0] - ends[1]) / (2 * step), rel=1e-4, abs=1e-6
                )


@pytest.mark.parametrize("penalty", [None, 0.03])
def test_gradients_are_those_of_torch(penalty):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    X, plus, minus = problem(5)
    _, _, (by_plus, by_minus) = penalised_gradients(X, plus, minus, penalty)
    P = [torch.tensor(w, requires_grad=True) for w in plus]
    M = [torch.tensor(w, requires_grad=True) for w in minus]
    q, rate = torch.tensor(X), torch.ones(6, dtype=torch.float64)
    layers, rates = [q], [rate]
    for p, m in zip(P, M, strict=True):
        q = torch.clamp((q @ p) / (1 + q @ m), max=1)
        layers.append(q)
    for p, m in zip(reversed(P), reversed(M), strict=True):
        rate = (p + m) @ rate
        rates.insert(0, rate)
    spikes = sum((r * layer).sum() for r, layer in zip(rates[:-1], layers[:-1], strict=True))
    (((q - torch.tensor(X)) ** 2).sum() / 2 + (penalty or 0) * spikes).backward()
    for tensor, gradient in zip(P + M, by_plus + by_minus, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_other_libraries_give_the_same(library):
    xp = pytest.importorskip(library, reason=f"{library} is not installed")
    X, plus, minus = problem(6)
    error, spikes, (by_plus, by_minus) = penalised_gradients(X, plus, minus, 0.01)
    there = penalised_gradients(
        xp.asarray(X), [xp.asarray(w) for w in plus], [xp.asarray(w) for w in minus], 0.01
    )
    assert float(there[0]) == pytest.approx(float(error), rel=1e-12)
    assert float(there[1]) == pytest.approx(float(spikes), rel=1e-12)
    for a, b in zip(by_plus + by_minus, there[2][0] + there[2][1], strict=True):
        np.testing.assert_allclose(np.asarray(b), a, atol=1e-12)


def test_sparse_rows_are_like_full_ones():
    X, plus, minus = problem(7)
    full = penalised_gradients(X, plus, minus, 0.01)
    thin = penalised_gradients(sparse.csr_array(X), plus, minus, 0.01)
    assert float(thin[0]) == pytest.approx(float(full[0]), rel=1e-12)
    assert float(thin[1]) == pytest.approx(float(full[1]), rel=1e-12)
    for a, b in zip(full[2][0] + full[2][1], thin[2][0] + thin[2][1], strict=True):
        np.testing.assert_allclose(b, a, atol=1e-12)


def test_rates_beyond_all_numbers_do_no_harm_where_spikes_are_free():
    X, plus, minus = problem(8)
    plus, minus = ([np.float32(w * 1e12) for w in m] for m in (plus, minus))
    error, spikes, gradients = penalised_gradients(X.astype(np.float32), plus, minus)
    assert np.isfinite(error)
    assert spikes == 0
    assert all(np.isfinite(g).all() for g in gradients[0] + gradients[1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prices_beyond_all_numbers_still_have_a_direction(dtype):
    """Rates of many layers multiply; where they overflow, weights must still learn to shrink."""
    rng = np.random.default_rng(0)
    X = rng.random((5, 6)).astype(dtype)
    largest = float(np.finfo(dtype).max) ** 0.25
    weights = [np.full((6, 6), largest, dtype) for _ in range(9)]
    _, spikes, (by_plus, by_minus) = penalised_gradients(X, weights, weights, dtype(1e-3))
    assert np.isfinite(spikes)
    for gradient in (*by_plus, *by_minus):
        assert np.isfinite(gradient).all()
        assert (gradient > 0).all()
        assert np.isfinite((weights[0] * gradient) ** 2).all() or dtype == np.float64
