"""Derivatives of the steady state, against complex steps and against arithmetic with 80 digits."""

import importlib.util
import warnings
from copy import deepcopy
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lrnn import RandomNeuralNetwork
from lrnn.functional.gradients import error_gradients, penalised_gradients
from lrnn.network import Gradient, gradient, steady_state
from naming import naming

KINDS = "rates", "excitatory", "inhibitory", "arrivals", "inhibitory_arrivals"


def by_complex_steps(network, arrivals, inhibitory_arrivals, of):
    """Each parameter in turn gets an imaginary part, and eq. 1 is iterated as it stands."""
    n = network.n_neurons
    parts = network.rates, network.excitatory, network.inhibitory, arrivals, inhibitory_arrivals
    cuts = np.cumsum([np.size(p) for p in parts])[:-1]
    parameters = np.concatenate([np.ravel(p) for p in parts])
    stepped = parameters + 1e-30j * np.eye(len(parameters))
    rates, plus, minus, excites, inhibits = np.split(stepped, cuts, axis=1)
    plus, minus = plus.reshape(-1, n, n), minus.reshape(-1, n, n)
    q = np.zeros(rates.shape, dtype=complex)
    for _ in range(600):  # the networks below lose a tenth of their spikes or more: 0.9⁶⁰⁰ < 1e-27
        fired = (q * rates)[:, None, :]
        numerator = excites + (fired @ plus)[:, 0]
        denominator = rates + inhibits + (fired @ minus)[:, 0]
        q = np.ones(q.shape, dtype=complex)
        np.divide(numerator, denominator, out=q, where=numerator.real < denominator.real)
    found = np.split((q @ of).imag / 1e-30, cuts)
    return {
        kind: derivatives.reshape(np.shape(part))
        for kind, derivatives, part in zip(KINDS, found, parts, strict=True)
    }


def summed(rows):
    """As `RandomNeuralNetwork.gradient` has it: by what belongs to the network, over all rows."""
    return {kind: sum(row[kind] for row in rows) for kind in KINDS[:3]} | {
        kind: np.stack([row[kind] for row in rows]) for kind in KINDS[3:]
    }


def random_network(rng, wiring):
    """Rates, routes (excitatory beside inhibitory) of 7 neurons that lose a tenth or more."""
    n = 7
    routes = rng.exponential(size=(n, 2 * n)) * (rng.random((n, 2 * n)) < 0.7)
    if wiring == "feed-forward":
        routes *= np.tile(np.triu(np.ones((n, n)), 1), 2)
    if wiring == "excitatory":
        routes[:, n:] = 0
    if wiring == "loops that feed loops":
        part = np.array([0, 0, 0, 1, 2, 2, 2])
        routes *= np.tile(part[:, None] <= part, 2)
    if wiring == "self-loops":
        routes *= np.tile(np.eye(n) + (rng.random((n, n)) < 0.2), 2)
    routes *= 0.9 / np.maximum(routes.sum(axis=1, keepdims=True), 0.9)
    return RandomNeuralNetwork(np.exp(rng.normal(size=n)), routes[:, :n], routes[:, n:])


WIRINGS = "feed-forward", "excitatory", "recurrent", "loops that feed loops", "self-loops"


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("load", [0.05, 1.5], ids=["free", "saturated"])
@pytest.mark.parametrize("wiring", WIRINGS)
def test_all_derivatives_are_those_by_complex_steps(wiring, load, storage):
    rng = np.random.default_rng(0)
    network = random_network(rng, wiring)
    arrivals = load * rng.random((4, 7)) * (rng.random((4, 7)) < 0.7)
    inhibitory = 0.3 * rng.random((4, 7)) * (rng.random((4, 7)) < 0.5)
    of = rng.normal(size=(4, 7))
    q = network.steady_state(arrivals, inhibitory)
    assert q.saturated.any() == (load == 1.5)
    expected = summed(
        [by_complex_steps(network, *row) for row in zip(arrivals, inhibitory, of, strict=True)]
    )
    stored = RandomNeuralNetwork(
        network.rates, storage(network.excitatory), storage(network.inhibitory)
    )
    found = stored.gradient(arrivals, inhibitory, of=of, q=q)
    for kind in KINDS:
        derivatives, exact = getattr(found, kind), expected[kind]
        if sparse.issparse(derivatives):
            present = getattr(stored, kind)
            assert (derivatives.indices == present.indices).all()
            assert (derivatives.indptr == present.indptr).all()
            derivatives, exact = derivatives.toarray(), exact * (present.toarray() > 0)
        np.testing.assert_allclose(derivatives, exact, rtol=1e-10, atol=1e-13, err_msg=kind)
        assert np.abs(exact).max() > 1e-3 or not np.any(getattr(network, kind, 1))


# Stiff networks


def extended_precision():
    path = Path(__file__).with_name("test_extended_precision.py")
    spec = importlib.util.spec_from_file_location("extended_precision", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXTENDED = extended_precision()


def moved(exact, network, kind, i, j, step):
    """Eq. 1 in decimals with one parameter changed."""
    new = deepcopy(exact)
    if kind == "rates":
        new.rates[i] += step
        for inputs, routes in (
            (new.excites, network.excitatory),
            (new.inhibits, network.inhibitory),
        ):
            for target, weights in enumerate(inputs):
                weights[i] = new.rates[i] * Decimal(float(routes[i, target]))
    elif kind in ("excitatory", "inhibitory"):
        (new.excites if kind == "excitatory" else new.inhibits)[j][i] += new.rates[i] * step
    else:
        (new.plus if kind == "arrivals" else new.minus)[i] += step
    return new


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(30))
def test_derivatives_of_stiff_networks_are_exact(seed):
    """For a change of a parameter by a share of it, to 1e-8 or to a rounding of what changes."""
    rng = np.random.default_rng(seed)
    network, arrivals, inhibitory = EXTENDED.stiff_network(rng)
    of = rng.normal(size=network.n_neurons)
    q = np.asarray(network.steady_state(arrivals, inhibitory))
    found = network.gradient(arrivals, inhibitory, of=of, q=q)
    with localcontext() as context:
        context.prec = 80
        exact = EXTENDED.Exact(network, arrivals, inhibitory)
        q, _ = exact.solve(EXTENDED.decimals(q)[0])
        for kind in KINDS:
            i, j = rng.integers(0, network.n_neurons, 2)
            size = 1.0 if kind in KINDS[1:3] else network.rates[i]
            step = Decimal(float(size)) * Decimal("1e-35")
            after, _ = moved(exact, network, kind, i, j, step).solve(q)
            change = sum(Decimal(w) * (a - b) for w, a, b in zip(of, after, q, strict=True))
            derivative = getattr(found, kind)[(i, j) if kind in KINDS[1:3] else i]
            assert derivative * size == pytest.approx(
                float(change / step) * size, rel=1e-8, abs=np.finfo(float).eps
            ), (kind, i, j)


# Neurons at rest, neurons that never fire


def test_neurons_that_never_fire():
    #          excited alone, excited and inhibited, left alone, inhibited alone
    arrivals, inhibitory = [0.2, 0.2, 0, 0], [0, 0.8, 0, 1]
    excitatory = np.zeros((5, 5))
    excitatory[:4, 4] = 1
    network = RandomNeuralNetwork([0, 0, 0, 0, 2], excitatory)
    q = network.steady_state([*arrivals, 1], [*inhibitory, 0])
    assert q.tolist() == [1, 0.25, 0, 0, 0.5]
    found = network.gradient([*arrivals, 1], [*inhibitory, 0], of=[1, 1, 1, 1, 1])
    # the first is saturated, the third jumps to 1 at the first spike
    assert found.arrivals == pytest.approx([0, 1 / 0.8, 0, 1, 0.5], abs=1e-15)
    assert found.inhibitory_arrivals == pytest.approx([0, -0.25 / 0.8, 0, 0, -0.25], abs=1e-15)
    # had they a rate, the last one would be excited more
    assert found.rates == pytest.approx([0.5, 0.125 - 0.25 / 0.8, 0, 0, -0.25], abs=1e-15)
    assert found.inhibitory is None
    assert (found.excitatory[:4] == 0).all()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_parts_that_no_spike_reaches(storage):
    # 0, 1: a closed loop; 2, 3: a damped one, and it inhibits 0; 4: alone with itself; 5 → 4
    excitatory, inhibitory = np.zeros((2, 6, 6))
    excitatory[0, 1] = excitatory[1, 0] = excitatory[4, 4] = excitatory[5, 4] = 1
    excitatory[2, 3] = excitatory[3, 2] = 0.5
    network = RandomNeuralNetwork(np.ones(6), storage(excitatory), storage(inhibitory))
    found = network.gradient(np.zeros((2, 6)), of=np.ones(6))
    # in the damped loop a spike leads to two firings; the others jump to 1
    assert found.arrivals == pytest.approx(np.array([[0, 0, 2, 2, 0, 1]] * 2), abs=1e-12)
    assert not found.rates.any()
    assert not found.excitatory.any() if storage is np.asarray else not found.excitatory.data.any()
    # with inhibition the closed loop loses what is inhibited: a derivative exists again
    inhibitory[2, 0] = 0.5
    network = RandomNeuralNetwork(np.ones(6), storage(excitatory), storage(inhibitory))
    found = network.gradient([0, 0, 0.3, 0, 0, 0], of=[1, 1, 0, 0, 0, 0])
    q = 0.3 / (1 - 0.25)
    # q₀ = (Λ₀ + q₁)/(1 + q/2), q₁ = Λ₁ + q₀
    by_first = 1 / (q / 2)
    assert found.arrivals[:2] == pytest.approx([2 * by_first, 2 * by_first + 1], rel=1e-12)
    assert found.arrivals[2:] == pytest.approx([0, 0, 0, 0], abs=1e-12)


def test_loop_without_any_loss_has_finite_derivatives():
    network = RandomNeuralNetwork(np.ones(3), np.roll(np.eye(3), 1, axis=1))
    found = network.gradient([1e-20, 0, 0], of=np.ones(3), q=np.full(3, 1e-8))
    assert np.isfinite(found.arrivals).all()
    assert (found.arrivals > 1e12).all()
    # filled up, it takes no more
    assert not network.gradient([1e-6, 0, 0], of=np.ones(3)).arrivals.any()


def test_saturated_neuron_still_excites_others():
    network = RandomNeuralNetwork([1.0, 4.0], [[0, 0.5], [0, 0]])
    found = network.gradient([2.0, 0], of=[1, 1])
    assert found.arrivals.tolist() == [0, 0.25]
    assert found.rates == pytest.approx([0.125, -0.125 / 4])
    assert found.excitatory == pytest.approx(np.array([[0, 0.25], [0, 0.125]]))


def test_at_the_kink_a_neuron_counts_as_saturated():
    network = RandomNeuralNetwork([2.0], [[0.0]])
    assert network.gradient([2.0], of=[1.0]).arrivals == [0]
    assert network.gradient([np.nextafter(2, 0)], of=[1.0]).arrivals == [0.5]


# Layers


@pytest.mark.parametrize("inhibition", [False, True])
def test_layers_have_the_gradients_of_the_autoencoder(inhibition):
    """Weights between layers are rate × probability over the rate of the receiver."""
    rng = np.random.default_rng(1)
    plus = [rng.exponential(size=s) * 0.4 for s in ((6, 3), (3, 6))]
    minus = [rng.exponential(size=w.shape) * 0.4 for w in plus] if inhibition else None
    X = rng.random((20, 6))
    network = RandomNeuralNetwork.from_layers(plus, minus)
    arrivals = np.zeros((20, 15))
    arrivals[:, :6] = X * network.rates[:6]
    q = network.steady_state(arrivals)
    of = np.zeros((20, 15))
    of[:, 9:] = q[:, 9:] - X
    found = network.gradient(arrivals, of=of, q=q)
    if inhibition:
        _, _, expected = penalised_gradients(X, plus, minus)
        by_probabilities = found.excitatory, found.inhibitory
    else:
        _, excitatory = error_gradients(X, plus)
        expected, by_probabilities = [excitatory], [found.excitatory]
    for by_probability, by_weight in zip(by_probabilities, expected, strict=True):
        scaled = by_probability.toarray() * network.rates / network.rates[:, None]
        np.testing.assert_allclose(scaled[:6, 6:9], by_weight[0], rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(scaled[6:9, 9:], by_weight[1], rtol=1e-10, atol=1e-13)


def test_layers_need_no_linear_system(monkeypatch):
    def refuse(*arguments, **settings):
        raise AssertionError("a feed-forward network needs no system")

    monkeypatch.setattr(gradient, "solve_linear", refuse)
    network = random_network(np.random.default_rng(2), "feed-forward")
    network.gradient(np.ones((3, 7)), of=np.ones(7))


# Batches, storage, size


@pytest.mark.parametrize("scattered", [0, 32])
def test_rows_are_solved_together_and_in_blocks_alike(monkeypatch, scattered):
    rng = np.random.default_rng(3)
    network = random_network(rng, "recurrent")
    sparsely = RandomNeuralNetwork(
        network.rates, sparse.csr_array(network.excitatory), sparse.csr_array(network.inhibitory)
    )
    arrivals, of = rng.random((50, 7)), rng.normal(size=7)
    calls = []
    solve = np.linalg.solve
    monkeypatch.setattr(np.linalg, "solve", lambda *a: calls.append(0) or solve(*a))
    q = network.steady_state(arrivals)
    calls.clear()
    whole = network.gradient(arrivals, of=of, q=q)
    assert len(calls) == 1
    monkeypatch.setattr("lrnn.network.random_neural_network.CELLS_AT_ONCE", 70)  # ten rows
    monkeypatch.setattr(steady_state, "SYSTEM_CELLS", 3 * 49)
    monkeypatch.setattr(gradient, "SENDERS", 3)
    monkeypatch.setattr(gradient, "SCATTERED", scattered)
    monkeypatch.setattr(gradient, "CONNECTION_CELLS", 40)
    blocks, stored = (n.gradient(arrivals, of=of, q=q) for n in (network, sparsely))
    singly = [network.gradient(row, of=of) for row in arrivals]
    for kind in KINDS:
        expected = getattr(whole, kind)
        np.testing.assert_allclose(getattr(blocks, kind), expected, rtol=1e-11, atol=1e-12)
        rows = [getattr(g, kind) for g in singly]
        rows = sum(rows) if kind in KINDS[:3] else np.stack(rows)
        np.testing.assert_allclose(rows, expected, rtol=1e-8, atol=1e-10)
        derivatives = getattr(stored, kind)
        if sparse.issparse(derivatives):
            derivatives = derivatives.toarray()
            expected = expected * (getattr(network, kind) > 0)
        np.testing.assert_allclose(derivatives, expected, rtol=1e-11, atol=1e-12)


def test_absent_connections_from_those_by_arrivals():
    rng = np.random.default_rng(4)
    network = random_network(rng, "recurrent")
    arrivals, of = rng.random((5, 7)), rng.normal(size=(5, 7))
    q = np.asarray(network.steady_state(arrivals))
    found = network.gradient(arrivals, of=of)
    fired = network.rates * q
    np.testing.assert_allclose(fired.T @ found.arrivals, found.excitatory)
    np.testing.assert_allclose(fired.T @ found.inhibitory_arrivals, found.inhibitory)


def test_shapes_follow_the_arrivals():
    network = RandomNeuralNetwork([1, 1], [[0, 0.5], [0.5, 0]])
    for shape in ((2,), (1, 2), (3, 2), (0, 2)):
        found = network.gradient(np.full(shape, 0.1), [0.1, 0], of=[1, 0])
        assert isinstance(found, Gradient)
        assert found.arrivals.shape == found.inhibitory_arrivals.shape == shape
        assert found.rates.shape == (2,)
        assert found.excitatory.shape == (2, 2)
        assert found.inhibitory is None


def test_sparse_recurrent_network_of_100_000_neurons():
    rng = np.random.default_rng(5)
    n, fan_out = 100_000, 3
    ends = np.repeat(np.arange(n), fan_out), rng.integers(0, n, n * fan_out)
    sent = sparse.csr_array((rng.exponential(size=n * fan_out), ends), shape=(n, n))
    sent = sparse.csr_array(sparse.diags_array(0.8 / sent.sum(axis=1)) @ sent)
    inhibitory = sent.copy()
    inhibitory.data *= rng.random(sent.nnz) < 0.3
    rates = np.exp(rng.normal(size=n) / 2)
    arrivals = rates * rng.random(n) * 0.3
    network = RandomNeuralNetwork(rates, sent - inhibitory, inhibitory)
    of = rng.random(n)
    q = network.steady_state(arrivals)
    assert not q.saturated.all()
    found = network.gradient(arrivals, of=of, q=q)
    share = rng.random(n)
    sides = [of @ network.steady_state(arrivals * (1 + step * share)) for step in (1e-5, -1e-5)]
    # some 1e-5 of all neurons pass their kink meanwhile, and rounding is 1e-12 / 1e-5
    assert (share * arrivals) @ found.arrivals == pytest.approx(
        (sides[0] - sides[1]) / 2e-5, rel=1e-5
    )
    # if all is twice as fast, nothing changes
    by_speed = rates @ found.rates + arrivals @ found.arrivals
    assert abs(by_speed) < 1e-9 * np.abs(rates * found.rates).sum()
    source, target = network.excitatory.nonzero()
    np.testing.assert_allclose(
        found.excitatory.data, (rates * q)[source] * found.arrivals[target], rtol=1e-12
    )


@pytest.mark.parametrize("inhibits", [0, 0.02, 1])
@pytest.mark.parametrize("leak", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("ring", [False, True], ids=["random", "ring"])
def test_iterated_systems_are_solved_as_factorised_ones(monkeypatch, ring, leak, inhibits):
    rng = np.random.default_rng(6)
    n = 200
    ends = rng.integers(0, n, 3 * n)
    ends[:n] = np.roll(np.arange(n), 1)  # one ring holds all of them together
    odds = rng.exponential(size=3 * n) * (1e-6 if ring else 1)
    odds[:n] = rng.random(n)
    sent = sparse.csr_array((odds, (np.tile(np.arange(n), 3), ends)), shape=(n, n))
    sent = sparse.csr_array(sparse.diags_array((1 - leak) / sent.sum(axis=1)) @ sent)
    inhibitory = sent.copy()
    inhibitory.data *= rng.random(sent.nnz) < inhibits
    network = RandomNeuralNetwork(np.exp(rng.normal(size=n)), sent - inhibitory, inhibitory)
    arrivals = 0.1 * leak * rng.random((2, n)) * (rng.random((2, n)) < 0.1)
    of = rng.normal(size=(2, n))
    q = network.steady_state(arrivals)
    assert ((q > 0) & (q < 1)).any()
    factorised = network.gradient(arrivals, of=of, q=q)
    monkeypatch.setattr(steady_state, "DENSE_NEWTON", 10)
    monkeypatch.setattr(sparse.csr_array, "toarray", None)  # systems are never written out
    monkeypatch.setattr(sparse.coo_array, "toarray", None)
    iterated = network.gradient(arrivals, of=of, q=q)
    for kind in ("arrivals", "rates"):
        expected = getattr(factorised, kind)
        np.testing.assert_allclose(
            getattr(iterated, kind), expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max()
        )


# What is refused, what is told


@pytest.mark.parametrize(
    ("argument", "value", "told"),
    [
        ("of", np.ones(3), ["(3,)", "(2,)", "(2, 2)"]),
        ("of", [[1, 1], [np.nan, 1]], ["nan", "neuron 0", "row 1"]),
        ("of", [1, np.inf], ["inf", "neuron 1"]),
        ("q", np.ones((1, 2)), ["(1, 2)", "(2, 2)"]),
    ],
)
def test_wrong_arguments_are_named(argument, value, told):
    network = RandomNeuralNetwork([1, 1], [[0, 0.5], [0.5, 0]])
    with pytest.raises(ValueError, match=naming(argument, *told)):
        network.gradient(np.full((2, 2), 0.1), **{"of": [1, 1], argument: value})


def test_state_that_is_not_steady_is_told():
    network = RandomNeuralNetwork([1, 1], [[0, 0.5], [0.5, 0]])
    q = network.steady_state([0.1, 0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network.gradient([0.1, 0.2], of=[1, 0], q=q)
    off = network.residual(q, [0.1, 0.3]).max()
    with pytest.warns(ConvergenceWarning, match=naming("q", f"{off:.1e}")):
        network.gradient([0.1, 0.3], of=[1, 0], q=q)


def test_linear_system_that_is_not_solved_is_told(monkeypatch):
    monkeypatch.setattr(steady_state, "DENSE_NEWTON", 2)
    monkeypatch.setattr(steady_state, "_sparse_solution", lambda m, right, rtol: (right, 0.5))
    routes = sparse.csr_array(np.roll(np.eye(9), 1, axis=1) * 0.5)
    network = RandomNeuralNetwork(np.ones(9), routes)
    with pytest.warns(ConvergenceWarning, match=naming("5.0e-01")):
        network.gradient(np.full(9, 0.1), of=np.ones(9))
