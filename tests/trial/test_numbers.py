"""Data × settings × types: whatever is trained on, the numbers keep what they promise."""

from functools import partial

import numpy as np

import lrnn
from lrnn import LRNNAutoencoder, bounds
from trial.harness import answer, cases


def of_rank(rank, rng, shape):
    values = rng.random((shape[0], rank)) @ rng.random((rank, shape[1]))
    return values / values.max()


def columns_from(exponent, rng, shape):
    return rng.random(shape) * np.logspace(exponent, 0, shape[1])


DATA = {  # functions of random numbers and a shape
    "any": lambda rng, shape: rng.random(shape), "columns from 1e-12": partial(columns_from, -12),
    "columns from 1e-35": partial(columns_from, -35),
    "columns from 1e-300": partial(columns_from, -300),
    "all 1e-160": lambda rng, shape: rng.random(shape) * 1e-160,
    "subnormal": lambda rng, shape: rng.random(shape) * 1e-310,
    "zero": lambda rng, shape: np.zeros(shape), "minus zero": lambda rng, shape: -np.zeros(shape),
    "one": lambda rng, shape: np.ones(shape),
    "almost one": lambda rng, shape: np.full(shape, np.nextafter(1, 0)),
    "constant columns": lambda rng, shape: np.tile(rng.random(shape[1]), (shape[0], 1)),
    "zero columns": lambda rng, shape: rng.random(shape) * (np.arange(shape[1]) % 2),
    "zero rows": lambda rng, shape: rng.random(shape) * (np.arange(shape[0]) % 2)[:, None],
    "few rows, often": lambda rng, shape: rng.random((3, shape[1]))[rng.integers(3, size=shape[0])],
    "an outlier": lambda rng, shape: np.vstack([rng.random(shape) * 1e-8, np.ones(shape[1])]),
    "one cell": lambda rng, shape: (np.arange(np.prod(shape)) == 1).reshape(shape) * 1.0,
    "rank 1": partial(of_rank, 1), "rank 2": partial(of_rank, 2),
    "bits": lambda rng, shape: np.rint(rng.random(shape)),
    "sparse": lambda rng, shape: rng.random(shape) * (rng.random(shape) < 0.05),
    "above one": lambda rng, shape: rng.random(shape) * 1.5,
}  # fmt: skip
SHAPES = [(40, 6), (200, 9), (5, 60), (1, 4), (30, 1), (1, 1), (2, 2)]
SETTINGS = {
    "gram": {}, "wider than the data": {"hidden_layer_sizes": 70},
    "one neuron": {"hidden_layer_sizes": 1}, "deep": {"hidden_layer_sizes": (5, 3)},
    "deep, together": {"hidden_layer_sizes": (5, 3), "stacking": "joint"},
    "implicit": {"moment": "implicit"}, "random": {"init": "random"},
    "unit": {"rates": "unit", "max_iter": 6},
    "unit, deep": {"rates": "unit", "max_iter": 4, "hidden_layer_sizes": (5, 3)},
    "printed": {"solver": "minibatch", "max_iter": 6, "batch_size": 20},
    "printed, unit": {"solver": "minibatch", "rates": "unit", "max_iter": 6},
    "fine-tuned": {"fine_tune": 4}, "inhibition": {"inhibition": True, "fine_tune": 6},
    "inhibition, priced": {"inhibition": True, "fine_tune": 6, "spike_penalty": 1e-3},
}  # fmt: skip
EXACT = {"f8": 1e-9, "f4": 2e-4}  # a network gives what the forward pass gives


def check_in_range(**arrays):
    for name, values in arrays.items():
        assert np.isfinite(values).all(), f"{name} not finite"
        assert values.min(initial=0) >= 0, f"{name} negative: {values.min()}"


def check_model(model, X, dtype, folder):
    """What a fitted model promises on its data."""
    codes, back = model.transform(X), model.reconstruct(X)
    rates = np.concatenate(model.firing_rates_)
    check_in_range(codes=codes, output=back, rates=rates, costs=model.layer_spike_costs_)
    assert max(codes.max(), back.max()) <= 1, "a probability above 1"
    assert codes.dtype == back.dtype == np.dtype(dtype)
    for i, weights in enumerate(model.weights_.excitatory):
        check_in_range(**{f"weights {i}": weights})
        if model.rates == "unit":
            assert weights.sum(axis=1).max() <= 1 + 1e-6, f"a row of weights {i} sums to above 1"
    wanted = np.minimum(X, 1).astype(float)
    error, size = np.mean((wanted - back) ** 2), np.mean(wanted**2)
    least = EXACT[dtype] ** 2 * size + np.finfo(dtype).tiny
    for told in (model.reconstruction_err_, -model.score(X)):
        assert abs(error - told) <= 1e-5 * error + least, (error, told)
    if model.solver == "gram":
        assert error <= size * (1 + 1e-6) + least, "worse than nothing at all"
    if back.max() < 1 and not model.inhibition:  # without saturation it is linear
        least = (
            bounds.svd(X, codes.shape[1]) * (1 - 1e-6) - EXACT[dtype] * size - np.finfo(dtype).tiny
        )
        assert error >= least, "below the bound"
    assert model.audit(X).valid
    network = model.to_network()
    parts = [part for part in (network.excitatory, network.inhibitory) if part is not None]
    routes = sum(np.asarray(part.sum(axis=1)).ravel() for part in parts)
    assert routes.max() <= 1 + 1e-9, "a neuron's spikes go to more than one"
    state = network.steady_state(model.arrivals(X[:20], network))
    assert np.abs(network.split(np.asarray(state))[-1] - back[:20]).max() <= EXACT[dtype]
    model.save(folder / "model")
    again = lrnn.load(folder / "model")
    assert all(map(np.array_equal, again.weights_.excitatory, model.weights_.excitatory))
    np.testing.assert_allclose(again.reconstruct(X), back, rtol=1e-5, atol=1e-12)


@cases(short=12, full=8_000)
def test_models(case):
    make, shape, settings = case.pick(DATA), case.pick(SHAPES), case.pick(SETTINGS)
    dtype = case.pick(["f8", "f4"])
    X = make(case.rng, shape).astype(dtype)
    settings = {"hidden_layer_sizes": 3, "max_iter": 30, "random_state": 0} | settings
    model = LRNNAutoencoder(**settings).fit(X)
    check_model(model, X, dtype, case.folder)


SAME = {name: SETTINGS[name] for name in ("gram", "implicit", "deep", "fine-tuned", "inhibition")}


@cases(short=5, full=1_000)
def test_single_precision_is_near_double(case):
    X = case.pick(DATA)(case.rng, case.pick(SHAPES[:3])).astype("f4")
    settings = {"hidden_layer_sizes": 3, "max_iter": 30, "random_state": 0} | case.pick(SAME)
    size = np.mean(np.minimum(X, 1).astype(float) ** 2)
    one, other = (LRNNAutoencoder(**settings).fit(X.astype(t)) for t in ("f4", "f8"))
    off = abs(one.reconstruction_err_ - other.reconstruction_err_)
    assert off <= 0.02 * size + 1e-12, (one.reconstruction_err_, other.reconstruction_err_)
    np.testing.assert_allclose(
        other.transform(X), other.transform(X.astype("f8")), rtol=1e-3, atol=1e-4
    )


@cases(short=5, full=2_000)
def test_networks(case):
    """Networks of any rates and routes: a state is in [0, 1] and solves the equations."""
    rng, n = case.rng, int(case.rng.integers(1, 9))
    scale = case.pick([1.0, 1e-6, 1e6, 1e-100, 1e100])
    routes = rng.dirichlet(np.full(2 * n + 1, case.pick([0.05, 0.5, 5.0])), size=n)
    rates = scale * rng.uniform(0.1, 2, n) * (10.0 ** rng.uniform(-3, 3, n))
    network = lrnn.RandomNeuralNetwork(rates, routes[:, :n], routes[:, n : 2 * n])
    plus, minus = scale * rng.uniform(0, case.pick([0.1, 1.0, 10.0]), (2, n))
    q = np.asarray(answer(network.steady_state, plus, minus))
    check_in_range(q=q)
    assert q.max() <= 1, "a probability above 1"
    sent = q * rates
    excited, inhibited = plus + sent @ routes[:, :n], minus + sent @ routes[:, n : 2 * n]
    np.testing.assert_allclose(q, np.minimum(excited / (rates + inhibited), 1), atol=1e-6)
    done = answer(partial(network.simulate, plus, minus, events=2_000, random_state=0))
    if hasattr(done, "activation"):
        check_in_range(simulated=done.activation())
        assert done.activation().max() <= 1 + 1e-12
