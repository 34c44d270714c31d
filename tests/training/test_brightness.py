"""Dim data are learnt as well as bright ones: by deep networks, and with inhibition."""

import numpy as np
import pytest

from lrnn import LRNNAutoencoder, frontier
from naming import naming

DIM = (2.0**-4, 2.0**-18)  # both so dim that no output saturates
TRAININGS = [
    {"hidden_layer_sizes": (40, 8), "fine_tune": 20},
    {"inhibition": True, "fine_tune": 12},
    {"inhibition": True, "fine_tune": 12, "decoder_layer_sizes": 40},
    {"inhibition": True, "fine_tune": 12, "corruption": ("mask", 0.2)},
]


def relative_error(model, X):
    return model.reconstruction_err_ / (X**2).mean()


@pytest.mark.parametrize("settings", TRAININGS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_errors_are_the_same_share(digits, settings, dtype):
    given = {"hidden_layer_sizes": 8, "batch_size": 20, "random_state": 0} | settings
    found = []
    for peak in DIM:
        X = (peak * digits[:250]).astype(dtype)
        model = LRNNAutoencoder(**given).fit(X)
        assert model.audit(X).valid
        found.append(relative_error(model, X))
    assert found[1] == pytest.approx(found[0], rel=1e-6 if dtype is np.float64 else 0.02)
    excitatory = LRNNAutoencoder(8, corruption=given.get("corruption"), random_state=0).fit(X)
    assert found[1] < 0.97 * relative_error(excitatory, X)


def test_streams(digits):
    found = []
    for peak in DIM:
        model = LRNNAutoencoder(8, inhibition=True, random_state=0)
        for part in np.array_split(peak * digits, 20):
            model.partial_fit(part)
        found.append(model.score(peak * digits) / peak**2)
    assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_frontiers_lead_on(digits):
    X = DIM[1] * digits[:300]
    points = frontier(X, 8, penalties=2, passes=15, batch_size=20, random_state=0).points
    assert points[-1].error < 0.95 * points[0].error


def test_data_too_dim_to_follow_are_told_of(digits):
    with pytest.warns(UserWarning, match=naming("X", 1e-09, "scale='max'")):
        LRNNAutoencoder(8, inhibition=True, fine_tune=1, random_state=0).fit(1e-9 * digits[:100])


def test_outputs_that_hardly_fire_are_told_of(digits):
    settings = {"inhibition": True, "fine_tune": 40, "random_state": 0}
    with pytest.warns(UserWarning, match=naming("outputs", "spike_penalty=0.01")):
        model = LRNNAutoencoder(8, decoder_layer_sizes=40, spike_penalty=1e-2, **settings).fit(
            digits[:200]
        )
    assert model.reconstruct(digits).mean() < 0.3 * digits.mean()
    LRNNAutoencoder(8, spike_penalty=1e-5, **settings).fit(digits[:500])  # no warning


@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")
def test_errors_of_dim_data_are_readable(digits):
    found = frontier(1e-4 * digits[:100], 4, penalties=2, passes=2, random_state=0)
    for line, point in zip(found.lines(), found.points, strict=True):
        told = dict(zip(found.header, line, strict=True))["error"]
        assert float(told) == pytest.approx(point.error, rel=0.01)
