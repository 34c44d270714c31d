"""``transform(refine=n)``: codes that fit better than one product, at a price."""

import numpy as np
import pytest

from lrnn import LRNNAutoencoder
from naming import naming


@pytest.fixture(scope="module")
def model(digits):
    return LRNNAutoencoder(16, max_iter=20, random_state=0).fit(digits[:300])


def errors(model, X, codes):
    return ((model.inverse_transform(codes) - X) ** 2).mean(axis=1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fine_tune": 3},  # outputs saturate a lot
        {"hidden_layer_sizes": (24, 8), "fine_tune": 3},
        {"rates": "unit", "max_iter": 3},
    ],
    ids=str,
)
def test_no_row_gets_a_higher_error(digits, settings):
    X = digits[:300]
    settings = {"hidden_layer_sizes": 12, "max_iter": 20, "random_state": 0} | settings
    model = LRNNAutoencoder(**settings).fit(X)
    before = errors(model, X, model.transform(X))
    for sweeps in (1, 4):
        codes = model.transform(X, refine=sweeps)
        assert codes.min() >= 0
        assert codes.max() <= 1
        after = errors(model, X, codes)
        assert (after <= before + 1e-14).all()
        assert after.mean() < before.mean()
        before = after


def test_one_sweep_gets_most_of_what_there_is_to_get(model, digits):
    plain, one, many = (errors(model, digits, model.transform(digits, refine=n)).mean()
                        for n in (0, 1, 100))  # fmt: skip
    assert plain - one > 0.75 * (plain - many)


def test_without_sweeps_they_are_those_of_the_network(model, digits):
    X = digits[:3]
    network = model.to_network(part="encoder")
    q = network.split(network.steady_state(model.arrivals(X, network)))[-1]
    np.testing.assert_array_equal(model.transform(X, refine=0), model.transform(X))
    np.testing.assert_allclose(model.transform(X), q, atol=1e-12)
    assert np.abs(model.transform(X, refine=1) - q).max() > 0.01


def test_single_rows_and_empty_ones_are_refined_too(model, digits):
    X = np.concatenate([digits[:2], np.zeros((1, 64)), np.ones((1, 64))])
    codes = model.transform(X, refine=3)
    assert (codes[2] == 0).all()
    for i in range(4):
        np.testing.assert_allclose(model.transform(X[[i]], refine=3)[0], codes[i], atol=1e-12)


def test_data_in_their_own_units(digits):
    X = digits[:100] * 16 - 3
    model = LRNNAutoencoder(8, scale="minmax", max_iter=10, random_state=0).fit(X)
    codes = model.transform(X, refine=2)
    plain = np.mean((model.reconstruct(X) - X) ** 2)
    assert np.mean((model.inverse_transform(codes) - X) ** 2) < plain


@pytest.mark.parametrize(
    ("refine", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_what_is_no_number_of_sweeps_is_refused(model, digits, refine, error):
    with pytest.raises(error, match=naming("refine", refine)):
        model.transform(digits, refine=refine)


def test_inhibition_has_no_refined_codes(digits):
    model = LRNNAutoencoder(4, inhibition=True, fine_tune=30, max_iter=2).fit(digits[:200])
    assert model.inhibitory_decoders_ is not None
    assert model.transform(digits[:5]).shape == (5, 4)
    with pytest.raises(ValueError, match=naming("refine=1", "refine=0", "inhibition=True")):
        model.transform(digits[:5], refine=1)


def test_fit_transform_refines_too(digits):
    model = LRNNAutoencoder(8, max_iter=5, tol=0, random_state=0)
    found = model.fit_transform(digits, refine=2)
    np.testing.assert_array_equal(found, model.transform(digits, refine=2))
